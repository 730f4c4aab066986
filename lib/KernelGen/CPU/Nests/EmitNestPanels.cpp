//===- EmitNestPanels.cpp - An operand side by side in scratch ------------===//
//
// What many tiles read again, far apart or against the lanes, is copied once
// for all of them.
//
//===----------------------------------------------------------------------===//
#include "EmitNest.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Support/ElementBytes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

Quantity NestEmitter::panelSize(int dim) {
  Quantity size = dim == blocked ? Quantity::of(s.block) : nest.dims[dim].size;
  if (isPaired(dim) && size.fixed)
    return Quantity::of(llvm::alignTo(*size.fixed, 2));
  return size;
}

Type NestEmitter::panelElement() {
  Type element = nest.inputs[s.packed].element;
  if (s.pairs && element.isInteger(8))
    return b.getI16Type();
  return s.widens ? widening(nest.main, s.packed)->getResult(0).getType()
                  : element;
}

Value NestEmitter::toPanel(Value value) {
  return widened(b, widening(nest.main, s.packed), value, panelElement());
}

Value NestEmitter::loadPair(size_t input, Value pointer, bool isHalf) {
  Type half = b.getI16Type(), whole = b.getI32Type();
  if (nest.inputs[input].element.isInteger(8)) {
    auto both = VectorType::get({2}, b.getI8Type());
    Value value =
        isHalf
            ? vector::InsertOp::create(
                  b, loc, LLVM::LoadOp::create(b, loc, b.getI8Type(), pointer),
                  arith::ConstantOp::create(b, loc, b.getZeroAttr(both)), 0)
                  .getResult()
            : LLVM::LoadOp::create(b, loc, both, pointer, 1).getResult();
    value = widened(b, widening(nest.main, input), value, half);
    return LLVM::BitcastOp::create(b, loc, whole, value);
  }
  Value value = LLVM::LoadOp::create(b, loc, isHalf ? half : whole, pointer, 2);
  return isHalf ? LLVM::ZExtOp::create(b, loc, whole, value).getResult()
                : value;
}

/// The loop over parts that has the builder's position in it, or null: what is
/// made in it is there once for all parts.
static scf::ForOp partsAround(OpBuilder &b) {
  Operation *op = b.getInsertionBlock()->getParentOp();
  while (op && !spmd::contract::Parts::has(op))
    op = op->getParentOp();
  return dyn_cast_or_null<scf::ForOp>(op);
}

/// Gets scratch for one panel, or for one of each part.
void NestEmitter::allocatePanel() {
  const Access &original = nest.inputs[s.packed];
  scf::ForOp loop = partLoop ? partLoop : partsAround(b);
  int64_t count = loop ? spmd::contract::Parts::get(loop).getInt() : 1;
  Quantity bytes;
  Value address;
  {
    OpBuilder::InsertionGuard guard(b);
    if (loop)
      b.setInsertionPoint(loop);
    Quantity elements = Quantity::of(s.vectors * s.lanes);
    for (int dim : s.reductions)
      if (original.usesDim(dim))
        elements = arith.mul(elements, panelSize(dim));
    bytes = arith.mul(elements, Quantity::of(elementBytes(panelElement())));
    if (loop) {
      // A panel for each part, on lines of its own.
      if (bytes.fixed)
        bytes = Quantity::of(llvm::alignTo(*bytes.fixed, 64));
      else
        bytes = arith.mul(Quantity::of(Value(arith::CeilDivUIOp::create(
                              b, loc, bytes.value, arith.index(64)))),
                          Quantity::of(64));
    }
    Quantity all = loop ? arith.mul(bytes, Quantity::of(count)) : bytes;
    auto type = MemRefType::get({all.fixed ? *all.fixed : ShapedType::kDynamic},
                                b.getI8Type());
    SmallVector<Value> sizes;
    if (!all.fixed)
      sizes.push_back(all.value);
    Value scratch =
        memref::AllocOp::create(b, loc, type, sizes, b.getI64IntegerAttr(64));
    address = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, scratch);
  }
  if (loop) {
    Quantity part{std::nullopt, loop.getInductionVar()};
    address =
        arith.get(arith.add(Quantity::of(address), arith.mul(part, bytes)));
  }
  address = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
  panel = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
}

