//===- TestWorld.h - Worlds for tests, and what they should do --*- C++ -*-===//
//
// A program here is a C++ function run by every rank. The expected contents of
// a buffer come from global indices alone, independently of how transfers are
// planned: element i of a tensor is a hash of i, computed anew by each test.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_TEST_TESTWORLD_H
#define SHARDRT_TEST_TESTWORLD_H

#include "DeviceCalls.h"
#include "FakeCuda.h"
#include "TestKernels.h"
#include "shardrt/SiteWords.h"
#include "shardrt/shardrt.h"
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <random>
#include <span>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace shardrt::test {

/// Loads an artifact written by hand: there is no seal behind it.
inline int loadUnsealed(const char *path, shardrt_program **program,
                        char *error, size_t errorSize) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  int status =
      shardrt_program_load_checked(path, file, program, error, errorSize);
  close(file);
  return status;
}

/// A variable of the environment for a while.
class Setting {
public:
  Setting(const char *name, const char *value) : name(name) {
    setenv(name, value, 1);
  }
  ~Setting() { unsetenv(name); }

private:
  const char *name;
};

using RankFunction = std::function<int(shardrt_context *)>;

/// The function travels to shardc_main as the first input of each rank.
inline int callRankFunction(shardrt_context *ctx, void *const *inputs,
                            void *const *) {
  return (*static_cast<RankFunction *>(inputs[0]))(ctx);
}

inline SiteTable makeTable(std::vector<int64_t> mesh, std::vector<Site> sites) {
  static const char *const names[] = {"x", "y", "z", "w"};
  SiteTable table;
  for (size_t i = 0; i < mesh.size(); ++i)
    table.axisNames.push_back(names[i]);
  table.meshShape = std::move(mesh);
  table.sites = std::move(sites);
  return table;
}

/// Where buffers are, and how they go from rank to rank.
enum class Way {
  Host,
  Crew, ///< of all these tests
  Shared,
  Sockets,
  Staged,
  Direct,
  CudaDirect,
  Nccl,
  CudaNccl,
  SharedStaged,
  SocketsNccl,
  SocketsCuda, ///< NCCL, which processes take by themselves
  Mpi
};

/// The job of this process, where mpirun has started several of this test
/// (SHARDRT_TEST_MPI is set); else NULL. Each runs its own rank of worlds that
/// go over MPI, and skips those of another size.
inline shardrt_job *mpiJob() {
  struct Leave {
    void operator()(shardrt_job *job) const { shardrt_job_leave(job); }
  };
  static const std::unique_ptr<shardrt_job, Leave> job([] {
    shardrt_job *made = nullptr;
    char error[512] = "";
    if (getenv("SHARDRT_TEST_MPI"))
      EXPECT_EQ(shardrt_job_join(nullptr, &made, error, sizeof(error)), 0)
          << error;
    return made;
  }());
  return job.get();
}

/// All but threads that share their memory.
inline std::span<const Way> otherWays() {
  static constexpr Way inOneProcess[] = {
      Way::Crew,         Way::Shared,      Way::Sockets,    Way::Staged,
      Way::Direct,       Way::CudaDirect,  Way::Nccl,       Way::CudaNccl,
      Way::SharedStaged, Way::SocketsNccl, Way::SocketsCuda};
  static constexpr Way overMpi[] = {Way::Mpi};
  if (mpiJob())
    return overMpi;
  return inOneProcess;
}

/// Whether a world of `ranks` ranks can go this way.
inline bool canGo(Way way, int64_t ranks) {
  return way != Way::Mpi || ranks == shardrt_job_size(mpiJob());
}

/// Whether this process runs rank `rank`.
inline bool isMine(Way way, int64_t rank) {
  return way != Way::Mpi || rank == shardrt_job_rank(mpiJob());
}

inline const char *nameOf(Way way) {
  const char *const names[] = {"host",
                               "a crew",
                               "shared memory of processes",
                               "sockets",
                               "staged",
                               "direct",
                               "direct on CUDA",
                               "NCCL",
                               "NCCL on CUDA",
                               "staged, shared memory of processes",
                               "NCCL, sockets",
                               "NCCL by itself on CUDA, sockets",
                               "MPI"};
  return names[static_cast<int>(way)];
}

/// Whether each rank is a job's process: here, all the same, a thread, with a
/// world of its own that knows nothing of the others.
inline bool isOfJob(Way way) {
  return way == Way::Shared || way == Way::Sockets ||
         way == Way::SharedStaged || way == Way::SocketsNccl ||
         way == Way::SocketsCuda;
}

