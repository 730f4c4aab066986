//===- ShrinkerOps.cpp - What ops say of dims that lose elements ----------===//
#include "Shrinker.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

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
    // One dim as several, or several as one: the largest of them goes on, the
    // others stay.
    if (left == right && left > 0 && (i == firstA + 1 || j == firstB + 1)) {
      auto largest = [](ArrayRef<int64_t> shape, size_t begin, size_t end) {
        return std::max_element(shape.begin() + begin, shape.begin() + end) -
               shape.begin();
      };
      size_t ofA = largest(a, firstA, i), ofB = largest(b, firstB, j);
      for (size_t k = firstA; k < i; ++k)
        if (k != ofA)
          freeze(from, k);
      for (size_t k = firstB; k < j; ++k)
        if (k != ofB)
          freeze(to, k);
      tie(from, ofA, to, ofB, left / a[ofA], left / b[ofB]);
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
      part(operand, i, result, dims.getOffsetDims()[nextOffset++]);
  }
  rewrites.push_back([this, op, result]() mutable {
    auto dims = op.getDimensionNumbers();
    auto sizes = llvm::to_vector(op.getSliceSizes());
    size_t next = 0;
    for (int64_t i = 0, e = sizes.size(); i < e; ++i)
      if (!llvm::is_contained(dims.getOperandBatchingDims(), i) &&
          !llvm::is_contained(dims.getCollapsedSliceDims(), i))
        sizes[i] -= lossOf(result, dims.getOffsetDims()[next++]);
    op.setSliceSizes(sizes);
  });
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
        part(input, i, updates, dims.getUpdateWindowDims()[nextWindow++]);
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

void Shrinker::visitSlice(stablehlo::SliceOp op) {
  Value from = op.getOperand(), to = op.getResult();
  enum class Kind { Most, Share, Begin, End };
  SmallVector<Kind> kinds;
  for (auto [i, size] : llvm::enumerate(shapeOf(from))) {
    int64_t start = op.getStartIndices()[i], stride = op.getStrides()[i],
            count = shapeOf(to)[i];
    if (2 * count * stride > size) {
      // What is behind it stays.
      kinds.push_back(Kind::Most);
      tie(from, i, to, i, 1, stride);
    } else if (stride == 1 && count > 0 && size % count == 0 &&
               start % count == 0 && size / count <= mostShares) {
      kinds.push_back(Kind::Share);
      tie(from, i, to, i, 1, size / count);
    } else {
      bool isEnd = 2 * start >= size;
      kinds.push_back(isEnd ? Kind::End : Kind::Begin);
      freeze(to, i);
      keep(from, i, isEnd ? size - start : op.getLimitIndices()[i]);
    }
  }
  rewrites.push_back([this, op, from, to, kinds]() mutable {
    auto starts = llvm::to_vector(op.getStartIndices());
    auto limits = llvm::to_vector(op.getLimitIndices());
    for (auto [i, kind] : llvm::enumerate(kinds)) {
      int64_t loss = lossOf(from, i);
      if (kind == Kind::Share) {
        int64_t before = shapeOf(to)[i], after = before - lossOf(to, i);
        starts[i] = starts[i] / before * after;
        limits[i] = starts[i] + after;
      } else {
        starts[i] -= kind == Kind::End ? loss : 0;
        limits[i] -= kind != Kind::Begin ? loss : 0;
      }
    }
    op.setStartIndices(starts);
    op.setLimitIndices(limits);
  });
}

