/* Pack kernels for data in GPU memory, as C that is also C++: `build` makes pack.ptx of it, and the stand-in for the driver,
 * stand_in.c, includes it and runs each thread in a loop. A kernel copies words of one size between places in arrays and the packed
 * stream; it has a name per size, such as `places_8`. The structures are those of kernels/src/device.rs. */
#ifdef __CUDACC__
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
#define KERNEL extern "C" __global__ void
#define INLINE __device__ __forceinline__
#define HIGH_PRODUCT(a, b) __umulhi(a, b)
#define ALIGNED(address, bytes) (address) /* the device checks it */
#endif

/* Division by a constant of numbers below 2^31: the upper half of a product, shifted. A factor of 0 means a divisor of 1. */
struct divisor { u32 value, factor, shift; };

INLINE u32 quotient(u32 number, struct divisor by) {
    return by.factor ? HIGH_PRODUCT(number, by.factor) >> by.shift : number;
}

/* Equal blocks in loops; the outermost loop may be a list of places. */
struct places {
    char *array;
    char *packed;
    const i64 *listed;  /* places of the outermost loop in bytes, or null */
    i64 first;          /* place of the first block, or what listed ones are relative to */
    i64 strides[3];     /* bytes from one block to the next, innermost loop first */
    struct divisor block, inner, middle; /* words of a block, blocks of the two innermost loops */
    u32 words;          /* of all blocks */
    u32 unpacks;
};

/* Records at listed places: word w of record r is at offsets[w] + scales[w] * indices[r]. */
struct records {
    char *array;
    char *packed;
    const i64 *offsets, *scales;
    const u32 *indices;
    struct divisor record; /* words of a record */
    u32 words;
    u32 unpacks;
};

/* Blocks of different lengths, in any order. */
struct block { i64 place; u32 first, words; };
struct blocks {
    char *array;
    char *packed;
    const struct block *listed;
    u32 count;
    u32 lanes;          /* threads of each block, a power of 2 */
    u32 unpacks;
};

/* Words that a thread copies: all of them are read before one is written. */
#define WORDS 4

INLINE i64 place_of(const struct places *at, u32 word, u32 bytes) {
    u32 number = quotient(word, at->block), within = word - number * at->block.value;
    u32 row = quotient(number, at->inner), column = number - row * at->inner.value;
    u32 plane = quotient(row, at->middle);
    i64 outer = at->listed ? at->listed[plane] : plane * at->strides[2];
    row -= plane * at->middle.value;
    return at->first + outer + row * at->strides[1] + column * at->strides[0] + (i64)within * bytes;
}

INLINE i64 place_in_record(const struct records *at, u32 word, u32 bytes) {
    u32 record = quotient(word, at->record), within = word - record * at->record.value;
    (void)bytes;
    return at->offsets[within] + at->scales[within] * at->indices[record];
}

#define COPY_WORDS(name, type, bytes, place)                                                        \
    KERNEL name##_##bytes(struct name at) {                                                         \
        u32 first = blockIdx.x * blockDim.x * WORDS + threadIdx.x;                                  \
        type word[WORDS];                                                                           \
        type *array[WORDS], *packed = (type *)ALIGNED(at.packed, bytes);                            \
        for (int i = 0; i < WORDS; i++) {                                                           \
            u32 number = first + i * blockDim.x;                                                    \
            if (number >= at.words) continue;                                                       \
            array[i] = (type *)ALIGNED(at.array + place(&at, number, bytes), bytes);                \
            word[i] = at.unpacks ? packed[number] : *array[i];                                      \
        }                                                                                           \
        for (int i = 0; i < WORDS; i++) {                                                           \
            u32 number = first + i * blockDim.x;                                                    \
            if (number >= at.words) continue;                                                       \
            if (at.unpacks) *array[i] = word[i];                                                    \
            else packed[number] = word[i];                                                          \
        }                                                                                           \
    }

#define COPY_BLOCKS(type, bytes)                                                                    \
    KERNEL blocks_##bytes(struct blocks at) {                                                       \
        u32 thread = blockIdx.x * blockDim.x + threadIdx.x;                                         \
        u32 number = thread / at.lanes, lane = thread % at.lanes;                                   \
        if (number >= at.count) return;                                                             \
        struct block block = at.listed[number];                                                     \
        type *array = (type *)ALIGNED(at.array + block.place, bytes);                               \
        type *packed = (type *)ALIGNED(at.packed, bytes) + block.first;                             \
        for (u32 i = lane; i < block.words; i += at.lanes) {                                        \
            if (at.unpacks) array[i] = packed[i];                                                   \
            else packed[i] = array[i];                                                              \
        }                                                                                           \
    }

#define KERNELS(type, bytes)                                                                        \
    COPY_WORDS(places, type, bytes, place_of)                                                       \
    COPY_WORDS(records, type, bytes, place_in_record)                                               \
    COPY_BLOCKS(type, bytes)

KERNELS(unsigned char, 1)
KERNELS(unsigned short, 2)
KERNELS(u32, 4)
KERNELS(u64, 8)
#ifdef __CUDACC__
KERNELS(ulonglong2, 16)
#else
typedef struct { u64 low, high; } word16;
KERNELS(word16, 16)
#endif
