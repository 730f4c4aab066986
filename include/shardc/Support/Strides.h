//===- Strides.h - Distances between elements of a buffer -------*- C++ -*-===//
#ifndef SHARDC_SUPPORT_STRIDES_H
#define SHARDC_SUPPORT_STRIDES_H

#include "mlir/IR/BuiltinTypes.h"

namespace shardc {

/// What MemRefType::getStridesAndOffset gives, in elements; failure where the
/// layout has no strides. MLIR reads them off an affine map, which for a plain
/// buffer it makes first: types of plain buffers are asked most.
inline mlir::LogicalResult
getStridesAndOffset(mlir::MemRefType type,
                    llvm::SmallVectorImpl<int64_t> &strides, int64_t &offset) {
  if (!type.getLayout().isIdentity()) {
    strides.clear();
    return type.getStridesAndOffset(strides, offset);
  }
  offset = 0;
  strides.assign(type.getRank(), mlir::ShapedType::kDynamic);
  int64_t running = 1;
  // As in MLIR: outside of a dim of no elements nothing is known.
  for (int64_t dim = type.getRank() - 1; dim >= 0 && running > 0; --dim) {
    strides[dim] = running;
    running *= std::max<int64_t>(type.getDimSize(dim), 0);
  }
  return mlir::success();
}

/// The same of a type that has strides.
inline std::pair<llvm::SmallVector<int64_t>, int64_t>
stridesAndOffset(mlir::MemRefType type) {
  std::pair<llvm::SmallVector<int64_t>, int64_t> result;
  mlir::LogicalResult found =
      getStridesAndOffset(type, result.first, result.second);
  assert(mlir::succeeded(found) && "the layout has no strides");
  (void)found;
  return result;
}

} // namespace shardc

#endif // SHARDC_SUPPORT_STRIDES_H
