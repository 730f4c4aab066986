//===- SitesTest.cpp - The format of site tables --------------------------===//

#include "TestWorld.h"
#include <fstream>
#include <iterator>

using namespace shardrt;
using namespace shardrt::test;

static SiteTable sample() {
  Intervals rows = cut({3, 0, 4, 2}), columns = cut({5, 6});
  Site halo = exchangeSite("halo_exchange", {9, 11, 3},
                           {{0, {0}, rows, grow(rows, 1, 2)},
                            {1, {1}, columns, grow(columns, 1, 1)}},
                           ElementType::BF16);
  halo.name = "%3";
  halo.exchange.parts = {{grow(rows, 1, 2), columns},
                         {rows, grow(columns, 1, 1)}};
  Site reduce = allReduceSite(ElementType::F32, Reduction::Max, {1, 0});
  return makeTable({4, 2}, {halo, reduce});
}

static std::string decode(const EncodedSites &sites) {
  SiteTable table;
  return decodeSites(sites.words, sites.strings, table);
}

TEST(Sites, RoundTrip) {
  SiteTable before = sample(), after;
  EncodedSites encoded = encodeSites(before);
  ASSERT_EQ(decodeSites(encoded.words, encoded.strings, after), "");
  EXPECT_EQ(after.meshShape, before.meshShape);
  EXPECT_EQ(after.axisNames, before.axisNames);
  ASSERT_EQ(after.sites.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const Site &a = before.sites[i], &b = after.sites[i];
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.report, b.report);
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.reduction, b.reduction);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.location, b.location);
    EXPECT_EQ(a.groupAxes, b.groupAxes);
    EXPECT_EQ(a.exchange.globalShape, b.exchange.globalShape);
    EXPECT_EQ(b.exchange.meshShape, before.meshShape);
    EXPECT_EQ(a.exchange.parts, b.exchange.parts);
    ASSERT_EQ(a.exchange.dims.size(), b.exchange.dims.size());
    for (size_t d = 0; d < a.exchange.dims.size(); ++d) {
      EXPECT_EQ(a.exchange.dims[d].dim, b.exchange.dims[d].dim);
      EXPECT_EQ(a.exchange.dims[d].axes, b.exchange.dims[d].axes);
      EXPECT_EQ(a.exchange.dims[d].owned, b.exchange.dims[d].owned);
      EXPECT_EQ(a.exchange.dims[d].needed, b.exchange.dims[d].needed);
    }
  }
  EncodedSites again = encodeSites(after);
  EXPECT_EQ(again.words, encoded.words);
  EXPECT_EQ(again.strings, encoded.strings);
}

/// docs/Reference/artifact.md has what the visitor says.
TEST(Sites, TheTablesInTheDocs) {
  std::ifstream file(SHARDC_ARTIFACT_PAGE);
  ASSERT_TRUE(file) << SHARDC_ARTIFACT_PAGE;
  std::string page(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(page.find(describeSites()), std::string::npos)
      << SHARDC_ARTIFACT_PAGE << " lacks\n"
      << describeSites();
}

/// Exchanges of one program cut the same dims at the same places: only the
/// first says where.
TEST(Sites, WhatIsSaidOnceIsNotSaidAgain) {
  constexpr int64_t ranks = 64;
  Intervals owned = cut(std::vector<int64_t>(ranks, 2));
  std::vector<Site> sites;
  size_t sizes[2];
  for (size_t i = 0; i < 10; ++i) {
    // Triangular numbers: no two steps are the same.
    Intervals moved(ranks);
    for (int64_t rank = 0; rank < ranks; ++rank)
      moved[rank] = owned[(rank * (rank + 1) / 2 + i % 5) % ranks];
    sites.push_back(
        exchangeSite("rebalance", {2 * ranks}, {{0, {0}, owned, moved}}));
    if (i % 5 == 4)
      sizes[i / 5] = encodeSites(makeTable({ranks}, sites)).words.size();
  }
  // Six tables of two words a rank; the other five sites have none.
  EXPECT_LT(sizes[0], size_t(6 * 2 * ranks + 200));
  EXPECT_LT(sizes[1], sizes[0] + 200);
  SiteTable before = makeTable({ranks}, sites), after;
  EncodedSites encoded = encodeSites(before);
  ASSERT_EQ(decodeSites(encoded.words, encoded.strings, after), "");
  for (size_t i = 0; i < sites.size(); ++i)
    EXPECT_EQ(after.sites[i].exchange.dims, before.sites[i].exchange.dims);
}

/// Words of a table of one exchange, which reads back as it was.
static size_t wordsOf(const Intervals &owned, const Intervals &needed,
                      const Intervals &part) {
  int64_t ranks = static_cast<int64_t>(owned.size());
  Site site = exchangeSite("halo_exchange", {owned.back().end},
                           {{0, {0}, owned, needed}});
  site.exchange.parts = {{part}};
  SiteTable table = makeTable({ranks}, {site}), after;
  EncodedSites encoded = encodeSites(table);
  EXPECT_EQ(decodeSites(encoded.words, encoded.strings, after), "");
  const shardc::Exchange &read = after.sites.at(0).exchange;
  auto expectSame = [](const Intervals &a, const Intervals &b) {
    ASSERT_EQ(a.size(), b.size());
    // Empty intervals that differ are equal to ==.
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].begin, b[i].begin) << i;
      EXPECT_EQ(a[i].end, b[i].end) << i;
    }
  };
  expectSame(read.dims.at(0).owned, owned);
  expectSame(read.dims.at(0).needed, needed);
  return encoded.words.size();
}

