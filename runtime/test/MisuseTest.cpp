//===- MisuseTest.cpp - What callers do wrong is named --------------------===//
//
// Calls that no program of the compiler makes: by hand, through the C API, or
// with an artifact that something else has written.
//
//===----------------------------------------------------------------------===//

#include "DeviceCalls.h"
#include "ThreeSites.h"
#include "World/World.h"
#include "shardrt/Checkpoint.h"
#include "shardrt/Devices.h"
#include "shardrt/Emulated.h"
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

/// What an artifact exports, by name.
using Symbols = std::map<std::string, void *>;

void *findSymbol(void *user, const char *symbol) {
  auto &known = *static_cast<Symbols *>(user);
  auto found = known.find(symbol);
  return found == known.end() ? nullptr : found->second;
}
} // namespace

namespace {
/// Calls `function` with NULL and 0 for all it takes. A status, -1 and no text
/// say that there is nothing; no number is anything but 0.
template <typename Result, typename... Arguments>
void callWithNothing(Result (*function)(Arguments...), Result expected) {
  EXPECT_EQ(function(Arguments{}...), expected);
}
template <typename... Arguments>
void callWithNothing(const char *(*function)(Arguments...)) {
  const char *text = function(Arguments{}...);
  EXPECT_EQ(std::string(text ? text : ""), "");
}
template <typename... Arguments>
void callWithNothing(void (*function)(Arguments...)) {
  function(Arguments{}...);
}

#define WITH_NOTHING(FUNCTION, ...)                                            \
  do {                                                                         \
    SCOPED_TRACE(#FUNCTION);                                                   \
    callWithNothing(FUNCTION __VA_OPT__(, ) __VA_ARGS__);                      \
  } while (false)
} // namespace

/// What callers of the host call with a handle, called without one.
TEST(Misuse, OfNothing) {
  WITH_NOTHING(shardrt_program_load, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_program_load_trusted, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_program_load_checked, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_program_create, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_program_create_from, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_program_bind, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_program_bind_mesh, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_program_destroy);
  WITH_NOTHING(shardrt_program_metadata);
  WITH_NOTHING(shardrt_program_num_ranks, int64_t(0));
  WITH_NOTHING(shardrt_program_num_mesh_axes, int64_t(0));
  WITH_NOTHING(shardrt_program_mesh_axis_size, int64_t(0));
  WITH_NOTHING(shardrt_program_mesh_axis_is_open, 0);
  WITH_NOTHING(shardrt_program_mesh_axis_name);
  WITH_NOTHING(shardrt_program_num_sites, int64_t(0));
  WITH_NOTHING(shardrt_program_site_info, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_program_num_kernels, int64_t(0));
  WITH_NOTHING(shardrt_program_kernel_info, int(SHARDRT_USAGE));

  WITH_NOTHING(shardrt_job_join, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_job_leave);
  WITH_NOTHING(shardrt_job_say_goodbye);
  WITH_NOTHING(shardrt_job_agree, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_job_put, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_job_get, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_job_look, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_job_is_one_host, 0);
  WITH_NOTHING(shardrt_job_is_insecure, 0);
  WITH_NOTHING(shardrt_job_rank, int64_t(-1));
  WITH_NOTHING(shardrt_job_size, int64_t(0));
  WITH_NOTHING(shardrt_job_local_ranks, int64_t(0));
  WITH_NOTHING(shardrt_job_num_processes, int64_t(0));
  WITH_NOTHING(shardrt_job_process_of, int64_t(-1));
  WITH_NOTHING(shardrt_job_launcher);

  WITH_NOTHING(shardrt_crew_create, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_crew_destroy);
  WITH_NOTHING(shardrt_crew_num_places, int64_t(0));
  WITH_NOTHING(shardrt_crew_call, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_crew_is_idle, 0);
  WITH_NOTHING(shardrt_crew_memory, int(SHARDRT_USAGE));

  WITH_NOTHING(shardrt_world_create, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_world_destroy);
  WITH_NOTHING(shardrt_world_run, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_world_run_repeated, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_world_run_here, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_world_start, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_world_call, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_world_gather, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_world_error);
  WITH_NOTHING(shardrt_world_rank_error);
  WITH_NOTHING(shardrt_world_site_stats, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_world_rank_stats, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_world_reset_stats);
  WITH_NOTHING(shardrt_world_peak_bytes, int64_t(-1));
  WITH_NOTHING(shardrt_world_libraries);
  WITH_NOTHING(shardrt_world_notes);
  WITH_NOTHING(shardrt_world_transport);
  WITH_NOTHING(shardrt_world_trace, int64_t(-1));
  WITH_NOTHING(shardrt_world_site_peers, int64_t(-1));
  WITH_NOTHING(shardrt_world_device_counts, int(SHARDRT_USAGE));

  WITH_NOTHING(shardrt_memory_open, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_memory_close);
  WITH_NOTHING(shardrt_memory_device, int64_t(-1));
  WITH_NOTHING(shardrt_memory_allocate, static_cast<void *>(nullptr));
  WITH_NOTHING(shardrt_memory_free);
  WITH_NOTHING(shardrt_memory_write, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_memory_read, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_memory_copy, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_memory_counts, int(SHARDRT_USAGE));

  WITH_NOTHING(shardrt_checkpoints_open, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_checkpoints_close);
  WITH_NOTHING(shardrt_checkpoints_steps, int64_t(-1));
  WITH_NOTHING(shardrt_save_begin, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_save_create, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_save_write, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_save_digests, static_cast<void *>(nullptr));
  WITH_NOTHING(shardrt_save_commit, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_save_end);
  WITH_NOTHING(shardrt_restore_begin, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_restore_end);
  WITH_NOTHING(shardrt_restore_info);
  WITH_NOTHING(shardrt_restore_num_values, int64_t(0));
  WITH_NOTHING(shardrt_restore_value, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_restore_verify, int(SHARDRT_USAGE));
  WITH_NOTHING(shardrt_restore_box, int(SHARDRT_USAGE));
}

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
    Symbols symbols = {
        {"shardc_main", reinterpret_cast<void *>(&callRankFunction)},
        {"shardc_sites", &word},
        {"shardc_sites_length", &length},
        {"shardc_strings", text},
        {"shardc_strings_length", &word},
        {"shardc_metadata", text}};
    EXPECT_EQ(shardrt_program_create_from(findSymbol, &symbols, &program, error,
                                          sizeof(error)),
              SHARDRT_ARTIFACT);
    EXPECT_STREQ(error, "the program: lengths of its tables make no sense");
  }
  EXPECT_EQ(program, nullptr);
}

