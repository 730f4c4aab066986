//===- Smaller.cpp - The same program on smaller dims ---------------------===//
//
// Dims that ops keep equal are one class (union-find over dims of values). A
// class is free unless an op's text binds its size: windows, offsets, constants
// whose elements differ, reshapes that split or join, dims that a region's
// author cut. A free class of n elements becomes one of m < n, with m = n
// modulo the number of devices, so that what was cut unevenly still is.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "mlir/IR/Verifier.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

static ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

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

namespace {

class Shrinker {
public:
  explicit Shrinker(ModuleOp module);
  /// Makes free dims of more than `most` elements smaller. False if there are
  /// none.
  bool shrink(int64_t most);

private:
  unsigned idOf(Value value, size_t dim) { return first.lookup(value) + dim; }
  void join(Value a, size_t i, Value b, size_t j) {
    if (shapeOf(a)[i] == shapeOf(b)[j])
      classes.join(idOf(a, i), idOf(b, j));
    else
      freeze(a, i), freeze(b, j);
  }
  /// All dims of both.
  void join(Value a, Value b) {
    for (size_t i = 0; i < shapeOf(a).size(); ++i)
      join(a, i, b, i);
  }
  void join(ValueRange a, ValueRange b) {
    for (auto [x, y] : llvm::zip_equal(a, b))
      join(x, y);
  }
  void freeze(Value value, size_t dim) { frozen.push_back(idOf(value, dim)); }
  void freeze(Value value) {
    for (size_t i = 0; i < shapeOf(value).size(); ++i)
      freeze(value, i);
  }
  void visit(Operation *op);
  void visitReshape(Value from, Value to);
  void visitGather(stablehlo::GatherOp op);
  void visitScatter(stablehlo::ScatterOp op);
  void bindSharding(Value value, spmd::ShardingAttr sharding);

  ModuleOp module;
  llvm::DenseMap<Value, unsigned> first;
  std::vector<Value> values;
  llvm::IntEqClasses classes;
  std::vector<unsigned> frozen;
  int64_t devices = 1;
};

} // namespace

/// Each element of the result is made of those at its place: whatever dims
/// have.
static bool isElementwise(Operation *op) {
  static const llvm::StringSet<> others = {
      "stablehlo.compare",
      "stablehlo.select",
      "stablehlo.clamp",
      "stablehlo.complex",
      "stablehlo.reduce_precision",
      "sdy.sharding_constraint",
      "sdy.reshard",
      "sdy.propagation_barrier",
      spmd::ConstrainOp::getOperationName(),
      "stablehlo.map"};
  StringRef name = op->getName().getStringRef();
  return everything().unary.contains(name) ||
         everything().binary.contains(name) || others.contains(name);
}

Shrinker::Shrinker(ModuleOp module) : module(module) {
  unsigned count = 0;
  auto add = [&](Value value) {
    first[value] = count;
    count += shapeOf(value).size();
    values.push_back(value);
  };
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::for_each(op->getResults(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
    if (auto mesh = dyn_cast<sdy::MeshOp>(op)) {
      int64_t size = 1;
      for (sdy::MeshAxisAttr axis : mesh.getMesh().getAxes())
        size *= axis.getSize();
      devices = std::max(devices, size);
    }
    if (auto mesh = dyn_cast<spmd::MeshOp>(op))
      devices = std::max(
          devices, interpreter::countElements(mesh.getMesh().getAxisSizes()));
  });
  classes.grow(count);
  module.walk([&](Operation *op) { visit(op); });
  classes.compress();
}

/// A dim stands for itself where the dims before it hold as many elements on
/// both sides.
void Shrinker::visitReshape(Value from, Value to) {
  ArrayRef<int64_t> a = shapeOf(from), b = shapeOf(to);
  size_t i = 0, j = 0;
  while (true) {
    // Dims of one stay so.
    while (i < a.size() && a[i] == 1)
      ++i;
    while (j < b.size() && b[j] == 1)
      ++j;
    if (i == a.size() || j == b.size())
      break;
    size_t firstA = i, firstB = j;
    int64_t left = a[i++], right = b[j++];
    while (left != right && (left < right ? i < a.size() : j < b.size()))
      left < right ? left *= a[i++] : right *= b[j++];
    if (left == right && i == firstA + 1 && j == firstB + 1 && left > 0) {
      join(from, firstA, to, firstB);
      continue;
    }
    while (firstA < i)
      freeze(from, firstA++);
    while (firstB < j)
      freeze(to, firstB++);
  }
  while (i < a.size())
    freeze(from, i++);
  while (j < b.size())
    freeze(to, j++);
}

