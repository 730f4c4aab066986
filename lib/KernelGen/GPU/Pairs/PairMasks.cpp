//===- PairMasks.cpp - Masks that a step's band says as well --------------===//
//
// A program masks what is outside of a band, and the step says which band it
// is: pairs outside of it do not count. Then regions need not compare positions
// again, and what is left of a score is often a number times the product.
//
//===----------------------------------------------------------------------===//
#include "PairStep.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/FoldUtils.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

namespace {
/// query * the query's position + key * the key's + rest.
struct Positions {
  int64_t query = 0, key = 0, rest = 0;
};
} // namespace

static std::optional<Positions> positionsOf(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return Positions{0, 0, number.getSExtValue()};
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // The last two are the query's and the key's.
    unsigned behind =
        argument.getOwner()->getNumArguments() - argument.getArgNumber();
    if (behind > 2 || !argument.getType().isInteger(32))
      return std::nullopt;
    return Positions{behind == 2, behind == 1, 0};
  }
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  std::optional<Positions> x = positionsOf(op->getOperand(0)),
                           y = positionsOf(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  int64_t sign = isa<arith::AddIOp>(op) ? 1 : -1;
  return Positions{x->query + sign * y->query, x->key + sign * y->key,
                   x->rest + sign * y->rest};
}

/// Whether `compare` holds for all pairs of key - query from `lower` to
/// `upper`.
static bool holdsIn(arith::CmpIOp compare, std::optional<int64_t> lower,
                    std::optional<int64_t> upper) {
  std::optional<Positions> x = positionsOf(compare.getLhs()),
                           y = positionsOf(compare.getRhs());
  if (!x || !y)
    return false;
  // Left minus right is the distance, or that the other way round, and a rest.
  int64_t sign = x->key - y->key, rest = x->rest - y->rest;
  if ((sign != 1 && sign != -1) || x->query - y->query != -sign)
    return false;
  std::optional<int64_t> least = sign > 0 ? lower : upper,
                         most = sign > 0 ? upper : lower;
  if (least)
    least = sign * *least + rest;
  if (most)
    most = sign * *most + rest;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sle:
    return most && *most <= 0;
  case arith::CmpIPredicate::slt:
    return most && *most < 0;
  case arith::CmpIPredicate::sge:
    return least && *least >= 0;
  case arith::CmpIPredicate::sgt:
    return least && *least > 0;
  default:
    return false;
  }
}

void gpukernels::pairs::foldMasks(spmd::PairStepOp op) {
  SmallVector<arith::CmpIOp> known;
  op->walk([&](arith::CmpIOp compare) {
    if (holdsIn(compare, op.getBandLower(), op.getBandUpper()))
      known.push_back(compare);
  });
  for (arith::CmpIOp compare : known) {
    OpBuilder b(compare);
    compare.replaceAllUsesWith(
        arith::ConstantIntOp::create(b, compare.getLoc(), 1, 1).getResult());
    compare.erase();
  }
  if (known.empty())
    return;
  OperationFolder folder(op.getContext());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : llvm::make_early_inc_range(block))
        (void)folder.tryToFold(&inner);
}
