//===- RefusalTest.cpp - What the interpreter refuses, and how it says so -===//
//
// An oracle that goes on where a program means nothing gives a number that
// nobody can trust: each of these ends with one diagnostic.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interpreter/Interpreter.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

namespace {
class RefusalTest : public testing::Test {
protected:
  RefusalTest() {
    context.loadDialect<stablehlo::StablehloDialect, chlo::ChloDialect,
                        sdy::SdyDialect, spmd::SpmdDialect, spmd::LocalDialect,
                        spmd::PairsDialect, spmd::KernelDialect,
                        func::FuncDialect, tensor::TensorDialect,
                        arith::ArithDialect, cf::ControlFlowDialect>();
  }

  /// What is said of a program; "" if it runs.
  std::string refusal(StringRef text, ArrayRef<Array> arguments = {},
                      bool isLocal = false) {
    std::string message;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << message;
    if (!module)
      return "";
    FailureOr<Outcome> outcome = isLocal ? interpretLocal(*module, arguments)
                                         : interpret(*module, arguments);
    EXPECT_EQ(failed(outcome), !message.empty());
    return message;
  }

  /// The same of a manual region along "x", of two ranks, on integers v.
  std::string refusalOfManual(StringRef body) {
    return refusal((R"(
      sdy.mesh @mesh = <["x"=2]>
      func.func @main() -> tensor<4xi32> {
        %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
        %r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>]
            out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"}
            (%v: tensor<2xi32>) {
          )" + body +
                    R"(
          sdy.return %s : tensor<2xi32>
        } : (tensor<4xi32>) -> tensor<4xi32>
        return %r : tensor<4xi32>
      })")
                       .str());
  }

  /// The same of the local view of two ranks, without arguments; %n is 1 on the
  /// first rank and 2 on the other, %d as many elements.
  std::string refusalOfLocal(StringRef body) {
    return refusal((R"(
      spmd.mesh @mesh = <["x"=2]>
      func.func @main() attributes {spmd.local_view} {
        %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
        %n = local.lookup [1, 2] along ["x"] on @mesh
        %d = tensor.extract_slice %a[0] [%n] [1]
            : tensor<4xi32> to tensor<?xi32>
        )" + body + R"(
        return
      })")
                       .str(),
                   {}, /*isLocal=*/true);
  }

  MLIRContext context;
};

constexpr StringRef kNotKnown = "unsupported: not known to the interpreter: ";
} // namespace

TEST_F(RefusalTest, FunctionsThatCallThemselvesByWayOfOthers) {
  EXPECT_EQ(refusal(R"(
    func.func @main() { call @a() : () -> () return }
    func.func private @a() { call @b() : () -> () return }
    func.func private @b() { call @a() : () -> () return })"),
            (kNotKnown + "a function that calls itself").str());
  EXPECT_EQ(refusal("func.func @main() { call @main() : () -> () return }"),
            (kNotKnown + "a function that calls itself").str());
  // One after the other is no recursion.
  EXPECT_EQ(refusal(R"(
    func.func @main() { call @a() : () -> () call @a() : () -> () return }
    func.func private @a() { return })"),
            "");
}

TEST_F(RefusalTest, MoreCallsThanTheStackHas) {
  std::string text = "func.func @main() { call @f0() : () -> () return }\n"
                     "func.func private @f1100() { return }\n";
  for (int64_t i = 0; i < 1100; ++i)
    text += "func.func private @f" + llvm::itostr(i) + "() { call @f" +
            llvm::itostr(i + 1) + "() : () -> () return }\n";
  EXPECT_EQ(refusal(text),
            (kNotKnown + "more than 1000 calls, one in the other").str());
}

// What stands in the first block alone is not what the program says.
TEST_F(RefusalTest, SeveralBlocks) {
  EXPECT_EQ(refusal(R"(
    func.func @main() -> tensor<2xi32> {
      %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
      cf.br ^bb1(%a : tensor<2xi32>)
    ^bb1(%b: tensor<2xi32>):
      %0 = stablehlo.add %b, %b : tensor<2xi32>
      return %0 : tensor<2xi32>
    })"),
            (kNotKnown + "a branch to another block").str());
}

TEST_F(RefusalTest, ArraysThatDoNotFit) {
  Format format = *Format::of(IntegerType::get(&context, 32));
  EXPECT_EQ(refusal("func.func @main(%a: tensor<4xi32>) { return }",
                    Array(format, {3})),
            "has an argument of type 'tensor<4xi32>', which the array given "
            "does not fit");
}

