/* Halo exchanges as plain C: the cost of packing and unpacking in the original language.
 *
 * Each function packs all sent data of a rank in a periodic run, or unpacks all its received data, one message after the
 * other in the order of their stages and tags: PACK reads an element into the buffer, UNPACK writes it back. Arguments:
 * the arrays in the order of the micro-app, the packed buffer, the parameters in the order of the exchange. */
#include <stdint.h>

#ifndef QUALIFIER
#define QUALIFIER
#endif

#define ARGUMENTS (void *const *arrays, void *buffer, const int64_t *v)
#define PACK(element) packed[n++] = (element)
#define UNPACK(element) (element) = packed[n++]
#define FOR(i, from, to) for (int64_t i = (from); i < (to); i++)

/* v: d1 d2 d3. Down, then up; data sent down arrives first, from above. */
#define MG_X(MOVE) FOR(s, 0, 2) FOR(z, 1, d3 - 1) FOR(y, 1, d2 - 1) MOVE(u[xs[s] + d1 * (y + d2 * z)]);
#define MG_Y(MOVE) FOR(s, 0, 2) FOR(z, 1, d3 - 1) FOR(x, 0, d1) MOVE(u[x + d1 * (ys[s] + d2 * z)]);
#define MG_Z(MOVE) FOR(s, 0, 2) FOR(y, 0, d2) FOR(x, 0, d1) MOVE(u[x + d1 * (y + d2 * zs[s])]);
#define MG(MOVE, below, above)                                                                                    \
    double *QUALIFIER u = arrays[0];                                                                              \
    const int64_t d1 = v[0], d2 = v[1], d3 = v[2];                                                                \
    const int64_t xs[2] = {below(d1), above(d1)}, ys[2] = {below(d2), above(d2)}, zs[2] = {below(d3), above(d3)}; \
    MG_X(MOVE) MG_Y(MOVE) MG_Z(MOVE)
#define FIRST_OWN(d) 1
#define LAST_OWN(d) ((d) - 2)
#define UPPER_HALO(d) ((d) - 1)
#define LOWER_HALO(d) 0

void nas_mg_pack ARGUMENTS {
    double *QUALIFIER packed = buffer;
    int64_t n = 0;
    MG(PACK, FIRST_OWN, LAST_OWN)
}

void nas_mg_unpack ARGUMENTS {
    const double *QUALIFIER packed = buffer;
    int64_t n = 0;
    MG(UNPACK, UPPER_HALO, LOWER_HALO)
}

/* v: ni nj nk width margin limit */
#define WRF_FACE(MOVE, js, je, is, ie)                                                                            \
    FOR(a, 0, 4) {                                                                                                \
        float *QUALIFIER array = arrays[a];                                                                       \
        FOR(j, js, je) FOR(i, is, ie) MOVE(array[i + d1 * j]);                                                    \
    }                                                                                                             \
    FOR(a, 4, 7) {                                                                                                \
        float *QUALIFIER array = arrays[a];                                                                       \
        FOR(j, js, je) FOR(k, 0, d2) FOR(i, is, ie) MOVE(array[i + d1 * (k + d2 * j)]);                           \
    }                                                                                                             \
    FOR(a, 7, 9) {                                                                                                \
        float *QUALIFIER array = arrays[a];                                                                       \
        FOR(s, 1, v[5]) FOR(j, js, je) FOR(k, 0, d2) FOR(i, is, ie)                                               \
            MOVE(array[i + d1 * (k + d2 * (j + d3 * s))]);                                                        \
    }
#define WRF(MOVE, j0, j1, i0, i1)                                                                                 \
    const int64_t ni = v[0], nj = v[1], d2 = v[2], w = v[3], m = v[4], d1 = ni + 2 * m, d3 = nj + 2 * m;          \
    const int64_t js[2] = {j0, j1}, is[2] = {i0, i1};                                                             \
    FOR(t, 0, 2) { WRF_FACE(MOVE, js[t], js[t] + w, m - w, m + ni + w) }                                          \
    FOR(t, 0, 2) { WRF_FACE(MOVE, m - w, m + nj + w, is[t], is[t] + w) }

void wrf_vec_pack ARGUMENTS {
    float *QUALIFIER packed = buffer;
    int64_t n = 0;
    WRF(PACK, m, m + nj - w, m, m + ni - w)
}

void wrf_vec_unpack ARGUMENTS {
    const float *QUALIFIER packed = buffer;
    int64_t n = 0;
    WRF(UNPACK, m + nj, m - w, m + ni, m - w)
}

/* v: lx ly lz lt. Sites of six floats, even ones first; half of a row's sites are even. */
#define SITE(pt, z, y, half) (6 * ((half) + lx / 2 * ((y) + ly * ((z) + lz * (pt)))))
void milc_pack ARGUMENTS {
    const float *QUALIFIER su3 = arrays[0];
    float *QUALIFIER packed = buffer;
    const int64_t lx = v[0], ly = v[1], lz = v[2], lt = v[3];
    int64_t n = 0;
    FOR(up, 0, 2) FOR(odd, 0, 2) FOR(z, 0, lz) FOR(y, 0, ly) FOR(x, 0, lx / 2) FOR(c, 0, 6)
        PACK(su3[SITE(odd * lt + up * (lt - 1), z, y, x) + c]);
    FOR(up, 0, 2) FOR(pt, 0, 2 * lt) FOR(y, 0, ly) FOR(x, 0, lx / 2) FOR(c, 0, 6)
        PACK(su3[SITE(pt, up * (lz - 1), y, x) + c]);
    FOR(up, 0, 2) FOR(pt, 0, 2 * lt) FOR(z, 0, lz) FOR(x, 0, lx / 2) FOR(c, 0, 6)
        PACK(su3[SITE(pt, z, up * (ly - 1), x) + c]);
    FOR(up, 0, 2) FOR(pt, 0, 2 * lt) FOR(z, 0, lz) FOR(y, 0, ly) {
        const int64_t x = up * (lx - 1);
        if ((x + y + z + pt % lt) % 2 == pt / lt)
            FOR(c, 0, 6) PACK(su3[SITE(pt, z, y, x / 2) + c]);
    }
}

void milc_unpack ARGUMENTS {
    const float *QUALIFIER packed = buffer;
    const int64_t lx = v[0], ly = v[1], lz = v[2], lt = v[3], all = 6 * lx * ly * lz * lt;
    const int64_t floats[4] = {all / lt, all / lz, all / ly, all / lx};
    int64_t n = 0;
    /* Each into the buffer for the direction of its sender: data sent down comes from above. */
    FOR(d, 0, 4) FOR(up, 0, 2) {
        float *QUALIFIER slice = arrays[1 + 2 * d + 1 - up];
        FOR(i, 0, floats[d]) UNPACK(slice[i]);
    }
}
