//===- MatrixLoops.cpp - Loops over the elements of matrices --------------===//
#include "MatrixLoops.h"

using namespace mlir;
using namespace shardc::lowering;

MatrixLoops::Values MatrixLoops::range(Value from, Value to, ValueRange carried,
                                       Body body) {
  auto loop = scf::ForOp::create(b, from, to, index(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

MatrixLoops::Values MatrixLoops::repeat(int64_t limit, ValueRange carried,
                                        Body body) {
  // Carried along: whether to go on, and how often it went.
  Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
  Values init{yes, index(0)};
  init.append(carried.begin(), carried.end());
  SmallVector<Type> types =
      llvm::map_to_vector(init, [](Value v) { return v.getType(); });
  SmallVector<Location> locs(types.size(), b.getLoc());
  auto loop = scf::WhileOp::create(b, types, init);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                       before->getArgument(1), index(limit));
  Value goOn = arith::AndIOp::create(b, inside, before->getArgument(0));
  scf::ConditionOp::create(b, goOn, before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  Values next = body(after->getArgument(1), after->getArguments().drop_front(2));
  Value turn = plus(after->getArgument(1), 1);
  next.insert(next.begin() + 1, turn);
  scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(loop.getResults().drop_front(2));
}

MatrixLoops::Values
MatrixLoops::overBatch(ArrayRef<OpFoldResult> sizes, ValueRange carried,
                       llvm::function_ref<Values(ValueRange)> body) {
  return l.loops(sizes, carried, [&](ValueRange at, ValueRange now) {
    batch.assign(at.begin(), at.end());
    return body(now);
  });
}

Value MatrixLoops::get(Value tensor, ValueRange at) {
  Values where(batch);
  where.append(at.begin(), at.end());
  return tensor::ExtractOp::create(b, tensor, where);
}

Value MatrixLoops::set(Value tensor, ValueRange at, Value value) {
  Values where(batch);
  where.append(at.begin(), at.end());
  return tensor::InsertOp::create(b, value, tensor, where);
}

Value MatrixLoops::swap(Value tensor, ValueRange x, ValueRange y) {
  Value atX = get(tensor, x), atY = get(tensor, y);
  tensor = set(tensor, x, atY);
  return set(tensor, y, atX);
}
