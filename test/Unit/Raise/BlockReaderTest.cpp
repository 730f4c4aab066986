//===- BlockReaderTest.cpp - What programs of blocks are read as ----------===//
//
// A ring keeps the blocks that pass in a buffer, one slot an iteration, and
// reads them again, the last first, as a gradient does.
//
//===----------------------------------------------------------------------===//
#include "BlockReader.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "gtest/gtest.h"
#include <set>
#include <string>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

namespace {
/// `text` with each of the names of `by` replaced.
std::string fill(std::string text,
                 std::vector<std::pair<std::string, std::string>> by) {
  for (const auto &[name, value] : by)
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), value);
  return text;
}

/// A ring of $RANKS ranks; $THEN is done to the buffer once all blocks are
/// kept, then $COUNT slots are added, the last first.
const char *const kRing = R"mlir(
spmd.mesh @mesh = <["x"=$RANKS]>
func.func @ring(%x: tensor<$ROWSxf32>) -> tensor<$ROWSxf32> {
  %out = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"x"}]>]
                         out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%mine: tensor<4xf32>):
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ranks = stablehlo.constant dense<$RANKS> : tensor<i32>
    %empty = stablehlo.constant dense<0.0> : tensor<$RANKSx4xf32>
    %none = stablehlo.constant dense<0.0> : tensor<4xf32>
    %kept:3 = stablehlo.while(%i = %zero, %block = %mine, %all = %empty)
        : tensor<i32>, tensor<4xf32>, tensor<$RANKSx4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %ranks : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %slot = stablehlo.reshape %block : (tensor<4xf32>) -> tensor<1x4xf32>
      %with = stablehlo.dynamic_update_slice %all, %slot, %i, %zero : (tensor<$RANKSx4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<$RANKSx4xf32>
      %next = "stablehlo.collective_permute"(%block) <{source_target_pairs = dense<$PAIRS> : tensor<$RANKSx2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next, %with : tensor<i32>, tensor<4xf32>, tensor<$RANKSx4xf32>
    }
    $THEN
    %count = stablehlo.constant dense<$COUNT> : tensor<i32>
    %sum:2 = stablehlo.while(%i = %zero, %sofar = %none) : tensor<i32>, tensor<4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %at = stablehlo.subtract %ranks, %j : tensor<i32>
      %slot = stablehlo.dynamic_slice %read, %at, %zero, sizes = [1, 4] : (tensor<$RANKSx4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %block = stablehlo.reshape %slot : (tensor<1x4xf32>) -> tensor<4xf32>
      %now = stablehlo.add %sofar, %block : tensor<4xf32>
      stablehlo.return %j, %now : tensor<i32>, tensor<4xf32>
    }
    spmd.return %sum#1 : tensor<4xf32>
  } : (tensor<$ROWSxf32>) -> tensor<$ROWSxf32>
  return %out : tensor<$ROWSxf32>
}
)mlir";

class Ring : public testing::Test {
protected:
  Ring() {
    context.loadDialect<func::FuncDialect, stablehlo::StablehloDialect,
                        spmd::SpmdDialect, spmd::LocalDialect>();
  }

  /// Reads the sum of `count` slots of a ring of `ranks`; `then`, if any,
  /// makes %read of the buffer %kept#2.
  void read(int64_t ranks, int64_t count, const std::string &then = "") {
    std::string pairs;
    for (int64_t rank = 0; rank < ranks; ++rank)
      pairs += (rank ? ", [" : "[[") + std::to_string((rank + 1) % ranks) +
               ", " + std::to_string(rank) + "]";
    std::string text = kRing;
    if (then.empty())
      text = fill(text, {{"%read", "%kept#2"}});
    module = parseSourceString<ModuleOp>(
        fill(text, {{"$THEN", then},
                    {"$PAIRS", pairs + "]"},
                    {"$COUNT", std::to_string(count)},
                    {"$ROWS", std::to_string(4 * ranks)},
                    {"$RANKS", std::to_string(ranks)}}),
        &context);
    ASSERT_TRUE(module);
    auto func = *module->getOps<func::FuncOp>().begin();
    auto mesh = (*module->getOps<spmd::MeshOp>().begin()).getMesh();
    auto manual = *func.getOps<spmd::ManualOp>().begin();
    numbering.emplace(func);
    algebra.emplace(0, 1.0);
    reader.emplace(*algebra, *numbering, mesh);
    reader->setSize(0, 4);
    Value result = manual.getBody().front().getTerminator()->getOperand(0);
    poly = reader->read(result, {{0}});
  }

