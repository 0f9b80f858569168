/* A stand-in for libcuda.so.1 on a machine without a device: it runs the kernels of pack.cu on the host, counts copies, and shows
 * errors that a device would hide or that need one.
 *
 * - The host cannot read or write device memory: each allocation is mapped twice, and the address that the program gets is
 *   protected. Only the driver's functions use the other mapping.
 * - Copies and kernels on a stream are begun only when somebody waits for the stream, so a forgotten wait leaves old data.
 * - Other processes open device memory by handles, as with a device.
 * - DDTBENCH_DEVICE_FAULT makes it faulty from its DDTBENCH_DEVICE_FAULT_FROM-th copy of more than 64 bytes or kernel on: `short`
 *   (the last byte of a copy, the last word or block of a kernel is missing), `stale` (nothing is copied), `shifted` (to a place one byte further), `late` (a wait is too short).
 * - A word that is not aligned ends the process, as it ends a kernel on a device.
 * - DDTBENCH_DEVICE_BYTES is the memory of the device, 16 GiB otherwise.
 *
 * Source of the interface: NVIDIA's documentation of the driver. Compiled with `cc -shared -fPIC stand_in.c -o libcuda.so.1`. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>

/* The kernels, with a loop over threads in place of a device's. */
typedef uint32_t u32;
typedef unsigned long long u64;
typedef long long i64;
static struct { u32 x; } blockIdx, threadIdx, blockDim;
#define KERNEL static void
#define INLINE static inline
#define HIGH_PRODUCT(a, b) ((u32)(((u64)(a) * (b)) >> 32))
#define ALIGNED(address, bytes) aligned(address, bytes)
static char *aligned(char *address, u32 bytes) {
    if ((u64)address % bytes == 0) return address;
    fprintf(stderr, "a kernel copies a word of %u bytes that is not aligned\n", bytes);
    abort();
}
#include "pack.cu"

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, NOT_READY = 600 };
enum { TYPE_HOST = 1, TYPE_DEVICE = 2, TYPE_UNIFIED = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static u64 copies, copied_bytes, launches;

/* Counters of this process, for programs that look for them. */
u64 ddtbench_device_copies(void) { return copies; }
u64 ddtbench_device_launches(void) { return launches; }

/* --- memory --- */
enum kind { DEVICE, MANAGED, PINNED };
struct memory { char *start, *inside; size_t bytes; enum kind kind; int file; };
static struct memory *memories;
static size_t memory_count;

static struct memory *find(const void *address) {
    for (size_t i = 0; i < memory_count; i++)
        if ((char *)address >= memories[i].start && (char *)address < memories[i].start + memories[i].bytes)
            return &memories[i];
    return NULL;
}

/* The address that the driver itself uses. */
static char *inside(u64 address) {
    struct memory *memory = find((void *)address);
    return memory ? memory->inside + ((char *)address - memory->start) : (char *)address;
}

static int add(enum kind kind, int file, size_t bytes, u64 *address) {
    int protection = kind == DEVICE ? PROT_NONE : PROT_READ | PROT_WRITE;
    char *start = mmap(NULL, bytes, protection, MAP_SHARED, file, 0);
    char *other = kind == DEVICE ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : start;
    if (start == MAP_FAILED || other == MAP_FAILED) return OUT_OF_MEMORY;
    memories = realloc(memories, (memory_count + 1) * sizeof *memories);
    memories[memory_count++] = (struct memory){start, other, bytes, kind, file};
    *address = (u64)start;
    return SUCCESS;
}

static int allocate(enum kind kind, size_t bytes, u64 *address) {
    pthread_mutex_lock(&lock);
    bytes = (bytes + 4095) / 4096 * 4096;
    int file = memfd_create("device", 0), code = OUT_OF_MEMORY;
    if (file >= 0 && ftruncate(file, (off_t)bytes) == 0) code = add(kind, file, bytes, address);
    pthread_mutex_unlock(&lock);
    return code;
}

static void run_all(void);

static int release(u64 address) {
    pthread_mutex_lock(&lock);
    run_all();
    struct memory *memory = find((void *)address);
    int code = memory ? SUCCESS : INVALID_VALUE;
    if (memory) {
        munmap(memory->start, memory->bytes);
        if (memory->inside != memory->start) munmap(memory->inside, memory->bytes);
        close(memory->file);
        *memory = memories[--memory_count];
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int cuMemAlloc_v2(u64 *address, size_t bytes) { return allocate(DEVICE, bytes, address); }
int cuMemAllocManaged(u64 *address, size_t bytes, u32 flags) { (void)flags; return allocate(MANAGED, bytes, address); }
int cuMemHostAlloc(void **address, size_t bytes, u32 flags) { (void)flags; return allocate(PINNED, bytes, (u64 *)address); }
int cuMemAllocHost_v2(void **address, size_t bytes) { return allocate(PINNED, bytes, (u64 *)address); }
int cuMemFree_v2(u64 address) { return release(address); }
int cuMemFreeHost(void *address) { return release((u64)address); }
int cuMemHostGetDevicePointer_v2(u64 *to, void *address, u32 flags) { (void)flags; *to = (u64)address; return SUCCESS; }
int cuMemHostRegister_v2(void *address, size_t bytes, u32 flags) { (void)address, (void)bytes, (void)flags; return SUCCESS; }
int cuMemHostUnregister(void *address) { (void)address; return SUCCESS; }

int cuMemGetAddressRange_v2(u64 *start, size_t *bytes, u64 address) {
    pthread_mutex_lock(&lock);
    struct memory *memory = find((void *)address);
    if (memory && start) *start = (u64)memory->start;
    if (memory && bytes) *bytes = memory->bytes;
    pthread_mutex_unlock(&lock);
    return memory ? SUCCESS : NOT_FOUND;
}

int cuPointerGetAttribute(void *value, int attribute, u64 address) {
    pthread_mutex_lock(&lock);
    struct memory *memory = find((void *)address);
    int code = memory ? SUCCESS : INVALID_VALUE;
    if (memory) switch (attribute) {
        case 1: *(void **)value = (void *)1; break;                                             /* context */
        case 2: *(u32 *)value = memory->kind == PINNED ? TYPE_HOST : TYPE_DEVICE; break;        /* memory type */
        case 3: *(u64 *)value = address; break;                                                 /* device pointer */
        case 4: *(void **)value = memory->kind == DEVICE ? NULL : (void *)address; break;       /* host pointer */
        case 6: *(u32 *)value = 1; break;                                                       /* synchronous copies */
        case 7: *(u64 *)value = (u64)memory->start; break;                                      /* number of the buffer */
        case 8: *(u32 *)value = memory->kind == MANAGED; break;
        case 9: *(int *)value = 0; break;                                                       /* number of the device */
        case 11: *(u64 *)value = (u64)memory->start; break;
        case 12: *(size_t *)value = memory->bytes; break;
        default: code = INVALID_VALUE;
        }
    pthread_mutex_unlock(&lock);
    return code;
}

int cuPointerGetAttributes(u32 count, int *attributes, void **values, u64 address) {
    for (u32 i = 0; i < count; i++)
        if (cuPointerGetAttribute(values[i], attributes[i], address) != SUCCESS) memset(values[i], 0, 4);
    return SUCCESS;
}
int cuPointerSetAttribute(const void *value, int attribute, u64 address) {
    (void)value, (void)attribute, (void)address;
    return SUCCESS;
}

/* Memory of pools and of virtual addresses: nothing here was allocated that way. */
int cuMemRetainAllocationHandle(u64 *handle, void *address) { (void)handle, (void)address; return INVALID_VALUE; }
int cuMemGetAllocationPropertiesFromHandle(void *to, u64 handle) { (void)to, (void)handle; return INVALID_VALUE; }
int cuMemGetAccess(u64 *flags, const void *place, u64 address) { (void)flags, (void)place, (void)address; return INVALID_VALUE; }
int cuMemPoolGetAccess(u32 *flags, u64 pool, const void *place) { (void)flags, (void)pool, (void)place; return INVALID_VALUE; }
int cuMemRelease(u64 handle) { (void)handle; return INVALID_VALUE; }

/* A handle for other processes. */
struct handle { long process; int file; size_t bytes; char rest[40]; };

int cuIpcGetMemHandle(struct handle *handle, u64 address) {
    pthread_mutex_lock(&lock);
    struct memory *memory = find((void *)address);
    if (memory) *handle = (struct handle){getpid(), memory->file, memory->bytes, {0}};
    pthread_mutex_unlock(&lock);
    return memory ? SUCCESS : INVALID_VALUE;
}

int cuIpcOpenMemHandle_v2(u64 *address, struct handle handle, u32 flags) {
    (void)flags;
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", handle.process, handle.file);
    int file = open(path, O_RDWR);
    if (file < 0) return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    int code = add(DEVICE, file, handle.bytes, address);
    pthread_mutex_unlock(&lock);
    return code;
}
int cuIpcCloseMemHandle(u64 address) { return release(address); }

/* --- copies and kernels, which wait on their stream --- */
struct rows { size_t from_x, from_y; u64 from_kind, from_host, from_device, from_array; size_t from_pitch;
              size_t to_x, to_y; u64 to_kind, to_host, to_device, to_array; size_t to_pitch, width, height; };
typedef void kernel(void *arguments, u32 groups, u32 threads);
struct work {
    u64 stream, from, to;
    size_t from_pitch, to_pitch, width, height;
    kernel *kernel;
    u32 groups, threads;
    char arguments[128];
};
static struct work *queue;
static size_t queued, room;
static u64 streams = 16;

static int is_faulty(const char *fault) {
    const char *wanted = getenv("DDTBENCH_DEVICE_FAULT"), *from = getenv("DDTBENCH_DEVICE_FAULT_FROM");
    return wanted && strcmp(wanted, fault) == 0 && copies + launches >= (from ? strtoull(from, NULL, 10) : 0);
}

static void run(struct work *work) {
    if (work->kernel) {
        launches++;
        if (!is_faulty("stale")) work->kernel(work->arguments, work->groups, work->threads);
        return;
    }
    copies++;
    copied_bytes += work->width * work->height;
    int is_large = work->width * work->height > 64;
    if (is_large && is_faulty("stale")) return;
    for (size_t row = 0; row < work->height; row++) {
        char *from = inside(work->from + row * work->from_pitch), *to = inside(work->to + row * work->to_pitch);
        size_t bytes = work->width;
        if (is_large && row + 1 == work->height) {
            bytes -= is_faulty("short") || is_faulty("shifted");
            to += is_faulty("shifted");
        }
        memmove(to, from, bytes);
    }
}

/* Runs what waits on a stream, or everything. */
static void run_stream(u64 stream, int all) {
    size_t left = 0, last = queued;
    if (is_faulty("late") && !all)
        for (last = queued; last > 0 && queue[last - 1].stream != stream; last--) {}
    for (size_t i = 0; i < queued; i++) {
        int is_left_out = is_faulty("late") && !all && i + 1 == last;
        if ((all || queue[i].stream == stream) && !is_left_out) run(&queue[i]);
        else queue[left++] = queue[i];
    }
    queued = left;
}
static void run_all(void) { run_stream(0, 1); }

static void wait_later(struct work work) {
    if (queued == room) queue = realloc(queue, (room = 2 * room + 16) * sizeof *queue);
    queue[queued++] = work;
}

static int copy_rows(struct work work, int is_later) {
    pthread_mutex_lock(&lock);
    if (is_later) wait_later(work);
    else {
        /* The default stream waits for those that were not made without that. */
        for (u64 stream = 0; stream < 16; stream++) run_stream(stream, 0);
        run(&work);
    }
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

#define COPY(name, to_type, from_type)                                                                                     \
    int name(to_type to, from_type from, size_t bytes) {                                                                   \
        return copy_rows((struct work){0, (u64)from, (u64)to, bytes, bytes, bytes, 1, NULL, 0, 0, {0}}, 0);                \
    }
#define COPY_LATER(name, to_type, from_type)                                                                               \
    int name(to_type to, from_type from, size_t bytes, u64 stream) {                                                       \
        return copy_rows((struct work){stream, (u64)from, (u64)to, bytes, bytes, bytes, 1, NULL, 0, 0, {0}}, 1);           \
    }
COPY(cuMemcpy, u64, u64)
COPY(cuMemcpyHtoD_v2, u64, const void *)
COPY(cuMemcpyDtoH_v2, void *, u64)
COPY(cuMemcpyDtoD_v2, u64, u64)
COPY_LATER(cuMemcpyAsync, u64, u64)
COPY_LATER(cuMemcpyHtoDAsync_v2, u64, const void *)
COPY_LATER(cuMemcpyDtoHAsync_v2, void *, u64)
COPY_LATER(cuMemcpyDtoDAsync_v2, u64, u64)

static int copy_2d(const struct rows *rows, u64 stream, int is_later) {
    if (rows->from_pitch < rows->width || rows->to_pitch < rows->width) return INVALID_VALUE;
    if (rows->from_pitch > INT32_MAX || rows->to_pitch > INT32_MAX) return INVALID_VALUE;
    u64 from = rows->from_kind == TYPE_HOST ? rows->from_host : rows->from_device;
    u64 to = rows->to_kind == TYPE_HOST ? rows->to_host : rows->to_device;
    struct work work = {stream, from + rows->from_y * rows->from_pitch + rows->from_x,
                        to + rows->to_y * rows->to_pitch + rows->to_x, rows->from_pitch, rows->to_pitch, rows->width,
                        rows->height, NULL, 0, 0, {0}};
    return copy_rows(work, is_later);
}
int cuMemcpy2D_v2(const struct rows *rows) { return copy_2d(rows, 0, 0); }
int cuMemcpy2DAsync_v2(const struct rows *rows, u64 stream) { return copy_2d(rows, stream, 1); }

int cuMemsetD8_v2(u64 to, unsigned char value, size_t bytes) {
    pthread_mutex_lock(&lock);
    run_all();
    memset(inside(to), value, bytes);
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

/* The kernels get the driver's addresses. */
#define EACH_THREAD(call)                                                                                                  \
    blockDim.x = threads;                                                                                                  \
    for (blockIdx.x = 0; blockIdx.x < groups; blockIdx.x++)                                                                \
        for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) call;
#define RUNS(name, addresses, amount)                                                                                            \
    static void run_##name(void *arguments, u32 groups, u32 threads) {                                                     \
        struct addresses at = *(struct addresses *)arguments;                                                              \
        at.amount -= is_faulty("short");                                                                                   \
        EACH_THREAD(name(at))                                                                                              \
    }
#define RUNS_OF_SIZE(bytes)                                                                                                \
    RUNS(places_##bytes, places, words) RUNS(records_##bytes, records, words) RUNS(blocks_##bytes, blocks, count)
RUNS_OF_SIZE(1) RUNS_OF_SIZE(2) RUNS_OF_SIZE(4) RUNS_OF_SIZE(8) RUNS_OF_SIZE(16)

#define NAMES_OF_SIZE(bytes)                                                                                               \
    {"places_" #bytes, run_places_##bytes, sizeof(struct places)}, {"records_" #bytes, run_records_##bytes, sizeof(struct records)}, \
    {"blocks_" #bytes, run_blocks_##bytes, sizeof(struct blocks)}
static const struct { const char *name; kernel *kernel; size_t bytes; } kernels[] = {
    NAMES_OF_SIZE(1), NAMES_OF_SIZE(2), NAMES_OF_SIZE(4), NAMES_OF_SIZE(8), NAMES_OF_SIZE(16)};

/* Addresses in a kernel's arguments are the program's: they are changed to the driver's. */
static int change_addresses(size_t kernel, char *arguments) {
    u64 *address = (u64 *)arguments;
    const char *name = kernels[kernel].name;
    size_t count = name[0] == 'r' ? 5 : 3;
    for (size_t i = 0; i < count; i++) {
        if (address[i] == 0) continue;
        if (!find((void *)address[i])) return INVALID_VALUE;
        address[i] = (u64)inside(address[i]);
    }
    return SUCCESS;
}

int cuModuleLoadData(u64 *module, const void *text) { *module = strstr(text, ".entry") ? 1 : 0; return *module ? SUCCESS : INVALID_VALUE; }
int cuModuleLoadFatBinary(u64 *module, const void *binary) { (void)binary; *module = 1; return SUCCESS; }
int cuModuleUnload(u64 module) { (void)module; return SUCCESS; }
int cuModuleGetGlobal_v2(u64 *to, size_t *bytes, u64 module, const char *name) { (void)to, (void)bytes, (void)module, (void)name; return NOT_FOUND; }
int cuModuleGetFunction(u64 *function, u64 module, const char *name) {
    (void)module;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, name) == 0) return *function = i + 1, SUCCESS;
    return NOT_FOUND;
}
int cuLaunchKernel(u64 function, u32 x, u32 y, u32 z, u32 threads, u32 threads_y, u32 threads_z, u32 shared, u64 stream,
                   void **arguments, void **extra) {
    (void)y, (void)z, (void)threads_y, (void)threads_z, (void)shared, (void)extra;
    if (function == 0 || x == 0) return INVALID_VALUE;
    struct work work = {stream, 0, 0, 0, 0, 0, 0, kernels[function - 1].kernel, x, threads, {0}};
    memcpy(work.arguments, arguments[0], kernels[function - 1].bytes);
    pthread_mutex_lock(&lock);
    int code = change_addresses(function - 1, work.arguments);
    if (code == SUCCESS) wait_later(work);
    pthread_mutex_unlock(&lock);
    return code;
}

/* --- streams and events: who waits for one lets its work begin --- */
static int wait_for(u64 stream, int all) {
    pthread_mutex_lock(&lock);
    run_stream(stream, all);
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}
int cuStreamCreate(u64 *stream, u32 flags) {
    static u64 blocking = 3;
    *stream = flags & 1 || blocking == 15 ? streams++ : blocking++;
    return SUCCESS;
}
int cuStreamCreateWithPriority(u64 *stream, u32 flags, int priority) { (void)priority; return cuStreamCreate(stream, flags); }
int cuStreamDestroy_v2(u64 stream) { return wait_for(stream, 0); }
int cuStreamSynchronize(u64 stream) { return wait_for(stream, 0); }
int cuStreamQuery(u64 stream) { return wait_for(stream, 0); }
int cuCtxSynchronize(void) { return wait_for(0, 1); }
struct event { u64 stream; };
int cuEventCreate(struct event **event, u32 flags) { (void)flags; *event = calloc(1, sizeof **event); return SUCCESS; }
int cuEventDestroy_v2(struct event *event) { free(event); return SUCCESS; }
int cuEventRecord(struct event *event, u64 stream) { event->stream = stream; return SUCCESS; }
int cuEventQuery(struct event *event) { return wait_for(event->stream, 0); }
int cuEventSynchronize(struct event *event) { return wait_for(event->stream, 0); }
int cuEventElapsedTime(float *ms, struct event *from, struct event *to) { (void)from, (void)to; *ms = 0; return SUCCESS; }
int cuStreamWaitEvent(u64 stream, struct event *event, u32 flags) { (void)stream, (void)flags; return wait_for(event->stream, 0); }
int cuIpcGetEventHandle(struct handle *handle, struct event *event) { (void)event; memset(handle, 0, sizeof *handle); return SUCCESS; }
int cuIpcOpenEventHandle(struct event **event, struct handle handle) { (void)handle; return cuEventCreate(event, 0); }

/* --- the device and its context --- */
int cuInit(u32 flags) { (void)flags; return SUCCESS; }
int cuDriverGetVersion(int *version) { *version = 12000; return SUCCESS; }
int cuDeviceGetCount(int *count) { *count = 1; return SUCCESS; }
int cuDeviceGet(int *device, int number) { *device = number; return SUCCESS; }
int cuDeviceGetName(char *name, int bytes, int device) { (void)device; snprintf(name, (size_t)bytes, "simulated device"); return SUCCESS; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { (void)device; *value = attribute == 41; return SUCCESS; }
int cuDeviceGetPCIBusId(char *id, int bytes, int device) { (void)device; snprintf(id, (size_t)bytes, "0000:00:00.0"); return SUCCESS; }
int cuDeviceGetUuid(char *id, int device) { (void)device; memset(id, 7, 16); return SUCCESS; }
static size_t all_bytes(void) {
    const char *bytes = getenv("DDTBENCH_DEVICE_BYTES");
    return bytes ? strtoull(bytes, NULL, 10) : (size_t)1 << 34;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; *bytes = all_bytes(); return SUCCESS; }
int cuMemGetInfo_v2(size_t *available, size_t *total) {
    *available = *total = all_bytes();
    for (size_t i = 0; i < memory_count; i++)
        if (memories[i].kind == DEVICE) *available -= memories[i].bytes < *available ? memories[i].bytes : *available;
    return SUCCESS;
}
int cuDeviceCanAccessPeer(int *can, int device, int peer) { (void)device, (void)peer; *can = 1; return SUCCESS; }
int cuDevicePrimaryCtxRetain(u64 *context, int device) { (void)device; *context = 1; return SUCCESS; }
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; return SUCCESS; }
int cuDevicePrimaryCtxGetState(int device, u32 *flags, int *active) { (void)device; *flags = 0, *active = 1; return SUCCESS; }
int cuCtxCreate_v2(u64 *context, u32 flags, int device) { (void)flags, (void)device; *context = 1; return SUCCESS; }
int cuCtxDestroy_v2(u64 context) { (void)context; return SUCCESS; }
int cuCtxGetCurrent(u64 *context) { *context = 1; return SUCCESS; }
int cuCtxSetCurrent(u64 context) { (void)context; return SUCCESS; }
int cuCtxPushCurrent_v2(u64 context) { (void)context; return SUCCESS; }
int cuCtxPopCurrent_v2(u64 *context) { if (context) *context = 1; return SUCCESS; }
int cuCtxGetDevice(int *device) { *device = 0; return SUCCESS; }
int cuGetErrorName(int code, const char **name) { *name = code == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "an error of the stand-in"; return SUCCESS; }
int cuGetErrorString(int code, const char **text) { return cuGetErrorName(code, text); }

/* Names that programs compiled against old interfaces use. */
#define ALSO(old, name) __attribute__((alias(#name))) extern __typeof__(name) old;
ALSO(cuMemAlloc, cuMemAlloc_v2) ALSO(cuMemFree, cuMemFree_v2) ALSO(cuMemcpyHtoD, cuMemcpyHtoD_v2)
ALSO(cuMemcpyDtoH, cuMemcpyDtoH_v2) ALSO(cuMemcpyDtoD, cuMemcpyDtoD_v2) ALSO(cuStreamDestroy, cuStreamDestroy_v2)
ALSO(cuEventDestroy, cuEventDestroy_v2) ALSO(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2)
ALSO(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2)

int cuGetProcAddress(const char *name, void **address, int version, u64 flags);
#include <dlfcn.h>
int cuGetProcAddress_v2(const char *name, void **address, int version, u64 flags, int *status) {
    (void)version, (void)flags;
    char newer[128];
    snprintf(newer, sizeof newer, "%s_v2", name);
    void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *address = dlsym(self ? self : RTLD_DEFAULT, newer);
    if (!*address) *address = dlsym(self ? self : RTLD_DEFAULT, name);
    if (status) *status = *address ? 0 : 1;
    return *address ? SUCCESS : NOT_FOUND;
}
int cuGetProcAddress(const char *name, void **address, int version, u64 flags) { return cuGetProcAddress_v2(name, address, version, flags, NULL); }

/* Functions for the kernels of an MPI, which do nothing here. */
int cuOccupancyMaxPotentialBlockSize(int *groups, int *threads, u64 kernel, void *shared, size_t bytes, int limit) {
    (void)kernel, (void)shared, (void)bytes, (void)limit;
    *groups = 1, *threads = 32;
    return SUCCESS;
}
