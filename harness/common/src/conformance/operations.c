/* The operations: C statements that the rank program executes and that the program of a finding has. A section begins with a name, the
 * section of MPI-4.1, and words (`add` in operation.rs): the ranks; what the type must be like; the calls that have other forms. Then
 * comes the comparison in one line. Words in capitals are values; `fill` and others are in helpers.c and in bench.h.
 */

/// bounds | 5.1.5 to 5.1.8 | alone own
/// size, extent and true extent of the type and of each type within it
int size;
MPI_Type_size(type, &size);
compare_number("the size", SIZE, size);

MPI_Aint lower, extent;
MPI_Type_get_extent(type, &lower, &extent);
compare_number("the lower bound", LOWER_BOUND, lower);
compare_number("the extent", EXTENT, extent);

MPI_Aint true_lower, true_extent;
MPI_Type_get_true_extent(type, &true_lower, &true_extent);
compare_number("the true lower bound", TRUE_LOWER_BOUND, true_lower);
compare_number("the true extent", TRUE_EXTENT, true_extent);

/// pack | 5.2 | alone plain MPI_Pack
/// MPI_Pack gathers the bytes of the type map, and MPI_Pack_size is enough for them
COUNT position = 0, room;
MPI_Pack_size(ITEMS, type, MPI_COMM_SELF, &room);
if (room < BYTES)
    compare_number("the result of MPI_Pack_size", BYTES, room);
