//===- Effects.h - What ops touch -------------------------------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_EFFECTS_H
#define SHARDC_LIB_KERNELGEN_GPU_EFFECTS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace shardc::gpukernels {

/// What assembly begins with that is a comment alone: it touches nothing.
inline constexpr llvm::StringLiteral kEmptyAssembly = "// part ";

using namespace mlir;

/// A buffer under the name that an op has for it.
struct Place {
  Value memref, root;
  bool isOwn; ///< no other root is the same memory, but for what is in place
};

/// What an op touches; `all`: perhaps any buffer.
struct Touched {
  SmallVector<Place, 4> reads, writes;
  bool all = false;

  void add(const Touched &other) {
    reads.append(other.reads);
    writes.append(other.writes);
    all |= other.all;
  }
  bool isNone() const { return !all && reads.empty() && writes.empty(); }
};

/// What `op` touches, with all that is in it. Shared memory of a launch is a
/// block's own.
Touched touchedBy(Operation *op);

/// True if the order of the two matters.
bool conflict(const Touched &a, const Touched &b);

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_EFFECTS_H
