//===- Rewrites.cpp - Mistakes of the stages themselves -------------------===//
//
// Each name stands in the code of a stage (Support/PlantedFault.h), which makes
// that mistake while it is planted. The verification of partitions is to refuse
// what comes of it.
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"
#include "Workers.h"
#include "shardc/Support/PlantedFault.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace shardc::fuzz {

static constexpr StringLiteral kRewrites[] = {
    // Partition
    "axes-of-a-table-in-another-order",
    "every-rank-needs-what-the-first-does",
    "owned-part-from-the-begin-of-the-block",
    "padding-above-for-below",
    "padding-with-zero-for-the-fill",
    "exchange-left-out",
    "fill-dropped",
    "owned-blocks-as-if-in-reverse",
    "needed-one-too-high",
    "padding-mode-forgotten",
    "dilated-one-too-far",
    "dilated-in-the-first-shards-phase",
    "zero-for-the-fill-of-an-operand",
    "offset-of-the-next-shard",
    "result-offset-left-out",
    "reduction-not-completed",
    "rule-combines-by-another-kind",
    "factor-of-the-first-shard-everywhere",
    "result-taken-for-whole",
    "needed-one-too-low",
    "needed-of-the-last-shard-one-too-low",
    "reduction-completed-along-all-axes-but-one",
    "reduction-completed-by-another-kind",
    "reshard-left-out",
    "reshard-to-the-next-rank",
    "scattered-to-the-next-rank",
    "results-of-a-branch-or-loop-swapped",
    "rank-number-off-by-one",
    "rank-quotient-for-remainder",
    "rank-select-turned-round",
    "rank-values-along-all-axes-but-one",
    "rank-less-or-equal-for-less",
    "permuted-backwards",
    "parts-to-the-wrong-member",
    "smallest-for-largest",
    "gathered-in-reverse",
    "part-of-the-sum-of-another-member",
    // Communication
    "exchanges-of-other-tables-taken-for-one",
    "left-a-loop-that-changes-it",
    "merged-part-from-the-first-element",
    "merged-without-the-last-part",
    "merged-with-another-fill",
    "merged-needs-of-the-first-alone",
    "merged-fill-lost",
    "product-of-two-partial-values",
    "sum-from-a-start-on-each-rank",
    "equal-terms-counted-once",
    "sum-of-two-sums-left-partial",
    "start-of-a-loop-on-each-rank",
    "kept-part-of-the-next-rank",
    "second-axis-of-two-reductions-lost",
    "maximum-taken-for-linear",
    "all-parts-of-a-bucket-from-its-begin",
    "bucket-of-other-kinds",
    "bucket-of-other-axes",
    "next-member-of-a-stack",
    "all-rows-from-the-begin-of-a-bucket",
};

ArrayRef<StringLiteral> rewriteNames() { return kRewrites; }

Error runRewrites(StringRef asked, uint64_t seed, int64_t count, int processes,
                  int timeout) {
  int64_t missed = 0, refused = 0;
  verifyPartitions();
  for (StringRef name : kRewrites) {
    if (asked != "all" && asked != name)
      continue;
    int64_t found = -1, ran = 0;
    std::string message;
    for (int64_t first = 0, step = 64; first < count && found < 0;
         first += step, step = std::min<int64_t>(2 * step, 1024)) {
      step = std::min(step, count - first);
      Job job{seed, first, step, processes, timeout, false, "", false};
      plantedFault = name;
      std::vector<Outcome> outcomes = runPrograms(job, [](int64_t) {});
      plantedFault = "";
      for (auto [i, outcome] : enumerate(outcomes)) {
        ran += outcome.verdict != Verdict::Pending;
        // What another check of the compiler refuses, or what crashes it, says
        // nothing of this one; nor does a program that is refused by itself.
        if (found < 0 && outcome.verdict == Verdict::Misread &&
            checkInChild(makeProgram(seed, first + i), timeout).verdict ==
                Verdict::Passed) {
          found = first + i;
          message = outcome.message;
        }
      }
    }
    (found < 0 ? missed : refused) += 1;
    if (found < 0)
      outs() << formatv("{0,-46} NOT refused in {1} programs\n", name, ran);
    else
      outs() << formatv("{0,-46} refused in program {1,4}: {2}\n", name,
                        found + 1, StringRef(message).take_front(90));
    outs().flush();
  }
  outs() << formatv("{0} wrong rewrites refused, {1} not\n", refused, missed);
  return missed ? toolError(ExitCode::Differs, "") : Error::success();
}

} // namespace shardc::fuzz