void Shrinker::visitPad(stablehlo::PadOp op) {
  Value from = op->getOperand(0), to = op.getResult();
  enum class Kind { Most, Share, Begin, End };
  SmallVector<Kind> kinds;
  for (auto [i, size] : llvm::enumerate(shapeOf(to))) {
    int64_t low = op.getEdgePaddingLow()[i], high = op.getEdgePaddingHigh()[i],
            apart = op.getInteriorPadding()[i] + 1, count = shapeOf(from)[i];
    if (2 * count * apart > size) {
      kinds.push_back(Kind::Most);
      tie(to, i, from, i, 1, apart);
    } else if (apart == 1 && count > 0 && low >= 0 && high >= 0 &&
               size % count == 0 && low % count == 0 &&
               size / count <= mostShares) {
      kinds.push_back(Kind::Share);
      tie(to, i, from, i, 1, size / count);
    } else {
      kinds.push_back(low > high ? Kind::End : Kind::Begin);
      freeze(from, i);
      keep(to, i, size - std::max(low, high));
    }
  }
  rewrites.push_back([this, op, from, to, kinds]() mutable {
    auto lows = llvm::to_vector(op.getEdgePaddingLow());
    auto highs = llvm::to_vector(op.getEdgePaddingHigh());
    for (auto [i, kind] : llvm::enumerate(kinds)) {
      int64_t loss = lossOf(to, i), before = shapeOf(from)[i];
      if (kind == Kind::Share) {
        int64_t after = before - lossOf(from, i);
        lows[i] = lows[i] / before * after;
        highs[i] = highs[i] / before * after;
      } else if (kind != Kind::Most) {
        (kind == Kind::End ? lows : highs)[i] -= loss;
      }
    }
    op.setEdgePaddingLow(lows);
    op.setEdgePaddingHigh(highs);
  });
}

/// Equal parts lose alike; of others, one that is most of the result loses what
/// that does, and the rest stay.
void Shrinker::visitConcatenate(stablehlo::ConcatenateOp op) {
  Value to = op.getResult();
  int64_t dim = op.getDimension(), size = shapeOf(to)[dim];
  bool areEqual = true;
  for (Value part : op->getOperands()) {
    areEqual &= shapeOf(part)[dim] == shapeOf(op->getOperand(0))[dim];
    for (int64_t i = 0, e = shapeOf(part).size(); i < e; ++i)
      if (i != dim)
        join(part, i, to, i);
  }
  bool isMost = false;
  for (Value part : op->getOperands())
    if (areEqual) {
      tie(part, dim, to, dim, op->getNumOperands(), 1);
    } else if (2 * shapeOf(part)[dim] > size) {
      tie(part, dim, to, dim);
      isMost = true;
    } else {
      freeze(part, dim);
    }
  if (!areEqual && !isMost)
    freeze(to, dim);
}

/// A result loses an element where its operand loses a stride. Of a kernel that
/// is larger than its result (that of a gradient) both sides lose alike, and
/// the result stays.
void Shrinker::visitConvolution(stablehlo::ConvolutionOp op) {
  auto dims = op.getDimensionNumbers();
  Value lhs = op.getLhs(), rhs = op.getRhs(), result = op.getResult();
  int64_t batch = dims.getInputBatchDimension(),
          feature = dims.getInputFeatureDimension();
  if (op.getBatchGroupCount() == 1) {
    join(lhs, batch, result, dims.getOutputBatchDimension());
  } else {
    freeze(lhs, batch);
    freeze(result, dims.getOutputBatchDimension());
  }
  if (op.getBatchGroupCount() == 1 && op.getFeatureGroupCount() == 1) {
    join(lhs, feature, rhs, dims.getKernelInputFeatureDimension());
    join(rhs, dims.getKernelOutputFeatureDimension(), result,
         dims.getOutputFeatureDimension());
  } else {
    freeze(lhs, feature);
    freeze(rhs, dims.getKernelInputFeatureDimension());
    freeze(rhs, dims.getKernelOutputFeatureDimension());
    freeze(result, dims.getOutputFeatureDimension());
  }
  for (auto [i, from, kernel, to] : llvm::enumerate(
           dims.getInputSpatialDimensions(), dims.getKernelSpatialDimensions(),
           dims.getOutputSpatialDimensions())) {
    int64_t apart = op.getLhsDilationOrOnes()[i],
            kernelApart = op.getRhsDilationOrOnes()[i];
    if (shapeOf(rhs)[kernel] > shapeOf(result)[to]) {
      freeze(result, to);
      tie(lhs, from, rhs, kernel, apart, kernelApart);
    } else {
      freeze(rhs, kernel);
      tie(lhs, from, result, to, apart, op.getWindowStridesOrOnes()[i]);
    }
  }
}

