// SPDX-License-Identifier: BSD-3-Clause
#include "syntax/collector.h"

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/Stmt.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "syntax/loops.h"
#include "syntax/spots.h"
#include "syntax/types.h"

namespace nagaya::xmp {
namespace {

// Returns the operand from which an expression takes its pointer: u for (&u)[0], (0, u)[i],
// ((char *)u)[k].
const clang::Expr* origin_of(const clang::Expr* pointer) {
  for (;;) {
    pointer = pointer->IgnoreParenImpCasts();
    const auto* cast = llvm::dyn_cast<clang::CastExpr>(pointer);
    const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(pointer);
    const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(pointer);
    const auto* block = llvm::dyn_cast<clang::StmtExpr>(pointer);
    if (cast != nullptr && cast->getType()->isPointerType())
      pointer = cast->getSubExpr();
    else if (unary != nullptr &&
             (unary->getOpcode() == clang::UO_AddrOf || unary->getOpcode() == clang::UO_Deref))
      pointer = unary->getSubExpr();
    else if (binary != nullptr && binary->getOpcode() == clang::BO_Comma)
      pointer = binary->getRHS();
    else if (const auto* value = llvm::dyn_cast<clang::OpaqueValueExpr>(pointer);
             value != nullptr && value->getSourceExpr() != nullptr)
      pointer = value->getSourceExpr();
    else if (block != nullptr && !block->getSubStmt()->body_empty() &&
             llvm::isa<clang::Expr>(block->getSubStmt()->body_back()))
      pointer = llvm::cast<clang::Expr>(block->getSubStmt()->body_back());
    else
      return pointer;
  }
}

// Whether the lvalue is reached through a pointer, not by a variable's name alone.
bool is_behind_pointer(const clang::Expr* lvalue) {
  for (;;) {
    lvalue = lvalue->IgnoreParenImpCasts();
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(lvalue)) {
      if (member->isArrow()) return true;
      lvalue = member->getBase();
    } else if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(lvalue)) {
      lvalue = element->getBase()->IgnoreParenImpCasts();
      if (!lvalue->getType()->isArrayType()) return true;
    } else {
      const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(lvalue);
      return unary != nullptr && unary->getOpcode() == clang::UO_Deref;
    }
  }
}

class Collector : public clang::RecursiveASTVisitor<Collector> {
 public:
  using Base = RecursiveASTVisitor<Collector>;

  explicit Collector(clang::ASTContext& context) : context_(context), spots_(context) {}

  Facts collect() {
    const clang::TranslationUnitDecl* unit = context_.getTranslationUnitDecl();
    scopes_.push_back({0, kNone});
    for (clang::Decl* declaration : unit->decls()) {
      if (declaration->getLocation().isInvalid()) continue;
      // Functions of system headers hold no directive, so only their names are collected.
      if (spots_.in_system_header(declaration->getLocation()))
        declare_shallow(declaration);
      else
        TraverseDecl(declaration);
    }
    std::stable_sort(facts_.uses.begin(), facts_.uses.end(),
                     [](const Use& a, const Use& b) { return a.name.begin < b.name.begin; });
    facts_.index_names();
    return std::move(facts_);
  }

  bool VisitNamedDecl(clang::NamedDecl* declaration) {
    // Skips parameters: here they belong to function types. A function's own are declared with its
    // body.
    if (!llvm::isa<clang::FieldDecl, clang::TagDecl, clang::LabelDecl, clang::ParmVarDecl>(
            declaration) &&
        declaration->getLocation().isValid())
      declare(*declaration);
    return true;
  }

  bool TraverseFunctionDecl(clang::FunctionDecl* function) {
    const clang::CompoundStmt* body = function->doesThisDeclarationHaveABody()
                                          ? llvm::dyn_cast<clang::CompoundStmt>(function->getBody())
                                          : nullptr;
    declare(*function);
    if (body == nullptr) return true;
    // A function's parameters are known in its body only.
    const Range range = spots_.statement(body);
    scopes_.push_back(range);
    for (clang::ParmVarDecl* parameter : function->parameters())
      if (parameter->getIdentifier() != nullptr) declare(*parameter);
    facts_.functions.push_back({function->getNameAsString(), range});
    const bool whole = TraverseStmt(function->getBody());
    scopes_.pop_back();
    return whole;
  }

