//===- SinkReductions.cpp - Combine late, combine less --------------------===//
//
// An all-reduce of a sum may be behind any op that is linear in it: what
// flows in between is partial. Each all-reduce is followed down a chain of such
// ops to a place where combining there costs less: a sum of two partial values,
// an accumulator of a loop, another all-reduce, a slice that differs by rank.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Analysis/Uniformity.h"
#include "shardc/Analysis/Varying.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/ElementwiseTrait.h"

namespace shardc {
#define GEN_PASS_DEF_SINKREDUCTIONSPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

//===----------------------------------------------------------------------===//
// What is linear
//===----------------------------------------------------------------------===//

/// True for a zero of either sign, or a splat or broadcast of it. All ranks
/// then start from it, and the sum of what they have is what one start gives:
/// -0 only where it was -0 and all terms are.
static bool isAnyZero(Value value) {
  return stablehlo::isZero(value, /*orNegative=*/true);
}

static int64_t elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : -1;
}

/// True if the reduction adds, and starts from zero.
static bool addsUp(stablehlo::ReduceOp op) {
  if (op->getNumResults() != 1 || !isAnyZero(op->getOperand(1)))
    return false;
  Block &body = op->getRegion(0).front();
  auto add = dyn_cast<stablehlo::AddOp>(body.front());
  return add && add->getNextNode() == body.getTerminator() &&
         body.getTerminator()->getOperand(0) == add.getResult() &&
         add->getOperand(0) != add->getOperand(1) &&
         llvm::all_of(add->getOperands(), [&](Value operand) {
           return llvm::is_contained(body.getArguments(), operand);
         });
}

namespace {

using Group = SmallVector<StringAttr>;

static Group axesOf(AllReduceOp op) {
  Group axes = llvm::to_vector(op.getAxes().getAsRange<StringAttr>());
  llvm::sort(axes, [](StringAttr a, StringAttr b) {
    return a.getValue() < b.getValue();
  });
  return axes;
}

static bool areAlike(AllReduceOp a, AllReduceOp b) {
  return a.getKind() == b.getKind() && a.getMeshAttr() == b.getMeshAttr() &&
         axesOf(a) == axesOf(b);
}

/// Rewrites one function until nothing changes.
class Sinker {
public:
  Sinker(func::FuncOp function, bool keepSums)
      : function(function), keepSums(keepSums), builder(function.getContext()) {
  }
  /// Returns whether anything changed.
  bool run();

private:
  bool visit(AllReduceOp op);
  bool dropUniform(AllReduceOp op);
  bool sink(AllReduceOp op);
  bool isUniform(Value value, AllReduceOp op) {
    return uniformity->isUniform(value, op.getMeshAttr(), axesOf(op));
  }
  bool isLink(OpOperand &use, AllReduceOp op);
  AllReduceOp chainAbove(Value value, AllReduceOp alike);
  bool mergeInSum(Operation *sum, OpOperand &use, AllReduceOp op);
  bool leaveLoop(Operation *sum, OpOperand &use, AllReduceOp op);
  bool mergeInReduction(AllReduceOp below, AllReduceOp op);
  bool scatter(Value value, AllReduceOp op);
  bool scatterToShards(Value value, AllReduceOp op);
  /// Each rank combines its part of `value` alone, as `dims` divides it along
  /// axes `scattered`, in place of `readers`, in order, which keep it.
  void keepParts(Value value, AllReduceOp op, ArrayRef<Operation *> readers,
                 ArrayRef<Attribute> scattered, ArrayAttr dims);
  bool pullSlice(tensor::ExtractSliceOp slice);
  bool leadsToReduction(Value value, tensor::ExtractSliceOp slice,
                        unsigned depth);
  AllReduceOp combine(Value value, AllReduceOp like, ArrayAttr axes,
                      StringAttr moreReason = {});
  /// `op`'s readers get its partial input.
  void drop(AllReduceOp op) {
    op.getResult().replaceAllUsesWith(op.getInput());
    op.erase();
  }

