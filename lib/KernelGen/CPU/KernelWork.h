//===- KernelWork.h - What a kernel has to do, by its code ------*- C++ -*-===//
#ifndef SHARDC_KERNELGEN_CPU_KERNELWORK_H
#define SHARDC_KERNELGEN_CPU_KERNELWORK_H

#include "mlir/IR/Builders.h"

namespace shardc {

/// What a kernel cannot do without, as i64 values of the program.
struct KernelWork {
  /// Bytes of the buffers that it reads and of those that it writes, each once;
  /// without those that nothing else uses. As if it read all of a buffer.
  mlir::Value bytes;
  /// Operations on floats: a fused multiply-add is two, a function (exp) one.
  /// -1 where data says how often a loop runs.
  mlir::Value operations;
};

/// Counts the work of the ops from `first` to `last`, which are of one block;
/// `b` inserts after `last`. Sizes that are not known when compiling are
/// multiplied when the program runs.
KernelWork countWork(mlir::OpBuilder &b, mlir::Operation *first,
                     mlir::Operation *last);

} // namespace shardc

#endif // SHARDC_KERNELGEN_CPU_KERNELWORK_H
