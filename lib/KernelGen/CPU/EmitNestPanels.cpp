//===- EmitNestPanels.cpp - An operand side by side in scratch -----------===//
//
// What many tiles read again, far apart or against the lanes, is copied once
// for all of them.
//
//===----------------------------------------------------------------------===//
#include "EmitNest.h"
#include "shardc/Support/ElementBytes.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

/// Gets scratch for one panel.
void NestEmitter::allocatePanel() {
  const Access &original = nest.inputs[s.packed];
  Quantity bytes;
  Value address;
  {
    OpBuilder::InsertionGuard guard(b);
    if (partLoop)
      b.setInsertionPoint(partLoop);
    Quantity elements = Quantity::of(s.vectors * s.lanes);
    for (int dim : s.reductions)
      if (original.usesDim(dim))
        elements = arith.mul(elements, dim == blocked ? Quantity::of(s.block)
                                                      : nest.dims[dim].size);
    bytes = arith.mul(elements, Quantity::of(elementBytes(original.element)));
    if (partLoop) {
      // A panel for each part, on lines of its own.
      if (bytes.fixed)
        bytes = Quantity::of(llvm::alignTo(*bytes.fixed, 64));
      else
        bytes = arith.mul(Quantity::of(Value(arith::CeilDivUIOp::create(
                              b, loc, bytes.value, arith.index(64)))),
                          Quantity::of(64));
    }
    Quantity all = partLoop ? arith.mul(bytes, Quantity::of(parts)) : bytes;
    auto type = MemRefType::get({all.fixed ? *all.fixed : ShapedType::kDynamic},
                                b.getI8Type());
    SmallVector<Value> sizes;
    if (!all.fixed)
      sizes.push_back(all.value);
    Value scratch =
        memref::AllocOp::create(b, loc, type, sizes, b.getI64IntegerAttr(64));
    address = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, scratch);
  }
  if (partLoop) {
    Quantity part{std::nullopt, partLoop.getInductionVar()};
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
  target.element = input.element;
  target.coef.assign(nest.dims.size(), Quantity::of(0));
  target.coef[s.vec] = Quantity::of(1);
  Quantity step = Quantity::of(s.vectors * s.lanes);
  for (int dim : llvm::reverse(dims)) {
    target.coef[dim] = step;
    step = arith.mul(step, dim == blocked ? Quantity::of(s.block)
                                          : nest.dims[dim].size);
  }
  std::function<void(ArrayRef<int>, const State &, Value)> copy =
      [&](ArrayRef<int> rest, const State &from, Value to) {
        if (rest.empty()) {
          for (int64_t vector : llvm::seq(vectors)) {
            Value lastMask = vector + 1 == vectors ? mask : Value();
            Value value = load(input, from.pointers[inputAt(s.packed)],
                               tileOffset(input, 0, 0, vector, s.lanes),
                               s.lanes, lastMask);
            store(target, to, Quantity::of(vector * s.lanes), value, s.lanes,
                  {});
          }
          return;
        }
        forSteps(
            rest.front(), Quantity::of(0),
            rest.front() == blocked ? blockSize : nest.dims[rest.front()].size,
            1, from, [&](const State &inner) {
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
  if (!along.is(1) && !along.is(-1) && (!along.is(2) || mask)) {
    Quantity count =
        mask ? arith.sub(nest.dims[s.vec].size, state.position[s.vec])
             : Quantity::of(vectors * s.lanes);
    std::function<void(ArrayRef<int>, const State &, Value)> scalars =
        [&](ArrayRef<int> rest, const State &from, Value to) {
          if (rest.empty()) {
            Value value = load(input, from.pointers[inputAt(s.packed)],
                               Quantity::of(0), 1, {});
            return store(target, to, Quantity::of(0), value, 1, {});
          }
          int dim = rest.front();
          Quantity size = dim == s.vec     ? count
                          : dim == blocked ? blockSize
                                           : nest.dims[dim].size;
          forSteps(dim, Quantity::of(0), size, 1, from,
                   [&](const State &inner) {
                     Quantity steps =
                         arith.sub(inner.position[dim], from.position[dim]);
                     scalars(rest.drop_front(), inner,
                             pointerAt(target, to,
                                       arith.mul(steps, target.coef[dim])));
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