inline bool isOfHost(Way way) {
  return way == Way::Host || way == Way::Crew || way == Way::Shared ||
         way == Way::Sockets || way == Way::Mpi;
}

/// Threads for the largest mesh that is tested, which all worlds of this kind
/// share.
inline shardrt_crew *sharedCrew() {
  struct Destroy {
    void operator()(shardrt_crew *crew) const { shardrt_crew_destroy(crew); }
  };
  static const std::unique_ptr<shardrt_crew, Destroy> crew([] {
    shardrt_crew *made = nullptr;
    EXPECT_EQ(shardrt_crew_create(16, nullptr, &made, nullptr, 0), SHARDRT_OK);
    return made;
  }());
  return crew.get();
}

/// A port of this host that nobody listens at, nor is given by the system while
/// the next few are asked for: a socket holds it, which lets others listen.
inline int64_t freePort() {
  static std::deque<int> held;
  int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int yes = 1;
  EXPECT_EQ(setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)), 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto *any = reinterpret_cast<sockaddr *>(&address);
  EXPECT_EQ(bind(made, any, length), 0);
  EXPECT_EQ(getsockname(made, any, &length), 0);
  held.push_back(made);
  if (held.size() > 8) {
    close(held.front());
    held.pop_front();
  }
  return ntohs(address.sin_port);
}

/// The emulated device, or the stand-in for the driver, with the kernels that
/// communication launches; without any on two ways, which go through host
/// memory.
inline std::unique_ptr<DeviceCode> deviceFor(Way way) {
  static const shardrt_emulated_kernel none = nullptr;
  static const fake_kernel image[] = {{nullptr, nullptr}};
  auto code = std::make_unique<DeviceCode>();
  // Each rank has a device of its own, as NCCL wants.
  setenv("SHARDRT_NCCL_LIBRARY", SHARDRT_TEST_FAKE_NCCL, 1);
  if (way == Way::CudaDirect || way == Way::CudaNccl ||
      way == Way::SocketsCuda) {
    setenv("SHARDRT_CUDA_LIBRARY", SHARDRT_TEST_FAKE_CUDA, 1);
    setenv("FAKE_CUDA_MEMORY", "100000000", 1);
    setenv("FAKE_CUDA_DEVICES", way == Way::CudaDirect ? "2" : "16", 1);
    code->image = image;
    code->imageBytes = sizeof(image);
    addCommunicationKernels(*code, /*isEmulated=*/false);
  } else {
    code->functions = &none;
    if (way == Way::Nccl || way == Way::SocketsNccl)
      addCommunicationKernels(*code, /*isEmulated=*/true);
  }
  return code;
}

class TestWorld {
public:
  explicit TestWorld(const SiteTable &table, uint64_t yieldSeed = 0,
                     int64_t timeoutMs = 60'000, int64_t graceMs = 0,
                     bool unchecked = false, Way way = Way::Host,
                     std::unique_ptr<DeviceCode> device = nullptr)
      : ranks(table.numRanks()) {
    EncodedSites encoded = encodeSites(table);
    char error[512] = "";
    int status = shardrt_program_create(
        callRankFunction, encoded.words.data(),
        static_cast<int64_t>(encoded.words.size()), encoded.strings.data(),
        static_cast<int64_t>(encoded.strings.size()), "{}", &program, error,
        sizeof(error));
    EXPECT_EQ(status, SHARDRT_OK) << error;
    if (status != SHARDRT_OK)
      return;
    if (!isOfHost(way))
      const_cast<Program &>(*program->program).device =
          device ? std::move(device) : deviceFor(way);
    shardrt_world_options options = {};
    options.transport =
        way == Way::Staged || way == Way::SharedStaged ? SHARDRT_TRANSPORT_HOST
        : isOfHost(way) || way == Way::SocketsCuda     ? SHARDRT_TRANSPORT_AUTO
        : way == Way::Nccl || way == Way::CudaNccl || way == Way::SocketsNccl
            ? SHARDRT_TRANSPORT_NCCL
            : SHARDRT_TRANSPORT_DIRECT;
    options.wire = way == Way::Sockets || way == Way::SocketsNccl ||
                           way == Way::SocketsCuda
                       ? SHARDRT_WIRE_TCP
                   : way == Way::Mpi ? SHARDRT_WIRE_MPI
                                     : SHARDRT_WIRE_SHARED;
    if (way == Way::Mpi)
      options.job = mpiJob();
    if (way == Way::Crew)
      options.crew = sharedCrew();
    options.size = sizeof(options);
    options.timeout_ms = timeoutMs;
    options.grace_ms = graceMs;
    options.yield_seed = yieldSeed;
    options.unchecked = unchecked;
    if (isOfJob(way)) {
      makeJob(options);
    } else {
      status =
          shardrt_world_create(program, &options, &world, error, sizeof(error));
      EXPECT_EQ(status, SHARDRT_OK) << error;
    }
    unsetenv("FAKE_CUDA_DEVICES");
  }
  ~TestWorld() {
    if (members.empty())
      shardrt_world_destroy(world);
    forEachMember(
        [](Member &member, int64_t) { shardrt_world_destroy(member.world); });
    // Rank 0 keeps what the others ask for.
    for (size_t i = members.size(); i-- > 0;)
      shardrt_job_leave(members[i].job);
    unsetenv("FAKE_CUDA_MEMORY");
    shardrt_program_destroy(program);
  }
  TestWorld(const TestWorld &) = delete;
  TestWorld &operator=(const TestWorld &) = delete;

