/* An MPI with faults on purpose: a library that is loaded before the real MPI, and passes all other calls to it.
 *
 * FAULTY_MPI names the fault:
 *   flip BYTE      rank 1 flips a byte that MPI_Recv has received, at this distance from the buffer's start
 *   alltoall BYTE  the same after MPI_Alltoall
 *   lost           rank 1 sends nothing, rank 0 receives nothing, and both report success
 *   unsent         the same for messages from rank 0 to rank 1
 *   unput          rank 0 transfers nothing in MPI_Put
 *   unget          rank 1 transfers nothing in MPI_Get
 *   persistent     rank 1 receives by MPI_Recv_init into other memory than the given buffer
 *   half           rank 1 does not change the second half of the buffer in MPI_Recv
 *   astray         rank 1 receives by MPI_Alltoall and MPI_Ibcast into other memory than the given buffer
 *   skip           rank 0 packs nothing in MPI_Pack
 *   commit         MPI_Type_commit fails on rank 1
 *   gate FILE      rank 0 creates FILE.reached in its first MPI_Type_commit. Then it waits while FILE exists, or until FILE.pass
 *                  exists, which it removes
 *   stall EVERY MICROSECONDS  MPI_Recv returns so much later on rank 1, once in EVERY calls
 *   hoard          MPI_Recv keeps 128 MiB more on rank 1 in each call
 *   hang           MPI_Recv never returns on rank 1
 *   kill           rank 1 is killed in MPI_Put
 *   outlive        rank 0 is killed in MPI_Send, and the matching MPI_Recv fails on rank 1
 *   pack BYTE      rank 0 flips a byte that MPI_Pack has packed
 *   unpack BYTE    the same for a byte that MPI_Unpack has unpacked, at this distance from the buffer's start
 *   die            rank 0 is killed in MPI_Pack
 *   datatype NAME  a fault of datatypes: faulty_types.c
 *   drop PARTITION rank 0 does not mark this partition in MPI_Pready, and reports success
 *   startall       MPI_Startall fails on rank 1
 *   spoil BYTE     rank 1 flips a byte of the partitioned message that it has received last, in MPI_Wait
 *   elsewhere      rank 1 receives partitioned messages into other memory than the given buffer
 *   byte AT BYTES  rank 1 changes the byte at this distance from the start of each contiguous message of BYTES bytes that MPI_Recv or
 *                  MPI_Wait has received: one of its bytes, or if AT is BYTES, the one behind it
 *   single         MPI_Init_thread provides MPI_THREAD_SINGLE, whatever the program requires
 *   left out       rank 1 does not change the first eight bytes that MPI_Neighbor_alltoallw should receive
 *   cart left out  the same only on a grid, not on a graph
 *   all left out   the same of the bytes that MPI_Alltoallw should receive from rank 0
 *   stale          rank 1 receives by MPI_Irecv into other memory than the given buffer, which keeps its old data
 *   mapping        rank 1 flips the first byte of the mapping that aggregated:adaptive announces: the partitions of each message
 *   remapped PARTITIONS  rank 0 announces another mapping of so many partitions than it uses: all in one message or, if it uses
 *                  that, two halves
 *   asleep MICROSECONDS  MPI_Ibcast works in a thread that sleeps so long: perfect overlap
 *   late MICROSECONDS    MPI_Wait for it takes so long, whatever happened before: no overlap
 *   dead bcast     rank 1 is killed in MPI_Ibcast
 *   no barrier     MPI_Ibarrier does not wait for other ranks
 *   cores N        not a fault of an MPI: the kernel reports that ranks may run on N cores, and that it has bound threads
 *   cores N paired    the same with N hardware threads, of which n and n + N / 2 are one core
 *   cores N unbound   the same as cores N, but the kernel refuses to bind threads
 *
 * FAULTY_MPI_AFTER is the number of right calls before the fault (0 if unset). FAULTY_MPI_TIMES is the number of wrong calls then
 * (all if unset). With FAULTY_MPI_EVERY, only one in so many calls is wrong. With FAULTY_MPI_ONCE, a file that does not exist yet, only the process that creates it has the fault: one of
 * several launches. Except for MPI_Put, MPI_Type_commit, mappings and partitioned messages, only messages with derived datatypes
 * are changed, so that other methods work. */

