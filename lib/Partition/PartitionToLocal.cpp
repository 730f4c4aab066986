//===- PartitionToLocal.cpp - Global view to local view -------------------===//
//
// Walks the global program once, in order, and builds the local one beside it.
// What an op needs of its operands comes from its rule and `spmd.factors`; what
// is communicated, from the difference to what is owned.
//
//===----------------------------------------------------------------------===//
#include "Collectives.h"
#include "OpLocalizer.h"
#include "RankValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Analysis/Explain.h"
#include "shardc/Analysis/Origins.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Partition/Passes.h"
#include "shardc/Support/BoundaryAttributes.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

namespace shardc {
#define GEN_PASS_DEF_PARTITIONTOLOCALPASS
#include "shardc/Partition/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {

/// Builds the local form of one function.
class Partitioner {
public:
  Partitioner(RankTables &tables, OpBuilder &builder)
      : tables(tables), builder(builder), rankValues(tables.getMesh()) {}

  LogicalResult convertBlock(Block &block);
  IRMapping mapping;
  /// Reasons name rules and annotations.
  bool explains = false;

  Type localType(Value global);

private:
  LogicalResult convertOp(Operation &op);
  LogicalResult convertByRule(Operation &op, ShardingRule rule,
                              ArrayAttr factors);
  LogicalResult convertControlFlow(Operation &op);
  LogicalResult convertReshard(ReshardOp op);
  LogicalResult convertManual(ManualOp op);
  Value localizeExtent(ExtentOp op);
  Value combinePartial(ReshardOp op);
  void convertReturn(func::ReturnOp op);
  Value partOf(Value whole, ShardingAttr sharding, Location loc);
  Value blockOf(AllGatherOp gather, SmallVectorImpl<int64_t> &axes);
  Value tryReduceScatter(ReshardOp op, Value local, ArrayRef<DimExchange> dims);

  RankTables &tables;
  OpBuilder &builder;
  RankValues rankValues;
};

} // namespace

Type Partitioner::localType(Value global) {
  auto type = dyn_cast<RankedTensorType>(global.getType());
  ShardingAttr sharding = getSharding(global);
  if (!type || !sharding)
    return global.getType();
  return sharding.getLocalType(tables.getMesh(), type);
}

/// Adds to the reasons of communication for `global`, made since `before`,
/// which rule asked for it and which annotations would avoid it.
static void explainCommunication(Operation &global, const IRMapping &mapping,
                                 Block *block, Operation *before) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(global);
  for (Operation &op : llvm::make_range(
           before ? std::next(before->getIterator()) : block->begin(),
           block->end())) {
    auto communication = dyn_cast<CommunicationOpInterface>(op);
    StringAttr reason =
        communication ? communication.getReasonAttr() : StringAttr();
    if (!reason)
      continue;
    Reason why{reason.str() + " at " + userLocation(global.getLoc()), "", "",
               ""};
    for (Value operand : global.getOperands())
      if (mapping.lookupOrNull(operand) == communication.getSource())
        why.value = userNameOf(operand);
    if (FailureOr<ShardingRule> rule = ruled
                                           ? ruled.getShardingRule()
                                           : FailureOr<ShardingRule>(failure());
        succeeded(rule))
      why.rule = rule->str();
    for (StringAttr axis : communication.getGroupAxes())
      for (ValueRange values : {ValueRange(global.getOperands()),
                                ValueRange(global.getResults())}) {
        auto found = llvm::find_if(values, [&](Value value) {
          return bool(getOriginOfAxis(value, axis));
        });
        if (found == values.end())
          continue;
        why.avoid += (why.avoid.empty() ? "leave \"" : ", or \"") + axis.str() +
                     "\" out of " + getOriginOfAxis(*found, axis).str();
        break;
      }
    communication.setReasonAttr(
        StringAttr::get(op.getContext(), printReason(why)));
  }
}

