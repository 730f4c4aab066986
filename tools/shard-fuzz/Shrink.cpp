//===- Shrink.cpp - The smallest program that still fails -----------------===//

#include "Shrink.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace llvm;

namespace shardc::fuzz {

namespace {
class Shrinker {
public:
  Shrinker(Program program, Outcome &outcome, int attempts, int seconds)
      : best(std::move(program)), outcome(outcome), attempts(attempts),
        seconds(seconds) {}
  Program run();

private:
  /// Keeps `candidate` if it fails as the program does.
  bool keep(Program candidate);
  bool dropResults();
  bool dropOps();
  bool dropNests();
  bool dropAnnotations();
  bool dropSizes();
  bool shrinkMesh();
  bool shrinkDims();

  Program best;
  Outcome &outcome;
  int attempts;
  int seconds;
};
} // namespace

/// What two refusals or crashes must share to be the same.
static std::string signature(const Outcome &outcome) {
  if (outcome.verdict != Verdict::Refused && outcome.verdict != Verdict::Failed)
    return "";
  std::string letters;
  for (char c : StringRef(outcome.message).rsplit("error: ").first)
    if (isAlpha(c) && letters.size() < 60)
      letters += c;
  return letters.substr(std::min<size_t>(letters.size(), 20), 40);
}

bool Shrinker::keep(Program candidate) {
  if (attempts <= 0 || candidate.results.empty())
    return false;
  candidate.dropUnused();
  if (!candidate.infer())
    return false;
  --attempts;
  Outcome now = checkInChild(candidate, seconds);
  if (now.verdict != outcome.verdict || signature(now) != signature(outcome))
    return false;
  outcome = now;
  best = std::move(candidate);
  return true;
}

bool Shrinker::dropResults() {
  bool any = false;
  // One alone at first: most failures show in one.
  for (size_t i = 0; best.results.size() > 1 && i < best.results.size(); ++i) {
    Program alone = best;
    alone.results = {best.results[i]};
    if (keep(std::move(alone)))
      return true;
  }
  for (size_t i = best.results.size(); i-- > 0 && best.results.size() > 1;) {
    Program candidate = best;
    candidate.results.erase(candidate.results.begin() + i);
    any |= keep(std::move(candidate));
  }
  return any;
}

/// Replaces reads of value `from`.
static void replace(Program &program, int from, int to) {
  for (Op &op : program.ops)
    for (int &operand : op.operands)
      operand = operand == from ? to : operand;
  for (Argument &result : program.results)
    result.value = result.value == from ? to : result.value;
}

bool Shrinker::dropOps() {
  bool any = false;
  for (size_t i = best.ops.size(); i-- > 0;) {
    if (i >= best.ops.size())
      continue;
    // An operand in place of the result, or else a new argument.
    Op op = best.ops[i];
    bool gone = false;
    for (int operand : op.operands) {
      if (gone || op.results.size() != 1 ||
          best.values[operand].type != best.values[op.results[0]].type)
        continue;
      Program candidate = best;
      replace(candidate, op.results[0], operand);
      gone = keep(std::move(candidate));
    }
    if (!gone) {
      Program candidate = best;
      candidate.ops.erase(candidate.ops.begin() + i);
      for (int result : op.results)
        candidate.arguments.push_back({result, std::nullopt});
      gone = keep(std::move(candidate));
    }
    if (!gone && op.results.size() == 1 && !op.build) {
      Program candidate = best;
      replace(candidate, op.results[0], op.operands[0]);
      gone = keep(std::move(candidate));
    }
    any |= gone;
  }
  return any;
}

bool Shrinker::dropNests() {
  bool any = false;
  for (int nest = 0, e = best.nests.size(); nest < e; ++nest) {
    if (none_of(best.ops,
                [&](const Op &op) { return is_contained(op.nests, nest); }))
      continue;
    Program candidate = best;
    for (Op &op : candidate.ops)
      llvm::erase(op.nests, nest);
    any |= keep(std::move(candidate));
  }
  return any;
}

bool Shrinker::dropAnnotations() {
  bool any = false;
  for (auto list : {&Program::arguments, &Program::results})
    for (size_t i = 0; i < (best.*list).size(); ++i) {
      if (!(best.*list)[i].sharding)
        continue;
      Program candidate = best;
      (candidate.*list)[i].sharding.reset();
      if (keep(std::move(candidate))) {
        any = true;
        continue;
      }
      for (size_t d = 0; d < (best.*list)[i].sharding->size(); ++d) {
        const DimCut &dim = (*(best.*list)[i].sharding)[d];
        if (dim.axes.empty() && !dim.open)
          continue;
        Program candidate = best;
        (*(candidate.*list)[i].sharding)[d] = DimCut{};
        any |= keep(std::move(candidate));
      }
    }
  return any;
}

bool Shrinker::dropSizes() {
  bool any = false;
  for (auto list : {&Program::arguments, &Program::results})
    for (size_t i = 0; i < (best.*list).size(); ++i)
      for (size_t d = 0;
           (best.*list)[i].sharding && d < (best.*list)[i].sharding->size();
           ++d) {
        if ((*(best.*list)[i].sharding)[d].sizes.empty())
          continue;
        Program candidate = best;
        (*(candidate.*list)[i].sharding)[d].sizes.clear();
        any |= keep(std::move(candidate));
      }
  return any;
}

/// Calls `change` on every sharding of `program` and its tensor's shape.
template <typename Change>
static void forEachSharding(Program &program, Change change) {
  for (auto list : {&Program::arguments, &Program::results})
    for (Argument &argument : program.*list)
      if (argument.sharding)
        change(*argument.sharding, program.values[argument.value].type.shape);
  for (Op &op : program.ops)
    if (!op.build)
      change(op.constraint, program.values[op.results[0]].type.shape);
}

bool Shrinker::shrinkMesh() {
  bool any = false;
  if (any_of(best.ops, [](const Op &op) { return op.fixesMesh; }))
    return false;
  for (size_t axis = 0; axis < best.axisSizes.size(); ++axis)
    for (int64_t size = 1; size < best.axisSizes[axis]; ++size) {
      Program candidate = best;
      candidate.axisSizes[axis] = size;
      forEachSharding(candidate, [&](Sharding &sharding,
                                     const std::vector<int64_t> &shape) {
        for (auto [dim, total] : zip_equal(sharding, shape))
          if (is_contained(dim.axes, static_cast<int64_t>(axis)) &&
              !dim.sizes.empty()) {
            // The first shards as they are, the last takes the rest.
            int64_t shards = 1, sum = 0;
            for (int64_t a : dim.axes)
              shards *= candidate.axisSizes[a];
            dim.sizes.resize(shards);
            for (int64_t &part : dim.sizes)
              sum += part = std::min(part, total - sum);
            dim.sizes.back() += total - sum;
          }
      });
      if (keep(std::move(candidate))) {
        any = true;
        break;
      }
    }
  return any;
}

bool Shrinker::shrinkDims() {
  bool any = false;
  std::set<int64_t, std::greater<int64_t>> sizes;
  for (const Argument &argument : best.arguments)
    for (int64_t size : best.values[argument.value].type.shape)
      sizes.insert(size);
  // All dims of one size together: an op may tie them.
  auto attempt = [&](int only, int64_t from, int64_t to) {
    Program candidate = best;
    for (auto [i, argument] : enumerate(candidate.arguments)) {
      if (only >= 0 && static_cast<int>(i) != only)
        continue;
      for (auto [d, size] :
           enumerate(candidate.values[argument.value].type.shape))
        if (size == from) {
          size = to;
          if (argument.sharding && !(*argument.sharding)[d].sizes.empty()) {
            int64_t excess = from - to;
            for (int64_t &part : reverse((*argument.sharding)[d].sizes)) {
              int64_t taken = std::min(part, excess);
              part -= taken;
              excess -= taken;
            }
          }
        }
    }
    return keep(std::move(candidate));
  };
  for (int64_t from : sizes)
    for (int64_t to : {from / 2, from - 1})
      if (to >= 1 && to < from) {
        bool done = attempt(-1, from, to);
        for (int i = 0, e = best.arguments.size(); i < e && !done; ++i)
          done = attempt(i, from, to);
        any |= done;
        if (done)
          break;
      }
  return any;
}

Program Shrinker::run() {
  bool smaller = true;
  while (smaller && attempts > 0) {
    smaller = dropResults();
    smaller |= dropOps();
    smaller |= dropNests();
    smaller |= dropAnnotations();
    smaller |= shrinkMesh();
    smaller |= dropSizes();
    smaller |= shrinkDims();
  }
  best.dropUnused();
  best.infer();
  return std::move(best);
}

Program shrink(Program program, Outcome &outcome, int attempts,
               int secondsEach) {
  return Shrinker(std::move(program), outcome, attempts, secondsEach).run();
}

} // namespace shardc::fuzz
