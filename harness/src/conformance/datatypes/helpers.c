
static unsigned char *guarded(long bytes) /* memory that ends at a page that cannot be accessed */
{
    long page = 65536, whole = (bytes / page + 1) * page;
    unsigned char *map = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(map + whole, page, PROT_NONE);
    return map + whole - bytes;
}

static void fill(int rank) /* the memory of a sender, different on each rank, and what it sends */
{
    unsigned char *next = expected;
    for (long i = 0; i < ALL; i++)
        image[i] = VALUE;
    copy_bytes(memory, image, ALL);
    for (int run = 0; run < RUNS; next += runs[run++].bytes)
        memcpy(next, image + ORIGIN + runs[run].at, runs[run].bytes);
}

static void arrive(const unsigned char *bytes) /* what the memory is to become */
{
    copy_bytes(image, memory, ALL);
    for (int run = 0; run < RUNS; bytes += runs[run++].bytes)
        memcpy(image + ORIGIN + runs[run].at, bytes, runs[run].bytes);
}

static void reverse(unsigned char *value) /* turns the bytes of each value around: external32 is big-endian */
{
    for (int item = 0; item < ITEMS; item++)
        for (int run = 0; run < (int) (sizeof widths / sizeof *widths); run++)
            for (long i = 0; i < widths[run].values; i++, value += widths[run].bytes)
                for (int from = 0, to = widths[run].bytes - 1; from < to; from++, to--) {
                    unsigned char byte = value[from];
                    value[from] = value[to];
                    value[to] = byte;
                }
}

static void compare(const char *of, const unsigned char *right, const unsigned char *got, long bytes, long at)
{
    for (long i = 0; i < bytes && !wrong; i++)
        wrong = got[i] != right[i] && printf("WRONG: byte %ld of the %s: %d, not %d\n", at + i, of, got[i], right[i]);
}

static const struct { long at, bytes; } of_item[] = {OF_ITEM}; /* the bytes of an item: displacements and lengths */
static void exclusive_or(void *from, void *to, int *length, MPI_Datatype *handle)
{
    for (long item = 0; item < *length; item++)
        for (unsigned run = 0; run < sizeof of_item / sizeof *of_item; run++)
            for (long i = of_item[run].at; i < of_item[run].at + of_item[run].bytes; i++)
                ((char *) to)[EXTENT * item + i] ^= ((char *) from)[EXTENT * item + i];
}
