void pack(const double *a, double *m, int tag) { for (int i = 0; i < 4; i++) for (int j = 0; j < 3; j++) *m++ = a[5 * i + j]; }
void unpack(const double *m, double *a, int tag) { for (int i = 0; i < 4; i++) for (int j = 0; j < 3; j++) a[5 * i + j] = *m++; }
