//===- AlgebraTest.cpp - Each rule of Raise's algebra ---------------------===//
//
// A rule is an equation of real numbers: both sides have one normal form. What
// is no equation must not become one.
//
//===----------------------------------------------------------------------===//
#include "Algebra.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

namespace {
/// Dims: one of rows, one of keys, and two more of blocks' keys.
constexpr unsigned kRow = 0, kKey = 1, kOther = 2;
constexpr double kKeys = 8;

class Rules : public testing::Test {
protected:
  explicit Rules(bool ofBlocks = false)
      : algebra(ofBlocks ? 0 : DimSet(1) << kKey, kKeys) {
    algebra.ofBlocks = ofBlocks;
  }

  /// An element of tensor number `value`, at `dims`.
  PolyId leaf(unsigned value, ArrayRef<unsigned> dims, bool isBool = false) {
    Term term(TermKind::Leaf);
    term.values = {value};
    term.isBool = isBool;
    Layout layout;
    for (unsigned dim : dims) {
      term.dims |= DimSet(1) << dim;
      layout.push_back({dim});
    }
    term.layouts = {layout};
    return algebra.term(std::move(term));
  }
  /// Of a row, and of a row and a key.
  PolyId row(unsigned value) { return leaf(value, {kRow}); }
  PolyId score(unsigned value) { return leaf(value, {kRow, kKey}); }

  PolyId select(PolyId condition, PolyId yes, PolyId no) {
    Term term(TermKind::Function);
    term.name = StringAttr::get(&context, "stablehlo.select");
    term.attributes = DictionaryAttr::get(&context);
    term.arguments = {condition, yes, no};
    term.dims =
        algebra.dimsOf(condition) | algebra.dimsOf(yes) | algebra.dimsOf(no);
    return algebra.term(std::move(term));
  }

  PolyId sum(PolyId a, PolyId b) { return algebra.add(a, b); }
  PolyId difference(PolyId a, PolyId b) { return algebra.add(a, b, -1); }
  PolyId product(PolyId a, PolyId b) { return algebra.multiply(a, b); }
  PolyId quotient(PolyId a, PolyId b) {
    return algebra.multiply(a, algebra.invert(b));
  }
  PolyId number(double value) { return algebra.number(value); }
  PolyId exp(PolyId a) { return algebra.exponential(a); }
  PolyId log(PolyId a) { return algebra.logarithm(a); }