void Shrinker::visitWindows(stablehlo::ReduceWindowOp op) {
  size_t count = op->getNumResults();
  for (size_t n = 0; n < count; ++n) {
    Value from = op->getOperand(n), to = op->getResult(n);
    join(op->getOperand(0), from);
    for (size_t i = 0; i < shapeOf(from).size(); ++i) {
      int64_t window = op.getWindowDimensions()[i];
      // A window over all, as of cumulative sums, is of this size.
      if (window > 1 && 2 * window > shapeOf(from)[i]) {
        freeze(from, i);
        freeze(to, i);
      } else {
        tie(from, i, to, i, op.getBaseDilationsOrOnes()[i],
            op.getWindowStridesOrOnes()[i]);
      }
    }
  }
}

void Shrinker::visitElementwise(Operation *op) {
  Value result = op->getResult(0);
  for (Value operand : op->getOperands())
    if (!shapeOf(operand).empty())
      join(operand, result);
  if (auto constrain = dyn_cast<spmd::ConstrainOp>(op))
    bindSharding(result, constrain.getSharding());
}

void Shrinker::visitFunction(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto sharding = spmd::contract::Sharding::ofArgument(function, i))
      bindSharding(function.getArgument(i), sharding);
}

/// What a function returns, and what a region yields.
void Shrinker::visitTerminator(Operation *op) {
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
}

void Shrinker::visitLoop(stablehlo::WhileOp loop) {
  join(loop->getOperands(), loop->getResults());
  join(loop.getCond().getArguments(), loop->getResults());
  join(loop.getBody().getArguments(), loop->getResults());
}

/// False if what is called is not known.
bool Shrinker::visitCall(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, call ? call.getCalleeAttr()
               : cast<stablehlo::CompositeOp>(op).getDecompositionAttr());
  if (!callee || callee.isExternal())
    return false;
  join(op->getOperands(), callee.getArguments());
  join(op->getResults(),
       callee.getBody().front().getTerminator()->getOperands());
  return true;
}

void Shrinker::visitBroadcast(stablehlo::BroadcastInDimOp broadcast) {
  Value from = broadcast.getOperand(), to = broadcast.getResult();
  for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
    if (shapeOf(from)[i] == shapeOf(to)[dim])
      join(from, i, to, dim);
}

void Shrinker::visitTranspose(stablehlo::TransposeOp transpose) {
  for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
    join(transpose.getOperand(), dim, transpose.getResult(), i);
}

void Shrinker::visitReduce(stablehlo::ReduceOp reduce) {
  for (size_t n = 0; n < reduce->getNumResults(); ++n) {
    Value from = reduce->getOperand(n);
    join(reduce->getOperand(0), from);
    size_t next = 0;
    for (size_t i = 0; i < shapeOf(from).size(); ++i)
      if (!llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(i)))
        join(from, i, reduce->getResult(n), next++);
  }
}

void Shrinker::visitDot(stablehlo::DotGeneralOp dot) {
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
      if (!llvm::is_contained(batch, i) && !llvm::is_contained(contracting, i))
        join(operand, i, result, next++);
  };
  joinFree(lhs, dims.getLhsBatchingDimensions(),
           dims.getLhsContractingDimensions());
  joinFree(rhs, dims.getRhsBatchingDimensions(),
           dims.getRhsContractingDimensions());
}

