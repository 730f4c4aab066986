//===- BootstrapTest.cpp - Launchers' variables, and the store ------------===//

#include "Comm/Bootstrap/Door.h"
#include "Comm/Bootstrap/Handshake.h"
#include "Comm/Bootstrap/Job.h"
#include "Comm/Bootstrap/Secret.h"
#include "Comm/Bootstrap/Store.h"
#include "Comm/Wire/Tcp.h"
#include "Host/Absence.h"
#include "Paused.h"
#include "ThreeSites.h"
#include <arpa/inet.h>
#include <array>
#include <fcntl.h>
#include <map>
#include <spawn.h>
#include <sys/stat.h>
#include <vector>

using namespace shardrt;
using namespace shardrt::test;

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
  EXPECT_EQ(read({{"PMI_RANK", "0"},
                  {"PMI_SIZE", "4"},
                  {"MPI_LOCALNRANKS", "2"},
                  {"MASTER_ADDR", "head"}},
                 launch),
            "mpirun does not say which job this is: set SHARDRT_JOB_TOKEN, or "
            "MASTER_PORT, the same for all ranks");
}

//===----------------------------------------------------------------------===//
// The store
//===----------------------------------------------------------------------===//

Launch launchOf(int64_t rank, int64_t size, int64_t port) {
  Launch launch;
  launch.launcher = "test";
  launch.rank = rank;
  launch.size = size;
  launch.host = "127.0.0.1";
  launch.port = port;
  launch.token = "job 1";
  launch.secret = shardc::crypto::sha256(shardc::crypto::bytesOf("a secret"));
  return launch;
}

