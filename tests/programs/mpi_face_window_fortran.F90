! SPDX-License-Identifier: BSD-3-Clause
! mpi_face_window_fortran.F90 - a window from Fortran: attributes, name, group, handle, and accesses, by `use mpi`.
! Prints "a window of N".
program mpi_face_window_fortran
  use mpi
  implicit none
  integer, parameter :: words = 16
  integer :: memory(words), got, rank, ranks, right, window, error, length, keyval, group, size
  integer(MPI_ADDRESS_KIND) :: bytes, value, base, place
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  right = mod(rank + 1, ranks)
  memory = rank
  bytes = 4 * words
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)

  ! Open MPI's Fortran reads them from the window beneath, which has no memory.
#ifndef OPEN_MPI
  call MPI_Get_address(memory, base, error)
  call MPI_Win_get_attr(window, MPI_WIN_BASE, value, flag, error)
  call check(flag .and. value == base, 'MPI_WIN_BASE')
  call MPI_Win_get_attr(window, MPI_WIN_SIZE, value, flag, error)
  call check(flag .and. value == bytes, 'MPI_WIN_SIZE')
#endif
  call MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, value, flag, error)
  call check(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')

  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keyval, value, error)
  value = 4711
  call MPI_Win_set_attr(window, keyval, value, error)
  value = 0
  call MPI_Win_get_attr(window, keyval, value, flag, error)
  call check(flag .and. value == 4711, 'an attribute')
  call MPI_Win_set_name(window, 'a name', error)
  call MPI_Win_get_name(window, name, length, error)
  call check(name == 'a name' .and. length == 6, 'a name')
  call MPI_Win_get_group(window, group, error)
  call MPI_Group_size(group, size, error)
  call check(size == ranks, 'the group')
  call MPI_Group_free(group, error)

  place = 3
  call MPI_Win_fence(0, window, error)
  call MPI_Put(100 + rank, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, window, error)
  call MPI_Win_fence(0, window, error)
  call check(memory(4) == 100 + mod(rank + ranks - 1, ranks), 'MPI_Put')
  call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window, error)
  call MPI_Get(got, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, window, error)
  call MPI_Win_unlock(right, window, error)
  call check(got == 100 + rank, 'MPI_Get')
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Win_free(window, error)
  call check(window == MPI_WIN_NULL, 'MPI_Win_free')
  if (rank == 0) print '(a,i0)', 'a window of ', ranks
  call MPI_Finalize(error)

contains

  subroutine check(is_so, of)
    logical, intent(in) :: is_so
    character(len=*), intent(in) :: of
    if (is_so) return
    print '(2a)', 'wrong: ', of
    stop 1
  end subroutine

end program
