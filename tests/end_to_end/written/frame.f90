program written
use mpi_f08
use, intrinsic :: iso_fortran_env, only: int8, int64
implicit none
integer, parameter :: margin = 4096, bytes = 4194304
integer(int8), asynchronous, save :: source(0:margin + bytes - 1), packed(bytes)
integer(int64) :: place
call MPI_Init()
do place = 0, margin + bytes - 1
  source(place) = int(mod(7 * place + 13 * (place / 256), 127_int64), int8)
end do
CALLS
call MPI_Finalize()
contains

! Prints size, lower bound, extent, and a sum of the packed bytes.
subroutine check(datatype)
  type(MPI_Datatype), intent(in) :: datatype
  integer :: size_bytes, position, k
  integer(kind=MPI_ADDRESS_KIND) :: lower_bound, extent
  integer(int64) :: total
  position = 0
  total = 0
  call MPI_Type_size(datatype, size_bytes)
  call MPI_Type_get_extent(datatype, lower_bound, extent)
  call MPI_Pack(source(margin), 1, datatype, packed, bytes, position, MPI_COMM_WORLD)
  do k = 1, position
    total = mod(257 * total + packed(k), 1000003_int64)
  end do
  print '(i0, 1x, i0, 1x, i0, 1x, i0)', size_bytes, lower_bound, extent, total
end subroutine

FUNCTIONS
end program