/// What a rank reads of equal shards does not grow with the number of ranks; of
/// others it is their boundaries, once: their halos take no more.
TEST(Sites, TablesOfEqualShardsDoNotGrow) {
  auto equal = [](int64_t ranks, int64_t longer) {
    std::vector<int64_t> sizes(ranks, 4);
    std::fill_n(sizes.begin(), longer, 5);
    return cut(sizes);
  };
  auto halo = [&](int64_t ranks, int64_t longer) {
    Intervals owned = equal(ranks, longer);
    return wordsOf(owned, grow(owned, 1, 2), owned);
  };
  auto gathered = [&](int64_t ranks) {
    Intervals owned = equal(ranks, 0);
    return wordsOf(owned, Intervals(ranks, {0, owned.back().end}), owned);
  };
  EXPECT_EQ(halo(64, 0), halo(4096, 0));
  EXPECT_EQ(halo(64, 7), halo(4096, 7));
  EXPECT_EQ(gathered(64), gathered(4096));
  // Sizes without a rule.
  std::vector<int64_t> sizes;
  for (int64_t rank = 0; rank < 1024; ++rank)
    sizes.push_back(1 + rank * rank % 7);
  EXPECT_LT(wordsOf(cut(sizes), grow(cut(sizes), 1, 1), cut(sizes)),
            2 * sizes.size() + 100);
}

/// Ranks that differ in some bits of their numbers exchange blocks, as in a
/// sort: what repeats is written once, and what does not fit is said beside it.
TEST(Sites, TablesOfPairsDoNotGrow) {
  auto pairs = [](int64_t ranks, int64_t bits, int64_t size) {
    Intervals owned = cut(std::vector<int64_t>(ranks, size)), other = owned;
    for (int64_t rank = 0; rank < ranks; ++rank)
      if ((rank ^ bits) < ranks)
        other[rank] = owned[rank ^ bits];
    return wordsOf(owned, other, other);
  };
  for (int64_t bits : {1, 2, 3, 4, 7, 15, 16, 31}) {
    EXPECT_EQ(pairs(64, bits, 3), pairs(4096, bits, 3)) << bits;
    // 1,000 and 4,072 = 31 * 128 + 104 end in the same bits.
    EXPECT_EQ(pairs(1000, bits, 3), pairs(4072, bits, 3)) << bits;
    EXPECT_LE(pairs(1000, bits, 3),
              pairs(64, bits, 3) + 10 * shardrt::detail::wordsOfRun);
  }
  // A pattern of a hundred runs is too long to be looked for, not wrong.
  std::vector<int64_t> sizes;
  for (int64_t rank = 0; rank < 1000; ++rank)
    sizes.push_back(rank % 10 * (rank % 100));
  wordsOf(cut(sizes), grow(cut(sizes), 2, 0), cut(sizes));
}

