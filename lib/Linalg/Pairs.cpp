//===- Pairs.cpp - Steps on all pairs -------------------------------------===//
//
// The step itself stays for the kernel generator; its regions become scalars.
//
//===----------------------------------------------------------------------===//
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "StableHLOToLinalg.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

static LogicalResult lowerPairStep(Lowerer &l, spmd::PairStepOp op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType())
                           ? l.tensor(operand)
                           : l.scalar(operand));
  SmallVector<Type> types =
      llvm::map_to_vector(op->getResultTypes(), signlessType);
  OperationState state(op->getLoc(), op->getName(), operands, types);
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (size_t i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *twin = l.b.create(state);
  for (auto [from, to] : llvm::zip(op->getRegions(), twin->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(l.b);
    Block *block = l.b.createBlock(&to);
    for (BlockArgument argument : from.getArguments())
      block->addArgument(signlessType(elementType(argument.getType())),
                         argument.getLoc());
    SmallVector<Value> yields = l.scalarRegion(from, block->getArguments());
    if (yields.empty())
      return failure();
    spmd::YieldOp::create(l.b, yields);
  }
  for (auto [from, to] : llvm::zip(op->getResults(), twin->getResults()))
    l.set(from, to);
  return success();
}

static LogicalResult lowerAccumulate(Lowerer &l, spmd::AccumulateOp op) {
  unsigned dims = cast<RankedTensorType>(op.getType()).getRank();
  AffineMap identity = l.b.getMultiDimIdentityMap(dims);
  SmallVector<utils::IteratorType> parallel(dims,
                                            utils::IteratorType::parallel);
  SmallVector<Value> sum =
      l.generic(l.tensor(op.getTerm()), l.tensor(op.getSum()),
                {identity, identity}, parallel, [&](ValueRange args) {
                  Value total = args[1], term = args[0];
                  Value next =
                      isa<FloatType>(total.getType())
                          ? arith::AddFOp::create(l.b, total, term).getResult()
                          : arith::AddIOp::create(l.b, total, term).getResult();
                  return SmallVector<Value>{next};
                });
  l.set(op.getResult(), sum.front());
  return success();
}

void lowering::addPairs(LoweringTable &table) {
  table.op<spmd::PairStepOp>(lowerPairStep);
  table.op<spmd::AccumulateOp>(lowerAccumulate);
}
