//===- Specialised.h - Products with a producer and consumers ---*- C++ -*-===//
//
// What kernels for the tensor cores of one GPU share, whatever multiplies: a
// producer that prefetches tiles through a ring of stages, and blocks that stay
// and take tile after tile.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PRODUCTS_SPECIALISED_H
#define SHARDC_LIB_KERNELGEN_GPU_PRODUCTS_SPECIALISED_H

#include "../Warpgroups.h"
#include "Product.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"

namespace shardc::gpukernels {

/// Depths of a block that threads transpose; its lines are 16 bytes. [shape]
inline constexpr int64_t kTransposed = 4;

/// A dim of a tensor that windows are of: element `position * range.step +
/// tap * dilation` of it, from `range.low` on.
struct WindowDim {
  int64_t positions, taps, dilation;
  WindowRange range;
};

/// An operand as a tensor of few dims: how the memref's dims, from slowest to
/// fastest, make one each. Or as windows of images, whose channels run in
/// memory: one direction is of images and positions in them, the other of taps
/// and channels.
struct CopyBox {
  SmallVector<SmallVector<int64_t>> dims; ///< fastest first
  SmallVector<unsigned> batch;    ///< dims of the op beyond the first two
  SmallVector<WindowDim> windows; ///< fastest first; of images alone
  int64_t channels = 0;

  bool isOfWindows() const { return !windows.empty(); }
};

/// `factor` as TMA copies can load it; nothing where they cannot.
std::optional<CopyBox> boxOf(linalg::GenericOp op, const Product &product,
                             const Factor &factor);

/// A persistent, warp-specialised kernel: the first warpgroup is the producer,
/// threads behind it are what a GPU's way to multiply wants.
class SpecialisedKernel : public ProductKernel {
public:
  SpecialisedKernel(const ProductKernel &prepared, Tiling tiling);
  virtual ~SpecialisedKernel() = default;
  void emit();

protected:
  /// The one GPU that runs it.
  virtual spmd::KernelGpu gpu() const = 0;
  /// Arrivals that say that a stage is empty.
  virtual int64_t releases() const = 0;
  /// Blocks, a cluster, that have a tile of results together: each loads its
  /// rows and its columns of it, `tiling.rows` and `tiling.columns`. The first
  /// one's mbarriers say that a stage of both is full.
  virtual int64_t blocksOfTile() const { return 1; }
  bool isPair() const { return blocksOfTile() == 2; }
  /// Whether blocks of a pair have a tile each, one below the other: each loads
  /// half of the right tile, which is the same, for both (multicast).
  virtual bool multicasts() const { return false; }
  /// Columns of what a pair, or a block alone, computes.
  int64_t tileColumns() const {
    return (multicasts() ? 1 : blocksOfTile()) * tiling.columns;
  }
  /// Lines of `factor` that a block's own copies load.
  int64_t ownLines(const Factor &factor) const {
    bool isHalf = multicasts() && &factor == &product.right;
    return linesOf(factor) / (isHalf ? 2 : 1);
  }
  /// Bytes of shared memory behind the stages and their mbarriers.
  virtual int64_t ownBytes() const { return 0; }
  /// What one thread does before all begin, and what all do.
  virtual void prepareAlone() {}
  virtual void prepareAll() {}
  /// Who does what; calls `produce` for the first group.
  virtual void emitRoles() = 0;

