//===- Spmd.h - The spmd dialect --------------------------------*- C++ -*-===//
//
// Its attributes: docs/Concepts and the ODS beside this file. SpmdGlobal.h has
// the ops: a change of them rebuilds only those that name them.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMD_H
#define SHARDC_DIALECT_SPMD_IR_SPMD_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "shardc/Dialect/Spmd/IR/SpmdEnums.h"
#include "shardc/Dialect/Spmd/IR/SpmdForward.h"
#include "shardc/Layout/Boundaries.h"
#include "shardc/Layout/Exchange.h"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Spmd/IR/SpmdAttributes.h.inc"

// Its accessors name the attributes.
#include "shardc/Dialect/Spmd/IR/SpmdDialect.h.inc"

namespace shardc::spmd {

/// Name of the sharding attribute on function arguments and results.
inline constexpr llvm::StringLiteral kShardingAttrName =
    SpmdDialect::ShardingAttrHelper::getNameStr();
/// Name of the attribute with one sharding a result, on ops after propagation.
inline constexpr llvm::StringLiteral kShardingsAttrName =
    SpmdDialect::ShardingsAttrHelper::getNameStr();
/// Name of the attribute with one dim sharding a factor of the op's rule.
inline constexpr llvm::StringLiteral kFactorsAttrName =
    SpmdDialect::FactorsAttrHelper::getNameStr();

/// The mesh that `name` refers to, looked up from `from`; null if there is
/// none.
MeshAttr lookupMesh(mlir::Operation *from, mlir::FlatSymbolRefAttr name);

/// The one mesh of `module`; null with an error if it has none, or several.
MeshOp getOnlyMesh(mlir::ModuleOp module);

/// The sharding of `value` as recorded by propagation (on its defining op, or
/// on the function argument); null where none is recorded. Arguments of the
/// regions of a while op take the sharding of the result in the same place,
/// those of a manual region what its operand's leaves to it.
ShardingAttr getSharding(mlir::Value value);

/// Records the sharding of `value` in the same places.
void setSharding(mlir::Value value, ShardingAttr sharding);

/// The axes of all manual regions around `region`, which may be one of them.
llvm::SmallVector<mlir::StringAttr> getManualAxes(mlir::Region *region);

/// The box of a tensor of `globalShape` that `rank` owns under `sharding`.
shardc::Box getOwnedBox(ShardingAttr sharding, MeshAttr mesh,
                        llvm::ArrayRef<int64_t> globalShape, int64_t rank);

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_SPMD_H