LogicalResult Partitioner::convertBlock(Block &block) {
  for (Operation &op : block) {
    Block *target = builder.getInsertionBlock();
    Operation *before = target->empty() ? nullptr : &target->back();
    if (failed(convertOp(op)))
      return failure();
    if (std::string refused = tables.takeRefused(); !refused.empty())
      return emitUnsupported(&op)
             << "'" << op.getName() << "' at " << userLocation(op.getLoc())
             << ": its local form asks for " << refused
             << (tables.getMesh().getSymbolicAxes().empty()
                     ? "; give sizes with --sizes instead of leaving them open"
                     : "; leave its axes out of --symbolic-mesh, and give "
                       "sizes with --sizes");
    if (explains && !isa<ReshardOp, ManualOp, stablehlo::WhileOp,
                         stablehlo::CaseOp, stablehlo::IfOp>(op))
      explainCommunication(op, mapping, target, before);
  }
  return success();
}

LogicalResult Partitioner::convertOp(Operation &op) {
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return convertReshard(reshard);
  if (auto manual = dyn_cast<ManualOp>(op))
    return convertManual(manual);
  if (auto extent = dyn_cast<ExtentOp>(op)) {
    mapping.map(extent.getResult(), localizeExtent(extent));
    return success();
  }
  if (isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op))
    return convertControlFlow(op);
  if (auto returned = dyn_cast<func::ReturnOp>(op)) {
    convertReturn(returned);
    return success();
  }
  if (op.getNumResults() == 1 &&
      localType(op.getResult(0)) == op.getResult(0).getType())
    if (Value known = rankValues.localize(&op, builder, tables)) {
      mapping.map(op.getResult(0), known);
      return success();
    }
  if (auto factors = op.getAttrOfType<ArrayAttr>(kFactorsAttrName)) {
    FailureOr<ShardingRule> rule = failure();
    if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
      rule = ruled.getShardingRule();
    if (failed(rule) || rule->factors.size() != factors.size())
      return op.emitOpError()
             << "has '" << kFactorsAttrName << "' with " << factors.size()
             << " factors, but its sharding rule has "
             << (failed(rule) ? 0 : rule->factors.size());
    return convertByRule(op, std::move(*rule), factors);
  }
  // No rule: operands and results are whole on every rank, so the op is too.
  Operation *local = builder.clone(op, mapping);
  local->removeAttr(kShardingsAttrName);
  contract::Origins::remove(local);
  for (auto [from, to] : llvm::zip(op.getResults(), local->getResults()))
    if (localType(from) != to.getType())
      return op.emitOpError()
             << "has no sharding rule, but result type " << from.getType()
             << " is cut to " << localType(from);
  return success();
}

/// What the binding says, as a value.
Value Partitioner::localizeExtent(ExtentOp op) {
  Location loc = op.getLoc();
  int64_t placeholder = op.getPlaceholder();
  IntervalTable whole = wholeTable(tables.getMesh(), placeholder);
  Value size = getValueOrCreateConstantIndexOp(
            builder, loc,
            whole.formula ? tables.lookup(Formula::size(whole.formula), {})
                          : OpFoldResult(builder.getIndexAttr(placeholder))),
        number = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                            size),
        scalar = tensor::FromElementsOp::create(
            builder, loc, RankedTensorType::get({}, number.getType()), number);
  return stablehlo::ConvertOp::create(builder, loc, op.getType(), scalar);
}

