//===- StrategyTest.cpp - Spreading shardings -----------------------------===//
//
// Rules are written here by hand: the core is tested without IR.
//
//===----------------------------------------------------------------------===//
#include "Programs.h"
#include <gtest/gtest.h>

using namespace shardc;
using namespace shardc::propagation;
using namespace shardc::propagation::testing;

TEST(Strategy, ElementwisePassesBothWays) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({8, 4}), b = problem.addTensor({8, 4}),
          c = problem.addTensor({8, 4});
  addElementwise(problem, {a}, b);
  addElementwise(problem, {b}, c);
  problem.annotate(b, 0, {{0}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, a), "[0][]");
  EXPECT_EQ(axesOf(problem, c), "[0][]");
  EXPECT_EQ(sizesOf(problem, c, 0), (Sizes{2, 2, 2, 2}));
}

TEST(Strategy, ClosedDimsStayAsTheyAre) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({8}), b = problem.addTensor({8}),
          c = problem.addTensor({8});
  addElementwise(problem, {a}, b);
  addElementwise(problem, {b}, c);
  problem.annotate(a, 0, {{0}});
  problem.annotate(b, 0, {{}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, b), "[]");
  EXPECT_EQ(axesOf(problem, c), "[]");
}

TEST(Strategy, LockedAxesStayOut) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({8}), b = problem.addTensor({8});
  addElementwise(problem, {a}, b);
  problem.annotate(a, 0, {{0}});
  problem.tensors[b].locked = {0};
  propagate(problem);
  EXPECT_EQ(axesOf(problem, b), "[]");
}

TEST(Strategy, SizesRideAlong) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({10}), b = problem.addTensor({10}),
          c = problem.addTensor({10});
  addElementwise(problem, {a, c}, b);
  problem.annotate(a, 0, {{0}, {1, 0, 5, 4}});
  problem.annotate(c, 0, {{0}}); // axes, but no sizes of its own
  propagate(problem);
  EXPECT_EQ(sizesOf(problem, b, 0), (Sizes{1, 0, 5, 4}));
  EXPECT_EQ(sizesOf(problem, c, 0), (Sizes{1, 0, 5, 4}));
}

TEST(Strategy, ExplicitSizesKeepTheirOwn) {
  Problem problem = onMesh({2});
  int64_t a = problem.addTensor({10}), b = problem.addTensor({10}),
          c = problem.addTensor({10});
  addElementwise(problem, {a, b}, c);
  problem.annotate(a, 0, {{0}, {3, 7}});
  problem.annotate(b, 0, {{0}, {8, 2}});
  propagate(problem);
  EXPECT_EQ(sizesOf(problem, a, 0), (Sizes{3, 7}));
  EXPECT_EQ(sizesOf(problem, b, 0), (Sizes{8, 2}));
  EXPECT_EQ(sizesOf(problem, c, 0), (Sizes{3, 7})); // the first of two alike
}

TEST(Strategy, StrideTwoHalvesBoundaries) {
  Problem problem = onMesh({3});
  int64_t a = problem.addTensor({30}), b = problem.addTensor({15});
  addWindow(problem, a, b, {.size = 2, .stride = 2});
  problem.annotate(a, 0, {{0}, {11, 9, 10}});
  propagate(problem);
  EXPECT_EQ(sizesOf(problem, b, 0),
            (Sizes{6, 4, 5})); // ceil(11/2), ceil(20/2), 15
}

TEST(Strategy, WindowsNeedNotAgreeOnBoundaries) {
  Problem problem = onMesh({2});
  int64_t a = problem.addTensor({16}), b = problem.addTensor({8});
  addWindow(problem, a, b, {.size = 2, .stride = 2});
  problem.annotate(a, 0, {{0}, {4, 12}});
  problem.annotate(b, 0, {{0}, {6, 2}});
  propagate(problem);
  EXPECT_EQ(sizesOf(problem, a, 0), (Sizes{4, 12}));
  EXPECT_EQ(sizesOf(problem, b, 0), (Sizes{6, 2}));
}

