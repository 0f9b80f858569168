/* Whole exchanges of two ranks as plain C over MPI: the cost of packing and unpacking with messages in between, for comparison
 * with `ddtbench halo -n 2 -m manual`. Compile it by hand, next to loops.c:
 *
 *     mpicc -O3 exchange.c -o exchange && mpiexec -bind-to core -n 2 ./exchange nas_mg
 *
 * As in `ddtbench`, the ranks divide the slowest dimension, and send the faces of the others to themselves. Before each exchange
 * they change their own sent values, and enter a barrier. Prints the medians over exchanges of the slower rank's times. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loops.c"

enum { EXCHANGES = 600, MOST_MESSAGES = 8, PAGE = 4096 };

/* A message of a stage: a face or a slice, to the other rank or to oneself. */
typedef struct {
    size_t bytes;
    int is_to_other;
} Message;

/* The whole exchange: messages in the order of the packed buffer, and their number per stage. */
typedef struct {
    void *arrays[9];
    int64_t sizes[6];
    Message messages[MOST_MESSAGES];
    int stages, messages_of_stage;
    void (*pack)(void *const *arrays, void *packed, const int64_t *sizes, int stage);
    void (*unpack)(void *const *arrays, void *packed, const int64_t *sizes, int stage);
    void (*change)(void *const *arrays, const int64_t *sizes, uint64_t bits);
} Exchange;

static void *memory(size_t bytes) {
    void *new = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    if (new == NULL) abort();
    return memset(new, 0, bytes);
}

/* NAS MG: faces along x, then y, then z. */
#define MG_STAGE(MOVE, below, above)                                                                              \
    double *u = arrays[0];                                                                                        \
    const int64_t d1 = v[0], d2 = v[1], d3 = v[2];                                                                \
    int64_t n = 0;                                                                                                \
    const int64_t xs[2] = {below(d1), above(d1)}, ys[2] = {below(d2), above(d2)}, zs[2] = {below(d3), above(d3)}; \
    if (stage == 0) MG_X(MOVE)                                                                                    \
    if (stage == 1) MG_Y(MOVE)                                                                                    \
    if (stage == 2) MG_Z(MOVE)

static void mg_pack(void *const *arrays, void *buffer, const int64_t *v, int stage) {
    double *packed = buffer;
    MG_STAGE(PACK, FIRST_OWN, LAST_OWN)
}

static void mg_unpack(void *const *arrays, void *buffer, const int64_t *v, int stage) {
    const double *packed = buffer;
    MG_STAGE(UNPACK, UPPER_HALO, LOWER_HALO)
}

static void mg_change(void *const *arrays, const int64_t *v, uint64_t bits) {
    uint64_t *u = arrays[0];
    const int64_t d1 = v[0], d2 = v[1], d3 = v[2];
    FOR(s, 0, 2) FOR(z, 1, d3 - 1) FOR(y, 1, d2 - 1) u[(s ? d1 - 2 : 1) + d1 * (y + d2 * z)] ^= bits;
    FOR(s, 0, 2) FOR(z, 1, d3 - 1) FOR(x, 1, d1 - 1) u[x + d1 * ((s ? d2 - 2 : 1) + d2 * z)] ^= bits;
    FOR(s, 0, 2) FOR(y, 1, d2 - 1) FOR(x, 1, d1 - 1) u[x + d1 * (y + d2 * (s ? d3 - 2 : 1))] ^= bits;
}

static Exchange nas_mg(void) {
    const size_t d1 = 130, d2 = 66, d3 = 66, faces[3] = {(d2 - 2) * (d3 - 2), d1 * (d3 - 2), d1 * d2};
    Exchange made = {.arrays = {memory(d1 * d2 * d3 * sizeof(double))},
                     .sizes = {(int64_t)d1, (int64_t)d2, (int64_t)d3},
                     .stages = 3,
                     .messages_of_stage = 2,
                     .pack = mg_pack,
                     .unpack = mg_unpack,
                     .change = mg_change};
    for (int i = 0; i < 6; i++) made.messages[i] = (Message){faces[i / 2] * sizeof(double), i / 2 == 2};
    return made;
}

/* MILC: slices in all directions at once, t the slowest. */
static void slices_pack(void *const *arrays, void *packed, const int64_t *sizes, int stage) {
    (void)stage;
    milc_pack(arrays, packed, sizes);
}