  func::FuncOp function;
  bool keepSums;
  OpBuilder builder;
  /// Valid for values that stood before the pass, and renewed after each
  /// change.
  std::optional<Uniformity> uniformity;
};

} // namespace

/// True if the op of `use` passes a value on that is to be combined as `op`
/// says: combining its result is the same as combining the operand, and no more
/// work.
bool Sinker::isLink(OpOperand &use, AllReduceOp op) {
  Operation *user = use.getOwner();
  if (user->getNumResults() != 1 || user->getBlock() != op->getBlock())
    return false;
  int64_t before = elementsOf(op.getInput()),
          after = elementsOf(user->getResult(0));
  if (before < 0 || after < 0 || after > before)
    return false;
  if (isa<stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::SliceOp>(
          user))
    return true;
  if (isa<stablehlo::BroadcastInDimOp>(user))
    return after == before;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
    return llvm::all_of(llvm::drop_begin(user->getOperands()),
                        [&](Value value) { return isUniform(value, op); });
  if (op.getKind() != ReductionKind::Sum || keepSums)
    return false;
  if (isa<stablehlo::NegOp>(user))
    return true;
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(user))
    return use.getOperandNumber() == 0 && addsUp(reduce);
  // A sum of integers is not divided element by element.
  if (!isa<FloatType>(getElementTypeOrSelf(user->getResult(0))))
    return false;
  if (isa<stablehlo::MulOp>(user) ||
      (isa<stablehlo::DivOp>(user) && use.getOperandNumber() == 0)) {
    Value other = user->getOperand(1 - use.getOperandNumber());
    return other != use.get() && isUniform(other, op);
  }
  return false;
}

/// The all-reduce, one like `alike`, that `value` comes from through links
/// alone.
AllReduceOp Sinker::chainAbove(Value value, AllReduceOp alike) {
  while (value.hasOneUse()) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != alike->getBlock())
      return {};
    if (auto found = dyn_cast<AllReduceOp>(op))
      return found != alike && areAlike(found, alike) ? found : AllReduceOp();
    Value above;
    for (OpOperand &operand : op->getOpOperands())
      if (auto next = operand.get().getDefiningOp();
          next && isLink(operand, alike) && operand.get().hasOneUse())
        if (!above)
          above = operand.get();
    if (!above)
      return {};
    value = above;
  }
  return {};
}

AllReduceOp Sinker::combine(Value value, AllReduceOp like, ArrayAttr axes,
                            StringAttr moreReason) {
  builder.setInsertionPointAfterValue(value);
  StringAttr reason = like.getReasonAttr();
  if (reason && moreReason &&
      !reason.getValue().contains(moreReason.getValue()))
    reason =
        builder.getStringAttr(reason.getValue() + "; " + moreReason.getValue());
  auto combined = AllReduceOp::create(
      builder, like.getLoc(), value.getType(), value, like.getKindAttr(), axes,
      like.getMeshAttr(), reason ? reason : moreReason);
  value.replaceAllUsesExcept(combined.getResult(), combined);
  return combined;
}

//===----------------------------------------------------------------------===//
// Places to combine at
//===----------------------------------------------------------------------===//

/// a + b with both partial: one combination of the sum.
bool Sinker::mergeInSum(Operation *sum, OpOperand &use, AllReduceOp op) {
  Value other = sum->getOperand(1 - use.getOperandNumber());
  if (other == use.get())
    return false;
  AllReduceOp second = chainAbove(other, op);
  if (!second)
    return false;
  combine(sum->getResult(0), op, op.getAxes(), second.getReasonAttr());
  drop(second);
  drop(op);
  return true;
}

