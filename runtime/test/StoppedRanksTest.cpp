//===- StoppedRanksTest.cpp - Ranks that are stopped while they join ------===//

#include "Comm/Bootstrap/Door.h"
#include "Comm/Bootstrap/Job.h"
#include "Comm/Bootstrap/Secret.h"
#include "Comm/Bootstrap/Store.h"
#include "Comm/Wire/Tcp.h"
#include "Host/Absence.h"
#include "Paused.h"
#include "TestLaunch.h"
#include <spawn.h>
#include <vector>

using namespace shardrt;
using namespace shardrt::test;

namespace {

// The time that a rank waits for what others publish is time in which it runs.
TEST(Store, ARankThatWasStoppedWaitsAnew) {
  constexpr int64_t ms = 2'000;
  const int64_t ports[] = {freePort(), freePort()};
  // By the rank that waits: the other answers in this process.
  auto waiter = [&](int64_t rank) {
    return [&ports, rank](PausedProcess &self) {
      std::string error, value;
      auto store = Store::join(launchOf(rank, 2, ports[rank]), 20'000, error);
      self.waits();
      return store && store->get("late", ms, value, error) && value == "here";
    };
  };
  PausedProcess zero(waiter(0)), one(waiter(1));
  std::string error;
  auto ofOne = Store::join(launchOf(0, 2, ports[1]), 20'000, error),
       ofZero = Store::join(launchOf(1, 2, ports[0]), 20'000, error);
  ASSERT_TRUE(ofOne && ofZero) << error;
  zero.stop();
  one.stop();
  std::this_thread::sleep_for(std::chrono::milliseconds(ms + 500));
  zero.goOn();
  one.goOn();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(ofZero->set("late", "here", error)) << error;
  EXPECT_TRUE(ofOne->set("late", "here", error)) << error;
  EXPECT_TRUE(zero.isWell());
  EXPECT_TRUE(one.isWell());
}

/// They were stopped for longer than ranks wait, and have gone on a while.
void pause(std::initializer_list<PausedProcess *> processes, int64_t ms) {
  for (PausedProcess *process : processes)
    process->stop();
  std::this_thread::sleep_for(std::chrono::milliseconds(ms + 500));
  for (PausedProcess *process : processes)
    process->goOn();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

/// In a process of its own: joins as `rank` of two and connects to the other.
bool connects(PausedProcess &self, int64_t rank, int64_t port, int64_t ms) {
  std::string error;
  int status = 0;
  Job job;
  job.launch = launchOf(rank, 2, port);
  job.store = Store::join(job.launch, 20'000, error);
  job.timeoutMs = ms;
  self.waits();
  return job.store && connectTcp(job, "w", status, error);
}

TEST(Store, RanksThatWereStoppedJoinAndConnectAnew) {
  constexpr int64_t ms = 2'000;
  const int64_t joinPort = freePort(), letInPort = freePort(),
                callPort = freePort(), place = freePort();
  PausedProcess joins([&](PausedProcess &self) {
    std::string error;
    self.waits();
    return Store::join(launchOf(1, 2, joinPort), ms, error) != nullptr;
  });
  PausedProcess letsIn(
      [&](PausedProcess &self) { return connects(self, 0, letInPort, ms); });
  PausedProcess calls(
      [&](PausedProcess &self) { return connects(self, 1, callPort, ms); });
  std::string error;
  Job job;
  job.launch = launchOf(1, 2, letInPort);
  job.store = Store::join(job.launch, 20'000, error);
  job.timeoutMs = 20'000;
  ASSERT_TRUE(job.store) << error;
  auto called = Store::join(launchOf(0, 2, callPort), 20'000, error);
  ASSERT_TRUE(called) << error;
  // Who calls is connected, but nobody answers before it is stopped.
  Socket listener = listenerAt(place);
  ASSERT_TRUE(
      called->set("tcp/w@0", "127.0.0.1:" + std::to_string(place), error))
      << error;
  pause({&joins, &letsIn, &calls}, ms);

  std::atomic<bool> isOver = false;
  std::thread late([&] {
    letInLate(std::move(listener), called->secret(),
              {"world w", "job 1", place, 0}, 0, isOver,
              [](Door::Guest &) { return std::string("K"); });
  });
  auto joined = Store::join(launchOf(0, 2, joinPort), 20'000, error);
  EXPECT_TRUE(joined) << error;
  int status = 0;
  EXPECT_TRUE(connectTcp(job, "w", status, error)) << status << ": " << error;
  EXPECT_TRUE(joins.isWell());
  EXPECT_TRUE(letsIn.isWell());
  EXPECT_TRUE(calls.isWell());
  isOver = true;
  late.join();
}

// Of a job that is stopped and continued this process may be the first to run:
// that another one was stopped meanwhile says nothing of it.
TEST(Siblings, OneIsStoppedAsLongAsThisProcessRuns) {
  constexpr int64_t ms = 1'000;
  std::vector<std::string> set = {"RANK=1",
                                  "WORLD_SIZE=2",
                                  "LOCAL_RANK=1",
                                  "MASTER_ADDR=127.0.0.1",
                                  "MASTER_PORT=29500",
                                  "TORCHELASTIC_RUN_ID=siblings"};
  std::vector<char *> variables;
  for (std::string &variable : set)
    variables.push_back(variable.data());
  variables.push_back(nullptr);
  char name[] = "sleep", time[] = "60";
  char *arguments[] = {name, time, nullptr};
  pid_t sibling = -1;
  ASSERT_EQ(posix_spawn(&sibling, "/bin/sleep", nullptr, nullptr, arguments,
                        variables.data()),
            0);
  // Looks for `forMs`; whether it found one stopped.
  auto finds = [&](PausedProcess &self, int64_t forMs) {
    Launch launch;
    Map map;
    for (const std::string &variable : set) {
      size_t at = variable.find('=');
      map[variable.substr(0, at)] = variable.substr(at + 1);
    }
    map["RANK"] = map["LOCAL_RANK"] = "0";
    if (!read(map, launch).empty())
      return true;
    launch.patienceMs = ms;
    Siblings siblings(launch);
    Loss stopped;
    WaitLimit limit(forMs * 1'000'000);
    for (bool isFirst = true; limit.leftNs() > 0; isFirst = false) {
      if (siblings.isOneStopped(stopped))
        return true;
      if (isFirst)
        self.waits();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  };
  kill(sibling, SIGSTOP);
  {
    PausedProcess waiting(
        [&](PausedProcess &self) { return !finds(self, ms / 2); });
    pause({&waiting}, ms);
    kill(sibling, SIGCONT);
    EXPECT_TRUE(waiting.isWell());
  }
  // While it runs it finds the same one.
  kill(sibling, SIGSTOP);
  PausedProcess running(
      [&](PausedProcess &self) { return finds(self, 10 * ms); });
  EXPECT_TRUE(running.isWell());
  kill(sibling, SIGKILL);
  waitpid(sibling, nullptr, 0);
}

} // namespace
