//===- Simulation.cpp - One op, cut in every way, against the whole -------===//
#include "Simulation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::test;

//===----------------------------------------------------------------------===//
// The rule alone
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

static std::string checkTensor(const ShardingRule &rule,
                               const TensorRule &tensor,
                               ArrayRef<int64_t> shape, bool isResult) {
  // A scalar beside tensors, or a tensor that every rank holds whole.
  if (tensor.dims.empty() && shape.empty())
    return "";
  if (tensor.dims.size() != shape.size())
    return llvm::formatv("{0} dims for a tensor of {1}", tensor.dims.size(),
                         shape.size());
  std::vector<Interval> whole;
  for (const Factor &factor : rule.factors)
    whole.push_back({0, factor.size});
  for (auto [d, map] : llvm::enumerate(tensor.dims)) {
    for (const IndexTerm &term : map.terms)
      if (term.factor < 0 ||
          term.factor >= static_cast<int64_t>(rule.factors.size()))
        return llvm::formatv("dim {0} names factor {1}", d, term.factor);
    if (isResult) {
      int64_t inner = 1;
      for (const IndexTerm &term : llvm::reverse(map.terms)) {
        if (term.coefficient != inner)
          return llvm::formatv("dim {0} of a result is no exact merge", d);
        inner *= rule.factors[term.factor].size;
      }
      if (inner != shape[d] || map.offset != 0 || map.baseDilation != 1)
        return llvm::formatv(
            "dim {0} of a result has {1} elements, its factors {2}", d,
            shape[d], inner);
    }
    Interval elements =
        elementsAt(neededPositions(map, whole), map.baseDilation);
    if (tensor.fill == Fill::Never && !Interval{0, shape[d]}.contains(elements))
      return llvm::formatv("dim {0} of {1} elements is read at [{2}, {3})", d,
                           shape[d], elements.begin, elements.end);
  }
  return "";
}

std::string shardc::test::checkRule(Operation *op, const ShardingRule &rule) {
  if (rule.operands.size() != op->getNumOperands() ||
      rule.results.size() != op->getNumResults())
    return "wrong number of operands or results";
  for (auto [i, tensor] : llvm::enumerate(rule.operands)) {
    if (std::string problem =
            checkTensor(rule, tensor, shapeOf(op->getOperand(i)), false);
        !problem.empty())
      return llvm::formatv("operand {0}: {1}", i, problem);
    if (tensor.fill == Fill::Operand &&
        (tensor.fillOperand < 0 ||
         tensor.fillOperand >= static_cast<int64_t>(rule.operands.size()) ||
         !shapeOf(op->getOperand(tensor.fillOperand)).empty()))
      return llvm::formatv(
          "operand {0} is filled with operand {1}, which is no scalar", i,
          tensor.fillOperand);
  }
  for (auto [i, tensor] : llvm::enumerate(rule.results))
    if (std::string problem =
            checkTensor(rule, tensor, shapeOf(op->getResult(i)), true);
        !problem.empty())
      return llvm::formatv("result {0}: {1}", i, problem);
  return "";
}

//===----------------------------------------------------------------------===//
// Localization by tables over all ranks
//===----------------------------------------------------------------------===//

namespace {
class Simulation final : public Localization {
public:
  Simulation(Operation *op, ShardingRule rule, ArrayRef<Boundaries> cuts,
             SharedAxis shared);

  std::string check(const Environment &environment);

