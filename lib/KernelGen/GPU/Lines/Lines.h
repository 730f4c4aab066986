//===- Lines.h - Kernels of algorithms on lines -----------------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_LINES_LINES_H
#define SHARDC_LIB_KERNELGEN_GPU_LINES_LINES_H

#include "../Points/Points.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Support/IndexBuilder.h"

namespace shardc::gpukernels {

/// Launches in place of `op`, which is on buffers. An error on the op where
/// there is no kernel of it.
LogicalResult launchLines(spmd::LinesOp op);

namespace lines {
/// f32 numbers of a line that is transformed, at most; of other types as many
/// bytes. [shape]
inline constexpr int64_t kMostTransform = 4096;
/// A stage writes out the sums of as many elements as its radix, each with
/// each: a kernel of the square of it. [limit]
inline constexpr int64_t kMostRadix = 61;

/// What the kernels of one op on lines share. Lines are numbered in row-major
/// order of the other dims.
class LineEmitter : protected IndexBuilder {
public:
  LineEmitter(OpBuilder &b, spmd::LinesOp op);

protected:
  /// As sizes of buffers are bounded by: without a case for zero.
  Value ceilDiv(Value x, int64_t y) { return div(add(x, index(y - 1)), y); }
  Value load(Value memref, ValueRange at) {
    return memref::LoadOp::create(b, loc, memref, at);
  }
  void store(Value value, Value memref, ValueRange at) {
    memref::StoreOp::create(b, loc, value, memref, at);
  }
  void barrier() { gpu::BarrierOp::create(b, loc); }
  /// Emits `body` where `condition` holds.
  void when(Value condition, llvm::function_ref<void()> body);
  /// Emits `body` for numbers from `first`, in steps of `step`, below `end`.
  void forEach(Value first, Value end, Value step,
               llvm::function_ref<void(Value)> body);

  /// A buffer that a block shares.
  Value share(gpu::LaunchOp launch, int64_t count, Type element);
  /// A buffer of device memory; with `known` elements, where that is static.
  Value scratch(int64_t known, Value count, Type element);

  /// Place `at` of line `line` in a buffer of the op, both below their counts.
  SmallVector<Value> subscripts(Value line, Value at);
  Type elementOf(Value memref) {
    return cast<MemRefType>(memref.getType()).getElementType();
  }
  /// What the op's region yields for `arguments`.
  SmallVector<Value> body(ValueRange arguments);

  spmd::LinesOp op;
  unsigned dim;
  SmallVector<Value> sizes;
  /// Elements of a line, and lines; also as numbers, dynamic if not known.
  Value length, lines;
  int64_t knownLength, knownLines = 1;
  /// Whether neighbours along `dim` are neighbours in memory.
  bool isInnermost = true;
};

// At the insertion point of `b`.
void launchSort(OpBuilder &b, spmd::LinesOp op);
void launchScan(OpBuilder &b, spmd::LinesOp op);
void launchFourier(OpBuilder &b, spmd::LinesOp op);
} // namespace lines
} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_LINES_LINES_H
