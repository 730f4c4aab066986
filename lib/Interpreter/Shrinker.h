//===- Shrinker.h - Dims that lose elements together ------------*- C++ -*-===//
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
#ifndef SHARDC_LIB_INTERPRETER_SHRINKER_H
#define SHARDC_LIB_INTERPRETER_SHRINKER_H

#include "Evaluator.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/MapVector.h"
#include <numeric>

namespace shardc::interpreter {

inline ArrayRef<int64_t> shapeOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

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
  explicit Shrinker(mlir::ModuleOp module);
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

  unsigned idOf(mlir::Value value, size_t dim) const {
    return first.lookup(value) + dim;
  }
  /// `p` times what the one dim loses is `q` times what the other does.
  void tie(mlir::Value a, size_t i, mlir::Value b, size_t j, int64_t p = 1,
           int64_t q = 1) {
    if (p < 1 || q < 1 || p > largestRatio || q > largestRatio ||
        !classes.join(idOf(a, i), p, idOf(b, j), q))
      freeze(a, i), freeze(b, j);
  }
  void join(mlir::Value a, size_t i, mlir::Value b, size_t j) {
    if (shapeOf(a)[i] == shapeOf(b)[j])
      tie(a, i, b, j);
    else
      freeze(a, i), freeze(b, j);
  }
  /// All dims of both.
  void join(mlir::Value a, mlir::Value b) {
    for (size_t i = 0; i < shapeOf(a).size(); ++i)
      join(a, i, b, i);
  }
  void join(mlir::ValueRange a, mlir::ValueRange b) {
    for (auto [x, y] : llvm::zip_equal(a, b))
      join(x, y);
  }
  void freeze(mlir::Value value, size_t dim) {
    frozen.push_back(idOf(value, dim));
  }
  void freeze(mlir::Value value) {
    for (size_t i = 0; i < shapeOf(value).size(); ++i)
      freeze(value, i);
  }
  /// No fewer elements than these.
  void keep(mlir::Value value, size_t dim, int64_t least) {
    int64_t &known = floors[idOf(value, dim)];
    known = std::max(known, least);
  }
  /// A part that is most of a dim loses what that does; another one stays, and
  /// the dim has room for it.
  void part(mlir::Value whole, size_t i, mlir::Value part, size_t j) {
    int64_t size = shapeOf(part)[j];
    if (2 * size > shapeOf(whole)[i])
      return tie(whole, i, part, j);
    freeze(part, j);
    keep(whole, i, size);
  }
  void visit(Operation *op);
  void visitReshape(mlir::Value from, mlir::Value to);
  void visitGather(stablehlo::GatherOp op);
  void visitScatter(stablehlo::ScatterOp op);
  void visitSlice(stablehlo::SliceOp op);
  void visitPad(stablehlo::PadOp op);
  void visitConcatenate(stablehlo::ConcatenateOp op);
  void visitConvolution(stablehlo::ConvolutionOp op);
  void visitWindows(stablehlo::ReduceWindowOp op);
  void visitElementwise(Operation *op);
  void visitFunction(mlir::func::FuncOp function);
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
  void bindSharding(mlir::Value value, spmd::ShardingAttr sharding);

  /// What `id` loses, once that is known.
  int64_t lossOf(unsigned id) const {
    auto [root, ratio] = classes.find(id);
    return losses.lookup(root) * ratio.times / ratio.parts;
  }
  int64_t lossOf(mlir::Value value, size_t dim) const {
    return lossOf(idOf(value, dim));
  }
  bool findLosses(int64_t most);

  static constexpr int64_t largestRatio = int64_t(1) << 16;
  static constexpr int64_t largestStep = int64_t(1) << 30;
  static constexpr int64_t mostShares = 16; ///< of a dim that is cut evenly
  mlir::ModuleOp module;
  llvm::DenseMap<mlir::Value, unsigned> first;
  std::vector<mlir::Value> values;
  Classes classes;
  std::vector<unsigned> frozen;
  llvm::DenseMap<unsigned, int64_t> floors; ///< by dim
  llvm::DenseMap<unsigned, int64_t> losses; ///< by root
  /// What ops say of their dims, for those that are left.
  std::vector<std::function<void()>> rewrites;
  int64_t devices = 1;
};

} // namespace shardc::interpreter

#endif // SHARDC_LIB_INTERPRETER_SHRINKER_H
