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
  size_t offset;  // of its declaration
  Place place;
  Range scope;
  bool file_scope;
  size_t dimensions() const { return declared->extents.size(); }
  std::string c_name() const { return "xmp_nodes_" + declared->name.text; }
};

struct TemplateSymbol {
  const TemplateDirective* declared;
  size_t offset;
  Place place;
  Range scope;
  bool file_scope;
  const DistributeDirective* distribution = nullptr;
  const NodesSymbol* onto = nullptr;
  size_t dimensions() const { return declared->dimensions; }
  bool blocks(size_t dimension) const {
    return distribution != nullptr && distribution->formats[dimension].block;
  }
  std::string c_name() const { return "xmp_template_" + declared->name.text; }
};

struct Alignment {
  int dimension = -1;  // of the template
  Bound offset{"0", {}};
  Bound shadow_low{"0", {}}, shadow_high{"0", {}};
  std::optional<long> low_width = 0, high_width = 0;  // where they are constants
};

struct ArraySymbol {
  enum Home { kFile, kLocal, kFormal };
  Home home;
  const Variable* variable;
  const AlignDirective* align;
  const ShadowDirective* shadow = nullptr;
  const TemplateSymbol* with;
  Place place;         // of the align directive
  size_t declared_at;  // offset behind which it may be used
  Range scope;
  std::vector<Alignment> alignment;  // one for each dimension

  size_t rank() const { return alignment.size(); }
  bool distributed(size_t dimension) const { return alignment[dimension].dimension >= 0; }
  const std::string& name() const { return variable->name; }
  // Descriptor, and pointer to it.
  std::string c_name() const { return "xmp_block_" + name(); }
  std::string address() const { return (home == kFormal ? "" : "&") + c_name(); }
  std::string member() const { return c_name() + (home == kFormal ? "->" : "."); }
  std::string type_name() const { return "xmp_type_" + name(); }
  // Of the hoisted pointer to its rows, and of one dimension's offset and extent. The kind stands
  // before the user's name, so that no two names of the translation are the same.
  std::string rows() const { return "xmp_rows_" + name(); }
  std::string offset_name(size_t d) const { return "xmp_first" + std::to_string(d) + "_" + name(); }
  std::string count_name(size_t d) const { return "xmp_count" + std::to_string(d) + "_" + name(); }
  // All that the translation declares for it.
  std::vector<std::string> c_names() const;
};

// on nodes or on a template.
struct ResolvedReference {
  const Reference* reference = nullptr;
  const NodesSymbol* nodes = nullptr;
  const TemplateSymbol* of_template = nullptr;
  bool executing = false;
  std::string c_name() const { return nodes != nullptr ? nodes->c_name() : of_template->c_name(); }
};

// One loop of a nest whose iterations are distributed.
struct DistributedLoop {
  size_t loop;       // of Facts
  size_t dimension;  // of the on clause
  std::string offset;
  bool hoisted = true;  // its bounds can be computed before the nest
};

struct Nest {
  size_t statement;                    // the outermost for
  std::vector<DistributedLoop> loops;  // outer ones first
  std::vector<size_t> around;          // those of Facts, from the outermost to the last of these
};

struct Program {
  Facts facts;
  std::vector<Directive> directives;  // in the order of the source; those with errors are left out
  std::deque<NodesSymbol> nodes;
  std::deque<TemplateSymbol> templates;
  std::deque<ArraySymbol> arrays;
  std::map<const Directive*, Nest> nests;         // of loop directives
  std::map<const Directive*, size_t> statements;  // of task directives
  std::map<const Reference*, ResolvedReference> references;
  std::map<const DescriptorOf*, std::string> descriptors;  // the C text of each xmp_desc_of

  // The innermost one that the name means at `offset`; nullptr: none.
  const NodesSymbol* find_nodes(const std::string& name, size_t offset) const;
  const TemplateSymbol* find_template(const std::string& name, size_t offset) const;
  const ArraySymbol* array_of(size_t entity, size_t offset) const;
  const ArraySymbol* find_array(const std::string& name, size_t offset) const;
  // The first use of a distributed array in the range, evaluated or not; nullptr: none.
  const Use* array_use_in(const Range& range) const;
  // The template_fix directive in this function that makes the array's block; nullptr: it is there
  // where the function begins, or the array is declared.
  const Directive* fix_of(const ArraySymbol& array, const Function& function) const;
  // Whether another function may make the block while this one runs: its place is not known here.
  bool is_fixed_elsewhere(const ArraySymbol& array, const Function& function) const;
  // Nothing in the nest can reach the variable but by its name.
  bool is_only_named(const Variable& variable, const Nest& nest) const;
  // Where the nest assigns to the variable of this entity by its name.
  std::vector<const Use*> writes_of(size_t entity, const Nest& nest) const;
  std::string index_name(size_t loop) const;
};

}  // namespace nagaya::xmp
