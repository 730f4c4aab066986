//===- TensorMemory.cpp - Products of 16-bit floats and tf32 on sm_100a ---===//
//
// Behind the producer are a warpgroup that stores results, the epilogue, and a
// warp that multiplies: it waits until a stage is full, and one of its threads
// begins the products (tcgen05.mma reads both operands from shared memory, and
// adds to sums in tensor memory); when they are done the stage is empty. Tensor
// memory holds two tiles of sums: while one is stored, the next is multiplied.
// Where there are enough tiles of 256 x 256, or of 256 x 128, and TMA copies
// load both operands, two blocks have one together (cta_group::2): each has 128
// of its rows, and loads these and half of its columns, so that it reads less
// of shared memory.
// The first one's warp multiplies for both.
//
//===----------------------------------------------------------------------===//
#include "../TensorMemory.h"
#include "Specialised.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Tiles of sums. [shape]
static constexpr int64_t kBuffers = 2;
/// Columns that a thread has in registers at once. [shape]
static constexpr int64_t kColumns = 32;
/// Columns of a row that are stored at once, at most: 16 bytes of 16-bit
/// numbers. [shape]
static constexpr int64_t kRun = 8;

namespace {
class TensorMemoryKernel : public SpecialisedKernel {
public:
  TensorMemoryKernel(const ProductKernel &prepared, Tiling tiling, bool pair)
      : SpecialisedKernel(prepared, tiling), pair(pair), t(b, loc, pair) {}

private:
  spmd::KernelGpu gpu() const override { return spmd::KernelGpu::Sm100a; }
  int64_t releases() const override { return 1; }
  int64_t blocksOfTile() const override { return pair ? 2 : 1; }
  /// mbarriers of each tile of sums, and tensor memory's address.
  int64_t ownBytes() const override { return 16 * kBuffers + 8; }
  void prepareAlone() override;
  void prepareAll() override;
  void emitRoles() override;
  void multiply();
  void storeTiles();

  /// Columns of sums, a power of two; and of all tensor memory.
  int64_t ownColumns() const { return blocksOfTile() * tiling.columns; }
  int64_t allColumns() const { return kBuffers * ownColumns(); }
  /// mbarriers of a tile of sums: it is whole, it has been read.
  Value whole(Value buffer) { return at(own(0), mul(buffer, 8)); }
  Value read(Value buffer) { return at(own(8 * kBuffers), mul(buffer, 8)); }
  Value slot() { return own(16 * kBuffers); }
  /// The address that `allocate` gave.
  Value allocated() {
    return LLVM::LoadOp::create(b, loc, b.getI32Type(), slot(), 4);
  }
  Value asWord(Value value) {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
  }
  Value sumsAt(Value address, Value buffer) {
    return arith::AddIOp::create(b, loc, address,
                                 asWord(mul(buffer, ownColumns())));
  }
  /// The warp that multiplies, and cares for tensor memory.
  Value multiplies() {
    return isSame(div(thread, kWarp), index(2 * kGroup / kWarp));
  }

  bool pair;
  TensorMemoryBuilder t;
};
} // namespace

void TensorMemoryKernel::prepareAlone() {
  for (int64_t buffer = 0; buffer < kBuffers; ++buffer) {
    w.init(whole(index(buffer)), 1);
    w.init(read(index(buffer)), blocksOfTile() * kGroup / kWarp);
  }
}

