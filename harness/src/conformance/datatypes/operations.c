/* The statements of each operation in the C program of a finding; program.rs adds everything around them. A section begins with the
 * names of its operations. */

/// pack equivalent
int position = 0, room;
MPI_Pack_size(ITEMS, type, MPI_COMM_SELF, &room);
if (room < BYTES)
    compare_number("the result of MPI_Pack_size", BYTES, room);
unsigned char *buffer = guarded(room > BYTES ? room : BYTES);
fill(0);
MPI_Pack(data, ITEMS, type, buffer, room, &position, MPI_COMM_SELF);
compare_number("the position", BYTES, position);
memcpy(packed, buffer, BYTES);
compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// duplicate
int position = 0, room;
MPI_Datatype copy;
MPI_Type_dup(type, &copy);
MPI_Type_free(&type);
MPI_Pack_size(ITEMS, copy, MPI_COMM_SELF, &room);
unsigned char *buffer = guarded(room > BYTES ? room : BYTES);
fill(0);
MPI_Pack(data, ITEMS, copy, buffer, room, &position, MPI_COMM_SELF);
compare_number("the position", BYTES, position);
memcpy(packed, buffer, BYTES);
compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// pack_items
int position = 0, room;
MPI_Aint lower, extent;
MPI_Type_get_extent(type, &lower, &extent);
MPI_Pack_size(1, type, MPI_COMM_SELF, &room);
unsigned char *buffer = guarded(ITEMS * room);
fill(0);
for (int i = 0; i < ITEMS; i++)
    MPI_Pack(data + i * extent, 1, type, buffer, ITEMS * room, &position, MPI_COMM_SELF);
compare_number("the position", BYTES, position);
memcpy(packed, buffer, BYTES);
compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// unpack
int position = 0;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Unpack(packed, BYTES, &position, data, ITEMS, type, MPI_COMM_SELF);
compare_number("the position", BYTES, position);
compare("receiver's memory", image, memory, ALL, FIRST);

/// unpack_items
int position = 0;
MPI_Aint lower, extent;
MPI_Type_get_extent(type, &lower, &extent);
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
for (int i = 0; i < ITEMS; i++)
    MPI_Unpack(packed, BYTES, &position, data + i * extent, 1, type, MPI_COMM_SELF);
compare_number("the position", BYTES, position);
compare("receiver's memory", image, memory, ALL, FIRST);

/// pack_external
MPI_Aint position = 0, room;
MPI_Pack_external_size("external32", ITEMS, type, &room);
if (room < BYTES)
    compare_number("the result of MPI_Pack_external_size", BYTES, room);
unsigned char *buffer = guarded(room > BYTES ? room : BYTES);
fill(0);
MPI_Pack_external("external32", data, ITEMS, type, buffer, room, &position);
compare_number("the position", BYTES, position);
memcpy(packed, buffer, BYTES);
reverse(expected);
compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// unpack_external
MPI_Aint position = 0;
unsigned char *buffer = guarded(BYTES);
fill(0);
prepare(expected);
memcpy(buffer, expected, BYTES);
reverse(buffer);
MPI_Unpack_external("external32", buffer, BYTES, &position, data, ITEMS, type);
compare_number("the position", BYTES, position);
compare("receiver's memory", image, memory, ALL, FIRST);

/// send_to_self
fill(0);
MPI_Sendrecv(data, ITEMS, type, 0, 0, packed, count, dense, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// receive_from_self
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Sendrecv(packed, count, dense, 0, 0, data, ITEMS, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);

/// typed_to_typed
static unsigned char sent[ALL];
fill(0);
memcpy(sent, memory, ALL);
prepare(expected);
MPI_Sendrecv(sent + ORIGIN, ITEMS, type, 0, 0, data, ITEMS, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);

/// freed_while_active
static unsigned char sent[ALL];
MPI_Request requests[2];
fill(0);
memcpy(sent, memory, ALL);
prepare(expected);
MPI_Irecv(data, ITEMS, type, 0, 0, MPI_COMM_SELF, &requests[0]);
MPI_Isend(sent + ORIGIN, ITEMS, type, 0, 0, MPI_COMM_SELF, &requests[1]);
MPI_Type_free(&type);
MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);

/// persistent
MPI_Request requests[2];
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Recv_init(data, ITEMS, type, 0, 0, MPI_COMM_SELF, &requests[0]);
MPI_Send_init(packed, count, dense, 0, 0, MPI_COMM_SELF, &requests[1]);
for (int use = 0; use < 2; use++) {
    memset(memory, 0xA5, ALL);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    compare("receiver's memory", image, memory, ALL, FIRST);
}

