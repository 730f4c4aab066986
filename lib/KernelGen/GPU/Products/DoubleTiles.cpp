//===- DoubleTiles.cpp - Products of f64 on tensor cores ------------------===//
//
// Tensor cores multiply and add f64 as they are, so no precision has to allow
// it. A block of two by two warps makes 64 x 64 results, a warp 32 x 32 of
// these in fragments of mma.m8n8k4. Of a tile's depth of eight a lane takes two
// neighbours at once, 16 bytes where lines run along the depth: the first
// fragment has the even depths, the second the odd ones.
//
//===----------------------------------------------------------------------===//
#include "DoubleTiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Rows or columns of a warp, and of a fragment; its depth. [shape]
static constexpr int64_t kOfWarp = 32, kOfFragment = 8, kDepth = 4;
/// Warps in each direction, and fragments of a warp. [shape]
static constexpr int64_t kWarps = 2, kFragments = kOfWarp / kOfFragment;
/// Fragments side by side in a tile's depth. [shape]
static constexpr int64_t kParts = 2;

namespace {
class DoubleKernel : public ProductKernel {
public:
  DoubleKernel(OpBuilder &b, linalg::GenericOp op, const Product &product)
      : ProductKernel(b, op, product,
                      {kWarps * kOfWarp, kWarps * kOfWarp, kParts * kDepth, 3,
                       kWarps * kWarps * kWarp},
                      TileLayout::Swizzled) {}

  void emit() {
    prepare();
    launch([&] { return share(); },
           [&](Value left, Value right, SmallVector<Value> sums) {
             return step(left, right, std::move(sums));
           });
    finish();
  }

private:
  /// A lane's element of a fragment, for each part of the depth.
  using Parts = SmallVector<Value, kParts>;
  Share share();
  SmallVector<Value> step(Value left, Value right, SmallVector<Value> sums);
  /// What a lane has of the fragment `linesBehind` the warp's first line.
  Parts read(const Factor &factor, Value tile, Value line, int64_t linesBehind);
  void multiply(Value left, Value right, MutableArrayRef<Value> sums);

  Value lane, warpRow, warpColumn;
};
} // namespace

ProductKernel::Share DoubleKernel::share() {
  lane = rem(thread, kWarp);
  Value warp = div(thread, kWarp);
  warpRow = mul(div(warp, kWarps), kOfWarp);
  warpColumn = mul(rem(warp, kWarps), kOfWarp);
  Share own;
  for (int64_t i = 0; i < kFragments; ++i) {
    Value behind = index(i * kOfFragment);
    own.rows.push_back(add(add(warpRow, behind), div(lane, kDepth)));
    Value pair = add(add(warpColumn, behind), mul(rem(lane, kDepth), 2));
    own.columns.push_back(pair);
    own.columns.push_back(add(pair, index(1)));
  }
  own.run = 2;
  return own;
}

DoubleKernel::Parts DoubleKernel::read(const Factor &factor, Value tile,
                                       Value line, int64_t linesBehind) {
  Value own = add(line, div(lane, kDepth));
  Value depth = mul(rem(lane, kDepth), kParts);
  Type type = product.element;
  Parts parts;
  if (factor.alongLines) {
    for (int64_t part = 0; part < kParts; ++part)
      parts.push_back(LLVM::LoadOp::create(
          b, loc, type, addressIn(factor, tile, own, linesBehind, depth, part),
          8));
    return parts;
  }
  Value both = LLVM::LoadOp::create(
      b, loc, VectorType::get({kParts}, type),
      addressIn(factor, tile, own, linesBehind, depth, 0), 16);
  for (int64_t part = 0; part < kParts; ++part)
    parts.push_back(LLVM::ExtractElementOp::create(
        b, loc, both,
        LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                 b.getI32IntegerAttr(part))));
  return parts;
}

/// Adds the product of two fragments to a lane's pair of sums.
void DoubleKernel::multiply(Value left, Value right,
                            MutableArrayRef<Value> sums) {
  constexpr NVVM::MMATypes kind = NVVM::MMATypes::f64;
  SmallVector<Type> types(sums.size(), product.element);
  Value made = NVVM::MmaOp::create(
      b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), types), left,
      right, sums, ArrayRef<int64_t>{kOfFragment, kOfFragment, kDepth},
      std::nullopt, std::nullopt, std::array{kind, kind},
      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = LLVM::ExtractValueOp::create(b, loc, made,
                                       ArrayRef<int64_t>{int64_t(i)});
}

SmallVector<Value> DoubleKernel::step(Value left, Value right,
                                      SmallVector<Value> sums) {
  SmallVector<Parts> lefts, rights;
  for (int64_t i = 0; i < kFragments; ++i) {
    lefts.push_back(read(product.left, left, warpRow, i * kOfFragment));
    rights.push_back(read(product.right, right, warpColumn, i * kOfFragment));
  }
  for (int64_t part = 0; part < kParts; ++part)
    for (int64_t i = 0; i < kFragments; ++i)
      for (int64_t j = 0; j < kFragments; ++j)
        multiply(lefts[i][part], rights[j][part],
                 MutableArrayRef(sums).slice(2 * (i * kFragments + j), 2));
  return sums;
}

void gpukernels::launchDoubles(linalg::GenericOp op, const Product &product) {
  OpBuilder b(op);
  DoubleKernel(b, op, product).emit();
}
