//===- UnrollLoops.cpp - Short loops of elementwise ops, written out ------===//
//
// JAX writes the rounds of its random numbers as a loop of five iterations,
// each of which reads and writes all numbers. Written out, they are one chain
// of elementwise ops, which becomes one pass over memory; the rotations, which
// alternate between them, become constants.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;

/// Up to this many elements a value is held in registers or in the first-level
/// cache, whatever loop it is in.
constexpr int64_t kSmall = 1024;

static int64_t elementsOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasStaticShape() ? shaped.getNumElements()
                                           : ShapedType::kDynamic;
}

/// True for ops that fuse with their neighbours, and for those on values so
/// small that they cost nothing.
static bool fuses(Operation &op) {
  if (op.getNumRegions() || !isPure(&op))
    return false;
  if (op.hasTrait<ElementwiseTrait>() || isa<ConstantOp, IotaOp>(op))
    return true;
  if (isa<BroadcastInDimOp>(op))
    return elementsOf(op.getOperand(0).getType()) == 1;
  return llvm::all_of(op.getOperandTypes(), [](Type type) {
    int64_t elements = elementsOf(type);
    return elements >= 0 && elements <= kSmall;
  });
}

/// True if `loop`, written out `tripCount` times, is shorter in time than it
/// is.
static bool pays(WhileOp loop, int64_t tripCount, int64_t maxOps) {
  Block &body = loop.getBody().front();
  bool carriesMuch = llvm::any_of(loop->getResultTypes(), [](Type type) {
    return elementsOf(type) > kSmall;
  });
  int64_t count = 0;
  for (Operation &op : body.without_terminator()) {
    if (!fuses(op))
      return false;
    ++count;
  }
  return carriesMuch && count * tripCount <= maxOps;
}

static DenseElementsAttr constantOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
}

/// What `op` takes out of a list of constants; null if that is not what it
/// does. Lists that loops carry are constants of each iteration once it is
/// written out.
static DenseElementsAttr takenOut(Operation *op) {
  if (auto slice = dyn_cast<SliceOp>(op)) {
    DenseElementsAttr list = constantOf(slice.getOperand());
    auto type = cast<RankedTensorType>(slice.getType());
    if (!list || type.getRank() != 1)
      return nullptr;
    SmallVector<Attribute> taken;
    for (int64_t place = slice.getStartIndices().front();
         place < slice.getLimitIndices().front();
         place += slice.getStrides().front())
      taken.push_back(list.getValues<Attribute>()[place]);
    return DenseElementsAttr::get(type, taken);
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    if (DenseElementsAttr list = constantOf(reshape.getOperand()))
      return list.reshape(cast<ShapedType>(reshape.getType()));
  return nullptr;
}

static void unroll(WhileOp loop, int64_t tripCount) {
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  Block &body = loop.getBody().front();
  SmallVector<Value> carried = llvm::to_vector(loop->getOperands());
  for (int64_t iteration = 0; iteration < tripCount; ++iteration) {
    IRMapping map;
    map.map(body.getArguments(), carried);
    for (Operation &op : body.without_terminator()) {
      Operation *clone = rewriter.clone(op, map);
      if (DenseElementsAttr value = takenOut(clone)) {
        auto constant = ConstantOp::create(rewriter, clone->getLoc(), value);
        rewriter.replaceOp(clone, constant);
        map.map(op.getResult(0), constant.getResult());
      }
    }
    for (auto [value, next] :
         llvm::zip_equal(carried, body.getTerminator()->getOperands()))
      value = map.lookupOrDefault(next);
  }
  rewriter.replaceOp(loop, carried);
}

namespace {
struct UnrollLoopsPass final
    : shardc::impl::UnrollLoopsPassBase<UnrollLoopsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<WhileOp> loops;
    getOperation().walk([&](WhileOp loop) { loops.push_back(loop); });
    // Inner loops come first: what was one is part of the outer body then.
    for (WhileOp loop : loops) {
      std::optional<CountedLoop> counted = readCountedLoop(loop);
      if (counted && counted->tripCount() <= maxTripCount &&
          pays(loop, counted->tripCount(), maxOps))
        unroll(loop, counted->tripCount());
    }
  }
};
} // namespace
