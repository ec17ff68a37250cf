// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/coarrays.h"

#include <algorithm>

#include "rewriting/c_text.h"

namespace nagaya::xmp {
namespace {

constexpr const char* kBegin = "__extension__({ ";
constexpr const char* kNode = "xmp_node";  // the nagaya_xmp_on of a post or wait

// The C text of an access to the place xmp_pN of image xmp_kN.
class Access {
 public:
  Access(const Place& place, const CoarraySymbol& coarray, std::string n)
      : n_(std::move(n)),
        arguments_("(" + list({where(place), "&" + coarray.c_name(), "xmp_p" + n_, "xmp_k" + n_})) {
  }

  std::string begin() const { return kBegin + ("long xmp_k" + n_ + "; ") + pointer(); }
  std::string pointer() const { return "__auto_type xmp_p" + n_ + " = &"; }
  // Sets xmp_qN, the address.
  std::string find(const std::string& offset) const {
    return type() + "* xmp_q" + n_ + " = nagaya_xmp_behind(xmp_p" + n_ + ", " + offset + ");";
  }
  std::string value() const {
    return "*(xmp_q" + n_ + " != 0 ? xmp_q" + n_ + " : (__typeof__(xmp_q" + n_ +
           "))nagaya_xmp_get" + arguments_ + ", sizeof *xmp_p" + n_ + "))";
  }
  std::string variable() const { return type() + " xmp_v" + n_ + " = "; }
  // Stores xmp_vN there.
  std::string store() const {
    return "if (xmp_q" + n_ + " != 0) *xmp_q" + n_ + " = xmp_v" + n_ + "; else { " + type() +
           " xmp_c" + n_ + " = xmp_v" + n_ + "; nagaya_xmp_put" + arguments_ +
           ", (const void *)&xmp_c" + n_ + ", sizeof xmp_c" + n_ + "); }";
  }
  std::string type() const { return "__typeof__(*xmp_p" + n_ + ")"; }
  std::string atomic(const std::string& function, const std::string& more) const {
    return "nagaya_xmp_atomic_" + function + arguments_ + ", sizeof *xmp_p" + n_ + more;
  }

