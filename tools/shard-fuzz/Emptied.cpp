//===- Emptied.cpp - Random programs without elements ---------------------===//
//
// Ops write themselves for operands of any types (Program.h). So a dim without
// elements flows from an argument through all ops that can be written for it,
// until one sums, pads or joins it.
//
//===----------------------------------------------------------------------===//

#include "Emptied.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <random>

using namespace llvm;

namespace shardc::fuzz {

/// Takes the elements of the dims of `size` elements: of argument `only`, or of
/// all, since ops may tie them.
static std::optional<Program> without(const Program &program, int64_t size,
                                      std::optional<size_t> only) {
  Program candidate = program;
  candidate.mayBeEmpty = true;
  for (auto [i, argument] : enumerate(candidate.arguments)) {
    if (only && i != *only)
      continue;
    std::vector<int64_t> &shape = candidate.values[argument.value].type.shape;
    for (auto [d, extent] : enumerate(shape)) {
      if (extent != size)
        continue;
      extent = 0;
      if (argument.sharding)
        llvm::fill((*argument.sharding)[d].sizes, 0);
    }
  }
  if (candidate.infer())
    return candidate;
  // Sizes of shards of what follows from them are others.
  auto balance = [](Sharding &sharding) {
    for (DimCut &cut : sharding)
      cut.sizes.clear();
  };
  for (Op &op : candidate.ops)
    balance(op.constraint);
  for (Argument &result : candidate.results)
    if (result.sharding)
      balance(*result.sharding);
  return candidate.infer() ? std::optional(candidate) : std::nullopt;
}

std::optional<Program> emptied(Program program, uint64_t draw) {
  std::mt19937_64 random(draw);
  bool isEmptied = false;
  // A second dim as often as not: of another argument, or of the same.
  for (int64_t wanted = 1 + random() % 2; wanted > 0; --wanted) {
    SmallVector<std::pair<int64_t, std::optional<size_t>>> ways;
    for (auto [i, argument] : enumerate(program.arguments))
      for (int64_t size : program.values[argument.value].type.shape)
        if (size > 0) {
          ways.push_back({size, i});
          ways.push_back({size, std::nullopt});
        }
    std::shuffle(ways.begin(), ways.end(), random);
    for (auto [size, only] : ways)
      if (std::optional<Program> found = without(program, size, only)) {
        program = std::move(*found);
        isEmptied = true;
        break;
      }
  }
  return isEmptied ? std::optional(std::move(program)) : std::nullopt;
}

} // namespace shardc::fuzz
