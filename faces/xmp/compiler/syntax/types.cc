// SPDX-License-Identifier: BSD-3-Clause
#include "syntax/types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Expr.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/AST/TypeLoc.h>

namespace nagaya::xmp {
namespace {

const char* integer_type(const clang::BuiltinType& type) {
  using Kind = clang::BuiltinType;
  switch (type.getKind()) {
    case Kind::Bool:
      return "NAGAYA_XMP_BOOL";
    case Kind::Char_S:
    case Kind::SChar:
      return "NAGAYA_XMP_CHAR";
    case Kind::Char_U:
    case Kind::UChar:
      return "NAGAYA_XMP_UNSIGNED_CHAR";
    case Kind::Short:
      return "NAGAYA_XMP_SHORT";
    case Kind::UShort:
      return "NAGAYA_XMP_UNSIGNED_SHORT";
    case Kind::Int:
      return "NAGAYA_XMP_INT";
    case Kind::UInt:
      return "NAGAYA_XMP_UNSIGNED";
    case Kind::Long:
    case Kind::LongLong:
      return "NAGAYA_XMP_LONG";
    case Kind::ULong:
    case Kind::ULongLong:
      return "NAGAYA_XMP_UNSIGNED_LONG";
    default:
      return "";
  }
}

std::string reduction_type(clang::QualType type) {
  type = type.getCanonicalType().getUnqualifiedType();
  std::string complex;
  if (const auto* found = type->getAs<clang::ComplexType>()) {
    complex = "_COMPLEX";
    type = found->getElementType();
  }
  const auto* builtin = type->getAs<clang::BuiltinType>();
  if (builtin == nullptr) {
    const auto* enumeration = type->getAs<clang::EnumType>();
    return enumeration != nullptr ? reduction_type(enumeration->getDecl()->getIntegerType()) : "";
  }
  switch (builtin->getKind()) {
    case clang::BuiltinType::Float:
      return "NAGAYA_XMP_FLOAT" + complex;
    case clang::BuiltinType::Double:
      return "NAGAYA_XMP_DOUBLE" + complex;
    case clang::BuiltinType::LongDouble:
      return "NAGAYA_XMP_LONG_DOUBLE" + complex;
    default:
      return complex.empty() ? integer_type(*builtin) : "";
  }
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
  while (llvm::isa<clang::TypeOfExprType>(type.getTypePtr()) ||
         llvm::isa<clang::TypeOfType>(type.getTypePtr()))
    type = type.getSingleStepDesugaredType(context);
  clang::PrintingPolicy policy(context.getLangOpts());
  return type.getAsString(policy);
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
