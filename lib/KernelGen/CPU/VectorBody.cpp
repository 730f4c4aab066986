//===- VectorBody.cpp - A linalg body on vectors --------------------------===//
//
// Scalars stay scalars until they meet a vector, so what is the same for all
// lanes is computed once.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"

using namespace mlir;

namespace shardc::cpu {

Value splat(OpBuilder &builder, Location loc, Value value, int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(builder, loc,
                                     VectorType::get({lanes}, value.getType()), value);
}

/// A load at other places in every lane.
static Value gather(OpBuilder &builder, memref::LoadOp load, ArrayRef<Value> indices,
                    int64_t lanes) {
  Location loc = load.getLoc();
  SmallVector<Value> elements;
  for (int64_t lane : llvm::seq(lanes)) {
    SmallVector<Value> at;
    for (Value index : indices)
      at.push_back(isa<VectorType>(index.getType())
                       ? vector::ExtractOp::create(builder, loc, index, lane)
                       : index);
    elements.push_back(memref::LoadOp::create(builder, loc, load.getMemRef(), at));
  }
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get({lanes}, load.getType()), elements);
}

SmallVector<Value> evaluateBody(OpBuilder &builder, Block &body,
                                ArrayRef<Value> arguments, int64_t lanes,
                                llvm::function_ref<Value(int64_t)> index) {
  IRMapping map;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    map.map(argument, value);
  for (Operation &op : body.without_terminator()) {
    if (auto position = dyn_cast<linalg::IndexOp>(op)) {
      map.map(position.getResult(), index(position.getDim()));
      continue;
    }
    SmallVector<Value> operands;
    bool isVector = false;
    for (Value operand : op.getOperands()) {
      operands.push_back(map.lookupOrDefault(operand));
      isVector |= isa<VectorType>(operands.back().getType());
    }
    if (auto load = dyn_cast<memref::LoadOp>(op); load && isVector) {
      map.map(load.getResult(),
              gather(builder, load, ArrayRef(operands).drop_front(), lanes));
      continue;
    }
    if (!isVector || lanes == 1) {
      Operation *copy = builder.clone(op, map);
      if (auto fast = dyn_cast<arith::ArithFastMathInterface>(copy))
        copy->setAttr(fast.getFastMathAttrName(),
                      arith::FastMathFlagsAttr::get(builder.getContext(),
                                                    arith::FastMathFlags::contract));
      continue;
    }
    for (Value &operand : operands)
      operand = splat(builder, op.getLoc(), operand, lanes);
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(VectorType::get({lanes}, type));
    OperationState state(op.getLoc(), op.getName(), operands, types, op.getAttrs());
    state.propertiesAttr = op.getPropertiesAsAttribute();
    Operation *copy = builder.create(state);
    if (auto fast = dyn_cast<arith::ArithFastMathInterface>(copy))
      copy->setAttr(fast.getFastMathAttrName(),
                    arith::FastMathFlagsAttr::get(builder.getContext(),
                                                  arith::FastMathFlags::contract));
    map.map(op.getResults(), copy->getResults());
  }
  SmallVector<Value> yields;
  for (Value value : body.getTerminator()->getOperands())
    yields.push_back(map.lookupOrDefault(value));
  return yields;
}

} // namespace shardc::cpu
