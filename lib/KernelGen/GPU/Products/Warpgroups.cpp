//===- Warpgroups.cpp - Products on the tensor cores of sm_90a ------------===//
//
// Behind the producer are two warpgroups that have half of a tile's rows each:
// they wait until a stage is full, multiply it (wgmma reads both operands from
// shared memory), and say that it is empty when the product behind has begun.
// Where there are tiles enough, two blocks are a cluster: their tiles are one
// below the other, so their right operands are the same. Each loads half of
// these for both (multicast), and a stage is empty when both have read it. So
// two thirds of the bytes come from L2.
//
//===----------------------------------------------------------------------===//
#include "Specialised.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Registers of a producer's thread, and of a consumer's; and where
/// threads find each piece of a tile themselves. [shape]
static constexpr int64_t kFewRegisters = 40, kManyRegisters = 232;
static constexpr int64_t kGatherRegisters = 72, kOtherRegisters = 216;
/// Rows of tiles from which on one may have no other below it. [shape]
static constexpr int64_t kMostlyPaired = 16;

namespace {
class WarpgroupKernel : public SpecialisedKernel {
public:
  WarpgroupKernel(const ProductKernel &prepared, Tiling tiling, bool pair)
      : SpecialisedKernel(prepared, tiling), pair(pair) {}

private:
  spmd::KernelGpu gpu() const override { return spmd::KernelGpu::Sm90a; }
  int64_t blocksOfTile() const override { return pair ? 2 : 1; }
  bool multicasts() const override { return pair; }
  /// A warp of those that multiply arrives once, at each block's.
  int64_t releases() const override {
    return blocksOfTile() * kConsumers * kGroup / kWarp;
  }
  void emitRoles() override;
  void consume();
  /// Floats of 8 bits may differ.
  Type elementOf(const Factor &factor) const {
    return elementBytes() == 1 ? factor.value.getType() : Type(product.element);
  }
  SmallVector<Value> exchange(Value sums, Share &share);

  bool pair;
};
} // namespace

SmallVector<Value> WarpgroupKernel::exchange(Value sums, Share &share) {
  // A lane has two neighbours of one row and two of the eighth below; the lane
  // beside it has the next two of each. They share out the rows: four each.
  Value odd = isSame(rem(lane, 2), index(1));
  Value half = rem(lane, 2);
  share.rows = {add(mul(rem(div(thread, kWarp), 4), 16),
                    add(div(lane, 4), mul(half, 8)))};
  share.rows[0] = add(share.rows[0],
                      mul(arith::SubIOp::create(b, loc, group, index(1)), 64));
  share.run = 4;
  SmallVector<Value> mine;
  auto element = [&](int64_t i) -> Value {
    return LLVM::ExtractValueOp::create(b, loc, sums, ArrayRef<int64_t>{i});
  };
  for (int64_t j = 0; j < tiling.columns / 8; ++j) {
    Value own[4], got[2];
    for (int64_t i = 0; i < 4; ++i)
      own[i] = element(4 * j + i);
    for (int64_t i = 0; i < 2; ++i) {
      Value give = arith::SelectOp::create(b, loc, odd, own[i], own[2 + i]);
      got[i] = NVVM::ShflOp::create(b, loc, b.getF32Type(), w.number(-1), give,
                                    w.number(1), w.number(31),
                                    NVVM::ShflKind::bfly, UnitAttr());
    }
    for (int64_t i = 0; i < 2; ++i)
      mine.push_back(arith::SelectOp::create(b, loc, odd, got[i], own[i]));
    for (int64_t i = 0; i < 2; ++i)
      mine.push_back(arith::SelectOp::create(b, loc, odd, own[2 + i], got[i]));
    for (int64_t i = 0; i < 4; ++i)
      share.columns.push_back(
          add(mul(div(rem(lane, 4), 2), 4), index(8 * j + i)));
  }
  return mine;
}