/// acc = acc + x in every iteration of a loop, with x partial: the accumulator
/// is partial too, and is combined once behind the loop.
bool Sinker::leaveLoop(Operation *sum, OpOperand &use, AllReduceOp op) {
  auto loop = dyn_cast<stablehlo::WhileOp>(sum->getParentOp());
  if (!loop || !isa<stablehlo::AddOp>(sum) ||
      sum->getParentRegion() != &loop.getBody() ||
      !sum->getResult(0).hasOneUse())
    return false;
  auto argument =
      dyn_cast<BlockArgument>(sum->getOperand(1 - use.getOperandNumber()));
  if (!argument || argument.getOwner() != sum->getBlock() ||
      !argument.hasOneUse())
    return false;
  unsigned number = argument.getArgNumber();
  OpOperand &yield = *sum->getResult(0).use_begin();
  if (yield.getOwner() != sum->getBlock()->getTerminator() ||
      yield.getOperandNumber() != number ||
      !loop.getCond().front().getArgument(number).use_empty())
    return false;
  auto type = cast<RankedTensorType>(argument.getType());
  Value initial = loop->getOperand(number);
  bool startsFromZero = isAnyZero(initial);
  DenseElementsAttr none =
      neutralElement(ReductionKind::Sum, type.getElementType());
  if (!startsFromZero && (!type.hasStaticShape() || !none))
    return false;
  Value result = loop->getResult(number);
  AllReduceOp combined = combine(result, op, op.getAxes());
  if (!startsFromZero) {
    builder.setInsertionPoint(loop);
    loop->setOperand(number,
                     stablehlo::ConstantOp::create(builder, loop.getLoc(),
                                                   none.resizeSplat(type)));
    builder.setInsertionPointAfter(combined);
    auto total = stablehlo::AddOp::create(builder, sum->getLoc(), type, initial,
                                          combined.getResult());
    combined.getResult().replaceAllUsesExcept(total.getResult(), total);
  }
  drop(op);
  return true;
}

/// Combined along x, then along y: along both at once.
bool Sinker::mergeInReduction(AllReduceOp below, AllReduceOp op) {
  if (below.getKind() != op.getKind() ||
      below.getMeshAttr() != op.getMeshAttr())
    return false;
  SmallVector<Attribute> axes(below.getAxes().getValue());
  for (Attribute axis : op.getAxes()) {
    if (llvm::is_contained(axes, axis))
      return false;
    axes.push_back(axis);
  }
  below.setAxesAttr(builder.getArrayAttr(axes));
  drop(op);
  return true;
}

namespace {
/// Where a slice begins and ends in one dim, by coordinate along some axes.
struct SlicedDim {
  SmallVector<StringAttr> axes;
  SmallVector<Interval> kept;
};
} // namespace

/// The table behind an offset or a size; a constant has one entry along no
/// axes.
static bool readTable(OpFoldResult index, SmallVector<StringAttr> &axes,
                      SmallVector<int64_t> &table) {
  if (std::optional<int64_t> constant = getConstantIntValue(index)) {
    table.push_back(*constant);
    return true;
  }
  auto lookup = dyn_cast<Value>(index)
                    ? cast<Value>(index).getDefiningOp<LookupOp>()
                    : LookupOp();
  if (!lookup || lookup.getFormula())
    return false;
  llvm::append_range(axes, lookup.getAxes().getAsRange<StringAttr>());
  table.assign(lookup.getTable().begin(), lookup.getTable().end());
  return true;
}

static std::optional<SlicedDim> readSlice(tensor::ExtractSliceOp slice,
                                          unsigned dim) {
  SmallVector<StringAttr> offsetAxes, sizeAxes;
  SmallVector<int64_t> offsets, sizes;
  if (!readTable(slice.getMixedOffsets()[dim], offsetAxes, offsets) ||
      !readTable(slice.getMixedSizes()[dim], sizeAxes, sizes))
    return std::nullopt;
  if (offsets.size() > 1 && sizes.size() > 1 && offsetAxes != sizeAxes)
    return std::nullopt;
  SlicedDim result;
  result.axes = offsets.size() > 1 ? offsetAxes : sizeAxes;
  for (size_t i = 0, e = std::max(offsets.size(), sizes.size()); i < e; ++i) {
    int64_t offset = offsets[offsets.size() > 1 ? i : 0];
    result.kept.push_back({offset, offset + sizes[sizes.size() > 1 ? i : 0]});
  }
  return result;
}

