//===- ProcessesTest.cpp - Engines that are members of a job --------------===//
//
// This process makes no engine: it forks others, each of which is a member and
// says what it came to.
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace shardc::test;

namespace {

using Clock = std::chrono::steady_clock;

/// Differences of neighbours, of 20 elements over `x`, four times over: halos
/// that travel beside other work, and sources that are released later.
const std::string kDifferences = R"mlir(
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<20xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<20xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %a0 = stablehlo.pad %x, %zero, low = [1], high = [-1], interior = [0] : (tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
    %a1 = stablehlo.subtract %x, %a0 : tensor<20xf32>
    %b0 = stablehlo.pad %a1, %zero, low = [-1], high = [1], interior = [0] : (tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
    %b1 = stablehlo.add %a1, %b0 : tensor<20xf32>
    %c0 = stablehlo.pad %b1, %zero, low = [2], high = [-2], interior = [0] : (tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
    %c1 = stablehlo.add %b1, %c0 : tensor<20xf32>
    %d0 = stablehlo.pad %c1, %zero, low = [-3], high = [3], interior = [0] : (tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
    %d1 = stablehlo.add %c1, %d0 : tensor<20xf32>
    %sum = stablehlo.reduce(%d1 init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<20xf32>, tensor<f32>) -> tensor<f32>
    %all = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %y = stablehlo.add %d1, %all : tensor<20xf32>
    return %y : tensor<20xf32>
  }
})mlir";

/// The same, here.
std::vector<float> differences() {
  std::vector<float> x(20);
  std::iota(x.begin(), x.end(), 1.0f);
  auto with = [&](int from, float sign) {
    std::vector<float> y = x;
    for (int i = 0; i < 20; ++i)
      if (i + from >= 0 && i + from < 20)
        y[i] += sign * x[i + from];
    x = y;
  };
  with(-1, -1);
  with(1, 1);
  with(-2, 1);
  with(3, 1);
  float sum = std::accumulate(x.begin(), x.end(), 0.0f);
  for (float &value : x)
    value += sum;
  return x;
}

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

/// Words in files of a folder.
class Words {
public:
  Words() {
    char name[] = "/tmp/shardc-words-XXXXXX";
    folder = mkdtemp(name);
    given.size = sizeof(given);
    given.put = [](void *user, const char *name, const char *value) {
      std::string path = static_cast<Words *>(user)->pathOf(name);
      std::ofstream(path + ".new") << value;
      return std::rename((path + ".new").c_str(), path.c_str());
    };
    given.get = [](void *user, const char *name, int64_t timeoutMs, char *value,
                   size_t size) {
      std::string path = static_cast<Words *>(user)->pathOf(name);
      auto end = Clock::now() + std::chrono::milliseconds(timeoutMs);
      while (Clock::now() < end) {
        std::ifstream file(path);
        std::string text;
        if (file && std::getline(file, text)) {
          std::snprintf(value, size, "%s", text.c_str());
          return 0;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      return 1;
    };
    given.user = this;
  }
  ~Words() { std::filesystem::remove_all(folder); }
  std::string pathOf(std::string name) const {
    std::replace(name.begin(), name.end(), '/', '.');
    return folder + "/" + name;
  }
  /// Waits for a word of the test's own.
  std::string wait(const char *name) {
    char text[64] = "";
    given.get(this, name, 20'000, text, sizeof(text));
    return text;
  }
  void say(const char *name) { given.put(this, name, "x"); }
  shardc_key_values given = {};

private:
  std::string folder;
};

/// One process of a job.
struct Member {
  int64_t process, processes;
  Words &words;
  const char *transport;
  EnginePtr engine = nullptr;

  /// "" or why not.
  std::string join(int64_t devices, int64_t lateMs = 20'000) {
    shardc_job_options job = {};
    job.size = sizeof(job);
    job.process = process;
    job.processes = processes;
    job.key_values = &words.given;
    job.timeout_ms = lateMs;
    job.transport = transport;
    shardc_engine_options options = {};
    options.size = sizeof(options);
    options.devices = devices;
    options.threads = 1;
    options.cache_directory = "";
    options.timeout_ms = 20'000;
    options.job = &job;
    shardc_engine *made = nullptr;
    std::string why = textOf(shardc_engine_create(&options, &made));
    engine.reset(made);
    return why;
  }

  ProgramPtr compile(const std::string &text, const char *mesh = nullptr) {
    shardc_option option = {"mesh", mesh};
    shardc_program *made = nullptr;
    EXPECT_GOOD(shardc_compile(engine.get(), text.data(), text.size(),
                               "model.mlir", &option, mesh ? 1 : 0, &made));
    return ProgramPtr(made);
  }

  /// Runs a program of one argument, f32 of one dim, that holds 1, 2, …; gives
  /// "9: -26 -25; 28" for each rank of this process, or what failed.
  std::string run(shardc_program *program,
                  const std::vector<int64_t> &devices = {}) {
    int64_t first,
        count = shardc_engine_num_local_devices(engine.get(), &first);
    int64_t ranks = shardc_program_num_ranks(program),
            results = shardc_program_num_results(program);
    std::vector<BufferPtr> shards;
    std::vector<std::vector<shardc_buffer *>> in(ranks), out(ranks);
    std::vector<shardc_buffer *const *> arguments(ranks, nullptr);
    std::vector<shardc_buffer **> made(ranks, nullptr);
    std::vector<int64_t> mine;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      int64_t device = devices.empty() ? rank : devices[rank], start, size;
      if (device < first || device >= first + count)
        continue;
      mine.push_back(rank);
      EXPECT_GOOD(shardc_program_argument_box(program, 0, rank, &start, &size));
      std::vector<float> values;
      for (int64_t i = start; i < start + size; ++i)
        values.push_back(float(i + 1));
      shards.push_back(put(engine.get(), device, values, {size}));
      in[rank] = {shards.back().get()};
      out[rank].resize(results);
      arguments[rank] = in[rank].data();
      made[rank] = out[rank].data();
    }
    shardc_execute_options options = {};
    options.size = sizeof(options);
    options.devices = devices.empty() ? nullptr : devices.data();
    std::string said = textOf(shardc_execute(
        program, &options, arguments.data(), made.data(), nullptr));
    if (!said.empty())
      return said;
    for (int64_t rank : mine) {
      said += (said.empty() ? "" : " | ") + std::to_string(rank) + ":";
      for (int64_t i = 0; i < results; ++i) {
        BufferPtr owned(out[rank][i]);
        std::vector<float> values(shardc_buffer_bytes(owned.get()) / 4);
        std::string why = textOf(shardc_buffer_to_host(
            owned.get(), values.data(), nullptr, nullptr));
        if (!why.empty())
          return why;
        said += i ? ";" : "";
        for (float value : values) {
          char text[32];
          std::snprintf(text, sizeof(text), " %g", value);
          said += text;
        }
      }
    }
    return said;
  }
};

/// What each process says; "signal 9" of one that was ended so.
std::vector<std::string>
inProcesses(int64_t count, const char *transport,
            const std::function<std::string(Member &)> &body) {
  Words words;
  std::vector<int> ends;
  std::vector<pid_t> children;
  for (int64_t i = 0; i < count; ++i) {
    int ways[2];
    EXPECT_EQ(pipe(ways), 0);
    pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      alarm(60); // Never a hang.
      close(ways[0]);
      std::string said;
      {
        Member member{i, count, words, transport};
        said = body(member);
      }
      if (testing::Test::HasFailure())
        said += " (failed)";
      (void)!write(ways[1], said.data(), said.size());
      close(ways[1]);
      _exit(0);
    }
    close(ways[1]);
    ends.push_back(ways[0]);
    children.push_back(child);
  }
  std::vector<std::string> said(count);
  for (int64_t i = 0; i < count; ++i) {
    char buffer[4096];
    for (ssize_t got; (got = read(ends[i], buffer, sizeof(buffer))) > 0;)
      said[i].append(buffer, got);
    close(ends[i]);
    int status = 0;
    waitpid(children[i], &status, 0);
    if (WIFSIGNALED(status))
      said[i] += "signal " + std::to_string(WTERMSIG(status));
  }
  return said;
}

class Processes : public testing::TestWithParam<const char *> {
protected:
  std::vector<std::string>
  run(int64_t count, const std::function<std::string(Member &)> &body) {
    return inProcesses(count, GetParam(), body);
  }
};

TEST_P(Processes, RunAProgramTogether) {
  auto said = run(2, [](Member &member) {
    if (std::string why = member.join(1); !why.empty())
      return why;
    ProgramPtr program = member.compile(kCentred);
    return member.run(program.get());
  });
  // 28 is the sum of 1 to 7.
  EXPECT_EQ(said[0], "0: -27 -26 -25 -24; 28");
  EXPECT_EQ(said[1], "1: -23 -22 -21; 28");
}

TEST_P(Processes, HaveSeveralDevicesEach) {
  auto said = run(3, [](Member &member) {
    int64_t devices = member.process == 1 ? 2 : 1;
    if (std::string why = member.join(devices); !why.empty())
      return why;
    shardc_engine *engine = member.engine.get();
    int64_t first;
    EXPECT_EQ(shardc_engine_num_local_devices(engine, &first), devices);
    EXPECT_EQ(first, member.process == 0 ? 0 : member.process == 1 ? 1 : 3);
    EXPECT_EQ(shardc_engine_num_devices(engine), 4);
    EXPECT_EQ(shardc_engine_process(engine), member.process);
    EXPECT_EQ(shardc_engine_num_processes(engine), 3);
    for (int64_t device : {0, 1, 2, 3})
      EXPECT_EQ(shardc_engine_device_process(engine, device), device == 0 ? 0
                                                              : device == 3
                                                                  ? 2
                                                                  : 1);
    EXPECT_EQ(shardc_engine_device_process(engine, 4), -1);
    float value = 0;
    shardc_host_data data = hostData(&value, "f32", {});
    shardc_buffer *buffer = nullptr;
    int64_t other = member.process == 2 ? 0 : 3;
    EXPECT_FAILS(shardc_buffer_from_host(engine, other, &data, &buffer),
                 SHARDC_USAGE,
                 "is of process " + std::to_string(other == 3 ? 2 : 0));
    ProgramPtr program = member.compile(kCentred, "x=4");
    std::string ran = member.run(program.get());
    shardc_rank_stats stats = {};
    stats.size = sizeof(stats);
    int64_t elsewhere = member.process == 2 ? 0 : 3;
    EXPECT_FAILS(shardc_program_rank_stats(program.get(), elsewhere, &stats),
                 SHARDC_USAGE,
                 "rank " + std::to_string(elsewhere) +
                     " is one of another process");
    return ran;
  });
  EXPECT_EQ(said[0], "0: -27 -26; 28");
  EXPECT_EQ(said[1], "1: -25 -24; 28 | 2: -23 -22; 28");
  EXPECT_EQ(said[2], "3: -21; 28");
}

TEST_P(Processes, MoveHalos) {
  auto said = run(2, [](Member &member) {
    if (std::string why = member.join(2); !why.empty())
      return why;
    ProgramPtr program = member.compile(kDifferences, "x=4");
    std::string first = member.run(program.get());
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(member.run(program.get()), first);
    return first;
  });
  std::vector<float> expected = differences();
  std::string words[2];
  for (int i = 0; i < 20; ++i) {
    char text[32];
    std::snprintf(text, sizeof(text), " %g", expected[i]);
    int rank = i / 5;
    if (i % 5 == 0)
      words[rank / 2] += (rank % 2 ? " | " : "") + std::to_string(rank) + ":";
    words[rank / 2] += text;
  }
  EXPECT_EQ(said[0], words[0]);
  EXPECT_EQ(said[1], words[1]);
}

TEST_P(Processes, RunManyProgramsInOneOrder) {
  auto said = run(2, [](Member &member) {
    if (std::string why = member.join(2); !why.empty())
      return why;
    ProgramPtr all = member.compile(kCentred, "x=4"),
               other = member.compile(
                   replaced(kCentred, "stablehlo.subtract", "stablehlo.add"),
                   "x=4"),
               own = member.compile(kCentred, "x=2");
    int64_t first;
    shardc_engine_num_local_devices(member.engine.get(), &first);
    std::string last;
    for (int i = 0; i < 50; ++i) {
      if (i % 3 == member.process)
        EXPECT_EQ(member.run(own.get(), {first + 1, first}),
                  "0: -27 -26 -25 -24; 28 | 1: -23 -22 -21; 28");
      last = member.run(i % 2 ? all.get() : other.get());
    }
    return last;
  });
  EXPECT_EQ(said[0], "0: -27 -26; 28 | 1: -25 -24; 28");
  EXPECT_EQ(said[1], "2: -23 -22; 28 | 3: -21; 28");
}

TEST_P(Processes, UseSomeOfTheDevicesInAnyOrder) {
  auto said = run(3, [](Member &member) {
    if (std::string why = member.join(1); !why.empty())
      return why;
    ProgramPtr program = member.compile(kCentred), three;
    std::string text;
    if (member.process != 1)
      text = member.run(program.get(), {2, 0});
    else
      EXPECT_FAILS(
          [&]() -> shardc_error * {
            std::string why = member.run(program.get(), {2, 0});
            return shardc_error_create(SHARDC_USAGE, why.c_str());
          }(),
          SHARDC_USAGE, "none of the devices");
    three = member.compile(kCentred, "x=3");
    return text + " / " + member.run(three.get(), {1, 2, 0});
  });
  EXPECT_EQ(said[0], "1: -23 -22 -21; 28 / 2: -22 -21; 28");
  EXPECT_EQ(said[1], " / 0: -27 -26 -25; 28");
  EXPECT_EQ(said[2], "0: -27 -26 -25 -24; 28 / 1: -24 -23; 28");
}

TEST_P(Processes, ThatRunDifferentProgramsAreNamed) {
  auto said = run(2, [](Member &member) {
    if (std::string why = member.join(1); !why.empty())
      return why;
    ProgramPtr program = member.compile(
        member.process == 0 ? kCentred
                            : replaced(kCentred, "dense<0.0>", "dense<1.0>"));
    std::string first = member.run(program.get());
    // What is of one process goes on; the job does not.
    ProgramPtr own = member.compile(kCentred, "x=1");
    EXPECT_EQ(member.run(own.get(), {member.process}),
              "0: -27 -26 -25 -24 -23 -22 -21; 28");
    return first + " THEN " + member.run(program.get());
  });
  for (const std::string &text : said) {
    EXPECT_EQ(text.substr(0, 2), "6:") << text;
    EXPECT_NE(text.find("rank 0"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 1"), std::string::npos) << text;
    EXPECT_NE(text.find("another program"), std::string::npos) << text;
    EXPECT_NE(text.find("THEN 4: an earlier run of this job failed"),
              std::string::npos)
        << text;
  }
}

TEST_P(Processes, ThatAreEndedAreNamed) {
  auto said = run(3, [](Member &member) {
    if (std::string why = member.join(1); !why.empty())
      return why;
    ProgramPtr program = member.compile(kCentred, "x=3");
    EXPECT_EQ(member.run(program.get()).substr(0, 2),
              std::to_string(member.process) + ":");
    if (member.process == 1)
      raise(SIGKILL);
    auto start = Clock::now();
    std::string why = member.run(program.get());
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
    return why;
  });
  EXPECT_EQ(said[1], "signal 9");
  for (int i : {0, 2}) {
    EXPECT_EQ(said[i].substr(0, 2), "4:") << said[i];
    EXPECT_NE(said[i].find("rank 1"), std::string::npos) << said[i];
    EXPECT_NE(said[i].find("is gone"), std::string::npos) << said[i];
  }
}

TEST_P(Processes, ThatLeaveAreNamed) {
  auto said = run(2, [](Member &member) {
    if (std::string why = member.join(1); !why.empty())
      return why;
    ProgramPtr program = member.compile(kCentred);
    EXPECT_EQ(member.run(program.get()).substr(0, 2),
              std::to_string(member.process) + ":");
    if (member.process == 1)
      return std::string("bye");
    auto start = Clock::now();
    std::string why = member.run(program.get());
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
    return why;
  });
  EXPECT_EQ(said[1], "bye");
  EXPECT_EQ(said[0].substr(0, 2), "4:") << said[0];
  EXPECT_NE(said[0].find("rank 1"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("has left the job"), std::string::npos) << said[0];
}

INSTANTIATE_TEST_SUITE_P(Over, Processes, testing::Values("shared", "tcp"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST(Member, WhoNeverComesIsNamed) {
  auto said = inProcesses(2, nullptr, [](Member &member) {
    return member.process == 0 ? member.join(1, 300) : std::string();
  });
  EXPECT_EQ(said[0].substr(0, 2), "4:") << said[0];
  EXPECT_NE(said[0].find("process 1 has not come"), std::string::npos)
      << said[0];
}

TEST(Member, RefusesWhatMakesNoSense) {
  shardc_engine *engine = nullptr;
  shardc_engine_options options = {};
  shardc_job_options job = {};
  options.size = sizeof(options);
  options.job = &job;
  EXPECT_FAILS(shardc_engine_create(&options, &engine), SHARDC_USAGE, "size");
  job.size = sizeof(job);
  job.processes = 2;
  job.process = 2;
  EXPECT_FAILS(shardc_engine_create(&options, &engine), SHARDC_USAGE,
               "process 2 of 2; expected 0 to 1");
  job.processes = 0;
  job.process = -1;
  EXPECT_FAILS(shardc_engine_create(&options, &engine), SHARDC_USAGE,
               "process -1 of 0; expected 0, without a job");
  job.processes = -1;
  EXPECT_FAILS(shardc_engine_create(&options, &engine), SHARDC_USAGE,
               "a job of -1 processes; expected at least 0, which is none");
  job.processes = 2;
  job.process = 1;
  EXPECT_FAILS(shardc_engine_create(&options, &engine), SHARDC_USAGE, "port");
  job.port = 1234;
  job.transport = "pigeons";
  EXPECT_FAILS(shardc_engine_create(&options, &engine), SHARDC_USAGE,
               "transport 'pigeons'; expected shared or tcp");
  job.transport = nullptr;
  shardc_key_values words = {};
  words.size = sizeof(words);
  words.put = [](void *, const char *, const char *) { return 0; };
  words.get = [](void *, const char *, int64_t, char *, size_t) { return 0; };
  job.key_values = &words;
  job.processes = job.process = 0;
  EXPECT_FAILS(shardc_engine_create(&options, &engine), SHARDC_USAGE,
               "key_values without a number of processes");
  job.key_values = nullptr;
  job.processes = 2;
  job.process = 1;
  options.target = "cuda";
  EXPECT_FAILS(shardc_engine_create(&options, &engine), SHARDC_UNSUPPORTED,
               "devices of several processes have the target cpu, not cuda");
  EXPECT_EQ(engine, nullptr);
}

} // namespace
