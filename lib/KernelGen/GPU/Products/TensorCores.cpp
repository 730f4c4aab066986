//===- TensorCores.cpp - Products with mma.sync ---------------------------===//
//
// A block of four warps makes 64 x 64 results, or 128 x 128 where there are
// many; a warp has a quarter of these, in fragments of mma.m16n8k16. Floats are
// of 16 bits, or of 32, of which tensor cores take 19 (tf32, mma.m16n8k8):
// where a program lets them be rounded so, or, as three products, where it asks
// for more.
//
//===----------------------------------------------------------------------===//
#include "Product.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/KernelGen/GPU.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Rows and columns of a tile of kernels for one GPU, at least.
static constexpr int64_t kOwnTile = 128;
/// Depth of one mma of 16-bit floats.
static constexpr int64_t kStep = 16;

namespace {
class TensorCoreKernel : public ProductKernel {
public:
  TensorCoreKernel(OpBuilder &b, linalg::GenericOp op, const Product &product,
                   Tiling tiling)
      : ProductKernel(b, op, product, tiling, TileLayout::Swizzled) {}

  void emit(OwnKernels own) {
    std::optional<Product> narrow = inEightBits(op, product);
    const Product &forWarpgroups = narrow ? *narrow : product;
    bool hasOwn = (own.tensorMemory && hasOwnKernel(product)) ||
                  (own.warpgroups && hasOwnKernel(forWarpgroups));
    if (hasOwn)
      prepare({kOwnTile, kOwnTile});
    else
      prepare();
    bool isBetter = own.tensorMemory && launchOnTensorMemory(*this);
    if (own.warpgroups) {
      ProductKernel prepared(b, op, forWarpgroups, tiling, layout);
      prepared.prepareLike(*this);
      isBetter |= launchOnWarpgroups(prepared);
    }
    for (const Factor *factor : {&product.left, &product.right})
      if (factor->padding)
        for (linalg::GenericOp made : factor->padding->made)
          made->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    gpu::LaunchOp launched =
        launch([&] { return share(); },
               [&](Value left, Value right, SmallVector<Value> sums) {
                 return step(left, right, std::move(sums));
               });
    if (isBetter)
      spmd::contract::Otherwise::set(launched);
    finish();
  }

private:
  /// Fragments of a warp, one below or beside the other.
  int64_t high() const { return tiling.rows / 2 / 16; }
  int64_t wide() const { return tiling.columns / 2 / 8; }
  /// Depth of one mma, and of the rows of a matrix: 32 bytes, and 16.
  int64_t depthStep() const { return 32 / elementBytes(); }
  Share share();
  SmallVector<Value> step(Value left, Value right, SmallVector<Value> sums);
  /// Four 8 x 8 matrices of `tile`, of lines from `line` and depths from `from`
  /// on: two by two, in an order that takes lines first, or the depth.
  SmallVector<Value> matrices(const Factor &factor, Value tile, Value line,
                              int64_t from, bool linesFirst);
  /// Words of f32 as tf32, and for three products what that leaves over.
  std::pair<SmallVector<Value>, SmallVector<Value>>
  rounded(ArrayRef<Value> words);
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
  bool isBF16 = element.isBF16(), isF32 = element.isF32();
  auto operands = [&](ArrayRef<Value> words) {
    if (isBF16 || isF32)
      return llvm::to_vector(words);
    Type pair = VectorType::get({2}, element);
    return llvm::map_to_vector(words, [&](Value word) -> Value {
      return LLVM::BitcastOp::create(b, loc, pair, word);
    });
  };
  NVVM::MMATypes kind = isF32    ? NVVM::MMATypes::tf32
                        : isBF16 ? NVVM::MMATypes::bf16
                                 : NVVM::MMATypes::f16;
  SmallVector<Type> types(4, b.getF32Type());
  Value made = NVVM::MmaOp::create(
      b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), types),
      operands(left), operands(right), sum,
      ArrayRef<int64_t>{16, 8, isF32 ? kStep / 2 : kStep}, std::nullopt,
      std::nullopt, std::array{kind, kind},
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
  int64_t half = depthStep() / 2;
  if (factor.alongLines && product.element.isF32()) {
    // ldmatrix transposes 16-bit numbers only: these are read one by one.
    SmallVector<Value> words;
    for (int64_t i = 0; i < 4; ++i) {
      int64_t byLine = (linesFirst ? i % 2 : i / 2) * 8;
      int64_t byDepth = (linesFirst ? i / 2 : i % 2) * half;
      Value offset =
          offsetIn(factor, add(line, add(index(byLine), div(lane, 4))),
                   add(index(from + byDepth), rem(lane, 4)));
      words.push_back(
          LLVM::LoadOp::create(b, loc, b.getI32Type(), at(tile, offset), 4));
    }
    return words;
  }
  // Eight lanes name the rows of a matrix, as they are in memory.
  Value row = rem(lane, 8), first = rem(div(lane, 8), 2),
        second = div(lane, 16);
  Value byLine = mul(linesFirst ? first : second, 8);
  Value byDepth = mul(linesFirst ? second : first, half);
  (factor.alongLines ? byDepth : byLine) =
      add(factor.alongLines ? byDepth : byLine, row);
  Value offset = offsetIn(factor, add(line, byLine), add(index(from), byDepth));
  return loadMatrices(b, loc, at(tile, offset), factor.alongLines);
}