void Shrinker::visitDynamicSlice(stablehlo::DynamicSliceOp slice) {
  Value from = slice.getOperand(), to = slice.getResult();
  for (size_t i = 0; i < shapeOf(to).size(); ++i)
    part(from, i, to, i);
  rewrites.push_back([this, slice, to]() mutable {
    auto sizes = llvm::to_vector(slice.getSliceSizes());
    for (size_t i = 0; i < sizes.size(); ++i)
      sizes[i] -= lossOf(to, i);
    slice.setSliceSizes(sizes);
  });
}

void Shrinker::visitDynamicUpdate(stablehlo::DynamicUpdateSliceOp update) {
  Value piece = update->getOperand(1);
  join(update->getOperand(0), update.getResult());
  for (size_t i = 0; i < shapeOf(piece).size(); ++i)
    part(update.getResult(), i, piece, i);
}

void Shrinker::visitSelectAndScatter(stablehlo::SelectAndScatterOp scatter) {
  Value operand = scatter->getOperand(0), source = scatter->getOperand(1);
  join(operand, scatter->getResult(0));
  for (size_t i = 0; i < shapeOf(operand).size(); ++i)
    tie(operand, i, source, i, 1, scatter.getWindowStridesOrOnes()[i]);
}

/// All that `op` has, and all in it, stays as it is.
void Shrinker::freezeAll(Operation *op) {
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

void Shrinker::visit(Operation *op) {
  if (isElementwise(op))
    return visitElementwise(op);
  if (op->hasTrait<OpTrait::IsTerminator>())
    return visitTerminator(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](stablehlo::ConstantOp constant) {
        auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
        if (!dense || !dense.isSplat())
          freeze(constant.getResult());
      })
      .Case<stablehlo::IotaOp, ModuleOp, sdy::MeshOp, spmd::MeshOp,
            stablehlo::IfOp, stablehlo::CaseOp>([](auto) {})
      .Case<stablehlo::OptimizationBarrierOp, stablehlo::ReverseOp>(
          [&](auto same) { join(same->getOperands(), same->getResults()); })
      .Case([&](func::FuncOp function) { visitFunction(function); })
      .Case([&](stablehlo::WhileOp loop) { visitLoop(loop); })
      .Case<func::CallOp, stablehlo::CompositeOp>([&](auto call) {
        if (!visitCall(call))
          freezeAll(call);
      })
      .Case([&](stablehlo::CustomCallOp call) {
        if (call.getCallTargetName() == "Sharding")
          join(call->getOperands(), call->getResults());
        else
          freezeAll(call);
      })
      .Case([&](stablehlo::BroadcastInDimOp op) { visitBroadcast(op); })
      .Case([&](stablehlo::TransposeOp op) { visitTranspose(op); })
      .Case([&](stablehlo::ReshapeOp op) {
        visitReshape(op->getOperand(0), op->getResult(0));
      })
      .Case([&](stablehlo::ReduceOp op) { visitReduce(op); })
      .Case([&](stablehlo::DotGeneralOp op) { visitDot(op); })
      .Case([&](stablehlo::ConvolutionOp op) { visitConvolution(op); })
      .Case([&](stablehlo::SliceOp op) { visitSlice(op); })
      .Case([&](stablehlo::DynamicSliceOp op) { visitDynamicSlice(op); })
      .Case([&](stablehlo::DynamicUpdateSliceOp op) { visitDynamicUpdate(op); })
      .Case([&](stablehlo::PadOp op) { visitPad(op); })
      .Case([&](stablehlo::ConcatenateOp op) { visitConcatenate(op); })
      .Case([&](stablehlo::ReduceWindowOp op) { visitWindows(op); })
      .Case(
          [&](stablehlo::SelectAndScatterOp op) { visitSelectAndScatter(op); })
      .Case([&](stablehlo::GatherOp op) { visitGather(op); })
      .Case([&](stablehlo::ScatterOp op) { visitScatter(op); })
      .Case([&](stablehlo::SortOp op) {
        for (Value operand : op->getOperands())
          join(operand, op->getOperand(0));
        join(op->getOperands(), op->getResults());
      })
      .Default([&](Operation *op) { freezeAll(op); });
}
