//===- ConstantTensors.h - What follows from no argument --------*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_CONSTANTTENSORS_H
#define SHARDC_LIB_RAISE_CONSTANTTENSORS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <optional>
#include <vector>

namespace shardc::raise {

/// Computes tensors that are made of constants and `iota` by arithmetic,
/// comparisons, sums and moves of elements. Numbers are as the program's types
/// round them, functions such as sines to within their last bits: what jumps,
/// as comparisons do, is not computed of these. Nor is what has 16-bit floats.
class ConstantTensors {
public:
  using Elements = std::vector<double>;
  /// The elements of `value`, row-major; none where it follows from something
  /// else, or there are too many.
  std::optional<Elements> compute(mlir::Value value);

private:
  /// How well the elements of a value are known: not, since they follow from an
  /// argument or an op that is not known here; but for last bits; all of them.
  enum class Knowledge { None, Approximate, Exact };
  Knowledge knowledgeOf(mlir::Value value);
  const Elements *get(mlir::Value value);
  bool compute(mlir::Operation *op, Elements &result);
  bool computePoints(mlir::Operation *op, Elements &result);
  bool computeMoves(mlir::Operation *op, Elements &result);
  bool computeSum(mlir::Operation *op, Elements &result);

  llvm::DenseMap<mlir::Value, Knowledge> knowledge;
  /// Those on the way to one that is computed.
  llvm::DenseMap<mlir::Value, std::unique_ptr<Elements>> known;
  int64_t steps = 0;
};

/// True if one of `shape`, of a tensor in the module around `op`, stands for a
/// size that is said when the program is run.
bool isOpen(mlir::Operation *op, llvm::ArrayRef<int64_t> shape);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_CONSTANTTENSORS_H
