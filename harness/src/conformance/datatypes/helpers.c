
/* The memory that the type describes, and what it should be, with a margin on one side; the packed data. On the other side of both is a
 * page that cannot be accessed. */
enum { MARGIN = 64, BEFORE = AT_END ? MARGIN : 0, ALL = SPAN + MARGIN };
static unsigned char *memory, *packed, *data;
static unsigned char image[ALL], expected[BYTES + 1];
static int wrong;

static void *guarded(long bytes)
{
    long page = sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page + 2;
    char *map = mmap(NULL, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + page, (pages - 2) * page, PROT_READ | PROT_WRITE) != 0)
        exit(3);
    return AT_END ? map + (pages - 1) * page - bytes : map + page;
}

static void reserve(void)
{
    memory = guarded(ALL);
    data = memory + BEFORE - FROM;
    packed = guarded(BYTES);
}

static void hangs(int signal)
{
    static const char text[] = "WRONG: the operation does not return\n";
    (void) signal;
    if (write(1, text, sizeof text - 1) > 0)
        _exit(1);
}

/* A file of this process. */
static const char *file_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "/tmp/finding.%ld", (long) getpid());
    return name;
}

/* Fills the memory of a sender, and collects its values in the order of the type map. Ranks have different values. */
static void fill_of(int rank)
{
    long next = 0;
    for (long i = 0; i < ALL; i++)
        memory[i] = image[i] = VALUE(i + rank);
    for (int run = 0; run < RUNS; run++)
        for (long i = 0; i < runs[run].bytes; i++)
            expected[next++] = data[runs[run].at + i];
}

static void fill(void)
{
    fill_of(0);
}

/* What the memory of a receiver is to become. */
static void prepare_for(const unsigned char *values)
{
    long next = 0;
    memset(memory, 0xA5, ALL);
    memset(image, 0xA5, ALL);
    for (int run = 0; run < RUNS; run++)
        for (long i = 0; i < runs[run].bytes; i++)
            image[BEFORE - FROM + runs[run].at + i] = values[next++];
}

/* Packed data and the memory of its receiver. */
static void prepare(void)
{
    fill();
    memcpy(packed, expected, BYTES);
    prepare_for(packed);
}

static void compare(const char *what, const unsigned char *right, const unsigned char *found, long bytes, long first)
{
    for (long i = 0; i < bytes && !wrong; i++)
        if (right[i] != found[i]) {
            printf("WRONG: byte %ld of the %s is 0x%02x instead of 0x%02x\n", first + i, what, found[i], right[i]);
            wrong = 1;
        }
}

static void compare_number(const char *what, long right, long found)
{
    if (right != found) {
        printf("WRONG: %s is %ld instead of %ld\n", what, found, right);
        wrong = 1;
    }
}

/* The packed data is right, and the memory of the sender has not changed. */
static void compare_packed(void)
{
    compare("packed data", expected, packed, BYTES, 0);
    compare("sender's memory", image, memory, ALL, FROM - BEFORE);
}

static void compare_memory(void)
{
    compare("receiver's memory", image, memory, ALL, FROM - BEFORE);
}
