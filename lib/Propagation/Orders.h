//===- Orders.h - Which dims may be in any order ----------------*- C++ -*-===//
//
// A function as those see it that put dims in zigzag order: ops with the
// factors that treat their elements alike, and the values that loops, branches
// and constraints forward.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_PROPAGATION_ORDERS_H
#define SHARDC_LIB_PROPAGATION_ORDERS_H

#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdOrders.h"
#include "shardc/Propagation/Projection.h"
#include "llvm/ADT/DenseSet.h"

namespace shardc::propagation {

/// The shards whose zigzag order a dim is in; null: natural order.
using Order = spmd::ZigzagOrder;

/// An op with a rule, and which of its factors may be in any order.
struct OrderNode {
  mlir::Operation *op;
  ShardingRule rule;
  llvm::SmallVector<bool> mayZigzag;
  /// Of ops on all pairs: factors that are the key dim as well.
  int64_t keyFactor = -1, firstCopy = std::numeric_limits<int64_t>::max();

  int64_t numberOf(int64_t factor) const {
    return factor >= firstCopy ? keyFactor : factor;
  }
};

struct OrderGraph {
  llvm::SmallVector<mlir::Operation *> ops;
  std::vector<OrderNode> nodes;
  llvm::DenseMap<mlir::Operation *, size_t> nodeOf;
  /// What region arguments and results of loops, branches and constraints come
  /// from, and what they are.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> edges;
  llvm::DenseMap<mlir::Value, mlir::Value> targetOf;
  llvm::DenseSet<mlir::Value> targets;

  const OrderNode *find(mlir::Operation *op) const {
    auto found = op ? nodeOf.find(op) : nodeOf.end();
    return found == nodeOf.end() ? nullptr : &nodes[found->second];
  }
};

/// True for ops that forward their operand as it is, in another layout.
bool isOrderEdge(mlir::Operation *op);
/// True if `use` forwards its value through a loop or a branch.
bool isForwarded(mlir::OpOperand &use, mlir::func::FuncOp function);

/// Reads `function`; each use of a source gets a copy of its own. Failure, with
/// a diagnostic, if a rule does not fit its op.
llvm::FailureOr<OrderGraph> readOrders(mlir::func::FuncOp function);

/// Calls `visit` for each dim, of results first, that one factor of `node`
/// indexes unchanged and that may be in any order.
void forEachDim(
    OrderNode &node,
    llvm::function_ref<void(mlir::Value value, int64_t dim, int64_t factor)>
        visit);

/// The zigzag orders of each value, by dims.
using Wishes = llvm::DenseMap<mlir::Value, llvm::SmallVector<Order, 4>>;

/// Puts queries and keys of ops on all pairs in zigzag order, with what
/// follows, where all together costs less than each op for itself; leaves
/// `mayZigzag` of what is in zigzag order alone, and `wishes` complete. Ops on
/// all pairs are told why (spmd::contract::OrderNote). Returns what was
/// decided, in words; empty for nothing. Failure, with a diagnostic, as
/// `project`.
llvm::FailureOr<std::string> chooseOrders(OrderGraph &graph, Wishes &wishes,
                                          mlir::func::FuncOp function,
                                          spmd::MeshOp mesh);

/// True if some op of `function` might gain by an order of the whole program.
bool mayChooseOrders(mlir::func::FuncOp function);

} // namespace shardc::propagation

#endif // SHARDC_LIB_PROPAGATION_ORDERS_H
