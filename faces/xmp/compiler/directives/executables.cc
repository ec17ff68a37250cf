// SPDX-License-Identifier: BSD-3-Clause
#include "directives/executables.h"

#include <algorithm>
#include <map>

namespace nagaya::xmp {
namespace {

const std::map<std::string, ReductionOperation> kOperations = {
    {"+", ReductionOperation::kSum},
    {"*", ReductionOperation::kProduct},
    {"&", ReductionOperation::kBitAnd},
    {"|", ReductionOperation::kBitOr},
    {"^", ReductionOperation::kBitXor},
    {"&&", ReductionOperation::kAnd},
    {"||", ReductionOperation::kOr},
    {"^^", ReductionOperation::kXor},
    {"max", ReductionOperation::kMax},
    {"min", ReductionOperation::kMin},
    {"MAX", ReductionOperation::kMax},
    {"MIN", ReductionOperation::kMin},
    {"firstmax", ReductionOperation::kFirstMax},
    {"firstmin", ReductionOperation::kFirstMin},
    {"lastmax", ReductionOperation::kLastMax},
    {"lastmin", ReductionOperation::kLastMin},
};

// Parses a reduction's operation. `in_loop`: `-` is allowed and means a sum, of the values that the
// nodes subtract.
ReductionOperation parse_operation(Cursor& cursor, bool in_loop) {
  const Place place = cursor.place();
  if (cursor.is("^") && cursor.is("^", 1)) {
    cursor.accept("^");
    cursor.accept("^");
    return ReductionOperation::kXor;
  }
  for (const auto& [word, operation] : kOperations)
    if (cursor.accept(word.c_str())) return operation;
  if (cursor.accept("-")) {
    if (in_loop) return ReductionOperation::kSum;
    throw Complaint{place, "the operation '-' is for the clause of a loop; write '+'"};
  }
  if (cursor.at_end()) cursor.complain("expected the operation of the reduction");
  cursor.complain("unknown operation '" + cursor.next_text() + "' of the reduction");
}

// Parses `(operation : variable [/ location, .../], ...)`.
ReductionClause parse_reduction_clause(Cursor& cursor, bool in_loop) {
  ReductionClause clause;
  cursor.expect("(", "after 'reduction'");
  clause.place = cursor.place();
  clause.operation = parse_operation(cursor, in_loop);
  cursor.expect(":", "after the operation");
  do {
    ReductionVariable variable{cursor.data_reference(), {}};
    if (cursor.accept("/")) {
      cursor.list([&] { variable.locations.push_back(cursor.data_reference()); });
      cursor.expect("/", "after the location variables");
    }
    clause.variables.push_back(std::move(variable));
  } while (cursor.accept(","));
  cursor.expect(")", "after the variables of the reduction");
  return clause;
}

// Parses a directive's clauses in any order; a clause that stands twice is an error.
class Clauses {
 public:
  explicit Clauses(Cursor& cursor) : cursor_(cursor) {}

  bool accept(const char* word, bool present) {
    const Place place = cursor_.place();
    if (!cursor_.accept(word)) return false;
    if (present) throw Complaint{place, "the clause '" + std::string(word) + "' stands twice"};
    return true;
  }
  bool accept_on(std::optional<Reference>& on, const char* word = "on") {
    if (!accept(word, on.has_value())) return false;
    on = cursor_.reference();
    return true;
  }
  bool accept_async(std::optional<Expression>& async) {
    if (!accept("async", async.has_value())) return false;
    async = cursor_.async_number();
    return true;
  }

