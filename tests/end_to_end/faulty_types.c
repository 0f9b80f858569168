/* Faults of datatypes for the faulty MPI (faulty_mpi.c): "datatype NAME" in FAULTY_MPI. Each is a fault of one operation on types of one
 * constructor, or of one property. Calls within the MPI are not touched.
 *
 *   lost            MPI_Pack loses the last byte of structures of at least two members
 *   crash           MPI_Pack of MPI_Type_create_hindexed_block dies
 *   jump            MPI_Pack of MPI_Type_create_hindexed calls a function that is not there
 *   swapped         MPI_Pack swaps the first two bytes of MPI_Type_vector
 *   second          MPI_Pack flips a byte of the second item of MPI_Type_contiguous
 *   descending      MPI_Pack flips a byte of MPI_Type_create_hvector with a negative stride
 *   large           MPI_Pack loses the last byte of messages above 65,536 bytes
 *   fragment        MPI_Pack flips a byte unless it begins at the start of the packed data
 *   deep            MPI_Pack flips a byte of types of at least four constructors one in another
 *   packsize        MPI_Pack_size is a byte too small for MPI_Type_indexed
 *   hole            MPI_Unpack of MPI_Type_indexed writes into a hole
 *   hang            MPI_Unpack of MPI_Type_create_resized does not return
 *   external        MPI_Pack_external flips a byte of MPI_Type_create_hvector
 *   copy            a duplicate of MPI_Type_create_subarray is MPI_BYTE
 *   size            MPI_Type_size is a byte too large for MPI_Type_create_indexed_block
 *   bounds          the extent of MPI_Type_create_hvector is a byte too large
 *   truebounds      the true lower bound of MPI_Type_create_hindexed is off by one
 *   contents        MPI_Type_get_contents gives MPI_Type_vector one block more
 *   elements        MPI_Get_elements gives one more for MPI_Type_create_hvector
 *   count           MPI_Get_count gives one more for MPI_Type_contiguous
 *   leak            MPI_Type_free keeps memory
 *   sent            MPI_Sendrecv flips a byte that it receives as MPI_Type_indexed
 *   replaced        MPI_Sendrecv_replace of MPI_Type_vector does nothing
 *   put             MPI_Put to MPI_Type_create_subarray does nothing
 *   got             MPI_Get from MPI_Type_create_hindexed_block flips a byte
 *   accumulated     MPI_Accumulate to MPI_Type_contiguous does nothing
 *   broadcast       MPI_Bcast flips a byte that rank 1 receives as MPI_Type_create_struct
 *   gathered        MPI_Gather loses the last item of MPI_Type_create_resized
 *   scattered       MPI_Scatter flips a byte that the root receives, if the first byte that it sends is not at the address
 *   partition       MPI_Precv_init takes MPI_Type_create_resized as if its extent was its size
 *   written         MPI_File_write_at writes one item less of MPI_Type_vector
 *   behind          MPI_Pack into more than 16 KiB flips a byte of MPI_Type_create_subarray
 *   packed          MPI_Pack_c flips a byte of MPI_Type_vector
 *   absolute        MPI_Sendrecv flips a byte that it receives at MPI_BOTTOM
 *   matched         MPI_Mrecv flips a byte of MPI_Type_indexed in messages between ranks
 *   buffered        MPI_Bsend sends one item less of MPI_Type_create_hindexed
 *   summed          MPI_Accumulate of MPI_SUM replaces if the origin is MPI_Type_create_hvector
 *   fetched         MPI_Get_accumulate of MPI_SUM adds nothing to MPI_Type_create_indexed_block
 *   ring            MPI_Neighbor_alltoallw swaps the two blocks of a grid that come from the same rank
 *   repeated        MPI_Neighbor_allgather on a graph flips a byte of MPI_Type_contiguous if the first neighbour is the second
 *   gathered later  MPI_Igatherv flips a byte of MPI_Type_create_resized that it receives
 *   started         a byte of MPI_Type_vector flips when a request of MPI_Allgather_init is freed
 *   mixed           MPI_Bcast flips a byte that rank 0 receives as MPI_Type_create_resized
 *   scattered far   MPI_Scatterv flips a byte of an MPI_Type_indexed that the root sends to itself
 *   scanned         MPI_Scan of MPI_Type_create_hindexed_block is a broadcast of nothing
 *   all written     MPI_File_write_all through a view of MPI_Type_vector writes one value less
 *   view            MPI_File_set_view of MPI_Type_create_indexed_block leaves the file without a view
 */

