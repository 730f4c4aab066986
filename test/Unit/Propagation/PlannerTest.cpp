//===- PlannerTest.cpp - Several layouts of one value ---------------------===//
#include "Programs.h"
#include "gtest/gtest.h"

using namespace shardc;
using namespace shardc::propagation;
using namespace shardc::propagation::testing;

namespace {

/// A tensor whose dims are cut along `axes`, in balanced shards.
TensorState layout(const Problem &problem,
                   std::initializer_list<std::initializer_list<int64_t>> axes) {
  llvm::SmallVector<int64_t> shape(axes.size(), 64);
  TensorState state = TensorState::open(shape, 4);
  for (auto [dim, names] : llvm::zip(state.dims, axes)) {
    dim.axes.assign(names);
    dim.bounds = Boundaries::balanced(64, problem.shards(dim.axes));
  }
  return state;
}

using Parents = std::vector<int64_t>;
Parents parentsOf(const ReshardPlan &plan) {
  return {plan.from.begin(), plan.from.end()};
}

TEST(Planner, BytesAreCountedRankByRank) {
  Problem problem = onMesh({2, 2});
  int64_t all = 64 * 64 * 4;
  // x stays where it is; what y held apart comes together: each rank lacks a
  // quarter.
  EXPECT_EQ(bytesMoved(problem, layout(problem, {{0, 1}, {}}),
                       layout(problem, {{0}, {}})),
            4 * all / 4);
  // Rows to columns along one axis: each rank has half of what it needs.
  EXPECT_EQ(bytesMoved(problem, layout(problem, {{0}, {}}),
                       layout(problem, {{}, {0}})),
            4 * all / 4);
  // y major to y minor: two of four ranks have nothing of what they need.
  EXPECT_EQ(bytesMoved(problem, layout(problem, {{0, 1}, {}}),
                       layout(problem, {{1, 0}, {}})),
            2 * all / 4);
  EXPECT_EQ(bytesMoved(problem, layout(problem, {{}, {}}),
                       layout(problem, {{0}, {1}})),
            0);
}

TEST(Planner, OneLayoutComesAtOnce) {
  Problem problem = onMesh({4});
  ReshardPlan plan = planReshards(problem, layout(problem, {{0}, {}}),
                                  {layout(problem, {{}, {0}})});
  EXPECT_EQ(parentsOf(plan), (Parents{-1}));
}

TEST(Planner, ASliceOfWhatIsGathered) {
  Problem problem = onMesh({4});
  ReshardPlan plan =
      planReshards(problem, layout(problem, {{0}, {}}),
                   {layout(problem, {{}, {0}}), layout(problem, {{}, {}})});
  EXPECT_EQ(parentsOf(plan), (Parents{1, -1}));
}

TEST(Planner, ThroughALayoutThatNobodyAskedFor) {
  // Two dims to be cut along y in turn; both hold what x = whole, y = cut by no
  // one has.
  Problem problem = onMesh({8, 2});
  TensorState source = layout(problem, {{0, 1}, {}, {}});
  ReshardPlan plan = planReshards(
      problem, source,
      {layout(problem, {{0}, {1}, {}}), layout(problem, {{0}, {}, {1}})});
  ASSERT_EQ(plan.layouts.size(), 3u);
  EXPECT_EQ(parentsOf(plan), (Parents{2, 2, -1}));
  EXPECT_TRUE(sameLayout(plan.layouts[2], layout(problem, {{0}, {}, {}})));
}

TEST(Planner, EachFromTheSourceWhereNothingIsShared) {
  Problem problem = onMesh({2, 2});
  ReshardPlan plan =
      planReshards(problem, layout(problem, {{0}, {1}}),
                   {layout(problem, {{0}, {}}), layout(problem, {{}, {1}})});
  EXPECT_EQ(parentsOf(plan), (Parents{-1, -1}));
}

TEST(Planner, ManyLayoutsEnd) {
  Problem problem = onMesh({2, 2, 2});
  std::vector<TensorState> targets;
  for (std::initializer_list<int64_t> axes :
       std::initializer_list<std::initializer_list<int64_t>>{
           {}, {0}, {1}, {2}, {0, 1}, {1, 0}, {1, 2}, {2, 1}, {0, 1, 2}})
    targets.push_back(layout(problem, {{}, axes}));
  TensorState source = layout(problem, {{0, 1, 2}, {}});
  ReshardPlan plan = planReshards(problem, source, targets);
  double moved = 0;
  for (auto [i, from] : llvm::enumerate(plan.from))
    moved += bytesMoved(problem, from < 0 ? source : plan.layouts[from],
                        plan.layouts[i]);
  // Gathered once; all others are parts of that.
  EXPECT_EQ(moved, bytesMoved(problem, source, targets.front()));
}

} // namespace
