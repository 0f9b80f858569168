/* What the statements of operations.c use while the rank program executes them. `struct bench` is `Shared` in checked/operations.rs of
 * the rank program, field by field. An MPI call that fails ends the operation. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(MPI_Status) == DDTBENCH_STATUS, "this mpi.h is of another family of MPIs than the rank program");

struct bench {
    void *state;
    unsigned char *memory, *kept, *packed, *values, *expected;
    const char *file;
    MPI_Datatype type, dense, element;
    MPI_Comm comm;
    long all, origin, bytes, block, from, span, extent, lower_bound;
    const MPI_Aint *right_addresses;
    const int *right_integers;
    int items, value_count, count, whole, partitions, rank, ranks, tag, combiner, integers, addresses, types;
    void (*fill)(void *, int);
    void (*blank)(void *);
    void (*arrive)(void *, const unsigned char *);
    void (*place)(void *);
    void (*keep)(void *);
    void (*reverse)(void *, unsigned char *);
    unsigned char *(*guarded)(void *, long);
    void (*compare)(void *, const char *, const unsigned char *, const unsigned char *, long);
    void (*compare_number)(void *, const char *, long, long);
    void (*failed)(void *, const char *, int);
    int (*make)(void *, MPI_Datatype *);
    MPI_User_function *exclusive_or;
} *bench;

#define ITEMS bench->items
#define VALUES bench->value_count
#define WHOLE (bench->whole < 0 ? MPI_UNDEFINED : bench->whole)
#define PARTITIONS bench->partitions
#define BYTES bench->bytes
#define BLOCK bench->block
#define FROM bench->from
#define SPAN bench->span
#define EXTENT bench->extent
#define LOWER_BOUND bench->lower_bound
#define ALL bench->all
#define ORIGIN bench->origin
#define FIRST 0
#define RANKS bench->ranks
/* A message that was left over is not received by another operation. */
#define TAG bench->tag
#define CALLS 1
#define COMBINER bench->combiner
#define INTEGERS bench->integers
#define ADDRESSES bench->addresses
#define TYPES bench->types
#define right_integers bench->right_integers
#define right_addresses bench->right_addresses
#define rank bench->rank
#define comm bench->comm
#define type bench->type
#define dense bench->dense
#define count bench->count
#define element bench->element
#define memory bench->memory
#define data (memory + ORIGIN)
#define kept bench->kept
#define packed bench->packed
#define values bench->values
#define expected bench->expected
#define image NULL
#define FILE_NAME bench->file
#define exclusive_or bench->exclusive_or
#define fill(of) bench->fill(bench->state, of)
#define arrive(bytes) bench->arrive(bench->state, bytes)
#define prepare(bytes) (bench->blank(bench->state), arrive(bytes))
#define place() bench->place(bench->state)
#define keep() bench->keep(bench->state)
#define reverse(bytes) bench->reverse(bench->state, bytes)
#define guarded(bytes) bench->guarded(bench->state, bytes)
#define compare(what, right, found, bytes, first) bench->compare(bench->state, what, right, found, bytes)
#define compare_number(what, right, found) bench->compare_number(bench->state, what, right, found)
#define make(made) TRY(bench->make, (bench->state, made))

#define TRY(function, arguments)                             \
    do {                                                     \
        int code = function arguments;                       \
        if (code != MPI_SUCCESS) {                           \
            bench->failed(bench->state, #function, code);    \
            return;                                          \
        }                                                    \
    } while (0)
