// SPDX-License-Identifier: BSD-3-Clause
// program.h - a checked unit: its directives with all names resolved.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "directives/tree.h"
#include "syntax/facts.h"

namespace nagaya::xmp {

struct NodesSymbol {
  const NodesDirective* declared;
  size_t offset;  // of its declaration, in the printed text
  Range scope;
  bool file_scope;
  size_t dimensions() const { return declared->extents.size(); }
  std::string c_name() const { return "xmp_nodes_" + declared->name.text; }
};

struct TemplateSymbol {
  const TemplateDirective* declared;
  size_t offset;
  Range scope;
  bool file_scope;
  const DistributeDirective* distribution = nullptr;
  const NodesSymbol* onto = nullptr;
  size_t dimensions() const { return declared->dimensions; }
  bool is_distributed(size_t dimension) const {
    return distribution != nullptr &&
           distribution->formats[dimension].kind != DistributionFormat::kStar;
  }
  bool is_cyclic(size_t dimension) const {
    return distribution != nullptr &&
           distribution->formats[dimension].kind == DistributionFormat::kCyclic;
  }
  // Whether a template_fix must come before the template is used.
  bool is_fixed_later() const { return declared->deferred || lacks_sizes(); }
  bool lacks_sizes() const;  // a dimension is gblock(*)
  std::string c_name() const { return "xmp_template_" + declared->name.text; }
};

struct Alignment {
  int dimension = -1;  // of the template; -1: not aligned
  Bound offset{"0", {}};
  Bound shadow_low{"0", {}}, shadow_high{"0", {}};
  std::optional<long> low_width = 0, high_width = 0;  // of the shadow; nullopt: not constant
  bool has_full_shadow = false;
};

struct ArraySymbol {
  enum Home { kFile, kLocal, kFormal };
  Home home;
  const Variable* variable;  // of a pointer: with the extents of the array that it points to
  bool is_pointer = false;   // gets its block by xmp_malloc, or from the caller
  const AlignDirective* align;
  const ShadowDirective* shadow = nullptr;
  const TemplateSymbol* with;
  size_t declared_at;  // offset behind which it may be used
  Range scope;
  std::vector<Alignment> alignment;  // one for each dimension

  size_t rank() const { return alignment.size(); }
  // Whether xmp_malloc makes the block.
  bool is_allocated() const { return is_pointer && home != kFormal; }
  bool distributed(size_t dimension) const { return alignment[dimension].dimension >= 0; }
  // Whether elements lie by the place of their index: in a full shadow they lie by the index.
  bool cyclic(size_t dimension) const {
    return distributed(dimension) && !alignment[dimension].has_full_shadow &&
           with->is_cyclic(static_cast<size_t>(alignment[dimension].dimension));
  }
  const std::string& name() const { return variable->name; }
  const Place& place() const { return align->array.place; }
  // C text: the descriptor's name, a pointer to it, and the prefix of its members ("x.", "x->").
  std::string c_name() const { return "xmp_block_" + name(); }
  std::string address() const { return (home == kFormal ? "" : "&") + c_name(); }
  std::string member() const { return c_name() + (home == kFormal ? "->" : "."); }
  std::string type_name() const { return "xmp_type_" + name(); }
  // Names of the hoisted pointer to the rows, and of the hoisted offset, cycle and extent of
  // dimension d.
  // The kind stands before the user's name, so that no two names of the translation are the same.
  std::string rows() const { return "xmp_rows_" + name(); }
  std::string offset_name(size_t d) const { return "xmp_first" + std::to_string(d) + "_" + name(); }
  std::string cycle_name(size_t d) const { return "xmp_cycle" + std::to_string(d) + "_" + name(); }
  std::string count_name(size_t d) const { return "xmp_count" + std::to_string(d) + "_" + name(); }
  // Returns all names that the translation declares for this array.
  std::vector<std::string> c_names() const;
};

struct CoarraySymbol {
  const Variable* variable;
  Token name;                             // where it is declared as a coarray first
  std::vector<std::string> codimensions;  // C text, without the last one
  bool has_codimensions = false;          // one of its declarations has told them
  const NodesSymbol* on = nullptr;        // of `coarray on`; nullptr: the executing nodes
  bool is_lock() const { return variable->element == "xmp_lock_t"; }
  std::string c_name() const { return "xmp_coarray_" + variable->name; }
};

// An assignment to a section, or from one, of variables and coarrays that are not distributed.
struct SectionAssignment {
  const Assignment* assignment;
  // The coindexes that are its sides, and the uses of the variables there; nullptr: the side is the
  // caller's own; the right side without `from` is a value.
  const CoindexUse *to_image = nullptr, *from_image = nullptr;
  const Use *to = nullptr, *from = nullptr;
};

// A reference to nodes or to a template: one of the two pointers is set, unless it is `*`.
struct ResolvedReference {
  const NodesSymbol* nodes = nullptr;
  const TemplateSymbol* of_template = nullptr;
};

// One loop of a nest whose iterations are distributed.
struct DistributedLoop {
  size_t loop;          // index in Facts::loops
  size_t dimension;     // of the on clause
  std::string offset;   // C text: the on clause has the loop's index plus this
  bool hoisted = true;  // its bounds can be computed before the nest
};

// The loops that one loop directive distributes.
struct Nest {
  size_t statement;                    // index in Facts::statements of the outermost for
  std::vector<DistributedLoop> loops;  // outer ones first
  // Indexes in Facts::loops of all loops from the outermost to the innermost distributed one.
  std::vector<size_t> all_loops;

