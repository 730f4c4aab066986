//===- Bodies.h - How passes of this room begin -----------------*- C++ -*-===//
#ifndef SHARDC_LIB_PROPAGATION_BODIES_H
#define SHARDC_LIB_PROPAGATION_BODIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

namespace shardc::propagation {

/// Calls `visit` with each function of `module` that has a body, and with the
/// mesh. Fails where there is not one mesh, which is said, or where `visit`
/// does.
inline llvm::LogicalResult
forEachBody(mlir::ModuleOp module,
            llvm::function_ref<llvm::LogicalResult(mlir::func::FuncOp function,
                                                   spmd::MeshOp mesh)>
                visit) {
  spmd::MeshOp mesh = spmd::getOnlyMesh(module);
  if (!mesh)
    return llvm::failure();
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (!function.isExternal() && failed(visit(function, mesh)))
      return llvm::failure();
  return llvm::success();
}

} // namespace shardc::propagation

#endif // SHARDC_LIB_PROPAGATION_BODIES_H
