//===- Smaller.cpp - The same program on smaller or larger dims -----------===//
//
// Dims that lose elements together are one class (union-find over dims of
// values, with the ratio of what they lose): those that ops keep equal, those
// on both sides of a window, which loses what its stride goes, and of a slice
// that is most of its source. A class is free unless an op's text binds its
// size: constants whose elements differ, reshapes that split in other places,
// dims that a region's author cut. Each dim of a free class loses a multiple of
// the number of devices, so that what was cut unevenly still is. A larger
// program loses less than nothing.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "mlir/IR/Verifier.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

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

/// Dims that lose elements together.
class Classes {
public:
  void grow(unsigned count) {
    parent.resize(count);
    std::iota(parent.begin(), parent.end(), 0u);
    ratio.resize(count);
  }

  /// False if numbers have become too large: then nothing holds.
  bool hold() const { return !isTooLarge; }

  /// A dim loses `times / parts` of what the root of its class does.
  struct Ratio {
    int64_t times = 1, parts = 1;
  };
  std::pair<unsigned, Ratio> find(unsigned id) const {
    Ratio all;
    while (parent[id] != id) {
      all = product(all, ratio[id]);
      id = parent[id];
    }
    return {id, all};
  }

  /// `p` times what `a` loses is `q` times what `b` loses. False if that is so
  /// for nothing alone.
  bool join(unsigned a, int64_t p, unsigned b, int64_t q) {
    auto [rootA, ofA] = find(a);
    auto [rootB, ofB] = find(b);
    Ratio left = product(ofA, {p, 1}), right = product(ofB, {q, 1});
    if (rootA == rootB)
      return left.times == right.times && left.parts == right.parts;
    parent[rootA] = rootB;
    ratio[rootA] = product(right, {left.parts, left.times});
    return true;
  }

private:
  Ratio product(Ratio a, Ratio b) const {
    int64_t times = a.times * b.times, parts = a.parts * b.parts;
    int64_t common = std::gcd(times, parts);
    Ratio result{times / common, parts / common};
    if (result.times <= mostRatio && result.parts <= mostRatio)
      return result;
    isTooLarge = true;
    return {};
  }

  static constexpr int64_t mostRatio = int64_t(1) << 30;
  mutable bool isTooLarge = false;
  std::vector<unsigned> parent;
  std::vector<Ratio> ratio;
};

class Shrinker {
public:
  explicit Shrinker(ModuleOp module);
  /// Makes free dims of more than `most` elements smaller. False if there are
  /// none.
  bool shrink(int64_t most);
  /// Makes free dims that arguments or constraints cut `times` as large. False
  /// if there are none.
  bool grow(int64_t times);

private:
  /// Dims of one class, which nothing binds.
  struct Class {
    int64_t step = 1;           ///< of which all dims lose whole ones
    std::vector<unsigned> dims; ///< of it
    std::vector<int64_t> sizes;
  };
  llvm::MapVector<unsigned, Class> freeClasses();
  /// The dims that the program's text cuts.
  llvm::DenseSet<unsigned> cutDims();
  void rewrite();

  unsigned idOf(Value value, size_t dim) const {
    return first.lookup(value) + dim;
  }
  /// `p` times what the one dim loses is `q` times what the other does.
  void tie(Value a, size_t i, Value b, size_t j, int64_t p = 1, int64_t q = 1) {
    if (p < 1 || q < 1 || p > largestRatio || q > largestRatio ||
        !classes.join(idOf(a, i), p, idOf(b, j), q))
      freeze(a, i), freeze(b, j);
  }
  void join(Value a, size_t i, Value b, size_t j) {
    if (shapeOf(a)[i] == shapeOf(b)[j])
      tie(a, i, b, j);
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
  /// No fewer elements than these.
  void keep(Value value, size_t dim, int64_t least) {
    int64_t &known = floors[idOf(value, dim)];
    known = std::max(known, least);
  }
  /// A part that is most of a dim loses what that does; another one stays, and
  /// the dim has room for it.
  void part(Value whole, size_t i, Value part, size_t j) {
    int64_t size = shapeOf(part)[j];
    if (2 * size > shapeOf(whole)[i])
      return tie(whole, i, part, j);
    freeze(part, j);
    keep(whole, i, size);
  }
  void visit(Operation *op);
  void visitReshape(Value from, Value to);
  void visitGather(stablehlo::GatherOp op);
  void visitScatter(stablehlo::ScatterOp op);
  void visitSlice(stablehlo::SliceOp op);
  void visitPad(stablehlo::PadOp op);
  void visitConcatenate(stablehlo::ConcatenateOp op);
  void visitConvolution(stablehlo::ConvolutionOp op);
  void visitWindows(stablehlo::ReduceWindowOp op);
  void visitElementwise(Operation *op);
  void visitFunction(func::FuncOp function);
  void visitTerminator(Operation *op);
  void visitLoop(stablehlo::WhileOp loop);
  bool visitCall(Operation *op);
  void visitBroadcast(stablehlo::BroadcastInDimOp broadcast);
  void visitTranspose(stablehlo::TransposeOp transpose);
  void visitReduce(stablehlo::ReduceOp reduce);
  void visitDot(stablehlo::DotGeneralOp dot);
  void visitDynamicSlice(stablehlo::DynamicSliceOp slice);
  void visitDynamicUpdate(stablehlo::DynamicUpdateSliceOp update);
  void visitSelectAndScatter(stablehlo::SelectAndScatterOp scatter);
  void freezeAll(Operation *op);
  void bindSharding(Value value, spmd::ShardingAttr sharding);

  /// What `id` loses, once that is known.
  int64_t lossOf(unsigned id) const {
    auto [root, ratio] = classes.find(id);
    return losses.lookup(root) * ratio.times / ratio.parts;
  }
  int64_t lossOf(Value value, size_t dim) const {
    return lossOf(idOf(value, dim));
  }
  bool findLosses(int64_t most);

  static constexpr int64_t largestRatio = int64_t(1) << 16;
  static constexpr int64_t largestStep = int64_t(1) << 30;
  static constexpr int64_t mostShares = 16; ///< of a dim that is cut evenly
  ModuleOp module;
  llvm::DenseMap<Value, unsigned> first;
  std::vector<Value> values;
  Classes classes;
  std::vector<unsigned> frozen;
  llvm::DenseMap<unsigned, int64_t> floors; ///< by dim
  llvm::DenseMap<unsigned, int64_t> losses; ///< by root
  /// What ops say of their dims, for those that are left.
  std::vector<std::function<void()>> rewrites;
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