/// The words of runs are as little to be trusted as others.
TEST(Sites, DamagedRunsAreRefused) {
  Intervals owned = cut({4, 4, 4, 4, 4, 4, 4, 4});
  Site site =
      exchangeSite("halo_exchange", {32}, {{0, {0}, owned, grow(owned, 1, 1)}});
  EncodedSites whole = encodeSites(makeTable({8}, {site}));
  // The run of what is owned: -1, 0, then 8 entries from [0, 4) on, 4 apart.
  const std::vector<int64_t> run = {-1, 0, 8, 0, 4, 4, 4};
  auto found = std::search(whole.words.begin(), whole.words.end(), run.begin(),
                           run.end());
  ASSERT_NE(found, whole.words.end());
  auto decodeWith = [&](size_t word, int64_t value) {
    EncodedSites damaged = whole;
    damaged.words[found - whole.words.begin() + word] = value;
    return decode(damaged);
  };
  EXPECT_EQ(decodeWith(1, 1), "site 0: has runs that are relative to no table");
  EXPECT_EQ(decodeWith(2, 7), "site 0: has runs of 7 entries, not 8");
  EXPECT_EQ(decodeWith(2, 9), "site 0: has a run of 9 entries of 8");
  EXPECT_EQ(decodeWith(2, 0), "site 0: has a run of 0 entries of 8");
  EXPECT_EQ(
      decodeWith(0, 3),
      "site 0: refers to word 3, at which no table of 8 entries has been");
  EXPECT_EQ(decodeWith(5, INT64_MAX),
            "site 0: owned interval reaches outside dim 0");
}

TEST(Sites, DamagedRepeatsAreRefused) {
  Intervals owned = cut(std::vector<int64_t>(64, 4)), other = owned;
  for (int64_t rank = 0; rank < 64; ++rank)
    other[rank] = owned[rank ^ 2];
  EncodedSites whole = encodeSites(makeTable(
      {64}, {exchangeSite("rebalance", {256}, {{0, {0}, owned, other}})}));
  // Two ranks need what is from 8 on, two what is from 0 on, and these two runs
  // are there 15 times more, each time 16 further on.
  const std::vector<int64_t> runs = {-3, 0, 2, 8,  12, 4,  4,  2, 0,
                                     4,  4, 4, -2, 16, 16, 15, 0};
  auto found = std::search(whole.words.begin(), whole.words.end(), runs.begin(),
                           runs.end());
  ASSERT_NE(found, whole.words.end());
  auto decodeWith = [&](size_t word, int64_t value) {
    EncodedSites damaged = whole;
    damaged.words[found - whole.words.begin() + word] = value;
    return decode(damaged);
  };
  EXPECT_EQ(decodeWith(12, -3), "site 0: repeats more runs than the 2 before");
  EXPECT_EQ(decodeWith(12, INT64_MIN),
            "site 0: repeats more runs than the 2 before");
  EXPECT_EQ(decodeWith(15, 16),
            "site 0: repeats 4 entries 16 times, 60 are left");
  EXPECT_EQ(decodeWith(15, 0),
            "site 0: repeats 4 entries 0 times, 60 are left");
  EXPECT_EQ(decodeWith(15, INT64_MAX),
            "site 0: repeats 4 entries 9223372036854775807 times, 60 are left");
  EXPECT_EQ(decodeWith(16, 1),
            "site 0: repeats 4 entries 15 times, 60 are left");
  EXPECT_EQ(decodeWith(15, 14), "site 0: has runs of 60 entries, not 64");
  EXPECT_EQ(decodeWith(13, INT64_MAX),
            "site 0: needed interval of dim 0 is too large");
}

/// A small table cannot ask for all memory: what is named twice counts twice.
TEST(Sites, TooManyIntervalsAreRefused) {
  Intervals owned = cut(std::vector<int64_t>(64, 1));
  SiteTable table = makeTable(
      {64}, {exchangeSite("rebalance", {64}, {{0, {0}, owned, owned}})});
  table.sites[0].exchange.parts.assign(10, {owned});
  EncodedSites encoded = encodeSites(table);
  EXPECT_EQ(decodeSites(encoded.words, encoded.strings, table, 12 * 64), "");
  EXPECT_EQ(decodeSites(encoded.words, encoded.strings, table, 12 * 64 - 1),
            "site 0: too many intervals: no more than 67108864 are read for "
            "all sites");
}

