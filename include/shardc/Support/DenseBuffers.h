//===- DenseBuffers.h - What the runtime can be passed ----------*- C++ -*-===//
#ifndef SHARDC_SUPPORT_DENSEBUFFERS_H
#define SHARDC_SUPPORT_DENSEBUFFERS_H

#include "mlir/IR/BuiltinTypes.h"

namespace shardc {

/// True if a buffer of `type` is dense, in row-major order.
inline bool isDenseBuffer(mlir::MemRefType type) {
  if (type.getLayout().isIdentity())
    return true;
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  int64_t expected = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    if (type.getDimSize(i) == 1)
      continue;
    // Before a `?` dim strides are `?` too, and nothing is known.
    if (mlir::ShapedType::isDynamic(expected) || strides[i] != expected)
      return false;
    expected = type.isDynamicDim(i) ? mlir::ShapedType::kDynamic
                                    : expected * type.getDimSize(i);
  }
  return true;
}

} // namespace shardc

#endif // SHARDC_SUPPORT_DENSEBUFFERS_H