  // Returns the loop whose index subscripts this dimension of the on clause; nullptr: none.
  const DistributedLoop* loop_along(size_t dimension) const;
};

// One side of a gmove's assignment.
struct GmoveSide {
  Range range;
  const Use* use = nullptr;  // of the variable that it names; nullptr: it is some value
  const Variable* variable = nullptr;
  const ArraySymbol* array = nullptr;  // if the variable is distributed
  size_t sections() const;             // the number of subscripts that are sections
  // Whether it is a section, or distributed.
  bool needs_subscripts() const { return array != nullptr || sections() != 0; }
};

struct Gmove {
  GmoveSide left, right;
  size_t sign;  // offset of the `=`
};

struct Program {
  Facts facts;
  std::vector<Directive> directives;  // in the order of the source; those with errors are left out
  std::deque<NodesSymbol> nodes;
  std::deque<TemplateSymbol> templates;
  std::deque<ArraySymbol> arrays;
  std::deque<Variable> pointers;  // the variables of arrays that are pointers
  std::deque<CoarraySymbol> coarrays;
  std::map<size_t, const CoarraySymbol*> coindexed;  // of each of Unit::coindexes
  std::vector<SectionAssignment> section_assignments;
  std::map<const Directive*, Nest> nests;         // of each loop directive
  std::map<const Directive*, size_t> statements;  // the block of each task directive
  std::map<const Directive*, Gmove> gmoves;
  std::map<const Reference*, ResolvedReference> references;
  std::vector<Range> section_statements;  // the statements that may have array sections
  std::map<const DescriptorOf*, std::string> descriptors;  // the C text of each xmp_desc_of
  std::map<const LengthOf*, std::string> lengths;          // of arrays that are pointers in C

  // Return the innermost nodes, template or array that the name means at `offset`; nullptr: none.
  const NodesSymbol* find_nodes(const std::string& name, size_t offset) const;
  const TemplateSymbol* find_template(const std::string& name, size_t offset) const;
  const ArraySymbol* array_of(size_t entity, size_t offset) const;
  const ArraySymbol* find_array(const std::string& name, size_t offset) const;
  const CoarraySymbol* coarray_of(size_t entity) const;
  const Variable& variable_of(size_t entity) const;
  // Returns the first use of a distributed array in the range, evaluated or not; nullptr: none.
  const Use* array_use_in(const Range& range) const;
  // Whether the range has an evaluated use of the array.
  bool uses_array(const Range& range, const ArraySymbol& array) const;
  // Returns the template_fix directive in this function that makes the array's block; nullptr: the
  // block exists from the function's beginning or from the array's declaration on.
  const Directive* template_fix_of(const ArraySymbol& array, const Function& function) const;
  // Whether another function may make the block while this one runs, so that the block's address
  // may not be hoisted here.
  bool may_be_fixed_elsewhere(const ArraySymbol& array, const Function& function) const;
  // Whether the loops in `range` can reach the variable by its name only, never through a pointer
  // or a call.
  bool is_accessed_by_name_only(const Variable& variable, const Range& range) const;
  // Returns the places in `range` that assign to the variable of this entity by its name.
  std::vector<const Use*> writes_of(size_t entity, const Range& range) const;
  const Range& range_of(const Nest& nest) const { return facts.statements[nest.statement].range; }
  std::string index_name(size_t loop) const;
  // Whether the use is a side of a gmove, whose translation is no access to its elements.
  bool is_side_of_gmove(const Use& use) const;
  // Whether the use is a side of an assignment of sections, or the atom of an atomic access.
  bool is_side_of_sections(const CoindexUse& use) const;
  bool is_atom(const CoindexUse& use) const;
};

}  // namespace nagaya::xmp