#define _GNU_SOURCE
#include "faulty_types.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const char *fault(void)
{
    const char *text = getenv("FAULTY_MPI");
    return text ? text : "";
}

/* Whether this process has the fault. */
static int is_chosen(void)
{
    static int known, chosen;
    const char *file = getenv("FAULTY_MPI_ONCE");
    if (!known) {
        known = 1;
        chosen = !file || close(open(file, O_CREAT | O_EXCL | O_WRONLY, 0666)) == 0;
    }
    return chosen;
}

/* Whether this call of this rank has the fault `name`. */
static int goes_wrong(const char *name, int on_rank)
{
    static long calls;
    const char *after = getenv("FAULTY_MPI_AFTER"), *times = getenv("FAULTY_MPI_TIMES"), *every = getenv("FAULTY_MPI_EVERY");
    long first = after ? atol(after) : 0, call;
    int rank;
    if (strncmp(fault(), name, strlen(name)) != 0)
        return 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != on_rank)
        return 0;
    call = calls++;
    return call >= first && (!times || call < first + atol(times)) && (!every || (call - first) % atol(every) == atol(every) - 1)
           && is_chosen();
}

static int is_derived(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner != MPI_COMBINER_NAMED;
}

/* The last partitioned message that this rank receives, and its buffer. */
static MPI_Request receiving = MPI_REQUEST_NULL;
static void *received;
static long received_bytes;

/* The mapping that this rank receives, and its buffer, which has room for the ends of 1024 messages. */
enum { MAPPING_BYTES = 4 * 1024 };
static MPI_Request receiving_mapping = MPI_REQUEST_NULL;
static unsigned char *received_mapping;

static void turn_over(void *buffer)
{
    ((unsigned char *) buffer)[atol(strchr(fault(), ' '))] ^= 0xff;
}

/* The bytes of the messages that `byte` means; 0 if it is another fault. */
static long bytes_meant(void)
{
    long at, bytes;
    return sscanf(fault(), "byte %ld %ld", &at, &bytes) == 2 ? bytes : 0;
}

static void change_byte(void *buffer)
{
    unsigned char *byte = (unsigned char *) buffer + atol(strchr(fault(), ' '));
    if (goes_wrong("byte", 1))
        *byte = !*byte;
}

static int is_meant(long count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    return bytes_meant() > 0 && count * size == bytes_meant() && !is_derived(type);
}

/* The requests that receive such messages, and their buffers. */
enum { MOST_MEANT = 64 };
static struct { MPI_Request request; void *buffer; } meant[MOST_MEANT];
static int meant_count;

static void keep_meant(void *buffer, long count, MPI_Datatype type, MPI_Request request)
{
    int i = 0;
    if (!is_meant(count, type))
        return;
    while (i < meant_count && meant[i].request != MPI_REQUEST_NULL)
        i++;
    if (i == MOST_MEANT)
        abort();
    meant_count += i == meant_count;
    meant[i].request = request;
    meant[i].buffer = buffer;
}

/* The number of a request among them, or -1. */
static int number_of_meant(MPI_Request request)
{
    for (int i = 0; request != MPI_REQUEST_NULL && i < meant_count; i++)
        if (meant[i].request == request)
            return i;
    return -1;
}

static void hoard(void)
{
    static char *volatile kept;
    kept = malloc(1 << 27);
    memset(kept, 1, 1 << 27);
}

static void stall(void)
{
    static long receives;
    char *end;
    long every = strtol(strchr(fault(), ' '), &end, 10);
    if (++receives % every == 0)
        usleep((useconds_t) atol(end));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int code = PMPI_Init_thread(argc, argv, required, provided);
    if (strcmp(fault(), "single") == 0)
        *provided = MPI_THREAD_SINGLE;
    return code;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int derived = is_derived(type);
    MPI_Aint start, extent;
    char *kept = NULL, *second = NULL;
    if (derived && (goes_wrong("lost", 0) || goes_wrong("unsent", 1)))
        return MPI_SUCCESS;
    if (derived && goes_wrong("half", 1)) {
        PMPI_Type_get_true_extent(type, &start, &extent);
        second = (char *) buffer + start + extent / 2;
        kept = memcpy(malloc(extent), second, extent - extent / 2);
    }
    while (derived && goes_wrong("hang", 1))
        pause();
    int code = PMPI_Recv(buffer, count, type, source, tag, comm, status);
    if (kept)
        memcpy(second, kept, extent - extent / 2);
    free(kept);
    if (derived && goes_wrong("flip", 1))
        turn_over(buffer);
    if (is_meant(count, type))
        change_byte(buffer);
    if (derived && goes_wrong("stall", 1))
        stall();
    if (derived && goes_wrong("hoard", 1))
        hoard();
    if (derived && goes_wrong("outlive", 1))
        return MPI_ERR_OTHER;
    return code;
}