void Shrinker::bindSharding(Value value, spmd::ShardingAttr sharding) {
  for (auto [i, dim] : llvm::enumerate(sharding.getDims()))
    if (dim.getSizes())
      freeze(value, i);
}

/// Dims that are addressed are free: indices are clamped, or left out, where
/// they now end.
void Shrinker::visitGather(stablehlo::GatherOp op) {
  auto dims = op.getDimensionNumbers();
  Value operand = op->getOperand(0), indices = op->getOperand(1),
        result = op.getResult();
  size_t nextOffset = 0;
  for (int64_t i = 0, e = shapeOf(operand).size(); i < e; ++i) {
    if (llvm::is_contained(dims.getOperandBatchingDims(), i))
      freeze(operand, i);
    else if (!llvm::is_contained(dims.getCollapsedSliceDims(), i))
      join(operand, i, result,
           dims.getOffsetDims()[nextOffset++]); // parts are of other sizes:
                                                // bound
  }
  SmallVector<size_t> batch;
  for (int64_t i = 0, e = shapeOf(result).size(); i < e; ++i)
    if (!llvm::is_contained(dims.getOffsetDims(), i))
      batch.push_back(i);
  size_t next = 0;
  for (int64_t i = 0, e = shapeOf(indices).size(); i < e; ++i) {
    if (i == dims.getIndexVectorDim()) {
      freeze(indices, i);
      continue;
    }
    join(indices, i, result, batch[next]);
    if (llvm::is_contained(dims.getStartIndicesBatchingDims(), i))
      freeze(indices, i);
    ++next;
  }
}

void Shrinker::visitScatter(stablehlo::ScatterOp op) {
  auto dims = op.getScatterDimensionNumbers();
  size_t count = op.getInputs().size();
  Value indices = op->getOperand(count);
  for (size_t n = 0; n < count; ++n) {
    Value input = op->getOperand(n), updates = op->getOperand(count + 1 + n);
    join(input, op->getResult(n));
    join(input, op->getOperand(0));
    size_t nextWindow = 0, next = 0;
    for (int64_t i = 0, e = shapeOf(input).size(); i < e; ++i) {
      if (llvm::is_contained(dims.getInputBatchingDims(), i))
        freeze(input, i);
      else if (!llvm::is_contained(dims.getInsertedWindowDims(), i))
        join(input, i, updates, dims.getUpdateWindowDims()[nextWindow++]);
    }
    SmallVector<size_t> batch;
    for (int64_t i = 0, e = shapeOf(updates).size(); i < e; ++i)
      if (!llvm::is_contained(dims.getUpdateWindowDims(), i))
        batch.push_back(i);
    for (int64_t i = 0, e = shapeOf(indices).size(); i < e; ++i) {
      if (i == dims.getIndexVectorDim()) {
        freeze(indices, i);
        continue;
      }
      join(indices, i, updates, batch[next]);
      if (llvm::is_contained(dims.getScatterIndicesBatchingDims(), i))
        freeze(indices, i);
      ++next;
    }
  }
}

