//===- FitMemory.cpp - Programs larger than memory ------------------------===//
#include "EmitPlan.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardc/Analysis/LocalSizes.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalContracts.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Dialect/Spmd/IR/SpmdViews.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interfaces/ProgramCost.h"
#include "shardc/Memory/Passes.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/ElementwiseTrait.h"
#include "shardc/Support/UserLocation.h"

namespace shardc {
#define GEN_PASS_DEF_FITMEMORYPASS
#include "shardc/Memory/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::memory;
using namespace shardc::spmd;

namespace {

/// Reads a function's block into a program.
class Reader {
public:
  Reader(func::FuncOp function, const RowSpaces *rows)
      : block(function.front()), rows(rows), price(costOn(function)) {
    for (MeshOp op : function->getParentOfType<ModuleOp>().getOps<MeshOp>())
      mesh = op.getMesh();
  }

  PlannedBlock read();

private:
  int64_t bytesOf(Value value) const;
  bool isFused(Operation *op) const;
  /// In operations that take as long.
  double costOf(Operation *op) const;
  static Repeat repeatOf(Operation *op);
  SmallVector<Operation *> sortedOps();
  int64_t numberOf(Value value);
  void add(Operation *op);

  Block &block;
  const RowSpaces *rows; ///< null: none
  Cost price;
  MeshAttr mesh;
  PlannedBlock planned;
  llvm::DenseMap<Value, int64_t> numbers;
  int64_t lastEffect = -1; ///< a value of the op with effects before this one
};

} // namespace

int64_t Reader::bytesOf(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  int64_t elements = 0;
  if (type.hasStaticShape()) {
    elements = type.getNumElements();
  } else if (mesh) {
    if (auto byRank = getLocalElements(value, mesh); byRank && !byRank->empty())
      elements = *llvm::max_element(*byRank);
  }
  int64_t bytes;
  return llvm::MulOverflow(elements, elementBytes(type.getElementType()), bytes)
             ? INT64_MAX / 4
             : bytes;
}

/// True if the result never is in memory: its only reader computes it on the
/// way.
bool Reader::isFused(Operation *op) const {
  if (op->getNumResults() != 1 || !op->getResult(0).hasOneUse() ||
      !op->hasTrait<shardc::stablehlo::ElementwiseTrait>())
    return false;
  Operation *user = *op->getResult(0).user_begin();
  return user->getBlock() == op->getBlock() &&
         (user->hasTrait<shardc::stablehlo::ElementwiseTrait>() ||
          isa<stablehlo::ReduceOp>(user));
}

double Reader::costOf(Operation *op) const {
  double cost = 0, bytes = 0;
  for (Value operand : op->getOperands())
    if (!operand.getDefiningOp<stablehlo::BroadcastInDimOp>())
      bytes += double(bytesOf(operand));
  double elements = 0;
  for (Value result : op->getResults()) {
    bytes += double(bytesOf(result));
    if (auto type = dyn_cast<RankedTensorType>(result.getType()))
      elements +=
          double(bytesOf(result)) /
          double(std::max<int64_t>(elementBytes(type.getElementType()), 1));
  }
  auto elementsOf = [&](Value value) {
    return double(bytesOf(value)) /
           double(elementBytes(getElementTypeOrSelf(value.getType())));
  };
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    double depth = 1;
    for (int64_t dim :
         dot.getDotDimensionNumbers().getLhsContractingDimensions())
      depth *= double(std::max<int64_t>(
          cast<RankedTensorType>(dot.getLhs().getType()).getDimSize(dim), 1));
    cost = 2 * elements * depth;
  } else if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
    auto features = cast<RankedTensorType>(convolution.getRhs().getType())
                        .getDimSize(convolution.getDimensionNumbers()
                                        .getKernelOutputFeatureDimension());
    cost = 2 * elements * elementsOf(convolution.getRhs()) /
           double(std::max<int64_t>(features, 1));
  } else {
    cost = elements;
  }
  double seconds = price.compute(cost) + price.access(bytes);
  if (isa<CommunicationOpInterface>(op))
    seconds += price.synchronize() + price.move(bytes);
  return seconds * price.getMachine().flops;
}

Repeat Reader::repeatOf(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op))
    return Repeat::Never;
  if (isa<RowPlanOp, GatherRowsOp, ScatterRowsOp, AllGatherOp, HaloExchangeOp,
          RebalanceOp, AllToAllOp, AllReduceOp, ReduceScatterOp>(op))
    return Repeat::Communicates;
  if (isa<CommunicationOpInterface>(op))
    return Repeat::Never;
  if (isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp,
          stablehlo::CustomCallOp, stablehlo::CompositeOp, stablehlo::RngOp,
          stablehlo::RngBitGeneratorOp, stablehlo::OptimizationBarrierOp>(op))
    return Repeat::Never;
  if (isOfLevel(op) && !isa<LookupOp, DilateOp>(op))
    return Repeat::Never;
  return Repeat::Freely;
}

/// The block's ops; what is computed on the way to its only reader right before
/// it.
SmallVector<Operation *> Reader::sortedOps() {
  SmallVector<Operation *> sorted;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> waiting;
  auto put = [&](auto &&self, Operation *op) -> void {
    for (Operation *other : waiting.lookup(op))
      self(self, other);
    sorted.push_back(op);
  };
  for (Operation &op : block) {
    // A flag for each number that waits is smaller than what it is made of.
    bool waits = isFused(&op);
    if (waits && rows && rows->lookup(&op))
      for (Value operand : op.getOperands())
        waits &= bytesOf(op.getResult(0)) >= bytesOf(operand);
    if (waits)
      waiting[*op.getResult(0).user_begin()].push_back(&op);
    else
      put(put, &op);
  }
  return sorted;
}

