//===- Reader.h - Tensors to expressions ------------------------*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_READER_H
#define SHARDC_LIB_RAISE_READER_H

#include "Algebra.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace shardc::raise {

/// Equal numbers: equal values, wherever they are computed. What passes
/// an optimization barrier stays what it is, so a forward pass that is
/// recomputed has the numbers of the first one.
class Numbering {
public:
  explicit Numbering(mlir::func::FuncOp func);

  unsigned of(mlir::Value value) const { return numbers.lookup(value); }
  /// True if the value follows from constants and positions alone.
  bool isPure(mlir::Value value) const { return pure.contains(of(value)); }
  /// How many elementwise steps it is from the nearest sum; large if there is
  /// none.
  unsigned stepsFromSum(mlir::Value value) const {
    auto it = steps.find(of(value));
    return it == steps.end() ? 1000 : it->second;
  }

  /// An op as it was when it was numbered; it may be gone since.
  struct Place {
    mlir::Operation *op;
    mlir::Block *block;
    unsigned order; ///< of the function, from its begin
  };
  /// What makes values of `number`, or reads them, in order.
  llvm::ArrayRef<Place> makersOf(unsigned number) const {
    return lookup(makers, number);
  }
  llvm::ArrayRef<Place> readersOf(unsigned number) const {
    return lookup(readers, number);
  }

private:
  using Places = llvm::DenseMap<unsigned, llvm::SmallVector<Place, 2>>;
  static llvm::ArrayRef<Place> lookup(const Places &places, unsigned number) {
    auto it = places.find(number);
    return it == places.end() ? llvm::ArrayRef<Place>() : it->second;
  }
  void visit(mlir::Block &block);

  Places makers, readers;
  unsigned ops = 0;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  llvm::DenseSet<unsigned> pure;
  llvm::DenseMap<unsigned, unsigned> steps;
  std::map<std::string, unsigned> known;
  unsigned next = 1;
};

/// A tensor behind broadcasts, transposes, reshapes and widening.
struct Root {
  mlir::Value value;
  Layout layout;
};

/// Reads tensors, whose dims are known as iteration dims, as expressions.
class Reader {
public:
  Reader(Algebra &algebra, const Numbering &numbering,
         std::vector<int64_t> sizes, DimSet keyDims, DimSet rowDims)
      : algebra(algebra), numbering(numbering), sizes(std::move(sizes)),
        keyDims(keyDims), rowDims(rowDims) {
    this->sizes.resize(64, 1);
  }
  virtual ~Reader() = default;

  virtual PolyId read(mlir::Value value, const Layout &layout);
  /// The sum over dims >= kFirstBoundDim of products; any order of operands.
  PolyId dot(mlir::Value lhs, const Layout &lhsLayout, mlir::Value rhs,
             const Layout &rhsLayout);
  Root rootOf(mlir::Value value, Layout layout);
  /// Layouts of a contraction's operands where its result has `layout`,
  /// contracted dims numbered from kFirstBoundDim.
  std::pair<Layout, Layout> operandLayouts(mlir::Operation *dot,
                                           const Layout &layout);
  /// The same elements under another shape; nullopt where a dim would be cut:
  /// then `split` says which, and the extent of its major part.
  std::optional<Layout> regroup(const Layout &layout,
                                llvm::ArrayRef<int64_t> shape);
  int64_t sizeOf(unsigned dim) const { return sizes[dim]; }
  void setSize(unsigned dim, int64_t size) { sizes[dim] = size; }

  /// Sums and maxima of rows are what they are of, not numbers that are given.
  bool seesRowSums = true;
  /// From more products than these on nothing is read any more: what is asked
  /// for has fewer.
  std::optional<size_t> mostProducts;
  bool hasTooManyProducts() const {
    return mostProducts && products.size() > *mostProducts;
  }
  /// A dim that must be two, and the size of the first.
  std::optional<std::pair<unsigned, int64_t>> split;

protected:
  virtual PolyId readElementwise(mlir::Operation *op, const Layout &layout);
  PolyId readConstant(mlir::ElementsAttr value, mlir::Value tensor,
                      const Layout &layout);
  virtual PolyId leaf(mlir::Value value, const Layout &layout);
  PolyId position(llvm::ArrayRef<unsigned> dims, double first, double step);

  Algebra &algebra;
  const Numbering &numbering;
  std::vector<int64_t> sizes;
  DimSet keyDims, rowDims;

private:
  PolyId readOp(mlir::Value value, const Layout &layout);
  PolyId readReduce(mlir::Operation *op, const Layout &layout);
  bool isWorthFollowing(mlir::Value value, const Layout &layout) const;

  std::map<std::string, PolyId> known;
  /// Each product that is part of what was read.
  llvm::DenseSet<PolyId> products;
  unsigned depth = 0;
  /// Set while what is summed over depth is read: differences stay differences.
  bool verbatim = false;
};

/// The layout of the operand of an op that moves elements, where its result has
/// `layout`.
Layout throughBroadcast(mlir::Operation *broadcast, const Layout &layout);
Layout throughTranspose(mlir::Operation *transpose, const Layout &layout);
/// The iteration dims of a layout.
DimSet dimsIn(const Layout &layout);

/// One operand of a contraction, with its dims by what they are. Batching and
/// contracting dims are in the contraction's order, as those of the other
/// operand are; free dims ascend.
struct DotOperand {
  mlir::Value value;
  llvm::ArrayRef<int64_t> batching, contracting;
  llvm::SmallVector<int64_t> free;
};
/// The right operand of `dot`, a dot_general, or its left one.
DotOperand dotOperand(mlir::Operation *dot, bool isRight);
/// The layouts of the left and right operand of `dot` where its result's is
/// `layout`. Contracted dims have no iteration dim yet.
std::pair<Layout, Layout> uncontractedLayouts(mlir::Operation *dot,
                                              const Layout &layout);

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_READER_H