#include "faulty_types.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_fault(const char *name)
{
    const char *fault = getenv("FAULTY_MPI");
    return fault && strncmp(fault, "datatype ", 9) == 0 && strcmp(fault + 9, name) == 0;
}

static int combiner_of(MPI_Datatype type, int *integers)
{
    int addresses, types, combiner;
    PMPI_Type_get_envelope(type, integers, &addresses, &types, &combiner);
    return combiner;
}

/* Whether this fault is asked for, and the type is of the constructor. */
static int spoils(const char *name, MPI_Datatype type, int constructor)
{
    int integers;
    return is_fault(name) && combiner_of(type, &integers) == constructor;
}

/* The arguments of a derived type; the lists are to be freed. */
struct contents {
    int *integers, types;
    MPI_Aint *places;
    MPI_Datatype *children;
};

static struct contents contents_of(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    struct contents found = {calloc(integers + 1, sizeof(int)), types, calloc(addresses + 1, sizeof(MPI_Aint)),
                             calloc(types + 1, sizeof(MPI_Datatype))};
    PMPI_Type_get_contents(type, integers, addresses, types, found.integers, found.places, found.children);
    return found;
}

static void discard(struct contents contents)
{
    int integers;
    for (int i = 0; i < contents.types; i++)
        if (combiner_of(contents.children[i], &integers) != MPI_COMBINER_NAMED)
            PMPI_Type_free(&contents.children[i]);
    free(contents.integers);
    free(contents.places);
    free(contents.children);
}

static int depth(MPI_Datatype type)
{
    int integers, deepest = 0;
    if (combiner_of(type, &integers) == MPI_COMBINER_NAMED)
        return 0;
    struct contents contents = contents_of(type);
    for (int i = 0; i < contents.types; i++) {
        int of_child = depth(contents.children[i]);
        deepest = of_child > deepest ? of_child : deepest;
    }
    discard(contents);
    return 1 + deepest;
}

static int has_negative_stride(MPI_Datatype type)
{
    struct contents contents = contents_of(type);
    int is_negative = contents.places[0] < 0;
    discard(contents);
    return is_negative;
}

static long bytes_of(MPI_Datatype type, int count)
{
    int size;
    PMPI_Type_size(type, &size);
    return (long) size * count;
}

/* Flips the first byte of data. */
static void flip(void *buffer, MPI_Datatype type, int count)
{
    MPI_Aint start, extent;
    PMPI_Type_get_true_extent(type, &start, &extent);
    if (bytes_of(type, count) > 0)
        ((char *) buffer)[start] ^= 0xff;
}

/* Flips a byte that is between those of an item; there may be none. */
static void fill_hole(void *buffer, MPI_Datatype type)
{
    MPI_Aint start, extent;
    int bytes, position = 0;
    PMPI_Type_get_true_extent(type, &start, &extent);
    PMPI_Type_size(type, &bytes);
    char *ones = memset(malloc(bytes + 1), 1, bytes + 1), *item = calloc(extent + 1, 1);
    PMPI_Unpack(ones, bytes, &position, item - start, 1, type, MPI_COMM_SELF);
    for (MPI_Aint i = 0; i < extent; i++)
        if (!item[i]) {
            ((char *) buffer)[start + i] ^= 0xff;
            break;
        }
    free(ones);
    free(item);
}

void spoil_pack(MPI_Datatype type, int count, char *packed, int start, int end)
{
    int integers, bytes = end - start;
    /* A signal that is only raised would be survived by programs that handle it once. */
    char *volatile nowhere = NULL;
    if (spoils("crash", type, MPI_COMBINER_HINDEXED_BLOCK))
        *nowhere = 1;
    void (*volatile function)(void) = (void (*)(void)) 1;
    if (spoils("jump", type, MPI_COMBINER_HINDEXED))
        function();
    if (bytes == 0)
        return;
    if (spoils("lost", type, MPI_COMBINER_STRUCT) && (combiner_of(type, &integers), integers >= 3))
        packed[end - 1] = 0;
    if (spoils("swapped", type, MPI_COMBINER_VECTOR) && bytes > 1) {
        char first = packed[start];
        packed[start] = packed[start + 1];
        packed[start + 1] = first;
    }
    if (spoils("second", type, MPI_COMBINER_CONTIGUOUS) && count > 1)
        packed[start + bytes / count] ^= 0xff;
    if (spoils("descending", type, MPI_COMBINER_HVECTOR) && has_negative_stride(type))
        packed[start] ^= 0xff;
    if (is_fault("large") && bytes > 65536)
        packed[end - 1] = 0;
    if (is_fault("fragment") && start > 0)
        packed[start] ^= 0xff;
    if (is_fault("deep") && depth(type) >= 4)
        packed[start] ^= 0xff;
}

