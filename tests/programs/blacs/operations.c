/* SPDX-License-Identifier: BSD-3-Clause */
#include "operations.h"

#include <string.h>

#include "../random_numbers.h"
#include "matrix.h"
#include "reference.h"

enum { kMessagesMost = 8, kItemOfOrigins = sizeof(int) };
enum salt { kSaltShape = 1, kSaltData, kSaltChoices };

/* ---- scopes -------------------------------------------------------------------------------- */

/* Processes of a row, a column, or the grid, as the BLACS number them. */
struct scope {
  char* letter;
  int size, own;
  uint64_t line; /* which row or column */
};

static struct scope draw_scope(uint64_t* random, const struct grid* grid) {
  static char* const letters[] = {"R", "row", "r", "C", "Column", "c", "A", "all", "a"};
  const uint32_t n = draw(random, 9);
  if (n < 3) return (struct scope){letters[n], grid->columns, grid->column, (uint64_t)grid->row};
  if (n < 6) return (struct scope){letters[n], grid->rows, grid->row, (uint64_t)grid->column};
  return (struct scope){letters[n], grid->rows * grid->columns, grid->members.own, 0};
}

static bool is_row(const struct scope* scope) {
  return scope->letter[0] == 'r' || scope->letter[0] == 'R';
}
static bool is_column(const struct scope* scope) {
  return scope->letter[0] == 'c' || scope->letter[0] == 'C';
}

/* Where process `number` of the caller's scope is. */
static void place_in(const struct scope* scope, const struct grid* grid, int number, int* row,
                     int* column) {
  *row = is_row(scope) ? grid->row : is_column(scope) ? number : number / grid->columns;
  *column = is_row(scope) ? number : is_column(scope) ? grid->column : number % grid->columns;
}

static void draw_topology(uint64_t* random, char* letter) {
  static const char letters[] = "  iIdDsSmM123456789tTfFhH";
  letter[0] = letters[draw(random, sizeof letters - 1)];
  letter[1] = '\0';
}

/* ---- messages of two ----------------------------------------------------------------------- */

struct message {
  const struct matrix_calls* send_calls;
  const struct matrix_calls* receive_calls;
  struct part part;
  int send_lda, receive_lda;
  uint64_t data;
};

static struct message plan_message(uint64_t seed, int from, int number, size_t bytes) {
  uint64_t random = mixed(mixed(seed, kSaltShape), (uint64_t)from << 8 | (uint64_t)number);
  const uint32_t type = draw(&random, kTypes);
  struct message message = {.send_calls = &matrix_calls[draw(&random, kLanguages)][type],
                            .receive_calls = &matrix_calls[draw(&random, kLanguages)][type]};
  const bool is_trapezoid = draw(&random, 2) == 0;
  message.part = draw_part(&random, is_trapezoid, message.send_calls->item_bytes, bytes);
  message.send_lda = draw_lda(&random, message.part.m);
  message.receive_lda = draw_lda(&random, message.part.m);
  message.data = random;
  return message;
}

static void send(const struct grid* grid, const struct message* message, int to) {
  const struct part* const part = &message->part;
  const struct matrix_calls* const calls = message->send_calls;
  struct matrix matrix = make_matrix(part, message->send_lda, calls->item_bytes);
  put_items(&matrix, message->data);
  const int row = to / grid->columns, column = to % grid->columns;
  char which[] = {part->which, 0}, diagonal[] = {part->diagonal, 0};
  if (part->is_trapezoid)
    calls->trsd2d(grid->context, which, diagonal, part->m, part->n, matrix.first, matrix.lda, row,
                  column);
  else
    calls->gesd2d(grid->context, part->m, part->n, matrix.first, matrix.lda, row, column);
  /* It is the sender's again. */
  memset(matrix.memory, 0x55, matrix.bytes);
  free_matrix(&matrix);
}

static void receive(const struct grid* grid, const struct message* message, int from) {
  const struct part* const part = &message->part;
  const struct matrix_calls* const calls = message->receive_calls;
  struct matrix got = make_matrix(part, message->receive_lda, calls->item_bytes);
  struct matrix wanted = make_matrix(part, message->receive_lda, calls->item_bytes);
  put_items(&wanted, message->data);
  const int row = from / grid->columns, column = from % grid->columns;
  char which[] = {part->which, 0}, diagonal[] = {part->diagonal, 0};
  if (part->is_trapezoid)
    calls->trrv2d(grid->context, which, diagonal, part->m, part->n, got.first, got.lda, row,
                  column);
  else
    calls->gerv2d(grid->context, part->m, part->n, got.first, got.lda, row, column);
  check_same(&got, &wanted);
  free_matrix(&got);
  free_matrix(&wanted);
}