  /// Of a job, the rank that begins a tenth of a second after the others.
  int64_t lateRank = -1;

  int run(RankFunction function, int64_t repeat = 1, double *ms = nullptr) {
    if (!world)
      return -1;
    current = std::move(function);
    void *input = &current;
    std::vector<void *const *> inputs(ranks, &input);
    if (!members.empty()) {
      std::vector<int> results(ranks, -1);
      forEachMember([&](Member &member, int64_t rank) {
        if (rank == lateRank)
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
        results[rank] = shardrt_world_run_repeated(
            member.world, inputs.data(), inputs.data(), repeat, nullptr);
      });
      // All of them end alike.
      for (int64_t rank = 1; rank < ranks; ++rank)
        EXPECT_EQ(results[rank], results[0]) << error();
      return results[0];
    }
    return shardrt_world_run_repeated(world, inputs.data(), inputs.data(),
                                      repeat, ms);
  }
  std::string error() const {
    return world ? shardrt_world_error(world) : "no world";
  }
  std::string error(int64_t rank) const {
    if (!world)
      return "no world";
    if (!members.empty())
      return shardrt_world_rank_error(members[rank].world, rank);
    return shardrt_world_rank_error(world, rank);
  }
  shardrt_site_stats stats(int64_t site, int64_t rank = -1) const {
    shardrt_site_stats stats = {};
    EXPECT_TRUE(world) << "there is none";
    if (!world)
      return stats;
    EXPECT_EQ(shardrt_world_site_stats(world, rank, site, &stats), SHARDRT_OK);
    for (size_t i = 1; i < members.size(); ++i) {
      shardrt_site_stats more;
      EXPECT_EQ(shardrt_world_site_stats(members[i].world, rank, site, &more),
                SHARDRT_OK);
      stats.count += more.count;
      stats.bytes_received += more.bytes_received;
    }
    return stats;
  }
  /// The world of one process of a job.
  shardrt_world *worldOf(int64_t rank) const { return members[rank].world; }
  /// Calls `body(member, rank)` for all at the same time.
  template <typename Body> void forEachMember(Body body) {
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < members.size(); ++rank)
      threads.emplace_back(
          [&, rank] { body(members[rank], static_cast<int64_t>(rank)); });
    for (std::thread &thread : threads)
      thread.join();
  }
  struct Member {
    shardrt_job *job = nullptr;
    shardrt_world *world = nullptr;
  };

  int64_t ranks;
  shardrt_program *program = nullptr;
  shardrt_world *world = nullptr;

private:
  void makeJob(const shardrt_world_options &given) {
    members.resize(ranks);
    int64_t port = freePort();
    forEachMember([&](Member &member, int64_t rank) {
      char error[1024] = "";
      shardrt_job_options options = {};
      options.size = sizeof(options);
      options.timeout_ms = 20'000;
      options.rank = rank;
      options.ranks = ranks;
      options.port = port;
      options.token = "test";
      EXPECT_EQ(shardrt_job_join(&options, &member.job, error, sizeof(error)),
                SHARDRT_OK)
          << error;
      shardrt_world_options mine = given;
      mine.job = member.job;
      if (member.job)
        EXPECT_EQ(shardrt_world_create(program, &mine, &member.world, error,
                                       sizeof(error)),
                  SHARDRT_OK)
            << error;
    });
    world = members[0].world;
    for (Member &member : members)
      if (!member.world)
        world = nullptr;
  }

  RankFunction current;
  std::vector<Member> members; ///< of a job, by rank; else none
};

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

