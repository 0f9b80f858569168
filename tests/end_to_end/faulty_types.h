/* Faults of datatypes in functions that faulty_mpi.c has for other faults too. */
#include <mpi.h>

void spoil_pack(MPI_Datatype type, int count, char *packed, int start, int end);
void spoil_unpack(MPI_Datatype type, int count, void *buffer);
void spoil_pack_behind(MPI_Datatype type, int room, char *packed, int start, int end);
void swap_neighbours(MPI_Comm comm, char *into, MPI_Aint first, MPI_Aint second, MPI_Datatype type, int count);
int loses_put(MPI_Datatype target);
MPI_Aint astray(MPI_Datatype target);
MPI_Datatype partition_type(MPI_Datatype type);
