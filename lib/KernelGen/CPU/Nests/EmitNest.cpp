//===- EmitNest.cpp - The loops of a nest ---------------------------------===//
#include "EmitNest.h"
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

NestEmitter::State NestEmitter::advance(const State &state, int dim,
                                        const Quantity &by) {
  State next = state;
  next.position[dim] = arith.add(state.position[dim], by);
  if (by.is(0))
    return next;
  for (auto [i, access] : llvm::enumerate(all))
    if (next.pointers[i] && access->usesDim(dim))
      next.pointers[i] = pointerAt(*access, next.pointers[i],
                                   arith.mul(by, access->coef[dim]));
  return next;
}

void NestEmitter::forSteps(int dim, Quantity from, Quantity to, int64_t step,
                           const State &state, const Continue &body) {
  if (from.fixed && to.fixed) {
    if (*from.fixed >= *to.fixed)
      return;
    if (*to.fixed - *from.fixed <= step)
      return body(advance(state, dim, from));
  }
  auto loop = scf::ForOp::create(b, loc, arith.get(from), arith.get(to),
                                 arith.index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(advance(state, dim, Quantity{std::nullopt, loop.getInductionVar()}));
}

void NestEmitter::forDims(ArrayRef<int> dims, const State &state,
                          const Continue &body) {
  if (dims.empty())
    return body(state);
  forSteps(
      dims.front(), fromOf(dims.front()), toOf(dims.front()), 1, state,
      [&](const State &inner) { forDims(dims.drop_front(), inner, body); });
}

/// Calls `body` with the number of rows (or columns) of each tile of `dim`.
void NestEmitter::forTiles(int dim, int64_t extent, const State &state,
                           const TileContinue &body) {
  if (dim < 0)
    return body(state, 1, {});
  const Quantity &size = nest.dims[dim].size;
  if (size.fixed) {
    int64_t full = *size.fixed / extent * extent;
    forSteps(dim, fromOf(dim), fullTo(dim, Quantity::of(full)), extent, state,
             [&](const State &inner) { body(inner, extent, {}); });
    if (full < *size.fixed)
      inLastPart(dim, [&] {
        if (s.transposes) // too few rows to transpose
          return forSteps(dim, Quantity::of(full), size, 1, state,
                          [&](const State &inner) { body(inner, 1, {}); });
        body(advance(state, dim, Quantity::of(full)), *size.fixed - full, {});
      });
    return;
  }
  SmallVector<int64_t> extents{extent};
  if (s.transposes) // too few rows to transpose
    extents.push_back(1);
  else
    extents.append(restExtents(extent));
  Quantity from = fromOf(dim), rest = size;
  // What is left on each rank, or a number that it is a multiple of.
  SmallVector<int64_t> left = size.entries();
  bool isKnown = !left.empty();
  if (!isKnown)
    left = {size.multiple()};
  for (int64_t rows : extents) {
    bool isLast =
        llvm::all_of(left, [&](int64_t number) { return number % rows == 0; });
    for (int64_t &number : left)
      number = isKnown ? number % rows : std::gcd(number, rows);
    Quantity to = toOf(dim);
    if (!isLast) {
      rest = Quantity::of(
          Value(arith::RemUIOp::create(b, loc, rest.value, arith.index(rows))));
      to = fullTo(dim, arith.sub(size, rest));
    }
    forSteps(dim, from, to, rows, state,
             [&](const State &inner) { body(inner, rows, {}); });
    if (isLast)
      return;
    from = to;
  }
}

/// Calls `body` with the number of vectors and the mask of the last of them.
void NestEmitter::forVectors(const State &state, const TileContinue &body) {
  int dim = s.vec;
  if (dim < 0)
    return body(state, 1, {});
  if (isStreaming && leads)
    return forLedVectors(state, body);
  const Quantity &size = nest.dims[dim].size;
  int64_t extent = s.vectors * s.lanes;
  auto maskType = VectorType::get({s.lanes}, b.getI1Type());
  if (size.fixed) {
    int64_t full = *size.fixed / extent * extent, rest = *size.fixed - full;
    forSteps(dim, fromOf(dim), fullTo(dim, Quantity::of(full)), extent, state,
             [&](const State &inner) { body(inner, s.vectors, {}); });
    if (rest == 0)
      return;
    return inLastPart(dim, [&] {
      Value mask;
      if (rest % s.lanes)
        mask = vector::CreateMaskOp::create(
            b, loc, maskType, ValueRange{arith.index(rest % s.lanes)});
      body(advance(state, dim, Quantity::of(full)),
           llvm::divideCeil(rest, s.lanes), mask);
    });
  }
  auto vector = [&](const State &inner) {
    if (size.multiple() % s.lanes == 0)
      return body(inner, 1, {});
    Quantity left = arith.sub(size, inner.position[dim]);
    Value mask = vector::CreateMaskOp::create(b, loc, maskType,
                                              ValueRange{arith.get(left)});
    body(inner, 1, mask);
  };
  if (s.masksAll)
    return forSteps(dim, fromOf(dim), toOf(dim), s.lanes, state, vector);
  Quantity full = size;
  bool isWhole = size.multiple() % extent == 0;
  if (!isWhole) {
    Value rest =
        arith::RemUIOp::create(b, loc, arith.get(size), arith.index(extent));
    full = arith.sub(size, Quantity::of(rest));
  }
  full = fullTo(dim, full);
  forSteps(dim, fromOf(dim), full, extent, state,
           [&](const State &inner) { body(inner, s.vectors, {}); });
  if (isWhole)
    return;
  if (s.vectors > 1)
    return forSteps(dim, full, toOf(dim), s.lanes, state, vector);
  // One vector at most.
  Value hasRest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                        arith.get(full), arith.get(toOf(dim)));
  auto branch = scf::IfOp::create(b, loc, hasRest, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  vector(advance(state, dim, full));
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

NestEmitter::State NestEmitter::start() {
  State start;
  for (Access *access : all)
    start.pointers.push_back(access->pointer);
  start.position.assign(nest.dims.size(), Quantity::of(0));
  return start;
}

void NestEmitter::emit() {
  shared = parts > 1 ? chooseShared() : -1;
  if (shared < 0)
    return emitPart();
  OpBuilder::InsertionGuard guard(b);
  beginParts();
  emitPart();
}

void NestEmitter::emitPart() {
  if (!s.hoisted.empty())
    return emitBlocks();
  findStreamed();
  if (!streamed.empty())
    return emitStreaming();
  emitAll(start());
}

/// Hoisted reduction dims around everything; outputs are summed up in memory.
void NestEmitter::emitBlocks() {
  State start = this->start();
  SmallVector<int> parallel;
  for (int dim : llvm::seq<int>(nest.dims.size()))
    if (!nest.dims[dim].reduces)
      parallel.push_back(dim);
  for (auto [i, output] : llvm::enumerate(nest.outputs)) {
    if (!nest.initial[i])
      continue;
    forDims(parallel, start, [&, i = i, &output = output](const State &state) {
      store(output, state.pointers[outputAt(i)], Quantity::of(0),
            nest.initial[i], 1, {});
    });
    nest.initial[i] = {};
  }
  forDims(ArrayRef(s.hoisted).drop_back(), start, [&](const State &state) {
    int dim = s.hoisted.back();
    const Quantity &size = nest.dims[dim].size;
    if (s.block == 1)
      return forDims(dim, state, [&](const State &inner) { emitAll(inner); });
    blocked = dim;
    forSteps(dim, Quantity::of(0), size, s.block, state,
             [&](const State &inner) {
               blockSize = Quantity::of(s.block);
               if (!size.fixed || *size.fixed % s.block != 0) {
                 Quantity left = arith.sub(size, inner.position[dim]);
                 blockSize = Quantity::of(Value(arith::MinSIOp::create(
                     b, loc, arith.get(left), arith.index(s.block))));
               }
               emitAll(inner);
             });
    blocked = -1;
  });
}

/// The outer loops and tiles, from `start`.
void NestEmitter::emitAll(const State &start) {
  auto rows = [&](const State &state, const Continue &body, Tile &tile) {
    forTiles(s.row, s.rows, state,
             [&](const State &inner, int64_t count, Value) {
               tile.rows = count;
               forTiles(s.column, s.columns, inner,
                        [&](const State &innermost, int64_t count, Value) {
                          tile.columns = count;
                          body(innermost);
                        });
             });
  };
  Tile tile;
  if (s.vecReduces || s.packed < 0) {
    forDims(s.outer, start, [&](const State &state) {
      rows(
          state,
          [&](const State &inner) {
            if (s.vecReduces) {
              tile.vectors = s.vectors;
              return emitTile(inner, tile);
            }
            forVectors(inner, [&](const State &innermost, int64_t vectors,
                                  Value mask) {
              tile.vectors = vectors;
              tile.mask = mask;
              emitTile(innermost, tile);
            });
          },
          tile);
    });
    return;
  }

  Access original = nest.inputs[s.packed];
  allocatePanel();
  SmallVector<int> before, after;
  for (int dim : s.outer)
    (original.usesDim(dim) ? before : after).push_back(dim);
  forDims(before, start, [&](const State &state) {
    forVectors(state, [&](const State &inner, int64_t vectors, Value mask) {
      tile.vectors = vectors;
      tile.mask = mask;
      State packedState = pack(inner, vectors, mask);
      forDims(after, packedState, [&](const State &most) {
        rows(most, [&](const State &last) { emitTile(last, tile); }, tile);
      });
      nest.inputs[s.packed] = original;
    });
  });
}

void cpu::emitNest(OpBuilder &builder, Nest &nest, const Schedule &schedule,
                   int64_t parts) {
  NestEmitter(builder, nest, schedule, parts).emit();
}
