//===- Warpgroups.h - What kernels of sm_90a are written with ---*- C++ -*-===//
//
// mbarriers, and products that four warps carry out together (wgmma). Matrices
// are in shared memory in rows of 128 bytes, eight of which are a block whose
// 16-byte pieces are swapped by the row; what is wider is in several such
// panels, one behind the other. A row is of neighbours of the depth, or, where
// lines run, of neighbouring lines.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_WARPGROUPS_H
#define SHARDC_LIB_KERNELGEN_GPU_WARPGROUPS_H

#include "Launch.h"
#include "shardc/Support/IndexBuilder.h"

namespace shardc::gpukernels {

/// Threads that multiply together, and groups of a block that do. [shape]
inline constexpr int64_t kGroup = 128, kConsumers = 2;
/// Rows of sums that a group has. [shape]
inline constexpr int64_t kGroupRows = 64;
/// Bytes of a row, and of eight: what pieces are swapped in. [shape]
inline constexpr int64_t kRow = 128, kBlockBytes = 8 * kRow;

/// How products begin whose left matrix is in registers: the columns follow.
inline constexpr llvm::StringLiteral kFragmentProductName =
    "wgmma.mma_async.sync.aligned.m64n";

/// Where windows (im2col) of a tensor begin along one of its dims: from `low`
/// on, below its size and `high`, by `step`.
struct WindowRange {
  int64_t low, high, step;
};

/// Emits what such kernels are made of, at `b`'s insertion point.
class WarpgroupBuilder : IndexBuilder {
public:
  WarpgroupBuilder(OpBuilder &b, Location loc) : IndexBuilder(b, loc) {}

  Value number(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  }

  // mbarriers, at an address in shared memory.
  void init(Value barrier, int64_t arrivals);
  /// Makes the mbarriers visible to TMA copies.
  void fenceInit();
  void arrive(Value barrier);
  /// `address`, of the block's own shared memory, in block `rank` of its
  /// cluster: an mbarrier there.
  Value inBlock(Value address, int64_t rank);
  /// Arrives at an mbarrier that `inBlock` gave.
  void arriveThere(Value barrier);
  /// Waits until all threads of the cluster are here.
  void clusterBarrier();
  /// Arrives, and expects this many bytes of TMA copies.
  void arriveExpecting(Value barrier, int64_t bytes);
  /// Waits until the phase of this parity is over.
  void wait(Value barrier, Value parity);
  /// What describes `memref` to TMA copies: its dims that each dim of the
  /// tensor runs over, fastest first, and elements of a box.
  Value describeTensor(Value memref, ArrayRef<SmallVector<int64_t>> dims,
                       ArrayRef<int64_t> box);
  /// The same of windows of `memref`: copies are of `pixels` that follow one
  /// another, `channels` of each. `ranges` are of the dims between the last and
  /// the first, fastest first.
  Value describeWindows(Value memref, int64_t channels, int64_t pixels,
                        ArrayRef<WindowRange> ranges);
  /// Loads the box of `map` at `begin`, fastest dim first, to `to`; its bytes
  /// count at the mbarrier `full`. What is past an edge is zeros. `inPair`:
  /// `full` is one that `inBlock` gave. Of windows, `begin` is the first pixel,
  /// and all are moved by `offsets`. With `blocks`, a multicast: each block of
  /// the cluster whose bit is set gets the box, at the same place, and counts
  /// it at the same mbarrier of its own.
  void loadBox(Value to, Value map, ArrayRef<Value> begin, Value full,
               bool inPair = false, ArrayRef<Value> offsets = {},
               int64_t blocks = 0);
  /// Makes what this thread has written visible to products and TMA copies.
  void fenceStores();
  /// The stage behind `stage` of `stages`, and the parity of its next phase.
  std::pair<Value, Value> advance(Value stage, Value parity, int64_t stages);

  /// `number`, an index that is the same in all lanes of a warp, and is known
  /// to be: what follows from it needs no register of each lane.
  Value sameInWarp(Value number);

  /// From here on a thread has `count` registers; `more` than before, or less.
  void setRegisters(int64_t count, bool more);

  /// Offset of byte `byte` of row `row` in panels of `rows` rows.
  Value placeInPanels(Value row, Value byte, int64_t rows);

  // Products. Sums of a group are a struct: of columns 8 j to 8 j + 7 a lane
  // has numbers 4 j to 4 j + 3, two neighbours of row lane / 4 and two of the
  // eighth below.
  Type sumType(int64_t columns);
  Value zeros(int64_t columns);
  Value sumsOf(ArrayRef<Value> values);
  SmallVector<Value> valuesOf(Value sums);
  /// Describes panels that begin at `tile`, `panelBytes` long where lines run.
  Value describe(Value tile, int64_t panelBytes);
  /// The same `bytes` behind.
  Value moved(Value descriptor, int64_t bytes);
  /// Comes before the first product, and where registers of one were written.
  void fence();
  /// `sums` (null: nothing) and the product of 64 rows by `columns`, a depth of
  /// 32 bytes; f32 as tf32. Floats of 8 bits may be of two types; they and f32
  /// stand along the depth. What begins with nothing is given no registers that
  /// somebody wrote: another product may be under way.
  Value multiply(Value sums, Value left, Value right, Type leftElement,
                 Type rightElement, int64_t columns, bool leftLines,
                 bool rightLines);
  Value multiply(Value sums, Value left, Value right, Type element,
                 int64_t columns, bool leftLines, bool rightLines) {
    return multiply(sums, left, right, element, element, columns, leftLines,
                    rightLines);
  }
  /// The same where the left matrix is a fragment of 16 rows a warp, 16 bits an
  /// element, and the right one's lines run.
  Value multiplyFragments(Value sums, ArrayRef<Value> left, Value right,
                          Type element, int64_t columns);
  /// Ends a group of products; waits for all but the last `left` groups.
  void commit();
  void waitForProducts(int64_t left);
};

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_WARPGROUPS_H
