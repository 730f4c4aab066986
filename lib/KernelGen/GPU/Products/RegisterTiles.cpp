//===- RegisterTiles.cpp - Products of f32 with multiply-adds -------------===//
//
// Floats keep their precision: no tensor core rounds them. A block of 16 x 16
// threads makes 64 x 64 results (128 x 128 where there are many). A thread
// reads 16 bytes of a column of the left tile and of a row of the right one,
// and multiplies each with each.
//
//===----------------------------------------------------------------------===//
#include "DoubleTiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

static constexpr int64_t kSide = 16; // threads of a block [shape]

namespace {
class RegisterTileKernel : public ProductKernel {
public:
  RegisterTileKernel(OpBuilder &b, linalg::GenericOp op, const Product &product,
                     Tiling tiling)
      : ProductKernel(b, op, product, tiling, TileLayout::DepthMajor),
        lanes(128 / product.element.getIntOrFloatBitWidth()) {}

  void emit() {
    prepare();
    launch([&] { return share(); },
           [&](Value left, Value right, SmallVector<Value> sums) {
             return step(left, right, std::move(sums));
           });
    finish();
  }

private:
  Share share();
  SmallVector<Value> step(Value left, Value right, SmallVector<Value> sums);
  /// A thread's lines of `tile` at one depth.
  SmallVector<Value> read(const Factor &factor, Value tile, Value own,
                          Value depth, int64_t lines);

  int64_t lanes; ///< of 16 bytes
  Value ownRow, ownColumn;
};
} // namespace

ProductKernel::Share RegisterTileKernel::share() {
  ownRow = mul(div(thread, kSide), lanes);
  ownColumn = mul(rem(thread, kSide), lanes);
  Share own;
  auto fill = [&](Value first, int64_t lines, SmallVector<Value> &all) {
    for (int64_t part = 0; part < lines; part += kSide * lanes)
      for (int64_t lane = 0; lane < lanes; ++lane)
        all.push_back(add(first, index(part + lane)));
  };
  fill(ownRow, tiling.rows, own.rows);
  fill(ownColumn, tiling.columns, own.columns);
  own.run = lanes;
  return own;
}

SmallVector<Value> RegisterTileKernel::read(const Factor &factor, Value tile,
                                            Value own, Value depth,
                                            int64_t lines) {
  SmallVector<Value> values;
  Type type = VectorType::get({lanes}, product.element);
  for (int64_t part = 0; part < lines; part += kSide * lanes) {
    Value from = at(tile, offsetIn(factor, add(own, index(part)), depth));
    Value four = LLVM::LoadOp::create(b, loc, type, from, /*alignment=*/16);
    for (int64_t lane = 0; lane < lanes; ++lane)
      values.push_back(LLVM::ExtractElementOp::create(
          b, loc, four,
          LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                   b.getI32IntegerAttr(lane))));
  }
  return values;
}

SmallVector<Value> RegisterTileKernel::step(Value left, Value right,
                                            SmallVector<Value> sums) {
  auto loop =
      scf::ForOp::create(b, loc, index(0), index(tiling.depth), index(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value depth = loop.getInductionVar();
  SmallVector<Value> lefts =
      read(product.left, left, ownRow, depth, tiling.rows);
  SmallVector<Value> rights =
      read(product.right, right, ownColumn, depth, tiling.columns);
  SmallVector<Value> next;
  for (Value x : lefts)
    for (Value y : rights)
      next.push_back(math::FmaOp::create(b, loc, x, y,
                                         loop.getRegionIterArg(next.size())));
  scf::YieldOp::create(b, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

bool gpukernels::fitsRegisterTiles(const Product &product) {
  return product.element == product.sum && product.columns >= kSide;
}

bool gpukernels::launchInRegisterTiles(linalg::GenericOp op,
                                       const Product &product) {
  if (!fitsRegisterTiles(product))
    return false;
  if (product.element.isF64()) {
    launchDoubles(op, product);
    return true;
  }
  Tiling tiling{64, 64, 16, 3, kSide * kSide};
  if (product.rows >= 128 && product.columns >= 128 &&
      llvm::divideCeil(product.rows, 128) *
              llvm::divideCeil(product.columns, 128) * product.batches >=
          uint64_t(blocksOfGpu(op)) / 2)
    tiling = {128, 128, 16, 2, kSide * kSide};
  OpBuilder b(op);
  RegisterTileKernel(b, op, product, tiling).emit();
  return true;
}
