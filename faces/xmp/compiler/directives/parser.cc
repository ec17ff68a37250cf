// SPDX-License-Identifier: BSD-3-Clause
#include "directives/parser.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "directives/coarrays.h"
#include "directives/cursor.h"
#include "directives/declarations.h"
#include "directives/executables.h"

namespace nagaya::xmp {
namespace {

const std::array kNames = {"nodes",         "template",  "distribute", "align",      "shadow",
                           "template_fix",  "loop",      "reflect",    "wait_async", "barrier",
                           "bcast",         "reduction", "task",       "tasks",      "gmove",
                           "reduce_shadow", "coarray",   "image",      "post",       "wait",
                           "lock",          "unlock",    "array"};
const std::array kUnsupported = {"local_alias", "sync_all", "sync_images", "sync_memory",
                                 "tasklet"};

size_t edit_distance(const std::string& from, const std::string& to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j < row.size(); ++j) {
      const size_t replaced = diagonal + (from[i - 1] != to[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

[[noreturn]] void refuse_name(const Token& name) {
  if (std::ranges::count(kUnsupported, name.text) != 0)
    throw Complaint{name.place, "the directive '" + name.text + "' is not supported yet", true};
  std::string text = "unknown directive '" + name.text + "'";
  for (const char* known : kNames)
    if (name.text.size() < 40 && edit_distance(name.text, known) <= 2) {
      text += "; did you mean '" + std::string(known) + "'?";
      break;
    }
  throw Complaint{name.place, text};
}

class CombinedParser {
 public:
  CombinedParser(Cursor& cursor, size_t offset) : cursor_(cursor), offset_(offset) {}

  // Parses the directive behind `name`, the name of its first attribute.
  std::vector<Directive> parse(Token name) {
    while (true) {
      attribute(name);
      if (!cursor_.accept(",")) break;
      name = cursor_.identifier("another attribute of the combined directive");
    }
    cursor_.expect(":", "and another ':' before the names of a combined directive");
    cursor_.expect(":", "and the names of a combined directive");
    cursor_.list([this] { declare(); });
    cursor_.finish("::");
    return std::move(directives_);
  }

 private:
  void attribute(const Token& name) {
    if (std::any_of(attributes_.begin(), attributes_.end(),
                    [&](const Token& earlier) { return earlier.text == name.text; }))
      throw Complaint{name.place, "the attribute '" + name.text + "' stands twice"};
    attributes_.push_back(name);
    if (name.text == "distribute") {
      distribute_ = parse_distribution(cursor_);
    } else if (name.text == "align") {
      align_ = parse_alignment(cursor_);
    } else if (name.text == "shadow") {
      shadow_ = parse_shadow(cursor_);
    } else if (name.text != "nodes" && name.text != "template") {
      throw Complaint{name.place, "'" + name.text + "' cannot be part of a combined directive"};
    }
  }

  void declare() {
    const Token* next = cursor_.name();
    const Token name = next != nullptr ? *next : cursor_.identifier("a name after '::'");
    bool read = false;
    for (const Token& attribute : attributes_) {
      const bool declares = attribute.text == "nodes" || attribute.text == "template";
      if (declares && read)
        throw Complaint{attribute.place, "'nodes' and 'template' cannot be combined"};
      if (attribute.text == "nodes") add(attribute, parse_nodes_declaration(cursor_));
      if (attribute.text == "template") add(attribute, parse_template_declaration(cursor_));
      read = read || declares;
    }
    if (!read) cursor_.identifier("a name after '::'");
    for (const Token& attribute : attributes_) {
      distribute_.name = align_.array = shadow_.array = name;
      if (attribute.text == "distribute") add(attribute, distribute_);
      if (attribute.text == "align") add(attribute, align_);
      if (attribute.text == "shadow") add(attribute, shadow_);
    }
  }

  void add(const Token& attribute, DirectiveBody body) {
    directives_.push_back({offset_, attribute.place, attribute.text, std::move(body)});
  }

  Cursor& cursor_;
  size_t offset_;
  std::vector<Token> attributes_;
  DistributeDirective distribute_;
  AlignDirective align_;
  ShadowDirective shadow_;
  std::vector<Directive> directives_;
};

// Whether the directive is a combined one: `nodes :: p(4)`, `align [i] with t[i] :: a`,
// `template, distribute(block) onto p :: t(10)`.
bool is_combined(const Token& name, const RawDirective& raw) {
  static const std::array kAttributes = {"nodes", "template", "distribute", "align", "shadow"};
  if (std::find(kAttributes.begin(), kAttributes.end(), name.text) == kAttributes.end())
    return false;
  int depth = 0;
  for (size_t i = 0; i < raw.tokens.size(); ++i) {
    const std::string& text = raw.tokens[i].text;
    depth += (text == "(" || text == "[") - (text == ")" || text == "]");
    if (depth != 0) continue;
    if (text == "::") return true;
    if (text == ":" && i + 1 < raw.tokens.size() && raw.tokens[i + 1].text == ":") return true;
  }
  return false;
}

Token parse_array_name(Cursor& cursor) {
  const Token name = cursor.identifier("the name of an array");
  if (cursor.is(".") || cursor.is("->"))
    cursor.complain("distributing a member of a structure is not supported yet");
  return name;
}

// Returns the directives behind `name`; empty: it is no declarative directive.
std::vector<Directive> parse_declarations(Cursor& cursor, const Token& name, size_t offset) {
  std::vector<Directive> directives;
  const auto add = [&](DirectiveBody body) {
    directives.push_back({offset, name.place, name.text, std::move(body)});
  };
  if (name.text == "nodes") {
    cursor.list([&] { add(parse_nodes_declaration(cursor)); });
  } else if (name.text == "template") {
    cursor.list([&] { add(parse_template_declaration(cursor)); });
  } else if (name.text == "distribute") {
    const Token distributed = cursor.identifier("the name of a template");
    DistributeDirective distribute = parse_distribution(cursor);
    distribute.name = distributed;
    add(std::move(distribute));
  } else if (name.text == "align") {
    const Token array = parse_array_name(cursor);
    AlignDirective align = parse_alignment(cursor);
    align.array = array;
    add(std::move(align));
  } else if (name.text == "shadow") {
    const Token array = parse_array_name(cursor);
    ShadowDirective shadow = parse_shadow(cursor);
    shadow.array = array;
    add(std::move(shadow));
  } else if (name.text == "coarray") {
    add(parse_coarray(cursor));
  }
  return directives;
}

// The Omni compiler's `static_desc p`, `static_desc :: a, b` asks for descriptors of nodes,
// templates and formal arrays that outlive the call. It has no effect here: arrays are the
// caller's.
void skip_static_desc(Cursor& cursor) {
  if (cursor.accept(":")) cursor.expect(":", "and the names of arrays after 'static_desc'");
  cursor.list([&] { cursor.identifier("the name of nodes, a template or an array"); });
}

DirectiveBody parse_executable(Cursor& cursor, const Token& name) {
  if (name.text == "template_fix") return parse_template_fix(cursor);
  if (name.text == "loop") return parse_loop(cursor);
  if (name.text == "reflect") return parse_reflect(cursor);
  if (name.text == "reduce_shadow") return parse_reduce_shadow(cursor);
  if (name.text == "wait_async") return parse_wait_async(cursor);
  if (name.text == "barrier") return parse_barrier(cursor);
  if (name.text == "bcast") return parse_bcast(cursor);
  if (name.text == "reduction") return parse_reduction(cursor);
  if (name.text == "task") return parse_task(cursor);
  if (name.text == "tasks") return TasksDirective{};
  if (name.text == "gmove") return parse_gmove(cursor);
  if (std::optional<DirectiveBody> of_images = parse_of_images(cursor, name)) return *of_images;
  refuse_name(name);
}

}  // namespace

std::vector<Directive> parse_directive(const RawDirective& raw) {
  Cursor cursor(raw);
  const Token name = cursor.identifier("a directive after 'xmp'");
  if (is_combined(name, raw)) return CombinedParser(cursor, raw.offset).parse(name);
  std::vector<Directive> directives = parse_declarations(cursor, name, raw.offset);
  if (name.text == "static_desc")
    skip_static_desc(cursor);
  else if (directives.empty())
    directives.push_back({raw.offset, name.place, name.text, parse_executable(cursor, name)});
  cursor.finish(name.text);
  return directives;
}

}  // namespace nagaya::xmp
