//===- RecoveryTest.cpp - Faults of the compiler as values ----------------===//

#include "../../../lib/Engine/Recovery.h"
#include "llvm/Support/ErrorHandling.h"
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <thread>

using namespace shardc::engine;

namespace {
/// What a pointer to nothing makes of work.
void readThroughNull() {
  int *volatile nothing = nullptr;
  *nothing = 1;
}

void expectInternal(void (*work)(), const char *how) {
  MaybeFailure failure =
      recoverably("testing", [&]() -> MaybeFailure { return work(), nullptr; });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status, Status::Internal);
  std::string start = "a fault of the compiler while testing: ";
  EXPECT_EQ(failure->message.substr(0, start.size()), start);
  EXPECT_NE(failure->message.find(how), std::string::npos) << failure->message;
}

void expectNoMemory(void (*work)()) {
  MaybeFailure failure =
      recoverably("testing", [&]() -> MaybeFailure { return work(), nullptr; });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status, Status::Memory);
  EXPECT_EQ(failure->message, "no memory while testing");
}

using Handler = void (*)(int);
Handler handlerOf(int signal) {
  struct sigaction action;
  sigaction(signal, nullptr, &action);
  return action.sa_handler;
}
} // namespace

TEST(Recovery, WorkThatEndsWellReturns) {
  EXPECT_FALSE(
      recoverably("testing", []() -> MaybeFailure { return nullptr; }));
  MaybeFailure failure = recoverably("testing", [] { return usage("not so"); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status, Status::Usage);
  EXPECT_EQ(failure->message, "not so");
}

TEST(Recovery, FaultsAreValues) {
  for (int i = 0; i < 3; ++i) {
    expectInternal(readThroughNull, "Segmentation fault");
    expectInternal([] { std::abort(); }, "Aborted");
    expectInternal([] { std::raise(SIGFPE); }, "Floating point exception");
    expectInternal([] { llvm::report_fatal_error("cannot select", false); },
                   "cannot select");
  }
}

TEST(Recovery, WantOfMemoryIsAValue) {
  for (int i = 0; i < 3; ++i) {
    expectNoMemory([] { llvm::report_bad_alloc_error("no more", false); });
    expectNoMemory([] { throw std::bad_alloc(); });
  }
}

TEST(Recovery, SeveralThreadsRecoverAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int j = 0; j < 50; ++j) {
        expectInternal(readThroughNull, "Segmentation fault");
        expectNoMemory([] { llvm::report_bad_alloc_error("no more", false); });
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Recovery, HandlersAreThoseOfTheProcessAgain) {
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) {
    Handler before = handlerOf(signal);
    (void)recoverably("testing", [&]() -> MaybeFailure {
      EXPECT_NE(handlerOf(signal), before);
      return nullptr;
    });
    EXPECT_EQ(handlerOf(signal), before);
  }
}

// What happens on a thread that compiles nothing is not the compiler's.
TEST(RecoveryDeathTest, FaultsOfOtherThreadsEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH((void)recoverably("testing",
                                 []() -> MaybeFailure {
                                   std::thread other(readThroughNull);
                                   other.join();
                                   return nullptr;
                                 }),
               "");
}
