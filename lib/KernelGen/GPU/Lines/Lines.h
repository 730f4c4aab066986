//===- Lines.h - Kernels of algorithms on lines -----------------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_LINES_LINES_H
#define SHARDC_LIB_KERNELGEN_GPU_LINES_LINES_H

#include "../Points/Points.h"
#include "shardc/Dialect/Spmd/IR/SpmdLines.h"

namespace shardc::gpukernels {

/// Launches in place of `op`, which is on buffers. An error on the op where
/// there is no kernel of it.
LogicalResult launchLines(spmd::LinesOp op);

namespace lines {
/// f32 numbers of a line that is transformed, at most; of other types as many
/// bytes.
inline constexpr int64_t kMostTransform = 4096;
/// A stage writes out the sums of as many elements as its radix, each with
/// each: a kernel of the square of it.
inline constexpr int64_t kMostRadix = 61;

/// What the kernels of one op on lines share. Lines are numbered in row-major
/// order of the other dims.
class LineEmitter {
public:
  explicit LineEmitter(spmd::LinesOp op);

protected:
  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(b, loc, number);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value mul(Value x, int64_t y) { return mul(x, index(y)); }
  Value div(Value x, Value y) { return arith::DivUIOp::create(b, loc, x, y); }
  Value div(Value x, int64_t y) { return div(x, index(y)); }
  Value rem(Value x, Value y) { return arith::RemUIOp::create(b, loc, x, y); }
  Value rem(Value x, int64_t y) { return rem(x, index(y)); }
  /// As sizes of buffers are bounded by: without a case for zero.
  Value ceilDiv(Value x, int64_t y) { return div(add(x, index(y - 1)), y); }
  Value least(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
  Value most(Value x, Value y) { return arith::MaxSIOp::create(b, loc, x, y); }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value choose(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }
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
  OpBuilder b;
  Location loc;
  unsigned dim;
  SmallVector<Value> sizes;
  /// Elements of a line, and lines; also as numbers, dynamic if not known.
  Value length, lines;
  int64_t knownLength, knownLines = 1;
  /// Whether neighbours along `dim` are neighbours in memory.
  bool isInnermost = true;
};

void launchSort(spmd::LinesOp op);
void launchScan(spmd::LinesOp op);
void launchFourier(spmd::LinesOp op);
} // namespace lines
} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_LINES_LINES_H
