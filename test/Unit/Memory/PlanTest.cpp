//===- PlanTest.cpp - What is held, what is made again --------------------===//
#include "shardc/Memory/Plan.h"
#include "llvm/ADT/ArrayRef.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <array>
#include <random>

using namespace shardc::memory;

namespace {

/// Programs in few words.
struct Builder {
  Program program;

  int64_t argument() { return program.addValue(100); }
  /// An op of one result. Uses are by rows where `space` is given.
  int64_t op(llvm::ArrayRef<int64_t> operands, int64_t bytes, double cost = 1,
             int64_t space = -1, Repeat repeat = Repeat::Freely) {
    PlanOp info;
    for (int64_t operand : operands)
      info.operands.push_back({operand, space >= 0});
    int64_t value = program.addValue(bytes, space >= 0);
    info.results.push_back(value);
    info.space = space;
    info.cost = cost;
    info.repeat = repeat;
    program.addOp(std::move(info));
    return value;
  }
  /// A sum over the rows of `operand`.
  int64_t sum(int64_t operand, int64_t bytes, int64_t space) {
    int64_t value = op({operand}, bytes, 1, space);
    program.values[value].hasRows = false;
    return value;
  }
  /// The end: reads everything that is given back.
  void end(llvm::ArrayRef<int64_t> operands) {
    PlanOp info;
    for (int64_t operand : operands)
      info.operands.push_back({operand, false});
    program.addOp(std::move(info));
  }
  Planner plan() {
    program.formGroups();
    return Planner(program);
  }
};

/// Layers x -> f(x), and their gradients, which read all x.
void buildLayers(Builder &b, int64_t layers, int64_t bytes, int64_t space) {
  std::vector<int64_t> held{b.op({b.argument()}, bytes, 1, space)};
  for (int64_t i = 1; i < layers; ++i)
    held.push_back(b.op({held.back()}, bytes, 10, space));
  int64_t gradient = b.op({held.back()}, bytes, 1, space);
  for (int64_t i = layers - 1; i >= 0; --i)
    gradient = b.op({gradient, held[i]}, bytes, 10, space);
  b.end({gradient});
}

int64_t peak(const Planner &planner) {
  std::vector<int64_t> bytes = planner.bytesByPlace();
  return *std::max_element(bytes.begin(), bytes.end());
}

} // namespace

TEST(Plan, LeavesWhatFits) {
  Builder b;
  buildLayers(b, 8, 1000, -1);
  Planner planner = b.plan();
  EXPECT_TRUE(planner.fit(1000000, {.loops = true}));
  EXPECT_EQ(planner.summary().repeated, 0);
  EXPECT_EQ(planner.summary().loops, 0);
  // All layers, the gradient that comes in and the one that goes out.
  EXPECT_EQ(planner.summary().peakBefore, 10000);
}

TEST(Plan, RepeatsLayersWhereHoldingThemIsTooMuch) {
  Builder b;
  buildLayers(b, 16, 1000, -1);
  Planner planner = b.plan();
  EXPECT_TRUE(planner.fit(9000));
  EXPECT_GT(planner.summary().peakBefore, 16000);
  EXPECT_LE(peak(planner), 9000);
  EXPECT_GE(planner.summary().repeated, 8);
  // Never more than each layer once for each one above it.
  EXPECT_LE(planner.summary().repeated, 16 * 16 / 2);
  EXPECT_TRUE(b.program.isOrdered());
}

TEST(Plan, HoldsWhatIsReadByWorkThatIsUnderWay) {
  Builder b;
  int64_t x = b.argument();
  int64_t sent = b.op({x}, 1000), other = b.op({x}, 1000);
  int64_t token = b.op({sent}, 0, 1, -1, Repeat::Never);
  int64_t begun = b.program.values[token].producer;
  int64_t wide = b.op({x}, 3000), narrow = b.op({wide}, 10);
  int64_t come = b.op({token, sent}, 10, 1, -1, Repeat::Never);
  int64_t wait = b.program.values[come].producer;
  b.program.ops[wait].begun = begun;
  b.end({narrow, come, other});
  Planner planner = b.plan();
  // The wide one beside what is under way: the other is made again behind it.
  EXPECT_TRUE(planner.fit(4100));
  EXPECT_EQ(planner.summary().repeated, 1);
  EXPECT_EQ(b.program.ops[begun].operands[0].value, sent);
  EXPECT_EQ(b.program.ops[wait].operands[1].value, sent);
}

