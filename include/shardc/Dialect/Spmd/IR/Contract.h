//===- Contract.h - Typed access to discardable attributes ------*- C++ -*-===//
//
// Discardable attributes are declared by the dialect of the level that they are
// about; its contracts give each a name here, and its verifier refuses others,
// values that mean nothing, and places where nobody looks.
//
//   if (contract::LocalView::has(function)) ...
//   contract::Parts::set(loop, builder.getI64IntegerAttr(4));
//   StringAttr name = contract::Name::ofArgument(main, 0);
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_CONTRACT_H
#define SHARDC_DIALECT_SPMD_IR_CONTRACT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <type_traits>
#include <utility>

namespace shardc::spmd {

/// Typed access to what `Helper`, a class that ODS generates, declares.
template <typename Helper> struct Contract {
  using Attr = decltype(std::declval<Helper &>().getAttr(nullptr));

  static constexpr llvm::StringLiteral name() { return Helper::getNameStr(); }

  static bool has(mlir::Operation *op) { return bool(get(op)); }
  static Attr get(mlir::Operation *op) {
    return llvm::dyn_cast_or_null<Attr>(op->getDiscardableAttr(name()));
  }
  static void set(mlir::Operation *op, Attr value) {
    op->setDiscardableAttr(name(), value);
  }
  static void remove(mlir::Operation *op) { op->removeDiscardableAttr(name()); }

  /// Of one argument or result, as a dictionary has it.
  static Attr in(mlir::DictionaryAttr attributes) {
    return attributes ? attributes.getAs<Attr>(name()) : Attr();
  }
  static Attr ofArgument(mlir::FunctionOpInterface function, unsigned i) {
    return function.getArgAttrOfType<Attr>(i, name());
  }
  static Attr ofResult(mlir::FunctionOpInterface function, unsigned i) {
    return function.getResultAttrOfType<Attr>(i, name());
  }
  static void setOfArgument(mlir::FunctionOpInterface function, unsigned i,
                            Attr value) {
    function.setArgAttr(i, name(), value);
  }
  static void setOfResult(mlir::FunctionOpInterface function, unsigned i,
                          Attr value) {
    function.setResultAttr(i, name(), value);
  }
  static void removeOfArgument(mlir::FunctionOpInterface function, unsigned i) {
    function.removeArgAttr(
        i, mlir::StringAttr::get(function->getContext(), name()));
  }
  static void removeOfResult(mlir::FunctionOpInterface function, unsigned i) {
    function.removeResultAttr(
        i, mlir::StringAttr::get(function->getContext(), name()));
  }
};

/// A contract that says yes or no.
template <typename Helper> struct Mark : Contract<Helper> {
  static void set(mlir::Operation *op) {
    Contract<Helper>::set(op, mlir::UnitAttr::get(op->getContext()));
  }
};

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_CONTRACT_H
