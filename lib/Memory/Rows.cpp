//===- Rows.cpp - What can be split by rows -------------------------------===//
#include "Rows.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::memory;
using namespace shardc::spmd;

/// The most major dim with more than one element; -1 if there is none, or if a
/// size before it is unknown.
static int64_t majorDim(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return -1;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (size != 1)
      return ShapedType::isDynamic(size) || size == 0
                 ? -1
                 : static_cast<int64_t>(dim);
  return -1;
}

static int64_t sizeOf(Value value, int64_t dim) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

/// The dims that `factor` is the rows of; false if it is something else in one.
static bool findRows(ArrayRef<TensorRule> tensors, ValueRange values,
                     int64_t factor, int64_t size, SmallVector<int64_t> &dims) {
  for (auto [tensor, value] : llvm::zip_equal(tensors, values)) {
    dims.push_back(-1);
    for (auto [dim, map] : llvm::enumerate(tensor.dims)) {
      if (llvm::none_of(map.terms, [&](const IndexTerm &term) {
            return term.factor == factor;
          }))
        continue;
      if (!map.isIdentity() || static_cast<int64_t>(dim) != majorDim(value) ||
          sizeOf(value, dim) != size || tensor.padding != Padding::Constant)
        return false;
      dims.back() = dim;
    }
  }
  return true;
}

/// True if sums of `type` may be added up in parts.
static bool addsExactlyEnough(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.getWidth() >= 8;
  return element.isF32() || element.isF64();
}

/// Forms by the op's own rule, one for each factor that can be one of rows.
static void addRuleForms(Operation *op, SmallVectorImpl<RowForm> &forms) {
  auto interface = dyn_cast<ShardingRuleOpInterface>(op);
  if (!interface || !isa<LocalizeOpInterface>(op) ||
      isa<CommunicationOpInterface>(op))
    return;
  if (llvm::any_of(op->getOperandTypes(),
                   [](Type type) { return !isa<RankedTensorType>(type); }))
    return;
  FailureOr<ShardingRule> rule = interface.getShardingRule();
  if (failed(rule) || rule->operands.size() != op->getNumOperands() ||
      rule->results.size() != op->getNumResults())
    return;
  for (auto [number, factor] : llvm::enumerate(rule->factors)) {
    bool isSum = factor.kind == FactorKind::Reduction;
    if (factor.size < 2 || factor.evenOnly ||
        (!isSum && factor.kind != FactorKind::PassThrough))
      continue;
    RowForm form;
    form.factor = number;
    form.isSum = isSum;
    form.rows = factor.size;
    if (!findRows(rule->operands, op->getOperands(), number, factor.size,
                  form.operandDims) ||
        !findRows(rule->results, op->getResults(), number, factor.size,
                  form.resultDims))
      continue;
    bool hasAll =
        llvm::all_of(form.resultDims, [](int64_t dim) { return dim >= 0; });
    bool hasNone =
        llvm::all_of(form.resultDims, [](int64_t dim) { return dim < 0; });
    if (isSum ? !hasNone : !hasAll)
      continue;
    if (isSum) {
      bool starts = op->getNumRegions() == 0;
      if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
        starts = llvm::all_of(reduce.getInitValues(), [](Value init) {
          return stablehlo::isZero(init);
        });
      if (!starts || factor.reduction != ReductionKind::Sum ||
          !llvm::all_of(op->getResultTypes(), addsExactlyEnough))
        continue;
    }
    forms.push_back(std::move(form));
  }
}

/// Updates are combined in order, so that blocks of them may be, one after the
/// other.
static void addScatterForm(stablehlo::ScatterOp op,
                           SmallVectorImpl<RowForm> &forms) {
  if (op.getInputs().size() != 1)
    return;
  auto interface = dyn_cast<ShardingRuleOpInterface>(*op);
  if (!interface)
    return;
  FailureOr<ShardingRule> rule = interface.getShardingRule();
  if (failed(rule))
    return;
  for (auto [number, factor] : llvm::enumerate(rule->factors)) {
    RowForm form;
    form.accumulator = 0;
    form.factor = number;
    form.rows = factor.size;
    if (factor.size < 2 ||
        !findRows(rule->operands, op->getOperands(), number, factor.size,
                  form.operandDims) ||
        !findRows(rule->results, op->getResults(), number, factor.size,
                  form.resultDims))
      continue;
    if (form.operandDims[0] < 0 && form.operandDims[1] >= 0 &&
        form.operandDims[2] >= 0 && form.resultDims[0] < 0)
      forms.push_back(std::move(form));
  }
}

