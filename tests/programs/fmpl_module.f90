! SPDX-License-Identifier: BSD-3-Clause
! fmpl_module.f90 - a Fortran program that uses the module `fmpl`.
subroutine multiply(in, inout, count)
  implicit none
  integer, intent(in) :: count
  real, intent(in) :: in(count)
  real, intent(inout) :: inout(count)
  inout = inout * in
end subroutine

program fmpl_module
  use fmpl
  implicit none
  external :: multiply
  integer(8), asynchronous :: ma(FMPL_AREA_WORDS, 8), fa(8), request(FMPL_REQUEST_WORDS)
  integer(8), asynchronous :: prepared_send(FMPL_REQUEST_WORDS)
  integer :: ier, rank, size, next, previous, n, comm
  double precision :: out(1000), in(1000), work(1000)
  real :: factor(2), more_work(2)

  call fmpl_rank(FMPL_COMM_WORLD, rank, ier)
  call require(ier == FMPL_ERR_INIT, 'fmpl_rank before fmpl_init')
  call fmpl_init(ma, fa, 8, ier)
  call fmpl_rank(FMPL_COMM_WORLD, rank, ier)
  call fmpl_size(FMPL_COMM_WORLD, size, ier)
  next = mod(rank + 1, size)
  previous = mod(rank + size - 1, size)
  out = [(rank * 1000d0 + n, n = 1, 1000)]
  call fmpl_irecv(in, 8000, previous, 3, request, ier)
  call fmpl_send(out, 8000, next, 3, ier)
  call require(ier == FMPL_SUCCESS, 'fmpl_send')
  call fmpl_wait_irecv(request, ier)
  call require(all(nint(in) == [(previous * 1000 + n, n = 1, 1000)]), 'what came')

  call fmpl_irecv_prepare(in, 8000, previous, 4, request, ier)
  call fmpl_isend_prepare(work, 8000, next, 4, prepared_send, ier)
  do n = 1, 10
    work = rank * 10 + n
    call fmpl_irecv_start(request, ier)
    call fmpl_isend_start(prepared_send, ier)
    call fmpl_wait_irecv(request, ier)
    call require(all(nint(in) == previous * 10 + n), 'what came in a prepared message')
    call fmpl_wait_isend(prepared_send, ier)
  end do
  call fmpl_irecv_release(request, ier)
  call require(ier == FMPL_SUCCESS, 'fmpl_irecv_release')

  call fmpl_allreduce(out, 1000, fmpl_dsum, FMPL_COMM_WORLD, work, ier)
  call require(all(nint(out) == [(size * (size - 1) / 2 * 1000 + size * n, n = 1, 1000)]), 'the sum')
  factor = [2.0, rank + 1.0]
  call fmpl_func_set(multiply, 4, ier)
  call fmpl_reduce(factor, 2, multiply, 0, FMPL_COMM_WORLD, more_work, ier)
  if (rank == 0) call require(nint(factor(1)) == 2**size, 'the product')

  call fmpl_comm_create(comm, mod(rank, 2), ier)
  in = rank
  call fmpl_bcast(in, 8000, 0, comm, ier)
  call require(all(nint(in) == mod(rank, 2)), 'a broadcast')
  call fmpl_comm_free(comm, ier)
  call fmpl_send(out, 8, size, 0, ier)
  call require(ier == FMPL_ERR_ARGUMENT, 'a rank that does not exist')
  call fmpl_send(out, -8, next, 0, ier)
  call require(ier == FMPL_ERR_ARGUMENT, 'a message of a negative size')
  call fmpl_sendbuff_set(work, -8, 0, ier)
  call require(ier == FMPL_ERR_ARGUMENT, 'a spool of a negative size')
  call fmpl_barrier(FMPL_COMM_WORLD, ier)
  if (rank == 0) print '(a,i0)', 'Fortran among ', size
  call fmpl_finalize(ier)

contains
  subroutine require(is_so, what)
    logical, intent(in) :: is_so
    character(*), intent(in) :: what
    if (is_so) return
    write (0, *) 'rank', rank, ': wrong: ', what
    stop 1
  end subroutine
end program
