//===- OpenExtentsTest.cpp - What follows from extents unnoticed ----------===//
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "shardc/Pipelines/Compile.h"
#include "shardc/Pipelines/Register.h"
#include "shardc/Support/PlantedFault.h"
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

/// What is said of the program, compiled as far as the local view; empty where
/// it is taken.
static std::string compile(StringRef fault, bool reproducible = false,
                           StringRef text = mean) {
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
  plantedFault = fault;
  bool isTaken = succeeded(compileToLocal(*module, options));
  plantedFault = {};
  EXPECT_EQ(isTaken, said.empty()) << said;
  return said;
}

TEST(OpenExtents, AProgramIsTaken) { EXPECT_EQ(compile(""), ""); }

/// A number that came out of a division, and says no more where it comes from.
TEST(OpenExtents, ANumberThatSaysNotWhatItFollowsFromIsRefused) {
  EXPECT_NE(compile("half-an-extent-as-a-number")
                .find("follows from open extents in a way that is not known"),
            std::string::npos);
}

TEST(OpenExtents, APlaceholderThatIsLeftIsRefused) {
  EXPECT_NE(compile("extent-of-one-binding")
                .find("asks for extents that are known when the program is "
                      "compiled"),
            std::string::npos);
}

/// Whether the bits are those of every mesh, symbolic.py compares.
TEST(OpenExtents, OneOrderOnEveryMeshIsTaken) {
  EXPECT_EQ(compile("", /*reproducible=*/true), "");
}

/// Tables, which hold the sizes of one binding, and formulas, which hold those
/// of all, are made apart.
TEST(OpenExtents, TablesThatAreNotThoseOfTheirFormulasAreRefused) {
  EXPECT_NE(
      compile("every-rank-needs-what-the-first-does",
              /*reproducible=*/false, R"mlir(
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<1x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %w: tensor<1x1x3xf32>) -> tensor<1x1x16xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x16xf32>, tensor<1x1x3xf32>) -> tensor<1x1x16xf32>
  return %y : tensor<1x1x16xf32>
}
)mlir")
          .find("tables whose formulas say something else: please report"),
      std::string::npos);
}
