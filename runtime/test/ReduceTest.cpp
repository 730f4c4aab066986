//===- ReduceTest.cpp - all_reduce and reduce_scatter ---------------------===//

#include "Device/Cpu/Combine.h"
#include "TestWorld.h"
#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>

namespace shardrt {
Combiner findCombinerBase(ElementType type, Reduction reduction);
Combiner findCombinerV3(ElementType type, Reduction reduction);
Combiner findCombinerV4(ElementType type, Reduction reduction);
} // namespace shardrt

using namespace shardrt;
using namespace shardrt::test;
using shardc::Box;

/// Runs one all_reduce: rank r gives inputs[r]; returns what each rank got.
template <typename T>
static std::vector<std::vector<T>>
runOnce(const std::vector<int64_t> &mesh, ElementType type, Reduction op,
        const std::vector<int64_t> &axes,
        const std::vector<std::vector<T>> &inputs, bool inPlace, Way way) {
  TestWorld world(makeTable(mesh, {allReduceSite(type, op, axes)}), 3, 60'000,
                  0, false, way);
  std::vector<std::vector<T>> outputs(inputs.size());
  int status = world.run([&](shardrt_context *ctx) {
    int64_t rank = shardrt_rank(ctx);
    const std::vector<T> &in = inputs[rank];
    std::vector<T> &out = outputs[rank];
    out.resize(in.size());
    if (inPlace)
      out = in;
    return test::allReduce(ctx, 0, inPlace ? out.data() : in.data(), out.data(),
                           static_cast<int64_t>(in.size()));
  });
  EXPECT_EQ(status, SHARDRT_OK) << nameOf(way) << ": " << world.error();
  return outputs;
}

/// The same, on the host and in every way of devices, which must give its bits.
template <typename T>
static std::vector<std::vector<T>>
allReduce(const std::vector<int64_t> &mesh, ElementType type, Reduction op,
          const std::vector<int64_t> &axes,
          const std::vector<std::vector<T>> &inputs, bool inPlace = false) {
  auto outputs = runOnce(mesh, type, op, axes, inputs, inPlace, Way::Host);
  for (Way way : otherWays()) {
    if (!canGo(way, static_cast<int64_t>(inputs.size())))
      continue;
    auto again = runOnce(mesh, type, op, axes, inputs, inPlace, way);
    for (size_t rank = 0; rank < inputs.size(); ++rank)
      if (!inputs[rank].empty() && isMine(way, rank))
        EXPECT_EQ(std::memcmp(again[rank].data(), outputs[rank].data(),
                              outputs[rank].size() * sizeof(T)),
                  0)
            << nameOf(way) << ", rank " << rank;
  }
  return outputs;
}

