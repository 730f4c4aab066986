//===- Rewrites.cpp - Mistakes of the stages themselves -------------------===//
//
// Each name is in the code of a stage (Support/PlantedFault.h), which makes
// that mistake while it is planted. The verification of partitions is to refuse
// what comes of it.
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"
#include "Generator.h"
#include "Workers.h"
#include "shardc/Support/PlantedFault.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace shardc::fuzz {

namespace {
struct Rewrite {
  StringLiteral name;
  /// Three of four ops are of these kinds, with commas between, where other
  /// programs rarely get there.
  StringLiteral kind;
};
} // namespace

static constexpr Rewrite kRewrites[] = {
    // Partition
    {"axes-of-a-table-in-another-order", ""},
    {"every-rank-needs-what-the-first-does", ""},
    {"owned-part-from-the-begin-of-the-block", ""},
    {"padding-above-for-below", ""},
    {"padding-with-zero-for-the-fill", ""},
    {"exchange-left-out", ""},
    {"zero-for-the-fill-of-an-exchange", "two_shifts"},
    {"owned-blocks-as-if-in-reverse", ""},
    {"needed-one-too-high", ""},
    {"padding-mode-forgotten", ""},
    {"dilated-one-too-far", ""},
    {"dilated-in-the-first-shards-phase", ""},
    {"zero-for-the-fill-of-an-operand", ""},
    {"result-offset-of-the-end", ""},
    {"result-offset-left-out", ""},
    {"reduction-not-completed", ""},
    {"rule-combines-by-another-kind", ""},
    {"factor-of-the-first-shard-everywhere", ""},
    {"result-taken-for-whole", ""},
    {"needed-one-too-low", ""},
    {"needed-of-the-last-shard-one-too-low", ""},
    {"reduction-completed-along-all-axes-but-one", ""},
    {"reduction-completed-by-another-kind", ""},
    {"reshard-left-out", ""},
    {"reshard-to-the-next-rank", ""},
    {"scattered-to-the-next-rank", ""},
    {"results-of-a-branch-or-loop-swapped", ""},
    {"rank-number-off-by-one", ""},
    {"rank-quotient-for-remainder", ""},
    {"rank-select-turned-round", "manual_rank_choice"},
    {"rank-values-along-all-axes-but-one", ""},
    {"rank-less-or-equal-for-less", "manual_rank_choice"},
    {"permuted-backwards", "manual_permute"},
    {"parts-to-the-wrong-member", ""},
    {"smallest-for-largest", ""},
    {"gathered-in-reverse", ""},
    {"part-of-the-sum-of-another-member", ""},
    // Communication
    {"exchanges-of-other-tables-taken-for-one", ""},
    {"left-a-loop-that-changes-it", ""},
    {"merged-part-from-the-first-element", ""},
    {"merged-without-the-last-part", "two_shifts"},
    {"merged-with-another-fill", "two_shifts"},
    {"merged-needs-of-the-first-alone", ""},
    {"merged-fill-of-zero", "two_shifts"},
    {"quotient-by-a-partial-value", "sum_of_quotients"},
    {"sum-from-a-start-on-each-rank", "sum_of_reduction"},
    {"equal-terms-counted-once", "manual_sum_of_equals"},
    {"sum-of-two-sums-left-partial", "sum_of_sums"},
    {"start-of-a-loop-on-each-rank", "sum_in_a_loop"},
    {"kept-part-of-the-next-rank", ""},
    {"second-axis-of-two-reductions-lost", "sum_of_reduction"},
    {"maximum-taken-for-linear", "sum_of_reduction"},
    {"all-parts-of-a-bucket-from-its-begin", ""},
    {"bucket-of-other-kinds", ""},
    {"bucket-of-other-axes", "two_sums"},
    {"next-member-of-a-stack", ""},
    {"all-rows-from-the-begin-of-a-bucket", ""},
};

/// What keeps ranks and threads apart, left out.
static constexpr Rewrite kRaces[] = {
    // Buffers, ReleaseLate
    {"source-changes-before-its-release",
     "while,scan,while_until,stencil,roll,reduce_window"},
    // Buffers, PlanArena; KernelGen
    {"memory-of-a-source-goes-on-before-its-release", ""},
    {"each-part-goes-on-to-the-end", ""},
};

SmallVector<StringRef> rewriteNames() {
  return map_to_vector(kRewrites, [](const Rewrite &rewrite) -> StringRef {
    return rewrite.name;
  });
}

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
static Error plant(ArrayRef<Rewrite> rewrites, const Finder &finder,
                   StringRef asked, uint64_t seed, int64_t count, int processes,
                   int timeout) {
  int64_t missed = 0, refused = 0;
  for (const Rewrite &rewrite : rewrites) {
    StringRef name = rewrite.name;
    if (asked != "all" && asked != name)
      continue;
    std::vector<std::string> kinds;
    for (StringRef kind : split(rewrite.kind, ','))
      if (!kind.empty())
        kinds.push_back(kind.str());
    favourKinds(std::move(kinds));
    int64_t found = -1, ran = 0, hits = 0;
    std::string message;
    for (int64_t first = 0, step = 64; first < count && found < 0;
         first += step, step = std::min<int64_t>(2 * step, 1024)) {
      step = std::min(step, count - first);
      Job job{seed, first, step, processes, timeout, finder.optimized,
              "",   false};
      plantedFault = name;
      std::vector<Outcome> outcomes = runPrograms(job, [](int64_t) {});
      plantedFault = "";
      for (auto [i, outcome] : enumerate(outcomes)) {
        ran += outcome.verdict != Verdict::Pending;
        hits += StringRef(outcome.message).starts_with(kMadeMistake);
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
    outs().flush();
  }
  outs() << formatv("{0} {2} {3}, {1} not\n", refused, missed, finder.what,
                    finder.finds);
  return missed ? toolError(ExitCode::Differs, "") : Error::success();
}

Error runRewrites(StringRef asked, uint64_t seed, int64_t count, int processes,
                  int timeout) {
  verifyPartitions();
  return plant(kRewrites,
               {Verdict::Misread, "refused", "wrong rewrites", false}, asked,
               seed, count, processes, timeout);
}

SmallVector<StringRef> raceNames() {
  return map_to_vector(
      kRaces, [](const Rewrite &rewrite) -> StringRef { return rewrite.name; });
}

Error runRaces(StringRef asked, uint64_t seed, int64_t count, int processes,
               int timeout, bool optimized) {
  return plant(kRaces, {Verdict::Races, "reported", "races", optimized}, asked,
               seed, count, processes, timeout);
}

} // namespace shardc::fuzz