/* Memory for so many of a datatype; its content is not used. */
static void *other_memory(long count, MPI_Datatype type)
{
    MPI_Aint start, true_extent, lower, extent;
    PMPI_Type_get_true_extent(type, &start, &true_extent);
    PMPI_Type_get_extent(type, &lower, &extent);
    return (char *) malloc(count * extent + true_extent) - start;
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (is_derived(type) && goes_wrong("stale", 1))
        buffer = other_memory(count, type);
    int code = PMPI_Irecv(buffer, count, type, source, tag, comm, request);
    keep_meant(buffer, count, type, *request);
    if (type == MPI_BYTE && count == MAPPING_BYTES && goes_wrong("mapping", 1)) {
        receiving_mapping = *request;
        received_mapping = buffer;
    }
    return code;
}

int MPI_Recv_init(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (is_derived(type) && goes_wrong("persistent", 1))
        buffer = other_memory(count, type);
    int code = PMPI_Recv_init(buffer, count, type, source, tag, comm, request);
    keep_meant(buffer, count, type, *request);
    return code;
}

/* Whether these bytes are rising numbers, and the last one is the number of partitions. */
static int is_mapping(const void *buffer, int count, MPI_Datatype type)
{
    unsigned ends[64], all = atoi(strchr(fault(), ' ')), i;
    if (type != MPI_BYTE || count < 4 || count % 4 != 0 || (unsigned) count > sizeof ends)
        return 0;
    memcpy(ends, buffer, count);
    for (i = 1; i < count / 4u; i++)
        if (ends[i] <= ends[i - 1])
            return 0;
    return ends[0] > 0 && ends[count / 4 - 1] == all;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    if (is_derived(type) && (goes_wrong("lost", 1) || goes_wrong("unsent", 0)))
        return MPI_SUCCESS;
    if (strncmp(fault(), "remapped", 8) == 0 && is_mapping(buffer, count, type) && goes_wrong("remapped", 0)) {
        unsigned all = atoi(strchr(fault(), ' ')), halves[2] = {all / 2, all};
        return count == 4 ? PMPI_Send(halves, sizeof halves, type, to, tag, comm)
                          : PMPI_Send(&all, sizeof all, type, to, tag, comm);
    }
    int code = PMPI_Send(buffer, count, type, to, tag, comm);
    if (is_derived(type) && goes_wrong("outlive", 0))
        raise(SIGKILL);
    return code;
}

int MPI_Alltoall(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                 MPI_Comm comm)
{
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    if (is_derived(to_type) && goes_wrong("astray", 1))
        to = other_memory((long) to_count * ranks, to_type);
    int code = PMPI_Alltoall(from, count, type, to, to_count, to_type, comm);
    if (is_derived(to_type) && goes_wrong("alltoall", 1))
        turn_over(to);
    return code;
}

static void wait_at_gate(void)
{
    const char *gate = strchr(fault(), ' ') + 1;
    pid_t launcher = getppid();
    char reached[4096], pass[4096];
    snprintf(reached, sizeof reached, "%s.reached", gate);
    snprintf(pass, sizeof pass, "%s.pass", gate);
    if (access(gate, F_OK) == 0)
        close(creat(reached, 0666));
    while (access(gate, F_OK) == 0 && unlink(pass) != 0) {
        /* Within MPI it would notice that its launcher has ended. */
        if (getppid() != launcher)
            _exit(1);
        usleep(10000);
    }
}

int MPI_Type_commit(MPI_Datatype *type)
{
    static int has_passed;
    if (!has_passed && goes_wrong("gate", 0)) {
        has_passed = 1;
        wait_at_gate();
    }
    return goes_wrong("commit", 1) ? MPI_ERR_TYPE : PMPI_Type_commit(type);
}

