//===- Vhlo.h - StableHLO's portable artifacts ------------------*- C++ -*-===//
//
// A portable artifact (what jax.export writes and PJRT hands over) is MLIR's
// bytecode of VHLO: StableHLO in which every op, attribute and type has a
// version and stays as it was. It is read, never written or printed. Its
// attributes and types become those of StableHLO as they are read; its ops are
// replaced as soon as a program is there.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_VHLO_IR_VHLO_H
#define SHARDC_DIALECT_VHLO_IR_VHLO_H

#include "mlir/IR/ExtensibleDialect.h"

namespace shardc::vhlo {

class VhloDialect final : public mlir::ExtensibleDialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VhloDialect)
  explicit VhloDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return "vhlo"; }
};

} // namespace shardc::vhlo

#endif // SHARDC_DIALECT_VHLO_IR_VHLO_H
