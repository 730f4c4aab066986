//===- StoreTest.cpp - The store in which ranks meet ----------------------===//

#include "Comm/Bootstrap/Store.h"
#include "Comm/Bootstrap/Door.h"
#include "Comm/Bootstrap/Handshake.h"
#include "Comm/Bootstrap/Job.h"
#include "Comm/Bootstrap/Secret.h"
#include "Comm/Wire/Tcp.h"
#include "Host/Absence.h"
#include "TestLaunch.h"
#include <array>
#include <fcntl.h>
#include <vector>

using namespace shardrt;
using namespace shardrt::test;

namespace {

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
