/* An MPI that is slower by a known time: preloaded before an MPI, it waits before it sends a derived datatype, or before it packs.
 *
 * Compile with the MPI's own mpicc, -shared -fPIC. SLOWER gives the place and the time, by message size:
 *
 *   send 16320=13.5:98304=2     waits 13.5 us before MPI_Send of a derived datatype of 16320 bytes, 2 us for 98304
 *   pack 16320=13.5             waits before MPI_Pack
 *
 * All other calls and messages are unchanged, except that their datatype is inspected. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Microseconds to wait for `bytes` at `where`; 0 if none is given. */
static double delay_us(const char *where, long bytes)
{
    const char *told = getenv("SLOWER");
    if (!told || strncmp(told, where, strlen(where)) != 0)
        return 0;
    for (const char *at = strchr(told, ' '); at; at = strchr(at, ':')) {
        char *end;
        if (strtol(++at, &end, 10) == bytes && *end == '=')
            return strtod(end + 1, NULL);
    }
    return 0;
}

/* The core stays busy, as if it copied data. */
static void wait_before(const char *where, int count, MPI_Datatype type)
{
    int integers, addresses, types, combiner, size;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED)
        return;
    PMPI_Type_size(type, &size);
    double delay = delay_us(where, (long)count * size);
    for (double end = PMPI_Wtime() + 1e-6 * delay; delay > 0 && PMPI_Wtime() < end;)
        ;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    wait_before("send", count, type);
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Pack(const void *from, int count, MPI_Datatype type, void *to, int size, int *position, MPI_Comm comm)
{
    wait_before("pack", count, type);
    return PMPI_Pack(from, count, type, to, size, position, comm);
}
