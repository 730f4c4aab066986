//===- SpmdKernelContracts.h - Marks of generated kernels -------*- C++ -*-===//
//
// As SpmdContracts.h, of attributes that KernelGen leaves for itself.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDKERNELCONTRACTS_H
#define SHARDC_DIALECT_SPMD_IR_SPMDKERNELCONTRACTS_H

#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"

namespace shardc::spmd {

// As mlir-tblgen writes them for `discardableAttrs`.
struct StartsAttrHelper {
  static constexpr llvm::StringLiteral getNameStr() { return "spmd.starts"; }
  mlir::ArrayAttr getAttr(mlir::Operation *op);
};
struct ComplexPartAttrHelper {
  static constexpr llvm::StringLiteral getNameStr() {
    return "spmd.complex_part";
  }
  mlir::IntegerAttr getAttr(mlir::Operation *op);
};
struct LibraryCallAttrHelper {
  static constexpr llvm::StringLiteral getNameStr() {
    return "spmd.library_call";
  }
  mlir::UnitAttr getAttr(mlir::Operation *op);
};

namespace contract {

/// On a linalg.generic that reduces: what each output starts from, a number, or
/// unit where its buffer says it.
using Starts = Contract<StartsAttrHelper>;
/// On the cast of a memref of complex elements to one of their real parts (0),
/// of their imaginary ones (1), or of both as one integer (-1).
using ComplexPart = Contract<ComplexPartAttrHelper>;
/// On a function of floats: it stays a call of the C library, which rounds
/// right to less than one unit.
using LibraryCall = Mark<LibraryCallAttrHelper>;

} // namespace contract
} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_SPMDKERNELCONTRACTS_H
