#include <mpi.h>
#include <stdio.h>

enum { MARGIN = 4096, BYTES = 1 << 22 };
static unsigned char source[MARGIN + BYTES], packed[BYTES];

/* Prints size, lower bound, extent, and a sum of the packed bytes. */
static void check(MPI_Datatype type) {
  int size, position = 0;
  MPI_Aint lower_bound, extent;
  unsigned long sum = 0;
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &lower_bound, &extent);
  MPI_Pack(source + MARGIN, 1, type, packed, BYTES, &position, MPI_COMM_WORLD);
  for (int i = 0; i < position; i++) sum = (257 * sum + packed[i]) % 1000003;
  printf("%d %ld %ld %lu\n", size, (long)lower_bound, (long)extent, sum);
}

FUNCTIONS
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (long i = 0; i < MARGIN + BYTES; i++) source[i] = (7 * i + 13 * (i / 256)) % 127;
CALLS
  MPI_Finalize();
}
