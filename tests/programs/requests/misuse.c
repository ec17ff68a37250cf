/* SPDX-License-Identifier: BSD-3-Clause */
/* misuse.c - mistakes that a caller of `requests` makes. */
#include "requests.h"

static int write_error(nagaya_remote place, const void* from, size_t bytes) {
  uint32_t flag = 0;
  nagaya_llcl_transfer put = {place, (void*)from, bytes, nagaya_flag(&flag)};
  int error;
  while ((error = nagaya_llcl_try_write(&put)) == -EAGAIN) continue;
  return error != 0 ? error : nagaya_llcl_wait_flag(&flag, 20000);
}

static void lose(int64_t lost, int error) {
  EXPECT(lost == -1 && error == 0); /* no node is */
}

/* Each mistake is answered where it was made. */
void misuse(void) {
  static uint64_t words[16];
  uint64_t value = 1;
  nagaya_remote* const all = share(words, sizeof words);
  nagaya_remote place = all[(rank + 1) % size];
  EXPECT(write_error(place, &value, sizeof value) == 0);
  place.offset = sizeof words - 4;
  EXPECT(write_error(place, &value, sizeof value) == -EINVAL);
  place.offset = UINT64_MAX - 3;
  EXPECT(write_error(place, &value, sizeof value) == -EINVAL);
  place.offset = 0;
  EXPECT(write_error(place, words, SIZE_MAX) == -EINVAL);
  EXPECT(write_error(place, words, (size_t)1 << 40) == -EINVAL);
  EXPECT(write_error(place, NULL, 8) == -EINVAL);
  place.region ^= 1 << 16;
  EXPECT(write_error(place, &value, sizeof value) == -EINVAL);
  place = all[(rank + 1) % size];
  place.process.node = 1000;
  EXPECT(write_error(place, &value, sizeof value) == -EINVAL);
  place = all[(rank + 1) % size];
  place.process.task = 100000;
  EXPECT(write_error(place, &value, sizeof value) == -EINVAL);

  EXPECT(nagaya_llcl_try_write(NULL) == -EINVAL);
  nagaya_remote none;
  EXPECT(nagaya_llcl_register(NULL, 8, &none) == -EINVAL);
  EXPECT(nagaya_llcl_register(words, 0, &none) == -EINVAL);
  EXPECT(nagaya_llcl_handle(256, hear, NULL) == -EINVAL);
  EXPECT(nagaya_llcl_handle(1, NULL, NULL) == -EINVAL);
  EXPECT(nagaya_comm_process(size, &right) == -EINVAL &&
         nagaya_comm_process(-1, &right) == -EINVAL);
  EXPECT(nagaya_comm_watch_nodes(NULL) == -EINVAL);
  for (int n = 0; n < 4; ++n) EXPECT(nagaya_comm_watch_nodes(lose) == 0);
  EXPECT(nagaya_comm_watch_nodes(lose) == -ENOSPC);
  nagaya_comm_unwatch_nodes(lose);
  EXPECT(nagaya_comm_watch_nodes(lose) == 0);
  EXPECT(nagaya_llcl_pointer(&place, 8) == NULL);
  nagaya_llcl_atomic add = {.remote = all[rank], .operation = NAGAYA_XOR, .type = NAGAYA_DOUBLE};
  EXPECT(nagaya_llcl_try_atomic(&add) == -EINVAL);
  add.type = NAGAYA_UINT64;
  add.remote.offset = 4;
  EXPECT(nagaya_llcl_try_atomic(&add) == -EINVAL);
  EXPECT(nagaya_comm_barrier() == 0);
  EXPECT(nagaya_llcl_deregister(&all[rank]) == 0);
  EXPECT(nagaya_llcl_deregister(&all[rank]) == -EINVAL);
  EXPECT(nagaya_comm_barrier() == 0);
  EXPECT(write_error(all[(rank + 1) % size], &value, sizeof value) == -EINVAL);
  EXPECT(nagaya_comm_barrier() == 0);
}

static int notify_error(nagaya_remote place, nagaya_remote counter) {
  static uint64_t value;
  uint32_t flag = 0;
  nagaya_llcl_transfer put = {place, &value, sizeof value, nagaya_flag(&flag)};
  int error;
  while ((error = nagaya_llcl_try_write_notify(&put, &counter)) == -EAGAIN) continue;
  return error != 0 ? error : nagaya_llcl_wait_flag(&flag, 20000);
}

