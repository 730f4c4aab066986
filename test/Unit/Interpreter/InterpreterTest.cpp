//===- InterpreterTest.cpp - Small programs, computed by hand -------------===//

#include "shardc/Interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interpreter/DialectInterface.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

namespace {
class InterpreterTest : public testing::Test {
protected:
  InterpreterTest() {
    DialectRegistry registry;
    registerConformanceHandlers(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<stablehlo::StablehloDialect, chlo::ChloDialect,
                        sdy::SdyDialect, spmd::SpmdDialect, spmd::LocalDialect,
                        spmd::PairsDialect, spmd::KernelDialect,
                        func::FuncDialect>();
  }

  /// The real elements of all results of @main, one behind the other; no
  /// arguments. Empty, with what was said in `message`, where it fails.
  std::vector<double> run(llvm::StringRef text, const Options &options = {}) {
    std::vector<double> elements;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << message;
    if (!module)
      return elements;
    FailureOr<Outcome> outcome = interpret(*module, {}, options);
    if (failed(outcome))
      return elements;
    checksHeld = outcome->checksHeld;
    checksFailed = outcome->failedChecks.size();
    for (const Array &result : outcome->results)
      for (int64_t i = 0; i < result.size(); ++i)
        if (result.format().isInteger()) {
          elements.push_back(result[i].integer);
        } else {
          elements.push_back(result[i].real);
          if (result.format().isComplex())
            elements.push_back(result[i].imag);
        }
    return elements;
  }
  /// What `op`, with %a, %b and %c as said, makes of them.
  std::vector<double> of(llvm::StringRef constants, llvm::StringRef op,
                         llvm::StringRef type) {
    return run(("func.func @main() -> " + type + " {\n" + constants +
                "\n%r = " + op + "\nreturn %r : " + type + "\n}")
                   .str());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string message;
  int64_t checksHeld = 0, checksFailed = 0;
};

using Doubles = std::vector<double>;
} // namespace

TEST_F(InterpreterTest, FormatsWithoutSignOrInfinity) {
  std::vector<double> powers =
      of("%a = stablehlo.constant dense<[3.0, -3.0, 0.0, 5.0]> : tensor<4xf32>",
         "stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E8M0FNU>",
         "tensor<4xf8E8M0FNU>");
  EXPECT_EQ(powers[0], 4); // halfway: up
  EXPECT_TRUE(std::isnan(powers[1]));
  EXPECT_TRUE(std::isnan(powers[2]));
  EXPECT_EQ(powers[3], 4);
  std::vector<double> largest =
      of("%a = stablehlo.constant dense<[0x7F800000, 0xFF800000, 100.0]> : "
         "tensor<3xf32>",
         "stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xf4E2M1FN>",
         "tensor<3xf4E2M1FN>");
  EXPECT_EQ(largest, (std::vector<double>{6, -6, 6}));
}

TEST_F(InterpreterTest, RoundsToTheElementTypeAfterEachOp) {
  // 1 + 2^-11 is half way between two f16, 1 + 2^-8 between two bf16: to even.
  EXPECT_EQ(of("%a = stablehlo.constant dense<1.0> : tensor<f16>\n%b = "
               "stablehlo.constant dense<4.8828125e-4> : tensor<f16>",
               "stablehlo.add %a, %b : tensor<f16>", "tensor<f16>"),
            Doubles{1.0});
  EXPECT_EQ(of("%a = stablehlo.constant dense<1.0> : tensor<bf16>\n%b = "
               "stablehlo.constant dense<0.00390625> : tensor<bf16>",
               "stablehlo.add %a, %b : tensor<bf16>", "tensor<bf16>"),
            Doubles{1.0});
  // 2^24 + 1 is no f32.
  EXPECT_EQ(of("%a = stablehlo.constant dense<16777216.0> : tensor<f32>\n%b = "
               "stablehlo.constant dense<1.0> : tensor<f32>",
               "stablehlo.add %a, %b : tensor<f32>", "tensor<f32>"),
            Doubles{16777216.0});
}

TEST_F(InterpreterTest, IntegersWrapAndDivideAsXlaHasIt) {
  EXPECT_EQ(
      of("%a = stablehlo.constant dense<[127, -128, 7]> : tensor<3xi8>\n%b = "
         "stablehlo.constant dense<[1, -1, 0]> : tensor<3xi8>",
         "stablehlo.add %a, %b : tensor<3xi8>", "tensor<3xi8>"),
      (Doubles{-128, 127, 7}));
  EXPECT_EQ(
      of("%a = stablehlo.constant dense<[-7, -128, 7]> : tensor<3xi8>\n%b = "
         "stablehlo.constant dense<[2, -1, 0]> : tensor<3xi8>",
         "stablehlo.divide %a, %b : tensor<3xi8>", "tensor<3xi8>"),
      (Doubles{-3, -128, -1}));
  EXPECT_EQ(of("%a = stablehlo.constant dense<[200, 3]> : tensor<2xui8>\n%b = "
               "stablehlo.constant dense<[100, 200]> : tensor<2xui8>",
               "stablehlo.maximum %a, %b : tensor<2xui8>", "tensor<2xui8>"),
            (Doubles{200, 200}));
}

TEST_F(InterpreterTest, ConversionsSaturate) {
  EXPECT_EQ(of("%a = stablehlo.constant dense<[300.7, -300.0, 0x7FC00000, "
               "3.9]> : tensor<4xf32>",
               "stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi8>",
               "tensor<4xi8>"),
            (Doubles{127, -128, 0, 3}));
}

TEST_F(InterpreterTest, ShiftsBeyondTheWidthLeaveNothingOrTheSign) {
  EXPECT_EQ(of("%a = stablehlo.constant dense<[-8, -8, 8]> : tensor<3xi8>\n%b "
               "= stablehlo.constant dense<[1, 9, 9]> : tensor<3xi8>",
               "stablehlo.shift_right_arithmetic %a, %b : tensor<3xi8>",
               "tensor<3xi8>"),
            (Doubles{-4, -1, 0}));
  EXPECT_EQ(of("%a = stablehlo.constant dense<[-8, -8]> : tensor<2xi8>\n%b = "
               "stablehlo.constant dense<[1, 8]> : tensor<2xi8>",
               "stablehlo.shift_right_logical %a, %b : tensor<2xi8>",
               "tensor<2xi8>"),
            (Doubles{124, 0}));
}

TEST_F(InterpreterTest, ComparesInTotalOrder) {
  EXPECT_EQ(of("%a = stablehlo.constant dense<[-0.0, 0x7FC00000, 0xFFC00000]> "
               ": tensor<3xf32>\n"
               "%b = stablehlo.constant dense<[0.0, 0x7F800000, 0xFF800000]> : "
               "tensor<3xf32>",
               "stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<3xf32>, "
               "tensor<3xf32>) -> tensor<3xi1>",
               "tensor<3xi1>"),
            (Doubles{1, 0, 1}));
}

TEST_F(InterpreterTest, PadsCutAndSpread) {
  EXPECT_EQ(
      of("%a = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n%b = "
         "stablehlo.constant dense<9.0> : tensor<f32>",
         "stablehlo.pad %a, %b, low = [-1], high = [2], interior = [1] : "
         "(tensor<3xf32>, tensor<f32>) -> tensor<6xf32>",
         "tensor<6xf32>"),
      (Doubles{9, 2, 9, 3, 9, 9}));
}

TEST_F(InterpreterTest, ConvolutionWithStrideDilationAndReversal) {
  // Taps 1, 10 at distance 2 over 1 2 3 4 with one zero before: reversed they
  // are 10, 1.
  EXPECT_EQ(of("%a = stablehlo.constant dense<[[[1.0], [2.0], [3.0], [4.0]]]> "
               ": tensor<1x4x1xf32>\n"
               "%b = stablehlo.constant dense<[[[1.0]], [[10.0]]]> : "
               "tensor<2x1x1xf32>",
               "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, "
               "o]->[b, 0, f], window = {stride = [2], pad = "
               "[[1, 0]], rhs_dilate = [2], reverse = [true]} "
               "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
               "(tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x1xf32>",
               "tensor<1x2x1xf32>"),
            (Doubles{2, 24}));
}

TEST_F(InterpreterTest, DotGeneralOrdersBatchThenFree) {
  EXPECT_EQ(of("%a = stablehlo.constant dense<[[[1, 2]], [[3, 4]]]> : "
               "tensor<2x1x2xi32>\n"
               "%b = stablehlo.constant dense<[[[1, 0], [0, 1]], [[1, 1], [2, "
               "0]]]> : tensor<2x2x2xi32>",
               "stablehlo.dot_general %a, %b, batching_dims = [0] x [0], "
               "contracting_dims = [2] x [1] : "
               "(tensor<2x1x2xi32>, tensor<2x2x2xi32>) -> tensor<2x1x2xi32>",
               "tensor<2x1x2xi32>"),
            (Doubles{1, 2, 11, 3}));
}

TEST_F(InterpreterTest, BooleansAreAddedByOr) {
  EXPECT_EQ(of("%a = stablehlo.constant dense<[[true, true], [false, true], "
               "[false, false]]> : tensor<3x2xi1>\n"
               "%b = stablehlo.constant dense<true> : tensor<2xi1>",
               "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
               "(tensor<3x2xi1>, tensor<2xi1>) -> tensor<3xi1>",
               "tensor<3xi1>"),
            (Doubles{1, 1, 0}));
}

TEST_F(InterpreterTest, ProductsByNamedDims) {
  // [[1, 2, 3], [4, 5, 6]] and [[1, 0], [2, 1], [0, 3]].
  std::string constants =
      "%a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : "
      "tensor<2x3xi32>\n"
      "%b = stablehlo.constant dense<[[1, 0], [2, 1], [0, 3]]> : "
      "tensor<3x2xi32>";
  auto product = [&](llvm::StringRef config, llvm::StringRef type) {
    return of(constants,
              ("stablehlo.einsum %a, %b, config = \"" + config +
               "\" : (tensor<2x3xi32>, tensor<3x2xi32>) -> " + type)
                  .str(),
              type);
  };
  EXPECT_EQ(product("ab,bc->ac", "tensor<2x2xi32>"), (Doubles{5, 11, 14, 23}));
  EXPECT_EQ(product("ab, bc -> ca", "tensor<2x2xi32>"),
            (Doubles{5, 14, 11, 23}));
  // "b" is kept: 1*1, 4*1, 2*2 + 2*1, …
  EXPECT_EQ(product("ab,bc->ba", "tensor<3x2xi32>"),
            (Doubles{1, 4, 6, 15, 9, 18}));
  // No letter is common: sums of all, 6 and 15 times 3 and 4.
  EXPECT_EQ(product("ab,cd->ad", "tensor<2x2xi32>"), (Doubles{18, 24, 45, 60}));
  auto sum = [&](llvm::StringRef config, llvm::StringRef type) {
    return of(constants,
              ("stablehlo.unary_einsum %a, config = \"" + config +
               "\" : (tensor<2x3xi32>) -> " + type)
                  .str(),
              type);
  };
  EXPECT_EQ(sum("ab->b", "tensor<3xi32>"), (Doubles{5, 7, 9}));
  EXPECT_EQ(sum("ab->ba", "tensor<3x2xi32>"), (Doubles{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(sum("ab->", "tensor<i32>"), Doubles{21});
  for (llvm::StringRef bad : {"aa->a", "ab->c", "a->a", "ab,b->a", "ab->aa"}) {
    EXPECT_TRUE(sum(bad, "tensor<2xi32>").empty()) << bad.str();
    EXPECT_EQ(message, ("unsupported: not known to the interpreter: config \"" +
                        bad + "\"")
                           .str());
  }
  // The letter "b" has three elements and two.
  EXPECT_TRUE(product("ab,cb->ac", "tensor<2x3xi32>").empty());
  // (1 + 2i)(3 - i) + (2i)(1) = 5 + 5i + 2i
  EXPECT_EQ(of("%a = stablehlo.constant dense<[(1.0, 2.0), (0.0, 2.0)]> : "
               "tensor<2xcomplex<f32>>\n%b = stablehlo.constant dense<[(3.0, "
               "-1.0), (1.0, 0.0)]> : tensor<2xcomplex<f32>>",
               "stablehlo.einsum %a, %b, config = \"a,a->\" : "
               "(tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> "
               "tensor<complex<f32>>",
               "tensor<complex<f32>>"),
            (Doubles{5, 7}));
}

TEST_F(InterpreterTest, RowsByIndexWithBatches) {
  std::string constants =
      "%a = stablehlo.constant dense<[[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, "
      "10], [11, 12]]]> : tensor<2x3x2xi32>\n"
      "%i = stablehlo.constant dense<[[2, 0], [1, 9]]> : tensor<2x2xi32>\n"
      "%u = stablehlo.constant dense<[1, 0, 1]> : tensor<3xui8>";
  // Rows 2 and 0 of the first; 1 and 9, which is the last, of the second.
  EXPECT_EQ(of(constants,
               "\"stablehlo.torch_index_select\"(%a, %i) {dim = 1 : i64, "
               "batch_dims = 1 : i64} : (tensor<2x3x2xi32>, tensor<2x2xi32>) "
               "-> tensor<2x2x2xi32>",
               "tensor<2x2x2xi32>"),
            (Doubles{5, 6, 1, 2, 9, 10, 11, 12}));
  // Without batches both dims of the index are in the dim's place.
  EXPECT_EQ(of(constants,
               "\"stablehlo.torch_index_select\"(%a, %i) {dim = 2 : i64, "
               "batch_dims = 0 : i64} : (tensor<2x3x2xi32>, tensor<2x2xi32>) "
               "-> tensor<2x3x2x2xi32>",
               "tensor<2x3x2x2xi32>"),
            (Doubles{2, 1, 2, 2, 4,  3, 4,  4,  6,  5,  6,  6,
                     8, 7, 8, 8, 10, 9, 10, 10, 12, 11, 12, 12}));
  EXPECT_EQ(
      of(constants,
         "\"stablehlo.torch_index_select\"(%a, %u) {dim = 0 : i64, "
         "batch_dims = 0 : i64} : (tensor<2x3x2xi32>, tensor<3xui8>) -> "
         "tensor<3x3x2xi32>",
         "tensor<3x3x2xi32>"),
      (Doubles{7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST_F(InterpreterTest, ScansCarryAlongADim) {
  auto scan = [&](llvm::StringRef attributes) {
    return run(("func.func @main() -> (tensor<2x3xi32>, tensor<2xi32>) {\n"
                "%x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : "
                "tensor<2x3xi32>\n"
                "%c = stablehlo.constant dense<[10, 20]> : tensor<2xi32>\n"
                "%r:2 = chlo.scan(%x) inits(%c) dimension=1" +
                attributes +
                " {\n^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):\n"
                "%s = stablehlo.add %a, %b : tensor<2xi32>\n"
                "stablehlo.return %b, %s : tensor<2xi32>, tensor<2xi32>\n} : "
                "(tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, "
                "tensor<2xi32>)\n"
                "return %r#0, %r#1 : tensor<2x3xi32>, tensor<2xi32>\n}")
                   .str());
  };
  EXPECT_EQ(scan(""), (Doubles{10, 11, 13, 20, 24, 29, 16, 35}));
  EXPECT_EQ(scan(" attributes {is_reverse = true}"),
            (Doubles{15, 13, 10, 31, 26, 20, 16, 35}));
}

TEST_F(InterpreterTest, GatherClampsAndScatterDrops) {
  EXPECT_EQ(
      of("%a = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>\n%i = "
         "stablehlo.constant dense<[[1], [7], [-2]]> : tensor<3x1xi32>",
         "\"stablehlo.gather\"(%a, %i) <{dimension_numbers = "
         "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], "
         "index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : "
         "(tensor<3xi32>, tensor<3x1xi32>) -> tensor<3xi32>",
         "tensor<3xi32>"),
      (Doubles{20, 30, 10}));
  EXPECT_EQ(
      of("%a = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>\n%i = "
         "stablehlo.constant dense<[[1], [7], [1]]> : tensor<3x1xi32>\n"
         "%u = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>",
         "\"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = "
         "#stablehlo.scatter<inserted_window_dims = [0], "
         "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> "
         "({\n^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
         "%s = stablehlo.add %x, %y : tensor<i32>\nstablehlo.return %s : "
         "tensor<i32>\n}) : "
         "(tensor<3xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<3xi32>",
         "tensor<3xi32>"),
      (Doubles{10, 24, 30}));
}

TEST_F(InterpreterTest, LoopsAndBranches) {
  EXPECT_EQ(run("func.func @main() -> (tensor<i32>, tensor<i32>) {\n%z = "
                "stablehlo.constant dense<0> : tensor<i32>\n"
                "%n = stablehlo.constant dense<5> : tensor<i32>\n%one = "
                "stablehlo.constant dense<1> : tensor<i32>\n"
                "%r:2 = stablehlo.while(%i = %z, %s = %z) : tensor<i32>, "
                "tensor<i32>\ncond {\n"
                "%p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, "
                "tensor<i32>) -> tensor<i1>\nstablehlo.return %p : tensor<i1>\n"
                "} do {\n%j = stablehlo.add %i, %one : tensor<i32>\n%t = "
                "stablehlo.add %s, %j : tensor<i32>\n"
                "stablehlo.return %j, %t : tensor<i32>, tensor<i32>\n}\n"
                // Index 15 is out of range: the last branch.
                "%c = \"stablehlo.case\"(%r#1) ({\nstablehlo.return %z : "
                "tensor<i32>\n}, {\nstablehlo.return %n : tensor<i32>\n}) : "
                "(tensor<i32>) -> tensor<i32>\nreturn %r#1, %c : tensor<i32>, "
                "tensor<i32>\n}"),
            (Doubles{15, 5}));
}

TEST_F(InterpreterTest, ManualRegionsRunInLockStep) {
  // Ranks 0 and 1 hold 1 2 and 3 4; each sends its block on, and adds its
  // number.
  EXPECT_EQ(
      run("sdy.mesh @mesh = <[\"x\"=2]>\nfunc.func @main() -> tensor<4xi32> {\n"
          "%a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>\n"
          "%r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\"}]>] "
          "out_shardings=[<@mesh, [{\"x\"}]>] manual_axes={\"x\"} "
          "(%v: tensor<2xi32>) {\n%p = \"stablehlo.collective_permute\"(%v) "
          "<{channel_handle = #stablehlo.channel_handle<handle = 1, "
          "type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : "
          "tensor<2x2xi64>}> : (tensor<2xi32>) -> tensor<2xi32>\n"
          "%id = stablehlo.partition_id : tensor<ui32>\n%n = stablehlo.convert "
          "%id : (tensor<ui32>) -> tensor<i32>\n"
          "%b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> "
          "tensor<2xi32>\n"
          "%s = stablehlo.add %p, %b : tensor<2xi32>\nsdy.return %s : "
          "tensor<2xi32>\n} : (tensor<4xi32>) -> tensor<4xi32>\n"
          "return %r : tensor<4xi32>\n}"),
      (Doubles{3, 4, 2, 3}));
}

TEST_F(InterpreterTest, UnreducedOperandsAreKeptOnce) {
  EXPECT_EQ(
      run("sdy.mesh @mesh = <[\"x\"=2]>\nfunc.func @main() -> tensor<2xi32> {\n"
          "%a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
          "%r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}], "
          "unreduced={\"x\"}>] out_shardings=[<@mesh, [{}], "
          "unreduced={\"x\"}>] manual_axes={\"x\"} (%v: tensor<2xi32>) "
          "{\nsdy.return %v : tensor<2xi32>\n} : "
          "(tensor<2xi32>) -> tensor<2xi32>\nreturn %r : tensor<2xi32>\n}"),
      (Doubles{1, 2}));
}

TEST_F(InterpreterTest, OurOwnManualRegionsMeanTheSame) {
  // Each of two rows is a block: the sums of both rows are cut along their
  // columns, and each rank adds its number.
  EXPECT_EQ(run(R"mlir(
    spmd.mesh @mesh = <["x"=2, "y"=2]>
    func.func @main() -> tensor<4xi32> {
      %a = stablehlo.constant dense<[[1, 2, 3, 4], [10, 20, 30, 40]]> : tensor<2x4xi32>
      %r = spmd.manual(%a) in [#spmd.sharding<@mesh, [{"x"}, {}]>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
      ^bb0(%v: tensor<1x4xi32>):
        %w = stablehlo.reshape %v : (tensor<1x4xi32>) -> tensor<4xi32>
        %s = "stablehlo.reduce_scatter"(%w) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
        ^bb0(%p: tensor<i32>, %q: tensor<i32>):
          %t = stablehlo.add %p, %q : tensor<i32>
          stablehlo.return %t : tensor<i32>
        }) : (tensor<4xi32>) -> tensor<2xi32>
        %id = stablehlo.partition_id : tensor<ui32>
        %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
        %b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> tensor<2xi32>
        %m = stablehlo.add %s, %b : tensor<2xi32>
        spmd.return %m : tensor<2xi32>
      } : (tensor<2x4xi32>) -> tensor<4xi32>
      return %r : tensor<4xi32>
    })mlir"),
            (std::vector<double>{11, 22, 35, 46}));
  // A result that is to be summed along an axis: blocks 1 2 and 3 4.
  EXPECT_EQ(run(R"mlir(
    spmd.mesh @mesh = <["x"=2]>
    func.func @main() -> tensor<2xi32> {
      %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
      %r = spmd.manual(%a) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{}], partial = {"x" = sum}>] along ["x"] {
      ^bb0(%v: tensor<2xi32>):
        spmd.return %v : tensor<2xi32>
      } : (tensor<4xi32>) -> tensor<2xi32>
      return %r : tensor<2xi32>
    })mlir"),
            (std::vector<double>{4, 6}));
}

TEST_F(InterpreterTest, BlocksOfOlderExporters) {
  // Devices 0 to 5 as 2 x 3, transposed: "model" (3) cuts the rows, and devices
  // 0 and 3 hold the first ones. Blocks go one on along "model", and each row
  // is numbered by its device on the way.
  EXPECT_EQ(run(R"mlir(
    module attributes {mhlo.num_partitions = 6 : i32} {
      func.func @main() -> tensor<3x2xi32> {
        %a = stablehlo.constant dense<[[10, 11], [20, 21], [30, 31]]> : tensor<3x2xi32>
        %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[3,1,2]<=[2,3]T(1,0) last_tile_dim_replicate}"} : (tensor<3x2xi32>) -> tensor<3x2xi32>
        %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<3x2xi32>) -> tensor<1x2xi32>
        %2 = func.call @body(%1) : (tensor<1x2xi32>) -> tensor<1x2xi32>
        %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<1x2xi32>) -> tensor<1x2xi32>
        %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[3,1,2]<=[2,3]T(1,0) last_tile_dim_replicate}"} : (tensor<1x2xi32>) -> tensor<3x2xi32>
        return %4 : tensor<3x2xi32>
      }
      func.func private @body(%v: tensor<1x2xi32>) -> tensor<1x2xi32> {
        %p = "stablehlo.collective_permute"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]]> : tensor<6x2xi64>}> : (tensor<1x2xi32>) -> tensor<1x2xi32>
        %id = stablehlo.partition_id : tensor<ui32>
        %k = stablehlo.constant dense<3> : tensor<ui32>
        %m = stablehlo.remainder %id, %k : tensor<ui32>
        %n = stablehlo.convert %m : (tensor<ui32>) -> tensor<i32>
        %b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> tensor<1x2xi32>
        %s = stablehlo.add %p, %b : tensor<1x2xi32>
        return %s : tensor<1x2xi32>
      }
    })mlir"),
            (std::vector<double>{30, 31, 11, 12, 22, 23}));
}

