//===- Launch.h - What ways to make a kernel share --------------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_LAUNCH_H
#define SHARDC_LIB_KERNELGEN_GPU_LAUNCH_H

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMAttrs.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Support/Views.h"

namespace shardc::gpukernels {
using namespace mlir;

/// Threads of a warp. [shape]
inline constexpr int64_t kWarp = 32;

/// GPUs for whose tensor cores kernels are made that no other runs.
struct OwnKernels {
  bool warpgroups = false;   ///< sm_90a: wgmma
  bool tensorMemory = false; ///< sm_100a: tcgen05
};

/// A launch of `blocks` x `threads` whose body is empty but for its end; the
/// builder is in it.
gpu::LaunchOp beginLaunch(OpBuilder &b, Location loc, Value blocks,
                          int64_t threads);

/// A launch of a thread for each number below `total`, in blocks of `threads`.
/// Returns the thread's number; the builder inserts where it is below `total`.
Value beginLaunchOf(OpBuilder &b, Location loc, Value total, int64_t threads);

/// Blocks that keep the GPU busy: one on each of its multiprocessors.
int64_t blocksOfGpu(Operation *op);

/// How many neighbours along the last of `dims` (with those before it, where
/// these follow in memory) `operand` has side by side in memory, aligned to
/// their size wherever a multiple of that number begins: a power of two of at
/// most 16 bytes. Elements are numbers of at least a byte.
int64_t runOf(linalg::GenericOp op, OpOperand &operand,
              ArrayRef<unsigned> dims);

/// True if element (0, ...) of `memref` is at a multiple of 16 bytes.
bool beginsAligned(Value memref);

/// The device's address of the element of `memref`, a strided buffer, at
/// `subscripts`.
Value addressOf(OpBuilder &b, Location loc, Value memref,
                ArrayRef<Value> subscripts);

/// Four 8 x 8 matrices of 16-bit numbers, a word of each in every lane of a
/// warp; lane i gives the address, in shared memory, of row i % 8 of number i
/// / 8.
SmallVector<Value> loadMatrices(OpBuilder &b, Location loc, Value address,
                                bool transposed);
/// f32 as tf32, a word: rounded to nearest, ties away from zero.
Value roundToTF32(OpBuilder &b, Location loc, Value value);
/// f32 as two of tf32 that add up to it, but for its last bits: words whose
/// last 13 bits are not looked at. Products of two such numbers, without that
/// of both rests, are infinite where those of f32 are.
std::pair<Value, Value> splitToTF32(OpBuilder &b, Location loc, Value value);
/// mma.m16n8k16 of a warp with f32 sums: four, two and four words a lane; of
/// f32 as tf32 m16n8k8.
SmallVector<Value> multiplyFragments(OpBuilder &b, Location loc, Type element,
                                     ArrayRef<Value> left,
                                     ArrayRef<Value> right,
                                     ArrayRef<Value> sum);

/// True for numbers that `shuffle` takes: of at most 64 bits.
bool canShuffle(Type type);
/// `value` of another lane of the warp, which all lanes ask for: `distance` up
/// or down (own value where there is none), or XOR `distance` away.
Value shuffle(OpBuilder &b, Location loc, Value value, int64_t distance,
              gpu::ShuffleMode mode);

/// What lets LLVM put `count` rounds of a loop side by side, no more.
LLVM::LoopAnnotationAttr unrolling(MLIRContext *ctx, int64_t count);
/// The same, said of `loop`.
void setUnrolling(scf::ForOp loop, int64_t count);

Value product(OpBuilder &b, Location loc, ArrayRef<Value> values);

/// Emits one generic's work at one point of its parallel dims.
class PointEmitter {
public:
  PointEmitter(OpBuilder &b, linalg::GenericOp op)
      : b(b), op(op), loc(op.getLoc()), point(op.getNumLoops()) {}

  /// Where the op is along each of its dims.
  MutableArrayRef<Value> at() { return point; }

  /// What `output` holds before, or starts from (kernel.starts).
  Value loadOutput(OpOperand &output);
  void storeOutput(OpOperand &output, Value value) {
    memref::StoreOp::create(b, loc, value, output.get(), subscripts(output));
  }
  Value load(OpOperand &operand) {
    return memref::LoadOp::create(b, loc, operand.get(), subscripts(operand));
  }
  /// The body's results for outputs that hold `current` (null where unused).
  /// `read` gives elements of inputs in memory.
  SmallVector<Value>
  body(ArrayRef<Value> current,
       llvm::function_ref<Value(OpOperand &)> read = nullptr) {
    IRMapping map;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (argument.use_empty())
        continue;
      if (!isa<MemRefType>(input->get().getType()))
        map.map(argument, input->get());
      else
        map.map(argument, read ? read(*input) : load(*input));
    }
    for (auto [argument, value] :
         llvm::zip_equal(op.getRegionOutputArgs(), current))
      if (value)
        map.map(argument, value);
    for (Operation &inner : op.getBody()->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        map.map(index.getResult(), point[index.getDim()]);
      else
        b.clone(inner, map);
    }
    // `linalg.index` also is in nested regions.
    return llvm::map_to_vector(
        op.getBody()->getTerminator()->getOperands(),
        [&](Value value) { return map.lookupOrDefault(value); });
  }

  /// The place that `operand` is read or written at.
  SmallVector<Value> subscripts(OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto values = affine::expandAffineMap(b, loc, map, point);
    assert(values && "indexing maps divide by constants alone");
    return SmallVector<Value>(values->begin(), values->end());
  }

private:
  OpBuilder &b;
  linalg::GenericOp op;
  Location loc;
  SmallVector<Value> point;
};

/// The dims of a generic, sorted.
struct Dims {
  SmallVector<Value> sizes;
  SmallVector<unsigned> parallel, reductions;
  /// Points of the parallel dims, and elements of one result; dynamic where
  /// they are not known.
  int64_t points = 1, elements = 1;

  Dims(OpBuilder &b, linalg::GenericOp op) {
    auto structured = cast<linalg::LinalgOp>(op.getOperation());
    for (Range range : structured.createLoopRanges(b, op.getLoc()))
      sizes.push_back(
          getValueOrCreateConstantIndexOp(b, op.getLoc(), range.size));
    SmallVector<int64_t> known = op.getStaticLoopRanges();
    for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
      bool reduces = kind == utils::IteratorType::reduction;
      (reduces ? reductions : parallel).push_back(i);
      int64_t &count = reduces ? elements : points;
      if (ShapedType::isDynamic(known[i]) || ShapedType::isDynamic(count))
        count = ShapedType::kDynamic;
      else
        count *= known[i];
    }
  }
  /// The product of the sizes of `dims`.
  Value count(OpBuilder &b, Location loc, ArrayRef<unsigned> dims) const {
    SmallVector<Value> extents;
    for (unsigned dim : dims)
      extents.push_back(sizes[dim]);
    return product(b, loc, extents);
  }
  /// Sets the point of `emitter` along `dims` from `index`, which counts them
  /// in row-major order: neighbours in a warp read neighbours in memory.
  void place(OpBuilder &b, Location loc, PointEmitter &emitter,
             ArrayRef<unsigned> dims, Value index) const {
    for (unsigned i = dims.size(); i-- > 0;) {
      if (i == 0) {
        emitter.at()[dims[0]] = index;
        break;
      }
      Value size = sizes[dims[i]];
      emitter.at()[dims[i]] = arith::RemUIOp::create(b, loc, index, size);
      index = arith::DivUIOp::create(b, loc, index, size);
    }
  }
};

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_LAUNCH_H
