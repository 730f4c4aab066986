//===- SplitProducts.cpp - Blocks travel while products are computed ------===//
//
// A product of something gathered needs no gathered operand: each rank
// multiplies one block after another, its own first, and adds up (a contracted
// dim) or sets side by side (a free dim) what comes of them. A product whose
// partial sums are scattered needs no whole sum: each rank computes the block
// of another, sends it off, and computes its own last. Every block comes
// straight from its owner, as in a ring of attention (docs/Rationale/Ring.md).
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Analysis/LocalSizes.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interfaces/ProgramCost.h"
#include "shardc/Interfaces/StepLoop.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/Slices.h"

namespace shardc {
#define GEN_PASS_DEF_SPLITPRODUCTSPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {

/// A dim of which each rank has one block.
struct Blocks {
  unsigned place;       ///< among the dims that the communication lists
  DimExchange exchange; ///< the one of the communication
  std::vector<Interval> blocks;
  int64_t whole = 0; ///< elements of all blocks
};

/// What a dim of an operand is to a product.
struct Role {
  bool isContracted = false;
  unsigned resultDim = 0;                ///< of a free or batching dim
  std::optional<unsigned> otherDim = {}; ///< of the other operand, unless free
};

/// Splits the products of one function.
class Splitter {
public:
  Splitter(func::FuncOp function, int64_t leastBlock)
      : function(function), builder(function.getContext()),
        leastBlock(leastBlock) {}
  void run();

private:
  bool splitGathered(stablehlo::DotGeneralOp dot, unsigned operand);
  bool splitScattered(ReduceScatterOp scatter);

  static Role roleOf(stablehlo::DotGeneralOp dot, unsigned operand,
                     unsigned dim);
  /// Selects the mesh of `communication`. Returns the blocks of the one dim of
  /// `dims` that it moves, which ranks own before (else need after) it, while
  /// all of the dim is there on the other side; nullopt if it does anything
  /// else.
  std::optional<Blocks> selectMesh(CommunicationOpInterface communication,
                                   ArrayAttr dims, bool areOwned);
  /// The blocks that `exchange` moves, as `selectMesh` says.
  static std::optional<Blocks>
  blocksOf(unsigned place, const DimExchange &exchange, bool areOwned);
  /// True if `travelling`, in blocks, is better hidden: `addedPerElement` bytes
  /// are read and written for each element of the whole result that were not
  /// before.
  bool pays(stablehlo::DotGeneralOp dot, const Blocks &blocks, Value travelling,
            double addedPerElement);

  OpFoldResult lookUpHere(ArrayRef<int64_t> table) {
    return lookUp(builder, loc, mesh, meshName, table, axes);
  }
  /// The block of the rank `shift` places on.
  std::vector<Interval> shifted(ArrayRef<Interval> blocks, int64_t shift) const;
  /// What of dim `dim` of `value` belongs to `blocks`.
  Value slice(Value value, unsigned dim, ArrayRef<Interval> blocks);
  /// `value`, a block, put into `whole`.
  Value insert(Value value, Value whole, unsigned dim,
               ArrayRef<Interval> blocks);
  /// From `owned` to `needed` along the dim of `like`.
  Value exchange(Value value, ArrayAttr dims, const Blocks &like,
                 std::vector<Interval> owned, std::vector<Interval> needed,
                 StringAttr reason);
  /// The product of what is gathered, operand `operand` of `dot`, with one
  /// block after another.
  Value multiplyInLoop(stablehlo::DotGeneralOp dot, unsigned operand,
                       AllGatherOp gather, const Blocks &blocks, Value total,
                       Type sumType);
  /// The partial sums that `scatter` combines, passed from rank to rank.
  Value sumInLoop(stablehlo::DotGeneralOp dot, ReduceScatterOp scatter,
                  const Blocks &blocks);
  /// The number of the block that is here at `step`, an index.
  Value ownerAt(int64_t ranks, Value step);
  /// What of dim `dim` of `value` is block `owner`, begun at `begins` of it.
  Value sliceOf(Value value, unsigned dim, const Blocks &blocks,
                ArrayRef<int64_t> begins, Value owner);
  /// `block`, of as many elements along `dim` as `size` says, in a buffer that
  /// any block fits in.
  Value inBuffer(Value block, unsigned dim, const Blocks &blocks,
                 OpFoldResult size);
  /// A buffer from the next place.
  Value pass(Value buffer, ArrayAttr dims, const Blocks &blocks,
             StringAttr reason);
  /// The product of other operands, of elements of type `element`.
  Value multiply(stablehlo::DotGeneralOp dot, Value lhs, Value rhs,
                 Type element);
  RankedTensorType sliced(Value value, unsigned dim,
                          ArrayRef<Interval> blocks) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = staticSize(sizesOf(blocks));
    return type.clone(shape);
  }