  OpBuilder &builder() override { return opBuilder; }
  const ShardingRule &rule() override { return opRule; }
  ValueRange operands() override { return locals; }
  RankedTensorType resultType(int64_t result) override {
    return localType(op->getResult(result), opRule.results[result]);
  }
  bool isSharded(int64_t factor) override {
    return cuts[factor].numShards() > 1;
  }
  bool isOperandDimLocal(int64_t operand, int64_t dim) override {
    return isCut(opRule.operands[operand].dims[dim]);
  }
  bool isResultDimLocal(int64_t result, int64_t dim) override {
    return isCut(opRule.results[result].dims[dim]);
  }
  OpFoldResult factorSize(int64_t factor) override {
    return lookup(
        [&](int64_t rank) { return iterations(rank)[factor].size(); });
  }
  OpFoldResult factorOffset(int64_t factor) override {
    return lookup([&](int64_t rank) { return iterations(rank)[factor].begin; });
  }
  OpFoldResult resultDimSize(int64_t result, int64_t dim) override {
    return lookup([&](int64_t rank) {
      return block(opRule.results[result].dims[dim],
                   shapeOf(op->getResult(result))[dim], rank)
          .size();
    });
  }
  OpFoldResult resultDimOffset(int64_t result, int64_t dim) override {
    return lookup([&](int64_t rank) {
      return block(opRule.results[result].dims[dim],
                   shapeOf(op->getResult(result))[dim], rank)
          .begin;
    });
  }
  bool isPartial() override {
    return llvm::any_of(llvm::enumerate(opRule.factors), [&](const auto &it) {
      return it.value().kind == FactorKind::Reduction && isSharded(it.index());
    });
  }
  Value completeReduction(Value partial, int64_t result) override;
  IntervalTable factorTable(int64_t factor) override;
  SmallVector<IntervalTable> operandTables(int64_t operand) override {
    return tablesOf(op->getOperand(operand), opRule.operands[operand]);
  }
  SmallVector<IntervalTable> resultTables(int64_t result) override {
    return tablesOf(op->getResult(result), opRule.results[result]);
  }
  ArrayRef<int64_t> meshSizes() override { return mesh.sizes; }
  OpFoldResult lookup(ArrayRef<int64_t> table,
                      ArrayRef<int64_t> axes) override {
    return lookup([&](int64_t rank) {
      return table[coordinateAlong(mesh.sizes, {axes.data(), axes.size()},
                                   rank)];
    });
  }
  Value exchange(Value local, ArrayRef<IntervalTable> owned,
                 ArrayRef<IntervalTable> needed, Value fill,
                 StringRef why) override;
  Value allReduce(Value partial, spmd::ReductionKind kind,
                  ArrayRef<int64_t> axes, StringRef why) override;
  FlatSymbolRefAttr meshName() override {
    return FlatSymbolRefAttr::get(op->getContext(), "mesh");
  }
  spmd::DimExchangeAttr exchangeAttr(int64_t dim, const IntervalTable &owned,
                                     const IntervalTable &needed) override;

private:
  /// True if the local form moves the dim's blocks: it gets those owned.
  bool isDistributed(const IndexMap &map) {
    return llvm::any_of(map.terms, [&](const IndexTerm &term) {
      return isSharded(term.factor) &&
             opRule.factors[term.factor].kind == FactorKind::Distributed;
    });
  }
  SmallVector<IntervalTable> tablesOf(Value value, const TensorRule &tensor);
  bool isCut(const IndexMap &map) {
    return llvm::any_of(map.terms, [&](const IndexTerm &term) {
      return isSharded(term.factor);
    });
  }
  std::vector<Interval> iterations(int64_t rank) const;
  /// Positions of a dim that `rank` holds: those it needs where cut, else all.
  Interval block(const IndexMap &map, int64_t size, int64_t rank) {
    if (isDistributed(map) && !map.isIdentity())
      return owned(map, size, rank);
    return isCut(map) ? neededPositions(map, iterations(rank))
                      : Interval{0, size};
  }
  /// A block of a dim that is cut along a factor that does not index it alone.
  Interval owned(const IndexMap &map, int64_t size, int64_t rank) {
    int64_t factor = map.terms[0].factor;
    auto sizes = opRule.factorSizes();
    return dimBoundaries(map, factor, cuts[factor], size,
                         {sizes.data(), sizes.size()})
        .shard(mesh.coordinate(rank, axisOf(factor)));
  }
  OpFoldResult lookup(llvm::function_ref<int64_t(int64_t)> entry);
  /// Positions of each dim that `rank` holds of an operand or result.
  std::vector<Interval> boxOf(Value value, const TensorRule &tensor,
                              int64_t rank);
  RankedTensorType localType(Value value, const TensorRule &tensor);
  /// Fills the local operand from the global one.
  Tensor localOperand(int64_t operand, int64_t rank,
                      const Environment &environment, std::string &problem);

  /// The name of the axis that cuts `factor`, if it is cut.
  std::string axisOf(int64_t factor) const {
    return llvm::formatv(
        "f{0}", shared && factor == shared->second ? shared->first : factor);
  }
  /// Its place in the mesh; -1 if the factor is whole.
  int64_t axisNumber(int64_t factor) {
    auto found = llvm::find(mesh.names, axisOf(factor));
    return !isSharded(factor) || found == mesh.names.end()
               ? -1
               : found - mesh.names.begin();
  }

