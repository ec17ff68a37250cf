! SPDX-License-Identifier: BSD-3-Clause
! mpi_face_fortran.F90 - messages and their requests from Fortran, by the interface that the compiler's command names:
! WITH_HEADER (mpif.h), WITH_MODULE (use mpi) or WITH_F08 (use mpi_f08). Prints "ours among N", or "beneath among N"
! if the requests are the MPI's own.
#ifdef WITH_F08
#define REQUEST type(MPI_Request)
#define COMM type(MPI_Comm)
#define STATUS type(MPI_Status)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define NUMBER(r) r%MPI_VAL
#else
#define REQUEST integer
#define COMM integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define NUMBER(r) r
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#endif

program mpi_face_fortran
#ifdef WITH_F08
  use mpi_f08
#elif defined(WITH_MODULE)
  use mpi
#endif
  implicit none
#ifdef WITH_HEADER
  include 'mpif.h'
#endif
  integer :: rank, ranks, before, after, index, error, counted
  integer :: sent(100), received(100, 3)
  logical :: flag, is_ours
  COMM :: dup
  REQUEST :: requests(4)
  STATUS :: one
#ifdef WITH_F08
  STATUS :: all(4)
#else
  integer :: all(MPI_STATUS_SIZE, 4)
#endif

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, dup, error)
  before = mod(rank + ranks - 1, ranks)
  after = mod(rank + 1, ranks)
  sent = rank
  received = -1

  ! Blocking, and with an ignored status.
  if (rank == 0) call MPI_Send(sent, 100, MPI_INTEGER, 1, 7, dup, error)
  if (rank == 1) then
    call MPI_Recv(received, 100, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, one, error)
    call MPI_Get_count(one, MPI_INTEGER, counted, error)
    call check(SOURCE_OF(one) == 0 .and. TAG_OF(one) == 7 .and. counted == 100, 'status of a receive')
    call check(all_are(received(:, 1), 0), 'data of a receive')
  end if
  call MPI_Recv(received, 1, MPI_INTEGER, MPI_PROC_NULL, 7, dup, MPI_STATUS_IGNORE, error)
  call MPI_Sendrecv(sent, 1, MPI_INTEGER, after, 8, received, 1, MPI_INTEGER, before, 8, dup, MPI_STATUS_IGNORE, error)
  call check(received(1, 1) == before, 'data of an exchange')

  ! One message after the other is waited for by another function.
  do index = 1, 3
    call MPI_Irecv(received(1, index), 100, MPI_INTEGER, before, index, dup, requests(index), error)
    call check(requests(index) /= MPI_REQUEST_NULL, 'a request that is pending')
  end do
  requests(4) = MPI_REQUEST_NULL
  is_ours = NUMBER(requests(1)) > int(z'2c000000') .and. NUMBER(requests(1)) < int(z'44000000')
  call MPI_Send(sent, 100, MPI_INTEGER, after, 2, dup, error)
  call MPI_Waitany(4, requests, index, one, error)
  ! The index is not looked at: MPICH 4.0 counts from 0 with mpi_f08.
  call check(requests(2) == MPI_REQUEST_NULL .and. SOURCE_OF(one) == before .and. TAG_OF(one) == 2, 'Waitany')
  call MPI_Barrier(dup, error)
  call MPI_Send(sent, 100, MPI_INTEGER, after, 1, dup, error)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, one, error)
  end do
  call check(requests(1) == MPI_REQUEST_NULL .and. TAG_OF(one) == 1, 'Test')
  call MPI_Isend(sent, 100, MPI_INTEGER, after, 3, dup, requests(1), error)
  call MPI_Waitall(4, requests, all, error)
#ifdef WITH_F08
  call MPI_Get_count(all(3), MPI_INTEGER, counted, error)
#else
  call MPI_Get_count(all(:, 3), MPI_INTEGER, counted, error)
#endif
  call check(counted == 100, 'Waitall')
  do index = 1, 4
    call check(requests(index) == MPI_REQUEST_NULL, 'a request that is complete')
  end do
  do index = 1, 3
    call check(all_are(received(:, index), before), 'data of a request')
  end do

  ! Persistent requests stay.
  call MPI_Send_init(sent, 100, MPI_INTEGER, after, 9, dup, requests(1), error)
  call MPI_Recv_init(received, 100, MPI_INTEGER, before, 9, dup, requests(2), error)
  do index = 1, 3
    call MPI_Startall(2, requests, error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  end do
  call check(requests(1) /= MPI_REQUEST_NULL .and. requests(2) /= MPI_REQUEST_NULL, 'a persistent request')
  call MPI_Request_free(requests(1), error)
  call MPI_Request_free(requests(2), error)
  call check(requests(1) == MPI_REQUEST_NULL .and. requests(2) == MPI_REQUEST_NULL, 'a free request')

  call MPI_Comm_free(dup, error)
  if (rank == 0 .and. is_ours) print '(a, i0)', 'ours among ', ranks
  if (rank == 0 .and. .not. is_ours) print '(a, i0)', 'beneath among ', ranks
  call MPI_Finalize(error)

contains

  logical function all_are(numbers, wanted)
    integer, intent(in) :: numbers(:), wanted
    all_are = count(numbers /= wanted) == 0
  end function

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print '(2a)', 'wrong: ', what
    stop 1
  end subroutine
end program
