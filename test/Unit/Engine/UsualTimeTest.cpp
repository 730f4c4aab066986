//===- UsualTimeTest.cpp - How long runs of a program take ----------------===//
#include "shardc/Engine/UsualTime.h"

#include <gtest/gtest.h>

using shardc::engine::UsualTime;

static constexpr int64_t us = 1000, ms = 1000 * us;

TEST(UsualTime, IsThatOfTheFirstRunAtFirst) {
  UsualTime usual;
  EXPECT_EQ(usual.ns(), -1);
  usual.add(5 * us);
  EXPECT_EQ(usual.ns(), 5 * us);
}

// The thread waited for a core: the program is as short as before.
TEST(UsualTime, RunsThatWereInterruptedCountForLittle) {
  UsualTime usual;
  usual.add(3 * us);
  for (int i = 0; i < 3; ++i)
    usual.add(20 * ms);
  EXPECT_LT(usual.ns(), 100 * us);
  for (int i = 0; i < 10; ++i)
    usual.add(3 * us);
  EXPECT_LT(usual.ns(), 4 * us);
}

TEST(UsualTime, FollowsProgramsThatTakeLongNow) {
  UsualTime usual;
  usual.add(3 * us);
  for (int i = 0; i < 64; ++i)
    usual.add(20 * ms);
  EXPECT_GT(usual.ns(), 19 * ms);
  for (int i = 0; i < 16; ++i)
    usual.add(3 * us);
  EXPECT_LT(usual.ns(), 4 * us);
}
