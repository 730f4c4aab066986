//===- Uniformity.cpp - Along which axes a value differs by rank ----------===//

#include "shardc/Analysis/Uniformity.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Analysis/LocalSizes.h"
#include "shardc/Analysis/Varying.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

//===----------------------------------------------------------------------===//
// Sets of axes
//===----------------------------------------------------------------------===//

void Uniformity::set(Axes &to, FlatSymbolRefAttr mesh, StringAttr axis) const {
  for (auto [i, known] : llvm::enumerate(axes))
    if (known == std::pair(mesh.getAttr(), axis))
      to.set(i);
}

Uniformity::Axes Uniformity::get(Value value) const {
  auto it = known.find(value);
  return it == known.end() ? noAxes() : it->second;
}

/// Returns whether anything was new.
bool Uniformity::join(Value value, const Axes &more) {
  auto [it, isNew] = known.try_emplace(value, more);
  if (isNew)
    return more.any();
  if (!more.test(it->second))
    return false;
  it->second |= more;
  return true;
}

SmallVector<StringAttr>
Uniformity::getVaryingAxes(Value value, FlatSymbolRefAttr mesh) const {
  Axes found = get(value);
  SmallVector<StringAttr> result, whole;
  bool elsewhere = false;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis.first != mesh.getAttr()) {
      elsewhere |= found.test(i);
      continue;
    }
    whole.push_back(axis.second);
    if (found.test(i))
      result.push_back(axis.second);
  }
  return elsewhere ? whole : result;
}

bool Uniformity::isUniform(Value value, FlatSymbolRefAttr mesh,
                           ArrayRef<StringAttr> along) const {
  return llvm::none_of(getVaryingAxes(value, mesh), [&](StringAttr axis) {
    return llvm::is_contained(along, axis);
  });
}

//===----------------------------------------------------------------------===//
// What ops add, keep and remove
//===----------------------------------------------------------------------===//

Uniformity::Axes Uniformity::ofArgument(FunctionOpInterface function,
                                        unsigned number) const {
  auto sharding =
      function.getArgAttrOfType<ShardingAttr>(number, kShardingAttrName);
  if (!sharding)
    return allAxes();
  Axes result = noAxes();
  for (DimShardingAttr dim : sharding.getDims())
    for (StringAttr axis : dim.getAxes())
      set(result, sharding.getMesh(), axis);
  for (PartialAxisAttr partial : sharding.getPartial())
    set(result, sharding.getMesh(), partial.getAxis());
  return result;
}

/// Calls `visit` with each dim exchange of `dims`, and its tables.
static void forEachDim(
    ArrayAttr dims, MeshAttr mesh,
    llvm::function_ref<void(DimExchangeAttr, const DimExchange &)> visit) {
  for (auto dim : dims.getAsRange<DimExchangeAttr>())
    visit(dim, dim.getExchange(mesh));
}

/// True if `table`, of coordinates along the axes of `dim`, differs along
/// `axis`; in some binding where it has a formula.
static bool varies(ArrayRef<Interval> table, const Formula &formula,
                   DimExchangeAttr dim, MeshAttr mesh, StringAttr axis) {
  return formula ? formulaVaries(formula, mesh.getAxisIndex(axis))
                 : tableVaries(table, dim.getAxes(), mesh, axis);
}

/// The axes along which a size differs, which are not those of the elements:
/// ranks that hold other rows may hold as many. nullopt where the IR does not
/// say.
std::optional<Uniformity::Axes> Uniformity::ofSize(tensor::DimOp op) const {
  std::optional<int64_t> dim = op.getConstantIndex();
  if (!dim || llvm::any_of(axes, [&](const auto &axis) {
        return axis.first != axes.front().first;
      }))
    return std::nullopt;
  Axes result = noAxes();
  if (axes.empty())
    return result;
  auto meshName = FlatSymbolRefAttr::get(axes.front().first);
  MeshAttr mesh = lookupMesh(op, meshName);
  if (!mesh)
    return std::nullopt;
  auto differing = getSizeAxes(op.getSource(), *dim, mesh);
  if (!differing)
    return std::nullopt;
  for (StringAttr axis : *differing)
    set(result, meshName, axis);
  return result;
}

