/* The applications' loops as plain C: the cost of a hand-written pack in the original language.
 *
 * Every nest is written once. ONE moves a value, RUN the values of its innermost loop; WAY is PACK, from the arrays into
 * the buffer, or UNPACK, back. The file is compiled element by element, like the originals, at -O2 and at -O3; and with
 * BY_RUNS, which copies each contiguous run by memcpy, at -O3 for the processor of this machine.
 *
 * Arguments: the arrays in the order of the micro-app, the packed buffer, the parameters in the order of the test
 * followed by the number of ranks, the index lists. */
#include <stdint.h>
#include <string.h>

#define ARGUMENTS (void *const *arrays, void *buffer, const int64_t *v, const uint32_t *const *lists)
#define FOR(i, from, to) for (int64_t i = (from); i <= (to); i++)

#define PACK_ONE(element) packed[n++] = (element);
#define UNPACK_ONE(element) (element) = packed[n++];
#ifdef BY_RUNS
#define PACK_RUN(i, from, to, element)                                                                            \
    {                                                                                                             \
        const int64_t i = (from), count = (to) - i + 1;                                                           \
        memcpy(&packed[n], &(element), count * sizeof *packed);                                                   \
        n += count;                                                                                               \
    }
#define UNPACK_RUN(i, from, to, element)                                                                          \
    {                                                                                                             \
        const int64_t i = (from), count = (to) - i + 1;                                                           \
        memcpy(&(element), &packed[n], count * sizeof *packed);                                                   \
        n += count;                                                                                               \
    }
#else
#define PACK_RUN(i, from, to, element) FOR(i, from, to) PACK_ONE(element)
#define UNPACK_RUN(i, from, to, element) FOR(i, from, to) UNPACK_ONE(element)
#endif

/* Defines NAME_pack and NAME_unpack from the macro NAME_LOOPS(WAY, received): `received` is 0 or 1. */
#define TWINS(name, type, LOOPS)                                                                                  \
    void name##_pack ARGUMENTS {                                                                                  \
        type *packed = buffer;                                                                                    \
        int64_t n = 0;                                                                                            \
        (void)lists, (void)v;                                                                                     \
        LOOPS(PACK, 0)                                                                                            \
    }                                                                                                             \
    void name##_unpack ARGUMENTS {                                                                                \
        const type *packed = buffer;                                                                              \
        int64_t n = 0;                                                                                            \
        (void)lists, (void)v;                                                                                     \
        LOOPS(UNPACK, 1)                                                                                          \
    }

/* v: ims ime jms jme kms kme is ie js je limit */
#define WRF_LOOPS(WAY, received)                                                                                  \
    const int64_t d1 = v[1] - v[0] + 1, d2 = v[5] - v[4] + 1, d3 = v[3] - v[2] + 1;                               \
    const int64_t is = v[6] - v[0], ie = v[7] - v[0], js = v[8] - v[2], je = v[9] - v[2];                         \
    FOR(a, 0, 3) {                                                                                                \
        float *array = arrays[a];                                                                                 \
        FOR(j, js, je) WAY##_RUN(i, is, ie, array[i + d1 * j])                                                    \
    }                                                                                                             \
    FOR(a, 4, 6) {                                                                                                \
        float *array = arrays[a];                                                                                 \
        FOR(j, js, je) FOR(k, 0, d2 - 1) WAY##_RUN(i, is, ie, array[i + d1 * (k + d2 * j)])                       \
    }                                                                                                             \
    FOR(a, 7, 8) {                                                                                                \
        float *array = arrays[a];                                                                                 \
        FOR(s, 1, v[10] - 1) FOR(j, js, je) FOR(k, 0, d2 - 1)                                                     \
            WAY##_RUN(i, is, ie, array[i + d1 * (k + d2 * (j + d3 * s))])                                         \
    }
TWINS(wrf, float, WRF_LOOPS)

/* v: lx ly lz lt */
#ifdef BY_RUNS
#define MILC_HALF(WAY) WAY##_RUN(c, 0, 6 * lx * ly / 2 - 1, su3[c + 6 * lx * ly * (z + lz * t)])
#else
#define MILC_HALF(WAY)                                                                                            \
    FOR(y, 0, ly / 2 - 1) FOR(x, 0, lx - 1) FOR(c, 0, 5) WAY##_ONE(su3[c + 6 * (x + lx * (y + ly * (z + lz * t)))])
#endif
#define MILC_LOOPS(WAY, received)                                                                                 \
    float *su3 = arrays[0];                                                                                       \
    const int64_t lx = v[0], ly = v[1], lz = v[2], lt = v[3];                                                     \
    FOR(t, 0, lt - 1)                                                                                             \
        for (int64_t z = 0; z < lz; z += lz / 2) MILC_HALF(WAY)
TWINS(milc_su3_zd, float, MILC_LOOPS)

