//===- Sdy.h - The sdy dialect ----------------------------------*- C++ -*-===//
//
// Shardy's annotations, in shardc::sdy; names are Shardy's own. Nothing here
// propagates: Import turns them into spmd annotations.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SDY_IR_SDY_H
#define SHARDC_DIALECT_SDY_IR_SDY_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "shardc/Dialect/Sdy/IR/SdyDialect.h.inc"
#include "shardc/Dialect/Sdy/IR/SdyEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Sdy/IR/SdyAttrs.h.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Sdy/IR/SdyOps.h.inc"

namespace shardc::sdy {

/// Name of the discardable attribute that shards arguments and results
/// (#sdy.sharding) and ops (#sdy.sharding_per_value).
inline constexpr llvm::StringLiteral kShardingAttr = "sdy.sharding";
/// Name of the discardable attribute that holds an op's sharding rule.
inline constexpr llvm::StringLiteral kShardingRuleAttr = "sdy.sharding_rule";

} // namespace shardc::sdy

#endif // SHARDC_DIALECT_SDY_IR_SDY_H