/* The receiver of each sender: a permutation. */
static void draw_partners(uint64_t* random, const struct grid* grid, int* to) {
  const int count = grid->members.count;
  const int step = (int)draw(random, (uint32_t)count);
  for (int n = 0; n < count; ++n) to[n] = (n + step) % count;
  if (draw(random, 2) == 0) return; /* a ring; to oneself, if step is 0 */
  for (int n = count - 1; n > 0; --n) {
    const int other = (int)draw(random, (uint32_t)n + 1), kept = to[n];
    to[n] = to[other];
    to[other] = kept;
  }
}

void exchange(const struct grid* grid, uint64_t seed, size_t bytes) {
  uint64_t random = mixed(seed, kSaltChoices);
  const int own = grid->members.own, count = 1 + (int)draw(&random, kMessagesMost);
  const bool by_turns = draw(&random, 2) == 0;
  int to[kProcessesMost], from = 0;
  draw_partners(&random, grid, to);
  while (to[from] != own) ++from;
  for (int n = 0; n < count; ++n) {
    const struct message out = plan_message(seed, own, n, bytes);
    now_going_on("message %d of %d to process %d of %d x %d, seed %llu", n, count, to[own],
                 grid->rows, grid->columns, (unsigned long long)seed);
    send(grid, &out, to[own]);
    if (!by_turns) continue;
    const struct message in = plan_message(seed, from, n, bytes);
    receive(grid, &in, from);
  }
  for (int n = 0; n < count && !by_turns; ++n) {
    const struct message in = plan_message(seed, from, n, bytes);
    now_going_on("message %d of %d from process %d of %d x %d, seed %llu", n, count, from,
                 grid->rows, grid->columns, (unsigned long long)seed);
    receive(grid, &in, from);
  }
}

/* ---- broadcasts ---------------------------------------------------------------------------- */

static void send_to_scope(const struct grid* grid, const struct message* message,
                          const struct scope* scope, char* topology) {
  const struct part* const part = &message->part;
  const struct matrix_calls* const calls = message->send_calls;
  struct matrix matrix = make_matrix(part, message->send_lda, calls->item_bytes);
  struct matrix wanted = make_matrix(part, message->send_lda, calls->item_bytes);
  put_items(&matrix, message->data);
  put_items(&wanted, message->data);
  char which[] = {part->which, 0}, diagonal[] = {part->diagonal, 0};
  if (part->is_trapezoid)
    calls->trbs2d(grid->context, scope->letter, topology, which, diagonal, part->m, part->n,
                  matrix.first, matrix.lda);
  else
    calls->gebs2d(grid->context, scope->letter, topology, part->m, part->n, matrix.first,
                  matrix.lda);
  check_same(&matrix, &wanted);
  memset(matrix.memory, 0x55, matrix.bytes);
  free_matrix(&matrix);
  free_matrix(&wanted);
}

static void receive_in_scope(const struct grid* grid, const struct message* message,
                             const struct scope* scope, char* topology, int root) {
  const struct part* const part = &message->part;
  const struct matrix_calls* const calls = message->receive_calls;
  struct matrix got = make_matrix(part, message->receive_lda, calls->item_bytes);
  struct matrix wanted = make_matrix(part, message->receive_lda, calls->item_bytes);
  put_items(&wanted, message->data);
  int row, column;
  place_in(scope, grid, root, &row, &column);
  char which[] = {part->which, 0}, diagonal[] = {part->diagonal, 0};
  if (part->is_trapezoid)
    calls->trbr2d(grid->context, scope->letter, topology, which, diagonal, part->m, part->n,
                  got.first, got.lda, row, column);
  else
    calls->gebr2d(grid->context, scope->letter, topology, part->m, part->n, got.first, got.lda, row,
                  column);
  check_same(&got, &wanted);
  free_matrix(&got);
  free_matrix(&wanted);
}

void broadcast(const struct grid* grid, uint64_t seed, size_t bytes) {
  uint64_t random = mixed(seed, kSaltChoices);
  const struct scope scope = draw_scope(&random, grid);
  char topology[2];
  draw_topology(&random, topology);
  uint64_t line = mixed(seed, scope.line);
  const int root = (int)draw(&line, (uint32_t)scope.size);
  const struct message message = plan_message(mixed(seed, kSaltData), (int)scope.line, root, bytes);
  now_going_on("broadcast of %d, scope %s of %d x %d, topology '%s', seed %llu", root, scope.letter,
               grid->rows, grid->columns, topology, (unsigned long long)seed);
  if (root == scope.own)
    send_to_scope(grid, &message, &scope, topology);
  else
    receive_in_scope(grid, &message, &scope, topology, root);
}

/* ---- sums and extremes --------------------------------------------------------------------- */

struct combined {
  struct combine how;
  struct scope scope;
  char topology[2];
  int row, column; /* of the destination, as the BLACS are told */
  bool is_here;    /* the result */
  struct matrix items, rows, columns;
};

