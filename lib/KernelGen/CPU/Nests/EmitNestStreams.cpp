//===- EmitNestStreams.cpp - Stores that pass the caches by ---------------===//
//
// A store to a line that no cache has reads the line first, and evicts another
// one. Where a result is so large that none of it will be in a cache when it is
// wanted, whole vectors are written to memory directly: two thirds of the
// traffic of a copy, and half of its time.
//
// Such stores are not ordered with others. A fence behind the loops, before
// anyone is told that the result is there, orders them.
//
//===----------------------------------------------------------------------===//
#include "EmitNest.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Support/ElementBytes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

void NestEmitter::findStreamed() {
  if (nest.far.empty() || nest.reduces() || s.vec < 0 || s.packed >= 0)
    return;
  for (auto [output, isFar] : llvm::zip_equal(nest.stores(), nest.far)) {
    int64_t bytes = s.lanes * elementBytes(stored(output.element));
    if (!isFar || output.part >= 0 || (bytes != 32 && bytes != 64))
      continue;
    // Half lines of different places would not be joined.
    int along = output.liesAlong(s.vec) ? s.vec : -1;
    if (along < 0 && s.turns && bytes == 64 && output.liesAlong(s.row))
      along = s.row;
    auto keepsAligned = [&](int dim) {
      const Quantity &coef = output.coef[dim];
      return dim == along || (coef.fixed && *coef.fixed % s.lanes == 0);
    };
    if (along >= 0 &&
        llvm::all_of(llvm::seq<int>(nest.dims.size()), keepsAligned))
      streamed.push_back(&output);
  }
}

/// The outermost loop around the builder's position in which nobody is told of
/// results: its end is early enough for a fence.
static Operation *endOfStores(Operation *op) {
  auto isQuiet = [](Operation *loop) {
    return !loop->walk([](Operation *inner) {
                  bool tells =
                      isa<CallOpInterface>(inner) ||
                      isa_and_nonnull<spmd::SpmdDialect>(inner->getDialect());
                  return tells ? WalkResult::interrupt()
                               : WalkResult::advance();
                })
                .wasInterrupted();
  };
  while (isa<scf::ForOp>(op->getParentOp()) &&
         !spmd::contract::Parts::has(op->getParentOp()) &&
         isQuiet(op->getParentOp()))
    op = op->getParentOp();
  return op;
}

void NestEmitter::emitStreaming() {
  Value rest;
  for (const Access *access : streamed) {
    Value address =
        LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), access->pointer);
    int64_t bytes = s.lanes * elementBytes(stored(access->element));
    Value low = arith::AndIOp::create(
        b, loc, address,
        arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(bytes - 1)));
    rest = rest ? Value(arith::OrIOp::create(b, loc, rest, low)) : low;
  }
  Value isAligned = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq, rest,
      arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)));
  auto branch = scf::IfOp::create(b, loc, isAligned, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool streams : {true, false}) {
    Block *block = streams ? branch.thenBlock() : branch.elseBlock();
    b.setInsertionPoint(block->getTerminator());
    isStreaming = streams;
    emitAll(start());
  }
  Operation *end = endOfStores(branch);
  if (!isa_and_nonnull<LLVM::FenceOp>(end->getNextNode())) {
    b.setInsertionPointAfter(end);
    LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst);
  }
}

void NestEmitter::storeVector(const Access &access, Value value,
                              Value pointer) {
  unsigned bytes = elementBytes(stored(access.element));
  if (isStreamed(access))
    LLVM::StoreOp::create(b, loc, value, pointer, bytes * s.lanes,
                          /*isVolatile=*/false, /*isNonTemporal=*/true);
  else
    LLVM::StoreOp::create(b, loc, value, pointer, bytes);
}
