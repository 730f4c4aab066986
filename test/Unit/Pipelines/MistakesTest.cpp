//===- MistakesTest.cpp - What stages say of mistakes that are ours -------===//
//
// A rule that does not fit its op, an op that has a rule and no local form, and
// plans of memory that are wrong come from no program, but from whoever adds an
// op or changes a stage.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "shardc/Interfaces/Localization.h"
#include "shardc/Memory/Passes.h"
#include "shardc/Pipelines/Register.h"
#include "shardc/Pipelines/Stages.h"
#include "shardc/Support/PlantedFault.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace shardc;

namespace mistakes {

/// An op whose rule says nothing of its operand.
class UnfitOp
    : public Op<UnfitOp, OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                OpTrait::OneOperand, OpTrait::OneResult> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnfitOp)
  using Op::Op;
  static StringRef getOperationName() { return "mistakes.unfit"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

/// An op that has a rule alone.
class FormlessOp
    : public Op<FormlessOp, OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                OpTrait::OneOperand, OpTrait::OneResult> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormlessOp)
  using Op::Op;
  static StringRef getOperationName() { return "mistakes.formless"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

/// Result i is made of operand i.
template <typename OpT>
struct SameRule : ShardingRuleOpInterface::ExternalModel<SameRule<OpT>, OpT> {
  FailureOr<ShardingRule> getShardingRule(Operation *op) const {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    ShardingRule rule;
    TensorRule same;
    same.dims = {IndexMap::identity(rule.addFactor(type.getDimSize(0)))};
    if (std::is_same_v<OpT, FormlessOp>)
      rule.operands = {same};
    rule.results = {same};
    return rule;
  }
};

class MistakesDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MistakesDialect)
  static StringRef getDialectNamespace() { return "mistakes"; }
  explicit MistakesDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context,
                TypeID::get<MistakesDialect>()) {
    addOperations<UnfitOp, FormlessOp>();
    UnfitOp::attachInterface<SameRule<UnfitOp>>(*context);
    FormlessOp::attachInterface<SameRule<FormlessOp>>(*context);
  }
};

} // namespace mistakes

/// What is said of `text` when `build`'s passes run, with `fault` planted.
static std::string said(StringRef text,
                        llvm::function_ref<void(PassManager &)> build,
                        StringRef fault = {}) {
  DialectRegistry registry;
  registerShardcDialects(registry);
  registry.insert<mistakes::MistakesDialect>();
  MLIRContext context(registry);
  std::string messages;
  ScopedDiagnosticHandler keeper(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      messages += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << messages;
  PassManager pipeline(&context);
  build(pipeline);
  plantedFault = fault;
  bool ran = module && succeeded(pipeline.run(*module));
  plantedFault = {};
  EXPECT_EQ(ran, messages.empty()) << messages;
  return messages;
}

static void propagateAndPartition(PassManager &pipeline) {
  buildPropagateStage(pipeline, StageOptions());
  buildPartitionStage(pipeline, StageOptions());
}

static std::string programOf(StringRef op) {
  return ("spmd.mesh @mesh = <[\"x\"=4]>\n"
          "func.func @main(%x: tensor<20xf32> {spmd.sharding = "
          "#spmd.sharding<@mesh, [{\"x\"}]>}) -> tensor<20xf32> {\n"
          "  %0 = \"mistakes." +
          op +
          "\"(%x) : (tensor<20xf32>) -> tensor<20xf32>\n"
          "  return %0 : tensor<20xf32>\n"
          "}\n")
      .str();
}

TEST(Mistakes, ARuleThatDoesNotFitItsOp) {
  EXPECT_NE(said(programOf("unfit"), propagateAndPartition)
                .find("'mistakes.unfit' op has a sharding rule that does not "
                      "fit it: "),
            std::string::npos);
}

TEST(Mistakes, AnOpWithARuleAndNoLocalForm) {
  EXPECT_EQ(said(programOf("formless"), propagateAndPartition),
            "'mistakes.formless' op has a sharding rule but no local form\n");
}

/// A chain on rows that takes more than 40,000 bytes.
static constexpr StringRef chain = R"mlir(
spmd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<1009x16xf32>, %w: tensor<16x16xf32>) -> tensor<16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1009x16xf32>, tensor<16x16xf32>) -> tensor<1009x16xf32>
  %1 = stablehlo.tanh %0 : tensor<1009x16xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<1009x16xf32>, tensor<16x16xf32>) -> tensor<1009x16xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1009x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}
)mlir";

static void fitMemory(PassManager &pipeline) {
  FitMemoryPassOptions options;
  options.limit = 40000;
  pipeline.addNestedPass<func::FuncOp>(createFitMemoryPass(options));
}

TEST(Mistakes, APlanOfMemoryInAnotherOrder) {
  EXPECT_EQ(said(chain, fitMemory), "");
  EXPECT_EQ(said(chain, fitMemory, "plan-of-memory-in-another-order"),
            "the plan of memory reads values before they are made: a mistake "
            "of the compiler; a larger limit may avoid it\n");
}

TEST(Mistakes, APlanOfRowsOfWhatHasNone) {
  EXPECT_NE(said(chain, fitMemory, "rows-of-an-op-that-has-none")
                .find("has no form on a block of rows, which the plan of "
                      "memory counts on"),
            std::string::npos);
}