inline uint64_t hashOf(uint64_t x) {
  x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebu;
  return x ^ (x >> 32);
}

/// Writes the bytes of global element `index` in step `step`.
inline void writeElement(std::byte *at, int64_t bytes, int64_t index,
                         int64_t step) {
  for (int64_t i = 0; i < bytes; ++i)
    at[i] = static_cast<std::byte>(
        hashOf(static_cast<uint64_t>(index * 16 + i) + step * 1'000'003) >> 13);
}

/// Calls `body(indices, position)` for each element of `box`, in the order of a
/// dense row-major buffer.
inline void forEachElement(
    const shardc::Box &box,
    const std::function<void(const std::vector<int64_t> &, int64_t)> &body) {
  std::vector<int64_t> index;
  int64_t count = 1;
  for (shardc::Interval interval : box) {
    index.push_back(interval.begin);
    count *= interval.size();
  }
  for (int64_t position = 0; position < count; ++position) {
    body(index, position);
    for (size_t dim = box.size(); dim-- > 0;) {
      if (++index[dim] < box[dim].end)
        break;
      index[dim] = box[dim].begin;
    }
  }
}

/// The row-major number of a global index, or -1 outside the domain.
inline int64_t linearIndex(const std::vector<int64_t> &index,
                           const std::vector<int64_t> &shape) {
  int64_t linear = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (index[dim] < 0 || index[dim] >= shape[dim])
      return -1;
    linear = linear * shape[dim] + index[dim];
  }
  return linear;
}

inline int64_t volume(const shardc::Box &box) {
  int64_t count = 1;
  for (shardc::Interval interval : box)
    count *= interval.size();
  return count;
}

/// A buffer of exactly `bytes` bytes with bands around it that must not change.
class Guarded {
public:
  explicit Guarded(int64_t bytes) : bytes(bytes), all(bytes + 128) {
    poison(0);
  }
  std::byte *data() { return all.data() + 64; }
  void poison(int seed) {
    std::fill(all.begin(), all.end(), static_cast<std::byte>(0xa5 + seed));
    seal = static_cast<std::byte>(0xa5 + seed);
  }
  bool intact() const {
    for (int64_t i = 0; i < 64; ++i)
      if (all[i] != seal || all[64 + bytes + i] != seal)
        return false;
    return true;
  }
  int64_t bytes;

private:
  std::vector<std::byte> all;
  std::byte seal{};
};

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

using Intervals = std::vector<shardc::Interval>;

inline Intervals cut(const std::vector<int64_t> &sizes) {
  Intervals out;
  int64_t at = 0;
  for (int64_t size : sizes) {
    out.push_back({at, at + size});
    at += size;
  }
  return out;
}

/// The shards with a margin around each that is not empty.
inline Intervals grow(Intervals shards, int64_t low, int64_t high) {
  for (shardc::Interval &shard : shards)
    if (!shard.empty())
      shard = {shard.begin - low, shard.end + high};
  return shards;
}

inline Site exchangeSite(std::string report, std::vector<int64_t> shape,
                         std::vector<shardc::DimExchange> dims,
                         ElementType type = ElementType::F32) {
  Site site;
  site.report = std::move(report);
  site.type = type;
  site.location = "test.py:1:1";
  site.exchange.globalShape = std::move(shape);
  site.exchange.dims = std::move(dims);
  return site;
}

inline Site allReduceSite(ElementType type, Reduction reduction,
                          std::vector<int64_t> axes) {
  Site site;
  site.kind = SiteKind::AllReduce;
  site.report = "all_reduce";
  site.type = type;
  site.reduction = reduction;
  site.groupAxes = std::move(axes);
  return site;
}

/// Random sizes of `shards` shards of `size` elements; some may be empty.
inline std::vector<int64_t> randomSizes(std::mt19937_64 &random, int64_t size,
                                        int64_t shards) {
  std::vector<int64_t> cuts = {0, size};
  for (int64_t i = 1; i < shards; ++i)
    cuts.push_back(static_cast<int64_t>(random() % (size + 1)));
  std::sort(cuts.begin(), cuts.end());
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < shards; ++i)
    sizes.push_back(cuts[i + 1] - cuts[i]);
  return sizes;
}

} // namespace shardrt::test

#endif // SHARDRT_TEST_TESTWORLD_H
