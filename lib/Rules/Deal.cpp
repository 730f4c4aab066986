//===- Deal.cpp - Dims in zigzag order ------------------------------------===//
//
// What each rank has from the front, and what it has from the end, is one
// interval of the dim in order: two exchanges.
//
//===----------------------------------------------------------------------===//
#include "Distribution.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Layout/Zigzag.h"
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
static Value dealWhole(DealOp op, Value local, OpBuilder &b) {
  Location loc = op.getLoc();
  unsigned dim = op.getDim();
  std::vector<ZigzagPiece> pieces =
      Zigzag(
          *Boundaries::fromSizes({op.getSizes().data(), op.getSizes().size()}))
          .pieces();
  if (op.getBack())
    llvm::sort(pieces, [](const ZigzagPiece &a, const ZigzagPiece &b) {
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

/// Intervals of a dim that begins at `domain.begin`, and ends with it.
static IntervalTable within(const IntervalTable &table, Interval domain) {
  IntervalTable result = table;
  for (Interval &interval : result.intervals) {
    interval = intersect(interval, domain);
    interval = interval.empty() ? Interval{0, 0}
                                : Interval{interval.begin - domain.begin,
                                           interval.end - domain.begin};
  }
  return result;
}

static LocalResults localizeDeal(DealOp op, Localization &localization) {
  OpBuilder &b = localization.builder();
  Location loc = op.getLoc();
  unsigned dim = op.getDim();
  Value local = localization.operands()[0];
  RankedTensorType type = localization.resultType(0);
  IntervalTable blocks = localization.operandTables(0)[dim];
  Boundaries shards =
      *Boundaries::fromSizes({op.getSizes().data(), op.getSizes().size()});
  std::string why = op.getBack() ? "puts blocks in order again"
                                 : "puts blocks in zigzag order";
  if (auto reason = op->getAttrOfType<StringAttr>("reason"))
    why += " " + reason.str();
  if (blocks.intervals.size() == 1)
    return SmallVector<Value>{castTo(b, loc, dealWhole(op, local, b), type)};
  if (blocks.intervals.size() != op.getSizes().size()) {
    IntervalTable whole = wholeTable(shards.size());
    Value zigzag = dealWhole(
        op, exchangeDim(op, localization, local, blocks, whole, why), b);
    return SmallVector<Value>{castTo(
        b, loc, exchangeDim(op, localization, zigzag, whole, blocks, why),
        type)};
  }
  IntervalTable zigzag = tableOf(blocks.axes, shards);
  SmallVector<TablePart, 0> parts = splitZigzag(zigzag, op.getSizes());
  if (op.getBack())
    local = exchangeDim(op, localization, local, blocks, zigzag, why);
  SmallVector<Value> pieces;
  for (const TablePart &part : parts) {
    if (!op.getBack()) {
      pieces.push_back(
          exchangeDim(op, localization, local, blocks, part.natural, why));
      continue;
    }
    // What all ranks have from one end is a stretch of the dim, and a tensor of
    // its own.
    Interval domain{INT64_MAX, 0};
    for (Interval interval : part.natural.intervals)
      if (!interval.empty())
        domain = {std::min(domain.begin, interval.begin),
                  std::max(domain.end, interval.end)};
    if (domain.empty())
      continue;
    Value piece = partOf(localization, local, dim, zigzag, part.held);
    pieces.push_back(exchangeDim(op, localization, piece,
                                 within(part.natural, domain),
                                 within(blocks, domain), why));
  }
  Value whole = pieces.empty() ? local
                : pieces.size() == 1
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
  SmallVector<Value> pieces;
  for (const TablePart &part :
       splitZigzag(localization.factorTable(0), op.getSizes())) {
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