TEST_F(RefusalTest, ShapesThatDoNotFitWhenTheProgramRuns) {
  auto of = [&](StringRef numbers, StringRef op) {
    return refusal(("func.func @main() {\n"
                    "%a = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
                    "%n = stablehlo.constant dense<" +
                    numbers + "> : tensor<1xi64>\n" +
                    "%two = stablehlo.constant dense<2> : tensor<1xi64>\n" +
                    "%one = stablehlo.constant dense<1> : tensor<1xi64>\n" +
                    "%zero = stablehlo.constant dense<0> : tensor<1xi64>\n" +
                    op + "\nreturn\n}")
                       .str());
  };
  StringRef iota = "%r = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) "
                   "-> tensor<?xi32>\n";
  EXPECT_EQ(of("-1", iota), "has -1 elements in dim 0 when it runs, expected 0 "
                            "or more");
  EXPECT_EQ(of("4", (iota + "%s = stablehlo.dynamic_iota %two, dim = 0 : "
                            "(tensor<1xi64>) -> tensor<?xi32>\n"
                            "%t = stablehlo.add %r, %s : tensor<?xi32>")
                        .str()),
            "'stablehlo.add' op requires the same type for all operands and "
            "results when it runs");
  EXPECT_EQ(of("4", (iota + "%s = stablehlo.slice %r [2:5] : (tensor<?xi32>) "
                            "-> tensor<3xi32>")
                        .str()),
            "'stablehlo.slice' op slices dim 0 from 2 to 5, which is no part "
            "of its 4 elements when it runs");
  StringRef slice = "%r = stablehlo.real_dynamic_slice %a, %zero, %two, %n : "
                    "(tensor<3xi32>, tensor<1xi64>, tensor<1xi64>, "
                    "tensor<1xi64>) -> tensor<?xi32>";
  EXPECT_EQ(of("0", slice),
            "takes 0:2 by 0 of dim 0 when it runs, expected a step of 1 or "
            "more, inside of its 3 elements");
  StringRef from = "%r = stablehlo.real_dynamic_slice %a, %n, %two, %one : "
                   "(tensor<3xi32>, tensor<1xi64>, tensor<1xi64>, "
                   "tensor<1xi64>) -> tensor<?xi32>";
  EXPECT_EQ(of("-1", from),
            "takes -1:2 by 1 of dim 0 when it runs, expected a step of 1 or "
            "more, inside of its 3 elements");
  StringRef spread = "%r = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = "
                     "[0] : (tensor<3xi32>, tensor<1xi64>) -> tensor<?xi32>";
  EXPECT_EQ(of("4", spread),
            "spreads dim 0 of 3 elements along one of 4 when it runs, expected "
            "1 or as many");
  EXPECT_EQ(of("3", spread), "");
}

TEST_F(RefusalTest, AssertionsOfShapes) {
  EXPECT_EQ(refusal(R"(
    func.func @main() {
      %no = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.custom_call @shape_assertion(%no) {has_side_effect = true}
          : (tensor<i1>) -> ()
      return
    })"),
            "asserts what does not hold of the shapes");
}

TEST_F(RefusalTest, CollectivesThatRanksDoNotReach) {
  EXPECT_EQ(refusalOfManual(R"(
    %s = "stablehlo.all_reduce"(%v) ({
    ^bb0(%p: tensor<i32>, %q: tensor<i32>):
      %t = stablehlo.add %p, %q : tensor<i32>
      stablehlo.return %t : tensor<i32>
    }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        use_global_device_ids} : (tensor<2xi32>) -> tensor<2xi32>)"),
            "has groups that leave out ranks that reach it, or name one twice");
  auto onFirst = [&](StringRef op) {
    return refusalOfManual((R"(
      %id = stablehlo.partition_id : tensor<ui32>
      %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %s = "stablehlo.case"(%i) ({
        %0 = )" + op + R"( : (tensor<2xi32>) -> tensor<2xi32>
        stablehlo.return %0 : tensor<2xi32>
      }, {
        stablehlo.return %v : tensor<2xi32>
      }) : (tensor<i32>) -> tensor<2xi32>)")
                               .str());
  };
  EXPECT_EQ(onFirst(R"("stablehlo.collective_permute"(%v)
                {source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>})"),
            "receives from rank 1, which does not reach it");
  EXPECT_EQ(onFirst(R"("stablehlo.collective_broadcast"(%v)
                {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>})"),
            "receives from rank 1, which does not reach it");
  EXPECT_EQ(onFirst(R"("stablehlo.all_gather"(%v)
                {all_gather_dim = 0 : i64, use_global_device_ids,
                 channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
                 replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>})"),
            "");
}

TEST_F(RefusalTest, CollectivesOfOtherShapes) {
  EXPECT_EQ(refusalOfManual(R"(
    %id = stablehlo.partition_id : tensor<ui32>
    %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i64>
    %n = stablehlo.reshape %i : (tensor<i64>) -> tensor<1xi64>
    %u = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
    %w = "stablehlo.all_reduce"(%u) ({
    ^bb0(%p: tensor<i32>, %q: tensor<i32>):
      %t = stablehlo.add %p, %q : tensor<i32>
      stablehlo.return %t : tensor<i32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        use_global_device_ids} : (tensor<?xi32>) -> tensor<?xi32>
    %s = stablehlo.add %v, %v : tensor<2xi32>)"),
            "is between ranks whose operands have different shapes when it "
            "runs");
}

TEST_F(RefusalTest, ShardsThatDevicesDoNotHandOn) {
  EXPECT_EQ(refusal(R"(
    module attributes {mhlo.num_partitions = 2 : i32} {
      func.func @main() {
        %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
        %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<2xi32>) -> tensor<2xi32>
        %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<2xi32>) -> tensor<1xi32>
        %id = stablehlo.partition_id : tensor<ui32>
        %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
        %s = "stablehlo.case"(%i) ({
          %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<1xi32>) -> tensor<2xi32>
          stablehlo.return %2 : tensor<2xi32>
        }, {
          stablehlo.return %a : tensor<2xi32>
        }) : (tensor<i32>) -> tensor<2xi32>
        return
      }
    })"),
            "is reached by 1 of 2 devices");
}