  /// Products of tf32 for each of f32: of numbers in two parts, the second ones
  /// behind both tiles.
  bool splitsFloats() const { return product.tensorTerms > 1; }
  int64_t partBytes() const {
    return tileBytes(product.left) + tileBytes(product.right);
  }
  int64_t stageBytes() const { return (splitsFloats() ? 2 : 1) * partBytes(); }
  /// Of a stage, what TMA copies load.
  int64_t boxBytes() const {
    return (leftBox ? tileBytes(product.left) : 0) +
           (rightBox ? tileBytes(product.right) : 0);
  }
  bool gathers() const { return !leftBox || !rightBox; }
  /// Lines of a block that threads load and transpose.
  int64_t transposedLines() const { return 16 / elementBytes(); }
  /// Whether `factor`, which no TMA copy can load, comes in blocks of 4 depths
  /// that threads load 16 bytes at once and transpose.
  bool isTransposed(const Factor &factor) const {
    return factor.isPlain() && factor.alongLines && elementBytes() != 2 &&
           factor.run == transposedLines();
  }
  /// Whether all threads of the first group have something to do.
  bool allLoad() const { return gathers() || splitsFloats(); }
  /// TMA copies load what is split then.
  bool loadsRaw() const { return splitsFloats() && boxBytes() > 0; }
  /// Stages that threads begin before they wait for the first to be there.
  int64_t ahead() const;
  Value isSame(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  }
  /// mbarriers of a stage behind all stages: full, empty, and, where bulk
  /// copies load what is split, whether that is there.
  enum Phase { Full, Empty, Raw };
  int64_t barrierBytes() const { return loadsRaw() ? 24 : 16; }
  Value barrier(Value stage, Phase phase) {
    int64_t behind = tiling.stages * stageBytes();
    return at(base, add(mul(stage, barrierBytes()), index(behind + 8 * phase)));
  }
  /// Where the kernel's own bytes begin.
  Value own(int64_t byte) {
    return at(base,
              index(tiling.stages * (stageBytes() + barrierBytes()) + byte));
  }
  /// Steps of a tile's depth. There is always one: what is past the depth is
  /// zeros.
  Value countSteps();
  /// Does `body` with the step's number and what is carried, at least once.
  SmallVector<Value> forEachStep(
      ValueRange carried,
      llvm::function_ref<SmallVector<Value>(Value step, ValueRange carried)>
          body);
  /// Calls `body` with row, column and whatever is carried, for each tile of
  /// the block.
  SmallVector<Value>
  forEachTile(SmallVector<Value> carried,
              llvm::function_ref<SmallVector<Value>(Value row, Value column,
                                                    ValueRange carried)>
                  body);
  /// Fills stage after stage.
  void produce();
  /// Products of one step, small terms first: for each, the depth at which it
  /// begins, and bytes from both tiles to the parts of a number.
  void forEachProduct(
      llvm::function_ref<void(int64_t from, int64_t left, int64_t right)> body);
  /// Bytes from the begin of a tile to depth `from`.
  int64_t depthBytes(const Factor &factor, int64_t from) const {
    return isAlongLines(factor) ? from * kRow : from * elementBytes();
  }
  /// Distance of panels of a tile; 0 where the depth runs.
  int64_t panelBytes(const Factor &factor) const {
    return isAlongLines(factor) ? tiling.depth * kRow : 0;
  }
  /// Waits for all threads that work on a tile of results together.
  void barrierOfAll();
  /// Lets `body` be done in the first block of those alone.
  void inFirstBlock(llvm::function_ref<void()> body);
  /// The tiles of a stage.
  std::pair<Value, Value> tilesOf(Value stage) {
    Value left = at(base, mul(stage, stageBytes()));
    return {left, at(left, index(tileBytes(product.left)))};
  }

  WarpgroupBuilder w;
  Value group, lane; ///< of the thread
  Value rank;        ///< of the block, of those of a tile

private:
  /// What TMA copies know of `factor`.
  Value describe(const Factor &factor, const CopyBox &box);
  /// Where step number `step` begins.
  Value depthOf(Value step) { return add(first, mul(step, tiling.depth)); }
  void loadBoxes(const Factor &factor, const CopyBox &box, Value map,
                 Value line, Value from, Value tile, Value full,
                 int64_t blocks = 0);
  void loadWindows(const Factor &factor, const CopyBox &box, Value map,
                   Value line, Value from, Value tile, Value full);
  void loadTransposed(const Factor &factor, Value line, Value from, Value tile);
  /// Stores four depths of 16 lines of 8-bit floats, `loaded` as four words
  /// each, from (`line`, `depth`) of `tile` on.
  void storeBytesTransposed(const Factor &factor, ArrayRef<Value> loaded,
                            Value tile, Value line, Value depth);
  void splitFloats(const Factor &factor, Value tile);

  std::optional<CopyBox> leftBox, rightBox;
  Value leftMap, rightMap;
  Value block, numBlocks; ///< pairs count as one
  Value rowTiles, columnTiles, numTiles;
};

/// How such a kernel cuts its work, by `threads` a block.
Tiling tilingOf(linalg::GenericOp op, const Product &product, int64_t threads);

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_PRODUCTS_SPECIALISED_H
