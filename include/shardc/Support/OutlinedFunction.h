//===- OutlinedFunction.h - Functions made of a part of one -----*- C++ -*-===//
#ifndef SHARDC_SUPPORT_OUTLINEDFUNCTION_H
#define SHARDC_SUPPORT_OUTLINEDFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/OperationSupport.h"

namespace shardc {

/// A function without a body that stays one: of this module alone, and never
/// inlined again where it is called.
inline mlir::func::FuncOp createOutlined(mlir::OpBuilder &b, mlir::Location loc,
                                         llvm::StringRef name,
                                         mlir::TypeRange inputs,
                                         mlir::TypeRange results = {}) {
  auto function = mlir::func::FuncOp::create(
      b, loc, name, b.getFunctionType(inputs, results));
  function.setPrivate();
  function->setAttr("llvm.linkage",
                    mlir::LLVM::LinkageAttr::get(
                        b.getContext(), mlir::LLVM::Linkage::Internal));
  function->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
  return function;
}

/// Whether both do the same to arguments of the same types.
inline bool areAlike(mlir::func::FuncOp a, mlir::func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         mlir::OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(),
             mlir::OperationEquivalence::IgnoreLocations);
}

} // namespace shardc

#endif // SHARDC_SUPPORT_OUTLINEDFUNCTION_H
