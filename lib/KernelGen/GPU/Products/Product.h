//===- Product.h - Contractions as tiled matrix products --------*- C++ -*-===//
//
// Every contraction is a matrix product: parallel dims that only the left
// operand has are rows, those that only the right one has are columns, those of
// both are a batch, and reduction dims are the depth. Tiles of both operands
// are loaded to shared memory through the indexing maps, so that a convolution
// reads its windows in place and no layout is special; edges are zeros.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PRODUCTS_PRODUCT_H
#define SHARDC_LIB_KERNELGEN_GPU_PRODUCTS_PRODUCT_H

#include "../Launch.h"
#include "shardc/Support/IndexBuilder.h"

namespace shardc::gpukernels {

/// Zeros around a tensor, in a buffer that nobody else reads: copies of windows
/// find zeros where there is nothing, and need the tensor alone.
struct ImagePadding {
  Value inside;
  SmallVector<int64_t> low; ///< of each dim, before the tensor
  /// What makes the buffer, for kernels that read it.
  SmallVector<linalg::GenericOp> made;
};

/// One operand of a product.
struct Factor {
  OpOperand *operand = nullptr;
  /// What is multiplied, in the body: an element of the operand, or what is
  /// computed from it, and from others that change with none but its dims.
  Value value;
  /// The element, a float of 8 bits, whose number this is; null where it is
  /// not.
  Value narrow;
  /// Dims of this operand alone.
  SmallVector<unsigned> lines;
  /// Neighbours in memory are of neighbouring lines; else of the depth.
  bool alongLines = false;
  /// This many neighbours in that direction are contiguous in memory, aligned
  /// to their size, wherever a multiple of it begins: a power of two.
  int64_t run = 1;
  /// Where it is given, kernels with windows of their own read what is inside.
  std::optional<ImagePadding> padding;

  bool isPlain() const { return isa<BlockArgument>(value); }
};

/// What else the kernel of a product does.
struct Fusion {
  /// What its results begin with; null where that is in memory.
  Value start;
  /// Elementwise work on its results, of which they are operand `result`, and
  /// pairs of dims, of the product and of it, that are the same.
  linalg::GenericOp behind;
  unsigned result = 0;
  SmallVector<std::pair<unsigned, unsigned>> dims;
  /// Results are stored as well.
  bool keeps = false;
  /// What needs no kernel of its own any more.
  SmallVector<Operation *> done;
};

struct Product {
  Factor left, right;
  SmallVector<unsigned> batch, depth;
  /// Type of the factors in shared memory, and of sums.
  FloatType element, sum;
  /// Products of f32 on tensor cores that make one of these: 1 of factors
  /// rounded to tf32, 3 of what is left over as well; 0: none, f32 stays f32.
  int64_t tensorTerms = 0;
  /// Sums need not keep all digits of f32 on tensor cores for 8-bit floats.
  bool shortSums = false;
  /// Products of sizes; what is not known is taken to be large.
  int64_t rows = 1, columns = 1, batches = 1, depths = 1;
  /// All sizes are known.
  bool isStatic = true;
  Fusion fusion;
};

/// Whether results of `op` may be set to -0 before it. Products have zeros
/// behind their depth, and sums of their own: such a kernel gives +0 where -0
/// and products of -0 alone are added.
bool mayStartFromNegativeZero(linalg::GenericOp op);

/// Finds what is around the product `op` and can be done in its kernel, and
/// adds it to `taken`; `op` may be moved.
Fusion fuseAround(linalg::GenericOp op, llvm::DenseSet<Operation *> &taken);

/// What pads `operand` of `op`, if no other op reads its buffer and the tensor
/// inside is the same when `op` runs.
std::optional<ImagePadding> findPadding(linalg::GenericOp op,
                                        OpOperand &operand);

/// Gives factors of `product` that are windows their padding, where all that
/// makes it can wait for the kernel that all GPUs run: those of `own` read the
/// tensor.
void takePaddings(linalg::GenericOp op, Product &product, OwnKernels own,
                  const llvm::DenseSet<Operation *> &taken);

/// Whether one of the ways below makes a kernel of it.
bool hasKernel(const Product &product);

/// The operands whose elements `value`, in the body of `op`, is computed from;
/// nothing where it depends on indices or results as well.
std::optional<SmallVector<OpOperand *>> operandsOf(linalg::GenericOp op,
                                                   Value value);
/// The first of `operands` that changes with all dims with which any of them
/// does; null if there is none.
OpOperand *widestOf(linalg::GenericOp op, ArrayRef<OpOperand *> operands);

/// `op` as a product of 16-bit floats into f32, of f32 or of f64. With `tf32`
/// those of f32 may be rounded that ask for the default precision. Floats of 8
/// bits are factors of f16, for which the body of `op` gets what makes them.
std::optional<Product> matchProduct(linalg::GenericOp op, bool tf32 = false);

/// `product`, of f16 that is made of 8-bit floats, of these as they are;
/// nothing where it is none, or its sums must be f32.
std::optional<Product> inEightBits(linalg::GenericOp op,
                                   const Product &product);

/// How a block cuts its work.
struct Tiling {
  int64_t rows, columns, depth, stages, threads;
  /// So many groups of warps have the same results, each of its part of each
  /// tile's depth.
  int64_t slices = 1;
};

/// Where elements of a tile are in shared memory.
enum class TileLayout {
  /// Row by row in the operand's own direction, 16-byte pieces of a row swapped
  /// by its number: eight rows are read, at one column, without conflicts.
  Swizzled,
  /// Line by line within each depth, with room behind each depth.
  DepthMajor,
  /// In panels of rows of 128 bytes, as products of warpgroups read them
  /// (Warpgroups.h).
  Panels
};

/// Pieces that are copied at once, at most. [shape]
inline constexpr int64_t kPieceBytes = 16;
/// Rows of a swizzled tile so far apart have their pieces in the same places.
/// [shape]
inline constexpr int64_t kSwappedRows = 8;

/// What kernels of all products share: who does what, how tiles travel through
/// a ring of stages, where results go.
class ProductKernel : public IndexBuilder {
public:
  ProductKernel(OpBuilder &b, linalg::GenericOp op, const Product &product,
                Tiling tiling, TileLayout layout);

