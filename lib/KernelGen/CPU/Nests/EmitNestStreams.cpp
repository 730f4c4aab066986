//===- EmitNestStreams.cpp - Stores that pass the caches by ---------------===//
//
// A store to a line that no cache has reads the line first, and evicts another
// one. Where a result is so large that none of it will be in a cache when it is
// wanted, whole vectors are written to memory directly: two thirds of the
// traffic of a copy, and half of its time.
//
// Rows that begin anywhere have a few elements before their first whole vector
// in memory, and a few behind the last: these are stored as ever.
//
// Such stores are not ordered with others. A fence behind the loops, before
// the result is published, orders them.
//
//===----------------------------------------------------------------------===//
#include "EmitNest.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Support/ElementBytes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

/// So many vectors of a row are worth the two that have a mask: at most a 13th
/// of the row's. [maths]
static constexpr int64_t kLeastVectors = 24;

void NestEmitter::findStreamed() {
  if (nest.far.empty() || s.vec < 0 || s.packed >= 0 || s.vecReduces ||
      !s.hoisted.empty())
    return;
  linalg::GenericOp main = nest.main;
  bool mayLead = !nest.reduces() && nest.stores().size() == 1 &&
                 !s.transposes && !s.interleaves &&
                 nest.dims[s.vec].size.guess() >= kLeastVectors * s.lanes &&
                 main.getBody()->getOps<memref::LoadOp>().empty();
  for (auto [output, isFar] : llvm::zip_equal(nest.stores(), nest.far)) {
    int64_t bytes = s.lanes * elementBytes(stored(output.element));
    if (!isFar || output.part >= 0 || (bytes != 32 && bytes != 64))
      continue;
    // Half lines of different places would not be joined.
    int along = output.isContiguous(s.vec) ? s.vec : -1;
    if (along < 0 && (s.transposes || s.interleaves) && bytes == 64 &&
        output.isContiguous(s.row))
      along = s.row;
    auto keepsAligned = [&](int dim) {
      const Quantity &coef = output.coef[dim];
      return dim == along || (s.interleaves && dim == s.vec) || !coef.fixed ||
             *coef.fixed % s.lanes == 0;
    };
    if (along < 0)
      continue;
    // As far as is known: the rest is asked when it runs.
    bool mayBeAligned =
        llvm::all_of(llvm::seq<int>(nest.dims.size()), keepsAligned);
    bool isKnown = llvm::all_of(output.coef, [](const Quantity &coef) {
      return coef.fixed.has_value();
    });
    // Masks cost as little as nothing with AVX-512 alone.
    leads = !(mayBeAligned && isKnown) && mayLead && bytes == 64;
    if (mayBeAligned || leads)
      streamed.push_back(&output);
  }
}

/// The outermost loop around the builder's position in which nothing is
/// published of results: its end is early enough for a fence.
static Operation *endOfStores(Operation *op) {
  auto isQuiet = [](Operation *loop) {
    return !loop->walk([](Operation *inner) {
                  bool publishes =
                      isa<CallOpInterface>(inner) || spmd::isOfLevel(inner);
                  return publishes ? WalkResult::interrupt()
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

void NestEmitter::forLedVectors(const State &state, const TileContinue &body) {
  int dim = s.vec;
  const Access &output = *streamed.front();
  State row = advance(state, dim, fromOf(dim));
  Value pointer = row.pointers[llvm::find(all, &output) - all.begin()];
  // Elements up to the next multiple of a vector.
  Value address = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), pointer);
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  Value place = arith::ShRUIOp::create(
      b, loc, address,
      number(llvm::Log2_64(elementBytes(stored(output.element)))));
  Value before = arith::SubIOp::create(b, loc, number(0), place);
  before = arith::AndIOp::create(b, loc, before, number(s.lanes - 1));
  before = arith::IndexCastOp::create(b, loc, b.getIndexType(), before);
  Quantity count = arith.sub(toOf(dim), fromOf(dim));
  before = arith::MinSIOp::create(b, loc, before, arith.get(count));
  auto maskType = VectorType::get({s.lanes}, b.getI1Type());
  auto masked = [&](const State &at, Value lanes) {
    body(at, 1, vector::CreateMaskOp::create(b, loc, maskType, lanes));
  };
  masked(row, before);
  Quantity first = arith.add(fromOf(dim), Quantity::of(before));
  Value left = arith.get(arith.sub(count, Quantity::of(before)));
  // Where whole tiles and where whole vectors end.
  auto endOf = [&](int64_t extent) {
    Value rest = arith::RemUIOp::create(b, loc, left, arith.index(extent));
    return arith.sub(toOf(dim), Quantity::of(rest));
  };
  int64_t extent = s.vectors * s.lanes;
  Quantity tiles = endOf(extent), vectors = endOf(s.lanes);
  forSteps(dim, first, tiles, extent, state,
           [&](const State &inner) { body(inner, s.vectors, {}); });
  if (s.vectors > 1)
    forSteps(dim, tiles, vectors, s.lanes, state,
             [&](const State &inner) { body(inner, 1, {}); });
  masked(advance(state, dim, vectors),
         arith.get(arith.sub(toOf(dim), vectors)));
}

void NestEmitter::emitStreaming() {
  if (leads) {
    // Each row finds where its vectors begin.
    isStreaming = true;
    emitAll(start());
    orderStores(&*std::prev(b.getInsertionPoint()));
    return;
  }
  Value rest;
  for (const Access *access : streamed) {
    int64_t bytes = elementBytes(stored(access->element));
    auto keep = [&](Value distance) {
      Value low = arith::AndIOp::create(
          b, loc, distance,
          arith::ConstantOp::create(b, loc,
                                    b.getI64IntegerAttr(s.lanes * bytes - 1)));
      rest = rest ? Value(arith::OrIOp::create(b, loc, rest, low)) : low;
    };
    keep(LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), access->pointer));
    for (const Quantity &coef : access->coef)
      if (!coef.fixed)
        keep(arith::IndexCastOp::create(
            b, loc, b.getI64Type(),
            arith.get(arith.mul(coef, Quantity::of(bytes)))));
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
  orderStores(branch);
}

void NestEmitter::orderStores(Operation *last) {
  OpBuilder::InsertionGuard guard(b);
  Operation *end = endOfStores(last);
  if (isa_and_nonnull<LLVM::FenceOp>(end->getNextNode()))
    return;
  b.setInsertionPointAfter(end);
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst);
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
