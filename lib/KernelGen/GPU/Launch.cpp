//===- Launch.cpp - What ways to make a kernel share ----------------------===//
#include "Launch.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"

using namespace mlir;
using namespace shardc;

int64_t gpukernels::blocksOfGpu(Operation *op) {
  return std::max<int64_t>(int64_t(machineOf(op).multiprocessors), 1);
}

gpu::LaunchOp gpukernels::beginLaunch(OpBuilder &b, Location loc, Value blocks,
                                      int64_t threads) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value block = arith::ConstantIndexOp::create(b, loc, threads);
  auto launch =
      gpu::LaunchOp::create(b, loc, blocks, one, one, block, one, one);
  Block &body = launch.getBody().front();
  b.setInsertionPointToEnd(&body);
  gpu::TerminatorOp::create(b, loc);
  b.setInsertionPointToStart(&body);
  return launch;
}

Value gpukernels::beginLaunchOf(OpBuilder &b, Location loc, Value total,
                                int64_t threads) {
  Value perBlock = arith::ConstantIndexOp::create(b, loc, threads);
  Value blocks = arith::CeilDivUIOp::create(b, loc, total, perBlock);
  gpu::LaunchOp launch = beginLaunch(b, loc, blocks, threads);
  Value first = arith::MulIOp::create(b, loc, launch.getBlockIds().x, perBlock);
  Value index = arith::AddIOp::create(b, loc, first, launch.getThreadIds().x);
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, total);
  auto guard = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
  b.setInsertionPointToStart(guard.thenBlock());
  return index;
}

bool gpukernels::canShuffle(Type type) {
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64;
}

// Shuffles move words of 32 bits.
Value gpukernels::shuffle(OpBuilder &b, Location loc, Value value,
                          int64_t distance, gpu::ShuffleMode mode) {
  auto word = [&](Value part) -> Value {
    return gpu::ShuffleOp::create(b, loc, part, distance, kWarp, mode)
        .getShuffleResult();
  };
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 32)
    return word(value);
  Type bits = b.getIntegerType(width), i32 = b.getI32Type();
  bool isFloat = isa<FloatType>(type);
  if (isFloat)
    value = arith::BitcastOp::create(b, loc, bits, value);
  if (width < 32) {
    value = word(arith::ExtUIOp::create(b, loc, i32, value));
    value = arith::TruncIOp::create(b, loc, bits, value);
  } else {
    Type i64 = b.getI64Type();
    if (width < 64)
      value = arith::ExtUIOp::create(b, loc, i64, value);
    Value half = arith::ConstantOp::create(b, loc, b.getIntegerAttr(i64, 32));
    Value high = arith::ShRUIOp::create(b, loc, value, half);
    Value low = word(arith::TruncIOp::create(b, loc, i32, value));
    high = word(arith::TruncIOp::create(b, loc, i32, high));
    high = arith::ExtUIOp::create(b, loc, i64, high);
    high = arith::ShLIOp::create(b, loc, high, half);
    low = arith::ExtUIOp::create(b, loc, i64, low);
    value = arith::OrIOp::create(b, loc, high, low);
    if (width < 64)
      value = arith::TruncIOp::create(b, loc, bits, value);
  }
  return isFloat ? arith::BitcastOp::create(b, loc, type, value) : value;
}

LLVM::LoopAnnotationAttr gpukernels::unrolling(MLIRContext *ctx,
                                               int64_t count) {
  BoolAttr disable = count == 1 ? BoolAttr::get(ctx, true) : BoolAttr();
  IntegerAttr number;
  if (count > 1)
    number = IntegerAttr::get(IntegerType::get(ctx, 32), count);
  auto unroll =
      LLVM::LoopUnrollAttr::get(ctx, disable, number, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(ctx, {}, {}, {}, unroll, {}, {}, {}, {},
                                       {}, {}, {}, {}, {}, {}, {});
}

void gpukernels::setUnrolling(scf::ForOp loop, int64_t count) {
  loop->setAttr("llvm.loop_annotation", unrolling(loop.getContext(), count));
}

Value gpukernels::product(OpBuilder &b, Location loc, ArrayRef<Value> values) {
  Value result = arith::ConstantIndexOp::create(b, loc, 1);
  for (Value value : values)
    result = arith::MulIOp::create(b, loc, result, value);
  return result;
}

Value gpukernels::PointEmitter::loadOutput(OpOperand &output) {
  if (ArrayAttr starts = spmd::contract::Starts::get(op))
    if (auto number = dyn_cast<TypedAttr>(
            starts[output.getOperandNumber() - op.getNumDpsInputs()]))
      return arith::ConstantOp::create(b, loc, number);
  return load(output);
}
