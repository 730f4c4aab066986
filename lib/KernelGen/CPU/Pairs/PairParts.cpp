//===- PairParts.cpp - A pair step in parts, for several threads ----------===//
//
// Batch dims first (heads: nothing is done twice), then queries: each part
// packs the keys that it uses. Rows of the state are one part's each, and are
// computed as in a step of one part. In the backward keys have sums over all
// queries. Where batch dims are too few, scores are computed twice: once for
// what queries get, cut along queries, and once for what keys get, cut along
// keys.
//
//===----------------------------------------------------------------------===//
#include "PairEmitter.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Machine/Cost.h"
#include "shardc/Support/KernelAttributes.h"
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

SmallVector<int64_t> PairEmitter::cutsFor(int64_t threads) {
  SmallVector<int64_t> cuts(numDims, 1);
  double products = 1;
  for (int dim : llvm::seq(d))
    products *= sizes[dim].orElse(512);
  products *= double(sizes[d].orElse(1) + sizes[e].orElse(1));
  Cost cost(machineOf(op));
  if (threads < 2 || !sizes[d].fixed ||
      cost.compute(2 * products) < cost.getMachine().forkSeconds)
    return cuts;
  auto inAllStates = [&](int dim) {
    return llvm::all_of(states, [&](const Access &state) {
      return !isMade(state) || state.usesDim(dim);
    });
  };
  int64_t left = threads;
  // One of both where gradients are made one after the other.
  int last = inAllStates(q) ? q : backward && inAllStates(k) ? k : -1;
  for (int dim : llvm::seq(q)) {
    if (!inAllStates(dim) || !sizes[dim].fixed)
      continue;
    cuts[dim] = last >= 0 ? std::gcd(left, *sizes[dim].fixed)
                          : std::min(left, *sizes[dim].fixed);
    left /= std::max<int64_t>(cuts[dim], 1);
  }
  if (last >= 0) {
    // At least a tile for each.
    cuts[last] = left;
    if (sizes[last].fixed)
      cuts[last] = std::min(
          left, std::max<int64_t>(*sizes[last].fixed / tileOf(last), 1));
  }
  return cuts;
}

static int64_t productOf(ArrayRef<int64_t> cuts) {
  int64_t parts = 1;
  for (int64_t cut : cuts)
    parts *= std::max<int64_t>(cut, 1);
  return parts;
}

bool PairEmitter::gainsByPasses(int64_t threads) {
  if (!backward)
    return false;
  // What neither queries nor keys have is a sum over both.
  if (llvm::any_of(states, [&](const Access &state) {
        return !state.usesDim(q) && !state.usesDim(k);
      }))
    return false;
  int64_t together = productOf(cutsFor(threads));
  made = Made::Queries;
  int64_t apart = productOf(cutsFor(threads));
  made = Made::Keys;
  apart = std::min(apart, productOf(cutsFor(threads)));
  made = Made::All;
  // Two products of five are done twice.
  return 2 * apart >= 3 * together;
}

void PairEmitter::beginParts(int64_t threads) {
  SmallVector<int64_t> cuts = cutsFor(threads);
  int64_t parts = productOf(cuts);
  if (parts < 2)
    return;

  code.partLoop = scf::ForOp::create(b, loc, arith.index(0), arith.index(parts),
                                     arith.index(1));
  spmd::contract::Parts::set(code.partLoop, b.getI64IntegerAttr(parts));
  code.parts = parts;
  b.setInsertionPointToStart(code.partLoop.getBody());
  partFrom.assign(numDims, Quantity::of(0));
  partTo = sizes;
  Value rest = code.partLoop.getInductionVar();
  for (int dim : llvm::seq(d)) {
    if (cuts[dim] < 2)
      continue;
    Value mine = arith::RemUIOp::create(b, loc, rest, arith.index(cuts[dim]));
    rest = arith::DivUIOp::create(b, loc, rest, arith.index(cuts[dim]));
    // Queries and keys in whole tiles.
    int64_t extent = dim >= q ? tileOf(dim) : 1;
    Value count = arith.get(sizes[dim]);
    Value tiles =
        arith::CeilDivUIOp::create(b, loc, count, arith.index(extent));
    auto boundary = [&](Value number) {
      Value share = arith::MulIOp::create(b, loc, tiles, number);
      share = arith::DivUIOp::create(b, loc, share, arith.index(cuts[dim]));
      share = arith::MulIOp::create(b, loc, share, arith.index(extent));
      return Quantity{std::nullopt,
                      arith::MinUIOp::create(b, loc, share, count)};
    };
    partFrom[dim] = boundary(mine);
    partTo[dim] = boundary(arith::AddIOp::create(b, loc, mine, arith.index(1)));
  }
}