/// The axes along which results of `op`, whose regions do not decide who does
/// what, may differ.
Uniformity::Axes Uniformity::ofResults(Operation *op) const {
  auto addNeeded = [&](Axes &to, ArrayAttr dims, FlatSymbolRefAttr meshName,
                       MeshAttr mesh) {
    forEachDim(dims, mesh, [&](DimExchangeAttr dim, const DimExchange &tables) {
      for (StringAttr axis : dim.getAxes())
        if (varies(tables.needed, tables.neededFormula, dim, mesh, axis))
          set(to, meshName, axis);
    });
  };
  auto remove = [&](Axes &from, FlatSymbolRefAttr mesh,
                    ArrayRef<StringAttr> gone) {
    Axes bits = noAxes();
    for (StringAttr axis : gone)
      set(bits, mesh, axis);
    from.reset(bits);
  };

  if (auto lookup = dyn_cast<LookupOp>(op)) {
    Axes result = noAxes();
    MeshAttr mesh = lookupMesh(op, lookup.getMeshAttr());
    auto names = llvm::to_vector(lookup.getAxes().getAsRange<StringAttr>());
    for (StringAttr axis : names)
      if (mesh && (lookup.getFormulaAttr()
                       ? formulaVaries(lookup.getFormulaAttr().getFormula(),
                                       mesh.getAxisIndex(axis))
                       : tableVaries(lookup.getTable(), names, mesh, axis)))
        set(result, lookup.getMeshAttr(), axis);
    return result;
  }

  if (auto communication = dyn_cast<CommunicationOpInterface>(op)) {
    FlatSymbolRefAttr meshName = communication.getMeshName();
    MeshAttr mesh = lookupMesh(op, meshName);
    if (!mesh)
      return allAxes();
    Axes result = get(communication.getSource());
    if (auto exchange = dyn_cast<ExchangeOpInterface>(op)) {
      forEachDim(
          exchange.getDims(), mesh,
          [&](DimExchangeAttr dim, const DimExchange &tables) {
            for (StringAttr axis : dim.getAxes())
              if (varies(tables.owned, tables.ownedFormula, dim, mesh, axis))
                remove(result, meshName, axis);
          });
      addNeeded(result, exchange.getDims(), meshName, mesh);
      if (Value fill = exchange.getFillValue())
        result |= get(fill);
      return result;
    }
    if (auto reduce = dyn_cast<AllReduceOp>(op)) {
      remove(result, meshName, reduce.getGroupAxes());
      return result;
    }
    if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
      remove(result, meshName,
             llvm::to_vector(scatter.getAxes().getAsRange<StringAttr>()));
      addNeeded(result, scatter.getDims(), meshName, mesh);
      return result;
    }
    // Blocks that ranks own differ along an axis; who may read them all does
    // not.
    auto cuttingAxes = [&](ArrayAttr dims) {
      SmallVector<StringAttr> cutting;
      forEachDim(
          dims, mesh, [&](DimExchangeAttr dim, const DimExchange &tables) {
            for (StringAttr axis : dim.getAxes())
              if (varies(tables.owned, tables.ownedFormula, dim, mesh, axis))
                cutting.push_back(axis);
          });
      return cutting;
    };
    if (auto plan = dyn_cast<RowPlanOp>(op)) {
      addNeeded(result, plan.getRows(), meshName, mesh);
      return result;
    }
    if (auto gather = dyn_cast<GatherRowsOp>(op)) {
      if (RowPlanOp plan = gather.getRowPlan())
        remove(result, meshName, cuttingAxes(plan.getRows()));
      result |= get(gather.getPlan());
      return result;
    }
    if (auto scatter = dyn_cast<ScatterRowsOp>(op)) {
      RowPlanOp plan = scatter.getRowPlan();
      if (!plan)
        return allAxes();
      result |= get(scatter.getPlan());
      Axes parts = noAxes();
      addNeeded(parts, plan.getRows(), meshName, mesh);
      result.reset(parts);
      remove(result, meshName, cuttingAxes(plan.getDims()));
      for (StringAttr axis : cuttingAxes(plan.getRows()))
        set(result, meshName, axis);
      result |= get(scatter.getInto());
      return result;
    }
    return allAxes();
  }

  if (!isMemoryEffectFree(op))
    return allAxes();
  Axes result = noAxes();
  for (Value operand : op->getOperands())
    result |= get(operand);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        for (Value operand : block.getTerminator()->getOperands())
          result |= get(operand);
  return result;
}

