//===- Points.h - Kernels that are no products ------------------*- C++ -*-===//
//
// Each makes a kernel of a generic whose points are independent, beside it, if
// that has the form; else it returns false.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_POINTS_POINTS_H
#define SHARDC_LIB_KERNELGEN_GPU_POINTS_POINTS_H

#include "../Launch.h"

namespace shardc::gpukernels {

/// Threads of a block. [shape]
inline constexpr int64_t kBlock = 256;

/// Reductions, of known sizes, whose elements several threads share.
bool launchReductions(linalg::GenericOp op);
/// Elementwise work on inputs that are across the output: through shared
/// memory.
bool launchTransposed(linalg::GenericOp op);
/// Elementwise work on several neighbours at once, 16 bytes of the widest.
bool launchVectors(linalg::GenericOp op);
/// A loop whose iterations work at places that they read: by those who own the
/// places, each in the loop's order.
bool launchScatter(scf::ForOp loop);

/// Makes one op of reductions of columns of `block` that share an input; not of
/// those that `isTaken` says are others'.
void joinSiblingSums(Block &block,
                     llvm::function_ref<bool(Operation *)> isTaken);

/// Makes one kernel each of ops of `block` that follow one another on the same
/// rows, a reduction among them; not of those that `isTaken` says are others'.
void launchRowGroups(Block &block,
                     llvm::function_ref<bool(Operation *)> isTaken);

/// Neighbours along one dim that a thread does at once, with loads and stores
/// of as many as are side by side in memory: 16 bytes of the widest operand.
class Lanes {
public:
  /// Along `dim`, which is no reduction unless `op` reduces it alone.
  Lanes(linalg::GenericOp op, unsigned dim);
  /// How many; 1 if it has none.
  int64_t count() const { return lanes; }

  /// The body of each lane, where `emitter` is at the first; `current` are
  /// a reduction's values so far, and what is returned those behind the last
  /// lane. Results of others are stored.
  SmallVector<Value> emit(OpBuilder &b, PointEmitter &emitter,
                          ArrayRef<Value> current = {});

private:
  bool isVector(OpOperand &operand);

  linalg::GenericOp op;
  unsigned dim;
  int64_t lanes = 1;
};

/// True if each element of `op`'s outputs belongs to one point of its parallel
/// dims: then these points are independent.
bool isParallel(linalg::GenericOp op);
/// Replaces `linalg.index` in regions inside the body by the dims' values: the
/// emitter sees those of the body itself alone.
void flattenIndices(linalg::GenericOp op);
/// The ops that combine elements of `op`'s outputs, if their order does not
/// matter and each has a neutral element; else nothing.
SmallVector<Operation *> combinersOf(linalg::GenericOp op);
/// True if neighbours in memory, in the input of the most dims, are elements of
/// one result.
bool readsAlongReduction(linalg::GenericOp op);

/// Ops inside `op` that depend on the rank alone are computed outside.
void hoistRankValues(Operation *op);

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_POINTS_POINTS_H