LogicalResult Partitioner::convertByRule(Operation &op, ShardingRule rule,
                                         ArrayAttr factors) {
  MeshAttr mesh = tables.getMesh();
  SmallVector<FactorCut> cuts;
  for (auto [factor, attr] : llvm::zip(rule.factors, factors)) {
    auto dim = cast<DimShardingAttr>(attr);
    FactorCut cut;
    for (StringAttr axis : dim.getAxes()) {
      int64_t index = mesh.getAxisIndex(axis.getValue());
      if (index < 0)
        return op.emitOpError()
               << "cuts a factor along \"" << axis.getValue()
               << "\", which mesh " << tables.getMeshName() << " has not";
      cut.axes.push_back(index);
    }
    cut.bounds = dim.getBoundaries(mesh, factor.size);
    if (cut.bounds.size() != factor.size)
      return op.emitOpError()
             << "cuts a factor of " << factor.size
             << " iterations in sizes that add up to " << cut.bounds.size();
    cuts.push_back(std::move(cut));
  }
  SmallVector<Value> locals;
  for (Value operand : op.getOperands())
    locals.push_back(mapping.lookup(operand));
  OpLocalizer localizer(&op, std::move(rule), std::move(cuts), tables, builder);
  localizer.prepareOperands(locals);
  auto localizable = dyn_cast<LocalizeOpInterface>(op);
  if (!localizable && !isCollective(&op))
    return op.emitOpError() << "has a sharding rule but no local form";
  Block *block = builder.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  FailureOr<SmallVector<Value>> results =
      isCollective(&op) ? localizeCollective(&op, localizer, tables)
                        : localizable.localize(localizer);
  if (failed(results))
    return failure();
  // Regions were cloned as they are: what they capture is local by now.
  for (Operation &created : llvm::make_range(
           before ? std::next(before->getIterator()) : block->begin(),
           block->end()))
    created.walk([&](Operation *inner) {
      if (inner != &created)
        for (OpOperand &operand : inner->getOpOperands())
          if (Value local = mapping.lookupOrNull(operand.get()))
            operand.set(local);
    });
  for (auto [global, local] : llvm::zip_equal(op.getResults(), *results)) {
    Type expected = localType(global);
    if (local.getType() != expected) {
      auto from = dyn_cast<RankedTensorType>(local.getType()),
           to = dyn_cast<RankedTensorType>(expected);
      if (!from || !to || !tensor::CastOp::areCastCompatible(from, to))
        return op.emitOpError() << "became " << local.getType()
                                << " on a rank, expected " << expected;
      if (tables.isBoundLate() &&
          to.getNumDynamicDims() < from.getNumDynamicDims())
        tables.refuse("sizes of a result that are the same in each binding");
      local = tensor::CastOp::create(builder, op.getLoc(), to, local);
    }
    mapping.map(global, local);
  }
  return success();
}

LogicalResult Partitioner::convertControlFlow(Operation &op) {
  OperationState state(op.getLoc(), op.getName());
  for (Value operand : op.getOperands())
    state.operands.push_back(mapping.lookup(operand));
  for (Value result : op.getResults())
    state.types.push_back(localType(result));
  state.attributes = op.getDiscardableAttrDictionary();
  state.attributes.erase(kShardingsAttrName);
  state.attributes.erase(contract::Origins::name());
  state.propertiesAttr = op.getPropertiesAsAttribute();
  for (unsigned i = 0; i < op.getNumRegions(); ++i)
    state.addRegion();
  Operation *local = builder.create(state);
  for (auto [from, to] : llvm::zip(op.getRegions(), local->getRegions())) {
    OpBuilder::InsertionGuard guard(builder);
    for (Block &block : from) {
      Block *target = builder.createBlock(&to, to.end());
      for (BlockArgument argument : block.getArguments())
        mapping.map(argument, target->addArgument(localType(argument),
                                                  argument.getLoc()));
      if (failed(convertBlock(block)))
        return failure();
    }
  }
  mapping.map(op.getResults(), local->getResults());
  return success();
}

/// What a manual region sees are blocks of whole values already: its ops take
/// the region's place.
LogicalResult Partitioner::convertManual(ManualOp op) {
  Block &body = op.getBody().front();
  for (auto [argument, operand] :
       llvm::zip(body.getArguments(), op.getInputs()))
    mapping.map(argument, mapping.lookup(operand));
  for (Operation &inner : body.without_terminator())
    if (failed(convertOp(inner)))
      return failure();
  for (auto [result, value] :
       llvm::zip(op.getResults(), body.getTerminator()->getOperands())) {
    Value local = mapping.lookup(value);
    if (local.getType() != localType(result))
      return op.emitOpError()
             << "result of type " << result.getType() << " became "
             << local.getType() << " on a rank, expected " << localType(result);
    mapping.map(result, local);
  }
  return success();
}

/// The input of `op` on a rank; what arrives partial is combined.
Value Partitioner::combinePartial(ReshardOp op) {
  Value local = mapping.lookup(op.getInput());
  llvm::MapVector<ReductionKind, SmallVector<StringRef>> axes;
  for (PartialAxisAttr partial : op.getSource().getPartial())
    axes[partial.getKind()].push_back(partial.getAxis().getValue());
  for (auto &[kind, names] : axes)
    local =
        AllReduceOp::create(builder, op.getLoc(), local.getType(), local,
                            ReductionKindAttr::get(builder.getContext(), kind),
                            builder.getStrArrayAttr(names),
                            tables.getMeshName(), op.getReasonAttr());
  return local;
}

