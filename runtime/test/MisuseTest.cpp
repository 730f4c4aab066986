//===- MisuseTest.cpp - What callers do wrong is named --------------------===//
//
// Calls that no program of the compiler makes: by hand, through the C API, or
// with an artifact that something else has written.
//
//===----------------------------------------------------------------------===//

#include "DeviceCalls.h"
#include "ThreeSites.h"
#include "shardrt/Devices.h"
#include "shardrt/Jobs.h"
#include "shardrt/Symbols.h"
#include <map>

using namespace shardrt;
using namespace shardrt::test;

namespace {
char error[512];

#define EXPECT_USAGE(CALL, TEXT)                                               \
  error[0] = 0;                                                                \
  EXPECT_EQ(CALL, SHARDRT_USAGE);                                              \
  EXPECT_STREQ(error, TEXT)

/// A program of two ranks.
struct TwoRanks {
  TwoRanks() {
    EncodedSites sites = encodeSites(threeSites(2));
    EXPECT_EQ(shardrt_program_create(callRankFunction, sites.words.data(),
                                     static_cast<int64_t>(sites.words.size()),
                                     sites.strings.data(),
                                     static_cast<int64_t>(sites.strings.size()),
                                     "{}", &program, error, sizeof(error)),
              SHARDRT_OK)
        << error;
  }
  ~TwoRanks() { shardrt_program_destroy(program); }
  TwoRanks(const TwoRanks &) = delete;
  TwoRanks &operator=(const TwoRanks &) = delete;

  shardrt_program *program = nullptr;
};
} // namespace

TEST(Misuse, OfCrewsAndJobs) {
  shardrt_crew *crew = nullptr;
  shardrt_crew_options noSize = {};
  EXPECT_USAGE(shardrt_crew_create(2, nullptr, nullptr, error, sizeof(error)),
               "a NULL argument, or options without a size");
  EXPECT_USAGE(shardrt_crew_create(2, &noSize, &crew, error, sizeof(error)),
               "a NULL argument, or options without a size");
  shardrt_crew_options options = {};
  options.size = sizeof(options);
  options.threads = -1;
  EXPECT_USAGE(
      shardrt_crew_create(2, &options, &crew, error, sizeof(error)),
      "a crew has 1 to 65536 places, and no negative number of threads");
  EXPECT_EQ(crew, nullptr);
  EXPECT_USAGE(shardrt_job_join(nullptr, nullptr, error, sizeof(error)),
               "a NULL argument, or options without a size");
  EXPECT_USAGE(
      shardrt_job_put(nullptr, "name", "value", 5, error, sizeof(error)),
      "a NULL or negative argument");
  void *data = nullptr;
  int64_t bytes = 0;
  EXPECT_USAGE(
      shardrt_job_get(nullptr, "name", 1, &data, &bytes, error, sizeof(error)),
      "a NULL argument");
}

TEST(Misuse, OfWorlds) {
  TwoRanks two;
  shardrt_world *world = nullptr;
  shardrt_world_options options = {};
  EXPECT_USAGE(
      shardrt_world_create(two.program, &options, &world, error, sizeof(error)),
      "a NULL argument, or options without a size");
  options.size = sizeof(options);
  options.wire = SHARDRT_WIRE_MPI + 1;
  EXPECT_USAGE(
      shardrt_world_create(two.program, &options, &world, error, sizeof(error)),
      ("there is no wire " + std::to_string(options.wire)).c_str());
  options.wire = SHARDRT_WIRE_AUTO;
  EXPECT_USAGE(shardrt_world_run_here(nullptr, nullptr, nullptr, nullptr, error,
                                      sizeof(error)),
               "a NULL argument");
  options.transport = 99;
  const_cast<Program &>(*two.program->program).device = deviceFor(Way::Staged);
  EXPECT_USAGE(
      shardrt_world_create(two.program, &options, &world, error, sizeof(error)),
      "there is no transport 99");
  EXPECT_EQ(world, nullptr);
}

TEST(Misuse, OfPrograms) {
  shardrt_program *program = nullptr;
  EXPECT_USAGE(shardrt_program_create_from(nullptr, nullptr, &program, error,
                                           sizeof(error)),
               "a NULL argument");
  TwoRanks two;
  shardrt_given nothing = {};
  EXPECT_USAGE(shardrt_program_bind(two.program, nullptr, 1, &program, error,
                                    sizeof(error)),
               "a NULL or negative argument");
  EXPECT_USAGE(shardrt_program_bind(two.program, &nothing, 1, &program, error,
                                    sizeof(error)),
               "a NULL or negative argument");
  // An artifact whose tables have a length that no file has.
  for (int64_t length : {int64_t(-1), (int64_t(1) << 40) + 1}) {
    int64_t word = 0;
    char text[] = "{}";
    std::map<std::string, void *> symbols = {
        {"shardc_main", reinterpret_cast<void *>(&callRankFunction)},
        {"shardc_sites", &word},
        {"shardc_sites_length", &length},
        {"shardc_strings", text},
        {"shardc_strings_length", &word},
        {"shardc_metadata", text}};
    auto find = [](void *user, const char *symbol) -> void * {
      auto &known = *static_cast<std::map<std::string, void *> *>(user);
      auto found = known.find(symbol);
      return found == known.end() ? nullptr : found->second;
    };
    EXPECT_EQ(shardrt_program_create_from(find, &symbols, &program, error,
                                          sizeof(error)),
              SHARDRT_ARTIFACT);
    EXPECT_STREQ(error, "the program: lengths of its tables make no sense");
  }
  EXPECT_EQ(program, nullptr);
}

TEST(Misuse, OfMemory) {
  shardrt_memory *memory = nullptr;
  EXPECT_USAGE(shardrt_memory_open(1, -1, &memory, error, sizeof(error)),
               "a NULL argument, or a device below 0");
  ASSERT_EQ(shardrt_memory_open(1, 0, &memory, error, sizeof(error)),
            SHARDRT_OK)
      << error;
  EXPECT_USAGE(shardrt_memory_copy(memory, nullptr, nullptr, nullptr, 8, error,
                                   sizeof(error)),
               "no memory of a device");
  shardrt_memory_close(memory);
}

TEST(Misuse, OfSites) {
  float from[8] = {}, to[8] = {};
  TestWorld world(threeSites(2));
  EXPECT_EQ(world.run([&](shardrt_context *ctx) {
    return shardrt_all_reduce(ctx, 0, from, to, 2);
  }),
            SHARDRT_USAGE);
  EXPECT_NE(world.error().find("as a collective of another kind"),
            std::string::npos)
      << world.error();
  EXPECT_EQ(world.run([&](shardrt_context *ctx) {
    return shardrt_fail(ctx, SHARDRT_LOST, nullptr);
  }),
            SHARDRT_LOST);
  EXPECT_NE(world.error().find("gave up with status 4"), std::string::npos)
      << world.error();
}

TEST(Misuse, OfExchangesInPlace) {
  SiteTable table = threeSites(2);
  table.sites[0].inPlace = true;
  for (Way way : {Way::Host, Way::Staged}) {
    TestWorld world(table, 0, 60'000, 0, false, way);
    EXPECT_EQ(world.run([&](shardrt_context *ctx) {
      float from[8] = {}, to[8] = {};
      OnDevice source(ctx, from, sizeof(from)), other(ctx, to, sizeof(to));
      return shardrt_exchange(ctx, 0, source.get(), other.get(), nullptr);
    }),
              SHARDRT_USAGE);
    EXPECT_NE(world.error().find("exchanges in place, but source and "
                                 "destination are two buffers"),
              std::string::npos)
        << world.error();
  }
}
