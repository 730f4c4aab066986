//===- SettleBroadcastsTest.cpp - Move what is spread before it is --------===//
#include "Programs.h"
#include "gtest/gtest.h"

using namespace shardc;
using namespace shardc::propagation;
using namespace shardc::propagation::testing;

namespace {

/// result[i, j] = operand[i], or operand[j] if `minor`.
OpNode &addSpread(Problem &problem, int64_t operand, int64_t result,
                  bool minor) {
  ShardingRule rule;
  IndexMap i =
      IndexMap::identity(rule.addFactor(problem.tensors[result].shape[0]));
  IndexMap j =
      IndexMap::identity(rule.addFactor(problem.tensors[result].shape[1]));
  rule.operands = {TensorRule{{minor ? j : i}}};
  rule.results = {TensorRule{{i, j}}};
  return addOp(problem, rule, {operand}, result);
}

/// z[i, j] = f(a[i], b[j]) by way of x and y, which are of z's shape.
struct Outer {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({64}), b = problem.addTensor({64});
  int64_t x = problem.addTensor({64, 64}), y = problem.addTensor({64, 64}),
          z = problem.addTensor({64, 64});

  explicit Outer(const Sizes &sizes = {16, 16, 16, 16}) {
    for (int64_t operand : {a, b})
      problem.annotate(
          operand, 0,
          {.axes = {0}, .sizes = sizes, .origin = problem.addOrigin("it")});
    addSpread(problem, a, x, /*minor=*/false);
    addSpread(problem, b, y, /*minor=*/true);
    addElementwise(problem, {x, y}, z);
  }
};

TEST(SettleBroadcasts, TheOperandIsMoved) {
  Outer outer;
  propagate(outer.problem);
  // Both operands cut what they are spread to along the one axis.
  EXPECT_EQ(axesOf(outer.problem, outer.x), "[0][]");
  EXPECT_EQ(axesOf(outer.problem, outer.y), "[][0]");
  EXPECT_EQ(axesOf(outer.problem, outer.z), "[0][]");
  settleBroadcasts(outer.problem);
  EXPECT_EQ(axesOf(outer.problem, outer.y), "[0][]");
  EXPECT_EQ(axesOf(outer.problem, outer.x), "[0][]");
  EXPECT_EQ(outer.problem.tensors[outer.y].dims[0].origins.size(), 1u);
  EXPECT_EQ(sizesOf(outer.problem, outer.y, 0), (Sizes{16, 16, 16, 16}));
}

TEST(SettleBroadcasts, UnevenBoundariesGoAlong) {
  Sizes sizes{40, 0, 23, 1};
  Outer outer(sizes);
  propagate(outer.problem);
  settleBroadcasts(outer.problem);
  EXPECT_EQ(axesOf(outer.problem, outer.y), "[0][]");
  EXPECT_EQ(sizesOf(outer.problem, outer.y, 0), sizes);
}

TEST(SettleBroadcasts, ReadersThatDisagreeLeaveIt) {
  Outer outer;
  // Another reader takes what b is spread to as it is.
  int64_t other = outer.problem.addTensor({64, 64});
  addElementwise(outer.problem, {outer.y}, other);
  propagate(outer.problem);
  std::string before = axesOf(outer.problem, outer.y);
  settleBroadcasts(outer.problem);
  EXPECT_EQ(axesOf(outer.problem, outer.y), before);
}

TEST(SettleBroadcasts, WhatNobodyMovesStays) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({64}), x = problem.addTensor({64, 64}),
          z = problem.addTensor({64, 64});
  problem.annotate(a, 0, {.axes = {0}, .origin = problem.addOrigin("it")});
  addSpread(problem, a, x, /*minor=*/true);
  addElementwise(problem, {x}, z);
  propagate(problem);
  settleBroadcasts(problem);
  EXPECT_EQ(axesOf(problem, x), "[][0]");
  EXPECT_EQ(axesOf(problem, z), "[][0]");
}

} // namespace
