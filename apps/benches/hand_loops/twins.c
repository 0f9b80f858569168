/* The applications' loops as plain C: what a hand-written pack costs where it comes from.
 *
 * Every nest is written once, around MOVE: pack reads an element into the buffer, unpack writes it back. The file is
 * compiled twice, with QUALIFIER as nothing and as `restrict`, because neither is the faster one everywhere.
 *
 * Arguments: the arrays in the order of the micro-app, the packed buffer, the parameters in the order of the test
 * followed by the number of ranks, the index lists. */
#include <stdint.h>
#include <string.h>

#ifndef QUALIFIER
#define QUALIFIER
#endif

#define ARGUMENTS (void *const *arrays, void *buffer, const int64_t *v, const uint32_t *const *lists)
#define PACK(element) packed[n++] = (element)
#define UNPACK(element) (element) = packed[n++]

/* Defines NAME_pack and NAME_unpack from the macro NAME_LOOPS(MOVE, received): `received` is 0 or 1. */
#define TWINS(name, type, LOOPS)                                                                                  \
    void name##_pack ARGUMENTS {                                                                                  \
        type *QUALIFIER packed = buffer;                                                                          \
        int64_t n = 0;                                                                                            \
        (void)lists, (void)v;                                                                                     \
        LOOPS(PACK, 0)                                                                                            \
    }                                                                                                             \
    void name##_unpack ARGUMENTS {                                                                                \
        const type *QUALIFIER packed = buffer;                                                                    \
        int64_t n = 0;                                                                                            \
        (void)lists, (void)v;                                                                                     \
        LOOPS(UNPACK, 1)                                                                                          \
    }

#define FOR(i, from, to) for (int64_t i = (from); i <= (to); i++)

/* v: ims ime jms jme kms kme is ie js je limit */
#define WRF_LOOPS(MOVE, received)                                                                                 \
    const int64_t d1 = v[1] - v[0] + 1, d2 = v[5] - v[4] + 1, d3 = v[3] - v[2] + 1;                               \
    const int64_t is = v[6] - v[0], ie = v[7] - v[0], js = v[8] - v[2], je = v[9] - v[2];                         \
    FOR(a, 0, 3) {                                                                                                \
        float *QUALIFIER array = arrays[a];                                                                       \
        FOR(j, js, je) FOR(i, is, ie) MOVE(array[i + d1 * j]);                                                    \
    }                                                                                                             \
    FOR(a, 4, 6) {                                                                                                \
        float *QUALIFIER array = arrays[a];                                                                       \
        FOR(j, js, je) FOR(k, 0, d2 - 1) FOR(i, is, ie) MOVE(array[i + d1 * (k + d2 * j)]);                       \
    }                                                                                                             \
    FOR(a, 7, 8) {                                                                                                \
        float *QUALIFIER array = arrays[a];                                                                       \
        FOR(s, 1, v[10] - 1) FOR(j, js, je) FOR(k, 0, d2 - 1) FOR(i, is, ie)                                      \
            MOVE(array[i + d1 * (k + d2 * (j + d3 * s))]);                                                        \
    }
TWINS(wrf, float, WRF_LOOPS)

/* v: lx ly lz lt */
#define MILC_LOOPS(MOVE, received)                                                                                \
    float *QUALIFIER su3 = arrays[0];                                                                             \
    const int64_t lx = v[0], ly = v[1], lz = v[2], lt = v[3];                                                     \
    FOR(t, 0, lt - 1)                                                                                             \
        for (int64_t z = 0; z < lz; z += lz / 2)                                                                  \
            FOR(y, 0, ly / 2 - 1) FOR(x, 0, lx - 1) FOR(c, 0, 5)                                                  \
                MOVE(su3[c + 6 * (x + lx * (y + ly * (z + lz * t)))]);
TWINS(milc_su3_zd, float, MILC_LOOPS)

/* v: d1 d2 d3 */
#define MG_X_LOOPS(MOVE, received)                                                                                \
    double *QUALIFIER u = arrays[0];                                                                              \
    const int64_t d1 = v[0], d2 = v[1], d3 = v[2], x = received ? d1 - 1 : d1 - 2;                                \
    FOR(z, 1, d3 - 2) FOR(y, 1, d2 - 2) MOVE(u[x + d1 * (y + d2 * z)]);
TWINS(nas_mg_x, double, MG_X_LOOPS)

