//===- Smaller.cpp - The same program on smaller or larger dims -----------===//
#include "Shrinker.h"
#include "mlir/IR/Verifier.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

int64_t shardc::interpreter::countElements(ModuleOp module) {
  int64_t elements = 0;
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType());
          type && type.hasStaticShape())
        elements += type.getNumElements();
    if (auto function = dyn_cast<func::FuncOp>(op))
      for (Value argument : function.getArguments())
        if (auto type = dyn_cast<RankedTensorType>(argument.getType());
            type && type.hasStaticShape())
          elements += type.getNumElements();
  });
  return elements;
}

/// What the root of each class may lose: in steps that are whole for all.
llvm::MapVector<unsigned, Shrinker::Class> Shrinker::freeClasses() {
  llvm::DenseSet<unsigned> bound;
  for (unsigned id : frozen)
    bound.insert(classes.find(id).first);
  llvm::MapVector<unsigned, Class> found;
  for (Value value : values)
    for (auto [i, size] : llvm::enumerate(shapeOf(value))) {
      auto [root, ratio] = classes.find(idOf(value, i));
      if (bound.contains(root) || ShapedType::isDynamic(size))
        continue;
      Class &known = found[root];
      if (known.step <= largestStep)
        known.step = std::lcm(known.step, ratio.parts);
      known.dims.push_back(idOf(value, i));
      known.sizes.push_back(size);
    }
  return found;
}

/// Finds what each class loses. False if none does.
bool Shrinker::findLosses(int64_t most) {
  if (!classes.hold())
    return false;
  // Multiples of the number of devices.
  auto found = freeClasses();
  for (auto &[root, known] : found) {
    if (known.step > largestStep)
      continue;
    int64_t step = known.step * devices, wanted = 0, allowed = INT64_MAX;
    for (auto [id, size] : llvm::zip_equal(known.dims, known.sizes)) {
      Classes::Ratio ratio = classes.find(id).second;
      int64_t loss = step / ratio.parts * ratio.times;
      // An element a device, of dims that have them.
      int64_t least =
          std::max({floors.lookup(id), std::min(size, devices), int64_t(2)});
      allowed = std::min(allowed, std::max<int64_t>(size - least, 0) / loss);
      if (size > most)
        wanted = std::max(wanted, (size - most + loss - 1) / loss);
    }
    losses[root] = std::min(wanted, allowed) * step;
  }
  return llvm::any_of(losses, [](auto &loss) { return loss.second > 0; });
}

bool Shrinker::shrink(int64_t most) {
  if (!findLosses(most))
    return false;
  rewrite();
  return true;
}

llvm::DenseSet<unsigned> Shrinker::cutDims() {
  llvm::DenseSet<unsigned> cut;
  auto add = [&](Value value, sdy::TensorShardingAttr sharding) {
    if (sharding && sharding.getDimShardings().size() == shapeOf(value).size())
      for (auto [i, dim] : llvm::enumerate(sharding.getDimShardings()))
        if (!dim.getAxes().empty())
          cut.insert(idOf(value, i));
  };
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        add(function.getArgument(i),
            function.getArgAttrOfType<sdy::TensorShardingAttr>(i,
                                                               "sdy.sharding"));
    } else if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op)) {
      add(op->getResult(0), constraint.getSharding());
    }
  });
  return cut;
}

bool Shrinker::grow(int64_t times) {
  if (!classes.hold() || times < 1 || times > largestStep)
    return false;
  llvm::DenseSet<unsigned> cut = cutDims();
  for (auto &[root, known] : freeClasses()) {
    if (known.step > largestStep)
      continue;
    int64_t wanted = 0;
    for (auto [id, size] : llvm::zip_equal(known.dims, known.sizes)) {
      Classes::Ratio ratio = classes.find(id).second;
      int64_t gain = known.step / ratio.parts * ratio.times;
      if (cut.contains(id))
        wanted = std::max(wanted, ((times - 1) * size + gain - 1) / gain);
    }
    losses[root] = -wanted * known.step;
  }
  if (llvm::none_of(losses, [](auto &loss) { return loss.second < 0; }))
    return false;
  rewrite();
  return true;
}

/// Gives all values their new shapes, and ops what follows from them.
void Shrinker::rewrite() {
  auto shapeNow = [&](Value value) {
    Shape shape(shapeOf(value));
    for (size_t i = 0; i < shape.size(); ++i)
      shape[i] -= lossOf(value, i);
    return shape;
  };
  for (auto &change : rewrites)
    change();
  module.walk([&](stablehlo::ConstantOp constant) {
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
        dense && dense.isSplat())
      constant.setValueAttr(dense.resizeSplat(
          dense.getType().clone(shapeNow(constant.getResult()))));
  });
  std::vector<std::pair<Value, Type>> types;
  for (Value value : values)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      types.push_back({value, type.clone(shapeNow(value))});
  for (auto [value, type] : types)
    value.setType(type);
  module.walk([&](func::FuncOp function) {
    if (!function.isExternal())
      function.setType(FunctionType::get(
          module.getContext(), function.getBody().getArgumentTypes(),
          function.getBody().front().getTerminator()->getOperandTypes()));
  });
}

/// What became of `copy`; null if something was overlooked, and it is no
/// program any more.
static OwningOpRef<ModuleOp> ifValid(OwningOpRef<ModuleOp> copy) {
  ScopedDiagnosticHandler handler(copy->getContext(),
                                  [](Diagnostic &) { return success(); });
  return succeeded(verify(*copy)) ? std::move(copy) : OwningOpRef<ModuleOp>();
}

OwningOpRef<ModuleOp> shardc::interpreter::smaller(ModuleOp module,
                                                   int64_t most) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (!Shrinker(*copy).shrink(most))
    return nullptr;
  return ifValid(std::move(copy));
}

OwningOpRef<ModuleOp> shardc::interpreter::larger(ModuleOp module,
                                                  int64_t times) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (!Shrinker(*copy).grow(times))
    return nullptr;
  return ifValid(std::move(copy));
}
