/* SPDX-License-Identifier: BSD-3-Clause */
/* serial.c - xmp.h for other compilers, of C and C++: one node, and no answers of descriptors. */
#include <stdio.h>
#include <xmp.h>

static int a[8];
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
#pragma xmp align a[i] with t[i]

int main(void) {
  const double start = xmp_wtime();
  int sum = 0, size = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 0; i < 8; i++) sum += a[i] = i;
  xmp_barrier();
  const int status = xmp_array_lsize(xmp_desc_of(a), 1, &size);
  void *block = a;
  const int has_block = xmp_array_laddr(xmp_desc_of(a), &block) == 0;
  const int is_alone = xmp_all_num_nodes() == 1 && xmp_num_nodes() == xmp_num_images();
  if (is_alone && xmp_node_num() == 1 && xmp_all_node_num() == 1 && xmpc_this_image() == 0 &&
      xmpc_node_num() == 0 && xmpc_all_node_num() == 0 && xmp_test_async(1) == 1 &&
      xmp_wtime() >= start && xmp_wtick() > 0)
    printf("%d: %s, %d, %s\n", sum, status == XMP_FAILURE ? "none" : "some", size,
           has_block || block != NULL ? "block" : "no block");
  xmp_exit(3);
}
