//===- ProcessorTest.cpp - What machine code asks of a processor ----------===//
#include "shardc/Seal/Processor.h"

#include <gtest/gtest.h>

using namespace shardc;

TEST(Processor, LacksWhatNobodyKnowsInTheOrderGiven) {
  EXPECT_EQ(lackingFeatures(""), "");
  EXPECT_EQ(lackingFeatures("no-such,nor-such"), "no-such, nor-such");
  for (std::string_view name : processorFeatures())
    EXPECT_TRUE(lackingFeatures(name).empty() || lackingFeatures(name) == name);
}

#if defined(__x86_64__)
TEST(Processor, KnowsWhatTheCompilerKnows) {
  EXPECT_EQ(lackingFeatures("avx2").empty(), !!__builtin_cpu_supports("avx2"));
  EXPECT_EQ(lackingFeatures("avx512f").empty(),
            !!__builtin_cpu_supports("avx512f"));
}
#endif

TEST(Processor, ReadsMetadata) {
  EXPECT_EQ(checkProcessor(R"({"arch":"native"})"), "");
  EXPECT_EQ(checkProcessor(R"({"processor":"","arch":"native"})"), "");
  EXPECT_EQ(checkProcessor(R"({"processor":"no-such","arch":"native"})"),
            "was compiled for a processor with no-such, which this one lacks");
  // Damaged: no end of the text.
  EXPECT_NE(checkProcessor(R"({"processor":"no-such)"), "");
}