/// Plans of one position a row.
static bool plansRows(RowPlanOp plan) {
  auto type = plan.getIndices().getType();
  int64_t dim = majorDim(plan.getIndices());
  return dim >= 0 && dim != static_cast<int64_t>(plan.getVectorDim()) &&
         llvm::all_of(plan.getSlices(),
                      [](int64_t size) { return size == 1; }) &&
         llvm::all_of(plan.getComponents(),
                      [](int64_t component) { return component >= 0; }) &&
         llvm::all_of(llvm::seq<int64_t>(0, type.getRank()), [&](int64_t d) {
           return d == dim || d == static_cast<int64_t>(plan.getVectorDim());
         });
}

static void addForms(Operation *op, SmallVectorImpl<RowForm> &forms) {
  RowForm form;
  if (auto plan = dyn_cast<RowPlanOp>(op)) {
    if (!plansRows(plan))
      return;
    form.operandDims = {majorDim(plan.getIndices())};
    form.resultDims = {0};
    form.rows = sizeOf(plan.getIndices(), form.operandDims[0]);
  } else if (auto gather = dyn_cast<GatherRowsOp>(op)) {
    RowPlanOp plan = gather.getRowPlan();
    if (!plan || !plansRows(plan) ||
        majorDim(gather.getResult()) != static_cast<int64_t>(gather.getFirst()))
      return;
    form.operandDims = {0, -1};
    form.resultDims = {majorDim(gather.getResult())};
    form.rows = sizeOf(gather.getResult(), form.resultDims[0]);
  } else if (auto scatter = dyn_cast<ScatterRowsOp>(op)) {
    RowPlanOp plan = scatter.getRowPlan();
    if (!plan || !plansRows(plan) ||
        majorDim(scatter.getUpdates()) !=
            static_cast<int64_t>(scatter.getFirst()))
      return;
    form.operandDims = {0, majorDim(scatter.getUpdates()), -1};
    form.resultDims = {-1};
    form.accumulator = 2;
    form.rows = sizeOf(scatter.getUpdates(), form.operandDims[1]);
  } else if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op)) {
    addScatterForm(scatter, forms);
    return;
  } else {
    addRuleForms(op, forms);
    return;
  }
  if (form.rows >= 2)
    forms.push_back(std::move(form));
}

RowSpaces::RowSpaces(Block &block) {
  // Rows of a value are the rows of all ops that keep them apart: there is one
  // dim that can be a value's rows.
  llvm::EquivalenceClasses<Value> classes;
  llvm::DenseMap<Operation *, SmallVector<RowForm>> candidates;
  auto members = [](Operation *op, const RowForm &form) {
    SmallVector<Value> values;
    for (auto [value, dim] :
         llvm::zip_equal(op->getOperands(), form.operandDims))
      if (dim >= 0)
        values.push_back(value);
    for (auto [value, dim] : llvm::zip_equal(op->getResults(), form.resultDims))
      if (dim >= 0)
        values.push_back(value);
    return values;
  };
  for (Operation &op : block) {
    SmallVector<RowForm> forms;
    addForms(&op, forms);
    for (const RowForm &form : forms) {
      SmallVector<Value> values = members(&op, form);
      for (Value value : values)
        classes.unionSets(values.front(), value);
    }
    if (!forms.empty())
      candidates[&op] = std::move(forms);
  }
  llvm::DenseMap<Value, int64_t> sizes;
  for (Operation &op : block)
    if (auto found = candidates.find(&op); found != candidates.end())
      for (const RowForm &form : found->second)
        ++sizes[classes.getLeaderValue(members(&op, form).front())];
  llvm::DenseMap<Value, int64_t> numbers;
  for (Operation &op : block) {
    auto found = candidates.find(&op);
    if (found == candidates.end())
      continue;
    Value bestClass;
    RowForm *best = nullptr;
    for (RowForm &form : found->second) {
      Value leader = classes.getLeaderValue(members(&op, form).front());
      if (!best || sizes[leader] > sizes[bestClass]) {
        best = &form;
        bestClass = leader;
      }
    }
    best->space = numbers.insert({bestClass, numbers.size()}).first->second;
    forms[&op] = *best;
  }
}

//===----------------------------------------------------------------------===//
// On some rows
//===----------------------------------------------------------------------===//

namespace {

/// A block of rows of an op, as `localize` sees it.
class RowBlock final : public Localization {
public:
  RowBlock(OpBuilder &builder, Operation *op, ShardingRule rule,
           const RowForm &form, ValueRange operands, int64_t count,
           llvm::function_ref<OpFoldResult()> offset)
      : opBuilder(builder), op(op), opRule(std::move(rule)), form(form),
        blocks(operands), count(count), offset(offset) {}

