//===- DecomposeTokens.cpp - Tuples and tokens ----------------------------===//
#include "Decompose.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

LogicalResult import::decompose(GetTupleElementOp op) {
  auto tuple = op.getOperand().getDefiningOp<TupleOp>();
  if (!tuple || op.getIndex() >= tuple.getVal().size())
    return emitUnsupported(op, "'")
           << op->getName() << "' at " << userLocation(op.getLoc())
           << " takes a value out of a tuple that is not made beside it";
  replace(op, tuple.getVal()[op.getIndex()]);
  return success();
}

/// Tokens order side effects, which the order of ops does as well.
void import::dropUnused(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<TupleOp, AfterAllOp, CreateTokenOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
}

static llvm::BitVector areTokens(TypeRange types) {
  llvm::BitVector tokens(types.size());
  for (auto [i, type] : llvm::enumerate(types))
    tokens[i] = isa<TokenType>(type);
  return tokens;
}

/// The shardings of values that are not `tokens`.
static sdy::TensorShardingPerValueAttr
withoutTokens(sdy::TensorShardingPerValueAttr shardings,
              const llvm::BitVector &tokens) {
  SmallVector<sdy::TensorShardingAttr> kept;
  for (auto [i, sharding] : llvm::enumerate(shardings.getShardings()))
    if (!tokens[i])
      kept.push_back(sharding);
  return sdy::TensorShardingPerValueAttr::get(shardings.getContext(), kept);
}

/// Takes tokens out of what loops carry, branches yield, and manual regions
/// take and give: nobody who could read them is left but ops of the same kind,
/// and @main's end. Innermost first.
void import::dropCarriedTokens(Operation *op) {
  llvm::BitVector results = areTokens(op->getResultTypes()),
                  operands = areTokens(op->getOperandTypes());
  if (results.none() && operands.none())
    return;
  OpBuilder builder(op);
  // Whatever still reads one is refused for it.
  Value token;
  for (unsigned i : results.set_bits())
    if (!op->getResult(i).use_empty()) {
      if (!token)
        token = CreateTokenOp::create(builder, op->getLoc());
      op->getResult(i).replaceAllUsesWith(token);
    }
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op)) {
    manual.setInShardingsAttr(withoutTokens(manual.getInShardings(), operands));
    manual.setOutShardingsAttr(
        withoutTokens(manual.getOutShardings(), results));
  }
  bool takesThem = isa<WhileOp, sdy::ManualComputationOp>(op);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      if (takesThem)
        for (BlockArgument argument : block.getArguments())
          if (isa<TokenType>(argument.getType()) && !argument.use_empty()) {
            OpBuilder inside = OpBuilder::atBlockBegin(&block);
            argument.replaceAllUsesWith(
                CreateTokenOp::create(inside, op->getLoc()).getResult());
          }
      if (takesThem)
        block.eraseArguments(areTokens(block.getArgumentTypes()));
      block.getTerminator()->eraseOperands(
          areTokens(block.getTerminator()->getOperandTypes()));
    }
  if (takesThem)
    op->eraseOperands(operands);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    if (!isa<TokenType>(type))
      types.push_back(type);
  OperationState state(op->getLoc(), op->getName(), op->getOperands(), types);
  state.attributes = op->getDiscardableAttrDictionary();
  state.propertiesAttr = op->getPropertiesAsAttribute();
  // One sharding a result.
  if (auto shardings = dyn_cast_or_null<sdy::TensorShardingPerValueAttr>(
          state.attributes.get("sdy.sharding"));
      shardings && shardings.getShardings().size() == op->getNumResults())
    state.attributes.set("sdy.sharding", withoutTokens(shardings, results));
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *without = builder.create(state);
  unsigned next = 0;
  for (Value result : op->getResults())
    if (!isa<TokenType>(result.getType()))
      result.replaceAllUsesWith(without->getResult(next++));
  op->erase();
}

/// Takes tokens off @main that say in what order it runs its effects, as
/// programs with ordered callbacks have them. A token that something else reads
/// stays, and is refused.
void import::dropTokens(func::FuncOp main) {
  if (!main || main.isExternal() || !main.getBody().hasOneBlock())
    return;
  Block &body = main.getBody().front();
  Operation *end = body.getTerminator();
  llvm::BitVector results = areTokens(end->getOperandTypes());
  if (results.any()) {
    (void)main.eraseResults(results);
    end->eraseOperands(results);
  }
  llvm::BitVector arguments = areTokens(body.getArgumentTypes());
  for (unsigned i : arguments.set_bits())
    if (!body.getArgument(i).use_empty())
      arguments.reset(i);
  if (arguments.any())
    (void)main.eraseArguments(arguments);
}

/// Takes tokens out of barriers, which then order values alone.
LogicalResult import::decompose(OptimizationBarrierOp op) {
  auto isToken = [](Value value) { return isa<TokenType>(value.getType()); };
  if (llvm::none_of(op.getOperands(), isToken))
    return success();
  SmallVector<Value> kept;
  for (auto [operand, result] : llvm::zip(op.getOperands(), op.getResults()))
    if (isToken(operand))
      result.replaceAllUsesWith(operand);
    else
      kept.push_back(operand);
  OpBuilder builder(op);
  auto barrier = OptimizationBarrierOp::create(
      builder, op.getLoc(), TypeRange(ValueRange(kept)), kept);
  unsigned next = 0;
  for (auto [operand, result] : llvm::zip(op.getOperands(), op.getResults()))
    if (!isToken(operand))
      result.replaceAllUsesWith(barrier.getResult()[next++]);
  op.erase();
  return success();
}