TEST_F(RefusalTest, SlicesOutsideOfABlock) {
  EXPECT_EQ(refusalOfLocal(R"(
    %e = tensor.extract_slice %a[3] [%n] [1] : tensor<4xi32> to tensor<?xi32>)"),
            "reads outside of its operand in dim 0: 2 from 3 on, of 4");
  EXPECT_EQ(refusalOfLocal(R"(
    %e = tensor.insert_slice %d into %a[3] [%n] [1]
        : tensor<?xi32> into tensor<4xi32>)"),
            "writes outside of its operand in dim 0");
}

TEST_F(RefusalTest, ExchangesOfWhatIsNotThere) {
  // Ranks have one and two elements.
  EXPECT_EQ(refusalOfLocal(R"(
    %e = local.rebalance %d [<dim 0 along ["x"] : [0:2, 2:3] -> [0:1, 1:3]>]
        on @mesh : tensor<?xi32> -> tensor<?xi32>)"),
            "says that rank 0 owns 2 elements of dim 0, it has 1");
  EXPECT_EQ(refusalOfLocal(R"(
    %t = tensor.expand_shape %d [[0, 1]] output_shape [%n, 1]
        : tensor<?xi32> into tensor<?x1xi32>
    %e = local.all_gather %t [<dim 1 along ["x"] : [0:1, 1:2] -> [0:2, 0:2]>]
        on @mesh : tensor<?x1xi32> -> tensor<?x2xi32>)"),
            "is between ranks that have 2 and 1 elements of dim 0, which it "
            "does not list");
  EXPECT_EQ(refusalOfLocal(R"(
    %e = local.all_gather %d [<dim 0 along ["x"] : [0:1, 2:4] -> [0:4, 0:4]>]
        on @mesh : tensor<?xi32> -> tensor<?xi32>)"),
            "gives rank 0 an element that nobody owns");
  EXPECT_EQ(refusalOfLocal(R"(
    %e = local.all_reduce sum %d along ["x"] on @mesh : tensor<?xi32>)"),
            "combines values of different shapes");
  EXPECT_EQ(refusalOfLocal(R"(
    %e = local.reduce_scatter sum %a along ["x"]
        [<dim 0 along ["x"] : [0:4, 0:4] -> [0:2, 2:5]>] on @mesh
        : tensor<4xi32> -> tensor<?xi32>)"),
            "keeps what it has not combined");
}

TEST_F(RefusalTest, RowsOfWhatIsNotThere) {
  const std::string plan = R"(
    %p = local.row_plan %a vector 1 components [0] slices [1]
        rows [<dim 0 along ["x"] : [0:5, 5:9] -> [0:1, 0:1]>] batch []
        on @mesh : tensor<4xi32>)";
  // Ranks have one and two elements.
  EXPECT_EQ(refusalOfLocal(plan + R"(
    %e = local.gather_rows %p of %d first 0
        [<dim 0 along ["x"] : [0:5, 5:9] -> [0:5, 5:9]>]
        on @mesh : tensor<?xi32> -> tensor<4xi32>)"),
            "says that rank 0 owns 5 elements of dim 0, it has 1");
  EXPECT_EQ(refusalOfLocal(plan + R"(
    %e = local.gather_rows %p of %a first 0 []
        on @mesh : tensor<4xi32> -> tensor<4xi32>)"),
            "asks for a row that nobody owns");
  EXPECT_EQ(refusalOfLocal(plan + R"(
    %e = local.scatter_rows %p by sum %d into %a first 0 []
        on @mesh : tensor<?xi32>, tensor<4xi32>)"),
            "has other updates on rank 0 than its plan has positions");
  EXPECT_EQ(refusalOfLocal(plan + R"(
    %e = local.scatter_rows %p by sum %a into %d first 0
        [<dim 0 along ["x"] : [0:5, 5:9] -> [0:5, 5:9]>]
        on @mesh : tensor<4xi32>, tensor<?xi32>)"),
            "says that rank 0 owns 5 elements of dim 0, it has 1");
  EXPECT_EQ(refusalOfLocal(plan + R"(
    %e = local.scatter_rows %p by sum %a into %a first 0 []
        on @mesh : tensor<4xi32>, tensor<4xi32>)"),
            "writes a row that rank 0 does not have");
}

namespace {
/// An op whose operands' types leave open what it needs of their sizes.
struct Misfit {
  StringRef name;
  StringRef text;
};
} // namespace

