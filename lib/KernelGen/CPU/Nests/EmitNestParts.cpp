//===- EmitNestParts.cpp - A nest in parts, for several threads -----------===//
//
// Each part has some tiles of one parallel dim and does all that the nest does
// for them: no element is computed in another way than in a nest of one part,
// so that results have the same bits however many threads there are.
//
//===----------------------------------------------------------------------===//
#include "EmitNest.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Machine/Cost.h"
#include "shardc/Support/KernelAttributes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

/// True if each element of `op`'s outputs belongs to one point of its parallel
/// dims, and no two parts write to one.
static bool isParallel(linalg::GenericOp op) {
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return llvm::all_of(op.getMatchingIndexingMap(&init).getResults(),
                        llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
  });
}

int64_t NestEmitter::extentOf(int dim) const {
  if (dim == s.row)
    return s.rows;
  if (dim == s.column)
    return s.columns;
  if (dim == s.vec)
    return s.vectors * s.lanes;
  return 1;
}

int NestEmitter::chooseShared() {
  if (!isParallel(nest.main) || (nest.epilogue && !isParallel(nest.epilogue)))
    return -1;
  double points = 1;
  for (const Dim &dim : nest.dims)
    points *= dim.size.guess();
  // Multiply-adds, or about as many bytes as an element of each operand has.
  Cost cost(machineOf(nest.main));
  double seconds = isContraction(nest.main) ? cost.compute(2 * points)
                                            : cost.access(8 * points);
  if (seconds < cost.getMachine().forkSeconds)
    return -1;
  // In the order of the loops, outermost first.
  SmallVector<int> order(s.outer);
  for (int dim : {s.row, s.column, s.vecReduces ? -1 : s.vec})
    if (dim >= 0)
      order.push_back(dim);
  int best = -1;
  double most = 1.0 / parts; // what one part alone would make of the threads
  for (int dim : order) {
    int64_t tiles = nest.dims[dim].size.guess() / extentOf(dim);
    if (tiles < 2)
      continue;
    // The share of its time that a thread is busy.
    double busy = double(tiles) / (llvm::divideCeil(tiles, parts) * parts);
    // Who does not cut what is packed packs all of it.
    if (s.packed >= 0 && !nest.inputs[s.packed].usesDim(dim))
      busy *= 0.9;
    if (busy > most * Cost::kMargin) {
      most = busy;
      best = dim;
    }
  }
  return best;
}

void NestEmitter::beginParts() {
  partLoop = scf::ForOp::create(b, loc, arith.index(0), arith.index(parts),
                                arith.index(1));
  spmd::contract::Parts::set(partLoop, b.getI64IntegerAttr(parts));
  b.setInsertionPointToStart(partLoop.getBody());
  const Quantity &size = nest.dims[shared].size;
  int64_t extent = extentOf(shared);
  Value part = partLoop.getInductionVar();
  Value tiles = size.fixed ? arith.index(*size.fixed / extent)
                           : Value(arith::DivUIOp::create(b, loc, size.value,
                                                          arith.index(extent)));
  auto boundary = [&](Value number) {
    Value share = arith::MulIOp::create(b, loc, tiles, number);
    share = arith::DivUIOp::create(b, loc, share, arith.index(parts));
    return arith.mul(Quantity{std::nullopt, share}, Quantity::of(extent));
  };
  partFrom = boundary(part);
  Value next = arith::AddIOp::create(b, loc, part, arith.index(1));
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                                       arith.index(parts));
  partTo = {std::nullopt,
            arith::SelectOp::create(b, loc, isLast, arith.get(size),
                                    arith.get(boundary(next)))};
}

Quantity NestEmitter::fullTo(int dim, const Quantity &full) {
  if (dim != shared)
    return full;
  return {std::nullopt,
          arith::MinSIOp::create(b, loc, arith.get(partTo), arith.get(full))};
}

void NestEmitter::inLastPart(int dim, llvm::function_ref<void()> rest) {
  if (dim != shared)
    return rest();
  Value isLast =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, arith.get(partTo),
                            arith.get(nest.dims[dim].size));
  auto branch = scf::IfOp::create(b, loc, isLast, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  rest();
}
