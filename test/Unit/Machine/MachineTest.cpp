//===- MachineTest.cpp - Figures, quantities, costs -----------------------===//
#include "shardc/Machine/Cost.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace shardc;

static Machine generic() { return *machinePreset(kDefaultMachine); }

TEST(Machine, ReadsQuantitiesOfEachUnit) {
  double value = 0;
  EXPECT_EQ(readQuantity("5 GB/s", Unit::BytesPerSecond, value), "");
  EXPECT_EQ(value, 5e9);
  EXPECT_EQ(readQuantity("4MiB", Unit::Bytes, value), "");
  EXPECT_EQ(value, 4194304);
  EXPECT_EQ(readQuantity("20 us", Unit::Seconds, value), "");
  EXPECT_DOUBLE_EQ(value, 2e-5);
  EXPECT_EQ(readQuantity("1.5 TFLOP/s", Unit::OperationsPerSecond, value), "");
  EXPECT_EQ(value, 1.5e12);
  EXPECT_EQ(readQuantity("2.5e-6", Unit::Seconds, value), "");
  EXPECT_EQ(value, 2.5e-6);
  EXPECT_EQ(readQuantity("132", Unit::Count, value), "");
  EXPECT_EQ(value, 132);
}

TEST(Machine, RefusesOtherUnits) {
  double value = 7;
  for (auto [text, unit] : std::initializer_list<std::pair<const char *, Unit>>{
           {"5 GB", Unit::BytesPerSecond},
           {"5 Gbit/s", Unit::BytesPerSecond},
           {"4 MiB/s", Unit::Bytes},
           {"4 MiFLOP/s", Unit::OperationsPerSecond},
           {"20 ks", Unit::Seconds},
           {"20 m", Unit::Seconds},
           {"1 k", Unit::Count},
           {"", Unit::Bytes},
           {"GB/s", Unit::BytesPerSecond},
           {"nan", Unit::Seconds},
           {"inf s", Unit::Seconds},
           {"1e999 s", Unit::Seconds},
           {"1 s s", Unit::Seconds}}) {
    EXPECT_NE(readQuantity(text, unit, value), "") << text;
    EXPECT_EQ(value, 7) << text;
  }
}

TEST(Machine, RefusesFiguresThatAreNone) {
  Machine machine = generic();
  EXPECT_NE(setFigure(machine, "bandwidth", 1.0), "");
  EXPECT_NE(setFigure(machine, "axes.bandwidth", 1.0), "");
  EXPECT_NE(setFigure(machine, "axes..bandwidth", 1.0), "");
  EXPECT_NE(setFigure(machine, "link.flops", 1.0), "");
  EXPECT_NE(setFigure(machine, "flops", 0.0), "");
  EXPECT_NE(setFigure(machine, "flops", -1.0), "");
  EXPECT_NE(setFigure(machine, "flops", std::nan("")), "");
  EXPECT_NE(setFigure(machine, "link.latency",
                      std::numeric_limits<double>::infinity()),
            "");
  EXPECT_EQ(machine, generic());
  EXPECT_EQ(setFigure(machine, "link.latency", 0.0), "");
}

TEST(Machine, PresetsHaveAllFigures) {
  for (std::string_view name : machinePresets()) {
    Machine machine = *machinePreset(name);
    EXPECT_EQ(machine.name, name);
    for (const Figure &figure : machineFigures())
      EXPECT_GT(getFigure(machine, figure.name), 0)
          << name << " " << figure.name;
    EXPECT_GT(machine.link.bandwidth, 0) << name;
    EXPECT_GT(machine.link.latency, 0) << name;
    EXPECT_TRUE(changedFigures(machine).empty()) << name;
  }
}

TEST(Machine, IsReadAsItIsPrinted) {
  Machine machine;
  ASSERT_EQ(
      parseMachine("h100,link.bandwidth=50 "
                   "GB/s,axes.x.latency=0.1,flops=1e13,axes.a.b.bandwidth=3e9",
                   machine),
      "");
  EXPECT_EQ(machine.link.bandwidth, 5e10);
  EXPECT_EQ(machine.linkAlong("x").latency, 0.1);
  EXPECT_EQ(machine.linkAlong("a.b").bandwidth, 3e9);
  EXPECT_EQ(machine.linkAlong("y"), machine.link);
  Machine again;
  ASSERT_EQ(parseMachine(printMachine(machine), again), "");
  EXPECT_EQ(again, machine);
}

TEST(Machine, SaysWhatIsWrongWithText) {
  Machine machine;
  EXPECT_NE(parseMachine("laptop", machine).find("expected generic, "),
            std::string::npos);
  EXPECT_NE(parseMachine("generic,flops", machine).find("'flops' has no value"),
            std::string::npos);
  EXPECT_NE(parseMachine("generic,flops=3 GB/s", machine)
                .find("such as \"100 GFLOP/s\""),
            std::string::npos);
  EXPECT_NE(
      parseMachine("generic,speed=3", machine).find("unknown figure 'speed'"),
      std::string::npos);
}

TEST(Cost, TheSlowestAxisDecides) {
  Machine machine = generic();
  ASSERT_EQ(setFigure(machine, "axes.slow.bandwidth", 1e9), "");
  ASSERT_EQ(setFigure(machine, "axes.slow.latency", 1e-3), "");
  Cost cost(machine, {"fast", "slow"});
  std::vector<int64_t> fast = {0}, both = {0, 1}, none;
  EXPECT_DOUBLE_EQ(cost.move(5e9, fast), 1);
  EXPECT_DOUBLE_EQ(cost.move(5e9, both), 5);
  EXPECT_DOUBLE_EQ(cost.synchronize(fast), 2e-5);
  EXPECT_DOUBLE_EQ(cost.synchronize(both), 1e-3);
  EXPECT_DOUBLE_EQ(cost.move(5e9, none), 1);
}

TEST(Cost, CopiesReadAndWrite) {
  Cost cost(generic());
  EXPECT_DOUBLE_EQ(cost.copy(1e6), 2 * cost.access(1e6));
}

TEST(Cost, WorkOfLessThanASynchronisationIsSoonOver) {
  Machine machine = generic();
  ASSERT_EQ(setFigure(machine, "link.latency", 1e-3), "");
  Cost cost(machine);
  EXPECT_TRUE(cost.isSoonOver(0.9e-3));
  EXPECT_FALSE(cost.isSoonOver(1e-3));
  // Of ranks that need no time to synchronise no work is.
  ASSERT_EQ(setFigure(machine, "link.latency", 0.0), "");
  EXPECT_FALSE(Cost(machine).isSoonOver(0));
}

// A launch is of GPUs alone: with it the compiler weighs calls of libraries,
// and the gauge what kernels reach. On all GPUs it is less than threads take.
TEST(Machine, LaunchesTakeLessThanForks) {
  for (std::string_view name : machinePresets()) {
    Machine machine = *machinePreset(name);
    EXPECT_LT(machine.launchSeconds, machine.forkSeconds) << name;
    EXPECT_LT(machine.firstCacheBytes, machine.cacheBytes) << name;
    EXPECT_LE(machine.cacheBytes, machine.sharedCacheBytes) << name;
  }
}
