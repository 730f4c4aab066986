//===- Sinks.h - Rules of calls that only look at values --------*- C++ -*-===//
#ifndef SHARDC_LIB_RULES_SINKS_H
#define SHARDC_LIB_RULES_SINKS_H

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace shardc::rules {

void attachSinks(mlir::MLIRContext *context);

} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_SINKS_H
