//===- BufferOperands.h - Operands of an op as buffers ----------*- C++ -*-===//
#ifndef SHARDC_LIB_BUFFERS_BUFFEROPERANDS_H
#define SHARDC_LIB_BUFFERS_BUFFEROPERANDS_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

namespace shardc {

/// The operands of `op`, tensors as their buffers; failure if one has none.
inline mlir::FailureOr<mlir::SmallVector<mlir::Value>>
bufferOperands(mlir::Operation *op, mlir::RewriterBase &rewriter,
               const mlir::bufferization::BufferizationOptions &options,
               mlir::bufferization::BufferizationState &state) {
  mlir::SmallVector<mlir::Value> operands;
  for (mlir::Value operand : op->getOperands()) {
    if (mlir::isa<mlir::TensorType>(operand.getType())) {
      mlir::FailureOr<mlir::Value> buffer =
          mlir::bufferization::getBuffer(rewriter, operand, options, state);
      if (mlir::failed(buffer))
        return mlir::failure();
      operand = *buffer;
    }
    operands.push_back(operand);
  }
  return operands;
}

} // namespace shardc

#endif // SHARDC_LIB_BUFFERS_BUFFEROPERANDS_H
