//===- OpenExtentsTest.cpp - What follows from extents unnoticed ----------===//
#include "../../lib/PlantAfter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Pipelines/Compile.h"
#include "shardc/Pipelines/Register.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace shardc;

/// The mean of `?` numbers.
static constexpr const char *mean = R"mlir(
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %mean = stablehlo.divide %sum, %f : tensor<f32>
  return %mean : tensor<f32>
}
)mlir";

/// Windows of two of `?` numbers, two apart, and how many numbers there are.
static constexpr const char *windows = R"mlir(
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<i32>, tensor<?xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %windows = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %n, %windows : tensor<i32>, tensor<?xf32>
}
)mlir";

/// The same, and the last 2 (n / 2) of them: all, where they are even.
static constexpr const char *lastWindows = R"mlir(
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<i32>, tensor<?xf32>, tensor<?xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %half = stablehlo.divide %n, %two : tensor<i32>
  %even = stablehlo.multiply %half, %two : tensor<i32>
  %rest = stablehlo.subtract %n, %even : tensor<i32>
  %start = stablehlo.reshape %rest : (tensor<i32>) -> tensor<1xi32>
  %end = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %last = stablehlo.real_dynamic_slice %x, %start, %end, %one : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %windows = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %n, %windows, %last : tensor<i32>, tensor<?xf32>, tensor<?xf32>
}
)mlir";

/// What is said of the program, compiled as far as the local view; empty where
/// it is taken. `edit`: what is done to it before it is partitioned.
static std::string compile(PlantAfter::Plant edit = {},
                           bool reproducible = false, StringRef text = mean) {
  DialectRegistry registry;
  registerShardcDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::string said;
  ScopedDiagnosticHandler keeper(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  StageOptions options;
  options.dynamic = "all";
  options.reproducible = reproducible;
  if (edit)
    options.instrument = [&](PassManager &pm) {
      pm.addInstrumentation(
          std::make_unique<PlantAfter>("spmd-verify-propagated", edit));
    };
  bool isTaken = succeeded(compileToLocal(*module, options));
  EXPECT_EQ(isTaken, said.empty()) << said;
  return said;
}

TEST(OpenExtents, AProgramIsTaken) { EXPECT_EQ(compile(), ""); }

/// A number that came out of a division, and says no more where it comes from.
TEST(OpenExtents, ANumberThatSaysNotWhatItFollowsFromIsRefused) {
  auto halve = [](ModuleOp module) {
    module.walk(
        [](spmd::ExtentOp op) { op.setPlaceholder(op.getPlaceholder() / 2); });
  };
  EXPECT_NE(compile(halve).find(
                "follows from open extents in a way that is not known"),
            std::string::npos);
}

/// n - 1, which beside an odd placeholder is also 2 (n / 2).
static void takeOneLess(ModuleOp module) {
  module.walk(
      [](spmd::ExtentOp op) { op.setPlaceholder(op.getPlaceholder() - 1); });
}

TEST(OpenExtents, ANumberThatIsTwoExtentsOfOddPlaceholdersIsRefused) {
  EXPECT_EQ(compile({}, /*reproducible=*/false, windows), "");
  EXPECT_NE(compile(takeOneLess, /*reproducible=*/false, windows)
                .find("'local.lookup' at -:3: its local form follows"),
            std::string::npos);
}

/// With even placeholders there is no slice: the program has other ops.
TEST(OpenExtents, SoItIsAmongOpsThatEvenPlaceholdersHaveNot) {
  EXPECT_EQ(compile({}, /*reproducible=*/false, lastWindows), "");
  EXPECT_NE(compile(takeOneLess, /*reproducible=*/false, lastWindows)
                .find("'local.lookup' at -:3: its local form follows"),
            std::string::npos);
}

TEST(OpenExtents, APlaceholderThatIsLeftIsRefused) {
  auto freeze = [](ModuleOp module) {
    module.walk([](spmd::ExtentOp op) {
      OpBuilder builder(op);
      auto type = cast<RankedTensorType>(op.getType());
      auto number =
          builder.getIntegerAttr(type.getElementType(), op.getPlaceholder());
      auto constant = stablehlo::ConstantOp::create(
          builder, op.getLoc(), DenseElementsAttr::get(type, number));
      op.replaceAllUsesWith(constant->getResult(0));
      op.erase();
    });
  };
  EXPECT_NE(compile(freeze).find(
                "asks for extents that are known when the program is "
                "compiled"),
            std::string::npos);
}

/// Whether the bits are those of every mesh, symbolic.py compares.
TEST(OpenExtents, OneOrderOnEveryMeshIsTaken) {
  EXPECT_EQ(compile({}, /*reproducible=*/true), "");
}

/// Tables, which hold the sizes of one binding, and formulas, which hold those
/// of all, are made apart.
TEST(OpenExtents, TablesThatAreNotThoseOfTheirFormulasAreRefused) {
  bool isPlanted = false;
  auto moveBorder = [&](ModuleOp module) {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    auto sharding = spmd::contract::Sharding::ofArgument(main, 0);
    SmallVector<spmd::DimShardingAttr> dims(sharding.getDims());
    for (spmd::DimShardingAttr &dim : dims) {
      if (!dim.getFormula() || !dim.getSizes() || dim.getSizes().size() != 2)
        continue;
      ArrayRef<int64_t> sizes = dim.getSizes().asArrayRef();
      dim = spmd::DimShardingAttr::get(
          module.getContext(), dim.getAxes(),
          DenseI64ArrayAttr::get(module.getContext(),
                                 {sizes[0] + 1, sizes[1] - 1}),
          dim.getDynamicSizes(), dim.getOpen(), dim.getPriority(),
          dim.getZigzag(), dim.getFormula());
      isPlanted = true;
    }
    spmd::contract::Sharding::setOfArgument(
        main, 0,
        spmd::ShardingAttr::get(module.getContext(), sharding.getMesh(), dims,
                                sharding.getReplicated(),
                                sharding.getPartial()));
  };
  EXPECT_NE(
      compile(moveBorder, /*reproducible=*/false, R"mlir(
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<1x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %w: tensor<1x1x3xf32>) -> tensor<1x1x16xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x16xf32>, tensor<1x1x3xf32>) -> tensor<1x1x16xf32>
  return %y : tensor<1x1x16xf32>
}
)mlir")
          .find("tables whose formulas say something else: please report"),
      std::string::npos);
  EXPECT_TRUE(isPlanted);
}
