//===- AnalysisTest.cpp - Read-only answers on small programs -------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "shardc/Analysis/CommunicationReport.h"
#include "shardc/Analysis/LocalSizes.h"
#include "shardc/Analysis/Uniformity.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {
class AnalysisTest : public testing::Test {
protected:
  AnalysisTest() {
    context.loadDialect<SpmdDialect, LocalDialect, PairsDialect, KernelDialect,
                        stablehlo::StablehloDialect, func::FuncDialect,
                        scf::SCFDialect, arith::ArithDialect,
                        tensor::TensorDialect>();
  }

  /// Parses `text` after a mesh of x = 2, y = 3, and returns its only function.
  func::FuncOp parse(llvm::StringRef text) {
    module = parseSourceString<ModuleOp>(
        ("spmd.mesh @mesh = <[\"x\"=2, \"y\"=3]>\n" + text).str(), &context);
    return module ? *module->getOps<func::FuncOp>().begin() : nullptr;
  }

  /// The axes along which the function's results differ: "x", "y", "xy" or "".
  std::vector<std::string> axesOfResults(func::FuncOp function) {
    Uniformity uniformity(function);
    std::vector<std::string> result;
    auto mesh = FlatSymbolRefAttr::get(&context, "mesh");
    for (Value value :
         function.getBody().back().getTerminator()->getOperands()) {
      std::string &text = result.emplace_back();
      for (StringAttr axis : uniformity.getVaryingAxes(value, mesh))
        text += axis.str();
    }
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

using Axes = std::vector<std::string>;

TEST_F(AnalysisTest, ArgumentsDifferAlongTheirAxes) {
  func::FuncOp function = parse(R"(
    func.func @f(%a: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                 %b: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y", "x"}]>},
                 %c: tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, [], partial = {"y" = sum}>},
                 %d: tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, []>},
                 %e: tensor<f32>)
        -> (tensor<4x4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>) attributes {spmd.local_view} {
      return %a, %b, %c, %d, %e : tensor<4x4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
    })");
  ASSERT_TRUE(function);
  EXPECT_EQ(axesOfResults(function), (Axes{"x", "xy", "y", "", "xy"}));
}

TEST_F(AnalysisTest, CommunicationAddsKeepsAndRemovesAxes) {
  func::FuncOp function = parse(R"(
    func.func @f(%a: tensor<2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}], partial = {"y" = sum}>})
        -> (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2xf32>) attributes {spmd.local_view} {
      %gathered = local.all_gather %a [<dim 0 along ["x"] : [0:2, 2:4] -> [0:4, 0:4]>] on @mesh
          : tensor<2xf32> -> tensor<4xf32>
      %reversed = local.rebalance %a [<dim 0 along ["x"] : [0:2, 2:4] -> [2:4, 0:2]>] on @mesh
          : tensor<2xf32> -> tensor<2xf32>
      %reduced = local.all_reduce sum %a along ["y"] on @mesh : tensor<2xf32>
      %whole = local.all_gather %reduced [<dim 0 along ["x"] : [0:2, 2:4] -> [0:4, 0:4]>] on @mesh
          : tensor<2xf32> -> tensor<4xf32>
      %scattered = local.reduce_scatter sum %whole along ["x"]
          [<dim 0 along ["x"] : [0:4, 0:4] -> [0:2, 2:4]>] on @mesh : tensor<4xf32> -> tensor<2xf32>
      return %gathered, %reversed, %reduced, %whole, %scattered
          : tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2xf32>
    })");
  ASSERT_TRUE(function);
  EXPECT_EQ(axesOfResults(function), (Axes{"y", "xy", "x", "", "x"}));
}

TEST_F(AnalysisTest, LoopsJoinWhatFlowsAndWhoDecides) {
  func::FuncOp function = parse(R"(
    func.func @f(%u: tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, []>},
                 %x: tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, [], partial = {"x" = sum}>})
        -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) attributes {spmd.local_view} {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %9 = arith.constant 9 : index
      %count = local.lookup [1, 2, 3] along ["y"] on @mesh
      %even:2 = scf.for %i = %0 to %9 step %1 iter_args(%a = %u, %b = %u) -> (tensor<f32>, tensor<f32>) {
        %c = arith.addf %b, %x : tensor<f32>
        scf.yield %a, %c : tensor<f32>, tensor<f32>
      }
      %uneven = scf.for %i = %0 to %count step %1 iter_args(%a = %u) -> (tensor<f32>) {
        %c = arith.addf %a, %u : tensor<f32>
        scf.yield %c : tensor<f32>
      }
      // %a takes what %b held: two iterations until it differs.
      %passed:2 = scf.for %i = %0 to %9 step %1 iter_args(%a = %u, %b = %u) -> (tensor<f32>, tensor<f32>) {
        scf.yield %b, %x : tensor<f32>, tensor<f32>
      }
      return %even#0, %even#1, %uneven, %passed#0 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    })");
  ASSERT_TRUE(function);
  EXPECT_EQ(axesOfResults(function), (Axes{"", "x", "y", "x"}));
}

