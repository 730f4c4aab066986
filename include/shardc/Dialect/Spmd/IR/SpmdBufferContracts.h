//===- SpmdBufferContracts.h - Of arguments and their memory ----*- C++ -*-===//
//
// As SpmdContracts.h, of attributes that are few rooms' business.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDBUFFERCONTRACTS_H
#define SHARDC_DIALECT_SPMD_IR_SPMDBUFFERCONTRACTS_H

#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"

namespace shardc::spmd {

// As mlir-tblgen writes them for `discardableAttrs`.
struct MemoryKindAttrHelper {
  static constexpr llvm::StringLiteral getNameStr() {
    return "spmd.memory_kind";
  }
  mlir::StringAttr getAttr(mlir::Operation *op);
};
struct RanksAttrHelper {
  static constexpr llvm::StringLiteral getNameStr() { return "spmd.ranks"; }
  mlir::DenseI64ArrayAttr getAttr(mlir::Operation *op);
};
struct CallerDimsAttrHelper {
  static constexpr llvm::StringLiteral getNameStr() {
    return "spmd.caller_dims";
  }
  mlir::DenseI64ArrayAttr getAttr(mlir::Operation *op);
};
struct TokenAttrHelper {
  static constexpr llvm::StringLiteral getNameStr() { return "spmd.token"; }
  mlir::UnitAttr getAttr(mlir::Operation *op);
};
struct InPlaceAttrHelper {
  static constexpr llvm::StringLiteral getNameStr() { return "spmd.in_place"; }
  mlir::IntegerAttr getAttr(mlir::Operation *op);
};
struct WrittenInPlaceAttrHelper {
  static constexpr llvm::StringLiteral getNameStr() {
    return "spmd.written_in_place";
  }
  mlir::DenseI64ArrayAttr getAttr(mlir::Operation *op);
};
struct PartitionedCallAttrHelper {
  static constexpr llvm::StringLiteral getNameStr() {
    return "spmd.partitioned_call";
  }
  mlir::IntegerAttr getAttr(mlir::Operation *op);
};
struct LineOrderAttrHelper {
  static constexpr llvm::StringLiteral getNameStr() {
    return "spmd.line_order";
  }
  mlir::StringAttr getAttr(mlir::Operation *op);
};
namespace contract {

/// On arguments and results: the kind of memory that JAX asks for.
using MemoryKind = Contract<MemoryKindAttrHelper>;
/// On arguments and results: the rank at which the shard of each position of
/// the mesh comes or leaves.
using Ranks = Contract<RanksAttrHelper>;
/// On arguments and results whose elements are in memory as the caller's layout
/// says: of each dim here which one of the caller's array it is.
using CallerDims = Contract<CallerDimsAttrHelper>;
/// On arguments and results: a token to the caller.
using Token = Mark<TokenAttrHelper>;
/// On the buffer of a result: the number of the argument that it may be written
/// over.
using InPlace = Contract<InPlaceAttrHelper>;
/// On modules: that number of each result, or -1.
using WrittenInPlace = Contract<WrittenInPlaceAttrHelper>;
/// On custom calls that are to say how they are partitioned: the number of the
/// call, by which it is found in a copy of the module.
using PartitionedCall = Contract<PartitionedCallAttrHelper>;
/// On sorts of lines that the runtime does: how elements of the first input are
/// compared, which is what the body says: "signed", "unsigned", "total"
/// (floats, IEEE 754's total order) or "numbers" (floats, zeros equal, NaNs
/// equal and above all others), with " descending" behind it where the largest
/// is first.
using LineOrder = Contract<LineOrderAttrHelper>;

} // namespace contract
} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_SPMDBUFFERCONTRACTS_H
