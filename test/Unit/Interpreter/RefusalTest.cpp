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
                        sdy::SdyDialect, spmd::SpmdDialect, func::FuncDialect,
                        tensor::TensorDialect, arith::ArithDialect,
                        cf::ControlFlowDialect>();
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
        %n = spmd.lookup [1, 2] along ["x"] on @mesh
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
            "has operands of different shapes when it runs");
  EXPECT_EQ(of("4", (iota + "%s = stablehlo.slice %r [2:5] : (tensor<?xi32>) "
                            "-> tensor<3xi32>")
                        .str()),
            "takes 2:5 by 1 of dim 0 when it runs, expected a step of 1 or "
            "more, inside of its 4 elements");
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
    %e = spmd.rebalance %d [<dim 0 along ["x"] : [0:2, 2:3] -> [0:1, 1:3]>]
        on @mesh : tensor<?xi32> -> tensor<?xi32>)"),
            "says that rank 0 owns 2 elements of dim 0, it has 1");
  EXPECT_EQ(refusalOfLocal(R"(
    %t = tensor.expand_shape %d [[0, 1]] output_shape [%n, 1]
        : tensor<?xi32> into tensor<?x1xi32>
    %e = spmd.all_gather %t [<dim 1 along ["x"] : [0:1, 1:2] -> [0:2, 0:2]>]
        on @mesh : tensor<?x1xi32> -> tensor<?x2xi32>)"),
            "is between ranks that have 2 and 1 elements of dim 0, which it "
            "does not list");
  EXPECT_EQ(refusalOfLocal(R"(
    %e = spmd.all_gather %d [<dim 0 along ["x"] : [0:1, 2:4] -> [0:4, 0:4]>]
        on @mesh : tensor<?xi32> -> tensor<?xi32>)"),
            "gives rank 0 an element that nobody owns");
  EXPECT_EQ(refusalOfLocal(R"(
    %e = spmd.all_reduce sum %d along ["x"] on @mesh : tensor<?xi32>)"),
            "combines values of different shapes");
  EXPECT_EQ(refusalOfLocal(R"(
    %e = spmd.reduce_scatter sum %a along ["x"]
        [<dim 0 along ["x"] : [0:4, 0:4] -> [0:2, 2:5]>] on @mesh
        : tensor<4xi32> -> tensor<?xi32>)"),
            "keeps what it has not combined");
}

TEST_F(RefusalTest, RowsOfWhatIsNotThere) {
  const std::string plan = R"(
    %p = spmd.row_plan %a vector 1 components [0] slices [1]
        rows [<dim 0 along ["x"] : [0:5, 5:9] -> [0:1, 0:1]>] batch []
        on @mesh : tensor<4xi32>)";
  // Ranks have one and two elements.
  EXPECT_EQ(refusalOfLocal(plan + R"(
    %e = spmd.gather_rows %p of %d first 0
        [<dim 0 along ["x"] : [0:5, 5:9] -> [0:5, 5:9]>]
        on @mesh : tensor<?xi32> -> tensor<4xi32>)"),
            "says that rank 0 owns 5 elements of dim 0, it has 1");
  EXPECT_EQ(refusalOfLocal(plan + R"(
    %e = spmd.gather_rows %p of %a first 0 []
        on @mesh : tensor<4xi32> -> tensor<4xi32>)"),
            "asks for a row that nobody owns");
  EXPECT_EQ(refusalOfLocal(plan + R"(
    %e = spmd.scatter_rows %p by sum %d into %a first 0 []
        on @mesh : tensor<?xi32>, tensor<4xi32>)"),
            "has other updates on rank 0 than its plan has positions");
  EXPECT_EQ(refusalOfLocal(plan + R"(
    %e = spmd.scatter_rows %p by sum %a into %d first 0
        [<dim 0 along ["x"] : [0:5, 5:9] -> [0:5, 5:9]>]
        on @mesh : tensor<4xi32>, tensor<?xi32>)"),
            "says that rank 0 owns 5 elements of dim 0, it has 1");
  EXPECT_EQ(refusalOfLocal(plan + R"(
    %e = spmd.scatter_rows %p by sum %a into %a first 0 []
        on @mesh : tensor<4xi32>, tensor<4xi32>)"),
            "writes a row that rank 0 does not have");
}