Value gpukernels::roundToTF32(OpBuilder &b, Location loc, Value value) {
  return NVVM::ConvertFloatToTF32Op::create(
      b, loc, b.getI32Type(), value, NVVM::FPRoundingMode::RNA,
      NVVM::SaturationMode::NONE, /*relu=*/false);
}

std::pair<Value, Value> gpukernels::splitToTF32(OpBuilder &b, Location loc,
                                                Value value) {
  auto word = [&](int64_t bits) -> Value {
    return arith::ConstantIntOp::create(b, loc, bits, 32);
  };
  Value bits = LLVM::BitcastOp::create(b, loc, b.getI32Type(), value);
  Value most = roundToTF32(b, loc, value);
  Value near = LLVM::BitcastOp::create(b, loc, b.getF32Type(), most);
  Value left = arith::SubFOp::create(b, loc, value, near);
  // What is infinite, or would be rounded so, is its own rest, beside a 1: an
  // infinite first part times a rest of zero would be no number.
  Value nothing = arith::SubFOp::create(b, loc, left, left);
  Value finite = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD,
                                       nothing, nothing);
  Value sign = arith::AndIOp::create(b, loc, bits, word(INT32_MIN));
  Value one = arith::OrIOp::create(b, loc, sign, word(0x3f800000));
  return {
      arith::SelectOp::create(b, loc, finite, most, one),
      arith::SelectOp::create(b, loc, finite, roundToTF32(b, loc, left), bits)};
}

std::pair<SmallVector<Value>, SmallVector<Value>>
TensorCoreKernel::rounded(ArrayRef<Value> words) {
  if (product.element != product.sum)
    return {SmallVector<Value>(words), {}};
  SmallVector<Value> most, rest;
  for (Value word : words) {
    Value value = LLVM::BitcastOp::create(b, loc, b.getF32Type(), word);
    if (product.tensorTerms == 1) {
      most.push_back(roundToTF32(b, loc, value));
      continue;
    }
    auto [first, second] = splitToTF32(b, loc, value);
    most.push_back(first);
    rest.push_back(second);
  }
  return {most, rest};
}

SmallVector<Value> TensorCoreKernel::step(Value left, Value right,
                                          SmallVector<Value> sums) {
  int64_t columns = 2 * wide();
  for (int64_t from = 0; from < tiling.depth; from += depthStep()) {
    SmallVector<SmallVector<Value>> lefts, rights, leftRests, rightRests;
    for (int64_t i = 0; i < high(); ++i) {
      auto [most, rest] = rounded(matrices(
          product.left, left, add(warpRow, index(16 * i)), from, true));
      lefts.push_back(most);
      leftRests.push_back(rest);
    }
    // Two fragments at once: a fragment is the depth of one half.
    for (int64_t j = 0; j < wide(); j += 2) {
      auto [both, rest] = rounded(matrices(
          product.right, right, add(warpColumn, index(8 * j)), from, false));
      for (int64_t k = 0; k < 4; k += 2) {
        rights.push_back({both[k], both[k + 1]});
        if (!rest.empty())
          rightRests.push_back({rest[k], rest[k + 1]});
      }
    }
    for (int64_t i = 0; i < high(); ++i)
      for (int64_t j = 0; j < wide(); ++j) {
        // Of a fragment a lane has two neighbours in each of two rows.
        auto spot = [&](int64_t word) -> Value & {
          return sums[(2 * i + word / 2) * columns + 2 * j + word % 2];
        };
        auto multiply = [&](ArrayRef<Value> x, ArrayRef<Value> y) {
          SmallVector<Value> made =
              multiplyFragments(b, loc, product.element, x, y,
                                {spot(0), spot(1), spot(2), spot(3)});
          for (int64_t word = 0; word < 4; ++word)
            spot(word) = made[word];
        };
        // Small terms first.
        if (product.tensorTerms > 1) {
          multiply(leftRests[i], rights[j]);
          multiply(lefts[i], rightRests[j]);
        }
        multiply(lefts[i], rights[j]);
      }
  }
  return sums;
}

static bool fitsTensorCores(const Product &product) {
  if (product.element == product.sum)
    return product.tensorTerms > 0;
  return product.depths >= kStep;
}

bool gpukernels::hasKernel(const Product &product) {
  return fitsTensorCores(product) || fitsRegisterTiles(product);
}

bool gpukernels::launchOnTensorCores(linalg::GenericOp op,
                                     const Product &product, OwnKernels own) {
  if (!fitsTensorCores(product))
    return false;
  Tiling tiling{64, 64, 32, 4, 128};
  if (product.rows >= 128 && product.columns >= 128 &&
      llvm::divideCeil(product.rows, 128) *
              llvm::divideCeil(product.columns, 128) * product.batches >=
          uint64_t(blocksOfGpu(op)) / 2)
    tiling = {128, 128, 32, 3, 128};
  // As many bytes.
  if (product.element.isF32())
    tiling.depth = 16;
  // Three products want the registers of large tiles.
  if (product.tensorTerms > 1)
    tiling = {64, 64, 16, 4, 128};
  OpBuilder b(op);
  TensorCoreKernel(b, op, product, tiling).emit(own);
  return true;
}
