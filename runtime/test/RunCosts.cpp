//===- RunCosts.cpp - What it costs to run a program that does nothing ----===//
//
// ShardRuntimeCosts [own]: tables of microseconds and processor time of a run,
// on threads of a world's own and on those of a crew; and what 2,000 worlds
// take. With `own` nothing of crews is called, so that an older library can be
// timed (LD_LIBRARY_PATH).
//
//===----------------------------------------------------------------------===//

#include "shardrt/SiteWords.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace shardrt;

static int doNothing(shardrt_context *, void *const *, void *const *) {
  return 0;
}

/// An all-reduce of one number.
static int reduce(shardrt_context *ctx, void *const *, void *const *) {
  float in = 1, out = 0;
  return shardrt_all_reduce(ctx, 0, &in, &out, 1);
}

static shardrt_program *makeProgram(int64_t ranks, shardrt_main_fn main) {
  SiteTable table;
  table.axisNames = {"x"};
  table.meshShape = {ranks};
  Site site;
  site.kind = SiteKind::AllReduce;
  site.report = "all_reduce";
  site.type = ElementType::F32;
  site.reduction = Reduction::Sum;
  site.groupAxes = {0};
  table.sites.push_back(site);
  EncodedSites encoded = encodeSites(table);
  shardrt_program *program = nullptr;
  char error[256] = "";
  if (shardrt_program_create(main, encoded.words.data(),
                             static_cast<int64_t>(encoded.words.size()),
                             encoded.strings.data(),
                             static_cast<int64_t>(encoded.strings.size()), "{}",
                             &program, error, sizeof(error)))
    std::printf("%s\n", error);
  return program;
}

static shardrt_world *makeWorld(shardrt_program *program, shardrt_crew *crew) {
  shardrt_world_options options = {};
  options.size = sizeof(options);
  options.crew = crew;
  shardrt_world *world = nullptr;
  char error[256] = "";
  if (shardrt_world_create(program, &options, &world, error, sizeof(error)))
    std::printf("%s\n", error);
  return world;
}

static double wallUs() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static double processorUs() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return 1e6 *
             static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/// Prints the median and the processor time of a call of `body`, which does
/// `runs` runs.
template <typename Body>
static void measure(const char *what, int64_t ranks, int64_t runs, Body body) {
  std::vector<double> times;
  body();
  double used = processorUs(), end = wallUs() + 300'000;
  while (wallUs() < end || times.size() < 5) {
    double begin = wallUs();
    body();
    times.push_back((wallUs() - begin) / static_cast<double>(runs));
  }
  used = (processorUs() - used) / static_cast<double>(times.size()) /
         static_cast<double>(runs);
  std::sort(times.begin(), times.end());
  std::printf("| %s | %lld | %.2f | %.2f | %.2f |\n", what,
              static_cast<long long>(ranks), times[times.size() / 2],
              times.front(), used);
  std::fflush(stdout);
}

namespace {
/// Starts many runs and waits for all.
struct Stream {
  std::mutex mutex;
  std::condition_variable done;
  int64_t left = 0;

  void start(shardrt_world *world) {
    shardrt_world_start(
        world, nullptr, nullptr,
        [](void *user, int, const char *) {
          auto *stream = static_cast<Stream *>(user);
          std::lock_guard lock(stream->mutex);
          if (--stream->left == 0)
            stream->done.notify_all();
        },
        this);
  }
  void wait() {
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return left == 0; });
  }
};
} // namespace

/// The value of a line of /proc/self/status.
static long statusOf(const char *key) {
  std::FILE *file = std::fopen("/proc/self/status", "r");
  char line[256];
  long value = -1;
  while (file && std::fgets(line, sizeof(line), file))
    if (std::strncmp(line, key, std::strlen(key)) == 0)
      std::sscanf(line + std::strlen(key), ":%ld", &value);
  if (file)
    std::fclose(file);
  return value;
}