  /// A thread's results: sums[i * columns.size() + j] is of row rows[i] and
  /// column columns[j] of the block's tile.
  struct Share {
    SmallVector<Value> rows, columns;
    /// This many columns, from a multiple of it on, are neighbours: a power of
    /// two.
    int64_t run = 1;
  };
  /// Computes one stage: the addresses of its two tiles, and the sums so far.
  using Step = llvm::function_ref<SmallVector<Value>(Value left, Value right,
                                                     SmallVector<Value> sums)>;
  /// Sizes, and room for partial sums: what kernels for several GPUs share.
  /// `tile`: the rows and columns of the one that has fewest tiles.
  void prepare(std::pair<int64_t, int64_t> tile);
  void prepare() { prepare({tiling.rows, tiling.columns}); }
  /// Takes these from `other`, which is prepared, for another tiling.
  void prepareLike(const ProductKernel &other);
  /// Makes final sums of what steps gave, and says what a thread has of them.
  using Combine = llvm::function_ref<SmallVector<Value>(Share &share,
                                                        ArrayRef<Value> sums)>;
  /// Writes the kernel. `share` says what a thread has.
  gpu::LaunchOp launch(llvm::function_ref<Share()> share, Step step,
                       Combine combine = nullptr);
  /// Writes what comes behind the kernel.
  void finish();

  // For shares and steps.
  /// The address `bytes` behind `base`, in shared memory.
  Value at(Value base, Value bytes);
  /// Bytes from the begin of a tile of `factor` to an element.
  Value offsetIn(const Factor &factor, Value line, Value depth);
  /// The address of an element of `tile`, a tile of `factor`, so many lines and
  /// depths behind (`line`, `depth`). What is a constant of all threads is the
  /// last to be added: instructions have room for it.
  Value addressIn(const Factor &factor, Value tile, Value line,
                  int64_t linesBehind, Value depth, int64_t depthsBehind);
  int64_t pitch(const Factor &factor) const;