#define MG_Y_LOOPS(MOVE, received)                                                                                \
    double *QUALIFIER u = arrays[0];                                                                              \
    const int64_t d1 = v[0], d2 = v[1], d3 = v[2], y = received ? d2 - 1 : d2 - 2;                                \
    FOR(z, 1, d3 - 2) FOR(x, 1, d1 - 2) MOVE(u[x + d1 * (y + d2 * z)]);
TWINS(nas_mg_y, double, MG_Y_LOOPS)

#define MG_Z_LOOPS(MOVE, received)                                                                                \
    double *QUALIFIER u = arrays[0];                                                                              \
    const int64_t d1 = v[0], d2 = v[1], z = received ? 0 : 1;                                                     \
    FOR(y, 1, d2 - 2) FOR(x, 1, d1 - 2) MOVE(u[x + d1 * (y + d2 * z)]);
TWINS(nas_mg_z, double, MG_Z_LOOPS)

/* v: nx ny */
#define LU_X_LOOPS(MOVE, received)                                                                                \
    double *QUALIFIER u = arrays[0];                                                                              \
    const int64_t nx = v[0], b = received ? 0 : v[1];                                                             \
    FOR(a, 1, nx) FOR(c, 0, 4) MOVE(u[c + 5 * (a + (nx + 2) * b)]);
TWINS(nas_lu_x, double, LU_X_LOOPS)

#define LU_Y_LOOPS(MOVE, received)                                                                                \
    double *QUALIFIER u = arrays[0];                                                                              \
    const int64_t nx = v[0], ny = v[1], a = received ? 0 : nx;                                                    \
    FOR(b, 1, ny) FOR(c, 0, 4) MOVE(u[c + 5 * (a + (nx + 2) * b)]);
TWINS(nas_lu_y, double, LU_Y_LOOPS)

/* v: n ranks; copies by memcpy, as the original has them */
typedef struct {
    double re, im;
} complex16;

void fft2d_pack ARGUMENTS {
    const complex16 *QUALIFIER matrix = arrays[0];
    complex16 *QUALIFIER packed = buffer;
    const int64_t rows = v[0], ranks = v[1], n = rows / ranks;
    (void)lists;
    FOR(p, 0, ranks - 1) FOR(r, 0, n - 1)
        memcpy(&packed[(p * n + r) * n], &matrix[p * n + rows * r], n * sizeof(complex16));
}

void fft2d_unpack ARGUMENTS {
    complex16 *QUALIFIER received = arrays[1];
    const complex16 *QUALIFIER packed = buffer;
    const int64_t rows = v[0], n = rows / v[1];
    (void)lists;
    FOR(r, 0, n - 1) FOR(c, 0, rows - 1) memcpy(&received[c + rows * r], &packed[c * n + r], sizeof(complex16));
}

/* v: dim1 dim2 dim3 */
#define MT_LOOPS(MOVE, received)                                                                                  \
    float *QUALIFIER array = arrays[received];                                                                    \
    const int64_t dim1 = v[0], dim2 = received ? 1 : v[1], dim3 = v[2];                                           \
    FOR(k, 0, dim3 - 1) FOR(i, 0, dim1 - 1) MOVE(array[i + dim1 * (dim2 * k)]);
TWINS(specfem3d_mt, float, MT_LOOPS)

/* v: dim1 icount */
#define OC_LOOPS(MOVE, received)                                                                                  \
    float *QUALIFIER array = arrays[0];                                                                           \
    const uint32_t *QUALIFIER list = lists[0];                                                                    \
    FOR(k, 0, v[1] - 1) MOVE(array[list[k]]);
TWINS(specfem3d_oc, float, OC_LOOPS)

/* v: dim2_cm dim2_ic icount_cm icount_ic */
#define CM_LOOPS(MOVE, received)                                                                                  \
    float *QUALIFIER cm = arrays[0], *QUALIFIER ic = arrays[1];                                                   \
    const uint32_t *QUALIFIER list_cm = lists[0], *QUALIFIER list_ic = lists[1];                                  \
    FOR(k, 0, v[2] - 1) FOR(c, 0, 2) MOVE(cm[c + 3 * (int64_t)list_cm[k]]);                                       \
    FOR(k, 0, v[3] - 1) FOR(c, 0, 2) MOVE(ic[c + 3 * (int64_t)list_ic[k]]);
TWINS(specfem3d_cm, float, CM_LOOPS)

