//===- DecisionTest.cpp - How one op runs ---------------------------------===//
#include "Programs.h"
#include <gtest/gtest.h>

using namespace shardc;
using namespace shardc::propagation;
using namespace shardc::propagation::testing;

static std::string axesOf(llvm::ArrayRef<FactorState> factors) {
  std::string text;
  for (const FactorState &factor : factors) {
    text += '[';
    for (size_t i = 0; i < factor.axes.size(); ++i)
      text += (i ? "," : "") + std::to_string(factor.axes[i]);
    text += ']';
  }
  return text;
}

TEST(Decision, AgreementIsTaken) {
  Problem problem = onMesh({2, 2});
  int64_t a = problem.addTensor({8, 16}), b = problem.addTensor({16, 12}),
          c = problem.addTensor({8, 12});
  OpNode op = addDot(problem, a, b, c);
  problem.annotate(a, 0, {{0}});
  problem.annotate(c, 0, {{0}});
  problem.annotate(a, 1, {{1}});
  problem.annotate(b, 0, {{1}});
  EXPECT_EQ(axesOf(decideFactors(problem, op)), "[0][][1]");
}

TEST(Decision, AResultThatMustBeWholeIsGatheredAfterTheWork) {
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({16}), b = problem.addTensor({16}),
          c = problem.addTensor({16});
  OpNode op = addElementwise(problem, {a, b}, c);
  problem.annotate(a, 0, {{0}, {5, 3, 4, 4}});
  problem.annotate(b, 0, {{0}, {5, 3, 4, 4}});
  auto factors = decideFactors(problem, op);
  EXPECT_EQ(axesOf(factors), "[0]");
  EXPECT_EQ(factors[0].bounds.sizes(), (Sizes{5, 3, 4, 4}));
}

TEST(Decision, TheSmallerTensorMoves) {
  // Both want axis 0, one for rows and one for columns of the result.
  Problem problem = onMesh({4});
  int64_t a = problem.addTensor({8, 16}), b = problem.addTensor({16, 512}),
          c = problem.addTensor({8, 512});
  OpNode op = addDot(problem, a, b, c);
  problem.annotate(a, 0, {{0}});
  problem.annotate(b, 1, {{0}});
  problem.annotate(c, 1, {{0}});
  EXPECT_EQ(axesOf(decideFactors(problem, op)), "[][0][]");
}

TEST(Decision, OneSetOfBoundariesForAllOperands) {
  Problem problem = onMesh({2});
  int64_t a = problem.addTensor({10}), b = problem.addTensor({10}),
          c = problem.addTensor({10});
  OpNode op = addElementwise(problem, {a, b}, c);
  problem.annotate(a, 0, {{0}, {3, 7}});
  problem.annotate(b, 0, {{0}, {6, 4}});
  problem.annotate(c, 0, {{0}, {6, 4}});
  auto factors = decideFactors(problem, op);
  EXPECT_EQ(factors[0].bounds.sizes(), (Sizes{6, 4}));
  RuleView view = viewOf(problem, op);
  EXPECT_FALSE(
      sameLayout(problem.tensors[a], impliedOperand(problem, view, factors, 0,
                                                    problem.tensors[a])));
  EXPECT_TRUE(
      sameLayout(problem.tensors[b], impliedOperand(problem, view, factors, 1,
                                                    problem.tensors[b])));
}

TEST(Decision, WindowsKeepTheBoundariesOfTheirOperand) {
  Problem problem = onMesh({2});
  int64_t a = problem.addTensor({16}), b = problem.addTensor({8});
  OpNode op = addWindow(problem, a, b, {.size = 2, .stride = 2});
  problem.annotate(a, 0, {{0}, {4, 12}});
  problem.annotate(b, 0, {{0}, {6, 2}});
  auto factors = decideFactors(problem, op);
  EXPECT_EQ(factors[0].bounds.sizes(), (Sizes{6, 2}));
  RuleView view = viewOf(problem, op);
  EXPECT_TRUE(
      sameLayout(problem.tensors[a], impliedOperand(problem, view, factors, 0,
                                                    problem.tensors[a])));
}

