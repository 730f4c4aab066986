//===- CutLoops.h - Loops of single elements in parts -----------*- C++ -*-===//
//
// What a nest of loops touches, and three ways to cut it in parts that may run
// at the same time. A way that does not fit leaves the nest as it is.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_LOOPS_CUTLOOPS_H
#define SHARDC_LIB_KERNELGEN_CPU_LOOPS_CUTLOOPS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallBitVector.h"
#include <optional>

namespace shardc::cpu::loops {
using namespace mlir;

/// One op that reads or writes memory.
struct Access {
  Operation *op = nullptr;
  OpOperand *operand = nullptr; ///< of a linalg op: what it reads or writes
  Value root = {};
  bool writes = false;
  /// For each dim of `root`, where the op is in it, and how much of it it
  /// touches; empty where that is not known.
  SmallVector<OpFoldResult> offsets = {}, sizes = {};
  llvm::SmallBitVector dropped = {}; ///< dims that the op's view does not have
};

/// All that `nest` reads and writes, and the buffers that it makes, of sizes
/// that have a bound; nothing if it does more than that.
std::optional<SmallVector<Access>>
accessesIn(scf::ForOp nest, SmallVectorImpl<memref::AllocOp> &buffers);
/// The most bytes that `alloc` asks for, in whole lines of the cache.
std::optional<int64_t> mostBytes(memref::AllocOp alloc);
/// Bytes between elements of `root` that are neighbours along `dim`; 0 if they
/// are not known.
int64_t strideBytes(Value root, unsigned dim);
/// True if `value` is the same number wherever in `nest` it is asked for.
bool isFixedIn(Value value, scf::ForOp nest);
/// How often `loop` goes round, or is taken to.
double tripsOf(scf::ForOp loop);

/// A loop over `parts` before `nest`.
scf::ForOp beginParts(scf::ForOp nest, int64_t parts);
/// Where the share of `part` of `parts` begins, of `whole` in granules, and how
/// much it is.
std::pair<Value, Value> shareOf(OpBuilder &b, Location loc, Value part,
                                int64_t parts, Value whole, int64_t granule);

/// Gives each part some of the iterations, and its own of `buffers`, which are
/// all that `nest` makes.
bool cutIterations(scf::ForOp nest, ArrayRef<Access> accesses,
                   ArrayRef<memref::AllocOp> buffers, int64_t parts);
/// Gives each part a share of a dim of whatever is written.
bool cutShares(scf::ForOp nest, ArrayRef<Access> accesses, int64_t parts);
/// Gives each part a share of the positions that are written, and of the
/// iterations those whose position is in it.
bool cutPositions(scf::ForOp nest, ArrayRef<Access> accesses, int64_t parts);

} // namespace shardc::cpu::loops

#endif // SHARDC_LIB_KERNELGEN_CPU_LOOPS_CUTLOOPS_H
