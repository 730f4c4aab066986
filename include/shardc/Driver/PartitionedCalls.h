//===- PartitionedCalls.h - Calls that their author cuts --------*- C++ -*-===//
//
// A call of `CustomSPMDPartitioning` stands for a function whose author says
// how it is cut: custom_partitioning of JAX. How its values are sharded follows
// from the rest of the program; so that is decided first, with the call's
// sharding rule. Then the author is asked, once a call, what each rank does,
// and that takes the call's place as a manual region. What comes out is a
// program like any other.
//
// No header of MLIR or LLVM: the engine's embedders give the function.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DRIVER_PARTITIONEDCALLS_H
#define SHARDC_DRIVER_PARTITIONEDCALLS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace shardc {

/// How a value is cut over the ranks of a program, in equal blocks.
struct Tiling {
  std::vector<int64_t> tiles; ///< into how many blocks each dim is cut
  int64_t copies = 1;         ///< ranks that have the same block
  std::vector<int64_t> ranks; ///< of each block, row-major: `copies` ranks
};

struct TiledValue {
  std::string elementType; ///< as MLIR spells it
  std::vector<int64_t> dims;
  Tiling tiling;
};

struct PartitionedCall {
  std::string config; ///< `backend_config`
  int64_t numRanks = 1;
  std::vector<TiledValue> operands, results;
};

/// What each rank does: a model whose @main takes blocks and gives blocks.
struct PartitionAnswer {
  std::string model;
  std::vector<Tiling> operands, results;
};

/// Cuts a call. Returns what is wrong, empty if nothing is.
using PartitionFunction =
    std::function<std::string(const PartitionedCall &, PartitionAnswer &)>;

} // namespace shardc

#endif // SHARDC_DRIVER_PARTITIONEDCALLS_H