static void slices_unpack(void *const *arrays, void *packed, const int64_t *sizes, int stage) {
    (void)stage;
    milc_unpack(arrays, packed, sizes);
}

static void slices_change(void *const *arrays, const int64_t *v, uint64_t bits) {
    uint32_t *su3 = arrays[0];
    const int64_t lx = v[0], ly = v[1], lz = v[2], lt = v[3];
    FOR(pt, 0, 2 * lt) FOR(z, 0, lz) FOR(y, 0, ly) FOR(x, 0, lx / 2) {
        const int is_sent = pt % lt % (lt - 1) == 0 || z % (lz - 1) == 0 || y % (ly - 1) == 0 || x == 0 || x == lx / 2 - 1;
        if (is_sent) FOR(c, 0, 6) su3[SITE(pt, z, y, x) + c] ^= (uint32_t)bits;
    }
}

static Exchange milc(void) {
    enum { SIDE = 16 };
    const size_t slice = SIDE * SIDE * SIDE * 6 * sizeof(float);
    Exchange made = {.arrays = {memory(SIDE * slice)},
                     .sizes = {SIDE, SIDE, SIDE, SIDE},
                     .stages = 1,
                     .messages_of_stage = 8,
                     .pack = slices_pack,
                     .unpack = slices_unpack,
                     .change = slices_change};
    for (int i = 0; i < 8; i++) {
        made.arrays[1 + i] = memory(slice);
        made.messages[i] = (Message){slice, i < 2};
    }
    return made;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int is_mg = count == 2 && strcmp(words[1], "nas_mg") == 0;
    if (ranks != 2 || count != 2 || (!is_mg && strcmp(words[1], "milc") != 0)) {
        if (rank == 0) fprintf(stderr, "usage: mpiexec -n 2 exchange nas_mg|milc\n");
        MPI_Finalize();
        return 2;
    }
    Exchange exchange = is_mg ? nas_mg() : milc();
    const int in_stage = exchange.messages_of_stage;
    size_t bytes = 0;
    for (int i = 0; i < exchange.stages * in_stage; i++) bytes += exchange.messages[i].bytes;
    char *sent = memory(bytes), *received = memory(bytes);
    static double times[2][EXCHANGES];
    for (int e = 0; e < EXCHANGES; e++) {
        exchange.change(exchange.arrays, exchange.sizes, (uint64_t)e | 1);
        MPI_Barrier(MPI_COMM_WORLD);
        double mine[2] = {0, 0}, slower[2];
        size_t begin = 0;
        for (int stage = 0; stage < exchange.stages; stage++) {
            const Message *messages = exchange.messages + stage * in_stage;
            MPI_Request requests[2 * MOST_MESSAGES];
            size_t end = begin;
            for (int i = 0; i < in_stage; end += messages[i++].bytes)
                MPI_Irecv(received + end, (int)messages[i].bytes, MPI_BYTE, messages[i].is_to_other ? 1 - rank : rank, i,
                          MPI_COMM_WORLD, &requests[i]);
            const double t0 = MPI_Wtime();
            exchange.pack(exchange.arrays, sent + begin, exchange.sizes, stage);
            mine[0] += MPI_Wtime() - t0;
            end = begin;
            for (int i = 0; i < in_stage; end += messages[i++].bytes)
                MPI_Isend(sent + end, (int)messages[i].bytes, MPI_BYTE, messages[i].is_to_other ? 1 - rank : rank, i,
                          MPI_COMM_WORLD, &requests[in_stage + i]);
            MPI_Waitall(2 * in_stage, requests, MPI_STATUSES_IGNORE);
            const double t1 = MPI_Wtime();
            exchange.unpack(exchange.arrays, received + begin, exchange.sizes, stage);
            mine[1] += MPI_Wtime() - t1;
            begin = end;
        }
        MPI_Reduce(mine, slower, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        for (int phase = 0; phase < 2; phase++) times[phase][e] = slower[phase];
    }
    if (rank == 0) {
        for (int phase = 0; phase < 2; phase++) qsort(times[phase], EXCHANGES, sizeof(double), ascending);
        printf("%s: pack %.1f us, unpack %.1f us\n", words[1], 1e6 * times[0][EXCHANGES / 2], 1e6 * times[1][EXCHANGES / 2]);
    }
    MPI_Finalize();
    return 0;
}
