//===- Libraries.h - Products that a vendor's library may do ----*- C++ -*-===//
//
// What of a planned product cuBLASLt or cuDNN can be asked for: which dims of
// its operands are which, and whether the work behind it is an epilogue of
// theirs. docs/Rationale/GPU.md section 6 has the rule.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_LIBRARIES_LIBRARIES_H
#define SHARDC_LIB_KERNELGEN_GPU_LIBRARIES_LIBRARIES_H

#include "../Products/Product.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/KernelGen/GPU.h"

namespace shardc::gpukernels {

struct LibraryPlan {
  spmd::LibraryCallOp call;
  /// The call does the product's elementwise work as well.
  bool takesBehind = false;
};

/// Puts a call before `op` that does what it does, and `product.fusion.behind`
/// where that is an epilogue; none where no library can, or `use` says that it
/// is not worth it. Says as a remark what was chosen.
std::optional<LibraryPlan> callLibrary(linalg::GenericOp op,
                                       const Product &product, LibraryUse use);

/// Lets a library do a step of attention, whose results are then taken into the
/// state, and moves the step into the other branch; false where no library can,
/// or `use` says that it is not worth it. A library rounds weights to 16 bits:
/// unless our kernels may as well (`shortWeights`), it is never a default.
bool callLibrary(spmd::PairStepOp op, LibraryUse use, bool shortWeights);

/// What a call says of when the library is asked: it is `required`, or asked by
/// GPUs with `tcgen05` alone.
struct LibraryWish {
  UnitAttr required, tcgen05;
};
LibraryWish wishOf(OpBuilder &b, LibraryUse use);

/// Whether a library should be asked for `operations` where it may be left out:
/// a call takes `launches` more launches than our kernel, and reads or writes
/// `bytes` more. Nobody has measured by how much a library is faster: it is
/// taken to be by the margin of all estimates.
bool isWorthACall(Operation *op, double operations, int64_t launches,
                  double bytes);

/// Whether dims of `type` are one behind the other, the last one innermost, as
/// far as that is known.
bool isContiguous(MemRefType type, ArrayRef<int64_t> dims);
/// `dims` of a library's call: for each operand and each dim of the kind, the
/// operand's own.
ArrayAttr groupsAttr(OpBuilder &b,
                     ArrayRef<SmallVector<SmallVector<int64_t>>> groups);

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_LIBRARIES_LIBRARIES_H