  /// The blocks that rank 0 adds, with how often it adds each.
  std::map<int64_t, double> blocks() {
    std::map<int64_t, double> found;
    for (const Monomial &part : algebra->get(poly)) {
      const BlockLeaf *leaf =
          part.factors.size() == 1
              ? reader->leafOf(algebra->getTerm(part.factors[0].first))
              : nullptr;
      EXPECT_TRUE(leaf && leaf->sharding);
      if (leaf && leaf->sharding)
        found[leaf->blocks[0]] += part.coefficient;
    }
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<Numbering> numbering;
  std::optional<Algebra> algebra;
  std::optional<BlockReader> reader;
  PolyId poly = 0;
};
} // namespace

// In iteration i a rank has the block of the i-th rank after it.
TEST_F(Ring, ReadsWhatItKept) {
  read(8, 3);
  EXPECT_EQ(reader->stopped, nullptr);
  EXPECT_EQ(blocks(), (std::map<int64_t, double>{{5, 1}, {6, 1}, {7, 1}}));
}

TEST_F(Ring, ReadsWhatWasWrittenLast) {
  read(8, 3, R"(
    %again = stablehlo.reshape %mine : (tensor<4xf32>) -> tensor<1x4xf32>
    %six = stablehlo.constant dense<6> : tensor<i32>
    %read = stablehlo.dynamic_update_slice %kept#2, %again, %six, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>)");
  EXPECT_EQ(reader->stopped, nullptr);
  EXPECT_EQ(blocks(), (std::map<int64_t, double>{{0, 1}, {5, 1}, {7, 1}}));
}

// A write before another one to the same slot is not what later reads see, but
// what reads in between do.
TEST_F(Ring, ReadsWhatWasThereThen) {
  read(8, 3, R"(
    %again = stablehlo.reshape %mine : (tensor<4xf32>) -> tensor<1x4xf32>
    %six = stablehlo.constant dense<6> : tensor<i32>
    %old = stablehlo.dynamic_slice %kept#2, %six, %zero, sizes = [1, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %over = stablehlo.dynamic_update_slice %kept#2, %again, %six, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %read = stablehlo.dynamic_update_slice %over, %old, %five, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>)");
  EXPECT_EQ(reader->stopped, nullptr);
  EXPECT_EQ(blocks(), (std::map<int64_t, double>{{0, 1}, {6, 1}, {7, 1}}));
}

// A piece of two slots is no slot: what it covers is not known, the rest is.
TEST_F(Ring, StopsAtPiecesOfAnotherSize) {
  const char *const then = R"(
    %two = stablehlo.constant dense<1.0> : tensor<2x4xf32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %read = stablehlo.dynamic_update_slice %kept#2, %two, %five, %zero : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>)";
  read(8, 1, then);
  EXPECT_EQ(reader->stopped, nullptr);
  EXPECT_EQ(blocks(), (std::map<int64_t, double>{{7, 1}}));
  read(8, 2, then);
  ASSERT_NE(reader->stopped, nullptr);
  EXPECT_TRUE(isa<stablehlo::DynamicSliceOp>(reader->stopped));
}

// Each iteration writes one slot and reads one: steps are counted, not timed.
TEST_F(Ring, TakesStepsAsItsRanks) {
  std::map<int64_t, int64_t> steps;
  for (int64_t ranks : {16, 32, 64, 128}) {
    read(ranks, ranks);
    EXPECT_EQ(reader->stopped, nullptr);
    EXPECT_EQ(blocks().size(), size_t(ranks));
    steps[ranks] = reader->countSteps();
  }
  // What is linear grows by twice as much from one to the next; what is
  // quadratic by four times.
  int64_t first = steps[32] - steps[16];
  EXPECT_GT(first, 0);
  EXPECT_LE(steps[64] - steps[32], 2 * first + 16);
  EXPECT_LE(steps[128] - steps[64], 4 * first + 32);
}