TEST(Strategy, ElementwiseComesBeforeWindows) {
  // A stencil: both neighbours are shifted slices of a padded tensor. They take
  // the boundaries of the tensor they are added to, not those of the pad.
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({30}), padded = problem.addTensor({32});
  int64_t above = problem.addTensor({30}), below = problem.addTensor({30});
  int64_t sum = problem.addTensor({30}), result = problem.addTensor({30});
  addWindow(problem, a, padded, {.offset = -1});
  addWindow(problem, padded, above, {.offset = 2});
  addWindow(problem, padded, below, {});
  addElementwise(problem, {above, below}, sum);
  addElementwise(problem, {sum, a}, result);
  problem.annotate(a, 0, {{0}});
  propagate(problem);
  for (int64_t tensor : {above, below, sum, result})
    EXPECT_EQ(sizesOf(problem, tensor, 0), (Sizes{8, 8, 7, 7}));
}

TEST(Strategy, MergeKeepsBlocksTogether) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({8, 6}), b = problem.addTensor({48});
  addMerge(problem, a, b);
  problem.annotate(a, 0, {{0}, {1, 3, 2, 2}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, b), "[0]");
  EXPECT_EQ(sizesOf(problem, b, 0), (Sizes{6, 18, 12, 12}));
}

TEST(Strategy, FewBlocksAreNotGivenToManyRanks) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({2, 16}), b = problem.addTensor({32});
  addMerge(problem, a, b);
  problem.annotate(b, 0, {{0}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, a), "[][]");
}

TEST(Strategy, MinorFactorOfAMergeIsNotCut) {
  Problem problem = onMesh({2});
  int64_t a = problem.addTensor({4, 8}), b = problem.addTensor({32});
  addMerge(problem, a, b);
  problem.annotate(a, 1, {{0}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, b), "[]");
}

TEST(Strategy, DotPassesFreeDimsBeforeContractedOnes) {
  Problem problem = onMesh({2, 2});
  int64_t a = problem.addTensor({8, 16}), b = problem.addTensor({16, 12}),
          c = problem.addTensor({8, 12});
  addDot(problem, a, b, c);
  problem.annotate(a, 0, {{0}, {}, true});
  problem.annotate(a, 1, {{1}, {}, true});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, c), "[0][]");
  EXPECT_EQ(axesOf(problem, b),
            "[1][]"); // the contracted dim, in a later stage
}

TEST(Strategy, AnAxisCutsOneDimOnly) {
  Problem problem = onMesh({2});
  int64_t a = problem.addTensor({8, 16}), b = problem.addTensor({16, 64}),
          c = problem.addTensor({8, 64});
  addDot(problem, a, b, c);
  problem.annotate(a, 0, {{0}});
  problem.annotate(b, 1, {{0}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, c), "[][0]"); // b is larger
}

TEST(Strategy, UserPrioritiesComeFirst) {
  Problem problem = onMesh({2});
  int64_t a = problem.addTensor({64}), b = problem.addTensor({64}),
          c = problem.addTensor({64});
  addElementwise(problem, {a, b}, c);
  int64_t d = problem.addTensor({64, 64});
  addOuter(problem, a, c, d);
  problem.annotate(a, 0, {{0}, {}, false, /*priority=*/1});
  problem.annotate(d, 1, {{0}, {}, false, /*priority=*/0});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, c), "[0]");
  EXPECT_EQ(axesOf(problem, a), "[0]");
}

TEST(Strategy, OpenDimsTakeMoreAxes) {
  Problem problem = onMesh({2, 3});
  int64_t a = problem.addTensor({12}), b = problem.addTensor({12});
  addElementwise(problem, {a}, b);
  problem.annotate(a, 0, {{0}, {}, /*open=*/true});
  problem.annotate(b, 0, {{0, 1}, {1, 2, 3, 1, 2, 3}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, a), "[0,1]");
  EXPECT_EQ(sizesOf(problem, a, 0), (Sizes{1, 2, 3, 1, 2, 3}));
}

TEST(Strategy, ClosedDimsTakeCoarserSizes) {
  Problem problem = onMesh({2, 3});
  int64_t a = problem.addTensor({12}), b = problem.addTensor({12});
  addElementwise(problem, {a}, b);
  problem.annotate(a, 0, {{0}});
  problem.annotate(b, 0, {{0, 1}, {1, 2, 4, 1, 1, 3}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, a), "[0]");
  EXPECT_EQ(sizesOf(problem, a, 0), (Sizes{7, 5}));
}