int MPI_Put(const void *buffer, int count, MPI_Datatype type, int to, MPI_Aint at, int to_count,
            MPI_Datatype to_type, MPI_Win window)
{
    if (goes_wrong("kill", 1))
        raise(SIGKILL);
    if (goes_wrong("unput", 0) || loses_put(to_type))
        return MPI_SUCCESS;
    return PMPI_Put(buffer, count, type, to, at, to_count, to_type, window);
}

int MPI_Get(void *buffer, int count, MPI_Datatype type, int from, MPI_Aint at, int from_count, MPI_Datatype from_type,
            MPI_Win window)
{
    if (goes_wrong("unget", 1))
        return MPI_SUCCESS;
    return PMPI_Get(buffer, count, type, from, at + astray(from_type), from_count, from_type, window);
}

int MPI_Pack(const void *buffer, int count, MPI_Datatype type, void *packed, int bytes, int *position, MPI_Comm comm)
{
    int start = *position;
    if (is_derived(type) && goes_wrong("die", 0))
        raise(SIGKILL);
    if (is_derived(type) && goes_wrong("skip", 0))
        packed = malloc(bytes);
    int code = PMPI_Pack(buffer, count, type, packed, bytes, position, comm);
    if (is_derived(type) && goes_wrong("pack", 0))
        turn_over((char *) packed + start);
    spoil_pack(type, count, packed, start, *position);
    spoil_pack_behind(type, bytes, packed, start, *position);
    return code;
}

int MPI_Unpack(const void *packed, int bytes, int *position, void *buffer, int count, MPI_Datatype type,
               MPI_Comm comm)
{
    int code = PMPI_Unpack(packed, bytes, position, buffer, count, type, comm);
    if (is_derived(type) && goes_wrong("unpack", 0))
        turn_over(buffer);
    spoil_unpack(type, count, buffer);
    return code;
}

int MPI_Pready(int partition, MPI_Request request)
{
    if (goes_wrong("drop", 0) && partition == atoi(strchr(fault(), ' ')))
        return MPI_SUCCESS;
    return PMPI_Pready(partition, request);
}

int MPI_Startall(int count, MPI_Request requests[])
{
    return goes_wrong("startall", 1) ? MPI_ERR_OTHER : PMPI_Startall(count, requests);
}

int MPI_Precv_init(void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request *request)
{
    int size;
    PMPI_Type_size(type, &size);
    if (goes_wrong("elsewhere", 1))
        buffer = malloc(partitions * count * size);
    int code = PMPI_Precv_init(buffer, partitions, count, partition_type(type), source, tag, comm, info, request);
    receiving = *request;
    received = buffer;
    received_bytes = partitions * count * size;
    return code;
}

/* The current broadcast, and the thread that does its work. */
static MPI_Request broadcast = MPI_REQUEST_NULL;
static pthread_t helper;
static int is_helped;

static void *work(void *unused)
{
    usleep((useconds_t) atof(strchr(fault(), ' ')));
    return unused;
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    if (goes_wrong("dead", 1))
        raise(SIGKILL);
    if (goes_wrong("astray", 1))
        buffer = other_memory(count, type);
    int code = PMPI_Ibcast(buffer, count, type, root, comm, request);
    broadcast = *request;
    keep_meant(buffer, count, type, *request);
    is_helped = strncmp(fault(), "asleep", 6) == 0 && pthread_create(&helper, NULL, work, NULL) == 0;
    return code;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Ibarrier(strcmp(fault(), "no barrier") == 0 ? MPI_COMM_SELF : comm, request);
}

/* Threads that were bound, and their cores. */
enum { MOST_BOUND = 64 };
static struct { pid_t thread; cpu_set_t cores; } bound[MOST_BOUND];
static int bound_count;

int sched_setaffinity(pid_t thread, size_t bytes, const cpu_set_t *cores)
{
    if (strncmp(fault(), "cores", 5) != 0) {
        int (*real)(pid_t, size_t, const cpu_set_t *) = dlsym(RTLD_NEXT, "sched_setaffinity");
        return real(thread, bytes, cores);
    }
    if (bound_count == MOST_BOUND || strstr(fault(), "unbound"))
        return -1;
    bound[bound_count].thread = thread ? thread : gettid();
    bound[bound_count++].cores = *cores;
    return 0;
}

