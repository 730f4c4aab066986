//===- UseModel.h - A model's text, parsed ----------------------*- C++ -*-===//
#ifndef SHARDC_LIB_DRIVER_USEMODEL_H
#define SHARDC_LIB_DRIVER_USEMODEL_H

#include "shardc/Driver/Model.h"

namespace shardc {

/// Calls `use` on the parsed model `options.text`, with `options` made to fit
/// it.
llvm::Error
withModel(llvm::StringRef name, ModelOptions &options, DiagnosticSink &sink,
          llvm::function_ref<llvm::LogicalResult(mlir::ModuleOp)> use);

} // namespace shardc

#endif // SHARDC_LIB_DRIVER_USEMODEL_H