  OpBuilder &builder() override { return opBuilder; }
  const ShardingRule &rule() override { return opRule; }
  ValueRange operands() override { return blocks; }
  RankedTensorType resultType(int64_t result) override {
    auto type = cast<RankedTensorType>(op->getResult(result).getType());
    SmallVector<int64_t> shape(type.getShape());
    if (form.resultDims[result] >= 0)
      shape[form.resultDims[result]] = count;
    return type.clone(shape);
  }
  bool isSharded(int64_t factor) override { return factor == form.factor; }
  bool isOperandDimLocal(int64_t operand, int64_t dim) override {
    return form.operandDims[operand] == dim;
  }
  bool isResultDimLocal(int64_t result, int64_t dim) override {
    return form.resultDims[result] == dim;
  }
  OpFoldResult factorSize(int64_t factor) override {
    return opBuilder.getIndexAttr(
        factor == form.factor ? count : opRule.factors[factor].size);
  }
  OpFoldResult factorOffset(int64_t factor) override {
    return factor == form.factor ? offset()
                                 : OpFoldResult(opBuilder.getIndexAttr(0));
  }
  OpFoldResult resultDimSize(int64_t result, int64_t dim) override {
    return opBuilder.getIndexAttr(resultType(result).getDimSize(dim));
  }
  OpFoldResult resultDimOffset(int64_t result, int64_t dim) override {
    return form.resultDims[result] == dim
               ? offset()
               : OpFoldResult(opBuilder.getIndexAttr(0));
  }
  bool isPartial() override { return form.isSum; }
  Value completeReduction(Value partial, int64_t) override { return partial; }

  // Factors that communicate are never rows.
  IntervalTable factorTable(int64_t factor) override {
    return {{}, {Interval{0, opRule.factors[factor].size}}};
  }
  SmallVector<IntervalTable> operandTables(int64_t operand) override {
    return whole(blocks[operand]);
  }
  SmallVector<IntervalTable> resultTables(int64_t result) override {
    return whole(op->getResult(result));
  }
  ArrayRef<int64_t> meshSizes() override { return {}; }
  OpFoldResult lookup(ArrayRef<int64_t> table, ArrayRef<int64_t>) override {
    return opBuilder.getIndexAttr(table.empty() ? 0 : table.front());
  }
  Value exchange(Value local, ArrayRef<IntervalTable>, ArrayRef<IntervalTable>,
                 Value, StringRef) override {
    return local;
  }
  Value allReduce(Value partial, ReductionKind, ArrayRef<int64_t>,
                  StringRef) override {
    return partial;
  }

private:
  static SmallVector<IntervalTable> whole(Value value) {
    SmallVector<IntervalTable> tables;
    for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
      tables.push_back({{}, {Interval{0, size}}});
    return tables;
  }

  OpBuilder &opBuilder;
  Operation *op;
  ShardingRule opRule;
  const RowForm &form;
  ValueRange blocks;
  int64_t count;
  llvm::function_ref<OpFoldResult()> offset;
};

} // namespace

/// `dims` where every rank has `count` positions along dim `dim`.
static ArrayAttr withPositions(ArrayAttr dims, int64_t dim, int64_t count) {
  SmallVector<Attribute> attrs;
  for (auto attr : dims.getAsRange<DimExchangeAttr>()) {
    if (attr.getDim() != dim) {
      attrs.push_back(attr);
      continue;
    }
    SmallVector<int64_t> intervals;
    for (int64_t i = 0, n = attr.getOwned().size() / 2; i < n; ++i)
      intervals.append({i * count, (i + 1) * count});
    attrs.push_back(DimExchangeAttr::get(dims.getContext(), dim, attr.getAxes(),
                                         intervals, intervals,
                                         Padding::Constant,
                                         /*ownedFormula=*/{},
                                         /*neededFormula=*/{}));
  }
  return ArrayAttr::get(dims.getContext(), attrs);
}

FailureOr<SmallVector<Value>>
memory::buildOnRows(OpBuilder &builder, Operation *op, const RowForm &form,
                    ValueRange operands, int64_t count,
                    llvm::function_ref<OpFoldResult()> offset) {
  if (form.accumulator >= 0 || isa<RowPlanOp, GatherRowsOp>(op)) {
    IRMapping mapping;
    for (auto [from, to] : llvm::zip_equal(op->getOperands(), operands))
      mapping.map(from, to);
    // An operand may be in two places, as a block and whole.
    Operation *block = builder.clone(*op, mapping);
    block->setOperands(operands);
    if (auto plan = dyn_cast<RowPlanOp>(block))
      plan.setDimsAttr(
          withPositions(plan.getDims(), form.operandDims[0], count));
    if (isa<GatherRowsOp>(block)) {
      auto type = cast<RankedTensorType>(block->getResult(0).getType());
      SmallVector<int64_t> shape(type.getShape());
      shape[form.resultDims[0]] = count;
      block->getResult(0).setType(type.clone(shape));
    }
    return SmallVector<Value>(block->getResults());
  }
  FailureOr<ShardingRule> rule =
      cast<ShardingRuleOpInterface>(op).getShardingRule();
  if (failed(rule))
    return failure();
  RowBlock block(builder, op, std::move(*rule), form, operands, count, offset);
  return cast<LocalizeOpInterface>(op).localize(block);
}
