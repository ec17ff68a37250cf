/* SPDX-License-Identifier: BSD-3-Clause */
/* requests ACT - the promises of nagaya/llcl.h, one an act; run by every process of a job.
 * Prints nothing unless something is wrong. */
#include <nagaya/task.h>
#include <string.h>
#include <unistd.h>

#include "requests.h"

/* ---- shared by all acts ------------------------------------------------------------------ */

int64_t rank, size;
nagaya_process right;

nagaya_remote* share(void* base, size_t bytes) {
  nagaya_remote own, *all = calloc((size_t)size, sizeof own);
  EXPECT(nagaya_llcl_register(base, bytes, &own) == 0);
  EXPECT(nagaya_comm_allgather(&own, sizeof own, all) == 0);
  return all;
}

int64_t left_rank(void) {
  return (rank + size - 1) % size;
}

void fill(unsigned char* memory, size_t bytes, int64_t writer, int round) {
  for (size_t at = 0; at < bytes; ++at) memory[at] = (unsigned char)(at * 5 + writer * 31 + round);
}

int is_filled(const unsigned char* memory, size_t bytes, int64_t writer, int round) {
  for (size_t at = 0; at < bytes; ++at)
    if (memory[at] != (unsigned char)(at * 5 + writer * 31 + round)) return 0;
  return 1;
}

void count_up(void* data, int error) {
  EXPECT(error == 0);
  __atomic_fetch_add((int*)data, 1, __ATOMIC_RELEASE);
}

/* ---- acts that concern all processes ----------------------------------------------------- */

void every_allgather(void) {
  const size_t sizes[] = {0, 1, 8, 255, 256, 257, 5000};
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
    unsigned char* const own = malloc(sizes[n] + 1);
    unsigned char* const all = malloc(sizes[n] * (size_t)size + 1);
    for (size_t at = 0; at < sizes[n]; ++at) own[at] = (unsigned char)(at + (size_t)rank * 31);
    EXPECT(nagaya_comm_allgather(own, sizes[n], all) == 0);
    for (int64_t from = 0; from < size; ++from)
      for (size_t at = 0; at < sizes[n]; ++at)
        EXPECT(all[(size_t)from * sizes[n] + at] == (unsigned char)(at + (size_t)from * 31));
    free(own);
    free(all);
  }
  for (int n = 0; n < 1000; ++n) EXPECT(nagaya_comm_barrier() == 0);
}

/* Somebody cuts a link meanwhile: nobody may wait for ever. */
void until_a_node_is_lost(void) {
  printf("ready\n");
  fflush(stdout);
  int error;
  while ((error = nagaya_comm_barrier()) == 0) continue;
  /* Not to stdout: the job's starter may have lost that host's output, too. */
  char host[64], name[128];
  gethostname(host, sizeof host);
  snprintf(name, sizeof name, "lost.%s.%d", host, (int)rank);
  FILE* const file = fopen(name, "w");
  EXPECT(file != NULL);
  fputs(error == -EHOSTUNREACH || error == -ECONNRESET ? "unreachable" : "?", file);
  fclose(file);
  for (;;) pause(); /* mpirun of Open MPI 5 ends the others when one leaves */
}

/* ---- beginning and end ------------------------------------------------------------------- */

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*act)(void);
  } acts[] = {
      {"spinning_on_a_callback", spinning_on_a_callback},
      {"every_size", every_size},
      {"atomics_of_many_threads", atomics_of_many_threads},
      {"every_operation", every_operation},
      {"messages", messages},
      {"all_flood_all_and_every_handler_answers", all_flood_all_and_every_handler_answers},
      {"answers_to_a_deaf_process_have_an_end", answers_to_a_deaf_process_have_an_end},
      {"a_message_to_a_handler_that_nobody_has_named",
       a_message_to_a_handler_that_nobody_has_named},
      {"notified_writes", notified_writes},
      {"every_piece", every_piece},
      {"fences", fences},
      {"prepared_requests", prepared_requests},
      {"prepared_atomics", prepared_atomics},
      {"words", words},
      {"accumulates", accumulates},
      {"accumulates_to_any_process", accumulates_to_any_process},
      {"a_thread_ends_before_its_requests", a_thread_ends_before_its_requests},
      {"threads_ask_for_the_last_time_as_they_end", threads_ask_for_the_last_time_as_they_end},
      {"more_threads_than_lanes", more_threads_than_lanes},
      {"a_forked_child_ends_before_the_requests", a_forked_child_ends_before_the_requests},
      {"a_process_ends_before_its_requests", a_process_ends_before_its_requests},
      {"no_thread_for_a_handler", no_thread_for_a_handler},
      {"misuse", misuse},
      {"misuse_of_pieces_and_notifications", misuse_of_pieces_and_notifications},
      {"every_allgather", every_allgather},
      {"wild_pointer", wild_pointer},
      {"until_a_node_is_lost", until_a_node_is_lost}};
  EXPECT(nagaya_comm_size() == -ESRCH && nagaya_comm_barrier() == -ESRCH);
  const int error = nagaya_comm_init();
  if (error != 0) fprintf(stderr, "nagaya_comm_init: %s\n", nagaya_error_text());
  EXPECT(error == 0 && nagaya_comm_init() == 0);
  rank = nagaya_comm_rank();
  size = nagaya_comm_size();
  EXPECT(nagaya_comm_process((rank + 1) % size, &right) == 0);
  for (size_t n = 0; n < sizeof acts / sizeof *acts; ++n)
    if (argc > 1 && strcmp(argv[1], acts[n].name) == 0) {
      acts[n].act();
      EXPECT(nagaya_comm_finalize() == 0 && nagaya_comm_size() == size); /* one of two */
      EXPECT(nagaya_comm_finalize() == 0);
      EXPECT(nagaya_comm_size() == -ESRCH && nagaya_comm_finalize() == -ESRCH);
      return 0;
    }
  fprintf(stderr, "no such act\n");
  return 2;
}