  Operation *op;
  ShardingRule opRule;
  std::vector<Boundaries> cuts;
  SharedAxis shared;
  TestMesh mesh;
  OwningOpRef<ModuleOp> module;
  OpBuilder opBuilder;
  func::FuncOp function;
  SmallVector<Value> locals;
};
} // namespace

Simulation::Simulation(Operation *op, ShardingRule rule,
                       ArrayRef<Boundaries> cuts, SharedAxis shared)
    : op(op), opRule(std::move(rule)), cuts(cuts), shared(shared),
      module(ModuleOp::create(op->getLoc())), opBuilder(op->getContext()) {
  SmallVector<StringAttr> names;
  for (auto [factor, cut] : llvm::enumerate(cuts)) {
    if (cut.numShards() == 1 || llvm::is_contained(mesh.names, axisOf(factor)))
      continue;
    mesh.names.push_back(axisOf(factor));
    mesh.sizes.push_back(cut.numShards());
    names.push_back(opBuilder.getStringAttr(axisOf(factor)));
  }
  opBuilder.setInsertionPointToEnd(module->getBody());
  spmd::MeshOp::create(
      opBuilder, op->getLoc(), "mesh",
      spmd::MeshAttr::get(op->getContext(), names, mesh.sizes));
  SmallVector<Type> types;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    types.push_back(localType(operand, opRule.operands[i]));
  function = func::FuncOp::create(opBuilder, op->getLoc(), "local",
                                  opBuilder.getFunctionType(types, {}));
  Block *entry = function.addEntryBlock();
  locals.append(entry->args_begin(), entry->args_end());
  opBuilder.setInsertionPointToEnd(entry);
}

std::vector<Interval> Simulation::iterations(int64_t rank) const {
  std::vector<Interval> result;
  for (auto [factor, cut] : llvm::enumerate(cuts))
    result.push_back(cut.shard(
        cut.numShards() == 1 ? 0 : mesh.coordinate(rank, axisOf(factor))));
  return result;
}

OpFoldResult Simulation::lookup(llvm::function_ref<int64_t(int64_t)> entry) {
  std::vector<int64_t> table;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    table.push_back(entry(rank));
  if (llvm::all_equal(table))
    return opBuilder.getIndexAttr(table[0]);
  SmallVector<StringRef> names(mesh.names.begin(), mesh.names.end());
  return spmd::LookupOp::create(
             opBuilder, op->getLoc(), opBuilder.getIndexType(),
             opBuilder.getDenseI64ArrayAttr(table),
             opBuilder.getStrArrayAttr(names),
             FlatSymbolRefAttr::get(op->getContext(), "mesh"))
      .getResult();
}

Value Simulation::completeReduction(Value partial, int64_t result) {
  SmallVector<StringRef> names;
  std::vector<std::string> storage;
  std::optional<spmd::ReductionKind> kind;
  for (auto [number, factor] : llvm::enumerate(opRule.factors)) {
    if (factor.kind != FactorKind::Reduction || !isSharded(number))
      continue;
    kind = factor.reduction;
    storage.push_back(axisOf(number));
  }
  if (!kind)
    return partial;
  names.append(storage.begin(), storage.end());
  return spmd::AllReduceOp::create(
      opBuilder, op->getLoc(), partial.getType(), partial, *kind,
      opBuilder.getStrArrayAttr(names), "mesh", StringAttr());
}

IntervalTable Simulation::factorTable(int64_t factor) {
  IntervalTable table;
  if (isSharded(factor))
    table.axes.push_back(axisNumber(factor));
  for (int64_t i = 0; i < cuts[factor].numShards(); ++i)
    table.intervals.push_back(cuts[factor].shard(i));
  return table;
}

SmallVector<IntervalTable> Simulation::tablesOf(Value value,
                                                const TensorRule &tensor) {
  SmallVector<IntervalTable> tables;
  for (auto [map, size] : llvm::zip(tensor.dims, shapeOf(value))) {
    IntervalTable &table = tables.emplace_back();
    for (const IndexTerm &term : map.terms)
      if (int64_t axis = axisNumber(term.factor); axis >= 0)
        table.axes.push_back(axis);
    int64_t count = 1;
    for (int64_t axis : table.axes)
      count *= mesh.sizes[axis];
    table.intervals.resize(count);
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
      table.intervals[coordinateAlong(
          mesh.sizes, {table.axes.data(), table.axes.size()}, rank)] =
          block(map, size, rank);
  }
  return tables;
}