static void draw_destination(uint64_t* random, const struct grid* grid, struct combined* combined) {
  const uint32_t kind = draw(random, 6);
  const int first = (int)draw(random, (uint32_t)combined->scope.size);
  place_in(&combined->scope, grid, first, &combined->row, &combined->column);
  const bool is_for_all = kind < 3;
  if (kind == 0) combined->row = -1;
  if (kind == 1) combined->column = -1;
  if (kind == 2) combined->row = combined->column = -1;
  combined->how.first = is_for_all ? 0 : first;
  combined->is_here = is_for_all || first == combined->scope.own;
}

/* The caller's matrix. The arrays of origins stay full of canaries where nobody asks for them. */
static void make_matrices(struct combined* combined, const struct matrix_calls* calls,
                          const struct part* part, uint64_t* random) {
  combined->items = make_matrix(part, draw_lda(random, part->m), calls->item_bytes);
  const int ld = draw_lda(random, part->m);
  combined->rows = make_matrix(part, ld, kItemOfOrigins);
  combined->columns = make_matrix(part, ld, kItemOfOrigins);
  for (int column = 0; column < part->n; ++column)
    for (int row = 0; row < part->m; ++row)
      store_number(calls->type, number_of(&combined->how, combined->scope.own, row, column),
                   item_at(&combined->items, row, column));
}

static void call(const struct grid* grid, struct combined* combined,
                 const struct matrix_calls* calls) {
  const struct part* const part = &combined->items.part;
  char* const letter = combined->scope.letter;
  if (combined->how.what == kSum) {
    calls->gsum2d(grid->context, letter, combined->topology, part->m, part->n,
                  combined->items.first, combined->items.lda, combined->row, combined->column);
    return;
  }
  extreme* const function = combined->how.what == kGreatest ? calls->gamx2d : calls->gamn2d;
  function(grid->context, letter, combined->topology, part->m, part->n, combined->items.first,
           combined->items.lda, (int*)(void*)combined->rows.first,
           (int*)(void*)combined->columns.first,
           combined->how.has_origins ? combined->rows.lda : -1, combined->row, combined->column);
}

static void check(const struct grid* grid, const struct combined* combined) {
  const struct part* const part = &combined->items.part;
  struct matrix items = make_matrix(part, combined->items.lda, combined->items.item_bytes);
  struct matrix rows = make_matrix(part, combined->rows.lda, kItemOfOrigins);
  struct matrix columns = make_matrix(part, combined->rows.lda, kItemOfOrigins);
  for (int column = 0; column < part->n; ++column)
    for (int row = 0; row < part->m; ++row) {
      int process;
      const struct number number = result_of(&combined->how, row, column, &process);
      store_number(combined->how.type, number, item_at(&items, row, column));
      if (!combined->how.has_origins) continue;
      place_in(&combined->scope, grid, process, item_at(&rows, row, column),
               item_at(&columns, row, column));
    }
  check_same(&combined->items, &items);
  now_going_on("rows of origins");
  check_same(&combined->rows, &rows);
  now_going_on("columns of origins");
  check_same(&combined->columns, &columns);
  free_matrix(&items);
  free_matrix(&rows);
  free_matrix(&columns);
}

void combine(const struct grid* grid, uint64_t seed, size_t bytes) {
  uint64_t random = mixed(seed, kSaltChoices);
  struct combined combined = {.scope = draw_scope(&random, grid)};
  draw_topology(&random, combined.topology);
  const struct matrix_calls* const calls =
      &matrix_calls[draw(&random, kLanguages)][draw(&random, kTypes)];
  combined.how = (struct combine){.what = (enum combining)draw(&random, kCombinings),
                                  .type = calls->type,
                                  .seed = mixed(seed, kSaltData + combined.scope.line),
                                  .size = combined.scope.size};
  combined.how.has_origins = combined.how.what != kSum && draw(&random, 2) == 0;
  draw_destination(&random, grid, &combined);
  const struct part part = draw_part(&random, false, calls->item_bytes, bytes / 16);
  uint64_t own = mixed(random, (uint64_t)grid->members.own);
  make_matrices(&combined, calls, &part, &own);
  now_going_on("%s of %c, scope %s of %d x %d, topology '%s', to {%d,%d}, seed %llu",
               combined.how.what == kSum     ? "sum"
               : combined.how.what == kLeast ? "amn"
                                             : "amx",
               calls->type, combined.scope.letter, grid->rows, grid->columns, combined.topology,
               combined.row, combined.column, (unsigned long long)seed);
  call(grid, &combined, calls);
  if (combined.is_here) {
    check(grid, &combined);
  } else {
    check_surroundings(&combined.items);
    check_surroundings(&combined.rows);
    check_surroundings(&combined.columns);
  }
  free_matrix(&combined.items);
  free_matrix(&combined.rows);
  free_matrix(&combined.columns);
}

void barrier(const struct grid* grid, uint64_t seed) {
  uint64_t random = mixed(seed, kSaltChoices);
  const struct scope scope = draw_scope(&random, grid);
  now_going_on("barrier of scope %s", scope.letter);
  grid->calls->barrier(grid->context, scope.letter);
}
