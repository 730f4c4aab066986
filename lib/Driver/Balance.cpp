//===- Balance.cpp - Which sizes of a program are free --------------------===//
#include "shardc/Driver/Balance.h"
#include "shardc/Driver/Errors.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace shardc;

Expected<Balance> shardc::makeBalance(const ProgramMetadata &program) {
  if (program.numRanks() < 2)
    return toolError(ExitCode::Usage,
                     "balance: the program has one rank; there is nothing to "
                     "balance");
  std::vector<FreeDim> dims;
  for (auto [number, argument] : enumerate(program.arguments))
    for (auto [i, dim] : enumerate(argument.dims))
      if (dim.dynamic || dim.open)
        dims.push_back({static_cast<int64_t>(number), static_cast<int64_t>(i),
                        dim.axes, dim.boundaries.sizes()});
  Balance balance(program.meshShape(), std::move(dims));
  if (!balance.hasChoice())
    return toolError(ExitCode::Usage,
                     "balance: no dim that is cut was left open, so the sizes "
                     "of shards are fixed; compile with --dynamic=all "
                     "(dynamic=\"all\" in Python)");
  return balance;
}