spmd::DimExchangeAttr Simulation::exchangeAttr(int64_t dim,
                                               const IntervalTable &owned,
                                               const IntervalTable &needed) {
  DimExchange exchange{dim, {owned.axes.begin(), owned.axes.end()}, {}, {}};
  for (int64_t axis : needed.axes)
    if (!llvm::is_contained(exchange.axes, axis))
      exchange.axes.push_back(axis);
  int64_t count = 1;
  for (int64_t axis : exchange.axes)
    count *= mesh.sizes[axis];
  exchange.owned.resize(count);
  exchange.needed.resize(count);
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    auto at = [&](const IntervalTable &table) {
      return table.intervals[coordinateAlong(
          mesh.sizes, {table.axes.data(), table.axes.size()}, rank)];
    };
    int64_t place = coordinateAlong(mesh.sizes, exchange.axes, rank);
    exchange.owned[place] = at(owned);
    exchange.needed[place] = at(needed);
  }
  auto meshAttr = cast<spmd::MeshOp>(module->getBody()->front()).getMesh();
  return spmd::DimExchangeAttr::get(op->getContext(), meshAttr, exchange);
}

Value Simulation::exchange(Value local, ArrayRef<IntervalTable> owned,
                           ArrayRef<IntervalTable> needed, Value fill,
                           StringRef why) {
  auto type = cast<RankedTensorType>(local.getType());
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < mesh.sizes.size(); ++axis)
    axes.push_back(axis);
  auto meshAttr = cast<spmd::MeshOp>(module->getBody()->front()).getMesh();
  SmallVector<Attribute> dims;
  SmallVector<int64_t> shape;
  for (auto [d, from, to] : llvm::enumerate(owned, needed)) {
    DimExchange dim{static_cast<int64_t>(d), axes, {}, {}};
    bool agrees = true;
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
      auto at = [&](const IntervalTable &table) {
        return table.intervals[coordinateAlong(
            mesh.sizes, {table.axes.data(), table.axes.size()}, rank)];
      };
      dim.owned.push_back(at(from));
      dim.needed.push_back(at(to));
      agrees &= dim.needed.back().size() == dim.needed.front().size();
    }
    shape.push_back(agrees ? dim.needed.front().size() : ShapedType::kDynamic);
    dims.push_back(spmd::DimExchangeAttr::get(op->getContext(), meshAttr, dim));
  }
  return spmd::HaloExchangeOp::create(
      opBuilder, op->getLoc(), type.clone(shape), local, fill,
      opBuilder.getArrayAttr(dims),
      FlatSymbolRefAttr::get(op->getContext(), "mesh"),
      opBuilder.getStringAttr(why));
}

Value Simulation::allReduce(Value partial, spmd::ReductionKind kind,
                            ArrayRef<int64_t> axes, StringRef why) {
  SmallVector<StringRef> names;
  for (int64_t axis : axes)
    names.push_back(mesh.names[axis]);
  return spmd::AllReduceOp::create(
      opBuilder, op->getLoc(), partial.getType(), partial, kind,
      opBuilder.getStrArrayAttr(names), "mesh", opBuilder.getStringAttr(why));
}

std::vector<Interval> Simulation::boxOf(Value value, const TensorRule &tensor,
                                        int64_t rank) {
  std::vector<Interval> box;
  for (auto [d, size] : llvm::enumerate(shapeOf(value))) {
    Interval interval = block(tensor.dims[d], size, rank);
    if (tensor.fill == Fill::Clip)
      interval = intersect(interval, {0, size});
    box.push_back(interval);
  }
  return box;
}

RankedTensorType Simulation::localType(Value value, const TensorRule &tensor) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    for (auto [d, interval] : llvm::enumerate(boxOf(value, tensor, rank))) {
      if (rank == 0)
        shape.push_back(interval.size());
      else if (shape[d] != interval.size())
        shape[d] = ShapedType::kDynamic;
    }
  }
  return type.clone(shape);
}

