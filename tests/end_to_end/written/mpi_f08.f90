! The part of the module mpi_f08 (MPI-4.1, section 19.1) that printed code uses, to compile it without an MPI.
module mpi_f08
use, intrinsic :: iso_c_binding, only: c_intptr_t
use, intrinsic :: iso_fortran_env, only: int8
implicit none
integer, parameter :: MPI_ADDRESS_KIND = c_intptr_t, MPI_ORDER_C = 1, MPI_ORDER_FORTRAN = 2, &
  MPI_DISTRIBUTE_BLOCK = 3, MPI_DISTRIBUTE_CYCLIC = 4, MPI_DISTRIBUTE_NONE = 5, MPI_DISTRIBUTE_DFLT_DARG = -1
type :: MPI_Datatype
  integer :: MPI_VAL
end type
type :: MPI_Comm
  integer :: MPI_VAL
end type
type(MPI_Comm), parameter :: MPI_COMM_WORLD = MPI_Comm(0)
type(MPI_Datatype), parameter :: MPI_BYTE = MPI_Datatype(0), MPI_CHARACTER = MPI_Datatype(1), &
  MPI_INT8_T = MPI_Datatype(2), MPI_INT16_T = MPI_Datatype(3), MPI_INTEGER = MPI_Datatype(4), &
  MPI_INT64_T = MPI_Datatype(5), MPI_UINT8_T = MPI_Datatype(6), MPI_UINT16_T = MPI_Datatype(7), &
  MPI_UINT32_T = MPI_Datatype(8), MPI_UINT64_T = MPI_Datatype(9), MPI_REAL = MPI_Datatype(10), &
  MPI_DOUBLE_PRECISION = MPI_Datatype(11), MPI_COMPLEX = MPI_Datatype(12), &
  MPI_DOUBLE_COMPLEX = MPI_Datatype(13), MPI_C_BOOL = MPI_Datatype(14), &
  MPI_LONG_DOUBLE = MPI_Datatype(15), MPI_C_LONG_DOUBLE_COMPLEX = MPI_Datatype(16)
interface
  subroutine MPI_Init(ierror)
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Finalize(ierror)
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_contiguous(count, oldtype, newtype, ierror)
    import
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: oldtype
    type(MPI_Datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_vector(count, blocklength, stride, oldtype, newtype, ierror)
    import
    integer, intent(in) :: count, blocklength, stride
    type(MPI_Datatype), intent(in) :: oldtype
    type(MPI_Datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype, ierror)
    import
    integer, intent(in) :: count, blocklength
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: stride
    type(MPI_Datatype), intent(in) :: oldtype
    type(MPI_Datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_indexed(count, blocklengths, displacements, oldtype, newtype, ierror)
    import
    integer, intent(in) :: count, blocklengths(count), displacements(count)
    type(MPI_Datatype), intent(in) :: oldtype
    type(MPI_Datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_create_hindexed(count, blocklengths, displacements, oldtype, newtype, ierror)
    import
    integer, intent(in) :: count, blocklengths(count)
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: displacements(count)
    type(MPI_Datatype), intent(in) :: oldtype
    type(MPI_Datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_create_indexed_block(count, blocklength, displacements, oldtype, newtype, ierror)
    import
    integer, intent(in) :: count, blocklength, displacements(count)
    type(MPI_Datatype), intent(in) :: oldtype
    type(MPI_Datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_create_hindexed_block(count, blocklength, displacements, oldtype, newtype, ierror)
    import
    integer, intent(in) :: count, blocklength
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: displacements(count)
    type(MPI_Datatype), intent(in) :: oldtype
    type(MPI_Datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_create_struct(count, blocklengths, displacements, types, newtype, ierror)
    import
    integer, intent(in) :: count, blocklengths(count)
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: displacements(count)
    type(MPI_Datatype), intent(in) :: types(count)
    type(MPI_Datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_create_subarray(ndims, sizes, subsizes, starts, order, oldtype, newtype, ierror)
    import
    integer, intent(in) :: ndims, sizes(ndims), subsizes(ndims), starts(ndims), order
    type(MPI_Datatype), intent(in) :: oldtype
    type(MPI_Datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_create_darray( &
    size, rank, ndims, gsizes, distribs, dargs, psizes, order, oldtype, newtype, ierror)
    import
    integer, intent(in) :: size, rank, ndims, gsizes(ndims), distribs(ndims), dargs(ndims), psizes(ndims), order
    type(MPI_Datatype), intent(in) :: oldtype
    type(MPI_Datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_create_resized(oldtype, lb, extent, newtype, ierror)
    import
    type(MPI_Datatype), intent(in) :: oldtype
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: lb, extent
    type(MPI_Datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_commit(datatype, ierror)
    import
    type(MPI_Datatype), intent(inout) :: datatype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_free(datatype, ierror)
    import
    type(MPI_Datatype), intent(inout) :: datatype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_size(datatype, size, ierror)
    import
    type(MPI_Datatype), intent(in) :: datatype
    integer, intent(out) :: size
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_get_extent(datatype, lb, extent, ierror)
    import
    type(MPI_Datatype), intent(in) :: datatype
    integer(kind=MPI_ADDRESS_KIND), intent(out) :: lb, extent
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Pack(inbuf, incount, datatype, outbuf, outsize, position, comm, ierror)
    import
    integer(int8), intent(in) :: inbuf(*)
    integer, intent(in) :: incount, outsize
    type(MPI_Datatype), intent(in) :: datatype
    integer(int8) :: outbuf(*)
    integer, intent(inout) :: position
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
  end subroutine
end interface
end module