int main(int argc, char **argv) {
  bool ownOnly = argc > 1 && std::strcmp(argv[1], "own") == 0;
  double load[1] = {0};
  getloadavg(load, 1);
  std::printf(
      "load %.1f\n\n| run | ranks | median us | least us | processor us "
      "|\n|---|---|---|---|---|\n",
      load[0]);
  for (auto [name, main] :
       {std::pair("nothing", &doNothing), std::pair("all-reduce", &reduce)})
    for (int64_t ranks : {1, 2, 4, 8}) {
      char what[64];
      auto label = [&](const char *how) {
        std::snprintf(what, sizeof(what), "%s, %s", name, how);
        return what;
      };
      shardrt_program *program = makeProgram(ranks, main);
      shardrt_world *own = makeWorld(program, nullptr);
      measure(label("own threads"), ranks, 1,
              [&] { shardrt_world_run(own, nullptr, nullptr); });
      shardrt_world_destroy(own);
      if (!ownOnly) {
        shardrt_crew *crew = nullptr;
        shardrt_crew_create(8, nullptr, &crew, nullptr, 0);
        shardrt_world *world = makeWorld(program, crew);
        measure(label("crew"), ranks, 1,
                [&] { shardrt_world_run(world, nullptr, nullptr); });
        measure(label("crew, 100 starts"), ranks, 100, [&] {
          Stream stream;
          stream.left = 100;
          for (int i = 0; i < 100; ++i)
            stream.start(world);
          stream.wait();
        });
        if (ranks == 1)
          measure(label("crew, here"), ranks, 1000, [&] {
            for (int i = 0; i < 1000; ++i)
              shardrt_world_run_here(world, nullptr, nullptr, nullptr, nullptr,
                                     0);
          });
        shardrt_world_destroy(world);
        shardrt_crew_destroy(crew);
      }
      shardrt_program_destroy(program);
    }
  if (ownOnly)
    return 0;
  shardrt_crew *crew = nullptr;
  shardrt_crew_create(8, nullptr, &crew, nullptr, 0);
  std::printf("\n| 2,000 worlds | us to make one | bytes of one | threads |\n"
              "|---|---|---|---|\n");
  for (int64_t ranks : {1, 8}) {
    shardrt_program *program = makeProgram(ranks, &doNothing);
    std::vector<shardrt_world *> worlds(2000);
    long before = statusOf("VmRSS");
    double begin = processorUs();
    for (shardrt_world *&world : worlds)
      world = makeWorld(program, crew);
    double made = (processorUs() - begin) / 2000;
    for (shardrt_world *world : worlds)
      shardrt_world_run(world, nullptr, nullptr);
    std::printf(
        "| of %lld ranks | %.2f | %ld | %ld |\n", static_cast<long long>(ranks),
        made, (statusOf("VmRSS") - before) * 1024 / 2000, statusOf("Threads"));
    std::printf("\n| 1,000 of them in turns | ranks | median us | least us | "
                "processor us |\n|---|---|---|---|---|\n");
    measure("run", ranks, 1000, [&] {
      for (int i = 0; i < 1000; ++i)
        shardrt_world_run(worlds[i], nullptr, nullptr);
    });
    measure("100 starts", ranks, 1000, [&] {
      for (int i = 0; i < 1000; i += 100) {
        Stream stream;
        stream.left = 100;
        for (int j = i; j < i + 100; ++j)
          stream.start(worlds[j]);
        stream.wait();
      }
    });
    if (ranks == 1)
      measure("here", ranks, 1000, [&] {
        for (int i = 0; i < 1000; ++i)
          shardrt_world_run_here(worlds[i], nullptr, nullptr, nullptr, nullptr,
                                 0);
      });
    for (shardrt_world *world : worlds)
      shardrt_world_destroy(world);
    shardrt_program_destroy(program);
    std::printf("\n");
  }
  shardrt_crew_destroy(crew);
  return 0;
}
