//===- Projection.h - A function as a Problem -------------------*- C++ -*-===//
#ifndef SHARDC_PROPAGATION_PROJECTION_H
#define SHARDC_PROPAGATION_PROJECTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Propagation/Passes.h"
#include "shardc/Propagation/Problem.h"
#include "llvm/ADT/DenseMap.h"

namespace shardc::propagation {

/// A function in the global view and the Problem that stands for it.
struct Projection {
  /// Of `function`, with what the mesh says, and nothing yet of its ops.
  Projection(mlir::func::FuncOp function, spmd::MeshOp mesh);

  mlir::func::FuncOp function;
  mlir::FlatSymbolRefAttr meshName;
  spmd::MeshAttr mesh;
  Problem problem;
  /// Ops that a sharding is decided for, in order: not those in the regions
  /// that say what to do with elements.
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Value, int64_t> tensorOf;
  /// The node of each op that has a rule.
  llvm::DenseMap<mlir::Operation *, int64_t> nodeOf;
  llvm::SmallVector<int64_t> resultTensors; ///< of the function
  /// Arguments that arrive unsummed.
  llvm::DenseMap<int64_t, llvm::SmallVector<spmd::PartialAxisAttr>> partial;

  /// The sharding that says what `state` says.
  spmd::ShardingAttr toAttr(const TensorState &state) const;
  spmd::DimShardingAttr toAttr(llvm::ArrayRef<int64_t> axes,
                               const Boundaries &bounds) const;
  /// The layout that a sharding without dynamic sizes says.
  TensorState toState(spmd::ShardingAttr sharding,
                      mlir::RankedTensorType type) const;
};

/// Ops of `function` that run on shards, in order.
llvm::SmallVector<mlir::Operation *> collectOps(mlir::func::FuncOp function);

/// The op's rule; nullopt where it has none. Failure, with a diagnostic, if the
/// rule does not fit the op.
llvm::FailureOr<std::optional<ShardingRule>> getRule(mlir::Operation *op);

/// The boundaries in which dim `dim` of an argument, of `size` elements and cut
/// as `cut`, arrives where who binds the program says.
Boundaries givenBoundaries(spmd::MeshAttr mesh, int64_t argument, int64_t dim,
                           int64_t size, spmd::DimShardingAttr cut);

/// Gives each use of a constant, an iota or a splat its own copy, so that each
/// takes the sharding its user wants. Later CSE unites those that agree.
void splitSharedSources(mlir::func::FuncOp function);

/// Reads shardings and rules; diagnostics for what cannot be propagated.
llvm::FailureOr<Projection> project(mlir::func::FuncOp function,
                                    spmd::MeshOp mesh);

/// Writes the answer back: shardings, factors and reshards.
llvm::LogicalResult writeBack(Projection &projection,
                              const PropagationOptions &options);

} // namespace shardc::propagation

#endif // SHARDC_PROPAGATION_PROJECTION_H
