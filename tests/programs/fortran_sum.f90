! SPDX-License-Identifier: BSD-3-Clause
! fortran_sum.f90 - allocatable arrays, internal input and output, a module variable, an intrinsic.
module counters
  implicit none
  integer :: calls = 0
contains
  function norm(values) result(value)
    real(8), intent(in) :: values(:)
    real(8) :: value
    calls = calls + 1
    value = sqrt(dot_product(values, values))
  end function norm
end module counters

program fortran_sum
  use counters
  implicit none
  real(8), allocatable :: matrix(:, :), product(:, :)
  character(len=32) :: text
  integer :: i, j
  allocate (matrix(200, 200))
  do j = 1, 200
    do i = 1, 200
      matrix(i, j) = real(mod(i * j, 7), 8)
    end do
  end do
  product = matmul(matrix, transpose(matrix))
  write (text, '(f20.6)') norm(reshape(product, [size(product)]))
  print '(a, a, a, i0)', 'norm ', trim(adjustl(text)), ' calls ', calls
end program fortran_sum