/// All readers of `value` keep the same part of it, which differs along axes of
/// the group: each rank combines its part alone.
bool Sinker::scatter(Value value, AllReduceOp op) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.hasStaticShape() || value.use_empty() ||
      type.getNumElements() > elementsOf(op.getInput()))
    return false;
  auto first = dyn_cast<tensor::ExtractSliceOp>(*value.user_begin());
  if (!first || first.getType().getRank() != type.getRank() ||
      !first.hasUnitStride())
    return false;
  for (Operation *user : value.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || user->getBlock() != op->getBlock() ||
        user->getOperands() != first->getOperands() ||
        user->getAttrDictionary() != first->getAttrDictionary() ||
        slice.getType() != first.getType())
      return false;
  }
  MeshAttr mesh = lookupMesh(op, op.getMeshAttr());
  Group group = axesOf(op);
  SmallVector<Attribute> scattered, dims;
  for (unsigned i = 0; i < type.getRank(); ++i) {
    std::optional<SlicedDim> dim = readSlice(first, i);
    if (!dim)
      return false;
    Interval whole = {0, type.getDimSize(i)};
    if (llvm::all_of(dim->kept, [&](Interval kept) { return kept == whole; }))
      continue;
    if (!llvm::all_of(dim->kept,
                      [&](Interval kept) { return whole.contains(kept); }))
      return false;
    if (dim->axes.empty()) // The same part on all ranks is of no use here.
      return false;
    DimExchange exchange;
    exchange.dim = i;
    for (StringAttr axis : dim->axes)
      exchange.axes.push_back(mesh.getAxisIndex(axis.getValue()));
    exchange.owned.assign(dim->kept.size(), whole);
    exchange.needed.assign(dim->kept.begin(), dim->kept.end());
    dims.push_back(DimExchangeAttr::get(builder.getContext(), mesh, exchange));
    for (StringAttr axis : dim->axes)
      if (llvm::is_contained(group, axis) &&
          !llvm::is_contained(scattered, axis) &&
          tableVaries(ArrayRef(dim->kept), dim->axes, mesh, axis.getValue()))
        scattered.push_back(axis);
  }
  if (scattered.empty())
    return false;
  SmallVector<Operation *> slices(value.getUsers());
  llvm::sort(slices,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  keepParts(value, op, slices, scattered, builder.getArrayAttr(dims));
  return true;
}

void Sinker::keepParts(Value value, AllReduceOp op,
                       ArrayRef<Operation *> readers,
                       ArrayRef<Attribute> scattered, ArrayAttr dims) {
  SmallVector<Attribute> others;
  for (StringAttr axis : axesOf(op))
    if (!llvm::is_contained(scattered, axis))
      others.push_back(axis);
  builder.setInsertionPoint(readers.front());
  Value kept = ReduceScatterOp::create(
      builder, op.getLoc(), readers.front()->getResult(0).getType(), value,
      op.getKindAttr(), builder.getArrayAttr(scattered), dims, op.getMeshAttr(),
      op.getReasonAttr());
  for (Operation *reader : readers) {
    reader->getResult(0).replaceAllUsesWith(kept);
    reader->erase();
  }
  if (!others.empty())
    combine(kept, op, builder.getArrayAttr(others));
  drop(op);
}

