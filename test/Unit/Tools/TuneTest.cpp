//===- TuneTest.cpp - What is kept of what was measured -------------------===//
//
// Kernels whose times are formulas of their tiles, and a clock that counts.
//
//===----------------------------------------------------------------------===//

#include "shardc/Driver/Tune.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace shardc;

namespace {
const std::string kFirst(32, 'a'), kSecond(32, 'b');

struct Fake final : TuneSubject {
  /// Of one kernel: name, digest, the estimate's tile, and its time by tile.
  struct Kernel {
    std::string name, digest;
    std::function<double(const Tile &)> time;
  };

  Expected<std::unique_ptr<TuneProgram>>
  compile(const TileTable &tiles) override {
    auto program = std::make_unique<TuneProgram>();
    compiled.push_back(tiles);
    for (const Kernel &kernel : kernels) {
      TiledKernel &made = program->kernels.emplace_back();
      made.name = kernel.name;
      made.digest = kernel.digest;
      made.tile.rows = 4;
      if (auto given = tiles.find(kernel.digest); given != tiles.end())
        made.tile = given->second;
      // One decision away, as the compiler lists them.
      for (int64_t rows : {2, 4, 8})
        if (rows != made.tile.rows)
          made.others.emplace_back(made.tile).rows = rows;
      made.others.emplace_back(made.tile).panel = !made.tile.panel;
    }
    seconds += 1;
    return std::move(program);
  }

  Expected<TuneRounds> compare(TuneProgram &first, TuneProgram &second,
                               int count) override {
    TuneRounds rounds;
    ++numCompared;
    for (int round = 0; round < count; ++round) {
      rounds.first.push_back(timesOf(first, round));
      rounds.second.push_back(timesOf(second, round));
    }
    rounds.isSame = !hasOtherBits || !hasOtherBits(second);
    return rounds;
  }

  KernelTimes timesOf(const TuneProgram &program, int round) const {
    KernelTimes times;
    for (const TiledKernel &made : program.kernels)
      for (const Kernel &kernel : kernels)
        if (kernel.name == made.name)
          times[{made.name, ""}] =
              kernel.time(made.tile) + (noise ? noise(round) : 0);
    return times;
  }

  double now() override { return seconds; }

  std::vector<Kernel> kernels;
  std::function<bool(const TuneProgram &)> hasOtherBits;
  std::function<double(int)> noise;
  std::vector<TileTable> compiled;
  double seconds = 0;
  int numCompared = 0;
};

TuneReport run(Fake &fake, const TileTable &known = {}, double seconds = 1000) {
  TuneLimits limits;
  limits.seconds = seconds;
  Expected<TuneReport> report = tune(fake, known, limits);
  EXPECT_TRUE(bool(report));
  return report ? std::move(*report) : TuneReport();
}

/// The estimate's tile is slow; the best is two decisions away.
double isSlow(const Tile &tile) {
  return (tile.rows == 8 ? 2 : 3) + (tile.panel ? 0 : 1);
}
/// The estimate's is the best.
double isBest(const Tile &tile) {
  return tile.rows == 4 && !tile.panel ? 1 : 1.5;
}
} // namespace

TEST(Tune, FindsATileTwoDecisionsAway) {
  Fake fake;
  fake.kernels = {{"slow", kFirst, isSlow}, {"best", kSecond, isBest}};
  TuneReport report = run(fake);
  ASSERT_EQ(report.found.size(), 1u);
  EXPECT_EQ(report.found[kFirst].rows, 8);
  EXPECT_TRUE(report.found[kFirst].panel);
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[0].name.first, "slow");
  EXPECT_EQ(report.kernels[0].before, 4);
  EXPECT_EQ(report.kernels[0].after, 2);
  EXPECT_EQ(report.kernels[1].after, 1);
  EXPECT_TRUE(report.kernels[1].kept.empty());
  EXPECT_FALSE(report.isCutShort);
  // All kernels at once: the program, at most six of the first one's, two that
  // are made again of what was kept, and the estimates'.
  EXPECT_LE(report.programs, 10);
}

