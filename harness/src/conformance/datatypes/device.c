
/* Memory of the first device, by its driver: no toolkit is needed. */
int cuInit(unsigned), cuDeviceGet(int *, int), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
int cuMemAlloc_v2(void *, size_t), cuMemcpy(unsigned long long, unsigned long long, size_t), cuCtxSynchronize(void);
static unsigned char *on_device(size_t bytes)
{
    void *context, *address;
    int device;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context)
        || cuMemAlloc_v2(&address, bytes)) {
        printf("no memory of a device\n");
        exit(0);
    }
    return address;
}

/* Copies between the memories of host and device. */
static void copy_bytes(void *to, const void *from, size_t bytes)
{
    if (cuMemcpy((unsigned long long) to, (unsigned long long) from, bytes) || cuCtxSynchronize()) {
        printf("the device cannot copy\n");
        exit(0);
    }
}

/* A copy of the memory on the host. */
static const unsigned char *on_host(void)
{
    static unsigned char found[ALL];
    copy_bytes(found, memory, ALL);
    return found;
}