TEST(Plan, EndsWhereNothingHelps) {
  Builder b;
  buildLayers(b, 200, 1000, -1);
  Planner planner = b.plan();
  EXPECT_FALSE(planner.fit(2900));
  EXPECT_LE(planner.summary().addedCost, 12 * planner.summary().cost);
  EXPECT_TRUE(b.program.isOrdered());
}

TEST(Plan, DoesNotMoveOneOpForEver) {
  Builder b;
  b.op({b.argument()}, 10,
       1e6); // what all costs, beside which the rest is nothing
  int64_t read = b.op({b.argument()}, 1000, 1, -1, Repeat::Never);
  int64_t rows = b.op({read}, 1000, 1, 0);
  b.end({b.op({rows}, 10)});
  Planner planner = b.plan();
  // Made again in front of its only use, rows need as much as before.
  EXPECT_FALSE(planner.fit(1500, {.loops = true}));
  EXPECT_LE(planner.summary().repeated, 1);
}

TEST(Plan, CostsLittleFirst) {
  Builder b;
  int64_t x = b.argument();
  int64_t dear = b.op({x}, 1000, 1000), cheap = b.op({x}, 1000, 1);
  int64_t other = b.op({dear, cheap}, 10), late = b.op({other}, 10);
  b.end({b.op({late, dear, cheap}, 10)});
  Planner planner = b.plan();
  EXPECT_TRUE(planner.fit(2020));
  EXPECT_EQ(planner.summary().repeated,
            0); // both are needed at once in any case
  Builder c;
  x = c.argument();
  dear = c.op({x}, 1000, 1000), cheap = c.op({x}, 1000, 1);
  int64_t big = c.op({c.op({dear, cheap}, 10)}, 1500);
  c.end({c.op({dear, c.op({cheap, c.op({big}, 10)}, 10)}, 10)});
  Planner second = c.plan();
  EXPECT_TRUE(second.fit(2600));
  EXPECT_EQ(second.summary().repeated, 1);
  EXPECT_EQ(second.summary().addedCost, 1);
}

TEST(Plan, RepeatsNoCommunicationUnlessItMay) {
  for (bool may : {false, true}) {
    Builder b;
    int64_t x = b.argument();
    int64_t asked = b.op({x}, 1000, 5, -1, Repeat::Communicates);
    int64_t big = b.op({b.op({asked}, 10)}, 1500);
    b.end({b.op({asked, b.op({big}, 10)}, 10)});
    Planner planner = b.plan();
    EXPECT_EQ(planner.fit(1800, {.communication = may}), may);
    EXPECT_EQ(planner.summary().repeated, may ? 1 : 0);
  }
}

TEST(Plan, NeverRepeatsEffects) {
  Builder b;
  int64_t random = b.op({}, 1000, 1, -1, Repeat::Never);
  int64_t big = b.op({b.op({random}, 10)}, 1500);
  b.end({b.op({random, b.op({big}, 10)}, 10)});
  Planner planner = b.plan();
  EXPECT_FALSE(planner.fit(1800, {.loops = true, .communication = true}));
  EXPECT_EQ(planner.summary().repeated, 0);
}

TEST(Plan, ChainsOnRowsBecomeLoops) {
  Builder b;
  int64_t x = b.argument();
  int64_t first = b.op({x}, 5000, 1, 7), second = b.op({first}, 5000, 1, 7);
  b.end({b.sum(second, 10, 7)});
  Planner planner = b.plan();
  EXPECT_TRUE(planner.fit(1000, {.loops = true}));
  EXPECT_EQ(planner.summary().loops, 1);
  EXPECT_EQ(planner.summary().repeated, 0);
  EXPECT_GE(planner.summary().peakBefore, 10000);
  EXPECT_LE(planner.summary().peakAfter, 1000);
}