 private:
  Cursor& cursor_;
};

// Accepts `word` between slashes.
bool accept_modifier(Cursor& cursor, const char* word) {
  if (!cursor.accept("/")) return false;
  cursor.expect(word, "between the slashes");
  cursor.expect("/", "after '" + std::string(word) + "'");
  return true;
}

ExpandWidth parse_expand_width(Cursor& cursor) {
  ExpandWidth width;
  width.place = cursor.place();
  width.unbound = accept_modifier(cursor, "unbound");
  width.low = cursor.expression();
  if (cursor.accept(":")) width.high = cursor.expression();
  return width;
}

// Parses expand, margin or peel_and_wait of a loop; returns false if none stands here.
bool accept_expansion(Cursor& cursor, LoopDirective& loop) {
  ExpandClause clause{ExpandClause::kExpand, cursor.place(), {}, {}};
  const std::string word = cursor.name() != nullptr ? cursor.name()->text : "";
  if (word == "margin")
    clause.kind = ExpandClause::kMargin;
  else if (word == "peel_and_wait")
    clause.kind = ExpandClause::kPeelAndWait;
  else if (word != "expand")
    return false;
  if (loop.expansion)
    cursor.complain("a loop has one of the clauses expand, margin and peel_and_wait");
  cursor.accept(word.c_str());
  cursor.expect("(", "after '" + word + "'");
  if (clause.kind == ExpandClause::kPeelAndWait) {
    clause.async = cursor.expression();
    cursor.expect(",", "and widths after the number of 'peel_and_wait'");
  }
  cursor.list([&] { clause.widths.push_back(parse_expand_width(cursor)); });
  cursor.expect(")", "after the widths");
  if (!loop.on.brackets) std::ranges::reverse(clause.widths);
  loop.expansion = std::move(clause);
  return true;
}

void refuse_unsupported(Cursor& cursor, const char* directive) {
  for (const char* word : {"profile", "acc", "in", "out"})
    if (cursor.is(word))
      cursor.complain("the clause '" + std::string(word) + "' of '" + directive +
                      "' is not supported yet");
}

ReflectWidth parse_reflect_width(Cursor& cursor) {
  ReflectWidth width;
  width.place = cursor.place();
  width.periodic = accept_modifier(cursor, "periodic");
  width.low = cursor.expression();
  if (cursor.accept(":")) width.high = cursor.expression();
  return width;
}

}  // namespace

LoopDirective parse_loop(Cursor& cursor) {
  LoopDirective loop;
  const auto index = [&] { loop.indexes.push_back(cursor.identifier("the index of a loop")); };
  if (cursor.accept("(")) {
    cursor.list(index);
    cursor.expect(")", "after the indexes of the loops");
  } else if (cursor.accept("[")) {
    cursor.list(index);
    cursor.expect("]", "after the index");
    while (cursor.accept("[")) {
      index();
      cursor.expect("]", "after the index");
    }
  }
  cursor.expect("on", "and nodes or a template in 'loop'");
  loop.on = cursor.reference();
  while (true) {
    refuse_unsupported(cursor, "loop");
    if (accept_expansion(cursor, loop)) continue;
    if (!cursor.accept("reduction")) break;
    loop.reductions.push_back(parse_reduction_clause(cursor, true));
  }
  return loop;
}

TaskDirective parse_task(Cursor& cursor) {
  TaskDirective task;
  cursor.expect("on", "and nodes or a template in 'task'");
  task.on = cursor.reference();
  task.nocomm = cursor.accept("nocomm");
  return task;
}

GmoveDirective parse_gmove(Cursor& cursor) {
  GmoveDirective gmove;
  Clauses clauses(cursor);
  while (true) {
    const bool has_mode = gmove.mode != GmoveDirective::kCollective;
    if (clauses.accept("in", has_mode))
      gmove.mode = GmoveDirective::kIn;
    else if (clauses.accept("out", has_mode))
      gmove.mode = GmoveDirective::kOut;
    else if (!clauses.accept_async(gmove.async))
      return gmove;
  }
}

ReflectDirective parse_reflect(Cursor& cursor) {
  ReflectDirective reflect;
  const std::string name = "the name of an array";
  cursor.parenthesised_list("before " + name, "after " + name,
                            [&] { reflect.arrays.push_back(cursor.identifier(name)); });
  Clauses clauses(cursor);
  while (true) {
    if (clauses.accept("width", !reflect.widths.empty())) {
      cursor.parenthesised_list("after 'width'", "after the widths",
                                [&] { reflect.widths.push_back(parse_reflect_width(cursor)); });
    } else if (clauses.accept("orthogonal", reflect.orthogonal)) {
      reflect.orthogonal = true;
    } else if (!clauses.accept_async(reflect.async)) {
      return reflect;
    }
  }
}

ReduceShadowDirective parse_reduce_shadow(Cursor& cursor) {
  return {parse_reflect(cursor)};
}

WaitAsyncDirective parse_wait_async(Cursor& cursor) {
  WaitAsyncDirective wait;
  cursor.parenthesised_list("after 'wait_async'", "after the numbers of 'wait_async'",
                            [&] { wait.numbers.push_back(cursor.expression()); });
  Clauses(cursor).accept_on(wait.on);
  return wait;
}

BarrierDirective parse_barrier(Cursor& cursor) {
  BarrierDirective barrier;
  Clauses(cursor).accept_on(barrier.on);
  return barrier;
}

BcastDirective parse_bcast(Cursor& cursor) {
  BcastDirective bcast;
  cursor.parenthesised_list("after 'bcast'", "after the variables of 'bcast'",
                            [&] { bcast.variables.push_back(cursor.data_reference()); });
  Clauses clauses(cursor);
  while (clauses.accept_on(bcast.from, "from") || clauses.accept_on(bcast.on) ||
         clauses.accept_async(bcast.async)) {
  }
  return bcast;
}

ReductionDirective parse_reduction(Cursor& cursor) {
  ReductionDirective reduction;
  reduction.reduction = parse_reduction_clause(cursor, false);
  Clauses clauses(cursor);
  while (clauses.accept_on(reduction.on) || clauses.accept_async(reduction.async)) {
  }
  return reduction;
}

}  // namespace nagaya::xmp
