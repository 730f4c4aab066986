//===- DialectInterface.h - Ops that tools let be interpreted ---*- C++ -*-===//
#ifndef SHARDC_INTERPRETER_DIALECTINTERFACE_H
#define SHARDC_INTERPRETER_DIALECTINTERFACE_H

#include "mlir/IR/DialectInterface.h"

namespace shardc::interpreter {

struct Table;

/// Of a dialect whose ops the interpreter does not know: what computes them.
/// Verifiers of these ops take an open size for any size.
class HandlerDialectInterface
    : public mlir::DialectInterface::Base<HandlerDialectInterface> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HandlerDialectInterface)
  explicit HandlerDialectInterface(mlir::Dialect *dialect) : Base(dialect) {}

  virtual void addHandlers(Table &table) const = 0;
};

/// Lets the interpreter read conformance files in contexts of `registry`.
/// Tools ask for it: no library links it.
void registerConformanceHandlers(mlir::DialectRegistry &registry);

} // namespace shardc::interpreter

#endif // SHARDC_INTERPRETER_DIALECTINTERFACE_H