int64_t Reader::numberOf(Value value) {
  auto [known, isNew] = numbers.insert({value, planned.program.values.size()});
  if (isNew) {
    planned.program.addValue(0);
    planned.values.push_back(value);
  }
  return known->second;
}

void Reader::add(Operation *op) {
  Program &program = planned.program;
  const RowForm *form = rows ? rows->lookup(op) : nullptr;
  PlanOp info;
  info.repeat = repeatOf(op);
  info.cost = costOf(op);
  info.space = form ? form->space : -1;
  info.isFree =
      form ? isa<stablehlo::BroadcastInDimOp, stablehlo::IotaOp, RowPlanOp>(op)
           : false;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    info.operands.push_back(
        {numberOf(operand), form && form->operandDims[i] >= 0});
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    info.operands.push_back({numberOf(value), false});
  if (auto wait = dyn_cast<ExchangeWaitOp>(op))
    info.begun = program.values[numberOf(wait.getToken())].producer;
  // Views keep what they show.
  bool isView =
      isa<stablehlo::ReshapeOp, stablehlo::OptimizationBarrierOp,
          tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) &&
      !form;
  for (size_t i = 0, count = op->getNumOperands();
       i < count && !op->hasTrait<OpTrait::IsTerminator>(); ++i)
    if (Operation *maker = op->getOperand(i).getDefiningOp();
        maker && !(rows && rows->lookup(maker)) &&
        isa<stablehlo::ReshapeOp, tensor::CastOp, tensor::CollapseShapeOp,
            tensor::ExpandShapeOp>(maker))
      info.operands.push_back({numberOf(maker->getOperand(0)), false});
  if (!isMemoryEffectFree(op) && lastEffect >= 0)
    info.operands.push_back({lastEffect, false});
  bool isReturned = llvm::any_of(op->getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>();
  });
  bool isLight =
      isView || isReturned || isa<stablehlo::ConstantOp, tensor::EmptyOp>(op) ||
      (isa<stablehlo::BroadcastInDimOp, stablehlo::IotaOp>(op) && !form) ||
      (isFused(op) && !form);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    int64_t value = numberOf(result);
    program.values[value].hasRows = form && form->resultDims[i] >= 0;
    program.values[value].bytes = isLight ? 0 : bytesOf(result);
    info.results.push_back(value);
  }
  if (!isMemoryEffectFree(op) && op->getNumResults() == 0 &&
      !op->hasTrait<OpTrait::IsTerminator>())
    info.repeat = Repeat::Never;
  if (!isMemoryEffectFree(op) && op->getNumResults() > 0)
    lastEffect = info.results.front();
  program.addOp(std::move(info));
  planned.ops.push_back(op);
}

PlannedBlock Reader::read() {
  for (BlockArgument argument : block.getArguments())
    numberOf(argument);
  for (Operation *op : sortedOps())
    add(op);
  planned.program.formGroups();
  return std::move(planned);
}

/// What is held where memory is fullest, the largest first.
static std::string nameLargest(const PlannedBlock &planned,
                               const Planner &planner) {
  std::vector<int64_t> bytes = planner.bytesByPlace();
  if (bytes.empty())
    return {};
  std::string text;
  llvm::raw_string_ostream os(text);
  int64_t place = std::max_element(bytes.begin(), bytes.end()) - bytes.begin();
  std::vector<int64_t> live = planner.liveAt(place);
  live.resize(std::min<size_t>(live.size(), 5));
  for (int64_t value : live) {
    const PlanValue &info = planned.program.values[value];
    Value ir = planned.values[info.base];
    os << (text.empty() ? "" : "; ") << info.bytes << " bytes of '"
       << ir.getDefiningOp()->getName() << "' " << ir.getType() << " at "
       << userLocation(ir.getLoc());
  }
  return text;
}

namespace {
struct FitMemoryPass final : shardc::impl::FitMemoryPassBase<FitMemoryPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (limit <= 0 || function.isExternal() ||
        !function.getBody().hasOneBlock())
      return markAllAnalysesPreserved();
    if (failed(verifyLocalView(function)))
      return signalPassFailure();
    RowSpaces rows(function.front());
    PlannedBlock planned = Reader(function, blocks ? &rows : nullptr).read();
    // Repeated communication may save many repeated products, or only cost.
    PlannedBlock other = planned;
    Planner communicating(planned.program), silent(other.program);
    bool fits =
        communicating.fit(limit, {.loops = blocks, .communication = true});
    Planner *planner = &communicating;
    PlannedBlock *chosen = &planned;
    if (silent.fit(limit, {.loops = blocks}) &&
        (!fits ||
         silent.summary().addedCost <= communicating.summary().addedCost)) {
      fits = true;
      planner = &silent;
      chosen = &other;
    }
    const Summary &summary = planner->summary();
    OpBuilder builder(function.getContext());
    contract::MemoryPlan::set(
        function,
        MemoryPlanAttr::get(
            function.getContext(), fits, summary.peakBefore, summary.peakAfter,
            summary.repeated, summary.loops,
            int64_t(100 * summary.addedCost / std::max(summary.cost, 1.0)),
            fits ? StringAttr()
                 : builder.getStringAttr(nameLargest(*chosen, *planner))));
    if (summary.loops == 0 && summary.repeated == 0)
      return;
    if (failed(emitPlan(*chosen, rows, blockBytesFor(limit))))
      signalPassFailure();
  }
};
} // namespace