/// The only reader of `value` keeps shards of it along axes of the group, whose
/// sizes are bound later.
bool Sinker::scatterToShards(Value value, AllReduceOp op) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.hasStaticShape() || !value.hasOneUse() ||
      type.getNumElements() > elementsOf(op.getInput()))
    return false;
  Operation *user = *value.user_begin();
  if (!isa<HaloExchangeOp, RebalanceOp>(user) || user->getNumOperands() != 1 ||
      user->getBlock() != op->getBlock())
    return false;
  MeshAttr mesh = lookupMesh(op, op.getMeshAttr());
  Group group = axesOf(op);
  SmallVector<Attribute> scattered;
  ArrayAttr dims = cast<ExchangeOpInterface>(user).getDims();
  for (auto attr : dims.getAsRange<DimExchangeAttr>()) {
    DimExchange dim = attr.getExchange(mesh);
    Interval whole = {0, type.getDimSize(dim.dim)};
    if (!dim.neededFormula || dim.neededFormula.kind() != FormulaKind::Shards ||
        !(dim.ownedFormula == Formula::same(whole)) ||
        llvm::any_of(dim.owned, [&](Interval own) { return own != whole; }))
      return false;
    for (StringAttr axis : attr.getAxes()) {
      if (!llvm::is_contained(group, axis))
        return false;
      scattered.push_back(axis);
    }
  }
  if (scattered.empty())
    return false;
  keepParts(value, op, user, scattered, dims);
  return true;
}

//===----------------------------------------------------------------------===//
// Slices go up
//===----------------------------------------------------------------------===//

/// True if a slice of `value` would reach an all-reduce on its way up.
bool Sinker::leadsToReduction(Value value, tensor::ExtractSliceOp slice,
                              unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 8 || !value.hasOneUse() ||
      op->getBlock() != slice->getBlock())
    return false;
  if (isa<AllReduceOp>(op))
    return true;
  if (!op->hasTrait<shardc::stablehlo::ElementwiseTrait>() &&
      !isa<stablehlo::TransposeOp, stablehlo::ReshapeOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return leadsToReduction(operand, slice, depth + 1);
  });
}

/// A part of f(a, b) is f of the parts.
bool Sinker::pullSlice(tensor::ExtractSliceOp slice) {
  Operation *op = slice.getSource().getDefiningOp();
  auto sourceType = slice.getSourceType();
  if (!op || !op->hasTrait<shardc::stablehlo::ElementwiseTrait>() ||
      op->getNumResults() != 1 || op->getNumOperands() < (keepSums ? 1u : 2u) ||
      !slice.getType().hasStaticShape() || !sourceType.hasStaticShape() ||
      slice.getType().getRank() != sourceType.getRank() ||
      !leadsToReduction(slice.getSource(), slice, 0) ||
      llvm::all_of(slice.getMixedOffsets(), [](OpFoldResult offset) {
        return getConstantIntValue(offset).has_value();
      }))
    return false;
  builder.setInsertionPoint(slice);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getRank() == 0 && sourceType.getRank() > 0) {
      operands.push_back(operand);
      continue;
    }
    auto partType = type.clone(slice.getType().getShape());
    Value scalar = operand;
    if (auto broadcast = operand.getDefiningOp<stablehlo::BroadcastInDimOp>())
      scalar = broadcast.getOperand();
    DenseElementsAttr constant;
    if (cast<RankedTensorType>(scalar.getType()).getRank() == 0)
      operands.push_back(stablehlo::BroadcastInDimOp::create(
          builder, op->getLoc(), partType, scalar,
          builder.getDenseI64ArrayAttr({})));
    else if (matchPattern(operand, m_Constant(&constant)) && constant.isSplat())
      operands.push_back(stablehlo::ConstantOp::create(
          builder, op->getLoc(), constant.resizeSplat(partType)));
    else
      operands.push_back(tensor::ExtractSliceOp::create(
          builder, slice.getLoc(), partType, operand, slice.getMixedOffsets(),
          slice.getMixedSizes(), slice.getMixedStrides()));
  }
  OperationState state(op->getLoc(), op->getName(), operands, {slice.getType()},
                       llvm::to_vector(op->getDiscardableAttrs()));
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *part = builder.create(state);
  slice.getResult().replaceAllUsesWith(part->getResult(0));
  slice.erase();
  op->erase();
  return true;
}

//===----------------------------------------------------------------------===//
// One after another
//===----------------------------------------------------------------------===//