TEST_F(AnalysisTest, BodiesOfReductionsSeeTheirOperands) {
  func::FuncOp function = parse(R"(
    func.func @f(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
                 %u: tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, []>}) -> tensor<f32>
        attributes {spmd.local_view} {
      %r = stablehlo.reduce(%a init: %u) applies stablehlo.add across dimensions = [0]
          : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    })");
  ASSERT_TRUE(function);
  EXPECT_EQ(axesOfResults(function), (Axes{"x"}));
}

TEST_F(AnalysisTest, WhatCallsReturnIsNotKnown) {
  func::FuncOp function = parse(R"(
    func.func @f(%u: tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, []>}) -> tensor<f32>
        attributes {spmd.local_view} {
      %r = call @g(%u) : (tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    }
    func.func private @g(tensor<f32>) -> tensor<f32>)");
  ASSERT_TRUE(function);
  EXPECT_EQ(axesOfResults(function), (Axes{"xy"}));
}

TEST_F(AnalysisTest, SizesAreFollowedToTheirTables) {
  func::FuncOp function = parse(R"(
    func.func @f(%a: tensor<?xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [5, 2]}]>},
                 %b: tensor<?xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
        -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) attributes {spmd.local_view} {
      %0 = stablehlo.add %a, %a : tensor<?xf32>
      %1 = local.rebalance %0 [<dim 0 along ["x"] : [0:5, 5:7] -> [0:4, 4:7]>] on @mesh
          : tensor<?xf32> -> tensor<?xf32>
      return %0, %1, %b : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
    })");
  ASSERT_TRUE(function);
  ValueRange results = function.getBody().back().getTerminator()->getOperands();
  MeshAttr mesh =
      lookupMesh(function, FlatSymbolRefAttr::get(&context, "mesh"));
  using Sizes = SmallVector<int64_t>;
  EXPECT_EQ(getLocalSizes(results[0], 0, mesh), (Sizes{5, 5, 5, 2, 2, 2}));
  EXPECT_EQ(getLocalSizes(results[1], 0, mesh), (Sizes{4, 4, 4, 3, 3, 3}));
  EXPECT_EQ(getLocalSizes(results[2], 0, mesh), std::nullopt);
}

TEST_F(AnalysisTest, BytesThatLeaveARank) {
  func::FuncOp function = parse(R"(
    func.func @f(%a: tensor<4x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                 %u: tensor<?xf64> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [5, 2]}]>},
                 %z: tensor<f32>) attributes {spmd.local_view} {
      // One row of 8 floats each way, in each of three columns of the mesh.
      %0 = local.halo_exchange %a [<dim 0 along ["x"] : [0:4, 4:8] -> [-1:5, 3:9]>]
          fill %z : tensor<f32> reason "window of 3" on @mesh : tensor<4x8xf32> -> tensor<6x8xf32> loc("model.py":3:4)
      // Three groups of two ranks: 2 * 1 * 32 floats each.
      %1 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4x8xf32>
      // Two groups of three ranks: 2 * 2 * (5 or 2) doubles.
      %2 = local.all_reduce sum %u along ["y"] on @mesh : tensor<?xf64>
      // Two groups of three ranks: 2 * 32 floats each.
      %3 = local.reduce_scatter sum %a along ["y"]
          [<dim 1 along ["y"] : [0:8, 0:8, 0:8] -> [0:3, 3:6, 6:8]>] on @mesh
          : tensor<4x8xf32> -> tensor<4x?xf32>
      return
    })");
  ASSERT_TRUE(function);
  std::vector<CommunicationSite> sites = reportCommunication(function);
  ASSERT_EQ(sites.size(), 4u);
  EXPECT_EQ(sites[0].bytes, 3 * 2 * 8 * 4);
  EXPECT_EQ(sites[1].bytes, 3 * 2 * 32 * 4);
  EXPECT_EQ(sites[2].bytes, 2 * 2 * (5 + 2) * 8);
  EXPECT_EQ(sites[3].bytes, 2 * 2 * 32 * 4);
  std::string text;
  llvm::raw_string_ostream(text) << toJSON(sites[0]);
  EXPECT_EQ(
      text,
      R"({"axes":["x"],"bytes":192,"dims":[0],"kind":"halo_exchange","location":"model.py:3",)"
      R"("loop_depth":0,"mesh":"mesh","reason":"window of 3"})");
}

TEST_F(AnalysisTest, UnknownSizesAreNotGuessed) {
  func::FuncOp function = parse(R"(
    func.func @f(%a: tensor<?xf32>, %0: index, %9: index) attributes {spmd.local_view} {
      scf.for %i = %0 to %9 step %9 {
        %r = local.all_reduce sum %a along ["x"] on @mesh : tensor<?xf32>
      }
      return
    })");
  ASSERT_TRUE(function);
  std::vector<CommunicationSite> sites = reportCommunication(function);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].bytes, std::nullopt);
  EXPECT_EQ(sites[0].loopDepth, 1);
}
