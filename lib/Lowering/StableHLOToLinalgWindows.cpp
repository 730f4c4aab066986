//===- StableHLOToLinalgWindows.cpp - select_and_scatter ------------------===//
#include "StableHLOToLinalg.h"

#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

// For each source element: walk its window, keep the element that `select`
// prefers (the first of equals), and combine the source into that place.
// Positions in the padding are not candidates.
static LogicalResult lowerSelectAndScatter(Lowerer &l,
                                           stablehlo::SelectAndScatterOp op) {
  ImplicitLocOpBuilder &b = l.b;
  Value input = l.tensor(op.getOperand()), source = l.tensor(op.getSource());
  Value init = l.scalar(op.getInitValue());
  Type element = init.getType();
  SmallVector<OpFoldResult> extents = l.sizes(input);
  int64_t rank = extents.size();
  SmallVector<int64_t> strides = op.getWindowStridesOrOnes();
  SmallVector<OpFoldResult> window;
  for (int64_t extent : op.getWindowDimensionsOrOnes())
    window.push_back(b.getIndexAttr(extent));
  SmallVector<Value> bounds =
      llvm::map_to_vector(extents, [&](OpFoldResult e) { return l.value(e); });
  Value zero = l.index(0), no = l.zero(b.getI1Type()),
        nothing = l.zero(element);
  bool ok = true;

  auto visit = [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
    // Carried through the window: found, best element, its position.
    SmallVector<Value> state = {no, nothing};
    state.append(rank, zero);
    SmallVector<Value> chosen =
        l.loops(window, state, [&](ValueRange offset, ValueRange now) {
          Value inside, found = now[0], best = now[1];
          SmallVector<Value> position;
          for (int64_t dim = 0; dim < rank; ++dim) {
            Value base =
                arith::MulIOp::create(b, at[dim], l.index(strides[dim]));
            Value reach = arith::AddIOp::create(b, base, offset[dim]);
            Value p = arith::SubIOp::create(
                b, reach, l.index(op.getPaddingOrZeros()[dim].first));
            // Below zero is far above every bound, read as unsigned.
            Value in = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, p,
                                             bounds[dim]);
            position.push_back(arith::SelectOp::create(b, in, p, zero));
            inside =
                inside ? arith::AndIOp::create(b, inside, in).getResult() : in;
          }
          if (!inside)
            inside = l.number(b.getI1Type(), 1);
          Value candidate = tensor::ExtractOp::create(b, input, position);
          SmallVector<Value> keep =
              l.scalarRegion(op.getSelect(), {best, candidate});
          ok &= !keep.empty();
          Value kept =
              ok ? arith::AndIOp::create(b, found, keep[0]).getResult() : found;
          Value yes = l.number(b.getI1Type(), 1);
          Value better = arith::XOrIOp::create(b, kept, yes);
          Value take = arith::AndIOp::create(b, inside, better);
          SmallVector<Value> next = {
              arith::OrIOp::create(b, found, inside),
              arith::SelectOp::create(b, take, candidate, best)};
          for (int64_t dim = 0; dim < rank; ++dim)
            next.push_back(
                arith::SelectOp::create(b, take, position[dim], now[2 + dim]));
          return next;
        });
    ValueRange place = ValueRange(chosen).drop_front(2);
    Value old = tensor::ExtractOp::create(b, carried[0], place);
    Value update = tensor::ExtractOp::create(b, source, at);
    SmallVector<Value> sum = l.scalarRegion(op.getScatter(), {old, update});
    ok &= !sum.empty();
    // A window that lies in the padding as a whole changes nothing.
    Value next =
        ok ? arith::SelectOp::create(b, chosen[0], sum[0], old).getResult()
           : old;
    return {tensor::InsertOp::create(b, next, carried[0], place).getResult()};
  };
  SmallVector<Value> result =
      l.loops(l.sizes(source), l.filled(extents, init), visit);
  l.set(op, result.front());
  return success(ok);
}

void shardc::lowering::addWindows(LoweringTable &table) {
  table.op<stablehlo::SelectAndScatterOp>(lowerSelectAndScatter);
}