void Shrinker::visit(Operation *op) {
  if (isElementwise(op)) {
    Value result = op->getResult(0);
    for (Value operand : op->getOperands())
      if (!shapeOf(operand).empty())
        join(operand, result);
    if (auto constrain = dyn_cast<spmd::ConstrainOp>(op))
      bindSharding(result, constrain.getSharding());
    return;
  }
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    return dense && dense.isSplat() ? void() : freeze(op->getResult(0));
  }
  if (isa<stablehlo::IotaOp, ModuleOp, sdy::MeshOp, spmd::MeshOp,
          stablehlo::OptimizationBarrierOp>(op)) {
    if (op->getNumOperands() != 0)
      join(op->getOperands(), op->getResults());
    return;
  }
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto sharding = spmd::contract::Sharding::ofArgument(function, i))
        bindSharding(function.getArgument(i), sharding);
    return;
  }
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    // What a function returns, and what a region yields.
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<stablehlo::WhileOp>(parent);
        loop && op->getParentRegion() == &loop.getBody())
      join(op->getOperands(), loop->getResults());
    else if (isa<stablehlo::IfOp, stablehlo::CaseOp>(parent))
      join(op->getOperands(), parent->getResults());
    else if (auto function = dyn_cast<func::FuncOp>(parent))
      for (auto [i, value] : llvm::enumerate(op->getOperands()))
        if (spmd::ShardingAttr sharding =
                spmd::contract::Sharding::ofResult(function, i))
          bindSharding(value, sharding);
    return;
  }
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
    join(op->getOperands(), op->getResults());
    join(loop.getCond().getArguments(), op->getResults());
    join(loop.getBody().getArguments(), op->getResults());
    return;
  }
  if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
    return;
  if (isa<func::CallOp, stablehlo::CompositeOp>(op)) {
    auto call = dyn_cast<func::CallOp>(op);
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, call ? call.getCalleeAttr()
                 : cast<stablehlo::CompositeOp>(op).getDecompositionAttr());
    if (callee && !callee.isExternal()) {
      join(op->getOperands(), callee.getArguments());
      join(op->getResults(),
           callee.getBody().front().getTerminator()->getOperands());
      return;
    }
  }
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op);
      call && call.getCallTargetName() == "Sharding")
    return join(op->getOperands(), op->getResults());
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    Value from = broadcast.getOperand(), to = broadcast.getResult();
    for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (shapeOf(from)[i] == shapeOf(to)[dim])
        join(from, i, to, dim);
    return;
  }
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
      join(transpose.getOperand(), dim, transpose.getResult(), i);
    return;
  }
  if (isa<stablehlo::ReshapeOp>(op))
    return visitReshape(op->getOperand(0), op->getResult(0));
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op)) {
    size_t count = op->getNumResults();
    for (size_t n = 0; n < count; ++n) {
      join(op->getOperand(0), op->getOperand(n));
      size_t next = 0;
      for (size_t i = 0; i < shapeOf(op->getOperand(n)).size(); ++i)
        if (!llvm::is_contained(reduce.getDimensions(),
                                static_cast<int64_t>(i)))
          join(op->getOperand(n), i, op->getResult(n), next++);
    }
    return;
  }
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    auto dims = dot.getDotDimensionNumbers();
    Value lhs = dot.getLhs(), rhs = dot.getRhs(), result = dot.getResult();
    size_t next = 0;
    for (auto [i, j] : llvm::zip_equal(dims.getLhsBatchingDimensions(),
                                       dims.getRhsBatchingDimensions())) {
      join(lhs, i, rhs, j);
      join(lhs, i, result, next++);
    }
    for (auto [i, j] : llvm::zip_equal(dims.getLhsContractingDimensions(),
                                       dims.getRhsContractingDimensions()))
      join(lhs, i, rhs, j);
    auto joinFree = [&](Value operand, ArrayRef<int64_t> batch,
                        ArrayRef<int64_t> contracting) {
      for (int64_t i = 0, e = shapeOf(operand).size(); i < e; ++i)
        if (!llvm::is_contained(batch, i) &&
            !llvm::is_contained(contracting, i))
          join(operand, i, result, next++);
    };
    joinFree(lhs, dims.getLhsBatchingDimensions(),
             dims.getLhsContractingDimensions());
    joinFree(rhs, dims.getRhsBatchingDimensions(),
             dims.getRhsContractingDimensions());
    return;
  }
  if (auto conv = dyn_cast<stablehlo::ConvolutionOp>(op)) {
    auto dims = conv.getDimensionNumbers();
    Value lhs = conv.getLhs(), rhs = conv.getRhs(), result = conv.getResult();
    if (conv.getBatchGroupCount() == 1) {
      join(lhs, dims.getInputBatchDimension(), result,
           dims.getOutputBatchDimension());
      bool isWhole = conv.getFeatureGroupCount() == 1;
      if (isWhole) {
        join(lhs, dims.getInputFeatureDimension(), rhs,
             dims.getKernelInputFeatureDimension());
        join(rhs, dims.getKernelOutputFeatureDimension(), result,
             dims.getOutputFeatureDimension());
      } else {
        freeze(lhs, dims.getInputFeatureDimension());
        freeze(rhs, dims.getKernelInputFeatureDimension());
        freeze(rhs, dims.getKernelOutputFeatureDimension());
        freeze(result, dims.getOutputFeatureDimension());
      }
      for (int64_t dim : dims.getInputSpatialDimensions())
        freeze(lhs, dim);
      for (int64_t dim : dims.getKernelSpatialDimensions())
        freeze(rhs, dim);
      for (int64_t dim : dims.getOutputSpatialDimensions())
        freeze(result, dim);
      return;
    }
  }
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op)) {
    Value from = slice.getOperand(), to = slice.getResult();
    for (size_t i = 0; i < shapeOf(from).size(); ++i)
      join(from, i, to, i); // parts are of other sizes: bound
    return;
  }
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op)) {
    for (size_t i = 0; i < shapeOf(slice.getResult()).size(); ++i)
      join(slice.getOperand(), i, slice.getResult(), i);
    return;
  }
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op)) {
    join(op->getOperand(0), update.getResult());
    for (size_t i = 0; i < shapeOf(op->getOperand(1)).size(); ++i)
      join(op->getOperand(1), i, update.getResult(), i);
    return;
  }
  if (auto pad = dyn_cast<stablehlo::PadOp>(op)) {
    for (size_t i = 0; i < shapeOf(pad.getResult()).size(); ++i) {
      join(op->getOperand(0), i, pad.getResult(), i);
      if (pad.getEdgePaddingLow()[i] != 0 || pad.getEdgePaddingHigh()[i] != 0 ||
          pad.getInteriorPadding()[i] != 0)
        freeze(pad.getResult(), i);
    }
    return;
  }
  if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op)) {
    for (Value operand : op->getOperands())
      for (size_t i = 0; i < shapeOf(operand).size(); ++i)
        i == concatenate.getDimension() ? freeze(operand, i)
                                        : join(operand, i, op->getResult(0), i);
    freeze(op->getResult(0), concatenate.getDimension());
    return;
  }
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op))
    return visitGather(gather);
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return visitScatter(scatter);
  if (isa<stablehlo::SortOp>(op)) {
    for (Value operand : op->getOperands())
      join(operand, op->getOperand(0));
    return join(op->getOperands(), op->getResults());
  }
  // All else: as it is, and so what is in it.
  op->walk([&](Operation *inner) {
    for (Value value : inner->getOperands())
      freeze(value);
    for (Value value : inner->getResults())
      freeze(value);
    for (Region &region : inner->getRegions())
      for (Value value : region.getArguments())
        freeze(value);
  });
}