//===----------------------------------------------------------------------===//
// The fix point
//===----------------------------------------------------------------------===//

/// Returns whether anything was new.
bool Uniformity::visit(Operation *op) {
  bool changed = false;
  if (std::optional<ControlFlow> flow = getControlFlow(op)) {
    Axes decided = noAxes();
    for (Value condition : flow->conditions)
      decided |= get(condition);
    for (auto [from, to] : flow->edges) {
      Axes more = get(from);
      more |= decided;
      changed |= join(to, more);
    }
    return changed;
  }
  if (auto size = dyn_cast<tensor::DimOp>(op)) {
    // What says how large a dim is does not change from round to round.
    auto [known, isNew] = sizes.try_emplace(op);
    if (isNew)
      known->second = ofSize(size);
    if (known->second)
      return join(size, *known->second);
  }
  Axes result = ofResults(op);
  for (Value value : op->getResults())
    changed |= join(value, result);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Value argument : block.getArguments())
        changed |= join(argument, result);
  return changed;
}

Uniformity::Uniformity(FunctionOpInterface function) {
  Operation *root = function;
  while (Operation *parent = root->getParentOp())
    root = parent;
  root->walk([&](MeshOp mesh) {
    for (auto [name, size] : llvm::zip(mesh.getMesh().getAxisNames(),
                                       mesh.getMesh().getAxisSizes()))
      if (size > 1)
        axes.emplace_back(mesh.getSymNameAttr(), name);
  });

  Region &body = function.getFunctionBody();
  for (Block &block : body)
    for (BlockArgument argument : block.getArguments())
      join(argument, block.isEntryBlock()
                         ? ofArgument(function, argument.getArgNumber())
                         : allAxes());
  bool changed = true;
  while (changed) {
    changed = false;
    body.walk<WalkOrder::PreOrder>(
        [&](Operation *op) { changed |= visit(op); });
  }
}

//===----------------------------------------------------------------------===//
// Causes
//===----------------------------------------------------------------------===//

/// The values that `value` takes its axes from.
SmallVector<Value> Uniformity::getSources(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    op = value.getParentBlock()->getParentOp();
  SmallVector<Value> sources;
  if (std::optional<ControlFlow> flow = getControlFlow(op)) {
    for (auto [from, to] : flow->edges)
      if (to == value)
        sources.push_back(from);
    llvm::append_range(sources, flow->conditions);
    return sources;
  }
  if (isa<FunctionOpInterface>(op))
    return {};
  llvm::append_range(sources, op->getOperands());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        llvm::append_range(sources, block.getTerminator()->getOperands());
  return sources;
}

/// True if results of `op` differ along `axis` by what `op` does, whatever its
/// operands are.
static bool makesDifference(Operation *op, FlatSymbolRefAttr meshName,
                            StringAttr axis) {
  if (isa<LookupOp>(op))
    return true;
  if (auto communication = dyn_cast<CommunicationOpInterface>(op)) {
    MeshAttr mesh = lookupMesh(op, communication.getMeshName());
    ArrayAttr dims = communication.getDims();
    if (!mesh || communication.getMeshName() != meshName)
      return true;
    bool found = false;
    if (dims)
      forEachDim(
          dims, mesh, [&](DimExchangeAttr dim, const DimExchange &tables) {
            found |=
                varies(tables.needed, tables.neededFormula, dim, mesh, axis);
          });
    return found;
  }
  return !getControlFlow(op) && !isMemoryEffectFree(op);
}

Value Uniformity::getCause(Value value, FlatSymbolRefAttr mesh,
                           StringAttr axis) const {
  SmallVector<Value> open = {value};
  llvm::DenseSet<Value> seen = {value};
  while (!open.empty()) {
    Value current = open.pop_back_val();
    Operation *op = current.getDefiningOp();
    if (op && makesDifference(op, mesh, axis))
      return current;
    bool carried = false;
    for (Value source : getSources(current)) {
      if (!llvm::is_contained(getVaryingAxes(source, mesh), axis))
        continue;
      carried = true;
      if (seen.insert(source).second)
        open.push_back(source);
    }
    if (!carried)
      return current;
  }
  return value;
}
