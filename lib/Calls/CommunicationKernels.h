//===- CommunicationKernels.h - Kernels of communication --------*- C++ -*-===//
#ifndef SHARDC_LIB_CALLS_COMMUNICATIONKERNELS_H
#define SHARDC_LIB_CALLS_COMMUNICATIONKERNELS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "shardrt/Sites.h"

namespace shardc {

/// Adds to `kernels` those that the runtime needs for the sites of `table`
/// (shardrt/CommunicationKernels.h), each once; returns them.
llvm::SmallVector<mlir::gpu::GPUFuncOp>
addCommunicationKernels(mlir::gpu::GPUModuleOp kernels,
                        const shardrt::SiteTable &table);

} // namespace shardc

#endif // SHARDC_LIB_CALLS_COMMUNICATIONKERNELS_H
