//===- TensorMemory.h - What kernels of sm_100a are written with *- C++ -*-===//
//
// Products that one thread begins (tcgen05): matrices are in shared memory as
// products of warpgroups read them (Warpgroups.h), sums in tensor memory, a
// block's own 128 lanes of 512 columns of 32 bits. An address there is a word:
// the lane in its upper half, the column in the lower one. Two blocks that are
// a cluster multiply as a pair (cta_group::2): each has half of the rows and
// their sums, and half of the columns in its shared memory; the first begins.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_TENSORMEMORY_H
#define SHARDC_LIB_KERNELGEN_GPU_TENSORMEMORY_H

#include "Warpgroups.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace shardc::gpukernels {

/// Rows of a product: a lane of a block's tensor memory each. [shape]
inline constexpr int64_t kTensorRows = 128;

/// Emits what such kernels are made of, at `b`'s insertion point.
class TensorMemoryBuilder {
public:
  /// `inPair`: all of it is a pair's, and each of its blocks does its part.
  TensorMemoryBuilder(OpBuilder &b, Location loc, bool inPair = false)
      : b(b), loc(loc), inPair(inPair), w(b, loc) {}

  // For all lanes of one warp.
  /// Allocates `columns`, a power of two from 32 on, for the whole block, and
  /// stores their address at `slot` in shared memory. None is allocated later.
  void allocate(Value slot, int64_t columns);
  /// Gives back `columns` at `address`. Whoever used them must be done.
  void release(Value address, int64_t columns);
  /// Begins to read a word of each of `columns` columns at `address`, whose
  /// lane is that of the warp's first thread: 32 times its number in its
  /// warpgroup. None may be used before `waitForLoads`.
  Value load(Value address, int64_t columns);
  void waitForLoads();
  /// Number `index` of what was loaded.
  Value element(Value loaded, int64_t index);
  /// Begins to write `words`, one to each column from `address` on, the other
  /// way. They are there after `waitForStores`.
  void store(Value address, ArrayRef<Value> words);
  void waitForStores();

  /// True for one thread of the warp, always the same. Code behind it that
  /// depends on no thread is known to be the warp's: no lane has to be looked
  /// for whose registers it has.
  Value elect();

  // For one thread.
  /// Describes panels that begin at `tile`, `panelBytes` long where lines run.
  Value describe(Value tile, int64_t panelBytes);
  /// Adds the product of 128 rows (of a pair: 256) by `columns`, a depth of 32
  /// bytes, to the sums at `address`; where `adds` is false it takes their
  /// place. f32 as tf32. Of a pair, in its first block. `left` may be an
  /// address of tensor memory in place of a descriptor: a row a lane, two
  /// neighbours of the depth a column.
  void multiply(Value address, Value left, Value right, Value adds,
                Type element, int64_t columns, bool leftLines, bool rightLines);
  /// Lets the mbarrier `done`, of a pair that of each block, count one arrival
  /// when all products that this thread has begun are done.
  void commit(Value done);

  /// Comes before a thread tells others that it has used tensor memory, and
  /// after it has been told.
  void fenceBefore();
  void fenceAfter();

private:
  Value pointerTo(Value address);
  NVVM::CTAGroupKind group() const {
    return inPair ? NVVM::CTAGroupKind::CTA_2 : NVVM::CTAGroupKind::CTA_1;
  }

  OpBuilder &b;
  Location loc;
  bool inPair;
  WarpgroupBuilder w;
};

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_TENSORMEMORY_H