  bool TraverseCompoundStmt(clang::CompoundStmt* block) {
    enter(block, Statement::kCompound);
    scopes_.push_back(spots_.statement(block));
    for (clang::Stmt* child : block->body()) child_statement(child);
    scopes_.pop_back();
    leave();
    return true;
  }

  bool TraverseForStmt(clang::ForStmt* loop) {
    const Range range = spots_.statement(loop);
    scopes_.push_back(range);
    TraverseStmt(loop->getInit());
    TraverseStmt(loop->getCond());
    TraverseStmt(loop->getInc());
    const size_t own = facts_.loops.size();
    facts_.loops.push_back(take_apart(*loop, spots_, context_,
                                      [this](const clang::ValueDecl* d) { return entity_of(d); }));
    // The caller has entered this statement, unless it belongs to a statement expression.
    if (!open_.empty() && facts_.statements[open_.back()].range.begin == range.begin)
      facts_.statements[open_.back()].loop = own;
    facts_.loops[own].body_statement = facts_.statements.size();
    breakable(range, [&] { child_statement(loop->getBody()); });
    scopes_.pop_back();
    return true;
  }

  bool TraverseWhileStmt(clang::WhileStmt* loop) {
    TraverseStmt(loop->getCond());
    breakable(spots_.statement(loop), [&] { child_statement(loop->getBody()); });
    return true;
  }

  bool TraverseDoStmt(clang::DoStmt* loop) {
    breakable(spots_.statement(loop), [&] { child_statement(loop->getBody()); });
    return TraverseStmt(loop->getCond());
  }

  bool TraverseSwitchStmt(clang::SwitchStmt* choice) {
    TraverseStmt(choice->getCond());
    const size_t outer = break_target_;
    break_target_ = spots_.statement(choice).begin;
    for (const clang::SwitchCase* label = choice->getSwitchCaseList(); label != nullptr;
         label = label->getNextSwitchCase())
      facts_.jumps.push_back({Jump::kCase, break_target_, spots_.offset(label->getKeywordLoc())});
    child_statement(choice->getBody());
    break_target_ = outer;
    return true;
  }

  bool TraverseIfStmt(clang::IfStmt* choice) {
    TraverseStmt(choice->getCond());
    child_statement(choice->getThen());
    if (choice->getElse() != nullptr) child_statement(choice->getElse());
    return true;
  }

  bool TraverseLabelStmt(clang::LabelStmt* label) {
    child_statement(label->getSubStmt());
    return true;
  }
  bool TraverseCaseStmt(clang::CaseStmt* label) {
    TraverseStmt(label->getLHS());
    child_statement(label->getSubStmt());
    return true;
  }
  bool TraverseDefaultStmt(clang::DefaultStmt* label) {
    child_statement(label->getSubStmt());
    return true;
  }

  bool VisitBreakStmt(clang::BreakStmt* jump) {
    return jumps(Jump::kBreak, jump->getBreakLoc(), break_target_);
  }
  bool VisitContinueStmt(clang::ContinueStmt* jump) {
    return jumps(Jump::kContinue, jump->getContinueLoc(), continue_target_);
  }
  bool VisitReturnStmt(clang::ReturnStmt* jump) {
    return jumps(Jump::kReturn, jump->getReturnLoc(), 0);
  }
  bool VisitGotoStmt(clang::GotoStmt* jump) {
    return jumps(Jump::kGoto, jump->getGotoLoc(), spots_.offset(jump->getLabel()->getLocation()));
  }
  bool VisitIndirectGotoStmt(clang::IndirectGotoStmt* jump) {
    return jumps(Jump::kGoto, jump->getGotoLoc(), kNone);
  }