  func::FuncOp function;
  OpBuilder builder;
  int64_t leastBlock;
  // Of the product being split.
  Location loc = UnknownLoc::get(function.getContext());
  MeshAttr mesh;
  FlatSymbolRefAttr meshName;
  SmallVector<int64_t> axes;
  Cost cost{costOn(function)};
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be split
//===----------------------------------------------------------------------===//

std::optional<Blocks>
Splitter::blocksOf(unsigned place, const DimExchange &exchange, bool areOwned) {
  const std::vector<Interval> &parts =
      areOwned ? exchange.owned : exchange.needed;
  const std::vector<Interval> &wholes =
      areOwned ? exchange.needed : exchange.owned;
  int64_t size = 0, covered = 0;
  for (Interval part : parts) {
    size = std::max(size, part.end);
    covered += part.size();
  }
  std::vector<Interval> sorted(parts);
  llvm::sort(sorted, [](Interval a, Interval b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  int64_t end = INT64_MIN;
  for (Interval part : sorted) {
    if (!part.empty() && part.begin < end)
      return std::nullopt;
    end = part.empty() ? end : part.end;
  }
  for (Interval whole : wholes)
    if (whole != Interval{0, size})
      return std::nullopt;
  if (covered != size || parts.size() < 2)
    return std::nullopt;
  return Blocks{place, exchange, parts, size};
}

/// The one dim of `dims` that changes hands; nullopt if several do.
static std::optional<unsigned> movingDim(ArrayAttr dims, MeshAttr mesh) {
  std::optional<unsigned> moving;
  // Blocks have a size for each rank.
  if (isBoundLate(dims))
    return std::nullopt;
  for (auto [place, attr] :
       llvm::enumerate(dims.getAsRange<DimExchangeAttr>())) {
    DimExchange exchange = attr.getExchange(mesh);
    if (exchange.owned == exchange.needed)
      continue;
    if (moving || exchange.padding != Padding::Constant)
      return std::nullopt;
    moving = place;
  }
  return moving;
}

std::optional<Blocks>
Splitter::selectMesh(CommunicationOpInterface communication, ArrayAttr dims,
                     bool areOwned) {
  meshName = communication.getMeshName();
  mesh = lookupMesh(communication, meshName);
  std::optional<unsigned> place = movingDim(dims, mesh);
  if (!place)
    return std::nullopt;
  DimExchange moving = cast<DimExchangeAttr>(dims[*place]).getExchange(mesh);
  axes.assign(moving.axes.begin(), moving.axes.end());
  return blocksOf(*place, moving, areOwned);
}

Role Splitter::roleOf(stablehlo::DotGeneralOp dot, unsigned operand,
                      unsigned dim) {
  stablehlo::DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  ArrayRef<int64_t> batching[] = {numbers.getLhsBatchingDimensions(),
                                  numbers.getRhsBatchingDimensions()};
  ArrayRef<int64_t> contracting[] = {numbers.getLhsContractingDimensions(),
                                     numbers.getRhsContractingDimensions()};
  auto placeIn = [&](ArrayRef<int64_t> list) -> std::optional<unsigned> {
    auto found = llvm::find(list, int64_t(dim));
    return found == list.end() ? std::nullopt
                               : std::optional<unsigned>(found - list.begin());
  };
  if (std::optional<unsigned> place = placeIn(contracting[operand]))
    return {true, 0, contracting[1 - operand][*place]};
  if (std::optional<unsigned> place = placeIn(batching[operand]))
    return {false, *place, batching[1 - operand][*place]};
  // Batching dims first, then lhs' free ones, then rhs'.
  unsigned at = batching[0].size();
  for (unsigned side = 0; side <= operand; ++side) {
    int64_t rank =
        cast<RankedTensorType>(dot->getOperand(side).getType()).getRank();
    for (int64_t other = 0; other < rank; ++other) {
      if (llvm::is_contained(batching[side], other) ||
          llvm::is_contained(contracting[side], other))
        continue;
      if (side == operand && other == int64_t(dim))
        return {false, at, std::nullopt};
      ++at;
    }
  }
  llvm_unreachable("the dim is one of the operand's");
}

bool Splitter::pays(stablehlo::DotGeneralOp dot, const Blocks &blocks,
                    Value travelling, double addedPerElement) {
  // Iterations and elements, on the rank that has most.
  double pairs = 1, result = 1, moved = 1;
  for (unsigned side : {0u, 1u}) {
    Value operand = dot->getOperand(side);
    for (int64_t dim = 0,
                 e = cast<RankedTensorType>(operand.getType()).getRank();
         dim < e; ++dim) {
      auto sizes = getLocalSizes(operand, dim, mesh);
      if (!sizes || sizes->empty())
        return false;
      double size = double(*llvm::max_element(*sizes));
      Role role = roleOf(dot, side, dim);
      if (side == 0 || !role.otherDim)
        pairs *= size;
      if (!role.isContracted && (side == 0 || !role.otherDim))
        result *= size;
      if (operand == travelling)
        moved *= size;
    }
  }
  if (travelling == dot.getResult())
    moved = result;
  double width =
      double(elementBytes(getElementTypeOrSelf(travelling.getType())));
  double ranks = double(blocks.blocks.size()), bytes = moved * width / ranks;
  if (bytes < double(leastBlock))
    return false;
  double compute = cost.compute(2 * pairs), travel = cost.move(bytes, axes),
         latency = cost.synchronize(axes);
  double whole = compute + travel * (ranks - 1) + latency;
  double split = compute / ranks +
                 (ranks - 1) * (std::max(compute / ranks, travel) + latency) +
                 cost.access(addedPerElement * result);
  // Not to hold the whole of an operand is worth the margin.
  return leastBlock == 0 || !Cost::isWorth(whole, split);
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

std::vector<Interval> Splitter::shifted(ArrayRef<Interval> blocks,
                                        int64_t shift) const {
  std::vector<Interval> result;
  for (size_t i = 0; i < blocks.size(); ++i)
    result.push_back(blocks[(i + shift) % blocks.size()]);
  return result;
}

static int64_t longest(const Blocks &blocks) {
  int64_t size = 0;
  for (Interval block : blocks.blocks)
    size = std::max(size, block.size());
  return size;
}

/// Where blocks begin. A slice of nothing may start at a dim's end, where none
/// may be taken.
static SmallVector<int64_t> beginsOf(ArrayRef<Interval> blocks) {
  return llvm::map_to_vector(
      blocks, [](Interval block) { return block.empty() ? 0 : block.begin; });
}

Value Splitter::slice(Value value, unsigned dim, ArrayRef<Interval> blocks) {
  RankedTensorType type = sliced(value, dim, blocks);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  offsets[dim] = lookUpHere(beginsOf(blocks));
  sizes[dim] = lookUpHere(sizesOf(blocks));
  return takePart(builder, loc, type, value, offsets, sizes, strides);
}

Value Splitter::insert(Value value, Value whole, unsigned dim,
                       ArrayRef<Interval> blocks) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)),
      strides(rank, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  offsets[dim] = lookUpHere(beginsOf(blocks));
  sizes[dim] = lookUpHere(sizesOf(blocks));
  return putPart(builder, loc, value, whole, offsets, sizes, strides);
}

Value Splitter::exchange(Value value, ArrayAttr dims, const Blocks &like,
                         std::vector<Interval> owned,
                         std::vector<Interval> needed, StringAttr reason) {
  DimExchange moving = like.exchange;
  moving.owned = std::move(owned);
  moving.needed = needed;
  SmallVector<Attribute> attrs(dims.getValue());
  attrs[like.place] = DimExchangeAttr::get(builder.getContext(), mesh, moving);
  return RebalanceOp::create(builder, loc, sliced(value, moving.dim, needed),
                             value, Value(), builder.getArrayAttr(attrs),
                             meshName, reason);
}

Value Splitter::multiply(stablehlo::DotGeneralOp dot, Value lhs, Value rhs,
                         Type element) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(dot.getType()).getShape());
  for (unsigned side : {0u, 1u})
    for (auto [dim, size] : llvm::enumerate(
             cast<RankedTensorType>((side == 0 ? lhs : rhs).getType())
                 .getShape()))
      if (Role role = roleOf(dot, side, dim); !role.isContracted)
        shape[role.resultDim] = size;
  IRMapping mapping;
  mapping.map(dot.getLhs(), lhs);
  mapping.map(dot.getRhs(), rhs);
  auto made = cast<stablehlo::DotGeneralOp>(builder.clone(*dot, mapping));
  // One value may be on both sides.
  made->setOperands({lhs, rhs});
  made.getResult().setType(RankedTensorType::get(shape, element));
  return made.getResult();
}