// A type with `?` fits every size, so what an op's verifier lets through may
// not go together when it runs. %x and %y have 3 and 4 elements, %m is 3 by 3,
// %n 4 by 2, %i a vector of 4 indices; their types say none of it.
TEST_F(RefusalTest, OperandsThatDoNotGoTogether) {
  const std::string start = R"(
    func.func @main() {
      %three = stablehlo.constant dense<3> : tensor<1xi64>
      %four = stablehlo.constant dense<4> : tensor<1xi64>
      %square = stablehlo.constant dense<3> : tensor<2xi64>
      %oblong = stablehlo.constant dense<[4, 2]> : tensor<2xi64>
      %cube = stablehlo.constant dense<[1, 3, 3]> : tensor<3xi64>
      %one = stablehlo.constant dense<1.0> : tensor<f32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %yes = stablehlo.constant dense<true> : tensor<i1>
      %x = stablehlo.dynamic_broadcast_in_dim %one, %three, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
      %y = stablehlo.dynamic_broadcast_in_dim %one, %four, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
      %p = stablehlo.dynamic_broadcast_in_dim %yes, %four, dims = [] : (tensor<i1>, tensor<1xi64>) -> tensor<?xi1>
      %i = stablehlo.dynamic_broadcast_in_dim %zero, %four, dims = [] : (tensor<i32>, tensor<1xi64>) -> tensor<?xi32>
      %m = stablehlo.dynamic_broadcast_in_dim %one, %square, dims = [] : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
      %n = stablehlo.dynamic_broadcast_in_dim %one, %oblong, dims = [] : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
      %c = stablehlo.dynamic_broadcast_in_dim %one, %cube, dims = [] : (tensor<f32>, tensor<3xi64>) -> tensor<?x?x?xf32>
      )";
  const Misfit misfits[] = {
      {"stablehlo.dot_general",
       "%r = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : "
       "(tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>"},
      {"stablehlo.dot", "%r = stablehlo.dot %m, %n : (tensor<?x?xf32>, "
                        "tensor<?x?xf32>) -> tensor<?x?xf32>"},
      {"stablehlo.triangular_solve", R"(
       %r = "stablehlo.triangular_solve"(%m, %n) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>)"},
      {"stablehlo.cholesky",
       "%r = stablehlo.cholesky %n, lower = true : tensor<?x?xf32>"},
      {"stablehlo.select",
       "%r = stablehlo.select %p, %x, %x : tensor<?xi1>, tensor<?xf32>"},
      {"stablehlo.clamp", "%r = stablehlo.clamp %x, %y, %x : tensor<?xf32>"},
      {"stablehlo.compare",
       "%r = stablehlo.compare LT, %x, %y : (tensor<?xf32>, tensor<?xf32>) -> "
       "tensor<?xi1>"},
      {"stablehlo.complex",
       "%r = stablehlo.complex %x, %y : tensor<?xcomplex<f32>>"},
      {"stablehlo.map", R"(
       %r = "stablehlo.map"(%y, %x) <{dimensions = array<i64: 0>}> ({
       ^bb0(%a: tensor<f32>, %b: tensor<f32>):
         stablehlo.return %b : tensor<f32>
       }) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>)"},
      {"stablehlo.concatenate",
       "%r = stablehlo.concatenate %m, %n, dim = 0 : (tensor<?x?xf32>, "
       "tensor<?x?xf32>) -> tensor<?x?xf32>"},
      {"stablehlo.dynamic_slice",
       "%r = stablehlo.dynamic_slice %x, %zero, sizes = [4] : (tensor<?xf32>, "
       "tensor<i32>) -> tensor<4xf32>"},
      {"stablehlo.dynamic_update_slice",
       "%r = stablehlo.dynamic_update_slice %x, %y, %zero : (tensor<?xf32>, "
       "tensor<?xf32>, tensor<i32>) -> tensor<?xf32>"},
      {"stablehlo.gather", R"(
       %r = "stablehlo.gather"(%m, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x4xf32>)"},
      {"stablehlo.scatter", R"(
       %r = "stablehlo.scatter"(%y, %i, %x) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
       ^bb0(%a: tensor<f32>, %b: tensor<f32>):
         stablehlo.return %b : tensor<f32>
       }) : (tensor<?xf32>, tensor<?xi32>, tensor<?xf32>) -> tensor<?xf32>)"},
      {"stablehlo.convolution",
       "%r = stablehlo.convolution(%c, %c) dim_numbers = [b, 0, f]x[i, 0, "
       "o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, "
       "feature_group_count = 1 : i64} : (tensor<?x?x?xf32>, "
       "tensor<?x?x?xf32>) -> tensor<?x?x?xf32>"},
      {"stablehlo.reduce", R"(
       %r:2 = "stablehlo.reduce"(%y, %x, %one, %one) <{dimensions = array<i64: 0>}> ({
       ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c0: tensor<f32>, %d: tensor<f32>):
         stablehlo.return %a, %b : tensor<f32>, tensor<f32>
       }) : (tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>))"},
      {"stablehlo.reduce_window", R"(
       %r:2 = "stablehlo.reduce_window"(%y, %x, %one, %one) <{window_dimensions = array<i64: 2>}> ({
       ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c0: tensor<f32>, %d: tensor<f32>):
         stablehlo.return %a, %b : tensor<f32>, tensor<f32>
       }) : (tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>))"},
      {"stablehlo.select_and_scatter", R"(
       %r = "stablehlo.select_and_scatter"(%x, %y, %one) <{window_dimensions = array<i64: 2>}> ({
       ^bb0(%a: tensor<f32>, %b: tensor<f32>):
         stablehlo.return %yes : tensor<i1>
       }, {
       ^bb0(%a: tensor<f32>, %b: tensor<f32>):
         stablehlo.return %a : tensor<f32>
       }) : (tensor<?xf32>, tensor<?xf32>, tensor<f32>) -> tensor<?xf32>)"},
      {"stablehlo.sort", R"(
       %r:2 = "stablehlo.sort"(%y, %x) <{dimension = 0 : i64}> ({
       ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c0: tensor<f32>, %d: tensor<f32>):
         %l = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
         stablehlo.return %l : tensor<i1>
       }) : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>))"},
      {"chlo.top_k", "%r:2 = chlo.top_k(%x, k = 4) : tensor<?xf32> -> "
                     "(tensor<4xf32>, tensor<4xi32>)"},
      {"stablehlo.batch_norm_inference", R"(
       %r = "stablehlo.batch_norm_inference"(%m, %x, %y, %x, %x) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?x?xf32>)"},
      {"stablehlo.batch_norm_training", R"(
       %r:3 = "stablehlo.batch_norm_training"(%m, %y, %x) <{epsilon = 0.001 : f32, feature_index = 0 : i64}> : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>))"},
      {"stablehlo.fft", R"(
       %r = stablehlo.fft %w, type = FFT, length = [4] : (tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>>)"},
  };
  for (const Misfit &misfit : misfits) {
    std::string text = start;
    if (misfit.name == "stablehlo.fft")
      text += "%w = stablehlo.complex %x, %x : tensor<?xcomplex<f32>>\n";
    std::string said = refusal(text + misfit.text.str() + "\nreturn\n}");
    EXPECT_TRUE(
        StringRef(said).starts_with(("'" + misfit.name + "' op ").str()))
        << misfit.name.str() << ": " << said;
    EXPECT_TRUE(StringRef(said).ends_with(" when it runs"))
        << misfit.name.str() << ": " << said;
  }
}

