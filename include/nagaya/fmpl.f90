! SPDX-License-Identifier: BSD-3-Clause
! fmpl.f90 - the module `fmpl`: constants and interfaces of the plain calls, which nagaya/fmpl.h
! describes. Compile it with the program's own compiler, before the program:
!
!   gfortran -c PREFIX/include/nagaya/fmpl.f90
!   gfortran program.f90 fmpl.o $(pkg-config --libs nagaya) -lnagaya-fmpl
!
! Buffers are arrays or, with gfortran, also single variables. Sizes are default integers: a message
! is shorter than 2 GiB.
module fmpl
  implicit none
  integer, parameter :: FMPL_SUCCESS = 0, FMPL_ERR_INIT = 1, FMPL_ERR_ARGUMENT = 2, &
    FMPL_ERR_TRUNCATE = 3, FMPL_ERR_INDEX = 4, FMPL_ERR_SPOOL = 5, FMPL_ERR_MEMORY = 6, &
    FMPL_ERR_CANCEL = 7, FMPL_ERR_NETWORK = 8
  integer, parameter :: FMPL_COMM_WORLD = 0, FMPL_COMM_NULL = -1
  integer, parameter :: FMPL_AREA_WORDS = 8, FMPL_REQUEST_WORDS = 48

  interface
    subroutine fmpl_init(ma, fa, count, ier)
      import FMPL_AREA_WORDS
      integer, intent(in) :: count
      integer(8), asynchronous :: ma(FMPL_AREA_WORDS, count), fa(count)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_finalize(ier)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_send(buf, size, dst, mai, ier)
      type(*), dimension(*), intent(in) :: buf
!GCC$ attributes no_arg_check :: buf
      integer, intent(in) :: size, dst, mai
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_recv(buf, size, src, mai, ier)
      type(*), dimension(*) :: buf
!GCC$ attributes no_arg_check :: buf
      integer, intent(in) :: size, src, mai
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_isend(buf, size, dst, mai, request, ier)
      import FMPL_REQUEST_WORDS
      type(*), dimension(*), intent(in), asynchronous :: buf
!GCC$ attributes no_arg_check :: buf
      integer, intent(in) :: size, dst, mai
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_irecv(buf, size, src, mai, request, ier)
      import FMPL_REQUEST_WORDS
      type(*), dimension(*), asynchronous :: buf
!GCC$ attributes no_arg_check :: buf
      integer, intent(in) :: size, src, mai
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_isend_prepare(buf, size, dst, mai, request, ier)
      import FMPL_REQUEST_WORDS
      type(*), dimension(*), intent(in), asynchronous :: buf
!GCC$ attributes no_arg_check :: buf
      integer, intent(in) :: size, dst, mai
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_irecv_prepare(buf, size, src, mai, request, ier)
      import FMPL_REQUEST_WORDS
      type(*), dimension(*), asynchronous :: buf
!GCC$ attributes no_arg_check :: buf
      integer, intent(in) :: size, src, mai
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_isend_start(request, ier)
      import FMPL_REQUEST_WORDS
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_irecv_start(request, ier)
      import FMPL_REQUEST_WORDS
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_irecv_release(request, ier)
      import FMPL_REQUEST_WORDS
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_wait_isend(request, ier)
      import FMPL_REQUEST_WORDS
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_wait_irecv(request, ier)
      import FMPL_REQUEST_WORDS
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_test_isend(request, flag, ier)
      import FMPL_REQUEST_WORDS
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: flag, ier
    end subroutine
    subroutine fmpl_test_irecv(request, flag, ier)
      import FMPL_REQUEST_WORDS
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: flag, ier
    end subroutine
    subroutine fmpl_cancel_irecv(request, ier)
      import FMPL_REQUEST_WORDS
      integer(8), asynchronous :: request(FMPL_REQUEST_WORDS)
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_sendbuff_set(buf, size, ipara, ier)
      type(*), dimension(*), asynchronous :: buf
!GCC$ attributes no_arg_check :: buf
      integer, intent(in) :: size, ipara
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_sendbuff_check(nsend, nspool, ier)
      integer, intent(out) :: nsend, nspool, ier
    end subroutine
    subroutine fmpl_comm_create(comm, key, ier)
      integer, intent(out) :: comm, ier
      integer, intent(in) :: key
    end subroutine
    subroutine fmpl_comm_free(comm, ier)
      integer, intent(inout) :: comm
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_support_set(comm, support, ier)
      integer, intent(in) :: comm, support
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_rank(comm, rank, ier)
      integer, intent(in) :: comm
      integer, intent(out) :: rank, ier
    end subroutine
    subroutine fmpl_size(comm, size, ier)
      integer, intent(in) :: comm
      integer, intent(out) :: size, ier
    end subroutine
    subroutine fmpl_barrier(comm, ier)
      integer, intent(in) :: comm
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_bcast(buf, size, root, comm, ier)
      type(*), dimension(*) :: buf
!GCC$ attributes no_arg_check :: buf
      integer, intent(in) :: size, root, comm
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_hbcast(buf, size, root, ier)
      type(*), dimension(*) :: buf
!GCC$ attributes no_arg_check :: buf
      integer, intent(in) :: size, root
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_func_set(func, size, ier)
      external :: func
      integer, intent(in) :: size
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_reduce(buf, count, func, root, comm, work, ier)
      type(*), dimension(*) :: buf, work
!GCC$ attributes no_arg_check :: buf, work
      integer, intent(in) :: count, root, comm
      external :: func
      integer, intent(out) :: ier
    end subroutine
    subroutine fmpl_allreduce(buf, count, func, comm, work, ier)
      type(*), dimension(*) :: buf, work
!GCC$ attributes no_arg_check :: buf, work
      integer, intent(in) :: count, comm
      external :: func
      integer, intent(out) :: ier
    end subroutine
  end interface

  external :: fmpl_isum, fmpl_ssum, fmpl_dsum, fmpl_csum, fmpl_zsum
  external :: fmpl_imax, fmpl_smax, fmpl_dmax, fmpl_cmax, fmpl_zmax
  external :: fmpl_imin, fmpl_smin, fmpl_dmin, fmpl_cmin, fmpl_zmin
end module fmpl