static StringAttr because(OpBuilder &builder, StringAttr reason,
                          const Twine &text) {
  return builder.getStringAttr((reason ? reason.getValue() + "; " : Twine("")) +
                               text);
}

/// The type that sums of several rounds are taken in; null for those that are
/// not split.
static Type sumTypeOf(stablehlo::DotGeneralOp dot) {
  Type element = cast<RankedTensorType>(dot.getType()).getElementType();
  auto number = dyn_cast<FloatType>(element);
  if (!number)
    return element.isInteger(1) || !isa<IntegerType>(element) ? Type()
                                                              : element;
  return number.getWidth() < 32 ? Type(Float32Type::get(element.getContext()))
                                : element;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value Splitter::ownerAt(int64_t ranks, Value step) {
  SmallVector<int64_t> places = llvm::to_vector(llvm::seq<int64_t>(0, ranks));
  Value place =
      getValueOrCreateConstantIndexOp(builder, loc, lookUpHere(places));
  Value further = arith::AddIOp::create(builder, loc, place, step);
  return arith::RemUIOp::create(
      builder, loc, further,
      arith::ConstantIndexOp::create(builder, loc, ranks));
}

Value Splitter::sliceOf(Value value, unsigned dim, const Blocks &blocks,
                        ArrayRef<int64_t> begins, Value owner) {
  RankedTensorType type = sliced(value, dim, blocks.blocks);
  if (type == value.getType() && type.hasStaticShape())
    return value;
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  offsets[dim] = pickEntry(builder, loc, begins, owner);
  sizes[dim] = pickEntry(builder, loc, sizesOf(blocks.blocks), owner);
  return takePart(builder, loc, type, value, offsets, sizes, strides);
}

Value Splitter::inBuffer(Value block, unsigned dim, const Blocks &blocks,
                         OpFoldResult size) {
  auto type = cast<RankedTensorType>(block.getType());
  if (!type.isDynamicDim(dim))
    return block;
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = longest(blocks);
  SmallVector<OpFoldResult> low(type.getRank(), builder.getIndexAttr(0)),
      high(low);
  Value whole = arith::ConstantIndexOp::create(builder, loc, shape[dim]);
  high[dim] =
      arith::SubIOp::create(builder, loc, whole,
                            getValueOrCreateConstantIndexOp(builder, loc, size))
          .getResult();
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(builder, loc, type.clone(shape), block, low,
                               high, zero);
}

Value Splitter::pass(Value buffer, ArrayAttr dims, const Blocks &blocks,
                     StringAttr reason) {
  std::vector<Interval> buffers =
      buffersOf(blocks.blocks.size(), longest(blocks));
  return exchange(buffer, dims, blocks, buffers, shifted(buffers, 1), reason);
}

//===----------------------------------------------------------------------===//
// Products of what is gathered
//===----------------------------------------------------------------------===//

Value Splitter::multiplyInLoop(stablehlo::DotGeneralOp dot, unsigned operand,
                               AllGatherOp gather, const Blocks &blocks,
                               Value total, Type sumType) {
  unsigned dim = blocks.exchange.dim;
  Role role = roleOf(dot, operand, dim);
  Value other = dot->getOperand(1 - operand);
  int64_t ranks = blocks.blocks.size();
  StringAttr reason = because(builder, gather.getReasonAttr(),
                              "passes blocks round a ring of " + Twine(ranks) +
                                  " while they are multiplied");
  SmallVector<int64_t> begins = beginsOf(blocks.blocks), zeros(ranks, 0);
  auto multiplyBlock = [&](Value step, Value buffer, Value sum) -> Value {
    Value owner = ownerAt(ranks, step);
    Value block = sliceOf(buffer, dim, blocks, zeros, owner);
    Value beside = role.otherDim
                       ? sliceOf(other, *role.otherDim, blocks, begins, owner)
                       : other;
    Value product = multiply(dot, operand == 0 ? block : beside,
                             operand == 0 ? beside : block, sumType);
    if (role.isContracted)
      return sum ? AccumulateOp::create(builder, loc, product, sum).getResult()
                 : product;
    int64_t rank = cast<RankedTensorType>(product.getType()).getRank();
    SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)),
        strides(rank, builder.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, product);
    offsets[role.resultDim] = pickEntry(builder, loc, begins, owner);
    return putPart(builder, loc, product, sum, offsets, sizes, strides);
  };
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value own = inBuffer(gather.getInput(), dim, blocks,
                       lookUpHere(sizesOf(blocks.blocks)));
  SmallVector<Value> carried{pass(own, gather.getDims(), blocks, reason),
                             multiplyBlock(number(0), own, total)};
  carried = buildStepLoop(builder, loc, 1, ranks - 1, carried,
                          [&](Value step, ValueRange now) {
                            return SmallVector<Value>{
                                pass(now[0], gather.getDims(), blocks, reason),
                                multiplyBlock(step, now[0], now[1])};
                          });
  return multiplyBlock(number(ranks - 1), carried[0], carried[1]);
}

