//===- AttributeDialects.h - Prefixes JAX uses on attributes ----*- C++ -*-===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_ATTRIBUTEDIALECTS_H
#define SHARDC_DIALECT_STABLEHLO_IR_ATTRIBUTEDIALECTS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace shardc::stablehlo {

/// Registers `mhlo`, `jax` and `tf` as dialects without ops, so that MLIR
/// accepts discardable attributes with these prefixes (`mhlo.num_partitions`,
/// `jax.result_info`, `tf.aliasing_output`) and still refuses others.
void registerAttributeDialects(mlir::DialectRegistry &registry);

} // namespace shardc::stablehlo

#endif // SHARDC_DIALECT_STABLEHLO_IR_ATTRIBUTEDIALECTS_H
