//===- SplitExchanges.cpp - Start early, wait late ------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"

namespace shardc {
#define GEN_PASS_DEF_SPLITEXCHANGESPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// Exchanges that one block may have under way at once: their buffers are held.
/// [limit]
static constexpr unsigned kMaxOfBlock = 4;
/// What the runtime allows, those of enclosing blocks among them. [format]
static constexpr unsigned kMaxOfRank = 8;

/// How many exchanges are under way at an op: of its own block, and the most
/// of the blocks inside it.
struct UnderWay {
  unsigned here = 0, inside = 0;
};
using UnderWayMap = llvm::DenseMap<Operation *, UnderWay>;

/// Bytes of the largest tensor that `op` reads or makes; 0 for ops that move
/// and compute nothing. `?` dims count as one.
static int64_t workOf(Operation *op) {
  if (op->getNumResults() == 0 || op->getNumOperands() == 0 ||
      isa<CommunicationOpInterface, ExchangeStartOp>(op))
    return 0;
  int64_t elements = 0;
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type)) {
        int64_t count = 1;
        for (int64_t size : tensor.getShape())
          count *= ShapedType::isDynamic(size) ? 1 : size;
        elements = std::max(elements, count);
      }
  return elements;
}

/// The op in `block` that is or holds `op`; null if it is elsewhere.
static Operation *ancestorIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

static Operation *firstReaderOf(Operation *exchange) {
  Operation *first = nullptr;
  for (Operation *user : exchange->getUsers())
    if (Operation *reader = ancestorIn(exchange->getBlock(), user);
        reader && (!first || reader->isBeforeInBlock(first)))
      first = reader;
  return first;
}

/// Ops of `exchange`'s block that make its source and nothing else: they may
/// stand as early as what they read allows.
static SetVector<Operation *> makersOf(ExchangeOpInterface exchange) {
  SetVector<Operation *> makers;
  auto addMakerOf = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == exchange->getBlock() &&
        op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
        !isa<CommunicationOpInterface>(op) &&
        llvm::all_of(op->getUsers(), [&](Operation *user) {
          return user == exchange || makers.contains(user);
        }))
      makers.insert(op);
  };
  addMakerOf(cast<CommunicationOpInterface>(*exchange).getSource());
  for (size_t i = 0; i < makers.size(); ++i)
    for (Value operand : makers[i]->getOperands())
      addMakerOf(operand);
  return makers;
}

/// The last op of `block` that one of `makers` reads a result of, or that makes
/// `source`; null: all are before it.
static Operation *lastReadBy(const SetVector<Operation *> &makers, Block *block,
                             Value source) {
  Operation *last = nullptr;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == block && !makers.contains(op) &&
        (!last || last->isBeforeInBlock(op)))
      last = op;
  };
  add(source);
  for (Operation *maker : makers)
    for (Value operand : maker->getOperands())
      add(operand);
  return last;
}

/// Splits `op` if enough work is between its source and its first reader,
/// and few enough other exchanges are under way there.
static bool split(ExchangeOpInterface op, UnderWayMap &underWay) {
  auto communication = cast<CommunicationOpInterface>(*op);
  Operation *reader = firstReaderOf(op);
  if (!reader)
    return false;
  SetVector<Operation *> makers = makersOf(op);
  Operation *source =
      lastReadBy(makers, op->getBlock(), communication.getSource());
  // As early as its source is there, or as one of those under way is done with.
  Operation *begin = reader;
  int64_t work = 0;
  for (Operation *before = reader->getPrevNode(); before && before != source;
       before = before->getPrevNode()) {
    UnderWay there = underWay.lookup(before);
    if (there.here >= kMaxOfBlock || there.here + there.inside >= kMaxOfRank)
      break;
    if (before != op && !makers.contains(before))
      work = std::max(work, workOf(before));
    begin = before;
  }
  if (begin == reader)
    return false;
  auto type = cast<RankedTensorType>(communication.getSource().getType());
  int64_t elements = 1;
  for (int64_t size : type.getShape())
    elements *= ShapedType::isDynamic(size) ? 1 : size;
  // Less work than a part of the block itself hides nothing worth two calls.
  if (work * 4 < elements)
    return false;
  // In program order.
  while (begin != op && makers.contains(begin))
    begin = begin->getNextNode();
  SmallVector<Operation *> moved = makers.takeVector();
  llvm::sort(moved,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *maker : moved)
    if (begin->isBeforeInBlock(maker)) {
      maker->moveBefore(begin);
      underWay[maker] = underWay.lookup(begin);
    }
  OpBuilder builder(op->getContext());
  builder.setInsertionPoint(begin);
  auto start = ExchangeStartOp::create(
      builder, op->getLoc(), builder.getI64Type(), communication.getSource());
  StringAttr kind = builder.getStringAttr(op->getName().stripDialect());
  builder.setInsertionPoint(reader);
  auto wait = ExchangeWaitOp::create(
      builder, op->getLoc(), op->getResult(0).getType(), start.getToken(),
      communication.getSource(), kind, op.getFillValue(), op.getDims(),
      communication.getMeshName(), communication.getReasonAttr(),
      op.getArriving());
  for (Operation *between = begin; between != wait;
       between = between->getNextNode())
    ++underWay[between].here;
  // Others may come to be between these and their neighbours.
  underWay[start].here = underWay[begin].here;
  underWay[wait].here = underWay.lookup(wait->getPrevNode()).here;
  op->getResult(0).replaceAllUsesWith(wait.getResult());
  underWay.erase(op);
  op->erase();
  return true;
}

namespace {
struct SplitExchangesPass final
    : shardc::impl::SplitExchangesPassBase<SplitExchangesPass> {
  using Base::Base;
  void runOnOperation() override {
    UnderWayMap underWay;
    // Inner blocks first.
    getOperation().walk([&](Block *block) {
      for (Operation &op : llvm::make_early_inc_range(*block))
        // Waits are halves already.
        if (auto exchange = dyn_cast<ExchangeOpInterface>(op);
            exchange && !isa<ExchangeWaitOp>(op))
          (void)split(exchange, underWay);
      unsigned most = 0;
      for (Operation &op : *block)
        if (auto there = underWay.find(&op); there != underWay.end())
          most = std::max(most, there->second.here + there->second.inside);
      if (most)
        if (unsigned &inside = underWay[block->getParentOp()].inside;
            inside < most)
          inside = most;
    });
  }
};
} // namespace