void spoil_pack_behind(MPI_Datatype type, int room, char *packed, int start, int end)
{
    if (room > 16384 && end > start && spoils("behind", type, MPI_COMBINER_SUBARRAY))
        packed[start] ^= 0xff;
}

void spoil_unpack(MPI_Datatype type, int count, void *buffer)
{
    if (count > 0 && spoils("hole", type, MPI_COMBINER_INDEXED))
        fill_hole(buffer, type);
    while (spoils("hang", type, MPI_COMBINER_RESIZED))
        pause();
}

int loses_put(MPI_Datatype target)
{
    return spoils("put", target, MPI_COMBINER_SUBARRAY);
}

/* The type of which MPI_Get gets something else. */
MPI_Aint astray(MPI_Datatype target)
{
    return spoils("got", target, MPI_COMBINER_HINDEXED_BLOCK) ? 1 : 0;
}

/* The type that a partitioned message is received as. */
MPI_Datatype partition_type(MPI_Datatype type)
{
    MPI_Datatype dense = type;
    if (spoils("partition", type, MPI_COMBINER_RESIZED)) {
        PMPI_Type_create_resized(type, 0, bytes_of(type, 1), &dense);
        PMPI_Type_commit(&dense);
    }
    return dense;
}

int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint *lower_bound, MPI_Aint *extent)
{
    int code = PMPI_Type_get_extent(type, lower_bound, extent);
    if (spoils("bounds", type, MPI_COMBINER_HVECTOR))
        ++*extent;
    return code;
}

int MPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint *lower_bound, MPI_Aint *extent)
{
    int code = PMPI_Type_get_true_extent(type, lower_bound, extent);
    if (spoils("truebounds", type, MPI_COMBINER_HINDEXED))
        ++*lower_bound;
    return code;
}

int MPI_Type_size(MPI_Datatype type, int *size)
{
    int code = PMPI_Type_size(type, size);
    if (spoils("size", type, MPI_COMBINER_INDEXED_BLOCK))
        ++*size;
    return code;
}

int MPI_Type_get_contents(MPI_Datatype type, int integers, int addresses, int types, int first[], MPI_Aint second[],
                          MPI_Datatype third[])
{
    int code = PMPI_Type_get_contents(type, integers, addresses, types, first, second, third);
    if (spoils("contents", type, MPI_COMBINER_VECTOR))
        ++first[0];
    return code;
}

int MPI_Type_dup(MPI_Datatype type, MPI_Datatype *copy)
{
    return PMPI_Type_dup(spoils("copy", type, MPI_COMBINER_SUBARRAY) ? MPI_BYTE : type, copy);
}

int MPI_Type_free(MPI_Datatype *type)
{
    /* The compiler would remove memory that nothing uses. */
    static void *volatile kept;
    if (is_fault("leak"))
        kept = memset(malloc(256), 1, 256);
    (void) kept;
    return PMPI_Type_free(type);
}

int MPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int *size)
{
    int code = PMPI_Pack_size(count, type, comm, size);
    if (spoils("packsize", type, MPI_COMBINER_INDEXED) && bytes_of(type, count) > 0)
        *size = bytes_of(type, count) - 1;
    return code;
}

int MPI_Pack_external(const char representation[], const void *buffer, int count, MPI_Datatype type, void *packed,
                      MPI_Aint bytes, MPI_Aint *position)
{
    MPI_Aint start = *position;
    int code = PMPI_Pack_external(representation, buffer, count, type, packed, bytes, position);
    if (spoils("external", type, MPI_COMBINER_HVECTOR) && *position > start)
        ((char *) packed)[start] ^= 0xff;
    return code;
}

int MPI_Get_elements(const MPI_Status *status, MPI_Datatype type, int *count)
{
    int code = PMPI_Get_elements(status, type, count);
    if (spoils("elements", type, MPI_COMBINER_HVECTOR))
        ++*count;
    return code;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    int code = PMPI_Get_count(status, type, count);
    if (spoils("count", type, MPI_COMBINER_CONTIGUOUS))
        ++*count;
    return code;
}

