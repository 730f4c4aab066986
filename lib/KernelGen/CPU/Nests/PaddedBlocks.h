//===- PaddedBlocks.h - Padded operands that blocks may have ----*- C++ -*-===//
//
// A window that reaches past the edge reads a padded copy of its operand. In
// memory that copy costs more than what it is made of: it is written, and read
// again. Here a block of the result's rows has its share of the copy in the
// second-level cache, made when the block needs it; rows that windows of two
// blocks read move to the front of it.
//
// All blocks have as many rows, so that kernels know how many. Where these do
// not fill the rows exactly, or each rank has another number of rows, the last
// block begins earlier, and makes some of the rows before it once more. Where
// no table says how many rows there are, they may be fewer than a block has:
// then the last block has as many as are left.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_PADDEDBLOCKS_H
#define SHARDC_LIB_KERNELGEN_CPU_PADDEDBLOCKS_H

#include "Nest.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"

namespace shardc::cpu {

/// A padded buffer, who writes it and the one op that reads it.
struct Padded {
  mlir::memref::AllocOp buffer;
  mlir::linalg::GenericOp
      fill;                ///< null: `margins` writes what is around the box
  spmd::RunSiteOp margins; ///< or null
  mlir::linalg::GenericOp copy, reader;
  mlir::memref::SubViewOp box;        ///< where `copy` writes
  mlir::memref::ExpandShapeOp view;   ///< between buffer and reader, or null
  mlir::OpOperand *operand = nullptr; ///< the reader's
  mlir::linalg::GenericOp begin;      ///< fills the reader's result, or null
  mlir::linalg::GenericOp epilogue;   ///< or null
  /// By dim of the buffer: where the box begins, its size, and the whole. One
  /// dim may have a size that differs by rank.
  llvm::SmallVector<mlir::OpFoldResult> low, in, whole;
  /// Loops of the reader that blocks cut, in the order of the buffer's dims,
  /// how many iterations of each a block has, and the buffer's dim.
  llvm::SmallVector<unsigned> loops;
  llvm::SmallVector<int64_t> steps;
  llvm::SmallVector<unsigned> dims;
  llvm::SmallVector<Quantity> ranges; ///< of all loops of the reader

  mlir::MemRefType type() { return buffer.getType(); }
  bool isPadded(unsigned dim) {
    return !mlir::isEqualConstantIntOrValue(whole[dim], in[dim]);
  }
};

/// Who writes and who reads `buffer`, which is padded, and what blocks of the
/// reader's rows are; nothing where it stays whole.
std::optional<Padded> findPaddedBlocks(mlir::memref::AllocOp buffer,
                                       ShardSizes &sizes);
/// Writes the loop over blocks; up to `threads` threads share it.
void emitPaddedBlocks(Padded &padded, int64_t threads);

/// Of `expr`, linear: how many positions iterations of these extents take, from
/// the first to the last.
std::optional<int64_t> spanOf(mlir::AffineExpr expr,
                              llvm::ArrayRef<int64_t> extents);
/// By how much `expr` grows with loop `loop`.
int64_t stepOf(mlir::AffineExpr expr, unsigned loop, unsigned loops);

} // namespace shardc::cpu

#endif // SHARDC_LIB_KERNELGEN_CPU_PADDEDBLOCKS_H
