//===- Deal.cpp - Dims in zigzag order ------------------------------------===//
//
// What each rank has from the front, and what it has from the end, is one
// interval of the dim in order: two exchanges.
//
//===----------------------------------------------------------------------===//
#include "Distribution.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdOrders.h"
#include "shardc/Support/Slices.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using namespace shardc::spmd;

//===----------------------------------------------------------------------===//
// deal
//===----------------------------------------------------------------------===//

static FailureOr<ShardingRule> dealRule(DealOp op) {
  ShardingRule rule;
  rule.results.push_back(newFactors(rule, shapeOf(op.getResult())));
  rule.operands = {rule.results[0]};
  Factor &zigzag = rule.factors[op.getDim()];
  zigzag.kind = FactorKind::Distributed;
  zigzag.movedBytes = bytesOf(op.getResult());
  return rule;
}

/// A dim that every rank has whole, put in its other order.
static Value dealWhole(DealOp op, const Boundaries &shards, Value local,
                       OpBuilder &b) {
  Location loc = op.getLoc();
  unsigned dim = op.getDim();
  std::vector<ZigzagPiece> pieces = Zigzag(shards).pieces();
  if (op.getBack())
    llvm::stable_sort(pieces, [](const ZigzagPiece &a, const ZigzagPiece &b) {
      return a.natural.begin < b.natural.begin;
    });
  auto type = cast<RankedTensorType>(local.getType());
  SmallVector<Value> parts;
  for (const ZigzagPiece &piece : pieces) {
    Interval from = op.getBack() ? piece.zigzag : piece.natural;
    if (from.empty())
      continue;
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
        strides(type.getRank(), b.getIndexAttr(1)), sizes;
    for (int64_t i = 0; i < type.getRank(); ++i)
      sizes.push_back(dimOf(b, loc, local, i));
    offsets[dim] = b.getIndexAttr(from.begin);
    sizes[dim] = b.getIndexAttr(from.size());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = from.size();
    parts.push_back(
        takePart(b, loc, type.clone(shape), local, offsets, sizes, strides));
  }
  return parts.size() < 2
             ? local
             : tensor::ConcatOp::create(b, loc, dim, parts).getResult();
}

/// `value`, of `tables` apart from the dim `op` is about, taken from the blocks
/// `from` of it to those of `to`.
static Value exchangeDim(DealOp op, Localization &localization, Value value,
                         const IntervalTable &from, const IntervalTable &to,
                         StringRef why) {
  SmallVector<IntervalTable> owned = localization.operandTables(0),
                             needed(owned);
  owned[op.getDim()] = from;
  needed[op.getDim()] = to;
  return localization.exchange(value, owned, needed, {}, why);
}

/// The shards of `op`'s order, one a coordinate along `axes`.
static IntervalTable shardsAlong(ArrayRef<int64_t> axes,
                                 const Boundaries &shards) {
  IntervalTable table = tableOf(axes, shards);
  if (shards.formula())
    table.formula =
        Formula::shards(shards.formula(), {axes.begin(), axes.end()});
  return table;
}

static LocalResults localizeDeal(DealOp op, Localization &localization) {
  localization.carriesFormulas();
  OpBuilder &b = localization.builder();
  Location loc = op.getLoc();
  unsigned dim = op.getDim();
  Value local = localization.operands()[0];
  RankedTensorType type = localization.resultType(0);
  IntervalTable blocks = localization.operandTables(0)[dim];
  Boundaries shards = *getOrder(op).getShards();
  std::string why = op.getBack() ? "puts blocks in order again"
                                 : "puts blocks in zigzag order";
  if (StringAttr reason = op.getReasonAttr())
    why += " " + reason.str();
  if (int64_t(blocks.intervals.size()) != shards.numShards()) {
    // Whose pieces lie where is known of shards alone.
    if (shards.formula().isOpen())
      localization.refuse("the sizes of shards in zigzag order, which blocks "
                          "are not");
    if (blocks.axes.empty())
      return SmallVector<Value>{
          castTo(b, loc, dealWhole(op, shards, local, b), type)};
    IntervalTable whole = localization.wholeTable(shards.size());
    Value zigzag =
        dealWhole(op, shards,
                  exchangeDim(op, localization, local, blocks, whole, why), b);
    return SmallVector<Value>{castTo(
        b, loc, exchangeDim(op, localization, zigzag, whole, blocks, why),
        type)};
  }
  IntervalTable zigzag = shardsAlong(blocks.axes, shards);
  if (op.getBack())
    local = exchangeDim(op, localization, local, blocks, zigzag, why);
  SmallVector<Value> pieces;
  for (auto [number, part] :
       llvm::enumerate(splitZigzag(zigzag, shards, &localization))) {
    auto end = static_cast<ZigzagEnd>(number);
    if (!op.getBack()) {
      pieces.push_back(
          exchangeDim(op, localization, local, blocks, part.natural, why));
      continue;
    }
    // What all ranks have from one end is a tensor of its own.
    Value piece = partOf(localization, local, dim, zigzag, part.held);
    pieces.push_back(exchangeDim(op, localization, piece,
                                 stretchOf(zigzag, end, shards.size()),
                                 inStretch(blocks, end, shards.size()), why));
  }
  Value whole = pieces.size() == 1
                    ? pieces.front()
                    : tensor::ConcatOp::create(b, loc, dim, pieces).getResult();
  if (!op.getBack())
    whole = exchangeDim(op, localization, whole, zigzag, blocks, why);
  return SmallVector<Value>{castTo(b, loc, whole, type)};
}

//===----------------------------------------------------------------------===//
// dealt_iota
//===----------------------------------------------------------------------===//

static FailureOr<ShardingRule> zigzagIotaRule(DealtIotaOp op) {
  ShardingRule rule;
  rule.results.push_back(newFactors(rule, shapeOf(op.getResult())));
  return rule;
}

static LocalResults localizeZigzagIota(DealtIotaOp op,
                                       Localization &localization) {
  OpBuilder &b = localization.builder();
  Location loc = op.getLoc();
  RankedTensorType type = localization.resultType(0);
  localization.carriesFormulas();
  SmallVector<Value> pieces;
  for (const TablePart &part :
       splitZigzag(localization.factorTable(0), getOrder(op).getShards(),
                   &localization)) {
    RankedTensorType partType =
        blockType({part.natural}, type.getElementType());
    SmallVector<OpFoldResult> sizes{sizeAt(localization, part.natural)};
    Value count;
    if (partType.hasStaticShape())
      count = stablehlo::IotaOp::create(b, loc, partType, uint64_t(0));
    else
      count = stablehlo::DynamicIotaOp::create(
          b, loc, partType, shapeTensor(b, loc, sizes), uint64_t(0));
    Value first = scalarFromIndex(b, loc, beginAt(localization, part.natural),
                                  type.getElementType());
    Value offset = broadcastScalar(b, loc, first, partType, sizes);
    pieces.push_back(stablehlo::AddOp::create(b, loc, partType, count, offset));
  }
  Value all = pieces.size() == 1
                  ? pieces.front()
                  : tensor::ConcatOp::create(b, loc, 0, pieces).getResult();
  return SmallVector<Value>{castTo(b, loc, all, type)};
}

void rules::attachDeal(MLIRContext *context) {
  attach<DealOp, dealRule, localizeDeal>(context);
  attach<DealtIotaOp, zigzagIotaRule, localizeZigzagIota>(context);
}