/// Copies what this tile of vectors reads of the packed operand to scratch, its
/// vectors side by side, and returns a state in which the operand is read
/// there.
NestEmitter::State NestEmitter::pack(const State &state, int64_t vectors,
                                     Value mask) {
  Access &input = nest.inputs[s.packed];
  SmallVector<int> dims;
  for (int dim : s.reductions)
    if (input.usesDim(dim))
      dims.push_back(dim);
  Access target;
  target.element = panelElement();
  target.coef.assign(nest.dims.size(), Quantity::of(0));
  target.coef[s.vec] = Quantity::of(1);
  Quantity step = Quantity::of(s.vectors * s.lanes);
  for (int dim : llvm::reverse(dims)) {
    target.coef[dim] = step;
    step = arith.mul(step, panelSize(dim));
  }
  // Steps of two where elements go in pairs; an odd one goes with a zero.
  bool isHalf = false;
  auto forEach = [&](int dim, const Quantity &size, const State &from,
                     const Continue &body) {
    if (!isPaired(dim))
      return forSteps(dim, Quantity::of(0), size, 1, from, body);
    Quantity whole = size.fixed ? Quantity::of(*size.fixed / 2 * 2) : size;
    forSteps(dim, Quantity::of(0), whole, 2, from, body);
    if (!size.fixed || *size.fixed % 2 == 0)
      return;
    isHalf = true;
    body(advance(from, dim, whole));
    isHalf = false;
  };
  std::function<void(ArrayRef<int>, const State &, Value)> copy =
      [&](ArrayRef<int> rest, const State &from, Value to) {
        if (rest.empty() && s.pairs) {
          int dim = s.reductions.back();
          SmallVector<int64_t> interleaved;
          for (int64_t lane : llvm::seq(s.lanes))
            interleaved.append({lane, lane + s.lanes});
          for (int64_t vector : llvm::seq(vectors)) {
            Value lastMask = vector + 1 == vectors ? mask : Value();
            Quantity offset = tileOffset(input, 0, 0, vector, s.lanes);
            Value even = load(input, from.pointers[inputAt(s.packed)], offset,
                              s.lanes, lastMask);
            Value odd = isHalf ? arith::ConstantOp::create(
                                     b, loc, b.getZeroAttr(even.getType()))
                                     .getResult()
                               : load(input, from.pointers[inputAt(s.packed)],
                                      arith.add(offset, input.coef[dim]),
                                      s.lanes, lastMask);
            Value both = vector::ShuffleOp::create(b, loc, toPanel(even),
                                                   toPanel(odd), interleaved);
            LLVM::StoreOp::create(
                b, loc, both,
                pointerAt(target, to, Quantity::of(2 * vector * s.lanes)),
                elementBytes(target.element));
          }
          return;
        }
        if (rest.empty()) {
          for (int64_t vector : llvm::seq(vectors)) {
            Value lastMask = vector + 1 == vectors ? mask : Value();
            Value value = load(input, from.pointers[inputAt(s.packed)],
                               tileOffset(input, 0, 0, vector, s.lanes),
                               s.lanes, lastMask);
            store(target, to, Quantity::of(vector * s.lanes), toPanel(value),
                  s.lanes, {});
          }
          return;
        }
        forEach(
            rest.front(),
            rest.front() == blocked ? blockSize : nest.dims[rest.front()].size,
            from, [&](const State &inner) {
              Quantity moved = arith.mul(arith.sub(inner.position[rest.front()],
                                                   from.position[rest.front()]),
                                         target.coef[rest.front()]);
              copy(rest.drop_front(), inner, pointerAt(target, to, moved));
            });
      };
  // Only the operand itself moves while it is copied.
  State only = state;
  for (auto [i, pointer] : llvm::enumerate(only.pointers))
    if (i != inputAt(s.packed))
      pointer = {};
  // Against the lanes, element by element, the lanes outermost: reads then run
  // along memory where a reduction dim does.
  const Quantity &along = input.coef[s.vec];
  if (s.pairs ? !along.is(1)
              : !along.is(1) && !along.is(-1) && (!along.is(2) || mask)) {
    if (s.pairs)
      target.coef[s.vec] = Quantity::of(2);
    Quantity count =
        mask ? arith.sub(nest.dims[s.vec].size, state.position[s.vec])
             : Quantity::of(vectors * s.lanes);
    // More than one vector may be left.
    if (mask && s.masksAll)
      count = Quantity::of(Value(arith::MinSIOp::create(
          b, loc, arith.get(count), arith.index(s.lanes))));
    std::function<void(ArrayRef<int>, const State &, Value)> scalars =
        [&](ArrayRef<int> rest, const State &from, Value to) {
          if (rest.empty() && s.pairs) {
            Value both =
                loadPair(s.packed, from.pointers[inputAt(s.packed)], isHalf);
            LLVM::StoreOp::create(b, loc, both, to,
                                  elementBytes(target.element));
            return;
          }
          if (rest.empty()) {
            Value value = load(input, from.pointers[inputAt(s.packed)],
                               Quantity::of(0), 1, {});
            return store(target, to, Quantity::of(0), toPanel(value), 1, {});
          }
          int dim = rest.front();
          Quantity size = dim == s.vec     ? count
                          : dim == blocked ? blockSize
                                           : nest.dims[dim].size;
          forEach(dim, size, from, [&](const State &inner) {
            Quantity steps = arith.sub(inner.position[dim], from.position[dim]);
            scalars(rest.drop_front(), inner,
                    pointerAt(target, to, arith.mul(steps, target.coef[dim])));
          });
        };
    SmallVector<int> order{s.vec};
    order.append(dims);
    scalars(order, only, panel);
  } else {
    copy(dims, only, panel);
  }
  State next = state;
  next.pointers[inputAt(s.packed)] = panel;
  input = target;
  input.pointer = panel;
  return next;
}
