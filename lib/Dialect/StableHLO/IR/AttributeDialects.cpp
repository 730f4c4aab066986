//===- AttributeDialects.cpp - Prefixes JAX uses on attributes ------------===//
#include "shardc/Dialect/StableHLO/IR/AttributeDialects.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

namespace {
/// A dialect of nothing but its name.
template <typename ConcreteT> class NameOnlyDialect : public Dialect {
public:
  explicit NameOnlyDialect(MLIRContext *context)
      : Dialect(ConcreteT::getDialectNamespace(), context,
                TypeID::get<ConcreteT>()) {}
};

struct MhloDialect final : NameOnlyDialect<MhloDialect> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MhloDialect)
  using NameOnlyDialect::NameOnlyDialect;
  static constexpr StringLiteral getDialectNamespace() { return "mhlo"; }
};
struct JaxDialect final : NameOnlyDialect<JaxDialect> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(JaxDialect)
  using NameOnlyDialect::NameOnlyDialect;
  static constexpr StringLiteral getDialectNamespace() { return "jax"; }
};
struct TfDialect final : NameOnlyDialect<TfDialect> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TfDialect)
  using NameOnlyDialect::NameOnlyDialect;
  static constexpr StringLiteral getDialectNamespace() { return "tf"; }
};
} // namespace

void shardc::stablehlo::registerAttributeDialects(DialectRegistry &registry) {
  registry.insert<MhloDialect, JaxDialect, TfDialect>();
}