bool Splitter::splitGathered(stablehlo::DotGeneralOp dot, unsigned operand) {
  auto gather = dot->getOperand(operand).getDefiningOp<AllGatherOp>();
  if (!gather || gather->getBlock() != dot->getBlock() ||
      !gather->hasOneUse() || gather.getFill() || gather.getParts())
    return false;
  std::optional<Blocks> blocks =
      selectMesh(gather, gather.getDims(), /*areOwned=*/true);
  if (!blocks)
    return false;
  unsigned dim = blocks->exchange.dim;
  Role role = roleOf(dot, operand, dim);
  Type element = cast<RankedTensorType>(dot.getType()).getElementType(),
       sumType = role.isContracted ? sumTypeOf(dot) : element;
  if (!sumType || (sumType != element && dot.getAlgorithmAttr()) ||
      (role.isContracted && contract::WholeSum::has(dot)))
    return false;
  // A sum is read and written once more a round, what is side by side once
  // in all.
  double width = double(elementBytes(sumType)),
         rounds = double(blocks->blocks.size()) - 1;
  if (!pays(dot, *blocks, gather.getResult(),
            width * (role.isContracted ? 3 * rounds : 2)))
    return false;

  loc = dot.getLoc();
  builder.setInsertionPoint(dot);
  Value other = dot->getOperand(1 - operand), total;
  int64_t ranks = blocks->blocks.size();
  if (!role.isContracted) {
    SmallVector<OpFoldResult> sizes(
        cast<RankedTensorType>(dot.getType()).getRank());
    for (unsigned side : {0u, 1u})
      for (int64_t i = 0,
                   e = cast<RankedTensorType>(dot->getOperand(side).getType())
                           .getRank();
           i < e; ++i)
        if (Role of = roleOf(dot, side, i);
            !of.isContracted && (side == operand ? unsigned(i) != dim : true))
          sizes[of.resultDim] = tensor::getMixedSize(
              builder, loc, side == operand ? gather.getInput() : other, i);
    sizes[role.resultDim] = builder.getIndexAttr(blocks->whole);
    total = tensor::EmptyOp::create(builder, loc, sizes, element);
  }
  if (ranks > kMostUnrolledSteps)
    total = multiplyInLoop(dot, operand, gather, *blocks, total, sumType);
  for (int64_t shift = 0; shift < ranks && ranks <= kMostUnrolledSteps;
       ++shift) {
    std::vector<Interval> now = shifted(blocks->blocks, shift);
    Value block = gather.getInput();
    if (shift > 0)
      block = exchange(block, gather.getDims(), *blocks, blocks->blocks, now,
                       because(builder, gather.getReasonAttr(),
                               "meets block " + Twine(shift) + " of " +
                                   Twine(ranks) +
                                   " while the one before is multiplied"));
    Value beside = role.otherDim ? slice(other, *role.otherDim, now) : other;
    Value product = multiply(dot, operand == 0 ? block : beside,
                             operand == 0 ? beside : block, sumType);
    if (!role.isContracted)
      total = insert(product, total, role.resultDim, now);
    else
      total =
          total ? AccumulateOp::create(builder, loc, product, total).getResult()
                : product;
  }
  if (total.getType() != dot.getType() && sumType != element)
    total = stablehlo::ConvertOp::create(
        builder, loc, cast<RankedTensorType>(total.getType()).clone(element),
        total);
  if (total.getType() != dot.getType())
    total = tensor::CastOp::create(builder, loc, dot.getType(), total);
  dot.getResult().replaceAllUsesWith(total);
  dot.erase();
  gather.erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Products that are scattered
//===----------------------------------------------------------------------===//

Value Splitter::sumInLoop(stablehlo::DotGeneralOp dot, ReduceScatterOp scatter,
                          const Blocks &blocks) {
  unsigned dim = blocks.exchange.dim;
  int64_t ranks = blocks.blocks.size();
  StringAttr reason =
      because(builder, scatter.getReasonAttr(),
              "passes sums of blocks round a ring of " + Twine(ranks) +
                  " while the next ones are multiplied");
  SmallVector<int64_t> begins = beginsOf(blocks.blocks);
  // The block whose sum is here: the one of the rank before goes the whole way
  // round, to its owner.
  auto multiplyAt = [&](Value owner) {
    Value operands[] = {dot.getLhs(), dot.getRhs()};
    for (unsigned side : {0u, 1u})
      for (int64_t i = 0,
                   e = cast<RankedTensorType>(dot->getOperand(side).getType())
                           .getRank();
           i < e; ++i)
        if (Role role = roleOf(dot, side, i);
            !role.isContracted && role.resultDim == dim)
          operands[side] = sliceOf(operands[side], i, blocks, begins, owner);
    return multiply(dot, operands[0], operands[1],
                    cast<RankedTensorType>(dot.getType()).getElementType());
  };
  auto startAt = [&](Value step) {
    Value owner = ownerAt(ranks, step);
    return inBuffer(multiplyAt(owner), dim, blocks,
                    pickEntry(builder, loc, sizesOf(blocks.blocks), owner));
  };
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  SmallVector<Value> sum = buildStepLoop(
      builder, loc, 2, ranks, startAt(number(1)),
      [&](Value step, ValueRange now) {
        Value come = pass(now[0], scatter.getDims(), blocks, reason);
        return SmallVector<Value>{
            AccumulateOp::create(builder, loc, startAt(step), come)};
      });
  Value come = pass(sum[0], scatter.getDims(), blocks, reason),
        owner = ownerAt(ranks, number(0));
  SmallVector<int64_t> zeros(ranks, 0);
  return AccumulateOp::create(builder, loc, multiplyAt(owner),
                              sliceOf(come, dim, blocks, zeros, owner));
}

bool Splitter::splitScattered(ReduceScatterOp scatter) {
  auto dot = scatter.getInput().getDefiningOp<stablehlo::DotGeneralOp>();
  if (!dot || dot->getBlock() != scatter->getBlock() || !dot->hasOneUse() ||
      scatter.getKind() != ReductionKind::Sum)
    return false;
  std::optional<Blocks> blocks =
      selectMesh(scatter, scatter.getDims(), /*areOwned=*/false);
  Type element = cast<RankedTensorType>(dot.getType()).getElementType();
  // Sums in narrow types are taken as the reduction takes them: not here.
  if (!blocks || sumTypeOf(dot) != element ||
      scatter.getAxes().size() != axes.size())
    return false;
  for (int64_t axis : axes)
    if (!llvm::is_contained(scatter.getAxes().getAsValueRange<StringAttr>(),
                            mesh.getAxisNames()[axis].getValue()))
      return false;
  // What arrives is added here or there.
  if (!pays(dot, *blocks, dot.getResult(), /*addedPerElement=*/0))
    return false;

  loc = dot.getLoc();
  builder.setInsertionPoint(scatter);
  int64_t ranks = blocks->blocks.size();
  // The block of the rank that many places on, of all partial sums here.
  auto multiplyBlock = [&](int64_t shift) {
    std::vector<Interval> now = shifted(blocks->blocks, shift);
    Value operands[] = {dot.getLhs(), dot.getRhs()};
    for (unsigned side : {0u, 1u})
      for (int64_t i = 0,
                   e = cast<RankedTensorType>(dot->getOperand(side).getType())
                           .getRank();
           i < e; ++i)
        if (Role role = roleOf(dot, side, i);
            !role.isContracted && role.resultDim == blocks->exchange.dim)
          operands[side] = slice(operands[side], i, now);
    return multiply(dot, operands[0], operands[1], element);
  };
  SmallVector<Value> arriving;
  for (int64_t shift = 1; shift < ranks && ranks <= kMostUnrolledSteps;
       ++shift) {
    Value product = multiplyBlock(shift);
    arriving.push_back(
        exchange(product, scatter.getDims(), *blocks,
                 shifted(blocks->blocks, shift), blocks->blocks,
                 because(builder, scatter.getReasonAttr(),
                         "sends block " + Twine(shift) + " of " + Twine(ranks) +
                             " while the next one is multiplied")));
  }
  Value total = ranks > kMostUnrolledSteps ? sumInLoop(dot, scatter, *blocks)
                                           : multiplyBlock(0);
  for (Value term : arriving)
    total = AccumulateOp::create(builder, loc, term, total);
  if (total.getType() != scatter.getType())
    total = tensor::CastOp::create(builder, loc, scatter.getType(), total);
  scatter.getResult().replaceAllUsesWith(total);
  scatter.erase();
  dot.erase();
  return true;
}

void Splitter::run() {
  SmallVector<Operation *> work;
  function.walk([&](Operation *op) {
    if (isa<stablehlo::DotGeneralOp, ReduceScatterOp>(op))
      work.push_back(op);
  });
  // Scattered first: such a product may also have a gathered operand, which it
  // then needs as often as there are ranks.
  llvm::SmallPtrSet<Operation *, 8> gone;
  for (Operation *op : work)
    if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
      Operation *product = scatter.getInput().getDefiningOp();
      if (splitScattered(scatter))
        gone.insert({op, product});
    }
  for (Operation *op : work) {
    if (gone.contains(op) || !isa<stablehlo::DotGeneralOp>(op))
      continue;
    auto dot = cast<stablehlo::DotGeneralOp>(op);
    if (!splitGathered(dot, 0))
      splitGathered(dot, 1);
  }
}

namespace {
struct SplitProductsPass final
    : shardc::impl::SplitProductsPassBase<SplitProductsPass> {
  using Base::Base;
  void runOnOperation() override { Splitter(getOperation(), leastBlock).run(); }
};
} // namespace
