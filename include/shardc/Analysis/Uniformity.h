//===- Uniformity.h - Along which axes a value differs by rank --*- C++ -*-===//
//
// In the local view every rank runs the same program. A value is uniform along
// a mesh axis if ranks that differ along that axis alone hold the same.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_ANALYSIS_UNIFORMITY_H
#define SHARDC_ANALYSIS_UNIFORMITY_H

#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "llvm/ADT/BitVector.h"
#include <optional>

namespace mlir::tensor {
class DimOp;
} // namespace mlir::tensor

namespace shardc {

/// Along which mesh axes each value of a function of the local view may differ.
///
/// | value                | differs along                                    |
/// |----------------------|--------------------------------------------------|
/// | function's argument  | axes of its `spmd.sharding`, partial ones too;   |
/// |                      | every axis if it has none                        |
/// | local.lookup          | axes along which its table varies                |
/// | exchange             | axes along which the needed table varies; the    |
/// |                      | source's, along which no owned table varies; the |
/// |                      | fill's                                           |
/// | all_reduce           | the source's, less the reduced axes              |
/// | reduce_scatter       | the same, and axes along which the needed table  |
/// |                      | varies                                           |
/// | row_plan             | the indices', and axes along which the parts of   |
/// |                      | slices that are needed vary                       |
/// | gather_rows          | the plan's, and the operand's, less those that    |
/// |                      | cut the addressed dims                            |
/// | scatter_rows         | those that cut the addressed dims; what is        |
/// |                      | written to; the updates', less those that cut the |
/// |                      | indices                                           |
/// | loop, branch: result | what flows there, and the condition's            |
/// | or region's argument |                                                  |
/// | call, op with effect | every axis                                       |
/// | tensor.dim           | axes along which the dim's size differs          |
/// | any other            | its operands', and what its regions return       |
///
/// It errs to one side: a value that is called uniform is so. It trusts what
/// callers pass: an argument that is sharded over x is the same on all ranks of
/// y.
class Uniformity {
public:
  /// Analyses `function` at once; the IR is to stay as it is while this is
  /// used.
  explicit Uniformity(mlir::FunctionOpInterface function);

  /// The axes of the mesh named `mesh` along which `value` may differ. What
  /// differs along an axis of another mesh may differ along all of this one's.
  llvm::SmallVector<mlir::StringAttr>
  getVaryingAxes(mlir::Value value, mlir::FlatSymbolRefAttr mesh) const;

  /// True if `value` differs along none of `axes`.
  bool isUniform(mlir::Value value, mlir::FlatSymbolRefAttr mesh,
                 llvm::ArrayRef<mlir::StringAttr> axes) const;

  /// Follows a value that differs along `axis` to where the difference comes
  /// from: an argument, a lookup, an exchange or an op with effects.
  mlir::Value getCause(mlir::Value value, mlir::FlatSymbolRefAttr mesh,
                       mlir::StringAttr axis) const;

private:
  using Axes = llvm::BitVector;

  Axes noAxes() const { return Axes(axes.size()); }
  Axes allAxes() const { return Axes(axes.size(), true); }
  void set(Axes &to, mlir::FlatSymbolRefAttr mesh, mlir::StringAttr axis) const;
  Axes get(mlir::Value value) const;
  bool join(mlir::Value value, const Axes &more);
  Axes ofArgument(mlir::FunctionOpInterface function, unsigned number) const;
  std::optional<Axes> ofSize(mlir::tensor::DimOp op) const;
  Axes ofResults(mlir::Operation *op) const;
  bool visit(mlir::Operation *op);
  llvm::SmallVector<mlir::Value> getSources(mlir::Value value) const;

  llvm::SmallVector<std::pair<mlir::StringAttr, mlir::StringAttr>>
      axes; ///< mesh, axis
  llvm::DenseMap<mlir::Value, Axes> known;
  llvm::DenseMap<mlir::Operation *, std::optional<Axes>> sizes;
};

} // namespace shardc

#endif // SHARDC_ANALYSIS_UNIFORMITY_H
