//===- Buckets.h - Communication that may travel together -------*- C++ -*-===//
#ifndef SHARDC_LIB_COMMUNICATION_BUCKETS_H
#define SHARDC_LIB_COMMUNICATION_BUCKETS_H

#include "mlir/IR/Operation.h"
#include "shardc/Layout/Formula.h"

namespace shardc {

/// Communication ops of one block that do not need one another.
struct Bucket {
  llvm::SmallVector<mlir::Operation *> members;
  /// Ops between the first and the last member that need a member's result.
  llvm::SmallVector<mlir::Operation *> dependents;

  /// The members' reasons, each once; null if there are none.
  mlir::StringAttr joinReasons() const;
  /// A location made of all of theirs.
  mlir::Location joinLocations() const;
  /// Puts what needs a member's result behind the last one, and erases the
  /// members, whose results are to have no uses left.
  void retire();
};

/// Takes `first` and, of what is behind it in its block, all that `mayJoin`
/// (asked in order; it may count) and need none of those taken.
Bucket fillBucket(mlir::Operation *first,
                  llvm::function_ref<bool(mlir::Operation *)> mayJoin);

/// How communication travels together.
struct Bundling {
  int64_t memberLimit, bucketLimit; ///< bytes of one member, and of all
  llvm::function_ref<bool(mlir::Operation *)> mayStart;
  llvm::function_ref<int64_t(mlir::Operation *)> bytesOf;
  llvm::function_ref<bool(mlir::Operation *, mlir::Operation *)>
      mayTravelTogether;
  llvm::function_ref<void(Bucket &)> combine; ///< retires the bucket
};

/// Fills and combines buckets of the ops of `block`, until no two are left that
/// may travel together. Returns whether there were any.
bool bundle(mlir::Block &block, const Bundling &how);

/// Bytes of `value`, which `op` moves or gives: the most that a rank has of it
/// in the binding by which costs are estimated; INT64_MAX where nothing says.
int64_t estimateBytes(mlir::Operation *op, mlir::Value value);

/// What is around both, if that is not much more than they are whatever is
/// bound; else none.
Formula nearHullOf(const Formula &a, const Formula &b);

} // namespace shardc

#endif // SHARDC_LIB_COMMUNICATION_BUCKETS_H
