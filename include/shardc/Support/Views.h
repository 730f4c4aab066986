//===- Views.h - Buffers and views of them ----------------------*- C++ -*-===//
#ifndef SHARDC_SUPPORT_VIEWS_H
#define SHARDC_SUPPORT_VIEWS_H

#include "mlir/Interfaces/ViewLikeInterface.h"

namespace shardc {

/// The buffer that `memref` is a view of, however often; `memref` itself where
/// it is no view.
inline mlir::Value rootOfView(mlir::Value memref) {
  while (auto view = memref.getDefiningOp<mlir::ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

} // namespace shardc

#endif // SHARDC_SUPPORT_VIEWS_H