unsigned char *buffer = guarded(room > BYTES ? room : BYTES);
fill(0);
MPI_Pack(data, ITEMS, type, buffer, room, &position, MPI_COMM_SELF);
compare_number("the position", BYTES, position);
compare("packed data", expected, buffer, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// pack_items | 5.2 | alone plain MPI_Pack
/// the same, item by item into one buffer
COUNT position = 0, room;
MPI_Pack_size(1, type, MPI_COMM_SELF, &room);
unsigned char *buffer = guarded((long) ITEMS * room);
fill(0);
for (int i = 0; i < ITEMS; i++)
    MPI_Pack(data + i * EXTENT, 1, type, buffer, ITEMS * room, &position, MPI_COMM_SELF);
compare_number("the position", BYTES, position);
compare("packed data", expected, buffer, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// pack_behind | 5.2 | alone plain MPI_Pack
/// MPI_Pack behind other data, into a buffer that is larger than needed
COUNT position = 3, room;
MPI_Pack_size(ITEMS, type, MPI_COMM_SELF, &room);
unsigned char *buffer = guarded(room + BYTES + 16384L);
fill(0);
MPI_Pack(data, ITEMS, type, buffer, room + BYTES + 16384, &position, MPI_COMM_SELF);
compare_number("the position", BYTES + 3, position);
compare("packed data", expected, buffer + 3, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// unpack | 5.2 | alone plain disjoint MPI_Unpack
/// MPI_Unpack writes the bytes of the type map and no others
COUNT position = 0;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Unpack(packed, BYTES, &position, data, ITEMS, type, MPI_COMM_SELF);
compare_number("the position", BYTES, position);
compare("packed data", expected, packed, BYTES, 0);
compare("receiver's memory", image, memory, ALL, FIRST);

/// unpack_items | 5.2 | alone plain disjoint MPI_Unpack
/// the same, item by item from one buffer
COUNT position = 0;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
for (int i = 0; i < ITEMS; i++)
    MPI_Unpack(packed, BYTES, &position, data + i * EXTENT, 1, type, MPI_COMM_SELF);
compare_number("the position", BYTES, position);
compare("receiver's memory", image, memory, ALL, FIRST);

/// pack_external | 5.3 | alone MPI_Pack_external
/// MPI_Pack_external writes big-endian values without gaps
PLACE position = 0, room;
MPI_Pack_external_size("external32", ITEMS, type, &room);
if (room < BYTES)
    compare_number("the result of MPI_Pack_external_size", BYTES, room);
unsigned char *buffer = guarded(room > BYTES ? room : BYTES);
fill(0);
MPI_Pack_external("external32", data, ITEMS, type, buffer, room, &position);
compare_number("the position", BYTES, position);
reverse(expected);
compare("packed data", expected, buffer, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// unpack_external | 5.3 | alone disjoint MPI_Unpack_external
/// MPI_Unpack_external reads them
PLACE position = 0;
fill(0);
prepare(expected);
memcpy(packed, expected, BYTES);
reverse(packed);
MPI_Unpack_external("external32", packed, BYTES, &position, data, ITEMS, type);
compare_number("the position", BYTES, position);
compare("receiver's memory", image, memory, ALL, FIRST);

/// send_to_self | 5.1.11 | alone MPI_Sendrecv
/// a message of the type is received as a contiguous type
fill(0);
MPI_Sendrecv(data, ITEMS, type, 0, TAG, packed, count, dense, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// receive_from_self | 5.1.11 | alone disjoint MPI_Sendrecv
/// a message of a contiguous type is received as the type
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Sendrecv(packed, count, dense, 0, TAG, data, ITEMS, type, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
compare("packed data", expected, packed, BYTES, 0);
compare("receiver's memory", image, memory, ALL, FIRST);

/// typed_to_typed | 5.1.11 | alone disjoint MPI_Sendrecv
/// a message of the type is received as the same type
fill(0);
keep();
prepare(expected);
MPI_Sendrecv(kept + ORIGIN, ITEMS, type, 0, TAG, data, ITEMS, type, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);

/// absolute | 2.5.6 | alone disjoint MPI_Sendrecv
/// a message is received at MPI_BOTTOM, as a type with the absolute address
MPI_Aint address;
MPI_Datatype absolute;
int items = ITEMS;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Get_address(data, &address);
MPI_Type_create_hindexed(1, &items, &address, type, &absolute);
MPI_Type_commit(&absolute);
MPI_Sendrecv(packed, count, dense, 0, TAG, MPI_BOTTOM, 1, absolute, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
MPI_Type_free(&absolute);
compare("receiver's memory", image, memory, ALL, FIRST);

/// absolute_sent | 2.5.6 | alone MPI_Sendrecv
/// a message is sent from MPI_BOTTOM, as a type with the absolute address
MPI_Aint address;
MPI_Datatype absolute;
int items = ITEMS;
fill(0);
MPI_Get_address(data, &address);
MPI_Type_create_hindexed(1, &items, &address, type, &absolute);
MPI_Type_commit(&absolute);
MPI_Sendrecv(MPI_BOTTOM, 1, absolute, 0, TAG, packed, count, dense, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
MPI_Type_free(&absolute);
compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// element_count | 5.1.11 | alone disjoint with_data MPI_Get_count MPI_Get_elements
/// MPI_Get_count and MPI_Get_elements of a full message
MPI_Status status;
COUNT items, elements;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Sendrecv(packed, count, dense, 0, TAG, data, ITEMS, type, 0, TAG, MPI_COMM_SELF, &status);
compare("receiver's memory", image, memory, ALL, FIRST);
MPI_Get_count(&status, type, &items);
MPI_Get_elements(&status, type, &elements);
compare_number("the result of MPI_Get_count", WHOLE, items);
compare_number("the result of MPI_Get_elements", VALUES, elements);

/// short_message | 5.1.11 | alone disjoint with_data short MPI_Get_count MPI_Get_elements
/// the same of a message that ends within an item
SAME element_count

/// duplicate | 5.1.10 | alone plain
/// a duplicate packs the same bytes after its original is freed
int position = 0, room;
MPI_Datatype copy;
MPI_Type_dup(type, &copy);
MPI_Type_free(&type);
MPI_Pack_size(ITEMS, copy, MPI_COMM_SELF, &room);
unsigned char *buffer = guarded(room > BYTES ? room : BYTES);
fill(0);
MPI_Pack(data, ITEMS, copy, buffer, room, &position, MPI_COMM_SELF);
MPI_Type_free(&copy);
compare_number("the position", BYTES, position);
compare("packed data", expected, buffer, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// freed_while_active | 5.1.9 | alone disjoint
/// a type that is freed before its messages are complete
MPI_Request requests[2];
fill(0);
keep();
prepare(expected);
MPI_Irecv(data, ITEMS, type, 0, TAG, MPI_COMM_SELF, &requests[0]);
MPI_Isend(kept + ORIGIN, ITEMS, type, 0, TAG, MPI_COMM_SELF, &requests[1]);
MPI_Type_free(&type);
MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);

/// contents | 5.1.13 | alone fits
/// MPI_Type_get_envelope and MPI_Type_get_contents give the arguments of the constructor
int integers, addresses, types, combiner;
MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
compare_number("the constructor", COMBINER, combiner);
compare_number("the number of integers", INTEGERS, integers);
compare_number("the number of addresses", ADDRESSES, addresses);
compare_number("the number of types", TYPES, types);
if (combiner != MPI_COMBINER_NAMED && types == TYPES && integers == INTEGERS && addresses == ADDRESSES) {
    int found[INTEGERS + 1];
    MPI_Aint places[ADDRESSES + 1];
    MPI_Datatype children[TYPES + 1];
    MPI_Type_get_contents(type, integers, addresses, types, found, places, children);
    for (int i = 0; i < INTEGERS; i++)
        compare_number("an integer", right_integers[i], found[i]);
    for (int i = 0; i < ADDRESSES; i++)
        compare_number("an address", right_addresses[i], places[i]);
    for (int i = 0; i < TYPES; i++) {
        MPI_Type_get_envelope(children[i], &integers, &addresses, &types, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&children[i]);
    }
}

/// life_cycle | 5.1.9 | alone rare
/// types that are made and freed again and again take no memory
/* Pages of memory: they may become more once, since the system gives more than was asked for, but not in each round. */
long pages = 0, least = 1000000;
for (int round = 0; round < 4; round++) {
    long before = pages;
    for (int i = 0; i < 2000; i++) {
        MPI_Datatype copy;
        make(&copy);
        MPI_Type_free(&copy);
    }
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%*d %ld", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    if (round > 0 && pages - before < least)
        least = pages - before;
}
/* A type takes at least 64 bytes. */
if (least >= 2000 * 64 / 4096)
    compare_number("the pages that 2000 types leave when they are freed", 0, least);

/// persistent | 3.9 | alone disjoint
/// a persistent request that receives the type twice
MPI_Request requests[2];
fill(0);
memcpy(packed, expected, BYTES);
MPI_Recv_init(data, ITEMS, type, 0, TAG, MPI_COMM_SELF, &requests[0]);
MPI_Send_init(packed, count, dense, 0, TAG, MPI_COMM_SELF, &requests[1]);
for (int use = 0; use < 2; use++) {
    prepare(expected);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    compare("receiver's memory", image, memory, ALL, FIRST);
}
MPI_Request_free(&requests[0]);
MPI_Request_free(&requests[1]);

/// probe | 3.8.2 | alone disjoint
/// a message whose elements are counted before it is received
MPI_Request request;
MPI_Message message;
MPI_Status status;
int elements;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Isend(packed, count, dense, 0, TAG, MPI_COMM_SELF, &request);
MPI_Mprobe(0, TAG, MPI_COMM_SELF, &message, &status);
MPI_Get_elements(&status, type, &elements);
if (VALUES > 0)
    compare_number("the result of MPI_Get_elements", VALUES, elements);
MPI_Mrecv(data, ITEMS, type, &message, MPI_STATUS_IGNORE);
MPI_Wait(&request, MPI_STATUS_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);

/// file_memory | 14.4.1 | alone disjoint MPI_File_write_at MPI_File_read_at
/// the type is written to a file and read from it
MPI_File file;
const char *name = FILE_NAME;
fill(0);
remove(name);
MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
MPI_File_write_at(file, 0, data, ITEMS, type, MPI_STATUS_IGNORE);
MPI_File_sync(file);
FILE *contents = fopen(name, "rb");
long length = fread(packed, 1, BYTES, contents);
fclose(contents);
compare_number("the length of the file", BYTES, length);
compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);
prepare(expected);
MPI_File_read_at(file, 0, data, ITEMS, type, MPI_STATUS_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);
MPI_File_close(&file);

/// file_view | 14.3 | alone viewed MPI_File_write_at MPI_File_read_at
/// values are written and read through a view of the type
MPI_File file;
const char *name = FILE_NAME;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
FILE *contents = fopen(name, "wb"); /* holes of a new file are undefined */
for (long i = 0; i < FROM + SPAN; i++)
    fputc(0xA5, contents);
fclose(contents);
MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
MPI_File_set_view(file, 0, element, type, "native", MPI_INFO_NULL);
MPI_File_write_at(file, 0, packed, VALUES, element, MPI_STATUS_IGNORE);
MPI_File_sync(file);
contents = fopen(name, "rb");
fseek(contents, FROM, SEEK_SET);
long length = fread(data + FROM, 1, SPAN, contents);
fclose(contents);
compare_number("the bytes of the file", SPAN, length);
compare("receiver's memory", image, memory, ALL, FIRST);
memset(packed, 0, BYTES);
MPI_File_read_at(file, 0, packed, VALUES, element, MPI_STATUS_IGNORE);
compare("packed data", expected, packed, BYTES, 0);
MPI_File_close(&file);

/// send | 5.1.11 | pair MPI_Send
/// rank 0 sends the type, rank 1 receives a contiguous type
fill(0);
if (rank == 0)
    MPI_Send(data, ITEMS, type, 1, TAG, comm);
else
    MPI_Recv(packed, count, dense, 0, TAG, comm, MPI_STATUS_IGNORE);
if (rank == 1)
    compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// receive | 5.1.11 | pair disjoint MPI_Recv
/// rank 0 sends a contiguous type, rank 1 receives the type
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
if (rank == 0)
    MPI_Send(packed, count, dense, 1, TAG, comm);
else
    MPI_Recv(data, ITEMS, type, 0, TAG, comm, MPI_STATUS_IGNORE);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// receive_apart | 3.3.1 | pair disjoint one_element with_data
/// rank 0 sends elements with gaps, rank 1 receives the type
MPI_Datatype apart;
fill(0);
unsigned char *sent = guarded(2 * BYTES);
for (long i = 0; i < BYTES; i++)
    sent[2 * i - i % (BYTES / VALUES)] = expected[i];
prepare(expected);
MPI_Type_create_hvector(VALUES, 1, 2 * BYTES / VALUES, element, &apart);
MPI_Type_commit(&apart);
if (rank == 0)
    MPI_Send(sent, 1, apart, 1, TAG, comm);
else
    MPI_Recv(data, ITEMS, type, 0, TAG, comm, MPI_STATUS_IGNORE);
MPI_Type_free(&apart);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// sendrecv_replace | 3.10 | pair disjoint MPI_Sendrecv_replace
/// both ranks exchange the type in place
fill(1 - rank);
memcpy(packed, expected, BYTES);
fill(rank);
arrive(packed);
MPI_Sendrecv_replace(data, ITEMS, type, 1 - rank, TAG, 1 - rank, TAG, comm, MPI_STATUS_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);

/// partitioned | 4.2.3 | pair disjoint with_items
/// partitions of the type that are ready in descending order
MPI_Request request;
fill(0);
if (rank == 0) {
    MPI_Psend_init(data, PARTITIONS, ITEMS / PARTITIONS, type, 1, TAG, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    for (int partition = PARTITIONS - 1; partition >= 0; partition--)
        MPI_Pready(partition, request);
} else {
    prepare(expected);
    MPI_Precv_init(data, PARTITIONS, ITEMS / PARTITIONS, type, 0, TAG, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
}
MPI_Wait(&request, MPI_STATUS_IGNORE);
MPI_Request_free(&request);
if (rank > 0)
    compare("receiver's memory", image, memory, ALL, FIRST);
if (rank == 0)
    compare("sender's memory", image, memory, ALL, FIRST);

/// put | 12.3.1 | pair disjoint MPI_Put
/// rank 0 puts a contiguous type; the target has the type
MPI_Win window;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Win_create(memory, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, comm, &window);
EPOCH(0, 1, MPI_Put(packed, count, dense, 1, ORIGIN, ITEMS, type, window));
MPI_Win_free(&window);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// put_origin | 12.3.1 | pair MPI_Put
/// rank 0 puts the type; the target has a contiguous type
MPI_Win window;
fill(0);
MPI_Win_create(packed, rank == 1 ? BYTES : 0, 1, MPI_INFO_NULL, comm, &window);
EPOCH(0, 1, MPI_Put(data, ITEMS, type, 1, 0, count, dense, window));
MPI_Win_free(&window);
if (rank == 1)
    compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// put_typed | 12.3.1 | pair disjoint MPI_Put
/// origin and target have the type
MPI_Win window;
fill(0);
keep();
prepare(expected);
MPI_Win_create(memory, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, comm, &window);
EPOCH(0, 1, MPI_Put(kept + ORIGIN, ITEMS, type, 1, ORIGIN, ITEMS, type, window));
MPI_Win_free(&window);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// put_apart | 12.3.1 | pair disjoint one_element with_data MPI_Put
/// rank 0 puts elements with gaps; the target has the type
MPI_Datatype apart;
MPI_Win window;
fill(0);
unsigned char *sent = guarded(2 * BYTES);
for (long i = 0; i < BYTES; i++)
    sent[2 * i - i % (BYTES / VALUES)] = expected[i];
prepare(expected);
MPI_Type_create_hvector(VALUES, 1, 2 * BYTES / VALUES, element, &apart);
MPI_Type_commit(&apart);
MPI_Win_create(memory, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, comm, &window);
EPOCH(0, 1, MPI_Put(sent, 1, apart, 1, ORIGIN, ITEMS, type, window));
MPI_Win_free(&window);
MPI_Type_free(&apart);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// put_freed | 12.3 | pair disjoint
/// rank 0 puts a type that is freed before the access is complete
MPI_Win window;
fill(0);
keep();
prepare(expected);
MPI_Win_create(memory, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, comm, &window);
MPI_Win_fence(0, window);
if (rank == 0)
    MPI_Put(kept + ORIGIN, ITEMS, type, 1, ORIGIN, ITEMS, type, window);
MPI_Type_free(&type);
MPI_Win_fence(0, window);
MPI_Win_free(&window);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// get | 12.3.2 | pair MPI_Get
/// rank 1 gets the type of rank 0 as a contiguous type
MPI_Win window;
fill(0);
MPI_Win_create(memory, rank == 0 ? ALL : 0, 1, MPI_INFO_NULL, comm, &window);
EPOCH(1, 0, MPI_Get(packed, count, dense, 0, ORIGIN, ITEMS, type, window));
MPI_Win_free(&window);
if (rank == 1)
    compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// get_origin | 12.3.2 | pair disjoint MPI_Get
/// rank 1 gets a contiguous type of rank 0 as the type
MPI_Win window;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Win_create(packed, rank == 0 ? BYTES : 0, 1, MPI_INFO_NULL, comm, &window);
EPOCH(1, 0, MPI_Get(data, ITEMS, type, 0, 0, count, dense, window));
MPI_Win_free(&window);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// accumulate | 12.3.4 | pair disjoint one_element MPI_Accumulate
/// rank 0 replaces the type of rank 1 by MPI_Accumulate
MPI_Win window;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Win_create(memory, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, comm, &window);
EPOCH(0, 1, MPI_Accumulate(packed, count, dense, 1, ORIGIN, ITEMS, type, MPI_REPLACE, window));
MPI_Win_free(&window);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// accumulate_sum | 12.3.4 | pair disjoint integers MPI_Accumulate
/// rank 0 adds the type to the type of rank 1; origin and target have the type
MPI_Win window;
fill(0);
for (long i = 0; i < BYTES; i++)
    packed[i] = expected[i] & 0x3f, values[i] = packed[i] ^ 0x15; /* so small that no sum has a carry */
prepare(values);
place();
keep();
prepare(packed);
place();
for (long i = 0; i < BYTES; i++)
    packed[i] += values[i];
arrive(packed);
MPI_Win_create(memory, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, comm, &window);
EPOCH(0, 1, MPI_Accumulate(kept + ORIGIN, ITEMS, type, 1, ORIGIN, ITEMS, type, MPI_SUM, window));
MPI_Win_free(&window);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// accumulate_absolute | 12.3.4 | pair disjoint integers with_data MPI_Accumulate
/// rank 0 combines the type at MPI_BOTTOM with the type of rank 1, by MPI_BXOR
MPI_Win window;
MPI_Aint address;
MPI_Datatype absolute;
fill(1);
memcpy(values, expected, BYTES);
fill(0);
keep();
for (long i = 0; i < BYTES; i++)
    packed[i] = values[i] ^ expected[i];
prepare(values);
place();
arrive(packed);
MPI_Get_address(kept + ORIGIN, &address);
MPI_Type_create_hindexed(1, &(int){ITEMS}, &address, type, &absolute);
MPI_Type_commit(&absolute);
MPI_Win_create(memory, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, comm, &window);
EPOCH(0, 1, MPI_Accumulate(MPI_BOTTOM, 1, absolute, 1, ORIGIN, ITEMS, type, MPI_BXOR, window));
MPI_Win_free(&window);
MPI_Type_free(&absolute);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// get_accumulate | 12.3.4 | pair disjoint one_element MPI_Get_accumulate
/// rank 1 gets the type of rank 0 by MPI_Get_accumulate
MPI_Win window;
fill(0);
MPI_Win_create(memory, rank == 0 ? ALL : 0, 1, MPI_INFO_NULL, comm, &window);
EPOCH(1, 0, MPI_Get_accumulate(NULL, 0, MPI_BYTE, packed, count, dense, 0, ORIGIN, ITEMS, type, MPI_NO_OP, window));
MPI_Win_free(&window);
if (rank == 1)
    compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// get_accumulate_sum | 12.3.4 | pair disjoint integers MPI_Get_accumulate
/// rank 0 adds a contiguous type to that of rank 1, and gets the old values as the type
MPI_Win window;
fill(0);
for (long i = 0; i < BYTES; i++)
    packed[i] = expected[i] & 0x3f, values[i] = packed[i] ^ 0x15; /* so small that no sum has a carry */
prepare(packed);
place();
keep();
for (long i = 0; i < BYTES; i++)
    packed[i] += rank == 1 ? values[i] : 0;
prepare(packed);
MPI_Win_create(kept, rank == 1 ? ALL : 0, 1, MPI_INFO_NULL, comm, &window);
EPOCH(0, 1, MPI_Get_accumulate(values, count, dense, data, ITEMS, type, 1, ORIGIN, ITEMS, type, MPI_SUM, window));
MPI_Win_free(&window);
compare("changed memory", image, rank == 0 ? memory : kept, ALL, FIRST);

/// bcast | 6.4 | all disjoint MPI_Bcast
/// a broadcast of the type
fill(0);
if (rank > 0) {
    prepare(expected);
}
MPI_Bcast(data, ITEMS, type, 0, comm);
if (rank > 0)
    compare("receiver's memory", image, memory, ALL, FIRST);
if (rank == 0)
    compare("sender's memory", image, memory, ALL, FIRST);

/// bcast_mixed | 6.4 | all disjoint MPI_Bcast
/// the last rank broadcasts a contiguous type, which the others receive as the type
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
if (rank == RANKS - 1)
    MPI_Bcast(packed, count, dense, RANKS - 1, comm);
else
    MPI_Bcast(data, ITEMS, type, RANKS - 1, comm);
if (rank < RANKS - 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// bcast_apart | 6.4 | all disjoint one_element with_data
/// rank 0 broadcasts elements with gaps, which the others receive as the type
MPI_Datatype apart;
fill(0);
unsigned char *sent = guarded(2 * BYTES);
for (long i = 0; i < BYTES; i++)
    sent[2 * i - i % (BYTES / VALUES)] = expected[i];
prepare(expected);
MPI_Type_create_hvector(VALUES, 1, 2 * BYTES / VALUES, element, &apart);
MPI_Type_commit(&apart);
if (rank == 0)
    MPI_Bcast(sent, 1, apart, 0, comm);
else
    MPI_Bcast(data, ITEMS, type, 0, comm);
MPI_Type_free(&apart);
if (rank > 0)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// nothing_broadcast | 6.4 | all without_data
/// a broadcast of no items, which others receive as items of a type without data
fill(0);
MPI_Bcast(data, rank == 1 ? 0 : ITEMS, rank == 1 ? MPI_BYTE : type, 1, comm);
compare("receiver's memory", image, memory, ALL, FIRST);

/// gather | 6.5 | all disjoint blocks MPI_Gather
/// every rank sends a contiguous type, and rank 1 gathers the type
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Gather(packed + rank * BLOCK, count, dense, data, ITEMS, type, 1, comm);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// gather_sent | 6.5 | all MPI_Gather
/// every rank sends the type, and rank 0 gathers a contiguous type
unsigned char *gathered = guarded(RANKS * BYTES), *right = guarded(RANKS * BYTES);
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    memcpy(right + peer * BYTES, expected, BYTES);
}
fill(rank);
MPI_Gather(data, ITEMS, type, gathered, count, dense, 0, comm);
if (rank == 0)
    compare("packed data", right, gathered, RANKS * BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// gather_mixed | 6.5 | all MPI_Gather
/// even ranks send the type, odd ranks a contiguous type, and rank 0 gathers a contiguous type
unsigned char *gathered = guarded(RANKS * BYTES), *right = guarded(RANKS * BYTES);
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    memcpy(right + peer * BYTES, expected, BYTES);
}
fill(rank);
memcpy(packed, expected, BYTES);
const unsigned char *mine = rank % 2 ? packed : data;
COUNT sent = rank % 2 ? count : ITEMS;
MPI_Datatype own = rank % 2 ? dense : type;
MPI_Gather(mine, sent, own, gathered, count, dense, 0, comm);
if (rank == 0)
    compare("packed data", right, gathered, RANKS * BYTES, 0);

/// nothing_from_others | 6.5 | all without_data
/// a gather of no items as items of a type without data
fill(0);
MPI_Gather(data, 0, MPI_BYTE, data, ITEMS, type, 1, comm);
compare("receiver's memory", image, memory, ALL, FIRST);

/// allgather | 6.7 | all disjoint blocks MPI_Allgather
/// the same to all ranks
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
MPI_Allgather(packed + rank * BLOCK, count, dense, data, ITEMS, type, comm);
compare("receiver's memory", image, memory, ALL, FIRST);

/// allgather_sent | 6.7 | all MPI_Allgather
/// every rank sends the type, and all gather a contiguous type
unsigned char *gathered = guarded(RANKS * BYTES), *right = guarded(RANKS * BYTES);
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    memcpy(right + peer * BYTES, expected, BYTES);
}
fill(rank);
MPI_Allgather(data, ITEMS, type, gathered, count, dense, comm);
compare("packed data", right, gathered, RANKS * BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// scatter | 6.6 | all disjoint blocks MPI_Scatter
/// rank 1 sends the type to all ranks, which receive a contiguous type
fill(0);
unsigned char *received = packed + (RANKS - 1) * BLOCK;
MPI_Scatter(data, ITEMS, type, received, count, dense, 1, comm);
compare("packed data", expected + rank * BLOCK, received, BLOCK, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// scatter_received | 6.6 | all disjoint MPI_Scatter
/// rank 0 sends a contiguous type to all ranks, which receive the type
unsigned char *sent = guarded(RANKS * BYTES);
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    memcpy(sent + peer * BYTES, expected, BYTES);
}
unsigned char *own = sent + rank * BYTES;
prepare(own);
MPI_Scatter(sent, count, dense, data, ITEMS, type, 0, comm);
compare("receiver's memory", image, memory, ALL, FIRST);

/// scatterv | 6.6 | all disjoint blocks MPI_Scatterv
/// rank 0 sends blocks of the type in descending order to even ranks, which receive a contiguous type
COUNT counts[RANKS];
PLACE_OF_ITEM places[RANKS];
for (int peer = 0; peer < RANKS; peer++) {
    counts[peer] = peer % 2 ? 0 : ITEMS;
    places[peer] = (RANKS - 1 - peer) * ITEMS;
}
fill(0);
MPI_Scatterv(data, counts, places, type, packed, rank % 2 ? 0 : count, dense, 0, comm);
if (rank % 2 == 0)
    compare("packed data", expected + (RANKS - 1 - rank) * BLOCK, packed, BLOCK, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// alltoall | 6.8 | all disjoint blocks MPI_Alltoall
/// every rank sends a contiguous type to each, and receives the type
/* Rank r receives block r of all ranks. */
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    memcpy(values + peer * BLOCK, expected + rank * BLOCK, BLOCK);
}
fill(rank);
memcpy(packed, expected, BYTES);
prepare(values);
MPI_Alltoall(packed, count, dense, data, ITEMS, type, comm);
compare("receiver's memory", image, memory, ALL, FIRST);

/// alltoall_sent | 6.8 | all disjoint blocks MPI_Alltoall
/// every rank sends the type to each, and receives a contiguous type
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    memcpy(values + peer * BLOCK, expected + rank * BLOCK, BLOCK);
}
fill(rank);
MPI_Alltoall(data, ITEMS, type, packed, count, dense, comm);
compare("packed data", values, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// alltoall_in_place | 6.8 | all disjoint blocks
/// ranks exchange blocks of the type in place
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    memcpy(values + peer * BLOCK, expected + rank * BLOCK, BLOCK);
}
fill(rank);
arrive(values);
MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, ITEMS, type, comm);
compare("receiver's memory", image, memory, ALL, FIRST);

/// alltoall_freed | 6.12 | all disjoint blocks
/// a type that is freed before its nonblocking collective is complete
MPI_Request request;
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    memcpy(values + peer * BLOCK, expected + rank * BLOCK, BLOCK);
}
fill(rank);
memcpy(packed, expected, BYTES);
prepare(values);
MPI_Ialltoall(packed, count, dense, data, ITEMS, type, comm, &request);
MPI_Type_free(&type);
MPI_Wait(&request, MPI_STATUS_IGNORE);
compare("receiver's memory", image, memory, ALL, FIRST);

/// alltoallv | 6.8 | all disjoint blocks MPI_Alltoallv
/// every rank sends a contiguous type to all but rank 0, which receive the type in descending order
COUNT sent[RANKS], received[RANKS];
PLACE_OF_ITEM from[RANKS], to[RANKS];
for (int peer = 0; peer < RANKS; peer++) {
    sent[peer] = peer > 0 ? count : 0, received[peer] = rank > 0 ? ITEMS : 0;
    from[peer] = peer * count, to[peer] = (RANKS - 1 - peer) * ITEMS;
    fill(peer);
    memcpy(values + (RANKS - 1 - peer) * BLOCK, expected + rank * BLOCK, BLOCK);
}
if (rank == 0)
    memset(values, 0xA5, BYTES);
fill(rank);
memcpy(packed, expected, BYTES);
prepare(values);
MPI_Alltoallv(packed, sent, from, dense, data, received, to, type, comm);
compare("receiver's memory", image, memory, ALL, FIRST);

/// alltoallw | 6.8 | all MPI_Alltoallw
/// rank 0 sends the type, rank 1 receives a contiguous type
COUNT sent[RANKS], received[RANKS];
PLACE_OF_ITEM places[RANKS];
MPI_Datatype types[RANKS], denses[RANKS];
for (int peer = 0; peer < RANKS; peer++) {
    sent[peer] = rank == 0 && peer == 1 ? ITEMS : 0;
    received[peer] = rank == 1 && peer == 0 ? count : 0;
    places[peer] = 0, types[peer] = type, denses[peer] = dense;
}
fill(0);
MPI_Alltoallw(data, sent, places, types, packed, received, places, denses, comm);
if (rank == 1)
    compare("packed data", expected, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// gatherv | 6.5 | all disjoint blocks MPI_Gatherv
/// odd ranks send a contiguous type, the others nothing, and rank 1 gathers the type
/* Blocks are in descending order, and those of even ranks stay as they are. */
COUNT counts[RANKS];
PLACE_OF_ITEM places[RANKS];
fill(0);
memcpy(packed, expected, BYTES);
memcpy(values, expected, BYTES);
for (int peer = 0; peer < RANKS; peer++) {
    counts[peer] = peer % 2 ? ITEMS : 0, places[peer] = (RANKS - 1 - peer) * ITEMS;
    if (peer % 2 == 0)
        memset(values + (RANKS - 1 - peer) * BLOCK, 0xA5, BLOCK);
}
prepare(values);
const unsigned char *mine = packed + (RANKS - 1 - rank) * BLOCK;
MPI_Gatherv(mine, rank % 2 ? count : 0, dense, data, counts, places, type, 1, comm);
if (rank == 1)
    compare("receiver's memory", image, memory, ALL, FIRST);

/// allgatherv | 6.7 | all disjoint blocks MPI_Allgatherv
/// the same to all ranks
/* Blocks are in descending order, and those of even ranks stay as they are. */
COUNT counts[RANKS];
PLACE_OF_ITEM places[RANKS];
fill(0);
memcpy(packed, expected, BYTES);
memcpy(values, expected, BYTES);
for (int peer = 0; peer < RANKS; peer++) {
    counts[peer] = peer % 2 ? ITEMS : 0, places[peer] = (RANKS - 1 - peer) * ITEMS;
    if (peer % 2 == 0)
        memset(values + (RANKS - 1 - peer) * BLOCK, 0xA5, BLOCK);
}
prepare(values);
const unsigned char *mine = packed + (RANKS - 1 - rank) * BLOCK;
MPI_Allgatherv(mine, rank % 2 ? count : 0, dense, data, counts, places, type, comm);
compare("receiver's memory", image, memory, ALL, FIRST);

/// neighbor_alltoall | 8.6.2 | all disjoint neighbours MPI_Neighbor_alltoall
/// every rank sends a contiguous type to each neighbour, and receives the type
NEIGHBOURS
/* Block i is from rank sources[i], for which it is block slots[i]. */
for (int i = 0; i < BLOCKS; i++) {
    memset(values + i * BLOCK, 0xA5, BLOCK);
    if (sources[i] >= 0) {
        fill(sources[i]);
        memcpy(values + i * BLOCK, expected + slots[i] * BLOCK, BLOCK);
    }
}
fill(rank);
memcpy(packed, expected, BYTES);
prepare(values);
MPI_Neighbor_alltoall(packed, count, dense, data, ITEMS, type, topology);
MPI_Comm_free(&topology);
compare("receiver's memory", image, memory, ALL, FIRST);

/// neighbor_alltoallv | 8.6.2 | all disjoint neighbours MPI_Neighbor_alltoallv
/// the same in descending order, and without the first block
NEIGHBOURS
COUNT sent[BLOCKS], received[BLOCKS];
PLACE_OF_ITEM from[BLOCKS], to[BLOCKS];
/* Block i is from rank sources[i], for which it is block slots[i]. */
for (int i = 0; i < BLOCKS; i++) {
    unsigned char *block = values + (BLOCKS - 1 - i) * BLOCK;
    memset(block, 0xA5, BLOCK);
    sent[i] = i > 0 ? count : 0, received[i] = slots[i] > 0 ? ITEMS : 0, from[i] = i * count, to[i] = (BLOCKS - 1 - i) * ITEMS;
    if (sources[i] >= 0 && slots[i] > 0) {
        fill(sources[i]);
        memcpy(block, expected + slots[i] * BLOCK, BLOCK);
    }
}
fill(rank);
memcpy(packed, expected, BYTES);
prepare(values);
MPI_Neighbor_alltoallv(packed, sent, from, dense, data, received, to, type, topology);
MPI_Comm_free(&topology);
compare("receiver's memory", image, memory, ALL, FIRST);

/// neighbor_alltoallw | 8.6.2 | all disjoint neighbours MPI_Neighbor_alltoallw
/// every rank sends the type to each neighbour, and receives a contiguous type
NEIGHBOURS
COUNT sent[BLOCKS], received[BLOCKS];
MPI_Aint from[BLOCKS], to[BLOCKS];
MPI_Datatype types[BLOCKS], denses[BLOCKS];
/* Block i is from rank sources[i], for which it is block slots[i]. */
for (int i = 0; i < BLOCKS; i++) {
    memset(values + i * BLOCK, 0xA5, BLOCK);
    sent[i] = ITEMS, received[i] = count, types[i] = type, denses[i] = dense, from[i] = i * ITEMS * EXTENT, to[i] = i * BLOCK;
    if (sources[i] >= 0) {
        fill(sources[i]);
        memcpy(values + i * BLOCK, expected + slots[i] * BLOCK, BLOCK);
    }
}
fill(rank);
memset(packed, 0xA5, BYTES);
MPI_Neighbor_alltoallw(data, sent, from, types, packed, received, to, denses, topology);
MPI_Comm_free(&topology);
compare("packed data", values, packed, BYTES, 0);
compare("sender's memory", image, memory, ALL, FIRST);

/// neighbor_allgather | 8.6.1 | all disjoint neighbours MPI_Neighbor_allgather
/// every rank sends a contiguous type to all neighbours, and gathers the type
NEIGHBOURS
for (int i = 0; i < BLOCKS; i++) {
    memset(values + i * BLOCK, 0xA5, BLOCK);
    if (sources[i] >= 0) {
        fill(sources[i]);
        memcpy(values + i * BLOCK, expected, BLOCK);
    }
}
fill(rank);
memcpy(packed, expected, BYTES);
prepare(values);
MPI_Neighbor_allgather(packed, count, dense, data, ITEMS, type, topology);
MPI_Comm_free(&topology);
compare("receiver's memory", image, memory, ALL, FIRST);

/// neighbor_allgatherv | 8.6.1 | all disjoint neighbours MPI_Neighbor_allgatherv
/// the same in descending order
NEIGHBOURS
COUNT counts[BLOCKS];
PLACE_OF_ITEM places[BLOCKS];
for (int i = 0; i < BLOCKS; i++) {
    unsigned char *block = values + (BLOCKS - 1 - i) * BLOCK;
    memset(block, 0xA5, BLOCK);
    counts[i] = ITEMS, places[i] = (BLOCKS - 1 - i) * ITEMS;
    if (sources[i] >= 0) {
        fill(sources[i]);
        memcpy(block, expected, BLOCK);
    }
}
fill(rank);
memcpy(packed, expected, BYTES);
prepare(values);
MPI_Neighbor_allgatherv(packed, count, dense, data, counts, places, type, topology);
MPI_Comm_free(&topology);
compare("receiver's memory", image, memory, ALL, FIRST);

/// reduce | 6.9.5 | all disjoint MPI_Reduce
/// a reduction of the type to rank 1 by a function of the program
MPI_Op operation;
memset(values, 0, BYTES);
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    for (long i = 0; i < BYTES; i++)
        values[i] ^= expected[i];
}
fill(rank);
keep();
MPI_Op_create(exclusive_or, 1, &operation);
for (int call = 0; call < CALLS; call++) { /* An MPI may choose another algorithm after some calls. */
    prepare(values);
    MPI_Reduce(kept + ORIGIN, data, ITEMS, type, operation, 1, comm);
    if (rank == 1)
        compare("receiver's memory", image, memory, ALL, FIRST);
}
MPI_Op_free(&operation);

/// allreduce | 6.9.6 | all disjoint MPI_Allreduce
/// the same to all ranks
MPI_Op operation;
memset(values, 0, BYTES);
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    for (long i = 0; i < BYTES; i++)
        values[i] ^= expected[i];
}
fill(rank);
keep();
MPI_Op_create(exclusive_or, 1, &operation);
for (int call = 0; call < CALLS; call++) {
    prepare(values);
    MPI_Allreduce(kept + ORIGIN, data, ITEMS, type, operation, comm);
    compare("receiver's memory", image, memory, ALL, FIRST);
}
MPI_Op_free(&operation);

/// reduce_scatter_block | 6.10.1 | all disjoint blocks MPI_Reduce_scatter_block
/// a reduction of a block of the type for each rank
MPI_Op operation;
memset(values, 0, BYTES);
for (int peer = 0; peer < RANKS; peer++) {
    fill(peer);
    for (long i = 0; i < BLOCK; i++)
        values[i] ^= expected[rank * BLOCK + i];
}
memset(values + BLOCK, 0xA5, BYTES - BLOCK);
fill(rank);
keep();
MPI_Op_create(exclusive_or, 1, &operation);
for (int call = 0; call < CALLS; call++) {
    prepare(values);
    MPI_Reduce_scatter_block(kept + ORIGIN, data, ITEMS, type, operation, comm);
    compare("receiver's memory", image, memory, ALL, FIRST);
}
MPI_Op_free(&operation);

/// reduce_scatter | 6.10.2 | all disjoint blocks MPI_Reduce_scatter
/// the same with a number of items for each rank
MPI_Op operation;
COUNT counts[RANKS];
memset(values, 0, BYTES);
for (int peer = 0; peer < RANKS; counts[peer++] = ITEMS) {
    fill(peer);
    for (long i = 0; i < BLOCK; i++)
        values[i] ^= expected[rank * BLOCK + i];
}
memset(values + BLOCK, 0xA5, BYTES - BLOCK);
fill(rank);
keep();
MPI_Op_create(exclusive_or, 1, &operation);
for (int call = 0; call < CALLS; call++) {
    prepare(values);
    MPI_Reduce_scatter(kept + ORIGIN, data, counts, type, operation, comm);
    compare("receiver's memory", image, memory, ALL, FIRST);
}
MPI_Op_free(&operation);

/// scan | 6.11.1 | all disjoint MPI_Scan
/// a reduction over the ranks up to each, by a function of the program
MPI_Op operation;
memset(values, 0, BYTES);
for (int peer = 0; peer <= rank; peer++) {
    fill(peer);
    for (long i = 0; i < BYTES; i++)
        values[i] ^= expected[i];
}
fill(rank);
keep();
MPI_Op_create(exclusive_or, 1, &operation);
for (int call = 0; call < CALLS; call++) {
    prepare(values);
    MPI_Scan(kept + ORIGIN, data, ITEMS, type, operation, comm);
    compare("receiver's memory", image, memory, ALL, FIRST);
}
MPI_Op_free(&operation);

/// exscan | 6.11.2 | all disjoint MPI_Exscan
/// a reduction over the ranks before each, by a function of the program
MPI_Op operation;
memset(values, 0, BYTES);
for (int peer = 0; peer < rank; peer++) {
    fill(peer);
    for (long i = 0; i < BYTES; i++)
        values[i] ^= expected[i];
}
fill(rank);
keep();
MPI_Op_create(exclusive_or, 1, &operation);
for (int call = 0; call < CALLS; call++) {
    prepare(values);
    MPI_Exscan(kept + ORIGIN, data, ITEMS, type, operation, comm);
    if (rank > 0) /* The result of rank 0 is not defined. */
        compare("receiver's memory", image, memory, ALL, FIRST);
}
MPI_Op_free(&operation);

/// file_all | 14.4.3 | all disjoint blocks viewed MPI_File_write_all MPI_File_read_at_all
/// all ranks write and read values through views of the type, one behind the other
MPI_File file;
const char *name = FILE_NAME;
fill(0);
memcpy(packed, expected, BYTES);
prepare(expected);
if (rank == 0) {
    FILE *contents = fopen(name, "wb");
    for (long i = 0; i < FROM + SPAN; i++)
        fputc(0xA5, contents);
    fclose(contents);
}
MPI_Barrier(comm);
MPI_File_open(comm, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
MPI_File_set_view(file, rank * ITEMS * EXTENT, element, type, "native", MPI_INFO_NULL);
MPI_File_write_all(file, packed + rank * BLOCK, VALUES / RANKS, element, MPI_STATUS_IGNORE);
memset(packed, 0, BYTES);
MPI_File_sync(file);
MPI_Barrier(comm);
MPI_File_sync(file);
MPI_File_read_at_all(file, 0, packed, VALUES / RANKS, element, MPI_STATUS_IGNORE);
MPI_File_close(&file);
compare("packed data", expected + rank * BLOCK, packed, BLOCK, 0);
if (rank == 0) {
    FILE *contents = fopen(name, "rb");
    fseek(contents, FROM, SEEK_SET);
    long length = fread(data + FROM, 1, SPAN, contents);
    compare_number("the bytes of the file", SPAN, length);
    fclose(contents);
    compare("receiver's memory", image, memory, ALL, FIRST);
    remove(name);
}

/// file_interleaved | 14.4.3 | all disjoint blocks viewed MPI_File_write_all
/// all ranks write the type through views in which their items take turns
MPI_File file;
MPI_Datatype every;
const char *name = FILE_NAME;
MPI_Type_create_resized(type, LOWER_BOUND, RANKS * EXTENT, &every);
MPI_Type_commit(&every);
fill(0);
keep();
const long item = BLOCK / (ITEMS > 0 ? ITEMS : 1);
for (int peer = 0; peer < RANKS; peer++)
    for (long i = 0; i < ITEMS; i++)
        memcpy(values + (i * RANKS + peer) * item, expected + (peer * ITEMS + i) * item, item);
prepare(values);
if (rank == 0) {
    FILE *contents = fopen(name, "wb");
    for (long i = 0; i < FROM + SPAN; i++)
        fputc(0xA5, contents);
    fclose(contents);
}
MPI_Barrier(comm);
MPI_File_open(comm, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
MPI_File_set_view(file, rank * EXTENT, element, every, "native", MPI_INFO_NULL);
MPI_File_write_all(file, kept + ORIGIN + rank * ITEMS * EXTENT, ITEMS, type, MPI_STATUS_IGNORE);
MPI_File_close(&file);
MPI_Barrier(comm);
MPI_Type_free(&every);
if (rank == 0) {
    FILE *contents = fopen(name, "rb");
    fseek(contents, FROM, SEEK_SET);
    long length = fread(data + FROM, 1, SPAN, contents);
    compare_number("the bytes of the file", SPAN, length);
    fclose(contents);
    compare("receiver's memory", image, memory, ALL, FIRST);
    remove(name);
}

/// file_memory_all | 14.4.2 | all disjoint MPI_File_write_at_all MPI_File_read_at_all
/// each rank writes the type to a file, and reads that of the next rank
MPI_File file;
const char *name = FILE_NAME;
int next = (rank + 1) % RANKS;
fill(rank);
if (rank == 0)
    remove(name);
MPI_Barrier(comm);
MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
MPI_File_write_at_all(file, rank * BYTES, data, ITEMS, type, MPI_STATUS_IGNORE);
compare("sender's memory", image, memory, ALL, FIRST);
fill(next);
prepare(expected);
MPI_File_sync(file);
MPI_Barrier(comm);
MPI_File_sync(file);
MPI_File_read_at_all(file, next * BYTES, data, ITEMS, type, MPI_STATUS_IGNORE);
MPI_File_close(&file);
compare("receiver's memory", image, memory, ALL, FIRST);
