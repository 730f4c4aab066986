//===- AddAnOpTest.cpp - An op of one's own, cut over ranks ---------------===//
//
// The op of docs/Tutorials/AddAnOp.md. Its dialect, its sharding rule and its
// local form are here; propagation and partition know nothing of it.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Interfaces/Localization.h"
#include "shardc/Pipelines/Register.h"
#include "shardc/Pipelines/Stages.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace shardc;

namespace tutorial {

/// result[i] = x[i - 1] + x[i] + x[i + 1]. With `padded`, zeros are outside
/// of x; without it, x has one element more at each end than the result.
class BlurOp : public Op<BlurOp, OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                         OpTrait::OneOperand, OpTrait::OneResult> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BlurOp)
  using Op::Op;
  static StringRef getOperationName() { return "tutorial.blur"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

struct BlurRule : ShardingRuleOpInterface::ExternalModel<BlurRule, BlurOp> {
  FailureOr<ShardingRule> getShardingRule(Operation *op) const {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    ShardingRule rule;
    int64_t i = rule.addFactor(type.getDimSize(0));
    int64_t j = rule.addFactor(3, FactorKind::NeedReplication);
    // The operand is read at i + j - 1; zeros are outside.
    TensorRule x;
    x.dims = {IndexMap{{{i, 1}, {j, 1}}, /*offset=*/-1}};
    x.fill = Fill::Zero;
    TensorRule result;
    result.dims = {IndexMap::identity(i)};
    rule.operands = {x};
    rule.results = {result};
    return rule;
  }
};

struct BlurLocal : LocalizeOpInterface::ExternalModel<BlurLocal, BlurOp> {
  FailureOr<SmallVector<Value>> localize(Operation *op,
                                         Localization &localization) const {
    OpBuilder &builder = localization.builder();
    OperationState state(op->getLoc(), BlurOp::getOperationName());
    state.addOperands(localization.operands());
    state.addTypes(localization.resultType(0));
    // A dim that is cut arrives with its neighbours, or with zeros at the edge.
    if (!localization.isOperandDimLocal(0, 0))
      state.addAttribute("padded", builder.getUnitAttr());
    return SmallVector<Value>(builder.create(state)->getResults());
  }
};

class TutorialDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TutorialDialect)
  static StringRef getDialectNamespace() { return "tutorial"; }
  explicit TutorialDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context,
                TypeID::get<TutorialDialect>()) {
    addOperations<BlurOp>();
    BlurOp::attachInterface<BlurRule, BlurLocal>(*context);
  }
};

} // namespace tutorial

/// The program of every rank for one blur of 20 numbers, `x` cut as said.
static std::string partition(StringRef cut) {
  DialectRegistry registry;
  registerShardcDialects(registry);
  registry.insert<tutorial::TutorialDialect>();
  MLIRContext context(registry);
  std::string text =
      "spmd.mesh @mesh = <[\"x\"=4]>\n"
      "func.func @main(%x: tensor<20xf32> {spmd.sharding = "
      "#spmd.sharding<@mesh, [{" +
      cut.str() +
      "}]>}) -> tensor<20xf32> {\n"
      "  %0 = \"tutorial.blur\"(%x) {padded} : (tensor<20xf32>) -> "
      "tensor<20xf32>\n"
      "  return %0 : tensor<20xf32>\n"
      "}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "";
  PassManager pipeline(&context);
  buildPropagateStage(pipeline, StageOptions());
  buildPartitionStage(pipeline, StageOptions());
  if (failed(pipeline.run(*module)))
    return "";
  std::string printed;
  llvm::raw_string_ostream(printed) << *module;
  return printed;
}

static void expectLine(const std::string &printed, StringRef line) {
  EXPECT_NE(printed.find(line.str()), std::string::npos)
      << "no " << line.str() << " in\n"
      << printed;
}

TEST(AddAnOp, TheRuleAloneBringsTheHalo) {
  std::string printed = partition("\"x\"");
  expectLine(printed, "local.halo_exchange");
  expectLine(printed, "[0:5, 5:10, 10:15, 15:20] -> [-1:6, 4:11, 9:16, 14:21]");
  expectLine(printed,
             "\"tutorial.blur\"(%0) : (tensor<7xf32>) -> tensor<5xf32>");
}

TEST(AddAnOp, ShardsMayHaveAnySizes) {
  std::string printed = partition("\"x\" sizes [9, 1, 0, 10]");
  expectLine(printed, "[0:9, 9:10, 10:10, 10:20] -> [-1:10, 8:11, ");
  expectLine(printed, ", 9:21]");
  expectLine(printed,
             "\"tutorial.blur\"(%0) : (tensor<?xf32>) -> tensor<?xf32>");
}

TEST(AddAnOp, WhatIsNotCutStaysAsItIs) {
  std::string printed = partition("");
  EXPECT_EQ(printed.find("halo_exchange"), std::string::npos) << printed;
  expectLine(printed, "{padded} : (tensor<20xf32>) -> tensor<20xf32>");
}