void WarpgroupKernel::consume() {
  w.setRegisters(allLoad() ? kOtherRegisters : kManyRegisters, /*more=*/true);
  Value half = mul(w.sameInWarp(arith::SubIOp::create(b, loc, group, index(1))),
                   kGroupRows * kRow);
  Value leads = isSame(lane, index(0));
  auto release = [&](Value stage, Value really = {}) {
    if (really)
      really = arith::AndIOp::create(b, loc, leads, really);
    auto guard = scf::IfOp::create(b, loc, really ? really : leads, false);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(guard.thenBlock());
    if (!pair)
      return w.arrive(barrier(stage, Empty));
    for (int64_t to = 0; to < blocksOfTile(); ++to)
      w.arriveThere(w.inBlock(barrier(stage, Empty), to));
  };
  forEachTile(
      {index(0), w.number(0)},
      [&](Value row, Value column, ValueRange carried) -> SmallVector<Value> {
        Value none = w.zeros(tiling.columns);
        SmallVector<Value> ends = forEachStep(
            {carried[0], carried[1], carried[0], none},
            [&](Value number, ValueRange now) -> SmallVector<Value> {
              Value stage = now[0], parity = now[1], before = now[2],
                    sums = now[3];
              w.wait(barrier(stage, Full), parity);
              auto [leftTile, rightTile] = tilesOf(stage);
              Value left =
                  w.describe(at(leftTile, half), panelBytes(product.left));
              Value right = w.describe(rightTile, panelBytes(product.right));
              w.fence();
              forEachProduct([&](int64_t from, int64_t x, int64_t y) {
                sums = w.multiply(
                    sums,
                    w.moved(w.moved(left, depthBytes(product.left, from)), x),
                    w.moved(w.moved(right, depthBytes(product.right, from)), y),
                    elementOf(product.left), elementOf(product.right),
                    tiling.columns, isAlongLines(product.left),
                    isAlongLines(product.right));
              });
              w.commit();
              // All but this one are done: the stage before is free.
              w.waitForProducts(1);
              release(before, less(index(0), number));
              auto [next, flips] = w.advance(stage, parity, tiling.stages);
              return {next, flips, stage, sums};
            });
        w.waitForProducts(0);
        release(ends[2]);
        Share own;
        SmallVector<Value> mine = exchange(ends[3], own);
        if (pair)
          row = add(row, mul(rank, tiling.rows));
        store(own, mine, row, column);
        return {ends[0], ends[1]};
      });
}

void WarpgroupKernel::emitRoles() {
  auto roles =
      scf::IfOp::create(b, loc, isSame(group, index(0)), /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(roles.thenBlock());
  w.setRegisters(allLoad() ? kGatherRegisters : kFewRegisters, /*more=*/false);
  produce();
  b.setInsertionPointToStart(roles.elseBlock());
  consume();
  // A block stays until the other one's copies and arrivals are done.
  b.setInsertionPointAfter(roles);
  if (pair)
    barrierOfAll();
}

bool gpukernels::launchOnWarpgroups(const ProductKernel &prepared) {
  if (!hasOwnKernel(prepared.product))
    return false;
  const Product &product = prepared.product;
  Tiling tiling = tilingOf(prepared.op, product, (1 + kConsumers) * kGroup);
  auto isBox = [&](const Factor &factor) {
    std::optional<CopyBox> box = boxOf(prepared.op, product, factor);
    return box && !box->isOfWindows();
  };
  // A row of tiles that has none below it would be computed twice.
  int64_t down = llvm::divideCeil(product.rows, tiling.rows);
  bool pair = tiling.columns == 2 * tiling.rows &&
              (down % 2 == 0 || down >= kMostlyPaired) &&
              product.tensorTerms <= 1 && isBox(product.left) &&
              isBox(product.right);
  WarpgroupKernel(prepared, tiling, pair).emit();
  return true;
}
