/* Other forms of operations: C statements instead of the call of a section of operations.c. A section here begins with the end of the names
 * of operations and with the calls that have the form, or with the number of blocks of a communicator with neighbours. Then comes the
 * description. `CALL` and its `ARGUMENTS`, without the status, are those of the section; `EPOCH(ORIGIN_RANK, TARGET, CALL)` is the access to
 * a window, and `COMPLETE` what is true as soon as its request is complete: what was received is there, what was sent may change.
 */

///  | none Send Recv Sendrecv local collective
/// OPERATION

///  | window
/// OPERATION
MPI_Win_fence(0, window);
if (rank == ORIGIN_RANK)
    CALL(ARGUMENTS);
MPI_Win_fence(0, window);

/// _synchronous | Send
/// OPERATION by MPI_Ssend
MPI_Ssend(ARGUMENTS);

/// _buffered | Send
/// OPERATION by MPI_Bsend
int room;
void *attached;
MPI_Pack_size(ITEMS, type, comm, &room);
room += MPI_BSEND_OVERHEAD;
MPI_Buffer_attach(guarded(room), room);
MPI_Bsend(ARGUMENTS);
MPI_Buffer_detach(&attached, &room);

/// _matched | Recv
/// OPERATION by MPI_Mprobe and MPI_Mrecv
MPI_Message message;
MPI_Mprobe(0, TAG, comm, &message, MPI_STATUS_IGNORE);
MPI_Mrecv(data, ITEMS, type, &message, MPI_STATUS_IGNORE);

/// _nonblocking | Send Recv Sendrecv collective
/// OPERATION, nonblocking
MPI_Request request;
I_CALL(ARGUMENTS, &request);
MPI_Wait(&request, MPI_STATUS_IGNORE);

/// _persistent | Send Recv
/// OPERATION, persistent
MPI_Request request;
CALL_init(ARGUMENTS, &request);
MPI_Start(&request);
MPI_Wait(&request, MPI_STATUS_IGNORE);
MPI_Request_free(&request);

/// _persistent | collective
/// OPERATION, persistent
MPI_Request request;
CALL_init(ARGUMENTS, MPI_INFO_NULL, &request);
for (int use = 0; use < 2; use++) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
MPI_Request_free(&request);

/// _locked | window
/// OPERATION while the window is locked
MPI_Barrier(comm);
if (rank == ORIGIN_RANK) {
    MPI_Win_lock(MPI_LOCK_SHARED, TARGET, MPI_MODE_NOCHECK, window);
    CALL(ARGUMENTS);
    MPI_Win_unlock(TARGET, window);
}

/// _posted | window
/// OPERATION between MPI_Win_start and MPI_Win_complete
MPI_Group all, peer;
MPI_Comm_group(comm, &all);
MPI_Group_incl(all, 1, &(int){1 - rank}, &peer);
if (rank == ORIGIN_RANK) {
    MPI_Win_start(peer, 0, window);
    CALL(ARGUMENTS);
    MPI_Win_complete(window);
} else {
    MPI_Win_post(peer, 0, window);
    MPI_Win_wait(window);
}
MPI_Group_free(&peer);
MPI_Group_free(&all);

/// _requested | window
/// OPERATION with a request while the window is locked
MPI_Barrier(comm);
if (rank == ORIGIN_RANK) {
    MPI_Win_lock(MPI_LOCK_SHARED, TARGET, MPI_MODE_NOCHECK, window);
    MPI_Request request;
    R_CALL(ARGUMENTS, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    COMPLETE
    MPI_Win_unlock(TARGET, window);
}

/// _large | Send Recv Sendrecv local collective window
/// OPERATION for large counts

///  | RANKS
/// OPERATION
int sources[RANKS], slots[RANKS];
MPI_Comm topology;
for (int i = 0; i < RANKS; i++)
    sources[i] = i, slots[i] = rank;
MPI_Dist_graph_create_adjacent(comm, RANKS, sources, MPI_UNWEIGHTED, RANKS, sources, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &topology);

/// _ring | 2
/// OPERATION on a periodic grid
int sizes[1] = {RANKS}, periods[1] = {1}, sources[2] = {(rank + RANKS - 1) % RANKS, (rank + 1) % RANKS}, slots[2] = {1, 0};
MPI_Comm topology;
MPI_Cart_create(comm, 1, sizes, periods, 0, &topology);

/// _line | 2
/// OPERATION on a grid with ends
int sizes[1] = {RANKS}, periods[1] = {0}, sources[2] = {rank - 1, rank < RANKS - 1 ? rank + 1 : -1}, slots[2] = {1, 0};
MPI_Comm topology;
MPI_Cart_create(comm, 1, sizes, periods, 0, &topology);

/// _torus | 6
/// OPERATION on a grid with sides of one
int sizes[3] = {RANKS, 1, 1}, periods[3] = {1, 1, 1}, slots[6] = {1, 0, 3, 2, 5, 4};
int sources[6] = {(rank + RANKS - 1) % RANKS, (rank + 1) % RANKS, rank, rank, rank, rank};
MPI_Comm topology;
MPI_Cart_create(comm, 3, sizes, periods, 0, &topology);

/// _twice | 3
/// OPERATION on a graph with a neighbour twice
int sources[3] = {(rank + RANKS - 1) % RANKS, (rank + RANKS - 1) % RANKS, rank}, slots[3] = {0, 1, 2};
int targets[3] = {(rank + 1) % RANKS, (rank + 1) % RANKS, rank};
MPI_Comm topology;
MPI_Dist_graph_create_adjacent(comm, 3, sources, MPI_UNWEIGHTED, 3, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &topology);