/// probe
MPI_Request request;
MPI_Message message;
MPI_Status status;
int elements;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Isend(packed, count, dense, 0, 0, MPI_COMM_SELF, &request);
MPI_Mprobe(0, 0, MPI_COMM_SELF, &message, &status);
MPI_Get_elements(&status, type, &elements);
compare_number("the result of MPI_Get_elements", VALUES, elements);
MPI_Mrecv(data, ITEMS, type, &message, MPI_STATUS_IGNORE);
MPI_Wait(&request, MPI_STATUS_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);

/// life_cycle
/* The resident memory of the process in pages, after some types have been made and freed and after many more. */
long before = 0, after = 0;
for (int i = 0; i < 21000; i++) {
    MPI_Datatype copy;
    FILE *statm;
    if (i == 1000 || i == 20999) {
        before = after;
        statm = fopen("/proc/self/statm", "r");
        if (!statm || fscanf(statm, "%*d %ld", &after) != 1)
            return 3;
        fclose(statm);
    }
    make(&copy);
    MPI_Type_free(&copy);
}
if (after - before > 200) {
    printf("WRONG: 20000 types that were freed have left %ld pages\n", after - before);
    wrong = 1;
}

/// file_memory
MPI_File file;
FILE *contents;
fill(0);
remove(file_name());
MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
MPI_File_open(MPI_COMM_SELF, file_name(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
MPI_File_write_at(file, 0, data, ITEMS, type, MPI_STATUS_IGNORE);
MPI_File_sync(file);
contents = fopen(file_name(), "rb");
long length = fread(packed, 1, BYTES, contents);
compare_number("the length of the file", BYTES, length);
compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);
prepare(expected);
MPI_File_read_at(file, 0, data, ITEMS, type, MPI_STATUS_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);
MPI_File_close(&file);
remove(file_name());

/// file_view
MPI_File file;
FILE *contents;
/* Holes of a new file are undefined, so that the file exists before. */
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
contents = fopen(file_name(), "wb");
for (long i = 0; i < FROM + SPAN; i++)
    fputc(0xA5, contents);
fclose(contents);
MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
MPI_File_open(MPI_COMM_SELF, file_name(), MPI_MODE_RDWR, MPI_INFO_NULL, &file);
MPI_File_set_view(file, 0, element, type, "native", MPI_INFO_NULL);
MPI_File_write_at(file, 0, packed, VALUES, element, MPI_STATUS_IGNORE);
MPI_File_sync(file);
contents = fopen(file_name(), "rb");
fseek(contents, FROM, SEEK_SET);
long length = fread(data + FROM, 1, SPAN, contents);
compare_number("the bytes of the file", SPAN, length);
compare("receiver's memory", image, memory, ALL, FIRST);
memset(packed, 0, BYTES);
MPI_File_read_at(file, 0, packed, VALUES, element, MPI_STATUS_IGNORE);
compare("read data", expected, packed, BYTES, 0);
MPI_File_close(&file);
remove(file_name());

/// send
fill(0);
if (rank == 0) {
    MPI_Send(data, ITEMS, type, 1, 0, MPI_COMM_WORLD);
} else {
    MPI_Recv(packed, count, dense, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compare("packed data", expected, packed, BYTES, 0);
    compare("sender's memory", image, memory, ALL, FIRST);
}

/// receive
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
if (rank == 0) {
    MPI_Send(packed, count, dense, 1, 0, MPI_COMM_WORLD);
} else {
    MPI_Recv(data, ITEMS, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compare("receiver's memory", image, memory, ALL, FIRST);
}

/// sendrecv_replace
static unsigned char mine[ALL];
fill(rank);
memcpy(mine, memory, ALL);
fill(1 - rank);
memcpy(memory, mine, ALL);
memcpy(image, mine, ALL);
const unsigned char *next = expected;
for (int run = 0; run < RUNS; next += runs[run++].bytes)
    memcpy(image + ORIGIN + runs[run].at, next, runs[run].bytes);
MPI_Sendrecv_replace(data, ITEMS, type, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);

/// partitioned
MPI_Request request;
fill(0);
if (rank == 0) {
    MPI_Psend_init(data, PARTITIONS, ITEMS / PARTITIONS, type, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    for (int partition = PARTITIONS - 1; partition >= 0; partition--)
        MPI_Pready(partition, request);
} else {
    prepare(expected);
    MPI_Precv_init(data, PARTITIONS, ITEMS / PARTITIONS, type, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
}
MPI_Wait(&request, MPI_STATUS_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);
MPI_Request_free(&request);

/// put
MPI_Win window;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Win_create(memory, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
MPI_Win_fence(0, window);
if (rank == 0)
    MPI_Put(packed, count, dense, 1, ORIGIN, ITEMS, type, window);
MPI_Win_fence(0, window);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);
MPI_Win_free(&window);

/// put_locked
MPI_Win window;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Win_create(memory, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
MPI_Barrier(MPI_COMM_WORLD);
if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, window);
    MPI_Put(packed, count, dense, 1, ORIGIN, ITEMS, type, window);
    MPI_Win_unlock(1, window);
}
MPI_Win_free(&window);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// put_posted
MPI_Win window;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Win_create(memory, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
MPI_Group all, peer;
int other = 1 - rank;
MPI_Comm_group(MPI_COMM_WORLD, &all);
MPI_Group_incl(all, 1, &other, &peer);
if (rank == 0) {
    MPI_Win_start(peer, 0, window);
    MPI_Put(packed, count, dense, 1, ORIGIN, ITEMS, type, window);
    MPI_Win_complete(window);
} else {
    MPI_Win_post(peer, 0, window);
    MPI_Win_wait(window);
    compare("receiver's memory", image, memory, ALL, FIRST);
}
MPI_Win_free(&window);

/// put_origin
MPI_Win window;
fill(0);
MPI_Win_create(packed, rank == 1 ? BYTES : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
MPI_Win_fence(0, window);
if (rank == 0)
    MPI_Put(data, ITEMS, type, 1, 0, count, dense, window);
MPI_Win_fence(0, window);
if (rank == 1) {
    compare("packed data", expected, packed, BYTES, 0);
    compare("sender's memory", image, memory, ALL, FIRST);
}
MPI_Win_free(&window);

/// get
MPI_Win window;
fill(0);
MPI_Win_create(memory, rank == 0 ? ALL : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
MPI_Win_fence(0, window);
if (rank == 1)
    MPI_Get(packed, count, dense, 0, ORIGIN, ITEMS, type, window);
MPI_Win_fence(0, window);
if (rank == 1) {
    compare("packed data", expected, packed, BYTES, 0);
    compare("sender's memory", image, memory, ALL, FIRST);
}
MPI_Win_free(&window);

/// get_origin
MPI_Win window;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Win_create(packed, rank == 0 ? BYTES : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
MPI_Win_fence(0, window);
if (rank == 1)
    MPI_Get(data, ITEMS, type, 0, 0, count, dense, window);
MPI_Win_fence(0, window);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);
MPI_Win_free(&window);

/// accumulate
MPI_Win window;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Win_create(memory, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
MPI_Win_fence(0, window);
if (rank == 0)
    MPI_Accumulate(packed, count, dense, 1, ORIGIN, ITEMS, type, MPI_REPLACE, window);
MPI_Win_fence(0, window);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);
MPI_Win_free(&window);

/// get_accumulate
MPI_Win window;
fill(0);
MPI_Win_create(memory, rank == 0 ? ALL : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
MPI_Win_fence(0, window);
if (rank == 1)
    MPI_Get_accumulate(NULL, 0, MPI_BYTE, packed, count, dense, 0, ORIGIN, ITEMS, type, MPI_NO_OP, window);
MPI_Win_fence(0, window);
if (rank == 1) {
    compare("packed data", expected, packed, BYTES, 0);
    compare("sender's memory", image, memory, ALL, FIRST);
}
MPI_Win_free(&window);

/// bcast
fill(0);
if (rank > 0)
    prepare(expected);
MPI_Bcast(data, ITEMS, type, 0, MPI_COMM_WORLD);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// gather
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Gather(packed + rank * BLOCK, count, dense, data, ITEMS, type, 1, MPI_COMM_WORLD);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// nothing_from_others
MPI_Gather(data, 0, MPI_BYTE, data, ITEMS, type, 1, MPI_COMM_WORLD);

/// allgather
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Allgather(packed + rank * BLOCK, count, dense, data, ITEMS, type, MPI_COMM_WORLD);
compare("receiver's memory", image, memory, ALL, FIRST);

/// scatter
fill(0);
MPI_Scatter(data, ITEMS, type, packed, count, dense, 1, MPI_COMM_WORLD);
compare("packed data", expected + rank * BLOCK, packed, BLOCK, 0);

/// alltoall
/* Rank r receives block r of all ranks. */
static unsigned char values[ROOM];
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    memcpy(values + peer * BLOCK, expected + rank * BLOCK, BLOCK);
}
fill(rank);
memcpy(packed, expected, BYTES);
prepare(values);
MPI_Alltoall(packed, count, dense, data, ITEMS, type, MPI_COMM_WORLD);
compare("receiver's memory", image, memory, ALL, FIRST);

/// neighbor_alltoall
/* All ranks are neighbours of each; rank r receives block r of all. */
static unsigned char values[ROOM];
int neighbours[RANKS], weights[RANKS];
MPI_Comm graph;
for (int peer = 0; peer < RANKS; peer++) {
    neighbours[peer] = peer;
    weights[peer] = 1;
}
MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, RANKS, neighbours, weights, RANKS, neighbours, weights, MPI_INFO_NULL, 0, &graph);
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    memcpy(values + peer * BLOCK, expected + rank * BLOCK, BLOCK);
}
fill(rank);
memcpy(packed, expected, BYTES);
prepare(values);
MPI_Neighbor_alltoall(packed, count, dense, data, ITEMS, type, graph);
compare("receiver's memory", image, memory, ALL, FIRST);

/// alltoallw
int sent[RANKS] = {0, rank == 0 ? ITEMS : 0}, received[RANKS] = {rank == 1 ? count : 0}, places[RANKS] = {0};
MPI_Datatype types[RANKS], denses[RANKS];
for (int peer = 0; peer < RANKS; peer++) {
    types[peer] = type;
    denses[peer] = dense;
}
fill(0);
MPI_Alltoallw(data, sent, places, types, packed, received, places, denses, MPI_COMM_WORLD);
if (rank == 1) {
    compare("packed data", expected, packed, BYTES, 0);
    compare("sender's memory", image, memory, ALL, FIRST);
}

/// neighbor_alltoallw
int neighbour = 1 - rank, weight = 1, sent = rank == 0 ? ITEMS : 0, received = rank == 1 ? count : 0, degree = rank < 2;
MPI_Aint place = 0;
MPI_Comm graph;
MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, &neighbour, &weight, degree, &neighbour, &weight, MPI_INFO_NULL, 0, &graph);
fill(0);
MPI_Neighbor_alltoallw(data, &sent, &place, &type, packed, &received, &place, &dense, graph);
if (rank == 1) {
    compare("packed data", expected, packed, BYTES, 0);
    compare("sender's memory", image, memory, ALL, FIRST);
}

/// gatherv allgatherv
/* Blocks are in descending order, and those of even ranks stay as they are. */
int counts[RANKS], places[RANKS];
unsigned char *values = guarded(BYTES);
fill(0);
memcpy(packed, expected, BYTES);
memcpy(values, expected, BYTES);
for (int peer = 0; peer < RANKS; peer++) {
    counts[peer] = peer % 2 ? ITEMS : 0;
    places[peer] = (RANKS - 1 - peer) * ITEMS;
    if (peer % 2 == 0)
        memset(values + (RANKS - 1 - peer) * BLOCK, 0xA5, BLOCK);
}
prepare(values);
const unsigned char *mine = packed + (RANKS - 1 - rank) * BLOCK;
GATHER(mine, rank % 2 ? count : 0, dense, data, counts, places, type, ROOT MPI_COMM_WORLD);
if (IS_RECEIVER)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// reduce
/* An MPI may choose another algorithm after some calls. */
static unsigned char sent[ALL], values[ROOM];
MPI_Op operation;
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    for (long i = 0; i < BYTES; i++)
        values[i] ^= expected[i];
}
fill(rank);
memcpy(sent, memory, ALL);
MPI_Op_create(exclusive_or, 1, &operation);
for (int call = 0; call < 20; call++) {
    prepare(values);
    MPI_Reduce(sent + ORIGIN, data, ITEMS, type, operation, 1, MPI_COMM_WORLD);
    if (rank == 1)
        compare("receiver's memory", image, memory, ALL, FIRST);
}
MPI_Op_free(&operation);

/// element_count short_message
MPI_Status status;
int items, elements;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Sendrecv(packed, count, dense, 0, 0, data, ITEMS, type, 0, 0, MPI_COMM_SELF, &status);
compare("receiver's memory", image, memory, ALL, FIRST);
MPI_Get_count(&status, type, &items);
MPI_Get_elements(&status, type, &elements);
compare_number("the result of MPI_Get_count", WHOLE, items);
compare_number("the result of MPI_Get_elements", VALUES, elements);
