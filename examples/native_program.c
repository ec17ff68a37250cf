/* SPDX-License-Identifier: BSD-3-Clause */
/* native_program.c - tasks that read and write each other's memory through plain pointers.
 *
 *   cc native_program.c $(pkg-config --cflags --libs nagaya) -o native_program
 *   nagaya run -n 4 ./native_program
 *
 * Every task has a row of numbers of its own (an ordinary global variable). Each adds up the rows
 * of all tasks by plain loads, then tells its right neighbour by a plain store. */
#include <nagaya/task.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { COLUMNS = 1000, LIMIT_MS = 10000 };

static double row[COLUMNS];
static atomic_int told_by_left = -1;
static atomic_int readers; /* tasks that have finished reading this row */

static int complain(const char* what, int code) {
  fprintf(stderr, "%s: %s\n", what, nagaya_strerror(code));
  return 1;
}

static double sum_of(const double* numbers) {
  double sum = 0;
  for (int n = 0; n < COLUMNS; ++n) sum += numbers[n];
  return sum;
}

/* Waits until `word` has the value; the other task needs the processor for it. */
static void await(atomic_int* word, int value) {
  const struct timespec pause = {0, 100000};
  while (atomic_load_explicit(word, memory_order_acquire) != value) nanosleep(&pause, NULL);
}

int main(void) {
  const int self = nagaya_task_self();
  if (self < 0) return complain("native_program", self);
  const int tasks = nagaya_task_count();

  for (int n = 0; n < COLUMNS; ++n) row[n] = self + 1;
  nagaya_task_publish("row", row); /* a task that finds it sees the numbers */
  nagaya_task_publish("told_by_left", &told_by_left);
  nagaya_task_publish("readers", &readers);

  double total = 0;
  for (int task = 0; task < tasks; ++task) {
    void *theirs, *their_readers;
    int error = nagaya_task_lookup(task, "row", LIMIT_MS, &theirs);
    if (error == 0) error = nagaya_task_lookup(task, "readers", LIMIT_MS, &their_readers);
    if (error < 0) return complain("lookup", error);
    total += sum_of(theirs);
    atomic_fetch_add_explicit((atomic_int*)their_readers, 1, memory_order_release);
  }

  void* right;
  const int error = nagaya_task_lookup((self + 1) % tasks, "told_by_left", LIMIT_MS, &right);
  if (error < 0) return complain("lookup", error);
  atomic_store_explicit((atomic_int*)right, self, memory_order_release);

  await(&told_by_left, (self + tasks - 1) % tasks);
  await(&readers, tasks); /* this row must stay until all have read it */
  printf("task %d of %d: the sum over all rows is %.0f, my left neighbour is %d\n", self, tasks,
         total, atomic_load(&told_by_left));
  return total == COLUMNS * tasks * (tasks + 1) / 2.0 ? 0 : 1;
}
