/* SPDX-License-Identifier: BSD-3-Clause */
#include "coarrays.h"

#include <xmp.h>

int common[4]:[*];

void put_elsewhere(int image, int value) {
  common[2]:[image] = value;
}
