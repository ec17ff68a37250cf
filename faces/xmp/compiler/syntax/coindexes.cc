// SPDX-License-Identifier: BSD-3-Clause
#include "syntax/coindexes.h"

#include <clang/AST/Expr.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include <map>
#include <set>

#include "syntax/spots.h"

namespace nagaya::xmp {
namespace {

class Collector : public clang::RecursiveASTVisitor<Collector> {
 public:
  Collector(clang::ASTContext& context, const std::vector<Coindex>& coindexes, Facts& facts)
      : spots_(context), facts_(facts) {
    for (size_t i = 0; i < coindexes.size(); ++i) {
      by_begin_[coindexes[i].whole.begin] = i;
      for (const Range& image : coindexes[i].images) image_parentheses_.insert(image.begin - 1);
    }
    for (clang::Decl* declaration : context.getTranslationUnitDecl()->decls())
      if (declaration->getLocation().isValid() &&
          !spots_.in_system_header(declaration->getLocation()))
        TraverseDecl(declaration);
  }

  // The ancestors of the visited statement are those whose visit has begun and not ended.
  bool dataTraverseStmtPre(clang::Stmt* statement) {
    if (const auto* parentheses = llvm::dyn_cast<clang::ParenExpr>(statement)) {
      const auto found = by_begin_.find(spots_.offset(parentheses->getLParen()));
      if (found != by_begin_.end()) enter_use(found->second, *parentheses);
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) enter_call(*call);
    ancestors_.push_back(statement);
    return true;
  }
  bool dataTraverseStmtPost(clang::Stmt*) {
    ancestors_.pop_back();
    return true;
  }
  bool TraverseTypeOfExprTypeLoc(clang::TypeOfExprTypeLoc type) {
    ++types_;
    const bool goes_on = RecursiveASTVisitor::TraverseTypeOfExprTypeLoc(type);
    --types_;
    return goes_on;
  }

 private:
  using Kind = CoindexUse::Kind;

  const clang::Stmt* ancestor(size_t above) const {
    return above < ancestors_.size() ? ancestors_[ancestors_.size() - 1 - above] : nullptr;
  }

  // Climbs from the reference to the whole lvalue, then looks at its use.
  void enter_use(size_t coindex, const clang::ParenExpr& reference) {
    CoindexUse use{};
    use.coindex = coindex;
    const clang::Expr* lvalue = &reference;
    size_t above = 0;
    for (const clang::Stmt* parent = ancestor(0); parent != nullptr; parent = ancestor(above)) {
      const auto* member = llvm::dyn_cast<clang::MemberExpr>(parent);
      const auto* decay = llvm::dyn_cast<clang::ImplicitCastExpr>(parent);
      const auto* element = llvm::dyn_cast_or_null<clang::ArraySubscriptExpr>(ancestor(above + 1));
      if (member != nullptr && !member->isArrow()) {
        const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
        use.is_bit_field = use.is_bit_field || (field != nullptr && field->isBitField());
        lvalue = member;
      } else if (decay != nullptr && decay->getCastKind() == clang::CK_ArrayToPointerDecay &&
                 element != nullptr && element->getBase() == decay) {
        lvalue = element;
        ++above;
      } else if (is_parenthesis_of_user(parent)) {
        lvalue = llvm::cast<clang::ParenExpr>(parent);
      } else {
        break;
      }
      ++above;
    }
    use.is_array = lvalue->getType()->isArrayType();
    use.lvalue = use.whole = spots_.range(lvalue->getSourceRange());
    use.kind = Kind::kValue;
    enter_operation(use, lvalue, ancestor(above));
    if (types_ > 0) use.kind = Kind::kUnevaluated;
    facts_.coindex_uses.push_back(use);
  }

  bool is_parenthesis_of_user(const clang::Stmt* statement) const {
    const auto* parentheses = llvm::dyn_cast<clang::ParenExpr>(statement);
    return parentheses != nullptr &&
           image_parentheses_.count(spots_.offset(parentheses->getLParen())) == 0;
  }

  void enter_operation(CoindexUse& use, const clang::Expr* lvalue, const clang::Stmt* parent) {
    if (parent == nullptr) return;
    const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(parent);
    const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(parent);
    if (binary != nullptr && binary->isAssignmentOp() && binary->getLHS() == lvalue) {
      use.kind = binary->isCompoundAssignmentOp() ? Kind::kChanged : Kind::kAssigned;
      use.whole = spots_.range(binary->getSourceRange());
      use.operation = {spots_.offset(binary->getOperatorLoc()),
                       spots_.behind(binary->getOperatorLoc())};
    } else if (unary != nullptr && unary->isIncrementDecrementOp()) {
      use.kind = Kind::kIncremented;
      use.is_prefix = unary->isPrefix();
      use.whole = spots_.range(unary->getSourceRange());
      use.operation = {spots_.offset(unary->getOperatorLoc()),
                       spots_.behind(unary->getOperatorLoc())};
    } else if (unary != nullptr && unary->getOpcode() == clang::UO_AddrOf) {
      use.kind = Kind::kAddress;
    } else if (llvm::isa<clang::UnaryExprOrTypeTraitExpr>(parent)) {
      use.kind = Kind::kUnevaluated;
    }
  }

  void enter_call(const clang::CallExpr& call) {
    const clang::FunctionDecl* callee = call.getDirectCallee();
    if (callee == nullptr || call.getNumArgs() != 2) return;
    const std::string name = callee->getNameAsString();
    if (name != "xmp_atomic_define" && name != "xmp_atomic_ref") return;
    AtomicCall found;
    found.is_define = name == "xmp_atomic_define";
    const clang::Expr* atom = call.getArg(found.is_define ? 0 : 1)->IgnoreImpCasts();
    found.whole = spots_.range(call.getSourceRange());
    found.atom = spots_.range(atom->getSourceRange());
    const clang::Expr* other = call.getArg(found.is_define ? 1 : 0)->IgnoreImpCasts();
    found.other = spots_.range(other->getSourceRange());
    found.other_is_address = other->getType()->isPointerType() || other->getType()->isArrayType();
    found.is_lvalue = atom->isLValue();
    found.has_atomic_type = atom->getType()->isIntegerType() && !atom->getType()->isCharType();
    facts_.atomic_calls.push_back(found);
  }

  Spots spots_;
  Facts& facts_;
  std::map<size_t, size_t> by_begin_;   // of each reference: its number
  std::set<size_t> image_parentheses_;  // offsets of those that the text has around images
  std::vector<const clang::Stmt*> ancestors_;
  int types_ = 0;  // typeof(...) around the visited statement
};

}  // namespace

void collect_coindexes(clang::ASTContext& context, const std::vector<Coindex>& coindexes,
                       Facts& facts) {
  const Collector collector(context, coindexes, facts);
}

}  // namespace nagaya::xmp