// What is handed on has the size that the type says: an op whose operands all
// have known sizes is right once its verifier has said so.
TEST_F(RefusalTest, SizesThatAreNotThoseOfTheType) {
  StringRef start = R"(
    func.func @main() {
      %four = stablehlo.constant dense<4> : tensor<1xi64>
      %x = stablehlo.dynamic_iota %four, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
      )";
  EXPECT_EQ(refusal((start + R"(
      %r = tensor.cast %x : tensor<?xi32> to tensor<3xi32>
      return
    })")
                        .str()),
            "has 4 elements in dim 0 of result 0 when it runs, its type "
            "'tensor<3xi32>' says 3");
  EXPECT_EQ(refusal((start + R"(
      %r = func.call @f(%x) : (tensor<?xi32>) -> tensor<3xi32>
      return
    }
    func.func private @f(%a: tensor<?xi32>) -> tensor<3xi32> {
      %b = stablehlo.abs %a : (tensor<?xi32>) -> tensor<3xi32>
      return %b : tensor<3xi32>
    })")
                        .str()),
            "has 4 elements in dim 0 of result 0 when it runs, its type "
            "'tensor<3xi32>' says 3");
  EXPECT_EQ(refusal((start + R"(
      %s = "stablehlo.while"(%x) ({
      ^bb0(%v: tensor<3xi32>):
        %no = stablehlo.constant dense<false> : tensor<i1>
        stablehlo.return %no : tensor<i1>
      }, {
      ^bb0(%v: tensor<3xi32>):
        stablehlo.return %v : tensor<3xi32>
      }) : (tensor<?xi32>) -> tensor<?xi32>
      return
    })")
                        .str()),
            "'stablehlo.while' op cond takes 'tensor<3xi32>', expected the "
            "operands' types 'tensor<4xi32>' when it runs");
}