/// A connection to a port of this host; -1 if nobody listens.
int connectRaw(int64_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0)
    return fd;
  close(fd);
  return -1;
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
      // Two of them publish something, all ask; the value may hold anything.
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
      ASSERT_TRUE(store->barrier("end", 10'000, error)) << error;
      said[rank] = "done";
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(said, std::vector<std::string>(size, "done"));
}

/// Lets both wait in vain at a barrier. Returns whether each had come by three
/// quarters of the other's time.
bool waitTogether(std::array<Store *, 2> stores, const std::string &name,
                  int64_t ms, std::string (&errors)[2]) {
  std::chrono::steady_clock::time_point came[2];
  double took[2];
  auto wait = [&](int i) {
    came[i] = std::chrono::steady_clock::now();
    EXPECT_FALSE(stores[i]->barrier(name, ms, errors[i]));
    took[i] = millisecondsSince(came[i]);
  };
  std::thread other([&] { wait(0); });
  wait(1);
  other.join();
  // What one takes longer it may have taken before it began to wait.
  return std::abs((came[1] - came[0]) / std::chrono::milliseconds(1)) <
             ms / 2 &&
         std::max(took[0], took[1]) < 1.25 * static_cast<double>(ms);
}

TEST(Store, WhoIsMissingIsNamed) {
  int64_t port = freePort();
  std::string error, value;
  EXPECT_FALSE(Store::join(launchOf(1, 3, port), 100, error));
  EXPECT_EQ(error, "rank 1 waited 100 ms for rank 0 to listen at 127.0.0.1:" +
                       std::to_string(port) + ": Connection refused");
  auto zero = Store::join(launchOf(0, 3, port), 20'000, error);
  auto one = Store::join(launchOf(1, 3, port), 20'000, error);
  ASSERT_TRUE(zero && one) << error;
  whereTheMachineKeepsUp(200, [&](int64_t ms) {
    std::string name = "begin" + std::to_string(ms), errors[2];
    bool wereThere = waitTogether({zero.get(), one.get()}, name, ms, errors);
    for (int64_t rank : {0, 1})
      if (wereThere)
        EXPECT_EQ(errors[rank], "rank " + std::to_string(rank) + " waited " +
                                    std::to_string(ms) +
                                    " ms for rank 2 to come to '" + name + "'");
    return wereThere;
  });
  EXPECT_FALSE(one->get("nothing", 50, value, error));
  EXPECT_EQ(error, "rank 1 waited 50 ms for 'nothing'");
  // What it waited for in vain does not answer its next question.
  EXPECT_TRUE(zero->set("nothing", "late", error));
  EXPECT_TRUE(zero->set("other", "value", error));
  EXPECT_TRUE(one->get("other", 20'000, value, error)) << error;
  EXPECT_EQ(value, "value");
  zero.reset();
  EXPECT_FALSE(one->get("nothing", 20'000, value, error));
  EXPECT_EQ(error, "rank 1: the process of rank 0 at 127.0.0.1:" +
                       std::to_string(port) + " is gone");
}

TEST(Store, StrangersAreRefusedAndDisturbNobody) {
  int64_t port = freePort();
  std::string error, at = " cannot join at 127.0.0.1:" + std::to_string(port);
  auto zero = Store::join(launchOf(0, 3, port), 20'000, error);
  ASSERT_TRUE(zero) << error;
  // Of another job, or with another secret: who listens cannot prove itself.
  Launch stale = launchOf(1, 3, port), thief = launchOf(1, 3, port);
  stale.token = "job 0";
  (*thief.secret)[31] ^= 1;
  for (const Launch &launch : {stale, thief}) {
    EXPECT_FALSE(Store::join(launch, 20'000, error));
    EXPECT_EQ(error, "rank 1" + at +
                         ": who listens there is not of this job: it does not "
                         "hold the job's secret");
  }
  // Of this job, but started differently: told why.
  EXPECT_FALSE(Store::join(launchOf(1, 4, port), 20'000, error));
  EXPECT_EQ(error, "rank 1" + at + ": this job has 3 ranks, not 4");
  Launch sealed = launchOf(1, 3, port);
  sealed.encrypts = true;
  EXPECT_FALSE(Store::join(sealed, 20'000, error));
  EXPECT_EQ(error, "rank 1" + at +
                       ": rank 1 was started with --encrypt, rank 0 without: "
                       "start all ranks with the same options");
  // Somebody who speaks another language.
  int fd = connectRaw(port);
  ASSERT_GE(fd, 0);
  std::string http = "GET / HTTP/1.1\r\n\r\n";
  EXPECT_EQ(send(fd, http.data(), http.size(), 0),
            static_cast<ssize_t>(http.size()));
  auto one = Store::join(launchOf(1, 3, port), 20'000, error);
  ASSERT_TRUE(one) << error;
  char byte;
  EXPECT_LE(recv(fd, &byte, 1, 0), 0);
  close(fd);
  EXPECT_FALSE(Store::join(launchOf(1, 3, port), 20'000, error));
  EXPECT_EQ(error, "rank 1" + at + ": rank 1 has joined already");
  EXPECT_FALSE(Store::join(launchOf(0, 3, port), 20'000, error));
  EXPECT_EQ(error, "rank 0 cannot listen at 127.0.0.1:" + std::to_string(port) +
                       ": Address already in use; another job may use it: set "
                       "MASTER_PORT to another one");
}

TEST(Store, NobodyListensOnceAllHaveJoined) {
  int64_t port = freePort();
  std::string error, value;
  auto zero = Store::join(launchOf(0, 2, port), 20'000, error);
  ASSERT_TRUE(zero) << error;
  int waiting = connectRaw(port);
  EXPECT_GE(waiting, 0);
  auto one = Store::join(launchOf(1, 2, port), 20'000, error);
  ASSERT_TRUE(one) << error;
  // Closed soon after, and with it who had connected and said nothing.
  int again = -1;
  for (int i = 0; i < 2000 && (again = connectRaw(port)) >= 0; ++i) {
    close(again);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(again, -1);
  char byte;
  EXPECT_LE(recv(waiting, &byte, 1, 0), 0);
  close(waiting);
  // Those who are in go on.
  EXPECT_TRUE(zero->set("later", "1", error));
  EXPECT_TRUE(one->get("later", 5000, value, error)) << error;
}

TEST(Store, ListensAtTheAddressThatIsNamedAndNoOther) {
  std::string error;
  Launch launch = launchOf(0, 2, freePort());
  launch.host = "127.0.0.3";
  auto zero = Store::join(launch, 20'000, error);
  ASSERT_TRUE(zero) << error;
  EXPECT_EQ(zero->address(), "127.0.0.3");
  EXPECT_EQ(connectRaw(launch.port), -1) << "listens at 127.0.0.1 as well";
  launch.rank = 1;
  EXPECT_TRUE(Store::join(launch, 20'000, error)) << error;
  // Not an address of this host (a block for documents), and all at once.
  for (auto [host, why] : std::map<std::string, std::string>{
           {"192.0.2.1", "192.0.2.1 is no address of this host"},
           {"0.0.0.0", "0.0.0.0 is every network of this host; name one of its "
                       "addresses"}}) {
    Launch wrong = launchOf(0, 2, freePort());
    wrong.host = host;
    EXPECT_FALSE(Store::join(wrong, 20'000, error));
    EXPECT_EQ(error, "rank 0 cannot listen at " + host + ":" +
                         std::to_string(wrong.port) + ": " + why);
  }
}

TEST(Store, ANameWithAnOwnerIsItsOwnersToSet) {
  EXPECT_EQ(ownerOf("place/0@3"), 3);
  EXPECT_EQ(ownerOf("shared/program/0@0/12"), 0);
  EXPECT_EQ(ownerOf("place/0/3"), -1);
  EXPECT_EQ(ownerOf("a@b"), -1);
  EXPECT_EQ(ownerOf("a@-1"), -1);
  int64_t port = freePort();
  std::string error, value;
  auto zero = Store::join(launchOf(0, 3, port), 20'000, error);
  auto one = Store::join(launchOf(1, 3, port), 20'000, error);
  ASSERT_TRUE(zero && one) << error;
  EXPECT_FALSE(one->set("shared/program@0/1", "evil", error));
  EXPECT_EQ(error, "'shared/program@0/1' is not for rank 1 to set");
  EXPECT_FALSE(one->set("end@2", "here", error));
  EXPECT_FALSE(one->set("end@*", "here", error));
  EXPECT_FALSE(zero->set("place@1", "x", error));
  EXPECT_EQ(error, "'place@1' is not for rank 0 to set");
  EXPECT_TRUE(zero->set("shared/program@0/1", "good", error)) << error;
  EXPECT_TRUE(one->get("shared/program@0/1", 20'000, value, error)) << error;
  EXPECT_EQ(value, "good");
}

// Sixty-five of them at a time, some thousands in all, that say nothing or
// greet as if they were rank 1, from before it comes until it has joined.
TEST(Store, ARankComesInThroughAFlood) {
  int64_t port = freePort();
  std::string error;
  auto zero = Store::join(launchOf(0, 2, port), 10'000, error);
  ASSERT_TRUE(zero) << error;
  std::atomic<bool> isOver = false;
  std::atomic<int> came = 0;
  std::thread flood([&] {
    std::vector<int> open;
    Handshake fake(shardc::crypto::randomKey(), {"store", "job 1", port, 0});
    std::string greeting = fake.greet({1, 2, 0});
    while (!isOver) {
      int fd = connectRaw(port);
      if (fd < 0) {
        isOver = true;
        break;
      }
      if (++came % 2)
        (void)!send(fd, greeting.data(), greeting.size(), MSG_NOSIGNAL);
      open.push_back(fd);
      if (open.size() > 100) {
        for (int i = 0; i < 30; ++i)
          close(open[i]);
        open.erase(open.begin(), open.begin() + 30);
      }
    }
    for (int fd : open)
      close(fd);
  });
  while (came < 500 && !isOver)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  auto one = Store::join(launchOf(1, 2, port), 20'000, error);
  isOver = true;
  flood.join();
  EXPECT_GE(came.load(), 500) << "connections fail";
  EXPECT_TRUE(one) << error;
}

Socket listenerAt(int64_t port) {
  std::string address, why;
  int64_t actual = 0;
  Socket listener = listenAt("127.0.0.1", port, address, actual, why);
  EXPECT_GE(listener.get(), 0) << why;
  fcntl(listener.get(), F_SETFL, O_NONBLOCK);
  return listener;
}

/// A process that gets no core for `ms` after somebody has proven to be of the
/// job: it lets that one in then, with what `welcome` makes of it, and nobody a
/// second time. Returns how many came before `isOver`.
int letInLate(Socket listener, const shardc::crypto::Key &secret,
              const Link &link, int64_t ms, const std::atomic<bool> &isOver,
              const std::function<std::string(Door::Guest &)> &welcome) {
  Door door(std::move(listener), secret, link);
  std::vector<Door::Guest> guests;
  while (!isOver) {
    for (Door::Guest &guest : door.look()) {
      guests.push_back(std::move(guest));
      if (guests.size() > 1)
        continue;
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
      std::string word = welcome(guests[0]);
      (void)!send(guests[0].socket.get(), word.data(), word.size(),
                  MSG_NOSIGNAL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return static_cast<int>(guests.size());
}

TEST(Store, WhoHasProvenItselfWaitsToBeLetIn) {
  int64_t port = freePort();
  Launch launch = launchOf(1, 2, port);
  std::atomic<bool> isOver = false;
  int came = 0;
  Socket listener = listenerAt(port);
  std::thread late([&] {
    came = letInLate(std::move(listener), *launch.secret,
                     {"store", "job 1", port, 0}, 1300, isOver,
                     [](Door::Guest &guest) {
                       std::string verdict("\0\0\0\0K", 5);
                       return SealedStream(guest.keys).seal(verdict);
                     });
  });
  std::string error;
  EXPECT_TRUE(Store::join(launch, 20'000, error)) << error;
  isOver = true;
  late.join();
  EXPECT_EQ(came, 1);
}

TEST(Store, WhoHasProvenItselfWaitsForAnotherRankToLetItIn) {
  int64_t port = freePort(), place = freePort();
  std::string error;
  auto zero = Store::join(launchOf(0, 2, port), 20'000, error);
  Job job;
  job.launch = launchOf(1, 2, port);
  job.store = Store::join(job.launch, 20'000, error);
  ASSERT_TRUE(zero && job.store) << error;
  job.timeoutMs = 20'000;
  ASSERT_TRUE(zero->set("tcp/w@0", "127.0.0.1:" + std::to_string(place), error))
      << error;
  std::atomic<bool> isOver = false;
  int came = 0;
  Socket listener = listenerAt(place);
  std::thread late([&] {
    came = letInLate(std::move(listener), zero->secret(),
                     {"world w", "job 1", place, 0}, Door::strangerMs + 300,
                     isOver, [](Door::Guest &) { return std::string("K"); });
  });
  int status = 0;
  EXPECT_TRUE(connectTcp(job, "w", status, error)) << status << ": " << error;
  isOver = true;
  late.join();
  EXPECT_EQ(came, 1);
}

// The first to give up need not be rank 0. It is not the one who is missing.
TEST(Store, WhoGivesUpIsNotNamedInPlaceOfWhoIsMissing) {
  for (int64_t first : {0, 1})
    for (bool hasJoined : {false, true}) {
      int64_t port = freePort();
      std::string errors[2], name = "begin";
      std::unique_ptr<Store> stores[3];
      for (int64_t rank : {0, 1, 2})
        if (rank < 2 || hasJoined)
          stores[rank] =
              Store::join(launchOf(rank, 3, port), 20'000, errors[0]);
      std::thread other([&] {
        EXPECT_FALSE(stores[1 - first]->barrier(name, 20'000, errors[1]));
      });
      EXPECT_FALSE(stores[first]->barrier(name, 100, errors[0]));
      int status = stores[first]->status();
      stores[first].reset();
      other.join();
      EXPECT_EQ(errors[0],
                "rank " + std::to_string(first) +
                    " waited 100 ms for rank 2 to come to 'begin'" +
                    (hasJoined ? ", which joined and went no further: it may "
                                 "be stopped"
                               : ""));
      EXPECT_EQ(errors[1], errors[0]);
      EXPECT_EQ(stores[1 - first]->status(), status);
      EXPECT_EQ(status, hasJoined ? SHARDRT_WATCHDOG : SHARDRT_LOST);
    }
}

TEST(Store, WhoJoinedAndWentNoFurtherIsNamed) {
  int64_t port = freePort();
  std::string error, value;
  auto zero = Store::join(launchOf(0, 3, port), 20'000, error);
  auto one = Store::join(launchOf(1, 3, port), 20'000, error);
  auto two = Store::join(launchOf(2, 3, port), 20'000, error);
  ASSERT_TRUE(zero && one && two) << error;
  whereTheMachineKeepsUp(300, [&](int64_t ms) {
    std::string name = "begin" + std::to_string(ms), errors[2];
    if (!waitTogether({zero.get(), two.get()}, name, ms, errors))
      return false;
    EXPECT_EQ(errors[1],
              "rank 2 waited " + std::to_string(ms) +
                  " ms for rank 1 to come to '" + name +
                  "', which joined and went no further: it may be stopped");
    EXPECT_EQ(zero->status(), SHARDRT_WATCHDOG);
    EXPECT_EQ(two->status(), SHARDRT_WATCHDOG);
    return true;
  });
  EXPECT_FALSE(two->get("place@1", 50, value, error));
  EXPECT_EQ(error, "rank 2 waited 50 ms for 'place@1' of rank 1, which has "
                   "joined and gone no further: it may be stopped");
  EXPECT_EQ(two->status(), SHARDRT_WATCHDOG);
  // One that ends is another matter.
  Loss loss;
  EXPECT_FALSE(two->isBroken(loss));
  one.reset();
  for (int i = 0; i < 4000 && !two->isBroken(loss); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(loss.kind, Loss::Kind::Refused);
  EXPECT_EQ(loss.text,
            "rank 1 is gone: its process ended, or gave up, before the "
            "others");
}

TEST(Store, OneHostHandsTheSecretOn) {
  char directory[] = "/tmp/shardrt-test-XXXXXX";
  ASSERT_TRUE(mkdtemp(directory));
  Map variables = {{"XDG_RUNTIME_DIR", directory}};
  auto lookUp = [&](const char *name) -> const char * {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  int64_t port = freePort();
  std::string error;
  Launch zeroth = launchOf(0, 3, port);
  zeroth.secret.reset();
  zeroth.isOneHost = true;
  EXPECT_EQ(readSecret(lookUp, zeroth), "");
  ASSERT_EQ(zeroth.secretFile.rfind(directory, 0), 0u) << zeroth.secretFile;
  EXPECT_EQ(zeroth.secretFile.find("job 1"), std::string::npos);
  Launch first = zeroth, other = zeroth;
  first.rank = 1;
  // Of a job of that name that was killed.
  shardc::crypto::Key old = shardc::crypto::randomKey();
  EXPECT_EQ(shareSecret(zeroth, old), "");
  // Comes before rank 0 does.
  std::unique_ptr<Store> one;
  std::thread early([&] {
    std::string why;
    one = Store::join(first, 10'000, why);
    EXPECT_TRUE(one) << why;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  auto zero = Store::join(zeroth, 20'000, error);
  early.join();
  ASSERT_TRUE(zero && one) << error;
  EXPECT_EQ(zero->secret(), one->secret());
  EXPECT_NE(zero->secret(), old);
  struct stat found = {};
  ASSERT_EQ(lstat(zeroth.secretFile.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
  // Once all are there it goes.
  Launch second = first;
  second.rank = 2;
  auto two = Store::join(second, 20'000, error);
  ASSERT_TRUE(two) << error;
  for (int i = 0; i < 4000 && lstat(zeroth.secretFile.c_str(), &found) == 0;
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_NE(lstat(zeroth.secretFile.c_str(), &found), 0);
  // A directory that others can write to is not for secrets.
  ASSERT_EQ(chmod(directory, 0777), 0);
  EXPECT_NE(shareSecret(zeroth, old).find("open to others"), std::string::npos);
  ASSERT_EQ(rmdir(directory), 0);
}

TEST(Store, OneHostTakesTheSecretAwayWhenItFails) {
  char directory[] = "/tmp/shardrt-test-XXXXXX";
  ASSERT_TRUE(mkdtemp(directory));
  Launch launch = launchOf(0, 2, freePort());
  launch.secret.reset();
  // One of its own below, which goes as well.
  std::string own =
      std::string(directory) + "/shardrt-" + std::to_string(geteuid());
  launch.secretFile = own + "/shardrt-x.secret";
  std::string error;
  auto zero = Store::join(launch, 20'000, error);
  ASSERT_TRUE(zero) << error;
  struct stat found = {};
  EXPECT_EQ(lstat(launch.secretFile.c_str(), &found), 0);
  ASSERT_EQ(lstat(own.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0700u);
  EXPECT_FALSE(zero->barrier("begin", 50, error));
  zero.reset();
  EXPECT_EQ(rmdir(directory), 0) << "something is left";
}

TEST(Secret, WhereItIsFromAndWhereItIsMissed) {
  struct {
    Map variables;
    bool isOneHost, isInsecure;
    const char *says; ///< how its error begins
  } const cases[] = {
      {{{"SHARDRT_SECRET", std::string(64, 'a')}}, false, false, ""},
      {{{"SHARDRT_SECRET", std::string(63, 'a')}},
       false,
       false,
       "SHARDRT_SECRET: expected 64 hexadecimal digits"},
      {{{"SHARDRT_SECRET", std::string(64, 'g')}},
       true,
       false,
       "SHARDRT_SECRET: expected 64 hexadecimal digits"},
      {{{"SHARDRT_SECRET_FILE", "/no/such/file"}},
       true,
       false,
       "SHARDRT_SECRET_FILE: "},
      {{}, true, false, ""},
      {{}, false, true, ""},
      {{}, false, false, "test does not say that all ranks are on one host"},
  };
  for (const auto &one : cases) {
    Launch launch = launchOf(0, 2, 1);
    launch.secret.reset();
    launch.isOneHost = one.isOneHost;
    launch.isInsecure = one.isInsecure;
    std::string error = readSecret(
        [&](const char *name) -> const char * {
          auto found = one.variables.find(name);
          return found == one.variables.end() ? nullptr : found->second.c_str();
        },
        launch);
    EXPECT_EQ(error.substr(0, std::string(one.says).size()), one.says);
    EXPECT_EQ(error.empty(), std::string(one.says).empty()) << error;
    EXPECT_EQ(error.find(std::string(10, 'g')), std::string::npos) << error;
  }
}

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

// Names are the user's: one that sounds like an error of a stopped rank is a
// name, and to refuse it ends nobody else's wait.
TEST(Store, ANameThatSoundsLikeAStoppedRankIsAName) {
  int64_t port = freePort();
  std::string error, value;
  auto zero = Store::join(launchOf(0, 3, port), 20'000, error);
  auto one = Store::join(launchOf(1, 3, port), 20'000, error);
  auto two = Store::join(launchOf(2, 3, port), 20'000, error);
  ASSERT_TRUE(zero && one && two) << error;
  const std::string name =
      "rank 2 (process 7) is stopped: it has not gone on for 9 ms";
  EXPECT_TRUE(one->set(name, "1", error)) << error;
  EXPECT_FALSE(one->set(name, "2", error));
  EXPECT_EQ(error, "'" + name + "' is set already, to something else");
  EXPECT_EQ(one->status(), SHARDRT_LOST);
  Loss loss;
  for (Store *store : {zero.get(), one.get(), two.get()})
    EXPECT_FALSE(store->isBroken(loss)) << loss.text;
}

TEST(Store, AValueIsSetOnce) {
  int64_t port = freePort();
  std::string error, value;
  auto zero = Store::join(launchOf(0, 2, port), 20'000, error);
  auto one = Store::join(launchOf(1, 2, port), 20'000, error);
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
  EXPECT_TRUE(one->get("x", 20'000, value, error));
  EXPECT_EQ(value, "1");
}
} // namespace