void TensorMemoryKernel::prepareAll() {
  auto one = scf::IfOp::create(b, loc, multiplies(), false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(one.thenBlock());
  t.allocate(slot(), allColumns());
  t.fenceBefore();
}

void TensorMemoryKernel::multiply() {
  Value address = allocated();
  forEachTile(
      {index(0), w.number(0), index(0), w.number(1)},
      [&](Value, Value, ValueRange carried) -> SmallVector<Value> {
        Value buffer = carried[2], bufferParity = carried[3];
        w.wait(read(buffer), bufferParity);
        Value sums = sumsAt(address, buffer);
        SmallVector<Value> ends = forEachStep(
            {carried[0], carried[1]},
            [&](Value number, ValueRange now) -> SmallVector<Value> {
              Value stage = now[0], parity = now[1];
              w.wait(barrier(stage, Full), parity);
              // Behind both waits, of the sums and of the stage.
              t.fenceAfter();
              auto one = scf::IfOp::create(b, loc, t.elect(), false);
              OpBuilder::InsertionGuard guard(b);
              b.setInsertionPointToStart(one.thenBlock());
              auto [leftTile, rightTile] = tilesOf(stage);
              Value left = t.describe(leftTile, panelBytes(product.left));
              Value right = t.describe(rightTile, panelBytes(product.right));
              Value adds = less(index(0), number);
              forEachProduct([&](int64_t from, int64_t x, int64_t y) {
                t.multiply(
                    sums, w.moved(left, depthBytes(product.left, from) + x),
                    w.moved(right, depthBytes(product.right, from) + y), adds,
                    product.element, ownColumns(), isAlongLines(product.left),
                    isAlongLines(product.right));
                adds = arith::ConstantIntOp::create(b, loc, 1, 1);
              });
              t.commit(barrier(stage, Empty));
              b.setInsertionPointAfter(one);
              auto [next, flips] = w.advance(stage, parity, tiling.stages);
              return {next, flips};
            });
        auto one = scf::IfOp::create(b, loc, t.elect(), false);
        {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(one.thenBlock());
          t.commit(whole(buffer));
        }
        auto [next, flips] = w.advance(buffer, bufferParity, kBuffers);
        return {ends[0], ends[1], next, flips};
      });
}

void TensorMemoryKernel::storeTiles() {
  // A thread has a lane of tensor memory, which is a row of the tile.
  Value row = rem(thread, kGroup);
  Value firstLane = mul(div(row, kWarp), kWarp);
  Value lanes = arith::ShLIOp::create(b, loc, asWord(firstLane), w.number(16));
  Value address = arith::AddIOp::create(b, loc, allocated(), lanes);
  forEachTile({index(0), w.number(0)},
              [&](Value firstRow, Value firstColumn,
                  ValueRange carried) -> SmallVector<Value> {
                Value buffer = carried[0], parity = carried[1];
                w.wait(whole(buffer), parity);
                t.fenceAfter();
                Value sums = sumsAt(address, buffer);
                auto loop = scf::ForOp::create(
                    b, loc, index(0), index(ownColumns()), index(kColumns));
                setUnrolling(loop, 1);
                {
                  OpBuilder::InsertionGuard guard(b);
                  b.setInsertionPointToStart(loop.getBody());
                  Value from = loop.getInductionVar();
                  Value loaded =
                      t.load(arith::AddIOp::create(b, loc, sums, asWord(from)),
                             kColumns);
                  t.waitForLoads();
                  Share own;
                  own.rows = {row};
                  own.run = kRun;
                  SmallVector<Value> values;
                  for (int64_t i = 0; i < kColumns; ++i) {
                    own.columns.push_back(add(from, index(i)));
                    values.push_back(t.element(loaded, i));
                  }
                  Value firstOwn = add(firstRow, mul(rank, tiling.rows));
                  store(own, values, firstOwn, firstColumn);
                }
                t.fenceBefore();
                NVVM::SyncWarpOp::create(b, loc, w.number(-1));
                auto one =
                    scf::IfOp::create(b, loc, isSame(lane, index(0)), false);
                {
                  OpBuilder::InsertionGuard guard(b);
                  b.setInsertionPointToStart(one.thenBlock());
                  if (pair)
                    w.arriveThere(w.inBlock(read(buffer), 0));
                  else
                    w.arrive(read(buffer));
                }
                auto [next, flips] = w.advance(buffer, parity, kBuffers);
                return {next, flips};
              });
}

void TensorMemoryKernel::emitRoles() {
  t.fenceAfter();
  auto roles =
      scf::IfOp::create(b, loc, isSame(group, index(0)), /*withElse=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(roles.thenBlock());
    produce();
    b.setInsertionPointToStart(roles.elseBlock());
    auto behind =
        scf::IfOp::create(b, loc, isSame(group, index(1)), /*withElse=*/true);
    b.setInsertionPointToStart(behind.thenBlock());
    storeTiles();
    b.setInsertionPointToStart(behind.elseBlock());
    inFirstBlock([&] { multiply(); });
  }
  // All that was read has been: tensor memory is given back. Nobody reaches
  // another block's mbarriers any more.
  t.fenceBefore();
  barrierOfAll();
  auto one = scf::IfOp::create(b, loc, multiplies(), false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(one.thenBlock());
  t.fenceAfter();
  t.release(allocated(), allColumns());
}

bool gpukernels::launchOnTensorMemory(const ProductKernel &prepared) {
  if (!hasOwnKernel(prepared.product))
    return false;
  const Product &product = prepared.product;
  Tiling tiling = tilingOf(prepared.op, product, 2 * kGroup + kWarp);
  bool isWide = tiling.columns == 2 * tiling.rows;
  // Of fewer columns a pair's tile is 256 x 128, if these are enough.
  bool areEnough =
      isWide || (product.tensorTerms <= 1 &&
                 llvm::divideCeil(product.rows, 2 * tiling.rows) *
                         llvm::divideCeil(product.columns, tiling.columns) *
                         product.batches * 2 >=
                     uint64_t(blocksOfGpu(prepared.op)));
  bool pair = areEnough && product.rows >= 2 * tiling.rows &&
              boxOf(prepared.op, product, product.left) &&
              boxOf(prepared.op, product, product.right);
  if (pair)
    tiling = {128, tiling.columns / 2, tiling.depth, isWide ? 6 : 8,
              tiling.threads};
  TensorMemoryKernel(prepared, tiling, pair).emit();
  return true;
}
