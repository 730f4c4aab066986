//===- Touches.h - Which ops of a block touch a buffer ----------*- C++ -*-===//
#ifndef SHARDC_LIB_BUFFERS_TOUCHES_H
#define SHARDC_LIB_BUFFERS_TOUCHES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace shardc {

/// The ops of `block` that touch `buffer` or what may be a view of it, or have
/// one in them that does; nothing if it goes out of sight.
std::optional<llvm::SetVector<mlir::Operation *>> touchesIn(mlir::Block *block,
                                                            mlir::Value buffer);

} // namespace shardc

#endif // SHARDC_LIB_BUFFERS_TOUCHES_H
