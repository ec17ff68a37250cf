// SPDX-License-Identifier: BSD-3-Clause
#include "syntax/loops.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <algorithm>

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

bool is_integer(const clang::Expr& expression, clang::ASTContext& context) {
  const clang::QualType type = expression.IgnoreParenImpCasts()->getType();
  return type->isIntegerType() && context.getTypeSize(type) <= 64;
}

bool may_divide_by_0(const clang::Stmt& part, const clang::ASTContext& context) {
  const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(&part);
  if (binary == nullptr ||
      (binary->getOpcode() != clang::BO_Div && binary->getOpcode() != clang::BO_Rem))
    return false;
  clang::Expr::EvalResult divisor;
  return !binary->getRHS()->EvaluateAsInt(divisor, context) || divisor.Val.getInt() == 0;
}

// Whether the expression is computed from constants and scalar variables alone, whose values change
// by assignments only, and may be computed even if the program would not do so (no division by 0).
bool is_of_scalars(const clang::Stmt& part, const clang::ASTContext& context) {
  if (may_divide_by_0(part, context)) return false;
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&part))
    return llvm::isa<clang::EnumConstantDecl>(reference->getDecl()) ||
           (reference->getType()->isIntegerType() && !reference->getType().isVolatileQualified());
  const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&part);
  const bool is_known =
      unary != nullptr
          ? unary->isArithmeticOp()
          : llvm::isa<clang::IntegerLiteral, clang::CharacterLiteral, clang::ParenExpr,
                      clang::CastExpr, clang::BinaryOperator, clang::ConditionalOperator>(part);
  const auto children = part.children();
  return is_known && std::all_of(children.begin(), children.end(), [&](const clang::Stmt* child) {
           return child != nullptr && is_of_scalars(*child, context);
         });
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
    // Sets the index even if the loop is not canonical: messages name it.
    if (index_ != nullptr) loop_.index = entity_of(index_);
    if (has_index && condition() && step()) {
      loop_.index_type = type_name(index_->getType().getUnqualifiedType(), context_);
      std::vector<const clang::ValueDecl*> found;
      for (const clang::Expr* part : parts_) {
        collect_references(part, found);
        loop_.has_scalar_bounds = loop_.has_scalar_bounds && is_of_scalars(*part, context_);
      }
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

  // Returns the expression's range and sets `text` to its C text. A constant becomes a number,
  // because its expression may name distributed arrays in sizeof.
  Range take(const clang::Expr* expression, std::string& text) {
    const Range range = spots_.range(expression->getSourceRange());
    if (const std::optional<long> value = constant_of(expression)) {
      text = "(" + std::to_string(*value) + "L)";
    } else {
      parts_.push_back(expression);
      loop_.computed.push_back(range);
      text = "(" + spots_.text(range) + ")";
    }
    return range;
  }

  std::optional<long> constant_of(const clang::Expr* expression) const {
    clang::Expr::EvalResult value;
    if (!expression->EvaluateAsInt(value, context_)) return std::nullopt;
    const llvm::APSInt& number = value.Val.getInt();
    if (number.isUnsigned() ? number.getActiveBits() > 63 : number.getBitWidth() > 64)
      return std::nullopt;
    return number.getExtValue();
  }

  // Checks that the end or the step is an integer without side effects: the translation computes it
  // once.
  bool check_bound(const clang::Expr* bound, const char* no_integer, const char* changes) {
    if (!is_integer(*bound, context_)) return refuse(bound, no_integer);
    if (bound->HasSideEffects(context_, /*IncludePossibleEffects=*/false))
      return refuse(bound, changes);
    std::vector<const clang::ValueDecl*> used;
    collect_references(bound, used);
    if (std::find(used.begin(), used.end(), index_) != used.end())
      return refuse(bound, "its end and its step are computed before it, without the index");
    return true;
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
    if (!is_integer(*value, context_)) return refuse(value, "its first value must be an integer");
    loop_.first = take(value, loop_.first_text);
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
    loop_.end = take(bound, loop_.end_text);
    return check_bound(bound, "its bound must be an integer", "its bound changes a variable");
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
    if (!check_bound(width, "its step must be an integer", "its step changes a variable"))
      return false;
    take(width, loop_.step);
    // The cast comes first: the negative of an unsigned step would be a large positive number.
    loop_.step = (down ? "-(long)" : "(long)") + loop_.step;
    const std::optional<long> constant = constant_of(width);
    if (!constant) {
      loop_.stepping = spots_.range(increment->getSourceRange());
      return true;
    }
    if (*constant == 0) return refuse(increment, "its step is 0");
    loop_.step = std::to_string(down ? -*constant : *constant);
    return directed(increment, (*constant < 0) != down);
  }

  // Returns the step of i + step, step + i or i - step and sets `down` for the last; nullptr:
  // neither.
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
