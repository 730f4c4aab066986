//===- PairStep.cpp - A pair step as its kernels see it -------------------===//
#include "PairStep.h"
#include "../../Common/PairAlgebra.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;
using spmd::PairCombine;

/// Null if it is empty.
static Region *regionOrNull(Region &region) {
  return region.empty() ? nullptr : &region;
}

static std::optional<double> scaleOf(Region &score) {
  Value raw = score.getArgument(0);
  Value made = score.front().getTerminator()->getOperand(0);
  if (made == raw)
    return 1;
  auto product = made.getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  Value factor = product.getLhs() == raw   ? product.getRhs()
                 : product.getRhs() == raw ? product.getLhs()
                                           : Value();
  FloatAttr number;
  if (!factor || !matchPattern(factor, m_Constant(&number)) ||
      !number.getValue().isFinite() || number.getValueAsDouble() <= 0)
    return std::nullopt;
  return number.getValueAsDouble();
}

Step::Step(OpBuilder &b, spmd::PairStepOp op, bool shortWeights)
    : loc(op.getLoc()), type(shardc::pairs::computeTypeOf(op)),
      half(getElementTypeOrSelf(op.getQuery().getType())),
      shortWeights(shortWeights), combine(op.getCombine()),
      hasValue(op.getValue() != nullptr), pair(regionOrNull(op.getPair())),
      score(&op.getScore()), weight(regionOrNull(op.getWeight())),
      slope(regionOrNull(op.getSlope())), scale(scaleOf(op.getScore())),
      bandLower(op.getBandLower()), bandUpper(op.getBandUpper()),
      start(op.getAt()), multiprocessors(blocksOfGpu(op)) {
  unsigned numDims = op.getMap(0).getNumDims();
  q = numDims - 4;
  k = numDims - 3;
  d = numDims - 2;
  e = numDims - 1;
  sizes.assign(numDims, Value());
  known.assign(numDims, 1);
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  unsigned number = 0;
  auto take = [&](Value memref) {
    Tensor tensor{memref, op.getMap(number++)};
    auto shape = cast<MemRefType>(memref.getType());
    for (auto [i, expr] : llvm::enumerate(tensor.map.getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      if (sizes[dim] && ShapedType::isStatic(known[dim]))
        continue;
      if (sizes[dim] && shape.isDynamicDim(i))
        continue;
      known[dim] = shape.getDimSize(i);
      sizes[dim] = shape.isDynamicDim(i)
                       ? memref::DimOp::create(b, loc, memref, i).getResult()
                       : index(known[dim]);
    }
    return tensor;
  };
  query = take(op.getQuery());
  key = take(op.getKey());
  if (hasValue)
    value = take(op.getValue());
  for (Value row : op.getRows())
    rows.push_back(take(row));
  for (Value extra : op.getExtras())
    extras.push_back(take(extra));
  ArrayAttr starts = spmd::contract::Starts::get(op);
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    states.push_back(take(init));
    if (starts)
      states.back().start = dyn_cast<TypedAttr>(starts[i]);
  }
  for (Value &size : sizes)
    if (!size)
      size = index(1);
}

PairPass::PairPass(const Step &step, Weigh weigh, unsigned rowDim,
                   const Tensor *target, unsigned feature, const Tensor *factor)
    : weigh(weigh), rowDim(rowDim),
      columnDim(rowDim == step.q ? step.k : step.q), target(target),
      feature(feature), factor(factor) {
  const Tensor &kept = target ? *target : step.states[0];
  for (unsigned dim : llvm::seq(step.q))
    (kept.has(dim) ? outer : inner).push_back(dim);
}

bool Step::keepsSoftmax(const PairPass &pass) const {
  return pass.weigh == Weigh::Forward && combine == PairCombine::Softmax;
}

bool Step::hasFiniteWeights(const PairPass &pass) const {
  return pass.weigh != Weigh::Slopes && !weight;
}

bool Step::fitsTensorCores(const PairPass &pass, bool orWide,
                           bool orShort) const {
  if (!pass.factor || !type.isF32() || pair ||
      combine != PairCombine::Softmax || !isHalf(key) ||
      !(isHalf(*pass.factor) || (orWide && roundsWide(*pass.factor))))
    return false;
  if (!orShort && ShapedType::isStatic(sizeOf(pass.rowDim)) &&
      sizeOf(pass.rowDim) < 16)
    return false;
  // Numbers of f16 end early: weights that are no larger than 1 alone.
  return half.isBF16() ||
         (half.isF16() && pass.weigh == Weigh::Forward && !weight);
}

bool Step::hasEdge(const PairPass &pass, int64_t columns) const {
  int64_t all = sizeOf(pass.columnDim);
  return ShapedType::isDynamic(all) || all % columns != 0;
}

std::optional<Operands> gpukernels::pairs::operandsOf(const Step &step,
                                                      const PairPass &pass,
                                                      int64_t leftLines,
                                                      int64_t columns,
                                                      int64_t numFeatures) {
  bool rowsAreQueries = pass.rowDim == step.q, fits = true;
  Operands operands;
  auto put = [&](SmallVector<Lines> &to, const Tensor &tensor, unsigned dim,
                 int64_t first, int64_t length) {
    bool isLeft = &to == &operands.lefts;
    fits &= ShapedType::isStatic(step.sizeOf(dim)) && step.sizeOf(dim) <= kSlab;
    // A block's rows are loaded once.
    fits &= !isLeft || llvm::none_of(pass.inner, [&](unsigned other) {
      return tensor.has(other);
    });
    to.push_back({&tensor, isLeft ? pass.rowDim : pass.columnDim,
                  isLeft ? leftLines : columns, dim, first,
                  static_cast<int64_t>(llvm::alignTo(length, kPart))});
  };
  const Tensor &lefts = rowsAreQueries ? step.query : step.key;
  const Tensor &tiles = rowsAreQueries ? step.key : step.query;
  put(operands.lefts, lefts, step.d, 0, step.sizeOf(step.d));
  put(operands.tiles, tiles, step.d, 0, step.sizeOf(step.d));
  if (pass.weigh == Weigh::Slopes) {
    const Tensor &cotangents = step.rows[2], &values = step.value;
    int64_t length = step.sizeOf(step.e);
    put(operands.lefts, rowsAreQueries ? cotangents : values, step.e, 0,
        length);
    put(operands.tiles, rowsAreQueries ? values : cotangents, step.e, 0,
        length);
  }
  if (operands.tiles.front().tensor != pass.factor) {
    operands.factor = operands.tiles.size();
    put(operands.tiles, *pass.factor, pass.feature, pass.slab, numFeatures);
  }
  if (!fits)
    return std::nullopt;
  return operands;
}