Tensor Simulation::localOperand(int64_t operand, int64_t rank,
                                const Environment &environment,
                                std::string &problem) {
  const TensorRule &tensor = opRule.operands[operand];
  const Tensor &global = environment.at(op->getOperand(operand));
  if (tensor.dims.empty())
    return global;
  std::vector<Interval> box = boxOf(op->getOperand(operand), tensor, rank);
  Index shape;
  for (Interval interval : box)
    shape.push_back(interval.size());
  int64_t fill = 0;
  if (tensor.fill == Fill::Operand)
    fill = environment.at(op->getOperand(tensor.fillOperand)).data[0];
  Tensor local(shape, fill);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Index from;
    bool between = false;
    for (size_t d = 0; d < index.size(); ++d) {
      int64_t position = box[d].begin + index[d];
      int64_t dilation = isCut(tensor.dims[d]) && !isDistributed(tensor.dims[d])
                             ? tensor.dims[d].baseDilation
                             : 1;
      between |= position % dilation != 0;
      from.push_back(position >= 0 ? position / dilation : -1);
    }
    if (!between && global.contains(from))
      local.at(index) = global.at(from);
    else if (tensor.fill == Fill::Never || tensor.fill == Fill::Clip)
      problem = llvm::formatv("rank {0} reads operand {1} outside its domain, "
                              "which the rule excludes",
                              rank, operand);
  });
  return local;
}

std::string Simulation::check(const Environment &environment) {
  std::string problem;
  ScopedDiagnosticHandler handler(op->getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    problem += diagnostic.str();
                                    return success();
                                  });
  FailureOr<SmallVector<Value>> results =
      cast<LocalizeOpInterface>(op).localize(*this);
  if (failed(results))
    return "refused: " + problem;
  func::ReturnOp::create(opBuilder, op->getLoc(), *results);
  function.setType(opBuilder.getFunctionType(function.getArgumentTypes(),
                                             ValueRange(*results).getTypes()));
  auto withText = [&](const std::string &what) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << what << " in\n" << *module;
    return text;
  };
  if (failed(verify(*module)))
    return withText(problem);
  for (auto [i, value] : llvm::enumerate(*results))
    if (value.getType() != resultType(i))
      return withText(
          llvm::formatv("result {0} has another type than was asked for", i));

  std::vector<Environment> ranks(mesh.numRanks());
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    for (auto [i, argument] : llvm::enumerate(function.getArguments()))
      ranks[rank][argument] = localOperand(i, rank, environment, problem);
  if (problem.empty())
    problem = run(function.getBody().front(), ranks, mesh);
  if (!problem.empty())
    return withText(problem);

  for (auto [i, value] : llvm::enumerate(*results)) {
    const Tensor &global = environment.at(op->getResult(i));
    Tensor covered(global.shape);
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
      const Tensor &local = ranks[rank].at(value);
      std::vector<Interval> box =
          boxOf(op->getResult(i), opRule.results[i], rank);
      if (local.shape.size() != box.size())
        return withText(llvm::formatv("result {0} on rank {1} has {2} dims", i,
                                      rank, local.shape.size()));
      for (size_t d = 0; d < box.size(); ++d)
        if (local.shape[d] != box[d].size())
          return withText(llvm::formatv("result {0} on rank {1} has {2} "
                                        "elements along dim {3}, expected {4}",
                                        i, rank, local.shape[d], d,
                                        box[d].size()));
      forEachIndex(local.shape, [&](ArrayRef<int64_t> index) {
        Index at;
        for (size_t d = 0; d < index.size(); ++d)
          at.push_back(box[d].begin + index[d]);
        if (!global.contains(at) || local.at(index) != global.at(at))
          problem =
              llvm::formatv("result {0} on rank {1} differs at {2:$[, ]}", i,
                            rank, llvm::make_range(at.begin(), at.end()));
        else
          ++covered.at(at);
      });
      if (!problem.empty())
        return withText(problem);
    }
    // Ranks that differ only in factors which the result has not hold copies.
    int64_t copies = mesh.numRanks();
    SmallVector<bool> counted(cuts.size(), false);
    for (const IndexMap &map : opRule.results[i].dims)
      for (const IndexTerm &term : map.terms)
        if (!std::exchange(counted[term.factor], true))
          copies /= cuts[term.factor].numShards();
    for (int64_t count : covered.data)
      if (count != copies)
        return withText(llvm::formatv(
            "an element of result {0} is held {1} times, expected {2}", i,
            count, copies));
  }
  return "";
}

std::string shardc::test::checkCut(Operation *op, ArrayRef<Boundaries> cuts,
                                   const Environment &environment,
                                   SharedAxis shared) {
  FailureOr<ShardingRule> rule =
      cast<ShardingRuleOpInterface>(op).getShardingRule();
  if (failed(rule))
    return "no rule";
  return Simulation(op, *rule, cuts, shared).check(environment);
}
