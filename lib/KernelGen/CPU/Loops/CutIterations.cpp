//===- CutIterations.cpp - Some of the iterations for each part -----------===//
//
// All iterations of a loop use its index as the position in one dim of whatever
// is written: each part has some of the iterations, and buffers of its own in
// place of those that are made in the loop.
//
//===----------------------------------------------------------------------===//
#include "../Nests/Nest.h"
#include "CutLoops.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Machine/Cost.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu::loops;
using cpu::mayAlias;

/// True if no iteration of `loop`, in `nest`, touches what another one writes,
/// once each has buffers of its own.
static bool areApart(scf::ForOp loop, ArrayRef<Access> accesses) {
  for (const Access &write : accesses) {
    Operation *made = write.root.getDefiningOp();
    if (!write.writes || (made && loop->isProperAncestor(made)))
      continue;
    llvm::SmallBitVector dims(cast<MemRefType>(write.root.getType()).getRank(),
                              true);
    for (const Access &access : accesses) {
      if (access.root != write.root) {
        if (mayAlias(access.root, write.root))
          return false;
        continue;
      }
      if (access.offsets.empty())
        return false;
      for (unsigned dim : llvm::seq<unsigned>(dims.size()))
        if (!isConstantIntValue(access.sizes[dim], 1) ||
            access.offsets[dim] != OpFoldResult(loop.getInductionVar()))
          dims.reset(dim);
    }
    if (dims.none())
      return false;
  }
  return true;
}

/// The loop of `nest`, itself or one of which it has nothing else, that is best
/// cut in `parts`; null if there is none.
static scf::ForOp loopToCut(scf::ForOp nest, ArrayRef<Access> accesses,
                            int64_t parts) {
  scf::ForOp best;
  double most = 1.0 / parts; // what one part alone would make of the threads
  for (scf::ForOp loop = nest; loop && !loop->getNumResults();) {
    if (isConstantIntValue(loop.getStep(), 1) &&
        isFixedIn(loop.getLowerBound(), nest) &&
        isFixedIn(loop.getUpperBound(), nest) && areApart(loop, accesses)) {
      auto count = int64_t(tripsOf(loop));
      // The share of its time that a thread is busy.
      double busy = double(count) / (llvm::divideCeil(count, parts) * parts);
      if (count > 1 && busy > most * Cost::kMargin) {
        most = busy;
        best = loop;
      }
    }
    Block *body = loop.getBody();
    bool isPerfect = body->getOperations().size() == 2;
    loop = isPerfect ? dyn_cast<scf::ForOp>(body->front()) : scf::ForOp();
  }
  return best;
}

/// Gives each of the `parts` of `partLoop` a share of one buffer in place of
/// `alloc`.
static void makeOwn(memref::AllocOp alloc, scf::ForOp partLoop, int64_t parts) {
  Location loc = alloc.getLoc();
  OpBuilder b(partLoop);
  int64_t bytes = *mostBytes(alloc);
  auto all = memref::AllocOp::create(
      b, loc, MemRefType::get({parts * bytes}, b.getI8Type()), ValueRange(),
      b.getI64IntegerAttr(64));
  b.setInsertionPoint(alloc);
  Value share = arith::ConstantIndexOp::create(b, loc, bytes);
  Value from = arith::MulIOp::create(b, loc, partLoop.getInductionVar(), share);
  Value own = memref::ViewOp::create(b, loc, alloc.getType(), all, from,
                                     alloc.getDynamicSizes());
  alloc.replaceAllUsesWith(own);
  alloc.erase();
}

bool cpu::loops::cutIterations(scf::ForOp nest, ArrayRef<Access> accesses,
                               ArrayRef<memref::AllocOp> buffers,
                               int64_t parts) {
  scf::ForOp loop = loopToCut(nest, accesses, parts);
  if (!loop)
    return false;
  scf::ForOp partLoop = beginParts(nest, parts);
  Location loc = nest.getLoc();
  nest->moveBefore(partLoop.getBody()->getTerminator());
  OpBuilder b(loop);
  Value from = loop.getLowerBound(), to = loop.getUpperBound();
  Value all = arith::SubIOp::create(b, loc, to, from);
  Value count = arith::ConstantIndexOp::create(b, loc, parts);
  auto boundary = [&](Value part) -> Value {
    Value share = arith::MulIOp::create(b, loc, all, part);
    share = arith::DivSIOp::create(b, loc, share, count);
    return arith::AddIOp::create(b, loc, from, share);
  };
  Value part = partLoop.getInductionVar();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  loop.setLowerBound(boundary(part));
  loop.setUpperBound(boundary(arith::AddIOp::create(b, loc, part, one)));
  for (memref::AllocOp buffer : buffers)
    makeOwn(buffer, partLoop, parts);
  return true;
}
