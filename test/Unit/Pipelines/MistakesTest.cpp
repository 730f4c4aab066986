//===- MistakesTest.cpp - What stages say of mistakes that are ours -------===//
//
// A rule that does not fit its op, an op that has a rule and no local form, and
// plans of memory that are wrong come from no program, but from whoever adds an
// op or changes a stage.
//
//===----------------------------------------------------------------------===//
#include "../../../lib/Memory/EmitPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "shardc/Interfaces/Localization.h"
#include "shardc/Memory/Passes.h"
#include "shardc/Pipelines/Register.h"
#include "shardc/Pipelines/Stages.h"
#include <algorithm>
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

/// An op that has a rule, and a local form that cannot be built.
class UnbuiltOp
    : public Op<UnbuiltOp, OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                OpTrait::OneOperand, OpTrait::OneResult> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnbuiltOp)
  using Op::Op;
  static StringRef getOperationName() { return "mistakes.unbuilt"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}
};

/// Result i is made of operand i.
template <typename OpT>
struct SameRule : ShardingRuleOpInterface::ExternalModel<SameRule<OpT>, OpT> {
  FailureOr<ShardingRule> getShardingRule(Operation *op) const {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    ShardingRule rule;
    TensorRule same;
    for (int64_t size : type.getShape())
      same.dims.push_back(IndexMap::identity(rule.addFactor(size)));
    if (!std::is_same_v<OpT, UnfitOp>)
      rule.operands = {same};
    rule.results = {same};
    return rule;
  }
};

struct NoForm : LocalizeOpInterface::ExternalModel<NoForm, UnbuiltOp> {
  FailureOr<SmallVector<Value>> localize(Operation *, Localization &) const {
    return failure();
  }
};

class MistakesDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MistakesDialect)
  static StringRef getDialectNamespace() { return "mistakes"; }
  explicit MistakesDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context,
                TypeID::get<MistakesDialect>()) {
    addOperations<UnfitOp, FormlessOp, UnbuiltOp>();
    UnfitOp::attachInterface<SameRule<UnfitOp>>(*context);
    FormlessOp::attachInterface<SameRule<FormlessOp>>(*context);
    UnbuiltOp::attachInterface<SameRule<UnbuiltOp>, NoForm>(*context);
  }
};

} // namespace mistakes

/// What is said of `text` when `build`'s passes run.
static std::string said(StringRef text,
                        llvm::function_ref<void(PassManager &)> build) {
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
  bool ran = module && succeeded(pipeline.run(*module));
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

/// A chain on rows that takes more than 40,000 bytes, with `op` in it.
static std::string chainOf(StringRef op) {
  return (R"mlir(
spmd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<1009x16xf32>, %w: tensor<16x16xf32>) -> tensor<16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1009x16xf32>, tensor<16x16xf32>) -> tensor<1009x16xf32>
  %1 = ")mlir" +
          op + R"mlir("(%0) : (tensor<1009x16xf32>) -> tensor<1009x16xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<1009x16xf32>, tensor<16x16xf32>) -> tensor<1009x16xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1009x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}
)mlir")
      .str();
}

static void fitMemory(PassManager &pipeline) {
  FitMemoryPassOptions options;
  options.limit = 40000;
  pipeline.addNestedPass<func::FuncOp>(createFitMemoryPass(options));
}

TEST(Mistakes, APlanOfRowsOfWhatHasNone) {
  EXPECT_EQ(said(chainOf("stablehlo.tanh"), fitMemory), "");
  EXPECT_EQ(said(chainOf("mistakes.unbuilt"), fitMemory),
            "'mistakes.unbuilt' op has no form on a block of rows, which the "
            "plan of memory counts on\n");
}

TEST(Mistakes, APlanOfMemoryInAnotherOrder) {
  DialectRegistry registry;
  registerShardcDialects(registry);
  MLIRContext context(registry);
  std::string messages;
  ScopedDiagnosticHandler keeper(&context, [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"mlir(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %x : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
)mlir",
                                                             &context);
  ASSERT_TRUE(module) << messages;
  Block &block = module->lookupSymbol<func::FuncOp>("main").getBody().front();
  auto plan = [&] {
    memory::PlannedBlock planned;
    planned.values.push_back(block.getArgument(0));
    planned.program.addValue(0);
    for (Operation &op : block) {
      memory::PlanOp info;
      info.source = planned.ops.size();
      info.operands.push_back({int64_t(planned.values.size()) - 1});
      if (op.getNumResults()) {
        planned.values.push_back(op.getResult(0));
        info.results.push_back(planned.program.addValue(32));
      }
      planned.program.addOp(std::move(info));
      planned.ops.push_back(&op);
    }
    planned.program.formGroups();
    return planned;
  };
  memory::RowSpaces rows(block);
  memory::PlannedBlock wrong = plan();
  std::reverse(wrong.program.order.begin(), wrong.program.order.end());
  EXPECT_TRUE(failed(memory::emitPlan(wrong, rows, /*blockBytes=*/1024)));
  EXPECT_EQ(messages,
            "the plan of memory reads values before they are "
            "made: a mistake of the compiler; a larger limit may avoid it\n");
  memory::PlannedBlock right = plan();
  EXPECT_TRUE(succeeded(memory::emitPlan(right, rows, /*blockBytes=*/1024)));
}