TEST(Plan, AWholeResultEndsALoop) {
  Builder b;
  int64_t x = b.argument();
  int64_t rows = b.op({x}, 5000, 1, 7);
  int64_t total = b.sum(rows, 10, 7);
  // Reads the rows and their sum: not in the loop that makes the sum.
  PlanOp info;
  info.operands = {{rows, true}, {total, false}};
  info.space = 7;
  info.cost = 1;
  info.repeat = Repeat::Freely;
  int64_t scaled = b.program.addValue(5000, true);
  info.results = {scaled};
  b.program.addOp(info);
  b.end({b.sum(scaled, 10, 7)});
  b.program.formGroups();
  EXPECT_EQ(b.program.groups.size(), 3u);
  Planner planner(b.program);
  EXPECT_TRUE(planner.fit(1000, {.loops = true}));
  EXPECT_EQ(planner.summary().loops, 2);
  EXPECT_EQ(planner.summary().repeated, 1); // rows are made again, not held
  EXPECT_TRUE(b.program.isOrdered());
}

TEST(Plan, OtherRowsInBetweenAreAnotherLoop) {
  Builder b;
  int64_t x = b.argument();
  int64_t edges = b.op({x}, 5000, 1, 1);
  int64_t nodes = b.op({b.sum(edges, 500, 1)}, 500, 1, 2);
  int64_t more = b.op({b.op({nodes}, 700, 1, 2)}, 600, 1, 2);
  PlanOp gather;
  gather.operands = {{more, false}};
  gather.space = 1;
  gather.repeat = Repeat::Freely;
  int64_t rows = b.program.addValue(5000, true);
  gather.results = {rows};
  b.program.addOp(gather);
  int64_t result = b.sum(b.op({edges, rows}, 5000, 1, 1), 10, 1);
  b.end({result});
  Planner planner = b.plan();
  EXPECT_TRUE(planner.fit(2500, {.loops = true}));
  EXPECT_TRUE(b.program.isOrdered());
  EXPECT_EQ(planner.summary().repeated, 1);
}

TEST(Plan, WhatIsFreeIsMadeInEachLoop) {
  Builder b;
  int64_t x = b.argument();
  PlanOp broadcast;
  broadcast.operands = {{b.argument(), false}};
  broadcast.space = 1;
  broadcast.isFree = true;
  broadcast.repeat = Repeat::Freely;
  int64_t bias = b.program.addValue(5000, true);
  broadcast.results = {bias};
  b.program.addOp(broadcast);
  int64_t total = b.sum(b.op({x, bias}, 5000, 1, 1), 10, 1);
  PlanOp info;
  info.operands = {{x, true}, {bias, true}, {total, false}};
  info.space = 1;
  info.repeat = Repeat::Freely;
  int64_t again = b.program.addValue(5000, true);
  info.results = {again};
  b.program.addOp(info);
  b.end({b.sum(again, 10, 1)});
  Planner planner = b.plan();
  EXPECT_TRUE(planner.fit(1000, {.loops = true}));
  EXPECT_TRUE(b.program.isOrdered());
  for (int64_t group : b.program.order)
    if (b.program.groups[group].isLoop)
      EXPECT_TRUE(
          std::any_of(b.program.groups[group].ops.begin(),
                      b.program.groups[group].ops.end(),
                      [&](int64_t op) { return b.program.ops[op].isFree; }));
}

TEST(Plan, RowLayersFitInLittleAndStayOrdered) {
  for (int64_t layers : {2, 5, 12}) {
    Builder b;
    buildLayers(b, layers, 1000, 3);
    Planner planner = b.plan();
    // One chain on one space is one loop: nothing need be repeated.
    EXPECT_TRUE(planner.fit(2000, {.loops = true}));
    EXPECT_EQ(planner.summary().repeated, 0);
    EXPECT_TRUE(b.program.isOrdered());
  }
}