/// Zeros of the type of `value`, whose dims may be known to each rank alone.
static Value zerosLike(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.hasStaticShape()) {
    DenseElementsAttr zero = zeroScalar(type.getElementType());
    return stablehlo::ConstantOp::create(
        builder, loc, cast<ElementsAttr>(Attribute(zero.resizeSplat(type))));
  }
  Value same = stablehlo::CompareOp::create(builder, loc, value, value,
                                            stablehlo::ComparisonDirection::EQ),
        none =
            stablehlo::XorOp::create(builder, loc, same.getType(), same, same);
  return stablehlo::ConvertOp::create(builder, loc, type, none);
}

/// True if `value` is zero throughout, in one sign or the other.
static bool isZero(Value value) {
  while (auto spread = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = spread.getOperand();
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

/// The block that this rank gives to `gather`, with zeros around it: the sum of
/// these along the axes of the gather, which it takes out of `axes`. Null where
/// others are gathered too.
Value Partitioner::blockOf(AllGatherOp gather, SmallVectorImpl<int64_t> &axes) {
  Location loc = gather.getLoc();
  auto type = cast<RankedTensorType>(gather.getType());
  SmallVector<OpFoldResult> low(type.getRank(), builder.getIndexAttr(0)),
      high = low;
  SmallVector<int64_t> gathered;
  for (auto attr : gather.getDims().getAsRange<DimExchangeAttr>()) {
    DimExchange dim = attr.getExchange(tables.getMesh());
    if (dim.ownedFormula)
      return {};
    if (dim.owned == dim.needed)
      continue;
    SmallVector<int64_t> before, behind;
    for (auto [owned, needed] : llvm::zip_equal(dim.owned, dim.needed)) {
      if (needed != Interval{0, dim.size()})
        return {};
      before.push_back(owned.begin);
      behind.push_back(dim.size() - owned.end);
    }
    low[dim.dim] = tables.lookup(before, dim.axes);
    high[dim.dim] = tables.lookup(behind, dim.axes);
    llvm::append_range(gathered, dim.axes);
  }
  if (!llvm::all_of(gathered, [&](int64_t axis) {
        return llvm::is_contained(axes, axis);
      }))
    return {};
  llvm::erase_if(
      axes, [&](int64_t axis) { return llvm::is_contained(gathered, axis); });
  Value zero = stablehlo::ConstantOp::create(
            builder, loc,
            cast<ElementsAttr>(Attribute(zeroScalar(type.getElementType())))),
        fill = tensor::ExtractOp::create(builder, loc, zero, ValueRange());
  return tensor::PadOp::create(builder, loc, type, gather.getInput(), low, high,
                               fill);
}

/// This rank's part of what leaves partial, or enters a manual region so, of
/// the value `whole`: what was to be combined or gathered for it, else the
/// value on the first rank along the axes and zeros on the others. A greatest
/// or least of equal values is the value.
Value Partitioner::partOf(Value whole, ShardingAttr sharding, Location loc) {
  MeshAttr mesh = tables.getMesh();
  SmallVector<int64_t> axes;
  for (PartialAxisAttr partial : sharding.getPartial())
    if (partial.getKind() == ReductionKind::Sum &&
        mesh.getAxisSize(partial.getAxis()) > 1)
      axes.push_back(mesh.getAxisIndex(partial.getAxis()));
  auto isLeft = [&](Attribute axis) {
    return llvm::is_contained(axes, mesh.getAxisIndex(cast<StringAttr>(axis)));
  };
  auto combined = whole.getDefiningOp<AllReduceOp>();
  while (combined && combined.getKind() == ReductionKind::Sum &&
         llvm::all_of(combined.getAxes(), isLeft)) {
    for (Attribute axis : combined.getAxes())
      llvm::erase(axes, mesh.getAxisIndex(cast<StringAttr>(axis)));
    whole = combined.getInput();
    combined = whole.getDefiningOp<AllReduceOp>();
  }
  if (auto gather = whole.getDefiningOp<AllGatherOp>(); gather && !axes.empty())
    if (Value block = blockOf(gather, axes))
      whole = block;
  if (axes.empty() || isZero(whole))
    return whole;
  // The parts of a sum with what was to be combined: of both.
  if (auto add = whole.getDefiningOp<stablehlo::AddOp>())
    for (Value operand : {add.getLhs(), add.getRhs()})
      if (auto inner = operand.getDefiningOp<AllReduceOp>();
          inner && inner.getKind() == ReductionKind::Sum &&
          llvm::all_of(inner.getAxes(), isLeft))
        return stablehlo::AddOp::create(builder, loc,
                                        partOf(add.getLhs(), sharding, loc),
                                        partOf(add.getRhs(), sharding, loc));
  SmallVector<int64_t> isFirst(tables.countCoordinates(axes), 0);
  isFirst.front() = 1;
  ShardCount count = mesh.countCoordinates(axes);
  auto number = cast<Value>(
      count.isOpen()
          ? tables.lookup(Formula::size(Formula::kept(
                              Formula::shards(Formula::ranks(count),
                                              {axes.begin(), axes.end()}),
                              Formula::same({0, 1}))),
                          axes)
          : tables.lookup(isFirst, axes));
  Value bit = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                         number),
        scalar = tensor::FromElementsOp::create(
            builder, loc, RankedTensorType::get({}, bit.getType()), bit),
        keeps = stablehlo::ConvertOp::create(builder, loc, scalar,
                                             builder.getI1Type());
  return stablehlo::SelectOp::create(builder, loc, keeps, whole,
                                     zerosLike(builder, loc, whole));
}

void Partitioner::convertReturn(func::ReturnOp op) {
  auto function = op->getParentOfType<func::FuncOp>();
  SmallVector<Value> values;
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    Value value = mapping.lookup(operand);
    auto sharding =
        function.getResultAttrOfType<ShardingAttr>(i, kShardingAttrName);
    if (sharding && !sharding.getPartial().empty())
      value = partOf(value, sharding, op.getLoc());
    values.push_back(value);
  }
  func::ReturnOp::create(builder, op.getLoc(), values);
}