TEST(Sites, ATableWithoutSites) {
  SiteTable table;
  EncodedSites encoded = encodeSites(SiteTable());
  EXPECT_EQ(decodeSites(encoded.words, encoded.strings, table), "");
  EXPECT_EQ(table.numRanks(), 1);
}

TEST(Sites, EveryTruncationIsRefused) {
  EncodedSites whole = encodeSites(sample());
  for (size_t size = 0; size < whole.words.size(); ++size) {
    EncodedSites cutOff = {{whole.words.begin(), whole.words.begin() + size},
                           whole.strings};
    EXPECT_NE(decode(cutOff), "") << size;
    if (size > 2)
      cutOff.words[2] = static_cast<int64_t>(size);
    EXPECT_NE(decode(cutOff), "") << size;
  }
  EncodedSites noStrings = {whole.words, whole.strings.substr(0, 3)};
  EXPECT_NE(decode(noStrings).find("outside the string table"),
            std::string::npos);
}

TEST(Sites, OtherVersionsAreNamed) {
  EncodedSites sites = encodeSites(sample());
  sites.words[1] = sitesVersion + 1;
  EXPECT_EQ(decode(sites), "site table has format version 8, expected 7: "
                           "compile the program again");
  sites.words[0] ^= 1;
  EXPECT_EQ(decode(sites), "site table does not start with its magic word");
}

/// Damaged words are refused or give a table that the rest of the loader can
/// judge; sanitizers watch.
TEST(Sites, DamageNeverCrashesTheLoader) {
  EncodedSites whole = encodeSites(sample());
  const int64_t values[] = {0,
                            -1,
                            1,
                            2,
                            7,
                            63,
                            64,
                            1 << 20,
                            INT64_MAX,
                            INT64_MIN,
                            int64_t(1) << 40,
                            -(int64_t(1) << 47)};
  int accepted = 0;
  for (size_t at = 0; at < whole.words.size(); ++at)
    for (int64_t value : values) {
      EncodedSites damaged = whole;
      damaged.words[at] = value;
      shardrt_program *program = nullptr;
      int status = shardrt_program_create(
          callRankFunction, damaged.words.data(),
          static_cast<int64_t>(damaged.words.size()), damaged.strings.data(),
          static_cast<int64_t>(damaged.strings.size()), nullptr, &program,
          nullptr, 0);
      EXPECT_EQ(status == SHARDRT_OK, program != nullptr);
      accepted += status == SHARDRT_OK;
      shardrt_program_destroy(program);
    }
  EXPECT_GT(accepted, 0);
}

TEST(Sites, OverlapsAndGapsAreRefusedWithTheSite) {
  Site site =
      exchangeSite("rebalance", {6}, {{0, {0}, {{0, 4}, {3, 6}}, cut({3, 3})}});
  EncodedSites sites = encodeSites(makeTable({2}, {site}));
  shardrt_program *program = nullptr;
  char error[256] = "";
  EXPECT_EQ(shardrt_program_create(callRankFunction, sites.words.data(),
                                   static_cast<int64_t>(sites.words.size()),
                                   sites.strings.data(),
                                   static_cast<int64_t>(sites.strings.size()),
                                   nullptr, &program, error, sizeof(error)),
            SHARDRT_ARTIFACT);
  EXPECT_NE(std::string(error).find(
                "site 0: rebalance #0 along \"x\" at test.py:1:1: "),
            std::string::npos)
      << error;
}

TEST(ElementType, NamesAndSizes) {
  EXPECT_EQ(elementTypeNamed("f32"), ElementType::F32);
  EXPECT_EQ(elementTypeNamed("complex<f64>"), ElementType::Complex128);
  EXPECT_EQ(elementTypeNamed("index"), std::nullopt);
  EXPECT_EQ(elementBytes(ElementType::Complex128), 16);
  EXPECT_EQ(elementBytes(ElementType::I1), 1);
  EXPECT_EQ(elementBytes(static_cast<ElementType>(0)), 0);
}