TEST(Plan, RowsReadForTheLastTimeMakeRoom) {
  Builder b;
  // Two loops, the second reads rows of the first for the last time and makes
  // as many.
  int64_t rows =
      b.op({b.op({b.argument()}, 1000, 1, 1)}, 1000, 1, 1, Repeat::Never);
  int64_t total = b.sum(rows, 10, 1);
  PlanOp info;
  info.operands = {{rows, true}, {total, false}};
  info.space = 1;
  int64_t next = b.program.addValue(1000, true);
  info.results = {next};
  b.program.addOp(info);
  int64_t made = b.op({next}, 1000, 1, 1, Repeat::Never);
  b.end({made});
  Planner planner = b.plan();
  EXPECT_TRUE(planner.fit(1200, {.loops = true}));
  EXPECT_LE(planner.summary().peakAfter, 1200);
}

TEST(Plan, SaysWhatIsHeldWhereItDoesNotFit) {
  Builder b;
  int64_t a = b.op({}, 500, 1, -1, Repeat::Never),
          c = b.op({}, 900, 1, -1, Repeat::Never);
  b.end({b.op({a, c}, 10)});
  Planner planner = b.plan();
  EXPECT_FALSE(planner.fit(100, {.loops = true, .communication = true}));
  std::vector<int64_t> bytes = planner.bytesByPlace();
  std::vector<int64_t> live = planner.liveAt(
      std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
  ASSERT_GE(live.size(), 2u);
  EXPECT_EQ(live[0], c);
  EXPECT_EQ(live[1], a);
}

// Programs of all kinds stay in an order in which they can run, and what is
// said to fit does.
TEST(Plan, RandomProgramsStayOrdered) {
  std::mt19937 random(1);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  int64_t fitted = 0, repeated = 0, loops = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Builder b;
    std::vector<int64_t> values{b.argument(), b.argument()};
    int64_t count = 5 + below(60), spaces = 1 + below(3);
    for (int64_t i = 0; i < count; ++i) {
      PlanOp op;
      op.space = below(5) == 0 ? -1 : below(spaces);
      op.cost = 1 + below(50);
      op.repeat =
          std::array{Repeat::Never, Repeat::Communicates, Repeat::Freely,
                     Repeat::Freely, Repeat::Freely}[below(5)];
      bool isFree = op.space >= 0 && below(8) == 0,
           sums = op.space >= 0 && !isFree && below(4) == 0;
      op.isFree = isFree;
      if (isFree)
        op.repeat = Repeat::Freely;
      for (int64_t j = below(3) + (isFree ? 0 : 1); j > 0; --j) {
        // Late ones more often, and now and then one of long ago.
        int64_t size = values.size();
        int64_t value =
            values[below(4) == 0
                       ? below(size)
                       : size - 1 - below(std::min<int64_t>(size, 4))];
        op.operands.push_back({value, op.space >= 0 && below(5) != 0});
      }
      int64_t value = b.program.addValue(
          below(6) == 0 ? 0 : 100 * (1 + below(20)), op.space >= 0 && !sums);
      op.results.push_back(value);
      b.program.addOp(op);
      values.push_back(value);
    }
    b.end({values.back(), values[values.size() / 2]});
    Planner planner = b.plan();
    ASSERT_TRUE(b.program.isOrdered()) << trial;
    Program copy = b.program;
    planner.fit(1);
    int64_t before = planner.summary().peakBefore;
    for (int64_t part : {80, 60, 40, 20}) {
      for (bool block : {false, true})
        for (bool communicate : {false, true}) {
          Program program = copy;
          Planner again(program);
          bool fits = again.fit(before * part / 100,
                                {.loops = block, .communication = communicate});
          ASSERT_TRUE(program.isOrdered())
              << "program " << trial << ", to " << part << " %";
          if (fits)
            ASSERT_LE(peak(again), before * part / 100);
          fitted += fits;
          repeated += again.summary().repeated;
          loops += again.summary().loops;
        }
    }
  }
  // It is a test of something.
  EXPECT_GT(fitted, 50);
  EXPECT_GT(repeated, 50);
  EXPECT_GT(loops, 50);
}