/* v: d1 d2 d3 */
#define MG_X_LOOPS(WAY, received)                                                                                 \
    double *u = arrays[0];                                                                                        \
    const int64_t d1 = v[0], d2 = v[1], d3 = v[2], x = received ? d1 - 1 : d1 - 2;                                \
    FOR(z, 1, d3 - 2) FOR(y, 1, d2 - 2) WAY##_ONE(u[x + d1 * (y + d2 * z)])
TWINS(nas_mg_x, double, MG_X_LOOPS)

#define MG_Y_LOOPS(WAY, received)                                                                                 \
    double *u = arrays[0];                                                                                        \
    const int64_t d1 = v[0], d2 = v[1], d3 = v[2], y = received ? d2 - 1 : d2 - 2;                                \
    FOR(z, 1, d3 - 2) WAY##_RUN(x, 1, d1 - 2, u[x + d1 * (y + d2 * z)])
TWINS(nas_mg_y, double, MG_Y_LOOPS)

#define MG_Z_LOOPS(WAY, received)                                                                                 \
    double *u = arrays[0];                                                                                        \
    const int64_t d1 = v[0], d2 = v[1], z = received ? 0 : 1;                                                     \
    FOR(y, 1, d2 - 2) WAY##_RUN(x, 1, d1 - 2, u[x + d1 * (y + d2 * z)])
TWINS(nas_mg_z, double, MG_Z_LOOPS)

/* v: nx ny */
#ifdef BY_RUNS
#define LU_X_LINE(WAY) WAY##_RUN(c, 0, 5 * nx - 1, u[c + 5 * (1 + (nx + 2) * b)])
#else
#define LU_X_LINE(WAY) FOR(a, 1, nx) FOR(c, 0, 4) WAY##_ONE(u[c + 5 * (a + (nx + 2) * b)])
#endif
#define LU_X_LOOPS(WAY, received)                                                                                 \
    double *u = arrays[0];                                                                                        \
    const int64_t nx = v[0], b = received ? 0 : v[1];                                                             \
    LU_X_LINE(WAY)
TWINS(nas_lu_x, double, LU_X_LOOPS)

#define LU_Y_LOOPS(WAY, received)                                                                                 \
    double *u = arrays[0];                                                                                        \
    const int64_t nx = v[0], ny = v[1], a = received ? 0 : nx;                                                    \
    FOR(b, 1, ny) WAY##_RUN(c, 0, 4, u[c + 5 * (a + (nx + 2) * b)])
TWINS(nas_lu_y, double, LU_Y_LOOPS)

/* v: n ranks; copies by memcpy, like the original */
typedef struct {
    double re, im;
} complex16;

void fft2d_pack ARGUMENTS {
    const complex16 *matrix = arrays[0];
    complex16 *packed = buffer;
    const int64_t rows = v[0], ranks = v[1], n = rows / ranks;
    (void)lists;
    FOR(p, 0, ranks - 1) FOR(r, 0, n - 1)
        memcpy(&packed[(p * n + r) * n], &matrix[p * n + rows * r], n * sizeof(complex16));
}

void fft2d_unpack ARGUMENTS {
    complex16 *received = arrays[1];
    const complex16 *packed = buffer;
    const int64_t rows = v[0], n = rows / v[1];
    (void)lists;
    FOR(r, 0, n - 1) FOR(c, 0, rows - 1) memcpy(&received[c + rows * r], &packed[c * n + r], sizeof(complex16));
}

/* v: dim1 dim2 dim3; the received data is one run */
void specfem3d_mt_pack ARGUMENTS {
    const float *array = arrays[0];
    float *packed = buffer;
    const int64_t dim1 = v[0], dim2 = v[1], dim3 = v[2];
    int64_t n = 0;
    (void)lists;
    FOR(k, 0, dim3 - 1) PACK_RUN(i, 0, dim1 - 1, array[i + dim1 * (dim2 * k)])
}

void specfem3d_mt_unpack ARGUMENTS { (void)lists, memcpy(arrays[1], buffer, v[0] * v[2] * sizeof(float)); }

/* v: dim1 icount */
#define OC_LOOPS(WAY, received)                                                                                   \
    float *array = arrays[0];                                                                                     \
    const uint32_t *list = lists[0];                                                                              \
    FOR(k, 0, v[1] - 1) WAY##_ONE(array[list[k]])
TWINS(specfem3d_oc, float, OC_LOOPS)

/* v: dim2_cm dim2_ic icount_cm icount_ic */
#define CM_LOOPS(WAY, received)                                                                                   \
    float *cm = arrays[0], *ic = arrays[1];                                                                       \
    const uint32_t *list_cm = lists[0], *list_ic = lists[1];                                                      \
    FOR(k, 0, v[2] - 1) WAY##_RUN(c, 0, 2, cm[c + 3 * (int64_t)list_cm[k]])                                       \
    FOR(k, 0, v[3] - 1) WAY##_RUN(c, 0, 2, ic[c + 3 * (int64_t)list_ic[k]])
TWINS(specfem3d_cm, float, CM_LOOPS)

