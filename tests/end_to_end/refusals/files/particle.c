struct particle { int id; double x[3]; char flag; };
int n, lengths[2] = {1, 3};
MPI_Aint at[2] = {offsetof(struct particle, id), offsetof(struct particle, x)};
MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, one, particle, all;
MPI_Type_create_struct(2, lengths, at, types, &one);
MPI_Type_create_resized(one, 0, sizeof(struct particle), &particle);
MPI_Type_vector(n, 1, 4, particle, &all);
MPI_Type_commit(&all);
