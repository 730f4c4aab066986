//===- Launch.cpp - What ways to make a kernel share ----------------------===//
#include "Launch.h"

using namespace mlir;
using namespace shardc;

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

Value gpukernels::product(OpBuilder &b, Location loc, ArrayRef<Value> values) {
  Value result = arith::ConstantIndexOp::create(b, loc, 1);
  for (Value value : values)
    result = arith::MulIOp::create(b, loc, result, value);
  return result;
}