  bool VisitAddrLabelExpr(clang::AddrLabelExpr* address) {
    return jumps(Jump::kGoto, address->getAmpAmpLoc(),
                 spots_.offset(address->getLabel()->getLocation()));
  }

  bool TraverseCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    const size_t begin = spots_.offset(call->getBeginLoc());
    if (callee == nullptr || callee->getBuiltinID() == 0) facts_.calls.push_back({begin});
    calls_.push_back(begin);
    const bool whole = Base::TraverseCallExpr(call);
    calls_.pop_back();
    return whole;
  }

  bool VisitArraySubscriptExpr(clang::ArraySubscriptExpr* subscript) {
    const clang::Expr* base = subscript->getBase()->IgnoreParenImpCasts();
    subscript_of_[base] = subscript;
    if (const clang::Expr* origin = origin_of(base); origin != base) as_pointer_.insert(origin);
    if (subscript->getBase() != subscript->getLHS()) reversed_.insert(base);
    return true;
  }

  bool VisitUnaryOperator(clang::UnaryOperator* unary) {
    const clang::Expr* operand = unary->getSubExpr()->IgnoreParens();
    if (unary->getOpcode() == clang::UO_AddrOf)
      address_of_[operand] = spots_.range(unary->getSourceRange());
    if (unary->getOpcode() == clang::UO_Deref) as_pointer_.insert(origin_of(unary->getSubExpr()));
    if (unary->isIncrementDecrementOp()) write(operand);
    return true;
  }

  bool VisitBinaryOperator(clang::BinaryOperator* binary) {
    if (binary->getOpcode() == clang::BO_Assign)
      facts_.assignments.push_back({spots_.range(binary->getLHS()->getSourceRange()),
                                    spots_.range(binary->getRHS()->getSourceRange()),
                                    spots_.offset(binary->getOperatorLoc())});
    if (binary->isAssignmentOp()) write(binary->getLHS()->IgnoreParens());
    if (binary->isAdditiveOp())
      for (const clang::Expr* operand : {binary->getLHS(), binary->getRHS()})
        as_pointer_.insert(origin_of(operand));
    return true;
  }

  bool VisitMemberExpr(clang::MemberExpr* member) {
    if (member->isArrow()) as_pointer_.insert(origin_of(member->getBase()));
    return true;
  }

  bool VisitAbstractConditionalOperator(clang::AbstractConditionalOperator* choice) {
    for (const clang::Expr* branch : {choice->getTrueExpr(), choice->getFalseExpr()})
      as_pointer_.insert(origin_of(branch));
    return true;
  }

  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr* trait) {
    ++unevaluated_;
    const bool whole = Base::TraverseUnaryExprOrTypeTraitExpr(trait);
    --unevaluated_;
    return whole;
  }

  bool TraverseTypeOfExprTypeLoc(clang::TypeOfExprTypeLoc location) {
    ++unevaluated_;
    const bool whole = TraverseStmt(location.getUnderlyingExpr());
    --unevaluated_;
    return whole;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    if (variable == nullptr) return true;
    Use use;
    use.entity = entity_of(variable);
    use.name = spots_.range(reference->getSourceRange());
    use.unevaluated = unevaluated_ > 0;
    use.written = written_.count(reference) != 0;
    use.reversed = reversed_.count(reference) != 0;
    if (const auto found = address_of_.find(reference); found != address_of_.end())
      use.address_of = found->second;
    const clang::Expr* at = reference;
    for (auto found = subscript_of_.find(at); found != subscript_of_.end();
         found = subscript_of_.find(at)) {
      const clang::ArraySubscriptExpr* subscript = found->second;
      const size_t base_end = spots_.behind(subscript->getLHS()->getEndLoc());
      use.subscripts.push_back(
          {spots_.find('[', base_end), spots_.offset(subscript->getRBracketLoc())});
      at = subscript;
    }
    use.as_pointer = as_pointer_.count(at) != 0;
    use.calls = calls_;
    facts_.uses.push_back(std::move(use));
    return true;
  }

 private:
  void declare_shallow(clang::Decl* declaration) {
    if (const auto* enumeration = llvm::dyn_cast<clang::EnumDecl>(declaration))
      for (const clang::EnumConstantDecl* constant : enumeration->enumerators()) declare(*constant);
    else if (const auto* named = llvm::dyn_cast<clang::NamedDecl>(declaration);
             named != nullptr && !llvm::isa<clang::TagDecl>(named))
      declare(*named);
  }

  void declare(const clang::NamedDecl& declaration) {
    Variable variable = describe(declaration, spots_, context_);
    if (variable.name.empty()) return;
    variable.scope = scopes_.back();
    const auto* value = llvm::dyn_cast<clang::ValueDecl>(&declaration);
    variable.entity = value != nullptr ? entity_of(value) : kNone;
    facts_.variables.push_back(std::move(variable));
  }

  // Returns the declaration's entity: a number, in the order of appearance.
  size_t entity_of(const clang::ValueDecl* declaration) {
    return entities_.emplace(declaration->getCanonicalDecl(), entities_.size()).first->second;
  }

  void enter(const clang::Stmt* statement, Statement::Kind kind) {
    const Range range = spots_.statement(statement);
    // The compound has been entered already, as the child of another statement.
    if (!open_.empty() && facts_.statements[open_.back()].range.begin == range.begin &&
        facts_.statements[open_.back()].kind == kind && kind == Statement::kCompound) {
      open_.push_back(open_.back());
      return;
    }
    const size_t parent = open_.empty() ? kNone : open_.back();
    open_.push_back(facts_.statements.size());
    facts_.statements.push_back({kind, range, parent, kNone});
  }

  void leave() { open_.pop_back(); }

  void child_statement(clang::Stmt* statement) {
    // #pragma GCC unroll 4 and its like are attributes of the loop behind them.
    while (auto* attributed = llvm::dyn_cast<clang::AttributedStmt>(statement))
      statement = attributed->getSubStmt();
    Statement::Kind kind = Statement::kOther;
    if (llvm::isa<clang::CompoundStmt>(statement)) kind = Statement::kCompound;
    if (llvm::isa<clang::ForStmt>(statement)) kind = Statement::kFor;
    if (llvm::isa<clang::LabelStmt, clang::SwitchCase>(statement)) kind = Statement::kLabel;
    enter(statement, kind);
    TraverseStmt(statement);
    leave();
  }

  template <typename Work>
  void breakable(const Range& loop, Work work) {
    const size_t outer_break = break_target_, outer_continue = continue_target_;
    break_target_ = continue_target_ = loop.begin;
    work();
    break_target_ = outer_break;
    continue_target_ = outer_continue;
  }

  void write(const clang::Expr* lvalue) {
    written_.insert(lvalue);
    if (is_behind_pointer(lvalue))
      facts_.pointer_stores.push_back(spots_.offset(lvalue->getBeginLoc()));
  }

  bool jumps(Jump::Kind kind, clang::SourceLocation place, size_t target) {
    facts_.jumps.push_back({kind, spots_.offset(place), target});
    return true;
  }

  clang::ASTContext& context_;
  Spots spots_;
  Facts facts_;
  std::vector<Range> scopes_;
  std::vector<size_t> open_;   // the statements that the traversal is in, outer ones first
  std::vector<size_t> calls_;  // the calls that it is in, outer ones first
  size_t break_target_ = 0, continue_target_ = 0;
  int unevaluated_ = 0;
  std::unordered_map<const clang::Decl*, size_t> entities_;
  std::unordered_map<const clang::Expr*, const clang::ArraySubscriptExpr*> subscript_of_;
  std::unordered_map<const clang::Expr*, Range> address_of_;
  std::unordered_set<const clang::Expr*> written_, reversed_, as_pointer_;
};

}  // namespace

Facts collect_facts(clang::ASTContext& context) {
  return Collector(context).collect();
}

}  // namespace nagaya::xmp
