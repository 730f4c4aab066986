//===- Workers.cpp - Many programs in several processes -------------------===//
//
// Worker processes take the next number from shared memory and leave what
// became of it there. The parent has no threads and no compiler state, so that
// it can fork at any time.
//
//===----------------------------------------------------------------------===//

#include "Workers.h"
#include "Emptied.h"
#include "Generator.h"
#include "shardc/Pipelines/Compile.h"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

namespace shardc::fuzz {

namespace {
struct Slot {
  std::atomic<int> verdict;
  std::atomic<int> worker;
  std::atomic<int64_t> started; ///< seconds
  double tolerance;
  char message[400];
};
struct Shared {
  std::atomic<int64_t> next;
  std::atomic<bool> stop;
};
} // namespace

static bool emptiesPrograms = false;
void emptyPrograms() { emptiesPrograms = true; }

Program makeProgram(uint64_t seed, int64_t index) {
  // The first programs of some seeds have nothing but what was dropped, or
  // nothing that can be without elements.
  for (uint64_t attempt = 0;; ++attempt) {
    uint64_t draw =
        seed * 0x10000001b3 + index * 0x9e3779b9 + attempt * 7919 + 1;
    Program program = Generator(draw).run();
    if (program.results.empty() || !program.infer())
      continue;
    if (!emptiesPrograms)
      return program;
    if (std::optional<Program> found = emptied(std::move(program), draw))
      return *found;
  }
}

static int64_t now() { return std::time(nullptr); }

/// The life of a worker. Ends the process.
[[noreturn]] static void work(const Job &job, int worker, Shared &shared,
                              Slot *slots) {
  // What the compiler prints before it crashes is read again with --only.
  if (int null = open("/dev/null", O_WRONLY); null >= 0)
    dup2(null, STDERR_FILENO);
  std::unique_ptr<mlir::MLIRContext> context;
  for (int64_t done = 0; !shared.stop; ++done) {
    int64_t i = shared.next++;
    if (i >= job.count)
      break;
    slots[i].worker = worker;
    slots[i].started = now();
    slots[i].verdict = static_cast<int>(Verdict::Running);
    if (done % 40 == 0) {
      context = createCompilerContext();
      context->disableMultithreading();
    }
    bool planted = false;
    Outcome outcome =
        check(*context, makeProgram(job.seed, job.first + i), job.optimized,
              job.fault, job.fault.empty() ? nullptr : &planted);
    slots[i].tolerance = outcome.tolerance;
    std::strncpy(slots[i].message, outcome.message.c_str(),
                 sizeof(Slot::message) - 1);
    slots[i].verdict = static_cast<int>(outcome.verdict);
    if (job.stopAtFirst && outcome.verdict != Verdict::Passed)
      shared.stop = true;
  }
  _exit(0);
}

std::vector<Outcome> runPrograms(const Job &job,
                                 function_ref<void(int64_t)> progress) {
  size_t bytes = sizeof(Shared) + job.count * sizeof(Slot) + 64;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return {};
  auto *shared = new (memory) Shared{};
  auto *slots = reinterpret_cast<Slot *>(static_cast<char *>(memory) +
                                         ((sizeof(Shared) + 63) & ~size_t(63)));

  std::vector<pid_t> pids(job.processes, 0);
  auto start = [&](int worker) {
    pids[worker] = fork();
    if (pids[worker] == 0)
      work(job, worker, *shared, slots);
  };
  /// What a worker that is gone was at.
  auto close = [&](int worker, Verdict verdict, const std::string &message) {
    for (int64_t i = 0; i < job.count; ++i)
      if (slots[i].verdict == static_cast<int>(Verdict::Running) &&
          slots[i].worker == worker) {
        slots[i].verdict = static_cast<int>(verdict);
        std::strncpy(slots[i].message, message.c_str(),
                     sizeof(Slot::message) - 1);
        if (job.stopAtFirst)
          shared->stop = true;
        return true;
      }
    return false;
  };
  for (int worker = 0; worker < job.processes; ++worker)
    start(worker);
  int alive = job.processes;
  while (alive > 0) {
    usleep(20000);
    for (int worker = 0; worker < job.processes; ++worker) {
      if (pids[worker] <= 0)
        continue;
      int status;
      if (waitpid(pids[worker], &status, WNOHANG) == pids[worker]) {
        pids[worker] = 0;
        std::string how =
            WIFSIGNALED(status)
                ? std::string("signal ") + strsignal(WTERMSIG(status))
                : "exit code " + std::to_string(WEXITSTATUS(status));
        if (close(worker, Verdict::Crashed, how) && !shared->stop)
          start(worker);
        else
          --alive;
        continue;
      }
      for (int64_t i = 0; i < job.count; ++i)
        if (slots[i].verdict == static_cast<int>(Verdict::Running) &&
            slots[i].worker == worker &&
            now() - slots[i].started > job.secondsEach) {
          kill(pids[worker], SIGKILL);
          waitpid(pids[worker], &status, 0);
          close(worker, Verdict::Hung,
                "no end within " + std::to_string(job.secondsEach) + " s");
          start(worker);
          break;
        }
    }
    progress(std::min<int64_t>(shared->next, job.count));
  }
  std::vector<Outcome> outcomes;
  for (int64_t i = 0; i < job.count; ++i)
    outcomes.push_back({static_cast<Verdict>(slots[i].verdict.load()),
                        slots[i].message, slots[i].tolerance});
  munmap(memory, bytes);
  return outcomes;
}

} // namespace shardc::fuzz
