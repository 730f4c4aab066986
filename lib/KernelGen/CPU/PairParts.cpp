//===- PairParts.cpp - A pair step in parts, for several threads ----------===//
//
// Batch dims first (heads: nothing is done twice), then queries: each part
// packs the keys that it meets. Rows of the state are one part's each, and are
// computed as in a step of one part. In the backward keys have sums over all
// queries, so that only batch dims that all gradients have are cut.
//
//===----------------------------------------------------------------------===//
#include "PairEmitter.h"
#include "shardc/Support/KernelAttributes.h"
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

/// Multiply-adds that are worth the few microseconds of letting others know.
static constexpr double kLeastProducts = 512 << 10;

void PairEmitter::beginParts(int64_t threads) {
  double products = 1;
  for (int dim : llvm::seq(d))
    products *= sizes[dim].orElse(512);
  if (products * (sizes[d].orElse(1) + sizes[e].orElse(1)) < kLeastProducts ||
      !sizes[d].fixed)
    return;
  auto inAllStates = [&](int dim) {
    return llvm::all_of(states,
                        [&](const Access &state) { return state.usesDim(dim); });
  };
  SmallVector<int64_t> cuts(numDims, 1); // parts along each dim
  int64_t left = threads;
  bool cutsQueries = inAllStates(q);
  for (int dim : llvm::seq(q)) {
    if (!inAllStates(dim) || !sizes[dim].fixed)
      continue;
    cuts[dim] = cutsQueries ? std::gcd(left, *sizes[dim].fixed)
                            : std::min(left, *sizes[dim].fixed);
    left /= std::max<int64_t>(cuts[dim], 1);
  }
  if (cutsQueries) {
    // At least a tile of rows for each.
    cuts[q] = left;
    if (sizes[q].fixed)
      cuts[q] = std::min(left, std::max<int64_t>(*sizes[q].fixed / rowsOfTile, 1));
  }
  int64_t parts = 1;
  for (int64_t cut : cuts)
    parts *= std::max<int64_t>(cut, 1);
  if (parts < 2)
    return;

  code.partLoop = scf::ForOp::create(b, loc, arith.index(0), arith.index(parts),
                                     arith.index(1));
  code.partLoop->setAttr(kPartsAttrName, b.getI64IntegerAttr(parts));
  code.parts = parts;
  b.setInsertionPointToStart(code.partLoop.getBody());
  partFrom.assign(numDims, Quantity::of(0));
  partTo = sizes;
  Value rest = code.partLoop.getInductionVar();
  for (int dim : llvm::seq(k)) {
    if (cuts[dim] < 2)
      continue;
    Value mine = arith::RemUIOp::create(b, loc, rest, arith.index(cuts[dim]));
    rest = arith::DivUIOp::create(b, loc, rest, arith.index(cuts[dim]));
    // Queries in whole tiles.
    int64_t extent = dim == q ? rowsOfTile : 1;
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
