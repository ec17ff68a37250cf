// SPDX-License-Identifier: BSD-3-Clause
#include "syntax/loops.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include "syntax/types.h"

namespace nagaya::xmp {
namespace {

using clang::dyn_cast_or_null;

const clang::VarDecl* variable_in(const clang::Expr* expression) {
  if (expression == nullptr) return nullptr;
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expression->IgnoreParenImpCasts());
  return reference == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
}

void collect_references(const clang::Stmt* part, std::vector<const clang::ValueDecl*>& found) {
  if (part == nullptr) return;
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(part))
    found.push_back(reference->getDecl());
  for (const clang::Stmt* child : part->children()) collect_references(child, found);
}

class Dissector {
 public:
  Dissector(const clang::ForStmt& statement, const Spots& spots, clang::ASTContext& context)
      : statement_(statement), spots_(spots), context_(context) {}

  Loop dissect(const EntityOf& entity_of) {
    loop_.whole = spots_.statement(&statement_);
    loop_.header = {spots_.behind(statement_.getLParenLoc()),
                    spots_.offset(statement_.getRParenLoc())};
    loop_.body = spots_.statement(statement_.getBody());
    const bool has_index = first();
    // Known even if the rest is not canonical: for messages.
    if (index_ != nullptr) loop_.index = entity_of(index_);
    if (has_index && condition() && step()) {
      loop_.index_type = type_name(index_->getType().getUnqualifiedType(), context_);
      std::vector<const clang::ValueDecl*> found;
      for (const clang::Expr* part : parts_) collect_references(part, found);
      for (const clang::ValueDecl* declaration : found)
        loop_.bound_uses.push_back(entity_of(declaration));
    }
    return loop_;
  }

 private:
  bool refuse(const clang::Stmt* at, const char* why) {
    return refuse(at != nullptr ? spots_.offset(at->getBeginLoc()) : loop_.header.begin, why);
  }
  bool refuse(size_t offset, const char* why) {
    loop_.problem = why;
    loop_.problem_offset = offset;
    return false;
  }

  Range take(const clang::Expr* expression) {
    parts_.push_back(expression);
    return spots_.range(expression->getSourceRange());
  }

  bool first() {
    const clang::Stmt* init = statement_.getInit();
    const clang::Expr* value = nullptr;
    if (const auto* declaration = dyn_cast_or_null<clang::DeclStmt>(init)) {
      index_ = declaration->isSingleDecl()
                   ? llvm::dyn_cast<clang::VarDecl>(declaration->getSingleDecl())
                   : nullptr;
      if (index_ != nullptr) value = index_->getInit();
      loop_.declares_index = true;
    } else if (const auto* assignment = dyn_cast_or_null<clang::BinaryOperator>(init);
               assignment != nullptr && assignment->getOpcode() == clang::BO_Assign) {
      index_ = variable_in(assignment->getLHS());
      value = assignment->getRHS();
    }
    if (index_ == nullptr || value == nullptr)
      return refuse(init, "its first part must set one index: i = first");
    if (!index_->getType()->isIntegerType())
      return refuse(
          spots_.offset(loop_.declares_index ? index_->getLocation() : init->getBeginLoc()),
          "its index must be an integer");
    loop_.first = take(value);
    return true;
  }

  bool condition() {
    const auto* compared = dyn_cast_or_null<clang::BinaryOperator>(statement_.getCond());
    if (compared == nullptr || !compared->isRelationalOp())
      return refuse(statement_.getCond(), "its condition must be <, <=, > or >= of the index");
    clang::BinaryOperatorKind relation = compared->getOpcode();
    const clang::Expr* bound = compared->getRHS();
    if (variable_in(compared->getLHS()) != index_) {
      if (variable_in(bound) != index_)
        return refuse(compared, "its condition must be <, <=, > or >= of the index");
      bound = compared->getLHS();
      relation = clang::BinaryOperator::reverseComparisonOp(relation);
    }
    loop_.upwards = relation == clang::BO_LT || relation == clang::BO_LE;
    loop_.inclusive = relation == clang::BO_LE || relation == clang::BO_GE;
    loop_.end = take(bound);
    return true;
  }

  bool step() {
    const clang::Expr* increment = statement_.getInc();
    const clang::Expr* width = nullptr;
    bool down = false;
    if (const auto* unary = dyn_cast_or_null<clang::UnaryOperator>(increment);
        unary != nullptr && unary->isIncrementDecrementOp() &&
        variable_in(unary->getSubExpr()) == index_) {
      loop_.step = unary->isDecrementOp() ? "-1" : "1";
      return directed(increment, unary->isDecrementOp());
    }
    const auto* binary = dyn_cast_or_null<clang::BinaryOperator>(increment);
    if (binary != nullptr && variable_in(binary->getLHS()) == index_) {
      if (binary->getOpcode() == clang::BO_AddAssign ||
          binary->getOpcode() == clang::BO_SubAssign) {
        width = binary->getRHS();
        down = binary->getOpcode() == clang::BO_SubAssign;
      } else if (binary->getOpcode() == clang::BO_Assign) {
        width = sum(binary->getRHS(), down);
      }
    }
    if (width == nullptr)
      return refuse(increment, "its third part must step the index: i++ or i += step");
    loop_.step = (down ? "-(" : "(") + spots_.text(take(width)) + ")";
    clang::Expr::EvalResult value;
    if (!width->EvaluateAsInt(value, context_)) return true;
    long constant = value.Val.getInt().getExtValue();
    if (down) constant = -constant;
    if (constant == 0) return refuse(increment, "its step is 0");
    loop_.step = std::to_string(constant);
    return directed(increment, constant < 0);
  }

  // i + step, step + i, i - step
  const clang::Expr* sum(const clang::Expr* expression, bool& down) {
    const auto* added = llvm::dyn_cast<clang::BinaryOperator>(expression->IgnoreParenImpCasts());
    if (added == nullptr || !added->isAdditiveOp()) return nullptr;
    down = added->getOpcode() == clang::BO_Sub;
    if (variable_in(added->getLHS()) == index_) return added->getRHS();
    return !down && variable_in(added->getRHS()) == index_ ? added->getLHS() : nullptr;
  }

  bool directed(const clang::Stmt* at, bool down) {
    return loop_.upwards != down ? true : refuse(at, "its step leads away from its end");
  }

  const clang::ForStmt& statement_;
  const Spots& spots_;
  clang::ASTContext& context_;
  Loop loop_;
  const clang::VarDecl* index_ = nullptr;
  std::vector<const clang::Expr*> parts_;
};

}  // namespace

Loop take_apart(const clang::ForStmt& statement, const Spots& spots, clang::ASTContext& context,
                const EntityOf& entity_of) {
  return Dissector(statement, spots, context).dissect(entity_of);
}

}  // namespace nagaya::xmp