int MPI_Sendrecv(const void *from, int sent, MPI_Datatype send_type, int to, int tag, void *into, int received,
                 MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm comm, MPI_Status *status)
{
    int code = PMPI_Sendrecv(from, sent, send_type, to, tag, into, received, receive_type, source, receive_tag, comm, status);
    if (is_fault("absolute") && into == MPI_BOTTOM)
        flip(into, receive_type, received);
    if (spoils("sent", receive_type, MPI_COMBINER_INDEXED))
        flip(into, receive_type, received);
    return code;
}

int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int to, int tag, int source, int receive_tag,
                         MPI_Comm comm, MPI_Status *status)
{
    if (spoils("replaced", type, MPI_COMBINER_VECTOR))
        return MPI_SUCCESS;
    return PMPI_Sendrecv_replace(buffer, count, type, to, tag, source, receive_tag, comm, status);
}

int MPI_Accumulate(const void *from, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
                   MPI_Datatype target_type, MPI_Op op, MPI_Win window)
{
    if (spoils("accumulated", target_type, MPI_COMBINER_CONTIGUOUS))
        return MPI_SUCCESS;
    if (op == MPI_SUM && spoils("summed", type, MPI_COMBINER_HVECTOR))
        op = MPI_REPLACE;
    return PMPI_Accumulate(from, count, type, target, place, target_count, target_type, op, window);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int rank, code = PMPI_Bcast(buffer, count, type, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if ((rank == 1 && spoils("broadcast", type, MPI_COMBINER_STRUCT)) || (rank == 0 && root > 0 && spoils("mixed", type, MPI_COMBINER_RESIZED)))
        flip(buffer, type, count);
    return code;
}

#if MPI_VERSION >= 4
int MPI_Pack_c(const void *buffer, MPI_Count count, MPI_Datatype type, void *packed, MPI_Count bytes, MPI_Count *position, MPI_Comm comm)
{
    MPI_Count start = *position;
    int code = PMPI_Pack_c(buffer, count, type, packed, bytes, position, comm);
    if (*position > start && spoils("packed", type, MPI_COMBINER_VECTOR))
        ((char *) packed)[start] ^= 0xff;
    return code;
}
#endif

int MPI_Mrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    int ranks, code = PMPI_Mrecv(buffer, count, type, message, status);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1 && spoils("matched", type, MPI_COMBINER_INDEXED))
        flip(buffer, type, count);
    return code;
}

int MPI_Bsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return PMPI_Bsend(buffer, count - (count > 0 && spoils("buffered", type, MPI_COMBINER_HINDEXED)), type, to, tag, comm);
}

int MPI_Get_accumulate(const void *from, int count, MPI_Datatype type, void *result, int result_count, MPI_Datatype result_type,
                       int target, MPI_Aint place, int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win window)
{
    if (op == MPI_SUM && spoils("fetched", target_type, MPI_COMBINER_INDEXED_BLOCK))
        op = MPI_NO_OP;
    return PMPI_Get_accumulate(from, count, type, result, result_count, result_type, target, place, target_count, target_type, op, window);
}

/* Whether the first two neighbours that send on this grid or graph are the same rank. */
static int is_same_neighbour(MPI_Comm comm, int kind)
{
    int topology, first, second, degree, targets, weighted, sources[64], others[64], weights[64];
    PMPI_Topo_test(comm, &topology);
    if (topology != kind)
        return 0;
    if (kind == MPI_CART)
        return PMPI_Cart_shift(comm, 0, 1, &first, &second) == MPI_SUCCESS && first == second;
    PMPI_Dist_graph_neighbors_count(comm, &degree, &targets, &weighted);
    if (degree < 2 || degree > 64 || targets > 64)
        return 0;
    PMPI_Dist_graph_neighbors(comm, degree, sources, weights, targets, others, weights);
    return sources[0] == sources[1];
}

void swap_neighbours(MPI_Comm comm, char *into, MPI_Aint first, MPI_Aint second, MPI_Datatype type, int count)
{
    long bytes = bytes_of(type, count);
    if (is_fault("ring") && is_same_neighbour(comm, MPI_CART))
        for (long i = 0; i < bytes; i++) {
            char byte = into[first + i];
            into[first + i] = into[second + i];
            into[second + i] = byte;
        }
}

int MPI_Neighbor_allgather(const void *from, int sent, MPI_Datatype type, void *into, int received, MPI_Datatype receive_type,
                           MPI_Comm comm)
{
    int code = PMPI_Neighbor_allgather(from, sent, type, into, received, receive_type, comm);
    if (spoils("repeated", receive_type, MPI_COMBINER_CONTIGUOUS) && is_same_neighbour(comm, MPI_DIST_GRAPH))
        flip(into, receive_type, received);
    return code;
}