TEST_F(InterpreterTest, SmallerDimsAreThoseThatNothingBinds) {
  // Two devices: 101 stays odd. What is padded loses what its result loses;
  // a result of two parts loses twice what each part does, so that 80 becomes
  // 8 where 40 becomes 4. Elements that differ keep their sizes.
  module = parseSourceString<ModuleOp>(R"mlir(
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<101x64xf32>, %b: tensor<64x50xf32>, %c: tensor<40x30xf32>, %e: tensor<12xi32>) -> (tensor<101x1x50xf32>, tensor<40x30xf32>, tensor<80x30xf32>, tensor<12xi32>) {
      %f = stablehlo.constant dense<[1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]> : tensor<12xi32>
      %g = stablehlo.add %e, %f : tensor<12xi32>
      %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<101x64xf32>, tensor<64x50xf32>) -> tensor<101x50xf32>
      %one = stablehlo.constant dense<1.0> : tensor<101x50xf32>
      %s = stablehlo.add %d, %one : tensor<101x50xf32>
      %r = stablehlo.reshape %s : (tensor<101x50xf32>) -> tensor<101x1x50xf32>
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %p = stablehlo.pad %c, %z, low = [0, 1], high = [0, -1], interior = [0, 0] : (tensor<40x30xf32>, tensor<f32>) -> tensor<40x30xf32>
      %k = stablehlo.concatenate %c, %p, dim = 0 : (tensor<40x30xf32>, tensor<40x30xf32>) -> tensor<80x30xf32>
      return %r, %p, %k, %g : tensor<101x1x50xf32>, tensor<40x30xf32>, tensor<80x30xf32>, tensor<12xi32>
    })mlir",
                                       &context);
  ASSERT_TRUE(module);
  OwningOpRef<ModuleOp> small = smaller(*module, 8);
  ASSERT_TRUE(small);
  std::string type;
  llvm::raw_string_ostream(type)
      << small->lookupSymbol<func::FuncOp>("main").getFunctionType();
  EXPECT_EQ(type, "(tensor<7x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>, "
                  "tensor<12xi32>) -> (tensor<7x1x8xf32>, tensor<4x8xf32>, "
                  "tensor<8x8xf32>, tensor<12xi32>)");
  EXPECT_FALSE(smaller(*small, 8));
}