// Of a rank that owns none of the indices, or of the sums to hand on, the block
// may be empty, or of another size than that of its windows.
TEST_F(RefusalTest, EmptyBlocksOfWhichNothingIsRead) {
  StringRef start = R"(
    %z = local.lookup [0, 2] along ["x"] on @mesh
    %x = tensor.empty(%z) : tensor<?xi32>
    %i = tensor.empty(%z) : tensor<?x1xi32>
    %v = stablehlo.constant dense<0> : tensor<i32>
    %r = )";
  EXPECT_EQ(refusalOfLocal((start + R"("stablehlo.gather"(%x, %i)
        <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}>
        : (tensor<?xi32>, tensor<?x1xi32>) -> tensor<?xi32>)")
                               .str()),
            "");
  EXPECT_EQ(
      refusalOfLocal((start + R"("stablehlo.select_and_scatter"(%a, %x, %v)
        <{window_dimensions = array<i64: 3>}> ({
        ^bb0(%p: tensor<i32>, %q: tensor<i32>):
          %l = stablehlo.compare GE, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %l : tensor<i1>
        }, {
        ^bb0(%p: tensor<i32>, %q: tensor<i32>):
          stablehlo.return %p : tensor<i32>
        }) : (tensor<4xi32>, tensor<?xi32>, tensor<i32>) -> tensor<4xi32>)")
                         .str()),
      "");
}

TEST_F(RefusalTest, BlocksThatDoNotGoTogether) {
  // Ranks have one and two elements of %d.
  EXPECT_EQ(refusalOfLocal(R"(
    %e = stablehlo.dot_general %d, %a, contracting_dims = [0] x [0]
        : (tensor<?xi32>, tensor<4xi32>) -> tensor<i32>)"),
            "'stablehlo.dot_general' op left dim 0 has size 1, but right dim 0 "
            "has size 4 when it runs");
  EXPECT_EQ(refusalOfLocal(R"(
    %c = arith.constant 4 : index
    %e = tensor.insert_slice %d into %a[0] [%c] [1]
        : tensor<?xi32> into tensor<4xi32>)"),
            "puts in 1 elements where there are 4");
  EXPECT_EQ(refusalOfLocal(R"(
    %c = arith.constant 3 : index
    %e = tensor.expand_shape %d [[0, 1]] output_shape [%c, 1]
        : tensor<?xi32> into tensor<?x1xi32>)"),
            "gives 1 elements the shape of 3");
  EXPECT_EQ(refusalOfLocal(R"(
    %t = tensor.expand_shape %d [[0, 1]] output_shape [1, %n]
        : tensor<?xi32> into tensor<1x?xi32>
    %u = tensor.expand_shape %a [[0, 1]] output_shape [2, 2]
        : tensor<4xi32> into tensor<2x2xi32>
    %v = tensor.cast %u : tensor<2x2xi32> to tensor<2x?xi32>
    %e = tensor.concat dim(0) %t, %v
        : (tensor<1x?xi32>, tensor<2x?xi32>) -> tensor<3x?xi32>)"),
            "joins parts of 2 and 1 elements in dim 1");
  EXPECT_EQ(refusalOfLocal(R"(
    %c = arith.constant 1 : index
    %e = tensor.dim %d, %c : tensor<?xi32>)"),
            "asks for dim 1 of 1");
  EXPECT_EQ(refusalOfLocal(R"(
    %f = tensor.cast %a : tensor<4xi32> to tensor<?xi32>
    %e = local.accumulate %d into %f : tensor<?xi32>)"),
            "has operands of different shapes when it runs");
}

// An element that is not there, or more of them than there is memory for, is an
// error of the op, not of the process.
TEST_F(RefusalTest, ElementsThatAreNotThere) {
  EXPECT_EQ(refusal(R"(
    func.func @main() {
      %many = stablehlo.constant dense<1099511627776> : tensor<1xi64>
      %r = stablehlo.dynamic_iota %many, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
      return
    })"),
            (kNotKnown + "an array of more than 2147483648 elements").str());
  EXPECT_EQ(refusalOfLocal(R"(
    %c = arith.constant -1 : index
    %e = tensor.empty(%c) : tensor<?xi32>)"),
            "has an array of less than no elements when it runs");
  EXPECT_EQ(refusalOfLocal(R"(
    %l = arith.constant -9223372036854775808 : index
    %c = arith.constant -1 : index
    %e = arith.divsi %l, %c : index)"),
            "");
  EXPECT_EQ(refusal(R"(
    func.func @main() {
      %p = stablehlo.constant dense<[7, 1]> : tensor<2xi32>
      %r = stablehlo.custom_call @cu_lu_pivots_to_permutation(%p) : (tensor<2xi32>) -> tensor<2xi32>
      return
    })"),
            "exchanges row 7 of 2");
  StringRef square = R"(
    func.func @main() {
      %a = stablehlo.constant dense<1.0> : tensor<4x2xf32>
      %b = stablehlo.constant dense<1.0> : tensor<3x3xf32>
      )";
  auto calls = [&](StringRef call) {
    return refusal((square + call + "\nreturn\n}").str());
  };
  EXPECT_EQ(calls("%r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) : "
                  "(tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<i32>)"),
            "has matrices of 4 x 2, expected square ones");
  EXPECT_EQ(calls("%r = stablehlo.custom_call @lapack_strsm_ffi(%b, %a) : "
                  "(tensor<3x3xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>"),
            "solves systems of 3 unknowns for 4");
  EXPECT_EQ(calls("%c = stablehlo.constant dense<1.0> : tensor<2x3x3xf32>\n"
                  "%r = stablehlo.custom_call @lapack_strsm_ffi(%c, %b) : "
                  "(tensor<2x3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>"),
            "has other batches of right sides than of systems");
  EXPECT_EQ(calls("%r:2 = stablehlo.custom_call @mhlo.topk(%b) "
                  "{mhlo.attributes = {k = 4 : i64, largest = true}} : "
                  "(tensor<3x3xf32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)"),
            "takes 4 of 3 elements");
}