/// An all-reduce whose only reader keeps one part of it becomes a
/// reduce-scatter.
Value Partitioner::tryReduceScatter(ReshardOp op, Value local,
                                    ArrayRef<DimExchange> dims) {
  auto allReduce = local.getDefiningOp<AllReduceOp>();
  // A value at the edge of a manual region has other names, and other readers.
  // An argument that arrives partial is combined for this reader alone.
  Operation *global = op.getInput().getDefiningOp();
  bool isOwn = !op.getSource().getPartial().empty();
  if (!allReduce || !local.use_empty() ||
      (!isOwn &&
       (!global || isa<ManualOp>(global) || !op.getInput().hasOneUse())))
    return {};
  SmallVector<Attribute> attrs;
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(local.getType()).getShape());
  if (llvm::none_of(dims, moves))
    return {};
  for (const DimExchange &dim : dims) {
    // Whatever is needed of what is whole is owned.
    if (moves(dim) && dim.ownedFormula &&
        dim.ownedFormula != formulaOf(wholeTable(tables.getMesh(), dim.size())))
      return {};
    if (!moves(dim)) {
      if (ShapedType::isDynamic(shape[dim.dim]))
        attrs.push_back(
            DimExchangeAttr::get(builder.getContext(), tables.getMesh(), dim));
      continue;
    }
    for (auto [owned, needed] : llvm::zip(dim.owned, dim.needed))
      if (!owned.contains(needed))
        return {};
    for (int64_t axis : dim.axes)
      if (!llvm::is_contained(allReduce.getGroupAxes(),
                              tables.getMesh().getAxisNames()[axis]))
        return {};
    DimExchange kept = dim;
    attrs.push_back(
        DimExchangeAttr::get(builder.getContext(), tables.getMesh(), kept));
    shape[dim.dim] = neededSize(dim);
  }
  auto type = cast<RankedTensorType>(local.getType()).clone(shape);
  Value scattered = ReduceScatterOp::create(
      builder, op.getLoc(), type, allReduce.getInput(), allReduce.getKindAttr(),
      allReduce.getAxes(), builder.getArrayAttr(attrs), tables.getMeshName(),
      allReduce.getReasonAttr());
  allReduce.erase();
  return scattered;
}

