//===- Register.cpp - Which families there are ----------------------------===//
#include "shardc/Rules/Register.h"
#include "RuleUtils.h"
#include "Sinks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Solver/IR/Solver.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

using namespace mlir;
using namespace shardc;

namespace {
/// By name, since a program may use one of the two dialects without the other.
struct ChloRules : DialectExtensionBase {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChloRules)
  ChloRules() : DialectExtensionBase({"chlo"}) {}
  void apply(MLIRContext *context, MutableArrayRef<Dialect *>) const override {
    rules::attachElementwise(context, "chlo");
    rules::attachTopK(context);
  }
  std::unique_ptr<DialectExtensionBase> clone() const override {
    return std::make_unique<ChloRules>(*this);
  }
};
} // namespace

void shardc::registerShardingRules(DialectRegistry &registry) {
  // Local forms are built of these as well.
  registry.insert<arith::ArithDialect, tensor::TensorDialect>();
  registry.addExtension(
      +[](MLIRContext *context, stablehlo::StablehloDialect *dialect) {
        rules::attachElementwise(context, dialect->getNamespace());
        rules::attachAddressing(context);
        rules::attachCollectives(context);
        rules::attachContractions(context);
        rules::attachParts(context);
        rules::attachFourier(context);
        rules::attachReductions(context);
        rules::attachReshape(context);
        rules::attachShapes(context);
        rules::attachSinks(context);
        rules::attachSorting(context);
        rules::attachSources(context);
        rules::attachWholeDims(context);
        rules::attachWindows(context);
      });
  registry.addExtension(+[](MLIRContext *context, spmd::PairsDialect *) {
    rules::attachAllPairs(context);
  });
  registry.addExtension(+[](MLIRContext *context, spmd::SpmdDialect *) {
    rules::attachDeal(context);
    rules::attachHost(context);
    rules::attachPad(context);
  });
  registry.addExtension(+[](MLIRContext *context, solver::SolverDialect *) {
    rules::attachSolvers(context);
  });
  registry.addExtension(TypeID::get<ChloRules>(),
                        std::make_unique<ChloRules>());
}