// Of known ops and calls, forms that no frontend writes.
TEST_F(RefusalTest, FormsThatAreNotKnown) {
  auto body = [&](StringRef text) {
    std::string said = refusal((R"(
      func.func private @f(tensor<4xf32>) -> tensor<4xf32>
      func.func private @greater(%a: tensor<f32>, %b: tensor<f32>,
                                 %c: tensor<i32>, %d: tensor<i32>)
          -> tensor<i1> {
        %0 = stablehlo.compare GT, %a, %b
            : (tensor<f32>, tensor<f32>) -> tensor<i1>
        return %0 : tensor<i1>
      }
      func.func @main() {
        %a = stablehlo.constant dense<1.0> : tensor<4xf32>
        %b = stablehlo.constant dense<1.0> : tensor<4x4xf32>
        %x = stablehlo.constant dense<1.0> : tensor<f32>
        %i = stablehlo.constant dense<1> : tensor<4xi32>
        %y = stablehlo.constant dense<1> : tensor<i32>
        )" + text + "\nreturn\n}")
                                   .str());
    EXPECT_TRUE(StringRef(said).starts_with(kNotKnown)) << said;
    return said.substr(std::min(kNotKnown.size(), said.size()));
  };
  EXPECT_EQ(body("%r = func.call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>"),
            "a call of a function without a body");
  EXPECT_EQ(body(R"(%r:2 = stablehlo.custom_call @Sharding(%a)
                : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>))"),
            "a call with more results than operands");
  EXPECT_EQ(body(R"(%r:2 = stablehlo.custom_call @ApproxTopK(%a, %i)
                : (tensor<4xf32>, tensor<4xi32>)
                -> (tensor<2xf32>, tensor<2xi32>))"),
            "a call with so few operands or results");
  auto approx = [&](StringRef attributes) {
    return body(
        (R"(%r:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %x, %y) {)" +
         attributes + R"(}
                : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>)
                -> (tensor<2xf32>, tensor<2xi32>))")
            .str());
  };
  EXPECT_EQ(approx("called_computations = [@greater]"),
            "ApproxTopK of this form");
  EXPECT_EQ(approx("called_computations = [@none], "
                   "mhlo.backend_config = {reduction_dim = 0 : i64}"),
            "ApproxTopK without its comparator");
  EXPECT_EQ(approx("called_computations = [@greater], "
                   "mhlo.backend_config = {reduction_dim = 1 : i64}"),
            "ApproxTopK of such shapes");
  EXPECT_EQ(body(R"(%r:2 = stablehlo.custom_call @mhlo.topk(%a)
                {mhlo.attributes = {k = 2 : i64, largest = false}}
                : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>))"),
            "mhlo.topk of this form");
  EXPECT_EQ(body(R"(%r = stablehlo.custom_call @lapack_sorgqr_ffi(%b, %x)
                : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>)"),
            "reflectors with one factor");
  EXPECT_EQ(body(R"(%r:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%b)
                {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}}
                : (tensor<4x4xf32>)
                -> (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>)
                %n = stablehlo.negate %r#0 : tensor<4x4xf32>)"),
            "eigenvectors, whose sign is nobody's");
  EXPECT_EQ(body(R"(%s = stablehlo.constant dense<1> : tensor<4xui32>
                %r:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY
                : (tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>))"),
            "a generator with a state of another form");
  EXPECT_EQ(body(R"(%r = stablehlo.reshape %a
                : (tensor<4xf32>) -> tensor<?x?xf32>)"),
            "reshape to several unknown sizes");
  EXPECT_EQ(body(R"(%r:2 = chlo.scan(%a) inits (%x) dimension=0 {
                ^bb0(%e: tensor<f32>, %c: tensor<f32>):
                  stablehlo.return %e, %c : tensor<f32>, tensor<f32>
                } : (tensor<4xf32>, tensor<f32>)
                -> (tensor<?xf32>, tensor<f32>))"),
            "a scan of open shape");
  EXPECT_EQ(
      body("%r = stablehlo.constant dense_resource<none> : tensor<4xf32>"),
      "a constant of elements of another kind");
}