  linalg::GenericOp op;
  const Product &product;
  Tiling tiling;
  TileLayout layout;
  Value thread;

protected:
  /// A launch on `blocks` whose kernel has `bytes` of shared memory at `base`.
  gpu::LaunchOp begin(Value blocks, int64_t bytes);
  Value tiles(int64_t size, Value count) {
    return arith::CeilDivUIOp::create(b, loc, count, index(size));
  }
  /// Finds the batch and the part of the depth of tiles number `plane`.
  void placePlane(Value plane);
  void store(const Share &share, ArrayRef<Value> sums, Value row, Value column);
  /// The device's address of element `emitter.at()` of `operand`.
  Value addressOf(PointEmitter &emitter, OpOperand &operand);
  /// Goes to neighbour `lane` of those that are read or written at once.
  using GoTo = llvm::function_ref<void(int64_t lane)>;
  /// `count` neighbours of an operand of `of` along `dims`, which are the
  /// columns; at once where they are adjacent.
  SmallVector<Value> readRun(linalg::GenericOp of, PointEmitter &emitter,
                             OpOperand &operand, ArrayRef<unsigned> dims,
                             int64_t count, GoTo goTo);
  void writeRun(linalg::GenericOp of, PointEmitter &emitter, OpOperand &operand,
                ArrayRef<unsigned> dims, ArrayRef<Value> values, GoTo goTo);
  /// Does with neighbouring sums what is to be done with results.
  void storeRun(ArrayRef<Value> sums, GoTo goTo);
  /// Neighbours in shared memory are of neighbouring lines.
  bool isAlongLines(const Factor &factor) const {
    return layout == TileLayout::DepthMajor ||
           (factor.alongLines &&
            (layout != TileLayout::Panels || elementBytes() == 2));
  }
  int64_t linesOf(const Factor &factor) const {
    return &factor == &product.left ? tiling.rows : tiling.columns;
  }
  int64_t tileBytes(const Factor &factor) const;
  int64_t elementBytes() const {
    return product.element.getIntOrFloatBitWidth() / 8;
  }
  /// Neighbours of a tile that one thread moves at once, and whether by a copy.
  std::pair<int64_t, bool> pieceOf(const Factor &factor) const;
  /// Line and depth in the tile of piece number `piece`.
  std::pair<Value, Value> placeOf(const Factor &factor, Value piece);
  /// Starts to load the tile of `factor` at (`line`, `from`) to `tile`.
  void load(const Factor &factor, Value line, Value from, Value tile);
  void loadPiece(const Factor &factor, Value line, Value from, Value tile,
                 Value piece);
  /// The same as `load`, where a thread's pieces are a constant apart, in
  /// memory and in the tile, so that few addresses are computed; else does
  /// nothing and returns false.
  bool loadRows(const Factor &factor, Value line, Value from, Value tile);
  /// The element's value, computed again at the emitter's place.
  Value computed(const Factor &factor);
  SmallVector<Value> pipeline(Value row, Value column, ArrayRef<Value> sums,
                              Step step);
  Value combineOutput(Value start, Value value);
  int64_t chooseSplits(std::pair<int64_t, int64_t> tile) const;

protected:
  Dims dims;
  PointEmitter emitter;
  Value rows, columns, depth, batch; // counts
  Value first, last;                 // of the depth, in this block
  int64_t producers = 0;             // threads that load tiles
  Value base;                        // of shared memory
  int64_t splits = 1;
  Value scratch, place; // of partial sums, where there are several splits
};

/// Whether `product` can have such a kernel: there is no other place that says
/// so.
bool hasOwnKernel(const Product &product);

/// Makes a kernel of `op` on tensor cores, beside it, if it is a contraction of
/// 16-bit floats into 32-bit ones that is large enough; else returns false.
/// Also those of `own`, each done in its stead on its GPU.
bool launchOnTensorCores(linalg::GenericOp op, const Product &product,
                         OwnKernels own);
/// Makes the kernel for sm_90a, or sm_100a, of the product that `prepared` is
/// of, if it can have one; else returns false.
bool launchOnWarpgroups(const ProductKernel &prepared);
bool launchOnTensorMemory(const ProductKernel &prepared);
bool fitsRegisterTiles(const Product &product);
/// The same for f32 and f64 that keep all digits: with multiply-adds of tiles
/// in registers, those of f64 on tensor cores.
bool launchInRegisterTiles(linalg::GenericOp op, const Product &product);

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_PRODUCTS_PRODUCT_H
