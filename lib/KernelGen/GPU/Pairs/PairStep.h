//===- PairStep.h - A pair step as its kernels see it -----------*- C++ -*-===//
//
// What is known before a kernel is written: the tensors and sizes of a step,
// what each launch computes, and what it reads.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSTEP_H
#define SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSTEP_H

#include "../Launch.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

namespace shardc::gpukernels::pairs {

inline constexpr int64_t kThreads = 128, kPerRow = 4; // [shape]
inline constexpr int64_t kRows = kThreads / kPerRow;  // of a thread's first row
inline constexpr int64_t kColumns = 32;               // of a tile [shape]
inline constexpr int64_t kPart =
    32; // of a depth, or of features, at once [shape]
inline constexpr int64_t kOwn =
    kPart / kPerRow; // features of a thread, of these
/// Features whose sums stay in registers: more take another pass. [shape]
inline constexpr int64_t kSlab = 256;
/// Where columns are divided among blocks: the dim of their parts. [format]
inline constexpr unsigned kPartDim = 0;

/// A tensor of the step, read and written through its map.
struct Tensor {
  Value memref;
  AffineMap map;
  TypedAttr start = {}; ///< what it begins with; null where memory says it
  bool has(unsigned dim) const { return map.isFunctionOfDim(dim); }
};

/// Takes comparisons out of the regions of `op` that hold for all pairs of its
/// band.
void foldMasks(spmd::PairStepOp op);

/// What a tile of scores becomes, before it is multiplied.
enum class Weigh { Forward, Weights, Slopes };

struct PairPass;

/// A step on buffers. Regions are null where the op has none.
struct Step {
  /// Emits sizes that are not known at `b`'s insertion point.
  Step(OpBuilder &b, spmd::PairStepOp op, bool shortWeights);

  int64_t sizeOf(unsigned dim) const { return known[dim]; }
  /// Numbers of 16 bytes.
  int64_t lanes() const { return 128 / type.getIntOrFloatBitWidth(); }
  bool isHalf(const Tensor &tensor) const {
    return getElementTypeOrSelf(tensor.memref.getType()) == half;
  }
  /// Whether f32 of `tensor` are rounded to 16 bits on their way: those of f16
  /// end early.
  bool roundsWide(const Tensor &tensor) const {
    return shortWeights && half.isBF16() &&
           getElementTypeOrSelf(tensor.memref.getType()).isF32();
  }
  /// Columns are divided among blocks, by a dim that a program does not have.
  bool isSplit() const { return partColumns > 0; }
  unsigned firstDim() const { return isSplit() ? kPartDim + 1 : 0; }
  /// Scores are made of products alone.
  bool isPlain() const { return extras.empty() && !weight; }
  /// Scores and weights need few registers beside them.
  bool leavesRegisters() const { return shortWeights && isPlain(); }
  /// Rows keep a maximum and a sum of weights.
  bool keepsSoftmax(const PairPass &pass) const;
  /// exp of a number that is at most 88 is finite; what else weights are made
  /// of may be anything.
  bool hasFiniteWeights(const PairPass &pass) const;
  /// Whether `pass` is products of 16-bit floats; with `orWide` also where its
  /// factor is f32 that is rounded; with `orShort` also where rows are fewer
  /// than a fragment's.
  bool fitsTensorCores(const PairPass &pass, bool orWide = false,
                       bool orShort = false) const;
  /// Whether the last tile of `columns` columns is not a whole one.
  bool hasEdge(const PairPass &pass, int64_t columns) const;

  Location loc;
  FloatType type; ///< of scores and sums
  Type half;      ///< of queries: what tensor cores multiply, if it is so short
  bool shortWeights; ///< weights are rounded to 16 bits there
  spmd::PairCombine combine;
  bool hasValue;
  Region *pair, *score, *weight, *slope;
  /// What products are multiplied by, where that is all that makes scores of
  /// them, and it is above 0.
  std::optional<double> scale;
  std::optional<int64_t> bandLower, bandUpper;
  unsigned q, k, d, e; ///< dims: queries, keys, depth, features
  Tensor query, key, value;
  SmallVector<Tensor> rows, extras, states;
  SmallVector<Value> start; ///< of the dims before `d`, in the whole
  SmallVector<Value> sizes;
  SmallVector<int64_t> known;
  int64_t partColumns = 0; ///< of a part; 0: there are no parts
  int64_t multiprocessors; ///< of the GPU
};

/// What one launch computes: some features of `target` from `slab` on (null:
/// rows keep all there is). Rows of a softmax keep their maximum and sum if
/// `last`.
struct PairPass {
  PairPass(const Step &step, Weigh weigh, unsigned rowDim, const Tensor *target,
           unsigned feature, const Tensor *factor);

  int64_t parts() const { return llvm::divideCeil(features, kPart); }
  /// Those of a row that one of its threads has.
  int64_t sumsOfRow() const {
    return static_cast<int64_t>(llvm::alignTo(features, granule)) / kPerRow;
  }

  Weigh weigh;
  unsigned rowDim, columnDim; ///< the dims that rows and columns run over
  const Tensor *target;
  unsigned feature;
  const Tensor *factor;
  int64_t slab = 0;
  int64_t features = 0;    ///< of sums in registers
  int64_t granule = kPart; ///< features of which there are sums, or none
  bool last = true;
  /// What else the same scores are for: `Weights` of a pass of slopes.
  const PairPass *beside = nullptr;
  /// Batch dims: those that a block has one index of, and those that it goes
  /// through, since what they add goes to one place.
  SmallVector<unsigned> outer, inner;
};

/// Lines of a tensor in shared memory: those of a block's rows, or of a tile of
/// columns.
struct Lines {
  const Tensor *tensor;
  unsigned lineDim; ///< whose indices are lines
  int64_t lines;
  unsigned dim;  ///< along which neighbours are adjacent
  int64_t first; ///< along it
  int64_t length;
};

struct Operands {
  SmallVector<Lines> lefts, tiles; ///< for each product of scores
  /// The one of `tiles` that weights are multiplied with: it is of scores as
  /// well, or the last.
  size_t factor = 0;
};

/// What `pass` multiplies, with `leftLines` rows of a block, tiles of `columns`
/// columns, and `numFeatures` of its factor; nothing where dims are longer than
/// a slab, or a block's rows cannot be loaded once.
std::optional<Operands> operandsOf(const Step &step, const PairPass &pass,
                                   int64_t leftLines, int64_t columns,
                                   int64_t numFeatures);

} // namespace shardc::gpukernels::pairs

#endif // SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRSTEP_H
