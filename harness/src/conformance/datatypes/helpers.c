
static unsigned char *guarded(long bytes) /* memory that ends at a page that cannot be accessed */
{
    long page = 65536, whole = (bytes / page + 1) * page;
    unsigned char *map = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(map + whole, page, PROT_NONE) ? NULL : map + whole - bytes;
}

static void reverse(unsigned char *value) /* turns the bytes of each value around: external32 is big-endian */
{
    for (int item = 0; item < ITEMS; item++)
        for (int run = 0; run < (int) (sizeof widths / sizeof *widths); run++)
            for (long i = 0; i < widths[run].count; i++, value += widths[run].bytes)
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

static void exclusive_or(void *from, void *to, int *length, MPI_Datatype *handle)
{
    for (long i = 0; i < *length * SIZE; i++)
        ((char *) to)[at(i) - ORIGIN] ^= ((char *) from)[at(i) - ORIGIN];
}