/* v: dim1 icount; arrays x tag type mask q molecule */
#define LAMMPS_COMMON(MOVE, received)                                                                             \
    const int64_t i = received ? v[0] + k : (int64_t)list[k];                                                     \
    MOVE(x[3 * i]);                                                                                               \
    MOVE(x[3 * i + 1]);                                                                                           \
    MOVE(x[3 * i + 2]);                                                                                           \
    MOVE(tag[i]);                                                                                                 \
    MOVE(type[i]);                                                                                                \
    MOVE(mask[i]);

#define LAMMPS_FULL_LOOPS(MOVE, received)                                                                         \
    double *QUALIFIER x = arrays[0], *QUALIFIER tag = arrays[1], *QUALIFIER type = arrays[2];                     \
    double *QUALIFIER mask = arrays[3], *QUALIFIER q = arrays[4], *QUALIFIER molecule = arrays[5];                \
    const uint32_t *QUALIFIER list = lists[0];                                                                    \
    FOR(k, 0, v[1] - 1) {                                                                                         \
        LAMMPS_COMMON(MOVE, received)                                                                             \
        MOVE(molecule[i]);                                                                                        \
        MOVE(q[i]);                                                                                               \
    }
TWINS(lammps_full, double, LAMMPS_FULL_LOOPS)

#define LAMMPS_ATOMIC_LOOPS(MOVE, received)                                                                       \
    double *QUALIFIER x = arrays[0], *QUALIFIER tag = arrays[1], *QUALIFIER type = arrays[2];                     \
    double *QUALIFIER mask = arrays[3];                                                                           \
    const uint32_t *QUALIFIER list = lists[0];                                                                    \
    FOR(k, 0, v[1] - 1) { LAMMPS_COMMON(MOVE, received) }
TWINS(lammps_atomic, double, LAMMPS_ATOMIC_LOOPS)

/* v: bytes */
void contiguous_pack ARGUMENTS { (void)lists, memcpy(buffer, arrays[0], v[0]); }
void contiguous_unpack ARGUMENTS { (void)lists, memcpy(arrays[1], buffer, v[0]); }

/* v: count blocklength stride bytes_of_element */
#define STRIDED_LOOPS(MOVE, received)                                                                             \
    const int64_t count = v[0], blocklength = v[1], stride = v[2];                                                \
    FOR(block, 0, count - 1) FOR(i, 0, blocklength - 1) MOVE(array[block * stride + i]);
#define STRIDED_FLOAT_LOOPS(MOVE, received)                                                                       \
    float *QUALIFIER array = arrays[received];                                                                    \
    STRIDED_LOOPS(MOVE, received)
#define STRIDED_DOUBLE_LOOPS(MOVE, received)                                                                      \
    double *QUALIFIER array = arrays[received];                                                                   \
    STRIDED_LOOPS(MOVE, received)
TWINS(strided_float, float, STRIDED_FLOAT_LOOPS)
TWINS(strided_double, double, STRIDED_DOUBLE_LOOPS)

void strided_pack ARGUMENTS { (v[3] == 4 ? strided_float_pack : strided_double_pack)(arrays, buffer, v, lists); }
void strided_unpack ARGUMENTS {
    (v[3] == 4 ? strided_float_unpack : strided_double_unpack)(arrays, buffer, v, lists);
}

/* v: count blocklength places bytes_of_element */
#define SCATTERED_LOOPS(MOVE, received)                                                                           \
    const int64_t count = v[0], blocklength = v[1];                                                               \
    const uint32_t *QUALIFIER list = lists[0];                                                                    \
    FOR(block, 0, count - 1) FOR(i, 0, blocklength - 1) MOVE(array[list[block] * blocklength + i]);
#define SCATTERED_FLOAT_LOOPS(MOVE, received)                                                                     \
    float *QUALIFIER array = arrays[received];                                                                    \
    SCATTERED_LOOPS(MOVE, received)
#define SCATTERED_DOUBLE_LOOPS(MOVE, received)                                                                    \
    double *QUALIFIER array = arrays[received];                                                                   \
    SCATTERED_LOOPS(MOVE, received)
TWINS(scattered_float, float, SCATTERED_FLOAT_LOOPS)
TWINS(scattered_double, double, SCATTERED_DOUBLE_LOOPS)

void scattered_pack ARGUMENTS { (v[3] == 4 ? scattered_float_pack : scattered_double_pack)(arrays, buffer, v, lists); }
void scattered_unpack ARGUMENTS {
    (v[3] == 4 ? scattered_float_unpack : scattered_double_unpack)(arrays, buffer, v, lists);
}