TEST(Tune, KeepsNothingWithinTheNoise) {
  Fake fake;
  fake.kernels = {{"kernel", kFirst,
                   [](const Tile &tile) { return tile.rows == 8 ? 0.98 : 1; }}};
  EXPECT_TRUE(run(fake).found.empty());
  // Faster by its least time, in two rounds of five.
  fake.kernels[0].time = [](const Tile &) { return 1.0; };
  fake.noise = [&, calls = 0](int) mutable {
    return ++calls % 4 == 0 ? -0.5 : 0.0;
  };
  EXPECT_TRUE(run(fake).found.empty());
}

TEST(Tune, ComparesWhatItKeptOnceMore) {
  Fake fake;
  int numSlow = 0;
  // Whatever is tried is fast, until it is compared with the estimate.
  fake.kernels = {{"kernel", kFirst, [&](const Tile &tile) {
                     bool isLast = fake.numCompared > 4;
                     numSlow += isLast;
                     return tile.rows == 8 && !isLast ? 0.5 : 1;
                   }}};
  TuneReport report = run(fake);
  EXPECT_GT(numSlow, 0);
  // It was kept: what is tried last, before the estimates' program, has it.
  ASSERT_GE(fake.compiled.size(), 2u);
  EXPECT_EQ(fake.compiled[fake.compiled.size() - 2][kFirst].rows, 8);
  EXPECT_TRUE(report.found.empty());
}

TEST(Tune, EndsWhenItsTimeIsOver) {
  Fake fake;
  fake.kernels = {{"slow", kFirst, isSlow}};
  TuneReport report = run(fake, {}, /*seconds=*/2);
  EXPECT_TRUE(report.isCutShort);
  EXPECT_LE(report.programs, 4);
}

TEST(Tune, KeepsNoOtherBits) {
  Fake fake;
  fake.kernels = {{"slow", kFirst, isSlow}};
  fake.hasOtherBits = [](const TuneProgram &program) {
    return program.kernels[0].tile.rows == 8;
  };
  TuneReport report = run(fake);
  EXPECT_GT(report.other, 0);
  ASSERT_EQ(report.found.size(), 1u);
  EXPECT_EQ(report.found[kFirst].rows, 4);
  EXPECT_TRUE(report.found[kFirst].panel);
}

TEST(Tune, DropsWhatIsKnownAndSlower) {
  Fake fake;
  fake.kernels = {{"best", kFirst, isBest}};
  Tile known;
  known.rows = 8;
  TuneReport report = run(fake, {{kFirst, known}, {kSecond, known}});
  EXPECT_TRUE(report.found.empty());
  EXPECT_EQ(report.dropped, std::vector<std::string>{kFirst});
}

TEST(Tune, LeavesShortKernelsAlone) {
  Fake fake;
  fake.kernels = {{"slow", kFirst, isSlow},
                  {"short", kSecond, [](const Tile &tile) {
                     return tile.rows == 4 ? 0.02 : 0.01;
                   }}};
  TuneReport report = run(fake);
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(report.found.count(kSecond), 0u);
}

TEST(Tile, PrintsAndParses) {
  Tile tile{2, 6, 1, 4, true, 1, 128};
  EXPECT_EQ(printTile(tile),
            "row=2,rows=6,columns=1,vectors=4,panel=1,hoisted=1,block=128");
  EXPECT_EQ(parseTile(printTile(tile)), tile);
  EXPECT_EQ(parseTile(printTile(Tile())), Tile());
  TileTable tiles{{kFirst, tile}, {kSecond, Tile()}};
  EXPECT_EQ(parseTiles(printTiles(tiles)), tiles);
  EXPECT_EQ(parseTiles(""), TileTable());
  for (std::string text :
       {"row=0", "row=0,rows=0,columns=1,vectors=1,panel=0,hoisted=0,block=0",
        "row=0,rows=17,columns=1,vectors=1,panel=0,hoisted=0,block=0",
        "rows=1,row=0,columns=1,vectors=1,panel=0,hoisted=0,block=0",
        "row=0,rows=1,columns=1,vectors=1,panel=0,hoisted=0,block=0,",
        "row=0,rows=1,columns=1,vectors=x,panel=0,hoisted=0,block=0"}) {
    EXPECT_EQ(parseTile(text), std::nullopt) << text;
    EXPECT_EQ(parseTiles(kFirst + ":" + text), std::nullopt);
  }
  EXPECT_EQ(parseTiles("a:" + printTile(tile)), std::nullopt);
  EXPECT_EQ(parseTiles(std::string(32, 'g') + ":" + printTile(tile)),
            std::nullopt);
}