TEST(AllReduce, SumOverAxesInEverySize) {
  // Either side of the size at which the algorithm changes.
  for (int64_t count : {0, 1, 5, 1000, 2048, 2049, 5000, 100'003})
    for (bool inPlace : {false, true})
      for (std::vector<int64_t> axes :
           {std::vector<int64_t>{0}, {1}, {0, 1}, {}}) {
        std::vector<int64_t> mesh = {2, 3};
        std::vector<std::vector<float>> inputs(6);
        for (int64_t rank = 0; rank < 6; ++rank)
          for (int64_t i = 0; i < count; ++i)
            inputs[rank].push_back(
                static_cast<float>(hashOf(rank * 7919 + i) % 1000) * 0.37f);
        auto outputs = allReduce(mesh, ElementType::F32, Reduction::Sum, axes,
                                 inputs, inPlace);
        for (int64_t rank = 0; rank < 6; ++rank)
          for (int64_t i = 0; i < count; ++i) {
            std::vector<int64_t> group = shardc::groupAlong(mesh, axes, rank);
            float expected = inputs[group[0]][i];
            for (size_t g = 1; g < group.size(); ++g)
              expected += inputs[group[g]][i];
            ASSERT_EQ(outputs[rank][i], expected) << rank << " " << i;
          }
      }
}

TEST(AllReduce, IntegersWrapAround) {
  auto out = allReduce<int32_t>({3}, ElementType::I32, Reduction::Sum, {0},
                                {{INT32_MAX}, {1}, {5}});
  EXPECT_EQ(out[1][0], INT32_MIN + 5);
  auto bytes = allReduce<int8_t>({2}, ElementType::I8, Reduction::Product, {0},
                                 {{100}, {3}});
  EXPECT_EQ(bytes[0][0], static_cast<int8_t>(44));
  auto nibbles = allReduce<int8_t>({2}, ElementType::I4, Reduction::Sum, {0},
                                   {{7, -8, 3}, {1, -1, 2}});
  // With zeros above their four bits, as generated code has them: 8 is -8.
  EXPECT_EQ(nibbles[1], (std::vector<int8_t>{8, 7, 5}));
  auto least = allReduce<int8_t>({2}, ElementType::I4, Reduction::Min, {0},
                                 {{15, 8, -8}, {3, 2, 1}});
  EXPECT_EQ(least[1], (std::vector<int8_t>{15, 8, 8}));
  auto unsignedNibbles = allReduce<uint8_t>({2}, ElementType::UI4,
                                            Reduction::Sum, {0}, {{15}, {2}});
  EXPECT_EQ(unsignedNibbles[0][0], 1);
  auto words = allReduce<uint16_t>({2}, ElementType::UI16, Reduction::Product,
                                   {0}, {{65535}, {65535}});
  EXPECT_EQ(words[0][0], 1);
  auto longs = allReduce<int64_t>({2}, ElementType::I64, Reduction::Min, {0},
                                  {{INT64_MIN, 4}, {3, -9}});
  EXPECT_EQ(longs[0], (std::vector<int64_t>{INT64_MIN, -9}));
  auto large = allReduce<uint64_t>({2}, ElementType::UI64, Reduction::Max, {0},
                                   {{UINT64_MAX}, {3}});
  EXPECT_EQ(large[0][0], UINT64_MAX);
}

TEST(AllReduce, BitsAndBooleans) {
  using Bytes = std::vector<uint8_t>;
  std::vector<Bytes> in = {{0, 0, 1, 1}, {0, 1, 0, 1}};
  auto run = [&](Reduction op) {
    return allReduce({2}, ElementType::I1, op, {0}, in)[1];
  };
  EXPECT_EQ(run(Reduction::Sum), (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(run(Reduction::Or), (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(run(Reduction::Max), (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(run(Reduction::And), (Bytes{0, 0, 0, 1}));
  EXPECT_EQ(run(Reduction::Product), (Bytes{0, 0, 0, 1}));
  EXPECT_EQ(run(Reduction::Min), (Bytes{0, 0, 0, 1}));
  EXPECT_EQ(run(Reduction::Xor), (Bytes{0, 1, 1, 0}));
  auto words = allReduce<uint32_t>({2}, ElementType::UI32, Reduction::Xor, {0},
                                   {{0xff00ff00}, {0x0ff00ff0}});
  EXPECT_EQ(words[0][0], 0xf0f0f0f0u);
}

TEST(AllReduce, MinAndMaxPropagateNaNAndOrderZeros) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  float inf = std::numeric_limits<float>::infinity();
  std::vector<std::vector<float>> in = {{nan, 1, -0.0f, 0.0f, 5, -inf},
                                        {1, nan, 0.0f, -0.0f, -7, inf}};
  auto least = allReduce({2}, ElementType::F32, Reduction::Min, {0}, in)[0];
  auto most = allReduce({2}, ElementType::F32, Reduction::Max, {0}, in)[0];
  EXPECT_TRUE(std::isnan(least[0]) && std::isnan(least[1]));
  EXPECT_TRUE(std::isnan(most[0]) && std::isnan(most[1]));
  EXPECT_TRUE(std::signbit(least[2]) && std::signbit(least[3]));
  EXPECT_FALSE(std::signbit(most[2]) || std::signbit(most[3]));
  EXPECT_EQ(least[4], -7);
  EXPECT_EQ(most[4], 5);
  EXPECT_EQ(least[5], -inf);
  EXPECT_EQ(most[5], inf);
  auto doubles = allReduce<double>({2}, ElementType::F64, Reduction::Max, {0},
                                   {{1.5, nan}, {2.5, 0}})[1];
  EXPECT_EQ(doubles[0], 2.5);
  EXPECT_TRUE(std::isnan(doubles[1]));
}

TEST(AllReduce, ComplexNumbers) {
  using C = std::complex<float>;
  auto sum = allReduce<C>({2}, ElementType::Complex64, Reduction::Sum, {0},
                          {{{1, 2}}, {{3, -5}}})[0][0];
  EXPECT_EQ(sum, C(4, -3));
  using Z = std::complex<double>;
  auto product = allReduce<Z>({2}, ElementType::Complex128, Reduction::Product,
                              {0}, {{{1, 2}}, {{3, -5}}})[1][0];
  EXPECT_EQ(product, Z(13, 1));
}

/// What a half with these bits is worth, by the definition of the format.
static double valueOfHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return mantissa ? std::nan("") : sign * INFINITY;
  if (exponent == 0)
    return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

/// The half nearest to `x`, ties to even: found by search.
static uint16_t nearestHalf(double x) {
  uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  double magnitude = std::fabs(x);
  if (std::isnan(x))
    return 0x7e00;
  int low = 0, high = 0x7c00;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    (valueOfHalf(static_cast<uint16_t>(middle)) <= magnitude ? low : high) =
        middle;
  }
  double below = valueOfHalf(static_cast<uint16_t>(low));
  double above =
      high == 0x7c00 ? 65536.0 : valueOfHalf(static_cast<uint16_t>(high));
  double fromBelow = magnitude - below, fromAbove = above - magnitude;
  bool up = fromAbove < fromBelow || (fromAbove == fromBelow && (low & 1));
  return static_cast<uint16_t>(sign | (up ? high : low));
}

TEST(AllReduce, HalvesAreCombinedInSinglePrecision) {
  // Every half of finite value, with another one, and alone.
  std::vector<std::vector<uint16_t>> in(3);
  for (int bits = 0; bits < 0x10000; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    if (!std::isfinite(valueOfHalf(half)))
      continue;
    in[0].push_back(half);
    in[1].push_back(static_cast<uint16_t>(hashOf(bits) & 0xbfff));
    in[2].push_back(static_cast<uint16_t>(hashOf(bits + 70000) & 0x83ff));
  }
  auto out = allReduce({3}, ElementType::F16, Reduction::Sum, {0}, in);
  for (size_t i = 0; i < in[0].size(); ++i) {
    auto sum = static_cast<float>(valueOfHalf(in[0][i]));
    sum += static_cast<float>(valueOfHalf(in[1][i]));
    sum += static_cast<float>(valueOfHalf(in[2][i]));
    ASSERT_EQ(out[0][i], nearestHalf(sum)) << i;
    ASSERT_EQ(out[2][i], out[0][i]);
  }
  uint16_t inf = 0x7c00, nan = 0x7e01;
  auto special = allReduce<uint16_t>({2}, ElementType::F16, Reduction::Max, {0},
                                     {{inf, nan, 0x8001}, {1, 2, 0x0001}});
  EXPECT_EQ(special[0][0], inf);
  EXPECT_TRUE(std::isnan(valueOfHalf(special[0][1])));
  EXPECT_EQ(special[0][2], 1);
}

TEST(AllReduce, BFloatsAreCombinedInSinglePrecision) {
  // 1 + 2^-9 three times: rounding each sum would stay at 1.
  auto out = allReduce<uint16_t>({4}, ElementType::BF16, Reduction::Sum, {0},
                                 {{0x3f80, 0x7f80, 0xffc0},
                                  {0x3b00, 0x3f80, 0},
                                  {0x3b00, 0xff80, 0},
                                  {0x3b00, 0, 0}});
  EXPECT_EQ(out[0][0], 0x3f81);
  EXPECT_EQ(out[0][1] & 0x7fc0, 0x7fc0);
  EXPECT_EQ(out[0][2] & 0x7fc0, 0x7fc0);
}

TEST(AllReduce, SameBitsInEveryRunAndOnEveryRank) {
  std::vector<std::vector<float>> in(5);
  for (int64_t rank = 0; rank < 5; ++rank)
    for (int64_t i = 0; i < 4000; ++i)
      in[rank].push_back(
          std::ldexp(static_cast<float>(hashOf(i * 5 + rank) % 10'000),
                     static_cast<int>(hashOf(i + rank) % 40) - 20));
  auto first = allReduce({5}, ElementType::F32, Reduction::Sum, {0}, in);
  for (int run = 0; run < 10; ++run) {
    auto again = allReduce({5}, ElementType::F32, Reduction::Sum, {0}, in);
    for (int64_t rank = 0; rank < 5; ++rank)
      ASSERT_EQ(std::memcmp(again[rank].data(), first[0].data(),
                            first[0].size() * sizeof(float)),
                0);
  }
}

/// Loads a program of one all_reduce; its status and error.
static std::pair<int, std::string> load(const SiteTable &table) {
  EncodedSites sites = encodeSites(table);
  shardrt_program *program = nullptr;
  char error[256] = "";
  int status = shardrt_program_create(
      callRankFunction, sites.words.data(),
      static_cast<int64_t>(sites.words.size()), sites.strings.data(),
      static_cast<int64_t>(sites.strings.size()), nullptr, &program, error,
      sizeof(error));
  shardrt_program_destroy(program);
  return {status, error};
}

TEST(AllReduce, EveryTypeAndReductionRunsOrIsRefused) {
  int runs = 0;
#define SHARDRT_TYPE(NAME, CODE, SPELLING, BYTES) ElementType::NAME,
  for (ElementType type : {SHARDRT_FOR_EACH_ELEMENT_TYPE(SHARDRT_TYPE)})
#undef SHARDRT_TYPE
    for (Reduction op :
         {Reduction::Sum, Reduction::Product, Reduction::Min, Reduction::Max,
          Reduction::And, Reduction::Or, Reduction::Xor}) {
      SiteTable table = makeTable({2}, {allReduceSite(type, op, {0})});
      auto [status, error] = load(table);
      std::string name(elementTypeName(type));
      if (status != SHARDRT_OK) {
        EXPECT_EQ(status, SHARDRT_ARTIFACT);
        EXPECT_NE(error.find("of " + name + " is not supported"),
                  std::string::npos)
            << error;
        continue;
      }
      // Zero with zero is zero in every type and reduction that there is.
      ++runs;
      for (Way way :
           {Way::Host, Way::Shared, Way::Sockets, Way::Direct, Way::Nccl}) {
        TestWorld world(table, 0, 60'000, 0, false, way);
        int64_t bytes = elementBytes(type);
        std::atomic<int64_t> wrong{0};
        EXPECT_EQ(world.run([&](shardrt_context *ctx) {
          std::vector<std::byte> src(3 * bytes), dst(3 * bytes, std::byte(1));
          int result = test::allReduce(ctx, 0, src.data(), dst.data(), 3);
          wrong += src != dst;
          return result;
        }),
                  SHARDRT_OK);
        EXPECT_EQ(wrong.load(), 0) << name;
      }
    }
  // 13 types of integers, four of floating point, two of complex numbers.
  EXPECT_EQ(runs, 13 * 7 + 4 * 4 + 2 * 2);
}

//===----------------------------------------------------------------------===//
// reduce_scatter
//===----------------------------------------------------------------------===//

static void runReduceScatter(const std::vector<int64_t> &mesh, Site site,
                             uint64_t seed, Way way) {
  site.kind = SiteKind::ReduceScatter;
  site.report = "reduce_scatter";
  site.reduction = Reduction::Sum;
  site.type = ElementType::I32;
  site.exchange.meshShape = mesh;
  int64_t ranks = 1;
  for (int64_t size : mesh)
    ranks *= size;
  if (!canGo(way, ranks))
    return;
  TestWorld world(makeTable(mesh, {site}), seed, 60'000, 0, false, way);
  const auto &shape = site.exchange.globalShape;
  auto valueOf = [&](int64_t rank, int64_t linear) {
    return static_cast<int32_t>(hashOf(rank * 65'537 + linear));
  };
  std::atomic<int64_t> wrong{0};
  int status = world.run(
      [&](shardrt_context *ctx) -> int {
        int64_t rank = shardrt_rank(ctx);
        Box owned = shardc::ownedBox(site.exchange, rank);
        Box needed = shardc::neededBox(site.exchange, rank);
        Guarded src(volume(owned) * 4), dst(volume(needed) * 4);
        forEachElement(owned, [&](const auto &index, int64_t at) {
          int32_t value = valueOf(rank, linearIndex(index, shape));
          std::memcpy(src.data() + at * 4, &value, 4);
        });
        if (int s = reduceScatter(ctx, 0, src.data(), dst.data()))
          return s;
        wrong += !src.intact() || !dst.intact();
        forEachElement(needed, [&](const auto &index, int64_t at) {
          // Whoever holds this element with the coordinates along the group's
          // axes left open, and else the nearest owner to this rank.
          uint32_t expected = 0;
          for (const shardc::Transfer &transfer :
               shardc::receivesOf(site.exchange, rank)) {
            bool inside = true;
            for (size_t d = 0; d < shape.size(); ++d)
              inside &= transfer.box[d].begin <= index[d] &&
                        index[d] < transfer.box[d].end;
            if (!inside)
              continue;
            for (int64_t from :
                 shardc::groupAlong(mesh, site.groupAxes, transfer.peer))
              expected += static_cast<uint32_t>(
                  valueOf(from, linearIndex(index, shape)));
          }
          int32_t got;
          std::memcpy(&got, dst.data() + at * 4, 4);
          wrong += got != static_cast<int32_t>(expected);
        });
        return 0;
      },
      5);
  EXPECT_EQ(status, SHARDRT_OK) << world.error();
  EXPECT_EQ(wrong.load(), 0);
}

/// Every rank gives its owned box, filled with hashes of rank and index; on the
/// host and in every way of devices.
static void checkReduceScatter(const std::vector<int64_t> &mesh, Site site,
                               uint64_t seed = 0) {
  runReduceScatter(mesh, site, seed, Way::Host);
  for (Way way : otherWays())
    runReduceScatter(mesh, site, seed, way);
}

TEST(ReduceScatter, AlongOneAxis) {
  for (int64_t ranks = 1; ranks <= 8; ++ranks) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < ranks; ++i)
      sizes.push_back(i % 3);
    int64_t rows = std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
    Site site = exchangeSite(
        "", {rows, 6}, {{0, {0}, Intervals(ranks, {0, rows}), cut(sizes)}});
    site.groupAxes = {0};
    checkReduceScatter({ranks}, site, ranks);
  }
}

TEST(ReduceScatter, MinorDimOfAMeshOfTwoAxes) {
  Site site = exchangeSite("", {6, 9},
                           {{0, {0}, cut({4, 2}), cut({4, 2})},
                            {1, {1}, Intervals(3, {0, 9}), cut({2, 0, 7})}});
  site.groupAxes = {1};
  checkReduceScatter({2, 3}, site);
}

TEST(ReduceScatter, WithAHaloFromOtherGroups) {
  Site site = exchangeSite("", {8, 3},
                           {{0, {0}, cut({3, 5}), {{0, 5}, {1, 8}}},
                            {1, {1}, Intervals(2, {0, 3}), cut({1, 2})}});
  site.groupAxes = {1};
  checkReduceScatter({2, 2}, site, 9);
}

TEST(ReduceScatter, GroupOfDifferentBoxesIsRefused) {
  Site site =
      exchangeSite("reduce_scatter", {4}, {{0, {0}, cut({2, 2}), cut({2, 2})}});
  site.kind = SiteKind::ReduceScatter;
  site.reduction = Reduction::Sum;
  site.groupAxes = {0};
  auto [status, error] = load(makeTable({2}, {site}));
  EXPECT_EQ(status, SHARDRT_ARTIFACT);
  EXPECT_NE(error.find("of one group but own different boxes"),
            std::string::npos)
      << error;
}

#ifdef __x86_64__
// Ranks on CPUs with other vectors get the same bits, for any number of
// elements.
TEST(Combiners, EveryLevelOfCpusMakesTheSameBits) {
  std::mt19937_64 random(1);
  for (auto *level :
       {__builtin_cpu_supports("x86-64-v3") ? findCombinerV3 : findCombinerBase,
        __builtin_cpu_supports("x86-64-v4") ? findCombinerV4
                                            : findCombinerBase})
#define SHARDRT_TYPE(NAME, CODE, SPELLING, BYTES) ElementType::NAME,
    for (ElementType type : {SHARDRT_FOR_EACH_ELEMENT_TYPE(SHARDRT_TYPE)})
#undef SHARDRT_TYPE
      for (Reduction op :
           {Reduction::Sum, Reduction::Product, Reduction::Min, Reduction::Max,
            Reduction::And, Reduction::Or, Reduction::Xor}) {
        Combiner base = findCombinerBase(type, op), other = level(type, op);
        ASSERT_EQ(static_cast<bool>(base), static_cast<bool>(other));
        if (!base)
          continue;
        int64_t bytes = elementBytes(type);
        bool isComplex =
            type == ElementType::Complex64 || type == ElementType::Complex128;
        bool isFloat = type == ElementType::F16 || type == ElementType::BF16 ||
                       type == ElementType::F32 || type == ElementType::F64;
        bool isExtreme = op == Reduction::Min || op == Reduction::Max;
        int64_t number = isComplex ? bytes / 2 : bytes;
        for (int64_t count : {1, 7, 64, 1061}) {
          std::vector<std::vector<std::byte>> parts(3);
          for (std::vector<std::byte> &part : parts) {
            for (int64_t i = 0; i < count * bytes; ++i)
              part.push_back(static_cast<std::byte>(random()));
            // Below two, or (of extremes) any, NaN among them.
            for (int64_t i = number - 1; i < count * bytes; i += number)
              if ((isFloat && !isExtreme) || isComplex)
                part[i] &= std::byte(0xbf);
          }
          const std::byte *list[] = {parts[0].data(), parts[1].data(),
                                     parts[2].data()};
          std::vector<std::byte> expected(count * bytes), got(count * bytes);
          base.function(list, expected.data(), count);
          other.function(list, got.data(), count);
          EXPECT_EQ(expected, got) << elementTypeName(type) << ", " << count;
          std::vector<std::byte> mine = parts[0], theirs = parts[0];
          base.into(mine.data(), list[1], count);
          other.into(theirs.data(), list[1], count);
          EXPECT_EQ(mine, theirs) << elementTypeName(type) << ", " << count;
        }
      }
}
#endif