int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t *cores)
{
    if (strncmp(fault(), "cores", 5) != 0) {
        int (*real)(pid_t, size_t, cpu_set_t *) = dlsym(RTLD_NEXT, "sched_getaffinity");
        return real(thread, bytes, cores);
    }
    memset(cores, 0, bytes);
    for (int core = 0; core < atoi(strchr(fault(), ' ')); core++)
        CPU_SET(core, cores);
    for (int i = 0; i < bound_count; i++)
        if (bound[i].thread == (thread ? thread : gettid()))
            *cores = bound[i].cores;
    return 0;
}

/* The file with the hardware threads of a core; all other files are opened normally. */
int open64(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
    int thread, file, threads;
    va_list more;
    mode_t mode;
    va_start(more, flags);
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (strncmp(fault(), "cores", 5) != 0
        || sscanf(path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", &thread) != 1)
        return real(path, flags, mode);
    file = memfd_create("thread_siblings_list", 0);
    threads = atoi(strchr(fault(), ' '));
    if (strstr(fault(), "paired"))
        dprintf(file, "%d,%d\n", thread % (threads / 2), thread % (threads / 2) + threads / 2);
    else
        dprintf(file, "%d\n", thread);
    lseek(file, 0, SEEK_SET);
    return file;
}

/* The remaining work of a broadcast, in its wait. */
static void end_broadcast(void)
{
    if (is_helped)
        pthread_join(helper, NULL);
    if (strncmp(fault(), "late", 4) == 0)
        work(NULL);
    is_helped = 0;
    broadcast = MPI_REQUEST_NULL;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int is_receiving = *request != MPI_REQUEST_NULL && *request == receiving;
    int is_broadcast = *request != MPI_REQUEST_NULL && *request == broadcast;
    int is_mapping = *request != MPI_REQUEST_NULL && *request == receiving_mapping;
    int number = number_of_meant(*request);
    int code = PMPI_Wait(request, status);
    if (number >= 0) {
        change_byte(meant[number].buffer);
        meant[number].request = *request;
    }
    if (is_broadcast)
        end_broadcast();
    if (is_mapping) {
        received_mapping[0] ^= 0xff;
        receiving_mapping = MPI_REQUEST_NULL;
    }
    /* Probes receive less than the spoiled byte. */
    if (is_receiving && goes_wrong("spoil", 1) && atol(strchr(fault(), ' ')) < received_bytes)
        turn_over(received);
    return code;
}

/* The first bytes of the first buffer of a list, if they must not change. */
enum { LEFT_OUT = 8 };
static char *left_out(int wrong, void *to, MPI_Aint at, MPI_Datatype type, char *kept)
{
    MPI_Aint start, extent;
    if (!wrong)
        return NULL;
    PMPI_Type_get_true_extent(type, &start, &extent);
    memcpy(kept, (char *) to + at + start, LEFT_OUT);
    return (char *) to + at + start;
}

int MPI_Neighbor_alltoallw(const void *from, const int counts[], const MPI_Aint at[], const MPI_Datatype types[],
                           void *to, const int to_counts[], const MPI_Aint to_at[], const MPI_Datatype to_types[],
                           MPI_Comm comm)
{
    int topology;
    PMPI_Topo_test(comm, &topology);
    int wrong = is_derived(to_types[0])
                && (goes_wrong("left out", 1) || (topology == MPI_CART && goes_wrong("cart left out", 1)));
    char kept[LEFT_OUT], *place = left_out(wrong, to, to_at[0], to_types[0], kept);
    int code = PMPI_Neighbor_alltoallw(from, counts, at, types, to, to_counts, to_at, to_types, comm);
    swap_neighbours(comm, to, to_at[0], to_at[1], to_types[0], to_counts[0]);
    if (place)
        memcpy(place, kept, sizeof kept);
    return code;
}

int MPI_Alltoallw(const void *from, const int counts[], const int at[], const MPI_Datatype types[], void *to,
                  const int to_counts[], const int to_at[], const MPI_Datatype to_types[], MPI_Comm comm)
{
    int wrong = is_derived(to_types[0]) && goes_wrong("all left out", 1);
    char kept[LEFT_OUT], *place = left_out(wrong, to, to_at[0], to_types[0], kept);
    int code = PMPI_Alltoallw(from, counts, at, types, to, to_counts, to_at, to_types, comm);
    if (place)
        memcpy(place, kept, sizeof kept);
    return code;
}