 private:
  const std::string n_, arguments_;
};

const CoarraySymbol& coarray_in(const Program& program, const Range& range) {
  const auto root = std::ranges::find_if(program.facts.uses,
                                         [&](const Use& use) { return range.contains(use.name); });
  return *program.coarray_of(root->entity);
}

}  // namespace

std::string CoarrayRewriter::descriptors() const {
  std::string text;
  for (const CoarraySymbol& coarray : program_.coarrays)
    text += "static nagaya_xmp_coarray " + coarray.c_name() + " __attribute__((unused));\n";
  return text;
}

std::string CoarrayRewriter::registration() const {
  const bool has_posts = std::ranges::any_of(program_.directives, [](const Directive& one) {
    return std::holds_alternative<PostDirective>(one.body) ||
           std::holds_alternative<WaitDirective>(one.body);
  });
  std::string text;
  if (has_posts || unit_.synchronises_images) text += "  nagaya_xmp_use_images(\"\");\n";
  for (const CoarraySymbol& coarray : program_.coarrays) {
    const std::string& name = coarray.variable->name;
    text += "  " +
            call_statement(
                "nagaya_xmp_declare_coarray", coarray.name.place,
                {"&" + coarray.c_name(), literal(name), "(void *)&" + name, "sizeof(" + name + ")",
                 coarray.is_lock() ? "sizeof(" + name + ") / sizeof(xmp_lock_t)" : "0",
                 std::to_string(coarray.codimensions.size() + 1),
                 coarray.codimensions.empty() ? "(const long *)0"
                                              : array_of("long", coarray.codimensions),
                 coarray.on == nullptr ? "0" : coarray.on->c_name()}) +
            "\n";
  }
  return text;
}

// Writes the reference as the address of the caller's own, and sets xmp_kN to the image.
void CoarrayRewriter::rewrite_image(const Coindex& coindex, const CoarraySymbol& coarray,
                                    const std::string& n) {
  const std::string address = "xmp_a" + n;
  edits_.replace({coindex.whole.begin, coindex.local.begin},
                 "(*__extension__({ __auto_type " + address + " = &");
  const std::vector<Range>& images = coindex.images;
  const bool is_one = images.size() == 1 && coarray.codimensions.empty();
  const std::string first =
      is_one ? "("
             : "nagaya_xmp_image_of(" + list({where(coindex.place), "&" + coarray.c_name(),
                                              std::to_string(images.size()), "(const long[]){("});
  edits_.replace({coindex.local.end, images.front().begin}, "; xmp_k" + n + " = " + first);
  for (size_t d = 1; d < images.size(); ++d)
    edits_.replace({images[d - 1].end, images[d].begin}, "), (");
  edits_.replace({images.back().end, coindex.whole.end},
                 (is_one ? "); " : ")}); ") + address + "; }))");
}

void CoarrayRewriter::rewrite_subscripts(const Use& use, const std::string& part) {
  const Variable& variable = program_.variable_of(use.entity);
  std::string row = variable.name;
  int sections = 0;
  for (size_t d = 0; d < use.subscripts.size(); ++d) {
    row += "[0]";
    if (!use.subscripts[d].section) continue;
    const Section& section = *use.subscripts[d].section;
    const std::string extent =
        section.length.is_empty()
            ? "(long)(sizeof(" + row.substr(0, row.size() - 3) + ") / sizeof(" + row + "))"
            : "-1L";
    edits_.insert(section.open + 1,
                  "nagaya_xmp_enter_section(" + list({"&" + part, std::to_string(sections++),
                                                      extent, "(long)sizeof(" + row + ")", ""}));
    edits_.close(use.subscripts[d].close, section.open, section.has_two_colons ? ")" : ", 1L)");
  }
}

// `left = right`, where a side has sections: the parts of both sides are filled as their text is
// executed, then the runtime copies.
void CoarrayRewriter::rewrite_sections(const SectionAssignment& sections, const std::string& n) {
  const Assignment& assignment = *sections.assignment;
  const std::string to = "xmp_t" + n, from = "xmp_f" + n, left = "xmp_l" + n, right = "xmp_r" + n;
  std::string declarations = kBegin + ("nagaya_xmp_part " + to) + " = {0}, " + from + " = {0}; ";
  std::string ends = "); ";
  const auto add = [&](const CoindexUse* image, const std::string& part, const std::string& first) {
    ends += part + ".first = (void *)" + first + "; ";
    if (image == nullptr) return;
    const std::string number = "xmp_k" + std::to_string(image->coindex);
    declarations += "long " + number + "; ";
    ends += part + ".coarray = &" + program_.coindexed.at(image->coindex)->c_name() + "; " + part +
            ".image = " + number + "; ";
  };
  add(sections.to_image, to, left);
  add(sections.from_image, from, sections.from != nullptr ? right : "&" + right);
  rewrite_subscripts(*sections.to, to);
  if (sections.from != nullptr) rewrite_subscripts(*sections.from, from);
  for (const CoindexUse* image : {sections.to_image, sections.from_image})
    if (image != nullptr)
      rewrite_image(unit_.coindexes[image->coindex], *program_.coindexed.at(image->coindex),
                    std::to_string(image->coindex));
  edits_.insert(assignment.left.begin, declarations + "__auto_type " + left + " = &");
  edits_.replace({assignment.sign, assignment.sign + 1},
                 sections.from != nullptr ? "; __auto_type " + right + " = &("
                                          : "; __typeof__(*" + left + ") " + right + " = (");
  edits_.close(assignment.right.end, assignment.left.begin,
               ends +
                   call_statement("nagaya_xmp_assign", unit_.printed.place(assignment.sign),
                                  {"&" + to, "&" + from, "sizeof *" + left}) +
                   " })");
}

void CoarrayRewriter::rewrite_use(const CoindexUse& use) {
  if (program_.is_side_of_sections(use)) return;
  const Coindex& coindex = unit_.coindexes[use.coindex];
  if (use.kind == CoindexUse::kUnevaluated) {
    edits_.replace({coindex.whole.begin, coindex.local.begin}, "(");
    edits_.replace({coindex.local.end, coindex.whole.end}, ")");
    return;
  }
  const CoarraySymbol& coarray = *program_.coindexed.at(use.coindex);
  const std::string n = std::to_string(use.coindex);
  const Access access(coindex.place, coarray, n);
  const std::string find = access.find(offsets_.offset_of(use.coindex, "xmp_k" + n));
  const std::string value = "xmp_v" + n, end = "; " + value + "; })";
  const auto close = [&](const std::string& text) {
    edits_.close(use.whole.end, use.whole.begin, text);
  };
  if (program_.is_atom(use)) return rewrite_image(coindex, coarray, n);
  edits_.insert(use.whole.begin, access.begin());
  rewrite_image(coindex, coarray, n);
  switch (use.kind) {
    case CoindexUse::kAssigned:
      edits_.replace(use.operation, "; " + access.variable() + "(");
      close("); " + find + " " + access.store() + end.substr(1));
      break;
    case CoindexUse::kChanged: {
      const std::string& text = unit_.printed.text();
      const std::string operation =
          text.substr(use.operation.begin, use.operation.end - use.operation.begin);
      edits_.replace(use.operation, "; " + find + " " + access.variable() + access.value() + "; " +
                                        value + " " + operation + " (");
      close("); " + access.store() + end.substr(1));
      break;
    }
    case CoindexUse::kIncremented: {
      const std::string& text = unit_.printed.text();
      const std::string operation =
          text.substr(use.operation.begin, use.operation.end - use.operation.begin);
      const std::string old = "xmp_o" + n;
      edits_.replace(use.operation, "");
      close("; " + find + " " + access.variable() + access.value() + "; " + access.type() + " " +
            old + " = " + (use.is_prefix ? operation + value : value + operation) + "; " +
            access.store() + " " + old + "; })");
      break;
    }
    default:
      close("; " + find + " " + access.value() + "; })");
  }
}

void CoarrayRewriter::rewrite_atomic(const AtomicCall& call, size_t number) {
  const auto use = std::ranges::find_if(program_.facts.coindex_uses, [&](const CoindexUse& one) {
    return call.atom.begin == one.lvalue.begin && call.atom.end == one.lvalue.end;
  });
  const bool is_remote = use != program_.facts.coindex_uses.end();
  const CoarraySymbol& coarray = coarray_in(program_, call.atom);
  const std::string n = is_remote ? std::to_string(use->coindex) : "_" + std::to_string(number);
  const Access access(unit_.printed.place(call.whole.begin), coarray, n);
  const std::string image =
      "long xmp_k" + n +
      (is_remote ? "; " : " = nagaya_xmp_own_image(&" + coarray.c_name() + "); ");
  const Range tail{std::max(call.atom.end, call.other.end), call.whole.end};
  if (call.is_define) {
    edits_.replace({call.whole.begin, call.atom.begin}, kBegin + image + access.pointer());
    edits_.replace({call.atom.end, call.other.begin}, "; " + access.atomic("define", ", "));
    edits_.replace(tail, "); })");
  } else {
    edits_.replace({call.whole.begin, call.other.begin},
                   kBegin + image + "__auto_type xmp_r" + n + " = ");
    edits_.replace({call.other.end, call.atom.begin}, "; " + access.pointer());
    edits_.replace(tail, "; *xmp_r" + n + " = " + access.atomic("ref", "); })"));
  }
}

void CoarrayRewriter::rewrite_references() {
  for (size_t i = 0; i < program_.section_assignments.size(); ++i)
    rewrite_sections(program_.section_assignments[i], "_" + std::to_string(i));
  for (const CoindexUse& use : program_.facts.coindex_uses) rewrite_use(use);
  for (size_t i = 0; i < program_.facts.atomic_calls.size(); ++i)
    rewrite_atomic(program_.facts.atomic_calls[i], i);
}

void CoarrayRewriter::insert(const Directive& directive, const std::string& text) {
  edits_.insert_line(unit_.printed, directive.offset, directive.place, text);
}

void CoarrayRewriter::rewrite(const Directive& directive) {
  std::visit([&](const auto& body) { rewrite(directive, body); }, directive.body);
}

void CoarrayRewriter::rewrite(const Directive& directive, const ImageDirective& image) {
  const NodesSymbol* nodes = program_.find_nodes(image.nodes.text, directive.offset);
  insert(directive, "nagaya_xmp_image(" + nodes->c_name() + ");");
}

void CoarrayRewriter::rewrite(const Directive& directive, const PostDirective& post) {
  insert(directive, "{ " + on_statements(program_, post.node, kNode) +
                        call_statement("nagaya_xmp_post", directive.place,
                                       {std::string("&") + kNode, post.tag.text()}) +
                        " }");
}

void CoarrayRewriter::rewrite(const Directive& directive, const WaitDirective& wait) {
  const bool has_node = wait.node && !wait.node->executing;
  insert(directive,
         "{ " + (has_node ? on_statements(program_, *wait.node, kNode) : "") +
             call_statement("nagaya_xmp_wait", directive.place,
                            {has_node ? std::string("&") + kNode : "0",
                             wait.tag ? "&(const int){" + wait.tag->text() + "}" : "0"}) +
             " }");
}

void CoarrayRewriter::rewrite(const Directive& directive, const LockDirective& lock) {
  const Variable* variable = program_.facts.lookup(lock.name.text, directive.offset);
  const CoarraySymbol& coarray = *program_.coarray_of(variable->entity);
  std::string place = "&" + lock.name.text;
  for (const Expression& index : lock.indexes) place += "[" + index.text() + "]";
  std::vector<std::string> images;
  for (const Expression& image : lock.images) images.push_back(image.text());
  const std::string descriptor = "&" + coarray.c_name();
  const std::string image =
      images.empty() ? "nagaya_xmp_own_image(" + descriptor + ")"
      : images.size() == 1
          ? images[0]
          : call("nagaya_xmp_image_of", directive.place,
                 {descriptor, std::to_string(images.size()), array_of("long", images)});
  const auto pointer = [](const std::optional<Expression>& variable) {
    return variable ? "&(" + variable->text() + ")" : "0";
  };
  std::vector<std::string> arguments = {descriptor, place, image};
  if (!lock.is_unlock) arguments.push_back(pointer(lock.acquired));
  arguments.push_back(pointer(lock.status));
  insert(directive, call_statement(lock.is_unlock ? "nagaya_xmp_unlock" : "nagaya_xmp_lock",
                                   directive.place, arguments));
}

}  // namespace nagaya::xmp