TEST_F(InterpreterTest, RandomBitsAreXlas) {
  // The first two words of Threefry-2x32 for key and counter 0 (Random123's
  // known answers).
  EXPECT_EQ(
      run("func.func @main() -> tensor<2xui32> {\n%s = stablehlo.constant "
          "dense<0> : tensor<2xui64>\n"
          "%n, %b = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : "
          "(tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)\n"
          "return %b : tensor<2xui32>\n}"),
      (Doubles{0x6b200159, 0x99ba4efe}));
}

TEST_F(InterpreterTest, TheGeneratorDefaultIsPhilox) {
  // The first block of Philox-4x32 for key and counter 0 (Random123's known
  // answers).
  EXPECT_EQ(
      run("func.func @main() -> tensor<4xui32> {\n%s = stablehlo.constant "
          "dense<0> : tensor<2xui64>\n"
          "%n, %b = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : "
          "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)\n"
          "return %b : tensor<4xui32>\n}"),
      (Doubles{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST_F(InterpreterTest, OrdersChangeNoValues) {
  EXPECT_EQ(of("%a = stablehlo.constant dense<3.0> : tensor<f32>\n"
               "stablehlo.custom_call @control_dep(%a, %a) {has_side_effect = "
               "true} : (tensor<f32>, tensor<f32>) -> ()",
               "stablehlo.negate %a : tensor<f32>", "tensor<f32>"),
            (Doubles{-3}));
}

TEST_F(InterpreterTest, TransformsByDefinition) {
  // 1 0 0 0 has all ones; 0 1 0 0 the powers of -i.
  EXPECT_EQ(
      of("%a = stablehlo.constant dense<[0.0, 1.0, 0.0, 0.0]> : tensor<4xf32>",
         "stablehlo.fft %a, type = RFFT, length = [4] : (tensor<4xf32>) -> "
         "tensor<3xcomplex<f32>>",
         "tensor<3xcomplex<f32>>"),
      (Doubles{1, 0, 0, -1, -1, 0}));
}

TEST_F(InterpreterTest, FactorsOfAMatrix) {
  EXPECT_EQ(of("%a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 10.0]]> : "
               "tensor<2x2xf32>",
               "stablehlo.cholesky %a, lower = true : tensor<2x2xf32>",
               "tensor<2x2xf32>"),
            (Doubles{2, 0, 1, 3}));
}

TEST_F(InterpreterTest, ChecksThatDoNotHoldAreCounted) {
  run("func.func @main() {\n%a = stablehlo.constant dense<[1, 2]> : "
      "tensor<2xi32>\n"
      "check.expect_eq_const %a, dense<[1, 2]> : "
      "tensor<2xi32>\ncheck.expect_eq_const %a, dense<[1, 3]> : "
      "tensor<2xi32>\nreturn\n}");
  EXPECT_EQ(checksHeld, 1);
  EXPECT_EQ(checksFailed, 1);
}

TEST_F(InterpreterTest, WhatIsNotKnownHasAName) {
  EXPECT_TRUE(of("%a = stablehlo.constant dense<1.0> : tensor<f32>",
                 "stablehlo.custom_call @no_such_thing(%a) : (tensor<f32>) -> "
                 "tensor<f32>",
                 "tensor<f32>")
                  .empty());
  EXPECT_EQ(
      message,
      "unsupported: not known to the interpreter: custom call @no_such_thing");
}

TEST_F(InterpreterTest, GivesUpBeyondItsWork) {
  EXPECT_TRUE(run("func.func @main() -> tensor<100xf32> {\n%r = stablehlo.iota "
                  "dim = 0 : tensor<100xf32>\nreturn %r : tensor<100xf32>\n}",
                  {/*maxWork=*/50})
                  .empty());
  EXPECT_EQ(message,
            "unsupported: the interpreter was to compute at most 50 elements");
}
