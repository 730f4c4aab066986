//===- BootstrapTest.cpp - Launchers' variables, and the store ------------===//

#include "Comm/Bootstrap/Store.h"
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <map>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace shardrt;

namespace {
using Map = std::map<std::string, std::string>;

std::string read(const Map &map, Launch &launch) {
  return readLaunch(
      [&](const char *name) -> const char * {
        auto found = map.find(name);
        return found == map.end() ? nullptr : found->second.c_str();
      },
      launch);
}

TEST(Launch, WithoutALauncherThereIsOneProcess) {
  Launch launch;
  EXPECT_EQ(read({{"MASTER_PORT", "1"}}, launch), "");
  EXPECT_EQ(launch.size, 1);
  EXPECT_EQ(launch.launcher, "");
}

TEST(Launch, Torchrun) {
  Launch launch;
  EXPECT_EQ(read({{"RANK", "5"},
                  {"WORLD_SIZE", "8"},
                  {"LOCAL_RANK", "1"},
                  {"MASTER_ADDR", "n1"},
                  {"MASTER_PORT", "29500"},
                  {"TORCHELASTIC_RUN_ID", "abc"},
                  // Under srun: torchrun's own count.
                  {"SLURM_PROCID", "1"},
                  {"SLURM_NTASKS", "2"}},
                 launch),
            "");
  EXPECT_EQ(launch.launcher, "torchrun");
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.size, 8);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.host, "n1");
  EXPECT_EQ(launch.port, 29500);
  EXPECT_EQ(launch.token, "abc");
}