TEST(Misuse, OfProgramsForOtherProcessors) {
  int64_t length = 0;
  char text[] = "";
  std::string metadata =
      "{\"interface\":\"" SHARDC_INTERFACE "\",\"processor\":\"avx9000\"}";
  Symbols symbols = {
      {"shardc_main", reinterpret_cast<void *>(&callRankFunction)},
      {"shardc_sites", &length},
      {"shardc_sites_length", &length},
      {"shardc_strings", text},
      {"shardc_strings_length", &length},
      {"shardc_metadata", metadata.data()}};
  shardrt_program *program = nullptr;
  EXPECT_EQ(shardrt_program_create_from(findSymbol, &symbols, &program, error,
                                        sizeof(error)),
            SHARDRT_ARTIFACT);
  EXPECT_STREQ(error,
               "the program: was compiled for a processor with avx9000, which "
               "this one lacks: compile it here, or for less");
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

namespace {
void doNothing(shardrt_emulated_thread *, const int64_t *) {}

/// A world whose only kernel is `kernel`, and which launches it on `blocks`
/// blocks along y.
std::string launch(shardrt_emulated_kernel kernel, int64_t blocks,
                   int expected) {
  auto code = std::make_unique<DeviceCode>();
  DeviceCode::Kernel &twice = code->kernels.emplace_back();
  twice.name = "twice";
  twice.location = "double.py:7";
  twice.threads = 32;
  const int64_t traits[] = {0, 0};
  code->functions = &kernel;
  code->traits = traits;
  TestWorld world(threeSites(2), 0, 60'000, 0, false, Way::Direct,
                  std::move(code));
  EXPECT_EQ(world.run([&](shardrt_context *ctx) {
    return shardrt_launch(ctx, 0, 1, blocks, 1, nullptr, 0);
  }),
            expected);
  return world.error();
}
} // namespace

TEST(Misuse, OfKernels) {
  EXPECT_EQ(launch(doNothing, 65535, SHARDRT_OK), "");
  std::string error = launch(doNothing, 65536, SHARDRT_USAGE);
  EXPECT_NE(error.find("a grid of 65536 blocks, at most 65535 are possible"),
            std::string::npos)
      << error;
  error = launch(nullptr, 1, SHARDRT_ARTIFACT);
  EXPECT_NE(error.find("is for GPUs that are not emulated"), std::string::npos)
      << error;
}

TEST(Misuse, OfSharedValues) {
  TestWorld world(threeSites(2), 0, 10'000, 0, false, Way::Sockets);
  world.forEachMember([&](TestWorld::Member &member, int64_t rank) {
    char error[256] = "";
    std::string why;
    // As no job_put writes it: 3 bytes, of which the first piece has 6.
    if (rank == 0)
      EXPECT_TRUE(member.job->job.store->set("shared/torn/1", "5bytes", why) &&
                  member.job->job.store->set("shared/torn/0", "3", why))
          << why;
    void *data = nullptr;
    int64_t bytes = 0;
    EXPECT_EQ(shardrt_job_get(member.job, "torn", 5'000, &data, &bytes, error,
                              sizeof(error)),
              SHARDRT_LOST);
    EXPECT_STREQ(error, "a damaged value of 'torn'");
    EXPECT_EQ(data, nullptr);
  });
}