TEST(Strategy, EvenOnlyFactorsTakeUniformShards) {
  for (bool even : {true, false}) {
    Problem problem = onMesh({2});
    int64_t a = problem.addTensor({8}), b = problem.addTensor({8});
    addElementwise(problem, {a}, b);
    problem.ops.back().rule.factors[0].evenOnly = true;
    problem.annotate(a, 0, {{0}, even ? Sizes{4, 4} : Sizes{3, 5}});
    propagate(problem);
    EXPECT_EQ(axesOf(problem, b), even ? "[0]" : "[]");
  }
}

TEST(Strategy, TenThousandOpsInLinearVisits) {
  Problem problem = onMesh({4});
  int64_t value = problem.addTensor({64, 64});
  problem.annotate(value, 0, {{0}});
  for (int i = 0; i < 10000; ++i) {
    int64_t next = problem.addTensor({64, 64});
    addElementwise(problem, {value}, next);
    value = next;
  }
  EXPECT_LE(propagate(problem), 10 * 10000 * 4);
  EXPECT_EQ(axesOf(problem, value), "[0][]");
}

TEST(Strategy, OneRowOfASliceStaysWithItsRank) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({30}), row = problem.addTensor({1}),
          next = problem.addTensor({1});
  addWindow(problem, a, row, {.offset = 29});
  addElementwise(problem, {row}, next);
  problem.annotate(a, 0, {{0}});
  propagate(problem);
  EXPECT_EQ(sizesOf(problem, row, 0), (Sizes{0, 0, 0, 1}));
  EXPECT_EQ(sizesOf(problem, next, 0), (Sizes{0, 0, 0, 1}));
}

TEST(Strategy, OneRowIsNotCutForAField) {
  Problem problem = onMesh({4});
  int64_t row = problem.addTensor({1}), field = problem.addTensor({30});
  addWindow(problem, row, field, {.offset = -3}); // the row is put into a field
  problem.annotate(field, 0, {{0}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, row), "[]");
}

TEST(Strategy, HalfADomainIsBalanced) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({32}), half = problem.addTensor({16});
  addWindow(problem, a, half, {});
  problem.annotate(a, 0, {{0}});
  propagate(problem);
  EXPECT_EQ(sizesOf(problem, half, 0), (Sizes{4, 4, 4, 4})); // not 8, 8, 0, 0
}

/// A transform of dim 1: cut before and after along different factors; what
/// would be lost is kept along dim 0, or dim 1 itself where dim 0 is too short.
static void addTransform(Problem &problem, int64_t from, int64_t to) {
  ShardingRule rule;
  int64_t batch = rule.addFactor(problem.tensors[from].shape[0]);
  int64_t before =
      rule.addFactor(problem.tensors[from].shape[1], FactorKind::Distributed);
  int64_t after =
      rule.addFactor(problem.tensors[to].shape[1], FactorKind::Distributed);
  rule.factors[before].carriers = {batch, after};
  rule.factors[after].carriers = {batch, before};
  rule.operands.push_back(
      {{IndexMap::identity(batch), IndexMap::identity(before)}});
  rule.results.push_back(
      {{IndexMap::identity(batch), IndexMap::identity(after)}});
  addOp(problem, rule, {from}, to);
}

TEST(Strategy, LostAxesAreKeptAlongCarriers) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({8, 16}), spectrum = problem.addTensor({8, 9});
  addTransform(problem, a, spectrum);
  problem.annotate(a, 1, {{0}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, a), "[][0]");
  EXPECT_EQ(axesOf(problem, spectrum), "[0][]");
  EXPECT_EQ(sizesOf(problem, spectrum, 0), Sizes({2, 2, 2, 2}));
}

TEST(Strategy, TheFirstLongEnoughCarrierIsTaken) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({2, 16}), spectrum = problem.addTensor({2, 9});
  addTransform(problem, a, spectrum);
  problem.annotate(spectrum, 1, {{0}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, a), "[][0]");
}

TEST(Strategy, AnAxisThatTheOtherSideHasIsNotCarried) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({8, 16}), spectrum = problem.addTensor({8, 9});
  addTransform(problem, a, spectrum);
  problem.annotate(a, 1, {{0}});
  problem.annotate(spectrum, 1, {{0}});
  propagate(problem);
  EXPECT_EQ(axesOf(problem, spectrum), "[][0]");
}