int MPI_Igatherv(const void *from, int sent, MPI_Datatype type, void *into, const int counts[], const int places[],
                 MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request)
{
    MPI_Aint lower, extent;
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (!is_fault("gathered later"))
        return PMPI_Igatherv(from, sent, type, into, counts, places, receive_type, root, comm, request);
    int code = PMPI_Gatherv(from, sent, type, into, counts, places, receive_type, root, comm);
    PMPI_Type_get_extent(receive_type, &lower, &extent);
    if (rank == root && spoils("gathered later", receive_type, MPI_COMBINER_RESIZED))
        flip((char *) into + places[1] * extent, receive_type, counts[1]);
    return code == MPI_SUCCESS ? PMPI_Ibarrier(comm, request) : code;
}

int MPI_Scatterv(const void *from, const int counts[], const int places[], MPI_Datatype type, void *into, int received,
                 MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    int rank, code = PMPI_Scatterv(from, counts, places, type, into, received, receive_type, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if (rank == root && spoils("scattered far", type, MPI_COMBINER_INDEXED))
        flip(into, receive_type, received);
    return code;
}

int MPI_Scan(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return spoils("scanned", type, MPI_COMBINER_HINDEXED_BLOCK) ? MPI_SUCCESS : PMPI_Scan(from, into, count, type, op, comm);
}

/* The last persistent gathering, and the first byte of its result. */
static MPI_Request gathering = MPI_REQUEST_NULL;
static char *gathered;

int MPI_Allgather_init(const void *from, int sent, MPI_Datatype type, void *into, int received, MPI_Datatype receive_type,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    MPI_Aint start, extent;
    int code = PMPI_Allgather_init(from, sent, type, into, received, receive_type, comm, info, request);
    PMPI_Type_get_true_extent(receive_type, &start, &extent);
    if (bytes_of(receive_type, received) > 0 && spoils("started", receive_type, MPI_COMBINER_VECTOR)) {
        gathering = *request;
        gathered = (char *) into + start;
    }
    return code;
}

int MPI_Request_free(MPI_Request *request)
{
    if (gathering != MPI_REQUEST_NULL && *request == gathering) {
        *gathered ^= 0xff;
        gathering = MPI_REQUEST_NULL;
    }
    return PMPI_Request_free(request);
}

int MPI_Gather(const void *from, int sent, MPI_Datatype send_type, void *into, int received, MPI_Datatype type, int root,
               MPI_Comm comm)
{
    MPI_Aint lower, extent, start, length;
    int rank, ranks, code = PMPI_Gather(from, sent, send_type, into, received, type, root, comm);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    if (rank == root && spoils("gathered", type, MPI_COMBINER_RESIZED) && bytes_of(type, received) > 0) {
        PMPI_Type_get_extent(type, &lower, &extent);
        PMPI_Type_get_true_extent(type, &start, &length);
        ((char *) into)[(ranks * received - 1) * extent + start] = (char) 0xa5;
    }
    return code;
}

int MPI_Scatter(const void *from, int sent, MPI_Datatype type, void *into, int received, MPI_Datatype receive_type, int root,
                MPI_Comm comm)
{
    MPI_Aint start, length;
    int rank, code = PMPI_Scatter(from, sent, type, into, received, receive_type, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if (is_fault("scattered") && rank == root) {
        PMPI_Type_get_true_extent(type, &start, &length);
        if (start != 0)
            flip(into, receive_type, received);
    }
    return code;
}

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *buffer, int count, MPI_Datatype type, MPI_Status *status)
{
    return PMPI_File_write_at(file, at, buffer, count - (count > 0 && spoils("written", type, MPI_COMBINER_VECTOR)), type, status);
}

/* Whether the last view of a file has the fault. */
static int is_spoiled_view;

int MPI_File_write_all(MPI_File file, const void *buffer, int count, MPI_Datatype type, MPI_Status *status)
{
    return PMPI_File_write_all(file, buffer, count - (count > 0 && is_spoiled_view), type, status);
}

int MPI_File_set_view(MPI_File file, MPI_Offset at, MPI_Datatype element, MPI_Datatype type, const char representation[],
                      MPI_Info info)
{
    is_spoiled_view = spoils("all written", type, MPI_COMBINER_VECTOR);
    if (spoils("view", type, MPI_COMBINER_INDEXED_BLOCK))
        return PMPI_File_set_view(file, at, element, element, representation, info);
    return PMPI_File_set_view(file, at, element, type, representation, info);
}
