// SPDX-License-Identifier: BSD-3-Clause
// tree.h - XMP directives after parsing. Both syntaxes give the same tree: dimensions stand in the
// order of C, `p(i)` is node i - 1, and a section has its ends, or its base and its length. The
// names are the specification's (XcalableMP 1.4, chapter 4).
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "place.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// A C expression of the user. Its syntax has been checked; its names have not.
struct Expression {
  std::vector<Token> tokens;
  const Place& place() const { return tokens.front().place; }
  std::string text() const;
};

// A bound of a range: the C text for the translation, and the user's expressions in that text.
struct Bound {
  std::string text;
  std::vector<Expression> expressions;
};

struct Subscript {
  enum Kind { kStar, kAll, kRange };
  Kind kind = kAll;
  Place place;
  bool single = false;  // one index: low is high
  Bound low, high, step;
  bool has_length = false;          // instead of the upper end, `high` is the length
  std::optional<Expression> index;  // if single: as the user wrote it
};

// p, p(1:4), t[i][*], or *
struct Reference {
  Token name;
  bool executing = false;  // `*`
  bool brackets = false;
  std::vector<Subscript> subscripts;  // empty: all of the nodes or the template
};

struct NodesExtent {
  Place place;
  std::optional<Expression> value;  // nullopt: `*`
};

struct NodesDirective {
  Token name;
  bool brackets = false;
  std::vector<NodesExtent> extents;
  std::optional<Reference> of;
};

struct TemplateBounds {
  Bound low, high;
};

struct TemplateDirective {
  Token name;
  bool deferred = false;  // every dimension is `:`
  std::vector<TemplateBounds> bounds;
  size_t dimensions = 0;
};

struct DistributionFormat {
  enum Kind { kStar, kBlock, kCyclic, kGblock };
  Place place;
  Kind kind = kStar;
  std::optional<Expression> width;  // of kBlock and kCyclic
  std::optional<Expression> sizes;  // of kGblock; nullopt: gblock(*)
};

struct DistributeDirective {
  Token name;
  std::vector<DistributionFormat> formats;
  Token onto;
};

struct AlignSource {
  enum Kind { kStar, kColon, kIndex };
  Kind kind;
  Token token;
};

struct AlignSubscript : AlignSource {
  Bound offset{"0", {}};  // added to the index of a kIndex
};

struct AlignDirective {
  Token array;
  std::vector<AlignSource> sources;
  Token with;
  std::vector<AlignSubscript> subscripts;
};

struct ShadowWidth {
  Place place;
  bool is_full = false;  // `*`
  std::optional<Expression> low, high;
};

struct ShadowDirective {
  Token array;
  std::vector<ShadowWidth> widths;
};

struct TemplateFixDirective {
  std::vector<DistributionFormat> formats;
  TemplateDirective fixed;  // has no bounds if the directive gives formats only
};

enum class ReductionOperation {
  kSum,
  kProduct,
  kBitAnd,
  kBitOr,
  kBitXor,
  kAnd,
  kOr,
  kXor,
  kMax,
  kMin,
  kFirstMax,
  kFirstMin,
  kLastMax,
  kLastMin
};

// A variable whose data a communication sends or receives: name, name[3], name[0:10].
struct DataReference {
  Token name;
  std::vector<Expression> indexes;
  std::optional<Expression> base, length;  // of the section that is the last subscript
};

struct ReductionVariable {
  DataReference data;
  std::vector<DataReference> locations;
};

struct ReductionClause {
  Place place;
  ReductionOperation operation;
  std::vector<ReductionVariable> variables;
};

struct ExpandWidth {
  Place place;
  bool unbound = false;
  Expression low;
  std::optional<Expression> high;
};

// expand, margin or peel_and_wait of a loop.
struct ExpandClause {
  enum Kind { kExpand, kMargin, kPeelAndWait };
  Kind kind;
  Place place;
  std::optional<Expression> async;  // of kPeelAndWait
  std::vector<ExpandWidth> widths;  // one for each dimension of the on clause, in C's order
};

struct LoopDirective {
  std::vector<Token> indexes;  // empty: the loops' indexes that the on clause names
  Reference on;
  std::optional<ExpandClause> expansion;
  std::vector<ReductionClause> reductions;
};

struct ReflectWidth {
  Place place;
  bool periodic = false;
  Expression low;
  std::optional<Expression> high;
};

struct ReflectDirective {
  std::vector<Token> arrays;
  std::vector<ReflectWidth> widths;
  bool orthogonal = false;
  std::optional<Expression> async;
};

struct ReduceShadowDirective {
  ReflectDirective shadows;
};

struct WaitAsyncDirective {
  std::vector<Expression> numbers;
  std::optional<Reference> on;
};

struct BarrierDirective {
  std::optional<Reference> on;
};

struct BcastDirective {
  std::vector<DataReference> variables;
  std::optional<Reference> from, on;
  std::optional<Expression> async;
};

struct ReductionDirective {
  ReductionClause reduction;
  std::optional<Reference> on;
  std::optional<Expression> async;
};

struct TaskDirective {
  Reference on;
  bool nocomm = false;
};

struct TasksDirective {};

struct GmoveDirective {
  enum Mode { kCollective, kIn, kOut };
  Mode mode = kCollective;
  std::optional<Expression> async;
};

// A coarray of the local view, chapter 5: `coarray a, b : [2][*]`, `coarray on p :: a, b`.
struct CoarrayDirective {
  std::vector<Token> names;
  std::vector<Expression> codimensions;  // without the last one
  std::optional<Token> on;
};

struct ImageDirective {
  Token nodes;
};

struct PostDirective {
  Reference node;
  Expression tag;
};

struct WaitDirective {
  std::optional<Reference> node;
  std::optional<Expression> tag;
};

struct LockDirective {
  bool is_unlock = false;
  Token name;
  std::vector<Expression> indexes, images;
  std::optional<Expression> acquired, status;
};

using DirectiveBody =
    std::variant<NodesDirective, TemplateDirective, DistributeDirective, AlignDirective,
                 ShadowDirective, TemplateFixDirective, LoopDirective, ReflectDirective,
                 ReduceShadowDirective, WaitAsyncDirective, BarrierDirective, BcastDirective,
                 ReductionDirective, TaskDirective, TasksDirective, GmoveDirective,
                 CoarrayDirective, ImageDirective, PostDirective, WaitDirective, LockDirective>;

struct Directive {
  size_t offset;  // in the printed text
  Place place;    // of the directive's name
  std::string name;
  DirectiveBody body;
};

}  // namespace nagaya::xmp
