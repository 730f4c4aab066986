//===- TensorCores.cpp - Products of 16-bit floats with mma.sync ----------===//
//
// A block of four warps makes 64 x 64 results, or 128 x 128 where there are
// many; a warp has a quarter of these, in fragments of mma.m16n8k16.
//
//===----------------------------------------------------------------------===//
#include "Product.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/KernelGen/GPU.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Depth of one mma.
static constexpr int64_t kStep = 16;
/// From so many large tiles on they are worth their registers.
static constexpr int64_t kManyLargeTiles = 64;

namespace {
class TensorCoreKernel : public ProductKernel {
public:
  TensorCoreKernel(OpBuilder &b, linalg::GenericOp op, const Product &product,
                   Tiling tiling)
      : ProductKernel(b, op, product, tiling, TileLayout::Swizzled) {}

  void emit(bool warpgroups) {
    prepare();
    bool isBetter = warpgroups && launchOnWarpgroups(*this);
    gpu::LaunchOp launched =
        launch([&] { return share(); },
               [&](Value left, Value right, SmallVector<Value> sums) {
                 return step(left, right, std::move(sums));
               });
    if (isBetter)
      launched->setAttr(kOtherwiseAttrName, b.getUnitAttr());
    finish();
  }

private:
  /// Fragments of a warp, one below or beside the other.
  int64_t high() const { return tiling.rows / 2 / 16; }
  int64_t wide() const { return tiling.columns / 2 / 8; }
  Share share();
  SmallVector<Value> step(Value left, Value right, SmallVector<Value> sums);
  /// Four 8 x 8 matrices of `tile`, of lines from `line` and depths from `from`
  /// on: two by two, in an order that takes lines first, or the depth.
  SmallVector<Value> matrices(const Factor &factor, Value tile, Value line,
                              int64_t from, bool linesFirst);
  Value lane, warpRow, warpColumn;
};
} // namespace

ProductKernel::Share TensorCoreKernel::share() {
  lane = rem(thread, kWarp);
  Value warp = div(thread, kWarp);
  warpRow = mul(div(warp, 2), tiling.rows / 2);
  warpColumn = mul(rem(warp, 2), tiling.columns / 2);
  Share own;
  for (int64_t i = 0; i < high(); ++i)
    for (int64_t half = 0; half < 2; ++half)
      own.rows.push_back(
          add(add(warpRow, index(16 * i + 8 * half)), div(lane, 4)));
  for (int64_t j = 0; j < wide(); ++j)
    for (int64_t next = 0; next < 2; ++next)
      own.columns.push_back(
          add(add(warpColumn, index(8 * j + next)), mul(rem(lane, 4), 2)));
  own.run = 2;
  return own;
}

SmallVector<Value> gpukernels::loadMatrices(OpBuilder &b, Location loc,
                                            Value address, bool transposed) {
  SmallVector<Type> words(4, b.getI32Type());
  Type type = LLVM::LLVMStructType::getLiteral(b.getContext(), words);
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(b, loc, type, address, 4u,
                                          transposed ? NVVM::MMALayout::col
                                                     : NVVM::MMALayout::row,
                                          shape, NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> result;
  for (int64_t i = 0; i < 4; ++i)
    result.push_back(
        LLVM::ExtractValueOp::create(b, loc, loaded, ArrayRef<int64_t>{i}));
  return result;
}

SmallVector<Value> gpukernels::multiplyFragments(OpBuilder &b, Location loc,
                                                 Type element,
                                                 ArrayRef<Value> left,
                                                 ArrayRef<Value> right,
                                                 ArrayRef<Value> sum) {
  bool isBF16 = element.isBF16();
  auto operands = [&](ArrayRef<Value> words) {
    if (isBF16)
      return llvm::to_vector(words);
    Type pair = VectorType::get({2}, element);
    return llvm::map_to_vector(words, [&](Value word) -> Value {
      return LLVM::BitcastOp::create(b, loc, pair, word);
    });
  };
  NVVM::MMATypes kind = isBF16 ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  SmallVector<Type> types(4, b.getF32Type());
  Value made = NVVM::MmaOp::create(
      b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), types),
      operands(left), operands(right), sum, ArrayRef<int64_t>{16, 8, kStep},
      std::nullopt, std::nullopt, std::array{kind, kind},
      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  SmallVector<Value> result;
  for (int64_t i = 0; i < 4; ++i)
    result.push_back(
        LLVM::ExtractValueOp::create(b, loc, made, ArrayRef<int64_t>{i}));
  return result;
}

SmallVector<Value> TensorCoreKernel::matrices(const Factor &factor, Value tile,
                                              Value line, int64_t from,
                                              bool linesFirst) {
  // Eight lanes name the rows of a matrix, as they stand in memory.
  Value row = rem(lane, 8), first = rem(div(lane, 8), 2),
        second = div(lane, 16);
  Value byLine = mul(linesFirst ? first : second, 8);
  Value byDepth = mul(linesFirst ? second : first, 8);
  (factor.alongLines ? byDepth : byLine) =
      add(factor.alongLines ? byDepth : byLine, row);
  Value offset = offsetIn(factor, add(line, byLine), add(index(from), byDepth));
  return loadMatrices(b, loc, at(tile, offset), factor.alongLines);
}

SmallVector<Value> TensorCoreKernel::step(Value left, Value right,
                                          SmallVector<Value> sums) {
  int64_t columns = 2 * wide();
  for (int64_t from = 0; from < tiling.depth; from += kStep) {
    SmallVector<SmallVector<Value>> lefts, rights;
    for (int64_t i = 0; i < high(); ++i)
      lefts.push_back(matrices(product.left, left, add(warpRow, index(16 * i)),
                               from, true));
    // Two fragments at once: a fragment is the depth of one half.
    for (int64_t j = 0; j < wide(); j += 2) {
      SmallVector<Value> both = matrices(
          product.right, right, add(warpColumn, index(8 * j)), from, false);
      rights.push_back({both[0], both[1]});
      rights.push_back({both[2], both[3]});
    }
    for (int64_t i = 0; i < high(); ++i)
      for (int64_t j = 0; j < wide(); ++j) {
        // Of a fragment a lane has two neighbours in each of two rows.
        auto spot = [&](int64_t word) -> Value & {
          return sums[(2 * i + word / 2) * columns + 2 * j + word % 2];
        };
        SmallVector<Value> made =
            multiplyFragments(b, loc, product.element, lefts[i], rights[j],
                              {spot(0), spot(1), spot(2), spot(3)});
        for (int64_t word = 0; word < 4; ++word)
          spot(word) = made[word];
      }
  }
  return sums;
}

static bool fitsTensorCores(const Product &product) {
  return product.element != product.sum && product.depths >= kStep;
}

bool gpukernels::hasKernel(const Product &product) {
  return fitsTensorCores(product) || fitsRegisterTiles(product);
}

bool gpukernels::launchOnTensorCores(linalg::GenericOp op,
                                     const Product &product, bool warpgroups) {
  if (!fitsTensorCores(product))
    return false;
  Tiling tiling{64, 64, 32, 4, 128};
  if (product.rows >= 128 && product.columns >= 128 &&
      llvm::divideCeil(product.rows, 128) *
              llvm::divideCeil(product.columns, 128) * product.batches >=
          kManyLargeTiles)
    tiling = {128, 128, 32, 3, 128};
  OpBuilder b(op);
  TensorCoreKernel(b, op, product, tiling).emit(warpgroups);
  return true;
}