/// What is the same on all ranks of a group need not be combined with itself.
bool Sinker::dropUniform(AllReduceOp op) {
  SmallVector<StringAttr> varying =
      uniformity->getVaryingAxes(op.getInput(), op.getMeshAttr());
  SmallVector<Attribute> kept, gone;
  MeshAttr mesh = lookupMesh(op, op.getMeshAttr());
  int64_t times = 1;
  for (auto axis : op.getAxes().getAsRange<StringAttr>()) {
    // How often equal terms count is not known along some axes.
    bool varies = llvm::is_contained(varying, axis) ||
                  mesh.isSymbolic(mesh.getAxisIndex(axis));
    (varies ? kept : gone).push_back(axis);
    if (!varies)
      times *= mesh.getAxisSize(axis.getValue());
  }
  if (gone.empty())
    return false;
  Value value = op.getInput();
  auto type = cast<RankedTensorType>(value.getType());
  switch (op.getKind()) {
  case ReductionKind::Min:
  case ReductionKind::Max:
  case ReductionKind::And:
  case ReductionKind::Or:
    break;
  case ReductionKind::Sum: {
    // k times the same: exact where k is a power of two, and of integers.
    auto number = dyn_cast<FloatType>(type.getElementType());
    if (!type.hasStaticShape() || type.getElementType().isInteger(1) ||
        (number && !llvm::isPowerOf2_64(times)) ||
        (!number && !isa<IntegerType>(type.getElementType())))
      return false;
    builder.setInsertionPoint(op);
    Attribute factor =
        number ? Attribute(builder.getFloatAttr(number, double(times)))
               : Attribute(IntegerAttr::get(
                     type.getElementType(),
                     APInt(type.getElementTypeBitWidth(), times, false, true)));
    Value constant = stablehlo::ConstantOp::create(
        builder, op.getLoc(), DenseElementsAttr::get(type, factor));
    value =
        stablehlo::MulOp::create(builder, op.getLoc(), type, value, constant);
    break;
  }
  default:
    return false;
  }
  if (kept.empty()) {
    op.getResult().replaceAllUsesWith(value);
    op.erase();
    return true;
  }
  op.getInputMutable().assign(value);
  op.setAxesAttr(builder.getArrayAttr(kept));
  return true;
}

bool Sinker::sink(AllReduceOp op) {
  Value value = op.getResult();
  bool shrinks = false;
  while (!value.use_empty()) {
    if (scatter(value, op) || scatterToShards(value, op))
      return true;
    if (!value.hasOneUse())
      break;
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    if (isa<stablehlo::AddOp, stablehlo::SubtractOp>(user) &&
        op.getKind() == ReductionKind::Sum && !keepSums &&
        user->getBlock() == op->getBlock())
      if (mergeInSum(user, use, op) || leaveLoop(user, use, op))
        return true;
    if (auto below = dyn_cast<AllReduceOp>(user))
      if (mergeInReduction(below, op))
        return true;
    if (!isLink(use, op))
      break;
    shrinks |= elementsOf(user->getResult(0)) < elementsOf(op.getInput());
    value = user->getResult(0);
  }
  if (!shrinks)
    return false;
  combine(value, op, op.getAxes());
  drop(op);
  return true;
}

bool Sinker::visit(AllReduceOp op) { return dropUniform(op) || sink(op); }

bool Sinker::run() {
  bool changedAny = false;
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<tensor::ExtractSliceOp> slices;
    function.walk(
        [&](tensor::ExtractSliceOp slice) { slices.push_back(slice); });
    for (tensor::ExtractSliceOp slice : llvm::reverse(slices))
      changed |= pullSlice(slice);
    uniformity.emplace(function);
    SmallVector<AllReduceOp> all;
    function.walk([&](AllReduceOp op) { all.push_back(op); });
    for (AllReduceOp op : all)
      if (visit(op)) {
        // Others may be gone: look again.
        changed = true;
        break;
      }
    changedAny |= changed;
  }
  return changedAny;
}

namespace {
struct SinkReductionsPass final
    : shardc::impl::SinkReductionsPassBase<SinkReductionsPass> {
  using Base::Base;
  void runOnOperation() override {
    if (!Sinker(getOperation(), keepSums).run())
      markAllAnalysesPreserved();
  }
};
} // namespace
