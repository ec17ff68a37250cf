// SPDX-License-Identifier: BSD-3-Clause
// facts.h - the parts of a unit's syntax tree that directives meet: names and their types, uses of
// variables, statements, loops, jumps. Positions are offsets in the printed text.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "preprocess/unit.h"
#include "range.h"

namespace nagaya::xmp {

inline constexpr size_t kNone = static_cast<size_t>(-1);

struct Extent {
  std::optional<long> constant;
  std::string text;  // C text of an extent that is not constant
  Range written;     // the text between the brackets; empty if the extent comes from a typedef
  std::string c_text() const { return constant ? std::to_string(*constant) : text; }
};

struct Variable {
  enum Kind { kObject, kParameter, kConstant, kFunction, kType };
  Kind kind;
  std::string name;
  size_t name_offset;
  size_t visible_from;
  size_t entity;  // a number that all declarations of one object share
  Range scope;    // where the name is known, unless it is hidden
  bool file_scope = false, is_static = false, has_initialiser = false, is_pointer = false;
  bool is_external = false;     // has external linkage: other units may know its address
  bool is_aligned = false;      // by _Alignas or an attribute
  std::vector<Extent> extents;  // of an array
  std::string element;          // type of the variable, or of its elements; empty: unnamed
  // Type of the elements of an array, or of those behind a pointer, without typedefs and
  // qualifiers.
  std::string innermost;
  // If it is a pointer: extents as of the array it points into, whose first one is empty; and the
  // type of the elements.
  std::vector<Extent> pointee_extents;
  std::string pointee_element, pointee_reduction_type;
  std::string reduction_type;  // "NAGAYA_XMP_DOUBLE", empty if it has none
  bool is_integer = false;
  std::optional<long> constant;  // its value, if it is a constant
};

struct Use {
  struct Subscript {
    size_t open, close;  // offsets of the brackets
    std::optional<Section> section{};
  };
  size_t entity;
  Range name;
  std::vector<Subscript> subscripts;
  bool unevaluated = false;         // operand of sizeof or typeof
  std::optional<Range> address_of;  // of the & that is directly applied to it: &u, &(u)
  bool written = false;             // assigned, or changed by ++ or --
  bool reversed = false;            // i[u]
  bool as_pointer = false;          // used as a pointer, behind its subscripts: u + i, *u
  std::vector<size_t> calls;        // offsets of calls with it in an argument, outer ones first
};

struct Statement {
  enum Kind { kOther, kFor, kCompound, kLabel };
  Kind kind;
  Range range;    // with its semicolon
  size_t parent;  // index of the statement that it is part of; kNone: a function's body
  size_t loop = kNone;
};

struct Loop {
  Range whole, header;  // header: between the parentheses of for
  Range body;
  size_t body_statement = kNone;
  std::string problem;  // why it is not canonical; empty if it is
  size_t problem_offset = 0;
  size_t index = kNone;  // the index variable's entity
  bool declares_index = false;
  std::string index_type;
  Range first, end;                  // expressions of the bounds
  std::string first_text, end_text;  // C text of their values
  bool upwards = true, inclusive = false;
  std::string step;  // C text, of type long: "1", "-1", "(long)(s)"
  Range stepping;    // the for statement's third part, if the step is no constant; else empty
  bool has_computed_step() const { return stepping.begin < stepping.end; }
  std::vector<size_t> bound_uses;  // entities of the variables in bounds and step
  bool has_scalar_bounds = true;   // bounds and step are computed from scalar variables alone
  std::vector<Range> computed;     // the bounds and the step, as far as they are no constants
};

// left = right
struct Assignment {
  Range left, right;
  size_t sign;  // offset of the `=`
};

struct Jump {
  // A label whose address is taken counts as the target of a goto from there.
  enum Kind { kBreak, kContinue, kGoto, kReturn, kCase };
  Kind kind;
  size_t offset;  // where the jump is; for a case label, where its switch is
  // For goto and case the label's offset, kNone for a computed goto; for the others the offset at
  // which the statement that they leave begins.
  size_t target;
};

// A call of a function that is no builtin of the compiler. It might change any variable whose
// address it can know.
struct Call {
  size_t offset;
};

// How a reference to a coarray of another image is used.
struct CoindexUse {
  enum Kind { kValue, kAssigned, kChanged, kIncremented, kAddress, kUnevaluated };
  size_t coindex;  // index in Unit::coindexes
  Kind kind;
  Range lvalue;       // with members and subscripts behind the reference
  Range whole;        // with the operator that changes it
  Range operation;    // =, +=, ++
  bool is_prefix;     // ++ stands before it
  bool is_array;      // the lvalue is one
  bool is_bit_field;  // or lies in one
};

// A call of xmp_atomic_define(atom, value) or xmp_atomic_ref(&value, atom).
struct AtomicCall {
  bool is_define;
  Range whole, atom, other;
  bool is_lvalue;        // the atom is one
  bool has_atomic_type;  // an integer of more than a byte
  bool other_is_address;
};

struct Function {
  std::string name;
  Range body;  // with its braces
};

class Facts {
 public:
  std::vector<Variable> variables;
  std::vector<Use> uses;
  std::vector<Statement> statements;  // in the order of the text, outer ones first
  std::vector<Loop> loops;
  std::vector<Jump> jumps;
  std::vector<Call> calls;
  std::vector<Assignment> assignments;
  std::vector<size_t> pointer_stores;  // offsets of assignments through pointers
  std::vector<Function> functions;
  std::vector<CoindexUse> coindex_uses;  // inner ones behind outer ones
  std::vector<AtomicCall> atomic_calls;

  // Enters the sections in the subscripts of the uses.
  void add_sections(const std::vector<Section>& sections);
  // Prepares find() and lookup(); called once, when `variables` is complete.
  void index_names();
  // Returns some declaration of the name in any scope; nullptr: there is none.
  const Variable* find(const std::string& name) const;
  // Returns the declaration that `name` means at `offset`; nullptr: there is none.
  const Variable* lookup(const std::string& name, size_t offset) const;
  // Returns the compound statement that `offset` lies in; kNone: file scope.
  size_t block_at(size_t offset) const;
  // Returns the innermost statement whose range contains `offset`; kNone: there is none.
  size_t statement_at(size_t offset) const;
  // Returns the outermost statement that begins next at or behind `offset`; kNone: there is none.
  size_t statement_behind(size_t offset) const;
  // Returns the function that `offset` lies in; nullptr: file scope.
  const Function* function_at(size_t offset) const;
  // Returns the range from `offset` to the end of its block, at file scope to the file's end.
  Range scope_from(size_t offset, size_t text_size) const;

 private:
  std::multimap<std::string, size_t> by_name_;
};

}  // namespace nagaya::xmp
