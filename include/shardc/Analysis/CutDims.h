//===- CutDims.h - Which dims may be cut at all -----------------*- C++ -*-===//
#ifndef SHARDC_ANALYSIS_CUTDIMS_H
#define SHARDC_ANALYSIS_CUTDIMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Spmd/IR/SpmdForward.h"
#include "shardc/Interfaces/ShardingRule.h"
#include "llvm/ADT/DenseMap.h"

namespace shardc {

/// The dims of a function, in the global view, that annotations cut, and those
/// that propagation may cut because of them. Sizes of the mesh and of shards
/// are not looked at: the answer is the same on every mesh.
class CutDims {
public:
  /// Of all axes, or of `axis` alone.
  explicit CutDims(mlir::func::FuncOp function, llvm::StringRef axis = {});

  /// True if `dim` of `value` follows from a dim that some annotation cuts. Of
  /// values that the function had when this was made.
  bool mayBeCut(mlir::Value value, int64_t dim) const;

private:
  unsigned addVertex();
  unsigned vertexOf(mlir::Value value, int64_t dim);
  void follow(unsigned from, unsigned to) { next[from].push_back(to); }
  void tie(unsigned one, unsigned other);
  void tie(mlir::Value one, mlir::Value other);
  void cut(mlir::Value value, spmd::ShardingAttr sharding);
  void cutAll(mlir::Value value);
  void visit(mlir::Operation *op);
  void visitConstraint(mlir::Operation *op, spmd::ShardingAttr sharding);
  void visitRule(mlir::Operation *op, const ShardingRule &rule);

  llvm::StringRef axis; ///< the only one that cuts; empty: all do
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, unsigned> vertices;
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> next;
  llvm::SmallVector<unsigned> reached; ///< annotated, then all that follow
  llvm::SmallVector<bool> isCut;
  llvm::DenseMap<int64_t, mlir::Value> groups;
};

} // namespace shardc

#endif // SHARDC_ANALYSIS_CUTDIMS_H