/* v: dim1 icount; arrays x tag type mask q molecule */
#define LAMMPS_COMMON(WAY, received)                                                                              \
    const int64_t i = received ? v[0] + k : (int64_t)list[k];                                                     \
    WAY##_ONE(x[3 * i])                                                                                           \
    WAY##_ONE(x[3 * i + 1])                                                                                       \
    WAY##_ONE(x[3 * i + 2])                                                                                       \
    WAY##_ONE(tag[i])                                                                                             \
    WAY##_ONE(type[i])                                                                                            \
    WAY##_ONE(mask[i])

#define LAMMPS_FULL_LOOPS(WAY, received)                                                                          \
    double *x = arrays[0], *tag = arrays[1], *type = arrays[2], *mask = arrays[3];                                \
    double *q = arrays[4], *molecule = arrays[5];                                                                 \
    const uint32_t *list = lists[0];                                                                              \
    FOR(k, 0, v[1] - 1) {                                                                                         \
        LAMMPS_COMMON(WAY, received)                                                                              \
        WAY##_ONE(molecule[i])                                                                                    \
        WAY##_ONE(q[i])                                                                                           \
    }
TWINS(lammps_full, double, LAMMPS_FULL_LOOPS)

#define LAMMPS_ATOMIC_LOOPS(WAY, received)                                                                        \
    double *x = arrays[0], *tag = arrays[1], *type = arrays[2], *mask = arrays[3];                                \
    const uint32_t *list = lists[0];                                                                              \
    FOR(k, 0, v[1] - 1) { LAMMPS_COMMON(WAY, received) }
TWINS(lammps_atomic, double, LAMMPS_ATOMIC_LOOPS)

/* v: bytes */
void contiguous_pack ARGUMENTS { (void)lists, memcpy(buffer, arrays[0], v[0]); }
void contiguous_unpack ARGUMENTS { (void)lists, memcpy(arrays[1], buffer, v[0]); }

/* v: count blocklength stride bytes_of_element */
#define STRIDED_LOOPS(WAY, received)                                                                              \
    const int64_t count = v[0], blocklength = v[1], stride = v[2];                                                \
    FOR(block, 0, count - 1) WAY##_RUN(i, 0, blocklength - 1, array[block * stride + i])
#define STRIDED_FLOAT_LOOPS(WAY, received)                                                                        \
    float *array = arrays[received];                                                                              \
    STRIDED_LOOPS(WAY, received)
#define STRIDED_DOUBLE_LOOPS(WAY, received)                                                                       \
    double *array = arrays[received];                                                                             \
    STRIDED_LOOPS(WAY, received)
TWINS(strided_float, float, STRIDED_FLOAT_LOOPS)
TWINS(strided_double, double, STRIDED_DOUBLE_LOOPS)

void strided_pack ARGUMENTS { (v[3] == 4 ? strided_float_pack : strided_double_pack)(arrays, buffer, v, lists); }
void strided_unpack ARGUMENTS {
    (v[3] == 4 ? strided_float_unpack : strided_double_unpack)(arrays, buffer, v, lists);
}

/* v: count blocklength places bytes_of_element */
#define SCATTERED_LOOPS(WAY, received)                                                                            \
    const int64_t count = v[0], blocklength = v[1];                                                               \
    const uint32_t *list = lists[0];                                                                              \
    FOR(block, 0, count - 1) WAY##_RUN(i, 0, blocklength - 1, array[list[block] * blocklength + i])
#define SCATTERED_FLOAT_LOOPS(WAY, received)                                                                      \
    float *array = arrays[received];                                                                              \
    SCATTERED_LOOPS(WAY, received)
#define SCATTERED_DOUBLE_LOOPS(WAY, received)                                                                     \
    double *array = arrays[received];                                                                             \
    SCATTERED_LOOPS(WAY, received)
TWINS(scattered_float, float, SCATTERED_FLOAT_LOOPS)
TWINS(scattered_double, double, SCATTERED_DOUBLE_LOOPS)

void scattered_pack ARGUMENTS { (v[3] == 4 ? scattered_float_pack : scattered_double_pack)(arrays, buffer, v, lists); }
void scattered_unpack ARGUMENTS {
    (v[3] == 4 ? scattered_float_unpack : scattered_double_unpack)(arrays, buffer, v, lists);
}

/* v: axes, points of each; 1, arrays; order bytes_of_element face width; axes of the halo or 0 for the width, ...
 * The face x+ of doubles, in Fortran order, as an application would write it for three axes or for three and components. */
#define SUBARRAY_LOOPS(WAY, received)                                                                             \
    double *u = arrays[0];                                                                                        \
    const int64_t axes = v[0], nx = v[1], ny = v[2], nz = v[3], components = axes > 3 ? v[4] : 1;                 \
    const int64_t w = v[axes + 6], first = received ? 0 : nx - 2 * w;                                             \
    FOR(c, 0, components - 1) FOR(z, w, nz - w - 1) FOR(y, w, ny - w - 1)                                         \
        WAY##_RUN(x, first, first + w - 1, u[x + nx * (y + ny * (z + nz * c))])
TWINS(subarray, double, SUBARRAY_LOOPS)