TEST(Launch, TorchrunThatListensItself) {
  Launch launch, again;
  Map variables = {{"RANK", "0"},
                   {"WORLD_SIZE", "2"},
                   {"MASTER_ADDR", "localhost"},
                   {"MASTER_PORT", "29500"},
                   {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                   {"TORCHELASTIC_RESTART_COUNT", "0"},
                   {"TORCHELASTIC_RUN_ID", "abc"}};
  EXPECT_EQ(read(variables, launch), "");
  EXPECT_NE(launch.port, 29500);
  EXPECT_GE(launch.port, 20000);
  variables["RANK"] = "1";
  EXPECT_EQ(read(variables, again), "");
  EXPECT_EQ(again.port, launch.port);
  // Started anew, perhaps while the port is not free yet.
  variables["TORCHELASTIC_RESTART_COUNT"] = "1";
  EXPECT_EQ(read(variables, again), "");
  EXPECT_NE(again.port, launch.port);
}

TEST(Launch, MpirunOnOneHost) {
  Launch open, hydra, other;
  Map variables = {{"OMPI_COMM_WORLD_RANK", "3"},
                   {"OMPI_COMM_WORLD_SIZE", "4"},
                   {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                   {"PMIX_NAMESPACE", "job1"}};
  EXPECT_EQ(read(variables, open), "");
  EXPECT_EQ(open.rank, 3);
  EXPECT_EQ(open.localRank, 3);
  EXPECT_EQ(open.host, "127.0.0.1");
  EXPECT_EQ(open.token, "job1");
  EXPECT_GE(open.port, 20000);
  // Another job has another port, as a rule.
  variables["PMIX_NAMESPACE"] = "job2";
  EXPECT_EQ(read(variables, other), "");
  EXPECT_NE(open.port, other.port);

  EXPECT_EQ(read({{"PMI_RANK", "1"},
                  {"PMI_SIZE", "2"},
                  {"MPI_LOCALRANKID", "0"},
                  {"MPI_LOCALNRANKS", "1"},
                  {"SHARDRT_JOB_TOKEN", "mine"},
                  {"PMI_JOBID", "theirs"},
                  {"MASTER_ADDR", "head"}},
                 hydra),
            "");
  EXPECT_EQ(hydra.rank, 1);
  EXPECT_EQ(hydra.localRank, 0);
  EXPECT_EQ(hydra.host, "head");
  EXPECT_EQ(hydra.token, "mine");
}

TEST(Launch, Srun) {
  Launch launch;
  EXPECT_EQ(read({{"SLURM_PROCID", "9"},
                  {"SLURM_NTASKS", "16"},
                  {"SLURM_LOCALID", "1"},
                  {"SLURM_STEP_NODELIST", "gpu[07-08,11],login"},
                  {"SLURM_JOB_ID", "4711"},
                  {"SLURM_STEP_ID", "2"}},
                 launch),
            "");
  EXPECT_EQ(launch.rank, 9);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.host, "gpu07");
  EXPECT_EQ(launch.token, "4711.2");
}

TEST(Launch, AScriptOfABatchJobIsNoTask) {
  Launch launch;
  EXPECT_EQ(read({{"SLURM_PROCID", "0"},
                  {"SLURM_NTASKS", "16"},
                  {"SLURM_JOB_ID", "4711"}},
                 launch),
            "");
  EXPECT_EQ(launch.launcher, "");
  EXPECT_EQ(launch.size, 1);
}

TEST(Launch, FirstOfAListOfHosts) {
  EXPECT_EQ(firstHost("a"), "a");
  EXPECT_EQ(firstHost("a,b"), "a");
  EXPECT_EQ(firstHost("a,n[1-2]"), "a");
  EXPECT_EQ(firstHost("n[1-2],a"), "n1");
  EXPECT_EQ(firstHost("n[03,05-09]"), "n03");
  EXPECT_EQ(firstHost("n[1-4]-ib"), "n1-ib");
  EXPECT_EQ(firstHost("n[1"), "");
  EXPECT_EQ(firstHost(""), "");
}

TEST(Launch, WhatIsMissingOrMakesNoSenseIsSaid) {
  Launch launch;
  EXPECT_EQ(read({{"RANK", "0"}}, launch),
            "RANK is set, but WORLD_SIZE is not");
  EXPECT_EQ(read({{"RANK", "4"}, {"WORLD_SIZE", "4"}}, launch),
            "RANK=4: expected a number from 0 to 3");
  EXPECT_EQ(read({{"RANK", "0"}, {"WORLD_SIZE", "two"}}, launch),
            "WORLD_SIZE=two: expected a number from 1 to 65536");
  EXPECT_EQ(read({{"RANK", "0"},
                  {"WORLD_SIZE", "2"},
                  {"MASTER_ADDR", "a"},
                  {"MASTER_PORT", "99999"}},
                 launch),
            "MASTER_PORT=99999: expected a number from 1 to 65535");
  EXPECT_EQ(
      read({{"OMPI_COMM_WORLD_RANK", "0"},
            {"OMPI_COMM_WORLD_SIZE", "4"},
            {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
            {"PMIX_NAMESPACE", "x"}},
           launch),
      "mpirun does not say where rank 0 is: set MASTER_ADDR to its host's "
      "name, the same for all ranks");
  EXPECT_EQ(
      read({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"},
            {"MASTER_ADDR", "head"}},
           launch),
      "mpirun does not say which job this is: set SHARDRT_JOB_TOKEN, or "
      "MASTER_PORT, the same for all ranks");
}

//===----------------------------------------------------------------------===//
// The store
//===----------------------------------------------------------------------===//

/// A port that nobody uses now.
int64_t freePort() {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(fd, reinterpret_cast<sockaddr *>(&address), size);
  getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

Launch launchOf(int64_t rank, int64_t size, int64_t port) {
  Launch launch;
  launch.launcher = "test";
  launch.rank = rank;
  launch.size = size;
  launch.host = "127.0.0.1";
  launch.port = port;
  launch.token = "job 1";
  return launch;
}

TEST(Store, RanksTellOneAnother) {
  constexpr int64_t size = 6;
  int64_t port = freePort();
  std::vector<std::string> said(size);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      std::string error;
      // The last comes first: nobody listens yet.
      std::this_thread::sleep_for(std::chrono::milliseconds(5 * (size - rank)));
      auto store = Store::join(launchOf(rank, size, port), 10'000, error);
      ASSERT_TRUE(store) << error;
      // Two of them tell something, all ask; the value may hold anything.
      std::string value = std::string("a\0b", 3) + std::string(100'000, 'x');
      if (rank == 0 || rank == 3) {
        ASSERT_TRUE(store->set("id" + std::to_string(rank),
                               value + std::to_string(rank), error))
            << error;
      }
      for (int64_t from : {0, 3}) {
        std::string got;
        ASSERT_TRUE(store->get("id" + std::to_string(from), 10'000, got, error))
            << error;
        EXPECT_EQ(got, value + std::to_string(from));
      }
      ASSERT_TRUE(store->meet("end", 10'000, error)) << error;
      said[rank] = "done";
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(said, std::vector<std::string>(size, "done"));
}

TEST(Store, WhoIsMissingIsNamed) {
  int64_t port = freePort();
  std::string error, value;
  EXPECT_FALSE(Store::join(launchOf(1, 3, port), 100, error));
  EXPECT_EQ(error, "rank 1 waited 100 ms for rank 0 to listen at 127.0.0.1:" +
                       std::to_string(port) + ": Connection refused");
  auto zero = Store::join(launchOf(0, 3, port), 1000, error);
  auto one = Store::join(launchOf(1, 3, port), 1000, error);
  ASSERT_TRUE(zero && one) << error;
  std::thread other([&] {
    std::string mine;
    EXPECT_FALSE(zero->meet("begin", 200, mine));
    EXPECT_EQ(mine, "rank 0 waited 200 ms for rank 2 to come to 'begin'");
  });
  EXPECT_FALSE(one->meet("begin", 200, error));
  EXPECT_EQ(error, "rank 1 waited 200 ms for rank 2 to come to 'begin'");
  other.join();
  EXPECT_FALSE(one->get("nothing", 50, value, error));
  EXPECT_EQ(error, "rank 1 waited 50 ms for 'nothing'");
  // What it waited for in vain does not answer its next question.
  EXPECT_TRUE(zero->set("nothing", "late", error));
  EXPECT_TRUE(zero->set("other", "value", error));
  EXPECT_TRUE(one->get("other", 1000, value, error)) << error;
  EXPECT_EQ(value, "value");
  zero.reset();
  EXPECT_FALSE(one->get("nothing", 1000, value, error));
  EXPECT_EQ(error, "rank 1: the process of rank 0 at 127.0.0.1:" +
                       std::to_string(port) + " is gone");
}

TEST(Store, StrangersAreRefusedAndDisturbNobody) {
  int64_t port = freePort();
  std::string error, at = " cannot join at 127.0.0.1:" + std::to_string(port);
  auto zero = Store::join(launchOf(0, 2, port), 1000, error);
  ASSERT_TRUE(zero) << error;
  Launch stale = launchOf(1, 2, port);
  stale.token = "job 0";
  EXPECT_FALSE(Store::join(stale, 1000, error));
  EXPECT_EQ(error, "rank 1" + at + ": this is job 'job 1', not 'job 0'");
  EXPECT_FALSE(Store::join(launchOf(1, 3, port), 1000, error));
  EXPECT_EQ(error, "rank 1" + at + ": this job has 2 ranks, not 3");
  // Somebody who speaks another language.
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(
      connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
  std::string http = "GET / HTTP/1.1\r\n\r\n";
  EXPECT_EQ(send(fd, http.data(), http.size(), 0),
            static_cast<ssize_t>(http.size()));
  auto one = Store::join(launchOf(1, 2, port), 1000, error);
  ASSERT_TRUE(one) << error;
  char byte;
  EXPECT_LE(recv(fd, &byte, 1, 0), 0);
  close(fd);
  EXPECT_FALSE(Store::join(launchOf(1, 2, port), 1000, error));
  EXPECT_EQ(error, "rank 1" + at + ": rank 1 has joined already");
  EXPECT_FALSE(Store::join(launchOf(0, 2, port), 1000, error));
  EXPECT_EQ(error, "rank 0 cannot listen at port " + std::to_string(port) +
                       ": Address already in use; another job may use it: set "
                       "MASTER_PORT to another one");
}

TEST(Store, AValueIsSetOnce) {
  int64_t port = freePort();
  std::string error, value;
  auto zero = Store::join(launchOf(0, 2, port), 1000, error);
  auto one = Store::join(launchOf(1, 2, port), 1000, error);
  ASSERT_TRUE(zero && one) << error;
  EXPECT_TRUE(one->set("x", "1", error)) << error;
  EXPECT_TRUE(zero->set("x", "1", error)) << error;
  for (Store *store : {zero.get(), one.get()}) {
    EXPECT_FALSE(store->set("x", "2", error));
    EXPECT_EQ(error, "'x' is set already, to something else");
    EXPECT_FALSE(
        store->set("big", std::string(Store::maxBytes + 1, ' '), error));
    EXPECT_EQ(error, "the value of 'big' has more than 1048576 bytes");
  }
  EXPECT_TRUE(one->get("x", 1000, value, error));
  EXPECT_EQ(value, "1");
}
} // namespace
