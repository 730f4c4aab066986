//===- Rewrites.cpp - Mistakes that verification and watching find --------===//
//
// Each fault of Faults.cpp is planted in programs one after the other. The
// verification of partitions is to refuse what comes of it; of races,
// ThreadSanitizer is to report them.
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"
#include "Faults.h"
#include "Generator.h"
#include "Workers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace shardc::fuzz {

namespace {
/// What finds mistakes, and what it says of them.
struct Finder {
  Verdict verdict;
  const char *finds; ///< "refused"
  const char *what;  ///< "wrong rewrites"
  bool optimized;
};
} // namespace

/// Plants those of `rewrites` that are asked for, one at a time.
static Error plant(ArrayRef<std::string> names, const Finder &finder,
                   StringRef asked, uint64_t seed, int64_t count, int processes,
                   int timeout) {
  int64_t missed = 0, refused = 0;
  for (const std::string &name : names) {
    if (asked != "all" && asked != name)
      continue;
    favourKinds(kindsOf(name));
    int64_t found = -1, ran = 0, hits = 0, crashed = -1;
    std::string message;
    for (int64_t first = 0, step = 64; first < count && found < 0;
         first += step, step = std::min<int64_t>(2 * step, 1024)) {
      step = std::min(step, count - first);
      Job job{seed, first, step, processes, timeout, finder.optimized,
              name, false};
      std::vector<Outcome> outcomes = runPrograms(job, [](int64_t) {});
      for (auto [i, outcome] : enumerate(outcomes)) {
        ran += outcome.verdict != Verdict::Pending;
        hits += StringRef(outcome.message).starts_with(kMadeMistake);
        if (crashed < 0 && outcome.verdict == Verdict::Crashed)
          crashed = first + i;
        // What another check of the compiler refuses, or what crashes it, says
        // nothing of this one; nor does a program that is refused by itself.
        if (found < 0 && outcome.verdict == finder.verdict &&
            checkInChild(makeProgram(seed, first + i), timeout).verdict ==
                Verdict::Passed) {
          found = first + i;
          message = outcome.message;
        }
      }
    }
    (found < 0 ? missed : refused) += 1;
    if (found < 0)
      outs() << formatv("{0,-46} NOT {3} in {1} programs, of which {2} "
                        "were made so and are right\n",
                        name, ran, hits, finder.finds);
    else
      outs() << formatv("{0,-46} {3} in program {1,4}: {2}\n", name, found + 1,
                        StringRef(message).take_front(90), finder.finds);
    if (crashed >= 0)
      outs() << formatv("{0,-46} crashes the compiler in program {1,4}\n", "",
                        crashed + 1);
    outs().flush();
  }
  outs() << formatv("{0} {2} {3}, {1} not\n", refused, missed, finder.what,
                    finder.finds);
  return missed ? toolError(ExitCode::Differs, "") : Error::success();
}

Error runRewrites(StringRef asked, uint64_t seed, int64_t count, int processes,
                  int timeout) {
  verifyPartitions();
  return plant(interpretedFaultNames(),
               {Verdict::Misread, "refused", "wrong rewrites", false}, asked,
               seed, count, processes, timeout);
}

Error runRaces(StringRef asked, uint64_t seed, int64_t count, int processes,
               int timeout, bool optimized) {
  return plant(raceNames(), {Verdict::Races, "reported", "races", optimized},
               asked, seed, count, processes, timeout);
}

} // namespace shardc::fuzz