bool Shrinker::shrink(int64_t most) {
  llvm::DenseSet<unsigned> bound;
  for (unsigned id : frozen)
    bound.insert(classes[id]);
  bool isChanged = false;
  auto shapeNow = [&](Value value) {
    Shape shape(shapeOf(value));
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &size = shape[i];
      if (bound.contains(classes[idOf(value, i)]) || size <= most ||
          size <= 2 * devices)
        continue;
      int64_t smaller = size % devices;
      while (smaller + devices <= most || smaller < 2)
        smaller += devices;
      if (smaller >= size)
        continue;
      isChanged = true;
      size = smaller;
    }
    return shape;
  };
  // Sizes that ops say themselves are of dims that they keep whole: their
  // operands' and results'.
  module.walk([&](Operation *op) {
    auto update = [&](StringRef name, Value of) {
      auto sizes = llvm::to_vector(
          op->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef());
      Shape before(shapeOf(of)), after = shapeNow(of);
      for (size_t i = 0; i < sizes.size(); ++i)
        if (sizes[i] == before[i])
          sizes[i] = after[i];
      op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), sizes));
    };
    if (isa<stablehlo::SliceOp>(op))
      update("limit_indices", op->getOperand(0));
    if (isa<stablehlo::DynamicSliceOp, stablehlo::GatherOp>(op))
      update("slice_sizes", op->getOperand(0));
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
          dense && dense.isSplat())
        op->setAttr("value", dense.resizeSplat(dense.getType().clone(
                                 shapeNow(op->getResult(0)))));
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
  return isChanged;
}

OwningOpRef<ModuleOp> shardc::interpreter::smaller(ModuleOp module,
                                                   int64_t most) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (!Shrinker(*copy).shrink(most))
    return nullptr;
  // What was overlooked is no program any more: then there is no smaller one.
  ScopedDiagnosticHandler handler(module.getContext(),
                                  [](Diagnostic &) { return success(); });
  return succeeded(verify(*copy)) ? std::move(copy) : OwningOpRef<ModuleOp>();
}
