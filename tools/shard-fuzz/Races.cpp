//===- Races.cpp - What ThreadSanitizer reports ---------------------------===//
//
// ThreadSanitizer's runtime calls what is defined here, where the tool is
// linked with it (test/Unit/Sanitized). Nobody else does.
//
//===----------------------------------------------------------------------===//

#include "Races.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <atomic>
#include <cstring>

using namespace shardc;

namespace {
struct Access {
  int thread, size, isWrite, isAtomic;
  void *trace[4];
};
/// Plain data: whoever writes it is in the middle of a report, and may neither
/// allocate nor lock.
struct Report {
  const char *description;
  int numAccesses;
  Access accesses[4];
};
} // namespace

static std::atomic<int64_t> reported = 0;
static Report last;

int64_t fuzz::racesReported() { return reported; }

extern "C" {
// Of ThreadSanitizer's interface; null in a tool that is built without.
__attribute__((weak)) int
__tsan_get_report_data(void *report, const char **description, int *count,
                       int *stacks, int *accesses, int *places, int *mutexes,
                       int *threads, int *uniqueThreads, void **sleepTrace,
                       unsigned long sleepTraceSize);
__attribute__((weak)) int
__tsan_get_report_mop(void *report, unsigned long index, int *thread,
                      void **address, int *size, int *isWrite, int *isAtomic,
                      void **trace, unsigned long traceSize);
__attribute__((weak)) void __sanitizer_symbolize_pc(void *pc,
                                                    const char *format,
                                                    char *out,
                                                    unsigned long outSize);

/// Every program is another one, though its memory may lie where the last one's
/// lay.
const char *__tsan_default_options() { return "suppress_equal_addresses=0"; }

/// ThreadSanitizer calls it before it prints `report`.
void __tsan_on_report(void *report) {
  if (!__tsan_get_report_data || !__tsan_get_report_mop)
    return;
  int count, stacks, places, mutexes, threads, uniqueThreads;
  void *sleepTrace[1];
  __tsan_get_report_data(report, &last.description, &count, &stacks,
                         &last.numAccesses, &places, &mutexes, &threads,
                         &uniqueThreads, sleepTrace, 1);
  last.numAccesses = std::min(last.numAccesses, 4);
  for (int i = 0; i < last.numAccesses; ++i) {
    Access &access = last.accesses[i];
    void *address;
    std::memset(access.trace, 0, sizeof(access.trace));
    __tsan_get_report_mop(report, i, &access.thread, &address, &access.size,
                          &access.isWrite, &access.isAtomic, access.trace, 4);
  }
  ++reported;
}
}

std::string fuzz::lastRace() {
  std::string text = last.description ? last.description : "";
  for (int i = 0; i < last.numAccesses; ++i) {
    const Access &access = last.accesses[i];
    text += llvm::formatv("{0} {1} of {2} bytes by thread {3} in",
                          i ? ";" : ":", access.isWrite ? "write" : "read",
                          access.size, access.thread);
    for (int frame = 0; frame < 3 && access.trace[frame]; ++frame) {
      char name[80] = "?";
      if (__sanitizer_symbolize_pc)
        __sanitizer_symbolize_pc(access.trace[frame], "%f", name, sizeof(name));
      text += std::string(frame ? " < " : " ") + name;
    }
  }
  return text;
}
