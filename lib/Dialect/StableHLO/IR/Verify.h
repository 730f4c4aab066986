//===- Verify.h - What verifiers and type inference share -------*- C++ -*-===//
//
// Sizes are elements; a dynamic size (`?`) agrees with every size.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_DIALECT_STABLEHLO_IR_VERIFY_H
#define SHARDC_LIB_DIALECT_STABLEHLO_IR_VERIFY_H

#include "mlir/IR/TypeUtilities.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <string>

namespace shardc::stablehlo::checks {

/// Reports an error of one op, or of one that is still to be built, in which
/// case there may be no location and nothing is reported. Always fails.
class Reporter {
public:
  Reporter(std::optional<mlir::Location> location, llvm::StringRef name)
      : location(location), name(name) {}
  explicit Reporter(mlir::Operation *op)
      : location(op->getLoc()), name(op->getName().getStringRef()) {}

  template <typename... Args>
  llvm::LogicalResult operator()(Args &&...args) const {
    return mlir::emitOptionalError(location, "'", name, "' op ",
                                   std::forward<Args>(args)...);
  }

private:
  std::optional<mlir::Location> location;
  llvm::StringRef name;
};

inline bool isDynamic(int64_t size) {
  return mlir::ShapedType::isDynamic(size);
}
inline bool sizesAgree(int64_t a, int64_t b) {
  return a == b || isDynamic(a) || isDynamic(b);
}

/// `[1, 2, ?]`, and `1` or `?`.
std::string toString(int64_t value);
std::string toString(llvm::ArrayRef<int64_t> values);

/// Each of `dims` is in [0, rank) and comes once; `what` names the list.
llvm::LogicalResult verifyDims(const Reporter &report, llvm::StringRef what,
                               llvm::ArrayRef<int64_t> dims, int64_t rank);

/// `list` has as many entries as `what` has dims.
llvm::LogicalResult verifyLength(const Reporter &report, llvm::StringRef name,
                                 size_t length, int64_t expected,
                                 llvm::StringRef what);

/// The shape of `type` agrees with `expected`; `what` names the value.
llvm::LogicalResult verifyShape(const Reporter &report, llvm::StringRef what,
                                mlir::Type type,
                                llvm::ArrayRef<int64_t> expected);

/// Element types are equal.
llvm::LogicalResult verifyElementTypes(const Reporter &report,
                                       llvm::StringRef firstName,
                                       mlir::Type first,
                                       llvm::StringRef secondName,
                                       mlir::Type second);

/// A window along one dim. Offsets and sizes are elements.
struct WindowDim {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t paddingLow = 0;
  int64_t paddingHigh = 0;
  int64_t baseDilation = 1;
  int64_t windowDilation = 1;
};

/// Number of positions of a window over `size` elements; `?` for dynamic sizes.
/// Fails for sizes, strides or dilations below 1 and where numbers overflow.
llvm::FailureOr<int64_t> windowResultSize(const Reporter &report, int64_t dim,
                                          int64_t size,
                                          const WindowDim &window);

/// Size after `low`, `high` (maybe negative) and `interior` padding.
llvm::FailureOr<int64_t> paddedSize(const Reporter &report, int64_t dim,
                                    int64_t size, int64_t low, int64_t high,
                                    int64_t interior);

/// `attribute`, or `rank` times `value` where it is missing.
llvm::SmallVector<int64_t>
orDefault(std::optional<llvm::ArrayRef<int64_t>> attribute, int64_t rank,
          int64_t value);
/// Pairs (low, high) of an Nx2 tensor, or `rank` times (0, 0) where it is
/// missing.
llvm::SmallVector<std::pair<int64_t, int64_t>>
paddingOrZeros(std::optional<mlir::DenseIntElementsAttr> attribute,
               int64_t rank);
/// `padding` is missing or has type tensor<`rank`x2xi64>.
llvm::LogicalResult
verifyPadding(const Reporter &report,
              std::optional<mlir::DenseIntElementsAttr> padding, int64_t rank);

/// The region's stablehlo.return, or an error.
llvm::FailureOr<ReturnOp> getReturn(const Reporter &report,
                                    mlir::Region &region,
                                    llvm::StringRef regionName);

/// A region that combines `count` accumulators with `count` elements: 2 *
/// `count` scalar arguments, `count` results of the accumulators' types, of the
/// kinds of `inputs` (of those that there are).
llvm::LogicalResult verifyReducer(const Reporter &report, mlir::Region &region,
                                  size_t count, mlir::TypeRange inputs);

/// A region that combines two elements of what each of `operands` holds.
llvm::LogicalResult verifyReducerOfOneType(const Reporter &report,
                                           mlir::Region &region,
                                           mlir::TypeRange operands);

/// The element type that a reducer's region gives for result `index`.
mlir::Type getReducerElementType(mlir::Region &region, size_t index);

/// Of batch_norm ops, what their predicates in ODS ask.
bool hasFeatureDim(mlir::Operation *op);
bool haveElementsForFeatures(mlir::Operation *op);
bool haveShapeOfOperand(mlir::Operation *op);
bool haveOneElementType(mlir::Operation *op);

} // namespace shardc::stablehlo::checks

#endif // SHARDC_LIB_DIALECT_STABLEHLO_IR_VERIFY_H