LogicalResult Partitioner::convertReshard(ReshardOp op) {
  MeshAttr mesh = tables.getMesh();
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<DimExchange> dims;
  for (auto [i, from, to] :
       llvm::enumerate(op.getSource().getDims(), op.getTarget().getDims())) {
    int64_t size = type.getDimSize(i);
    IntervalTable target = ownedTable(mesh, to, size);
    dims.push_back(
        combineTables(tables, i, ownedTable(mesh, from, size), target));
  }
  Value combined = combinePartial(op),
        local = tryReduceScatter(op, combined, dims);
  if (!local)
    local = emitExchange(builder, op.getLoc(), tables, combined, dims, {},
                         op.getReason());
  if (!op.getTarget().getPartial().empty())
    local = partOf(local, op.getTarget(), op.getLoc());
  mapping.map(op.getResult(), local);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Refuses what the local view cannot hold today.
static LogicalResult checkSharding(func::FuncOp function, ShardingAttr sharding,
                                   const Twine &what) {
  for (DimShardingAttr dim : sharding.getDims())
    if (dim.getDynamicSizes())
      return emitUnsupported(function)
             << what
             << " has sizes known only when the program "
                "runs; give them with --sizes";
  return success();
}

/// The binding by which costs are estimated: how arguments arrive in it.
static Binding bindingOf(func::FuncOp global, MeshAttr mesh) {
  Binding binding;
  binding.meshShape = mesh.getAxisSizes().vec();
  binding.extents = mesh.getExtents().getExtents();
  for (BlockArgument argument : global.getArguments())
    if (ShardingAttr sharding = getSharding(argument))
      for (auto [i, dim] : llvm::enumerate(sharding.getDims())) {
        FormulaAttr formula = dim.getFormula();
        if (formula && formula.getKind() == FormulaKind::Given)
          binding.given[{argument.getArgNumber(), i}] =
              dim.getBoundaries(mesh, formula.getFormula().extent()).indices();
      }
  return binding;
}

/// True if `attr` has a number that follows from an open extent, and no formula
/// that says how.
static bool hasPlaceholder(Attribute attr, const Extents &extents) {
  auto isOpen = [&](int64_t number) { return extents.isOpen(number); };
  return attr
      .walk<WalkOrder::PreOrder>([&](Attribute part) {
        if (isa<FormulaAttr, ShardingAttr, DimShardingAttr>(part))
          return WalkResult::skip();
        bool found = false;
        if (auto exchange = dyn_cast<DimExchangeAttr>(part)) {
          if (exchange.getOwnedFormula())
            return WalkResult::skip();
          found = llvm::any_of(exchange.getOwned(), isOpen) ||
                  llvm::any_of(exchange.getNeeded(), isOpen);
        } else if (auto list = dyn_cast<DenseI64ArrayAttr>(part)) {
          found = llvm::any_of(list.asArrayRef(), isOpen);
        } else if (auto number = dyn_cast<IntegerAttr>(part)) {
          found = number.getValue().getSignificantBits() <= 64 &&
                  isOpen(number.getValue().getSExtValue());
        } else if (auto dense = dyn_cast<DenseIntElementsAttr>(part);
                   dense && (dense.isSplat() || dense.getNumElements() <= 64)) {
          for (const APInt &value : dense.getValues<APInt>())
            found |= value.getSignificantBits() <= 64 &&
                     isOpen(value.getSExtValue());
        }
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What a placeholder is still taken for a number by would be wrong in another
/// binding.
static LogicalResult checkPlaceholders(func::FuncOp local, MeshAttr mesh) {
  if (!mesh.getExtents())
    return success();
  Extents extents = mesh.getExtents().getExtents();
  WalkResult result = local.walk([&](Operation *op) {
    if (op == local || (isa<LookupOp>(op) && cast<LookupOp>(op).getFormula()))
      return WalkResult::advance();
    bool found = false;
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        for (int64_t size : tensor.getShape())
          found |= !ShapedType::isDynamic(size) && extents.isOpen(size);
    for (NamedAttribute attr : op->getAttrs()) {
      // Binding puts what slices are in their place.
      bool isBound = isa<RowPlanOp>(op) &&
                     attr.getName() == cast<RowPlanOp>(op).getSlicesAttrName();
      found |= !isBound && hasPlaceholder(attr.getValue(), extents);
    }
    if (!found)
      return WalkResult::advance();
    emitUnsupported(op) << "'" << op->getName() << "' at "
                        << userLocation(op->getLoc())
                        << ": its local form asks for extents that are known "
                           "when the program is compiled; give shapes of the "
                           "arguments (--shapes)";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult partitionFunction(func::FuncOp global,
                                       FlatSymbolRefAttr meshName,
                                       MeshAttr mesh) {
  OpBuilder builder(global);
  Block &body = global.getBody().front();

  SmallVector<Type> argumentTypes, resultTypes;
  SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
  auto localise = [&](Type type, ShardingAttr sharding, DictionaryAttr attrs,
                      const Twine &what, SmallVectorImpl<Type> &types,
                      SmallVectorImpl<DictionaryAttr> &dicts) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !sharding)
      return global.emitError()
             << what << " has no sharding; run --spmd-propagate first";
    if (failed(checkSharding(global, sharding, what)))
      return failure();
    types.push_back(sharding.getLocalType(mesh, tensor));
    NamedAttrList list(attrs);
    list.set(contract::GlobalType::name(), TypeAttr::get(type));
    dicts.push_back(list.getDictionary(builder.getContext()));
    return success();
  };
  for (BlockArgument argument : global.getArguments())
    if (failed(localise(argument.getType(), getSharding(argument),
                        global.getArgAttrDict(argument.getArgNumber()),
                        "argument " + Twine(argument.getArgNumber()),
                        argumentTypes, argumentAttrs)))
      return failure();
  for (unsigned i = 0; i < global.getNumResults(); ++i)
    if (failed(localise(
            global.getResultTypes()[i],
            global.getResultAttrOfType<ShardingAttr>(i, kShardingAttrName),
            global.getResultAttrDict(i), "result " + Twine(i), resultTypes,
            resultAttrs)))
      return failure();

  auto local =
      func::FuncOp::create(builder, global.getLoc(), global.getName(),
                           builder.getFunctionType(argumentTypes, resultTypes));
  local->setDiscardableAttrs(global->getDiscardableAttrDictionary());
  contract::LocalView::set(local);
  local.setVisibility(global.getVisibility());
  BoundaryAttributes boundary(local);
  for (auto [i, attrs] : llvm::enumerate(argumentAttrs)) {
    boundary.ofArgument(i) = attrs;
    boundary.ofArgument(i).erase(contract::Origins::name());
  }
  for (auto [i, attrs] : llvm::enumerate(resultAttrs))
    boundary.ofResult(i) = attrs;
  boundary.write();

  Block *entry = local.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  RankTables tables(mesh, meshName, entry, bindingOf(global, mesh));
  Partitioner partitioner(tables, builder);
  partitioner.explains = contract::Explain::has(global);
  contract::Explain::remove(local);
  for (auto [from, to] :
       llvm::zip(global.getArguments(), entry->getArguments())) {
    to.setLoc(from.getLoc());
    partitioner.mapping.map(from, to);
  }
  builder.setInsertionPointToEnd(entry);
  if (failed(partitioner.convertBlock(body)) ||
      failed(checkPlaceholders(local, mesh))) {
    local.erase();
    return failure();
  }
  global.erase();
  return success();
}

namespace {
struct PartitionToLocalPass final
    : shardc::impl::PartitionToLocalPassBase<PartitionToLocalPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshOp mesh = getOnlyMesh(module);
    if (!mesh)
      return signalPassFailure();
    auto meshName = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (function.isExternal() || contract::LocalView::has(function))
        continue;
      if (!function.getBody().hasOneBlock()) {
        function.emitError()
            << "has branches between blocks, expected structured control flow";
        return signalPassFailure();
      }
      if (failed(partitionFunction(function, meshName, mesh.getMesh())))
        return signalPassFailure();
    }
  }
};
} // namespace