TEST_F(RefusalTest, ProductsOfGroupsThatAreNotKnown) {
  auto product = [&](StringRef lhs, StringRef rhs, StringRef sizes,
                     StringRef result, StringRef dims) {
    return refusal(
        ("func.func @main() {\n"
         "%a = stablehlo.constant dense<1.0> : tensor<" +
         lhs + "xf32>\n%b = stablehlo.constant dense<1.0> : tensor<" + rhs +
         "xf32>\n%g = stablehlo.constant dense<1> : tensor<" + sizes +
         "xi32>\n%r = \"chlo.ragged_dot\"(%a, %b, %g) "
         "<{ragged_dot_dimension_numbers = #chlo.ragged_dot<" +
         dims + ">}> : (tensor<" + lhs + "xf32>, tensor<" + rhs +
         "xf32>, tensor<" + sizes + "xi32>) -> tensor<" + result +
         "xf32>\nreturn\n}")
            .str());
  };
  EXPECT_EQ(product("2x4x3", "2x2x3x5", "2x2", "2x4x5",
                    "lhs_batching_dimensions = [0], rhs_batching_dimensions = "
                    "[1], lhs_contracting_dimensions = [2], "
                    "rhs_contracting_dimensions = [2], lhs_ragged_dimensions = "
                    "[1], rhs_group_dimensions = [0]"),
            (kNotKnown + "ragged_dot of several ragged dims, or with group "
                         "sizes for each batch")
                .str());
  StringRef dims = "lhs_contracting_dimensions = [1], "
                   "rhs_contracting_dimensions = [1], "
                   "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]";
  // Rows of no group are zeros, as in compiled programs.
  EXPECT_EQ(product("4x3", "0x3x5", "0", "4x5", dims), "");
  EXPECT_EQ(product("4x3", "0x3x5", "0", "?x5", dims),
            (kNotKnown + "ragged_dot without groups, of open shape").str());
}

TEST_F(RefusalTest, ManualRegionsThatAreNotKnown) {
  // One without operands and results names no mesh.
  auto alone =
      [&](StringRef meshes, StringRef body) {
        return refusal((meshes + R"(
      func.func @main() {
        sdy.manual_computation() in_shardings=[] out_shardings=[]
            manual_axes={"x"} () {
          )" + body + R"(
          sdy.return
        } : () -> ()
        return
      })")
                           .str());
      };
  StringRef mesh = "sdy.mesh @mesh = <[\"x\"=4]>\n";
  EXPECT_EQ(alone(mesh, ""), "");
  EXPECT_EQ(
      alone(mesh,
            R"(%d = stablehlo.constant dense_resource<none> : tensor<4xf32>)"),
      (kNotKnown + "a constant of elements of another kind").str());
  EXPECT_EQ(alone((mesh + "sdy.mesh @other = <[\"x\"=2]>\n").str(), ""),
            (kNotKnown + "a manual region on an unknown mesh").str());
  EXPECT_EQ(refusalOfManual(R"(
    %s = "stablehlo.all_reduce"(%v) <{
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        use_global_device_ids,
        replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh,
            axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>}> ({
    ^bb0(%left: tensor<i32>, %right: tensor<i32>):
      %sum = stablehlo.add %left, %right : tensor<i32>
      stablehlo.return %sum : tensor<i32>
    }) : (tensor<2xi32>) -> tensor<2xi32>)"),
            (kNotKnown + "groups of this form").str());
  auto shards = [&](StringRef devices, StringRef block) {
    return refusal((R"(
      module attributes {mhlo.num_partitions = 2 : i32} {
      func.func @main() {
        %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
        %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = ")" +
                    devices + R"("} : (tensor<4xi32>) -> tensor<4xi32>
        %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding =
            "{manual}"} : (tensor<4xi32>) -> tensor<)" +
                    block + R"(xi32>
        return
      }})")
                       .str());
  };
  EXPECT_EQ(shards("{devices=[2]<=[2]}", "?"),
            (kNotKnown + "shards of another form").str());
  EXPECT_EQ(shards("{devices=[3]0,1,2}", "2"),
            (kNotKnown + "shards by sharding '{devices=[3]0,1,2}'").str());
  EXPECT_EQ(shards("{devices=[2]<=[2]}", "1"),
            (kNotKnown + "shards by sharding '{devices=[2]<=[2]}' that are cut "
                         "along free axes too")
                .str());
}

// In the local view, what the compiler does not write there.
TEST_F(RefusalTest, LocalOpsThatAreNotKnown) {
  auto local = [&](StringRef body) { return refusalOfLocal(body); };
  EXPECT_EQ(local(R"(
    %e = tensor.empty() : tensor<2xi32>
    %s = tensor.insert_slice %e into %a[0] [2] [2]
        : tensor<2xi32> into tensor<4xi32>)"),
            (kNotKnown + "a slice with strides that is put in").str());
  EXPECT_EQ(local(R"(
    %z = arith.constant 0 : index
    %m = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%n)[%z])"),
            (kNotKnown + "a map of indices that divides by zero").str());
  EXPECT_EQ(local(R"(
    %p = stablehlo.constant dense<true> : tensor<4xi1>
    %s = arith.select %p, %a, %a : tensor<4xi1>, tensor<4xi32>)"),
            (kNotKnown + "a choice element by element").str());
  EXPECT_EQ(local(R"(
    %s = arith.constant dense_resource<none> : tensor<4xi32>)"),
            (kNotKnown + "a constant of this kind").str());
  EXPECT_EQ(local("%s = arith.constant dense<1> : vector<2xi32>"),
            (kNotKnown + "elements of this type").str());
}