  MLIRContext context;
  Algebra algebra;
};

/// Sums over any dim, as of the blocks of a ring.
class BlockRules : public Rules {
protected:
  BlockRules() : Rules(/*ofBlocks=*/true) {}
  PolyId sumOver(unsigned dim, PolyId a) {
    return algebra.sumOver(dim, kKeys, a);
  }
  /// The sum of a block's weights.
  PolyId weights(unsigned value) { return sumOver(kKey, exp(score(value))); }
};

#define EXPECT_SAME(a, b)                                                      \
  do {                                                                         \
    PolyId left = a, right = b;                                                \
    EXPECT_EQ(left, right) << algebra.str(left) << "\n  is not\n"              \
                           << algebra.str(right);                              \
  } while (false)
#define EXPECT_OTHER(a, b)                                                     \
  do {                                                                         \
    PolyId left = a, right = b;                                                \
    EXPECT_NE(left, right) << algebra.str(left);                               \
  } while (false)

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

TEST_F(Rules, TermsHaveNoOrder) {
  PolyId a = row(0), b = row(1), c = score(2);
  EXPECT_SAME(sum(sum(a, b), c), sum(c, sum(b, a)));
  EXPECT_SAME(product(product(a, b), c), product(c, product(b, a)));
  EXPECT_SAME(product(a, sum(b, c)), sum(product(a, b), product(a, c)));
  EXPECT_SAME(product(sum(a, b), difference(a, b)),
              difference(product(a, a), product(b, b)));
  EXPECT_OTHER(difference(a, b), difference(b, a));
  EXPECT_OTHER(product(a, a), a);
}

TEST_F(Rules, OneElementIsOneTerm) {
  EXPECT_SAME(leaf(0, {kRow, kKey}), leaf(0, {kRow, kKey}));
  EXPECT_OTHER(leaf(0, {kRow, kKey}), leaf(1, {kRow, kKey}));
  EXPECT_OTHER(leaf(0, {kRow, kKey}), leaf(0, {kKey, kRow}));
}

TEST_F(Rules, WhatCancelsIsGone) {
  PolyId a = row(0), b = row(1);
  EXPECT_SAME(difference(a, a), number(0));
  EXPECT_SAME(algebra.scale(a, 0), number(0));
  EXPECT_SAME(difference(sum(a, b), b), a);
  // But for rounding: 0.1 + 0.2 is not 0.3 in binary.
  PolyId tenths = sum(algebra.scale(a, 0.1), algebra.scale(a, 0.2));
  EXPECT_SAME(algebra.add(tenths, a, -0.3), number(0));
  EXPECT_OTHER(algebra.add(tenths, a, -0.3001), number(0));
}

TEST_F(Rules, PowersAreWhole) {
  PolyId a = row(0), b = row(1);
  EXPECT_SAME(quotient(a, a), number(1));
  EXPECT_SAME(algebra.invert(algebra.invert(a)), a);
  EXPECT_SAME(
      algebra.invert(product(algebra.scale(a, 2), b)),
      algebra.scale(product(algebra.invert(a), algebra.invert(b)), 0.5));
  // Of a sum there is no power: it is a term, the same for the same sum.
  EXPECT_SAME(algebra.invert(sum(a, b)), algebra.invert(sum(b, a)));
  EXPECT_OTHER(algebra.invert(sum(a, b)),
               sum(algebra.invert(a), algebra.invert(b)));
}

TEST_F(Rules, ConditionsAreZeroOrOne) {
  PolyId c = leaf(0, {kKey}, /*isBool=*/true), a = row(1);
  EXPECT_SAME(product(c, c), c);
  EXPECT_SAME(product(c, difference(number(1), c)), number(0));
  // One over zero is not one over one.
  EXPECT_OTHER(quotient(c, c), number(1));
  EXPECT_OTHER(product(c, a), a);
}

TEST_F(Rules, Constants) {
  EXPECT_EQ(algebra.constantOf(number(3)), 3.0);
  EXPECT_EQ(algebra.constantOf(number(0)), 0.0);
  EXPECT_EQ(algebra.constantOf(row(0)), std::nullopt);
  EXPECT_TRUE(algebra.singleTerm(row(0)).has_value());
  EXPECT_FALSE(algebra.singleTerm(algebra.scale(row(0), 2)).has_value());
  EXPECT_FALSE(algebra.singleTerm(product(row(0), row(0))).has_value());
  EXPECT_EQ(algebra.dimsOf(product(row(0), leaf(1, {kKey}))),
            (DimSet(1) << kRow) | (DimSet(1) << kKey));
}

TEST_F(Rules, NearIsEqualButForRoundedCoefficients) {
  PolyId a = row(0), b = row(1);
  EXPECT_TRUE(algebra.isNear(sum(a, b), algebra.add(a, b, 1.0005)));
  EXPECT_FALSE(algebra.isNear(sum(a, b), algebra.add(a, b, 1.01)));
  EXPECT_FALSE(algebra.isNear(a, b));
  EXPECT_FALSE(algebra.isNear(a, sum(a, b)));
}

//===----------------------------------------------------------------------===//
// Exponentials, logarithms, sums and maxima over keys
//===----------------------------------------------------------------------===//

TEST_F(Rules, WhatHasNoKeyComesOutOfAnExponential) {
  PolyId s = score(0), r = row(1);
  EXPECT_SAME(exp(sum(s, r)), product(exp(s), exp(r)));
  EXPECT_SAME(exp(difference(s, r)), quotient(exp(s), exp(r)));
  EXPECT_SAME(exp(number(0)), number(1));
  EXPECT_SAME(exp(number(2)), number(std::exp(2.0)));
  // What has stays together, and a number with it: it may be half of a mask.
  EXPECT_OTHER(exp(sum(s, number(2))), product(exp(s), number(std::exp(2.0))));
  EXPECT_OTHER(exp(sum(s, score(2))), product(exp(s), exp(score(2))));
}

TEST_F(Rules, AnExponentialOfALogarithmIsAPower) {
  PolyId r = row(0), s = score(1);
  EXPECT_SAME(exp(log(r)), r);
  EXPECT_SAME(exp(algebra.scale(log(r), -2)), algebra.invert(product(r, r)));
  EXPECT_SAME(exp(difference(s, log(r))), quotient(exp(s), r));
  EXPECT_OTHER(exp(algebra.scale(log(r), 0.5)), r);
}

TEST_F(Rules, ALogarithmOfAProductIsASum) {
  PolyId a = row(0), b = row(1);
  EXPECT_SAME(log(product(a, b)), sum(log(a), log(b)));
  EXPECT_SAME(log(quotient(a, b)), difference(log(a), log(b)));
  EXPECT_SAME(log(algebra.scale(a, 2)), sum(number(std::log(2.0)), log(a)));
  EXPECT_SAME(log(exp(score(2))), score(2));
  EXPECT_SAME(log(number(1)), number(0));
  // Of a sum, and of what may be negative, there is none.
  EXPECT_OTHER(log(sum(a, b)), sum(log(a), log(b)));
  EXPECT_OTHER(log(algebra.scale(a, -1)), log(a));
}

TEST_F(Rules, WhatHasNoKeyComesOutOfASum) {
  PolyId s = score(0), t = score(1), r = row(2);
  EXPECT_SAME(algebra.sumOverKey(product(s, r)),
              product(algebra.sumOverKey(s), r));
  EXPECT_SAME(algebra.sumOverKey(sum(s, t)),
              sum(algebra.sumOverKey(s), algebra.sumOverKey(t)));
  EXPECT_SAME(algebra.sumOverKey(r), algebra.scale(r, kKeys));
  EXPECT_OTHER(algebra.sumOverKey(product(s, t)),
               product(algebra.sumOverKey(s), algebra.sumOverKey(t)));
  EXPECT_EQ(algebra.dimsOf(algebra.sumOverKey(s)), DimSet(1) << kRow);
}

// Whatever a row is shifted by, its maximum among them.
TEST_F(Rules, SoftmaxIsOneForm) {
  PolyId s = score(0), m = algebra.maxOverKey(s);
  auto softmax = [&](PolyId shift) {
    PolyId weight = exp(difference(s, shift));
    return quotient(weight, algebra.sumOverKey(weight));
  };
  PolyId plain = quotient(exp(s), algebra.sumOverKey(exp(s)));
  EXPECT_SAME(softmax(m), plain);
  EXPECT_SAME(softmax(row(1)), plain);
  EXPECT_OTHER(softmax(leaf(1, {kKey})), plain);
  EXPECT_SAME(exp(difference(s, log(algebra.sumOverKey(exp(s))))), plain);
  EXPECT_TRUE(algebra.isStatistic(*algebra.singleTerm(m)));
  EXPECT_FALSE(algebra.isStatistic(*algebra.singleTerm(s)));
}

TEST_F(Rules, ExponentialsAndTheirSumsArePositive) {
  PolyId weight = exp(score(0)), all = algebra.sumOverKey(weight);
  EXPECT_TRUE(algebra.isPositive(weight));
  EXPECT_TRUE(algebra.isPositive(quotient(weight, all)));
  EXPECT_FALSE(algebra.isPositive(algebra.scale(weight, -1)));
  EXPECT_FALSE(algebra.isPositive(score(0)));
  EXPECT_FALSE(algebra.isPositive(sum(weight, all)));
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

TEST_F(Rules, AWeightImpliesTheConditionThatItIsMaskedBy) {
  PolyId c = leaf(0, {kRow, kKey}, /*isBool=*/true), s = score(1);
  PolyId masked = exp(select(c, s, number(-INFINITY)));
  EXPECT_SAME(product(masked, c), masked);
  EXPECT_SAME(product(c, masked), masked);
  EXPECT_SAME(product(masked, difference(number(1), c)), number(0));
  // The other branch.
  PolyId others = exp(select(c, number(-INFINITY), s));
  EXPECT_SAME(product(others, c), number(0));
  EXPECT_SAME(product(others, difference(number(1), c)), others);
  // A large finite number is no mask: exp of it is no zero.
  PolyId low = exp(select(c, s, number(-1e9)));
  EXPECT_OTHER(product(low, c), low);
}

TEST_F(Rules, AMaskMayBeOfSeveralConditions) {
  PolyId a = leaf(0, {kRow}, /*isBool=*/true),
         b = leaf(1, {kRow, kKey}, /*isBool=*/true), s = score(2);
  PolyId masked = exp(select(product(a, b), s, number(-INFINITY)));
  EXPECT_SAME(product(masked, a), masked);
  EXPECT_SAME(product(masked, b), masked);
  // Not both: that says nothing of either.
  PolyId others = exp(select(product(a, b), number(-INFINITY), s));
  EXPECT_OTHER(product(others, a), number(0));
  // A sum over keys implies what is of the row, and no more.
  PolyId all = algebra.sumOverKey(masked);
  EXPECT_SAME(product(all, a), all);
  EXPECT_OTHER(product(all, b), all);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

TEST_F(BlockRules, ASumHasNoNameForItsDim) {
  EXPECT_SAME(sumOver(kKey, leaf(0, {kRow, kKey})),
              sumOver(kOther, leaf(0, {kRow, kOther})));
  EXPECT_OTHER(sumOver(kKey, leaf(0, {kRow, kKey})),
               sumOver(kKey, leaf(0, {kKey, kRow})));
  EXPECT_SAME(sumOver(kKey, row(0)), algebra.scale(row(0), kKeys));
  EXPECT_SAME(sumOver(kKey, product(score(0), row(1))),
              product(sumOver(kKey, score(0)), row(1)));
}

TEST_F(BlockRules, SumsOfSumsHaveNoOrder) {
  PolyId a = leaf(0, {kRow, kKey, kOther});
  EXPECT_SAME(sumOver(kKey, sumOver(kOther, a)),
              sumOver(kOther, sumOver(kKey, a)));
  // Sum over features of dout times the output is, key by key, that of dout
  // times the value: what a gradient is written with.
  PolyId dout = leaf(1, {kRow, kOther}), value = leaf(2, {kKey, kOther}),
         weight = exp(score(3));
  EXPECT_SAME(
      sumOver(kOther, product(dout, sumOver(kKey, product(weight, value)))),
      sumOver(kKey, product(weight, sumOver(kOther, product(dout, value)))));
}

TEST_F(BlockRules, MaximaHaveNoNameForTheirDim) {
  EXPECT_SAME(algebra.maxOver(kKey, leaf(0, {kRow, kKey})),
              algebra.maxOver(kOther, leaf(0, {kRow, kOther})));
  EXPECT_OTHER(algebra.maxOver(kKey, score(0)), sumOver(kKey, score(0)));
}

TEST_F(BlockRules, StatisticsComeOutOfExponentials) {
  PolyId s = score(0), m = algebra.maxOver(kKey, s);
  EXPECT_SAME(exp(difference(s, m)), quotient(exp(s), exp(m)));
  // A whole multiple is a power.
  EXPECT_SAME(exp(algebra.scale(m, 3)),
              product(exp(m), product(exp(m), exp(m))));
  // What is no statistic stays.
  EXPECT_OTHER(exp(difference(s, row(1))), quotient(exp(s), exp(row(1))));
}

// What two blocks are merged with: both are scaled to the larger maximum.
TEST_F(BlockRules, MergedBlocksAreASum) {
  PolyId first = score(0), second = score(1);
  PolyId m0 = algebra.maxOver(kKey, first), m1 = algebra.maxOver(kKey, second);
  PolyId m = sum(m0, algebra.positivePart(difference(m1, m0), &context));
  auto scaled = [&](PolyId s, PolyId most) {
    PolyId all = sumOver(kKey, exp(difference(s, most)));
    return product(all, exp(difference(most, m)));
  };
  PolyId whole = sum(scaled(first, m0), scaled(second, m1));
  EXPECT_SAME(product(whole, exp(m)), sum(weights(0), weights(1)));
}

TEST_F(BlockRules, ADivisorOfSeveralBlocksIsTheirTotal) {
  PolyId l0 = weights(0), l1 = weights(1), x = row(2);
  PolyId both = sum(l0, l1);
  PolyId inverse = algebra.invert(product(x, both));
  EXPECT_SAME(inverse, product(algebra.invert(x), algebra.invert(both)));
  // From then on one block is the total without the other.
  std::optional<TermId> whole = algebra.singleTerm(algebra.total(both));
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(algebra.getTerm(*whole).kind, TermKind::Total);
  EXPECT_SAME(sum(weights(0), weights(1)), algebra.ofTerm(*whole));
  EXPECT_SAME(quotient(sum(weights(0), weights(1)), both), number(1));
}

TEST_F(BlockRules, FractionsOfTwoPartsAreUnique) {
  PolyId l0 = weights(0), l1 = weights(1);
  PolyId whole = algebra.total(sum(l0, l1));
  l0 = weights(0);
  l1 = weights(1);
  // L0 / L1 = (L0 + L1) / L1 - 1, and the same of the other.
  EXPECT_SAME(quotient(l0, l1), difference(quotient(whole, l1), number(1)));
  EXPECT_SAME(quotient(l1, l0), difference(quotient(whole, l0), number(1)));
  // 1 / (L0 L1) = (1 / L0 + 1 / L1) / (L0 + L1).
  EXPECT_SAME(algebra.invert(product(l0, l1)),
              quotient(sum(algebra.invert(l0), algebra.invert(l1)), whole));
}

TEST_F(BlockRules, TheSquareOfABlocksSumIsThatOfTheTotal) {
  PolyId both = sum(weights(0), weights(1));
  PolyId square = product(both, both);
  EXPECT_SAME(algebra.invert(square),
              product(algebra.invert(both), algebra.invert(both)));
}

TEST_F(BlockRules, TheLargerOfTwoIsWrittenOneWay) {
  PolyId a = row(0), b = row(1);
  auto larger = [&](PolyId x, PolyId y) {
    return sum(y, algebra.positivePart(difference(x, y), &context));
  };
  EXPECT_SAME(larger(a, b), larger(b, a));
  EXPECT_SAME(larger(a, a), a);
  EXPECT_OTHER(larger(a, b), a);
  EXPECT_SAME(algebra.positivePart(number(0), &context), number(0));
}

TEST_F(BlockRules, TheLogarithmOfAMergeIsThatOfASum) {
  // max(a, b) + log(1 + exp(-|a - b|)) = log(exp(a) + exp(b)).
  PolyId a = log(weights(0)), b = log(weights(1));
  PolyId apart = difference(a, b);
  PolyId positive = algebra.positivePart(apart, &context);
  PolyId larger = sum(b, positive);
  // -|x| = x - 2 max(x, 0).
  PolyId distance = algebra.add(apart, positive, -2);
  PolyId merged = sum(larger, log(sum(number(1), exp(distance))));
  EXPECT_SAME(exp(merged), algebra.total(sum(weights(0), weights(1))));
}

TEST_F(BlockRules, RenamingReachesSums) {
  PolyId a = leaf(0, {kRow, kKey}), b = leaf(1, {kRow});
  PolyId body = product(sumOver(kKey, a), b);
  unsigned column = 3;
  PolyId moved = algebra.rename(body, kRow, column);
  EXPECT_SAME(moved, product(sumOver(kKey, leaf(0, {column, kKey})),
                             leaf(1, {column})));
  EXPECT_SAME(algebra.rename(moved, column, kRow), body);
  EXPECT_SAME(algebra.rename(body, kRow, kRow), body);
}

TEST_F(BlockRules, RebuildReplacesInsideOfTerms) {
  TermId old = *algebra.singleTerm(row(1));
  auto replace = [&](TermId id) -> std::optional<PolyId> {
    if (id == old)
      return algebra.scale(row(2), 2);
    if (algebra.getTerm(id).arguments.empty())
      return algebra.ofTerm(id);
    return std::nullopt;
  };
  auto written = [&](PolyId shift) {
    return product(sumOver(kKey, exp(sum(score(0), shift))), row(3));
  };
  EXPECT_SAME(algebra.rebuild(written(row(1)), replace),
              written(algebra.scale(row(2), 2)));
}

// What it costs to go on is counted: a thousand monomials, 2,000 times.
TEST_F(BlockRules, WorkIsCounted) {
  Poly rows;
  for (unsigned value = 0; value < 1000; ++value)
    rows.push_back(algebra.get(row(value)).front());
  PolyId poly = algebra.intern(rows);
  EXPECT_FALSE(algebra.isExhausted());
  for (int i = 0; i < 1900; ++i)
    algebra.scale(poly, i + 2);
  EXPECT_FALSE(algebra.isExhausted());
  for (int i = 0; i < 200; ++i)
    algebra.scale(poly, i + 2);
  EXPECT_TRUE(algebra.isExhausted());
}
} // namespace