static int piece_error(nagaya_remote place, nagaya_llcl_piece piece) {
  uint32_t flags[2] = {0, 0};
  nagaya_llcl_pieces what = {place, &piece, 1, nagaya_flag(&flags[0])};
  int errors[2];
  while ((errors[0] = nagaya_llcl_try_write_pieces(&what)) == -EAGAIN) continue;
  if (errors[0] == 0) errors[0] = nagaya_llcl_wait_flag(&flags[0], 20000);
  what.on_complete = nagaya_flag(&flags[1]);
  while ((errors[1] = nagaya_llcl_try_read_pieces(&what)) == -EAGAIN) continue;
  if (errors[1] == 0) errors[1] = nagaya_llcl_wait_flag(&flags[1], 20000);
  EXPECT(errors[0] == errors[1]);
  return errors[0];
}

void misuse_of_pieces_and_notifications(void) {
  static uint64_t words[16];
  static unsigned char own[64];
  nagaya_remote* const all = share(words, sizeof words);
  const nagaya_remote place = all[(rank + 1) % size];
  nagaya_remote counter = place;
  EXPECT(notify_error(place, counter) == 0);
  counter.offset = sizeof words;
  EXPECT(notify_error(place, counter) == -EINVAL);
  counter.offset = 4;
  EXPECT(notify_error(place, counter) == -EINVAL);
  counter = place;
  counter.process.task += 1;
  EXPECT(notify_error(place, counter) == -EINVAL);
  counter = place;
  counter.region ^= 1 << 16;
  EXPECT(notify_error(place, counter) == -EINVAL);
  nagaya_llcl_transfer put = {place, words, 8, {0, NULL, NULL}};
  EXPECT(nagaya_llcl_try_write_notify(&put, NULL) == -EINVAL);

  const nagaya_llcl_piece wrong[] = {{own, sizeof words, 1, 1, 0, 0},
                                     {own, 0, 8, 17, 0, 8},
                                     {own, 0, 8, 2, 8, -8},
                                     {own, UINT64_MAX, 8, 1, 0, 0},
                                     {own, 0, UINT64_MAX, 1, 0, 0},
                                     {own, 0, 8, UINT64_MAX, 8, 8},
                                     {own, 0, 8, 3, INT64_MAX, 8},
                                     {own, 0, 8, 3, 8, INT64_MIN},
                                     {own, 0, 8, 1ull << 62, 8, 1 << 10},
                                     {NULL, 0, 8, 1, 0, 0}};
  for (size_t n = 0; n < sizeof wrong / sizeof *wrong; ++n)
    EXPECT(piece_error(place, wrong[n]) == -EINVAL);
  EXPECT(piece_error(place, (nagaya_llcl_piece){own, 0, 8, 2, 8, 120}) == 0);
  nagaya_remote behind = place;
  behind.offset = 8;
  EXPECT(piece_error(behind, (nagaya_llcl_piece){own, 0, 8, 2, 8, 120}) == -EINVAL);
  behind.offset = UINT64_MAX;
  EXPECT(piece_error(behind, (nagaya_llcl_piece){own, 1, 8, 1, 0, 0}) == -EINVAL);
  EXPECT(nagaya_llcl_try_write_pieces(NULL) == -EINVAL);
  nagaya_llcl_pieces none = {place, NULL, 1, {0, NULL, NULL}};
  EXPECT(nagaya_llcl_try_write_pieces(&none) == -EINVAL);
  none.count = 0;
  ACCEPTED(nagaya_llcl_try_write_pieces(&none));

  nagaya_llcl_prepared request;
  EXPECT(nagaya_llcl_prepare_write(NULL, &request) == -EINVAL);
  EXPECT(nagaya_llcl_prepare_write(&put, NULL) == -EINVAL);
  EXPECT(nagaya_llcl_prepare_write_notify(&put, NULL, &request) == -EINVAL);
  put.on_complete.kind = 77;
  EXPECT(nagaya_llcl_prepare_read(&put, &request) == -EINVAL);
  EXPECT(nagaya_comm_barrier() == 0);
}
