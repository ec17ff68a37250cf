// SPDX-License-Identifier: BSD-3-Clause
#include "syntax/types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Expr.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/AST/TypeLoc.h>

#include <map>

namespace nagaya::xmp {
namespace {

using Builtin = clang::BuiltinType;

// Names of nagaya_xmp_type.
const std::map<Builtin::Kind, std::string> kIntegers = {
    {Builtin::Bool, "NAGAYA_XMP_BOOL"},
    {Builtin::Char_S, "NAGAYA_XMP_CHAR"},
    {Builtin::SChar, "NAGAYA_XMP_CHAR"},
    {Builtin::Char_U, "NAGAYA_XMP_UNSIGNED_CHAR"},
    {Builtin::UChar, "NAGAYA_XMP_UNSIGNED_CHAR"},
    {Builtin::Short, "NAGAYA_XMP_SHORT"},
    {Builtin::UShort, "NAGAYA_XMP_UNSIGNED_SHORT"},
    {Builtin::Int, "NAGAYA_XMP_INT"},
    {Builtin::UInt, "NAGAYA_XMP_UNSIGNED"},
    {Builtin::Long, "NAGAYA_XMP_LONG"},
    {Builtin::LongLong, "NAGAYA_XMP_LONG"},
    {Builtin::ULong, "NAGAYA_XMP_UNSIGNED_LONG"},
    {Builtin::ULongLong, "NAGAYA_XMP_UNSIGNED_LONG"}};
const std::map<Builtin::Kind, std::string> kReals = {
    {Builtin::Float, "NAGAYA_XMP_FLOAT"},
    {Builtin::Double, "NAGAYA_XMP_DOUBLE"},
    {Builtin::LongDouble, "NAGAYA_XMP_LONG_DOUBLE"}};

std::string reduction_type(clang::QualType type) {
  type = type.getCanonicalType().getUnqualifiedType();
  const auto* complex = type->getAs<clang::ComplexType>();
  if (complex != nullptr) type = complex->getElementType();
  if (const auto* enumeration = type->getAs<clang::EnumType>())
    return reduction_type(enumeration->getDecl()->getIntegerType());
  const auto* builtin = type->getAs<Builtin>();
  if (builtin == nullptr) return "";
  if (const auto real = kReals.find(builtin->getKind()); real != kReals.end())
    return real->second + (complex != nullptr ? "_COMPLEX" : "");
  const auto integer = kIntegers.find(builtin->getKind());
  return complex == nullptr && integer != kIntegers.end() ? integer->second : "";
}

bool has_name(clang::QualType type) {
  const clang::TagDecl* tag = type->getAsTagDecl();
  return tag == nullptr || tag->getIdentifier() != nullptr ||
         type->getAs<clang::TypedefType>() != nullptr;
}

void describe_extents(clang::QualType type, clang::TypeLoc written, Variable& variable,
                      const Spots& spots, clang::ASTContext& context) {
  while (const clang::ArrayType* array = context.getAsArrayType(type)) {
    Extent extent;
    if (const auto parentheses = written.getAs<clang::ParenTypeLoc>())
      written = parentheses.getInnerLoc();
    if (const auto location = written.getAs<clang::ArrayTypeLoc>()) {
      extent.written = {spots.behind(location.getLBracketLoc()),
                        spots.offset(location.getRBracketLoc())};
      written = location.getElementLoc();
    }
    if (const auto* constant = llvm::dyn_cast<clang::ConstantArrayType>(array))
      extent.constant = constant->getSize().getSExtValue();
    else if (const auto* variable_length = llvm::dyn_cast<clang::VariableArrayType>(array);
             variable_length != nullptr && variable_length->getSizeExpr() != nullptr)
      extent.text = spots.text(spots.range(variable_length->getSizeExpr()->getSourceRange()));
    variable.extents.push_back(extent);
    type = array->getElementType();
  }
  variable.element = has_name(type) ? type_name(type, context) : "";
  // For a pointer the type of its elements: a reduction can concern only these.
  const bool has_elements = type->isPointerType() && variable.extents.empty();
  const clang::QualType reduced = has_elements ? type->getPointeeType() : type;
  variable.reduction_type = reduction_type(reduced);
  variable.is_integer = reduced->isIntegerType();
  variable.is_pointer = type->isPointerType();
  const clang::QualType innermost = has_elements ? context.getBaseElementType(reduced) : type;
  variable.innermost = type_name(innermost.getCanonicalType().getUnqualifiedType(), context);
  if (!has_elements) return;
  variable.pointee_extents.emplace_back();
  clang::QualType pointee = type->getPointeeType();
  while (const clang::ArrayType* array = context.getAsArrayType(pointee)) {
    Extent& extent = variable.pointee_extents.emplace_back();
    if (const auto* constant = llvm::dyn_cast<clang::ConstantArrayType>(array))
      extent.constant = constant->getSize().getSExtValue();
    pointee = array->getElementType();
  }
  variable.pointee_element = has_name(pointee) ? type_name(pointee, context) : "";
  variable.pointee_reduction_type = reduction_type(pointee);
}

void describe_variable(const clang::VarDecl& declaration, Variable& variable, const Spots& spots,
                       clang::ASTContext& context) {
  clang::QualType type = declaration.getType();
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&declaration)) {
    variable.kind = Variable::kParameter;
    type = parameter->getOriginalType();
  }
  variable.file_scope = declaration.isFileVarDecl();
  variable.is_static = declaration.getStorageClass() == clang::SC_Static;
  variable.is_external = declaration.hasExternalFormalLinkage();
  variable.has_initialiser = declaration.hasInit();
  variable.is_aligned = declaration.hasAttr<clang::AlignedAttr>();
  const clang::TypeSourceInfo* written = declaration.getTypeSourceInfo();
  describe_extents(type, written != nullptr ? written->getTypeLoc() : clang::TypeLoc(), variable,
                   spots, context);
  clang::Expr::EvalResult result;
  if (variable.extents.empty() && type.isConstQualified() && type->isIntegerType() &&
      declaration.hasInit() && !declaration.getInit()->isValueDependent() &&
      declaration.getInit()->EvaluateAsInt(result, context))
    variable.constant = result.Val.getInt().getExtValue();
}

}  // namespace

std::string type_name(clang::QualType type, clang::ASTContext& context) {
  // Resolves typeof: it would be printed as such, and strict C does not have it.
  while (llvm::isa<clang::TypeOfExprType, clang::TypeOfType>(type.getTypePtr()))
    type = type.getSingleStepDesugaredType(context);
  return type.getAsString(clang::PrintingPolicy(context.getLangOpts()));
}

Variable describe(const clang::NamedDecl& declaration, const Spots& spots,
                  clang::ASTContext& context) {
  Variable variable{};
  variable.kind = Variable::kObject;
  variable.name = declaration.getNameAsString();
  variable.name_offset = spots.offset(declaration.getLocation());
  variable.visible_from = variable.name_offset;
  if (const auto* object = llvm::dyn_cast<clang::VarDecl>(&declaration)) {
    describe_variable(*object, variable, spots, context);
  } else if (const auto* constant = llvm::dyn_cast<clang::EnumConstantDecl>(&declaration)) {
    variable.kind = Variable::kConstant;
    variable.constant = constant->getInitVal().getExtValue();
  } else {
    variable.kind =
        llvm::isa<clang::FunctionDecl>(declaration) ? Variable::kFunction : Variable::kType;
  }
  return variable;
}

}  // namespace nagaya::xmp