TEST(Decision, BlocksThatTravelMayShareAnAxis) {
  // Queries and keys of attention: each rank's queries use every block of
  // keys.
  Problem problem = onMesh({4});
  int64_t q = problem.addTensor({64, 8}), k = problem.addTensor({64, 8}),
          out = problem.addTensor({64, 8});
  OpNode op;
  int64_t query = op.rule.addFactor(64),
          key = op.rule.addFactor(64, FactorKind::Distributed);
  int64_t feature = op.rule.addFactor(8);
  auto dims = [](int64_t row, int64_t column) {
    return TensorRule{{IndexMap::identity(row), IndexMap::identity(column)}};
  };
  op.rule.operands = {dims(query, feature), dims(key, feature)};
  op.rule.results = {dims(query, feature)};
  op.operands = {q, k};
  op.results = {out};
  for (int64_t tensor : {q, k, out})
    problem.annotate(tensor, 0, {{0}});
  EXPECT_NE(axesOf(decideFactors(problem, op)), "[0][0][]");
  op.rule.factors[key].travels = true;
  EXPECT_EQ(axesOf(decideFactors(problem, op)), "[0][0][]");
}

TEST(Decision, AShiftKeepsTheBoundaries) {
  Problem problem = onMesh({2});
  int64_t a = problem.addTensor({16}), b = problem.addTensor({16});
  OpNode op;
  int64_t element = op.rule.addFactor(16);
  op.rule.operands = {TensorRule{{IndexMap{{{element, 1}}, -3, 1}}}};
  op.rule.results = {TensorRule{{IndexMap::identity(element)}}};
  op.operands = {a};
  op.results = {b};
  problem.annotate(a, 0, {{0}, {4, 12}});
  problem.ops.push_back(op);
  propagate(problem);
  EXPECT_EQ(problem.tensors[b].dims[0].bounds.sizes(), (Sizes{4, 12}));
}

TEST(Decision, OpenSizesComeBackAsTheyWere) {
  // A convolution by steps of two, and the one that undoes it: known sizes
  // come back rounded, open ones as they were.
  for (bool isOpen : {false, true}) {
    Problem problem = onMesh({2});
    int64_t a = problem.addTensor({16}), b = problem.addTensor({8}),
            c = problem.addTensor({16});
    addWindow(problem, a, b, {.size = 3, .stride = 2});
    ShardingRule rule;
    int64_t row = rule.addFactor(16), tap = rule.addFactor(3);
    rule.operands = {TensorRule{{IndexMap{{{row, 1}, {tap, 1}}, -2, 2}}}};
    rule.results = {TensorRule{{IndexMap::identity(row)}}};
    addOp(problem, rule, {b}, c);
    Formula given = isOpen ? Formula::given(0, 0, 16) : Formula();
    problem.annotate(a, 0, {.axes = {0}, .sizes = {8, 8}, .formula = given});
    propagate(problem);
    EXPECT_EQ(sizesOf(problem, b, 0), (Sizes{4, 4}));
    EXPECT_EQ(sizesOf(problem, c, 0), isOpen ? (Sizes{8, 8}) : (Sizes{9, 7}));
    if (isOpen)
      EXPECT_TRUE(problem.tensors[c].dims[0].bounds.formula() == given);
  }
}

TEST(Decision, ReshapeMovesToWholeBlocks) {
  Problem problem = onMesh({2});
  int64_t a = problem.addTensor({4, 6}), b = problem.addTensor({24});
  OpNode op = addMerge(problem, a, b);
  problem.annotate(a, 0, {{0}, {1, 3}});
  problem.annotate(b, 0, {{0}, {7, 17}});
  auto factors = decideFactors(problem, op);
  RuleView view = viewOf(problem, op);
  TensorState made =
      impliedResult(problem, view, factors, 0, problem.tensors[b]);
  EXPECT_EQ(made.dims[0].bounds.indices()[1] % 6, 0);
}

TEST(Decision, MovedBytesCountWhatIsNotOwned) {
  Problem problem = onMesh({4});
  int64_t cut = problem.addTensor({16}), whole = problem.addTensor({16}),
          other = problem.addTensor({16});
  problem.annotate(cut, 0, {{0}});
  problem.annotate(other, 0, {{0}, {5, 3, 4, 4}});
  auto moved = [&](int64_t from, int64_t to) {
    return bytesMoved(problem, problem.tensors[from], problem.tensors[to]);
  };
  EXPECT_EQ(moved(whole, cut), 0);
  EXPECT_EQ(moved(cut, whole), 4 * 12 * 4); // each of 4 ranks lacks 12 elements
  EXPECT_EQ(moved(cut, other), 4);          // one element goes to rank 0
}
