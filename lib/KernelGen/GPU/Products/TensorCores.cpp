//===- TensorCores.cpp - Products with mma.sync ---------------------------===//
//
// A block of four warps makes 64 x 64 to 128 x 128 results: the tile with which
// the multiprocessor that has most blocks ends first. A warp has a quarter of
// these, in fragments of mma.m16n8k16. Floats are of 16 bits, or of 32, of
// which tensor cores take 19 (tf32, mma.m16n8k8): where a program lets them be
// rounded so, or, as three products, where it asks for more.
//
//===----------------------------------------------------------------------===//
#include "Product.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/KernelGen/GPU.h"
#include "shardc/Machine/Cost.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Rows and columns of a tile of kernels for one GPU, at least. [shape]
static constexpr int64_t kOwnTile = 128;
/// Depth of one mma of 16-bit floats; bytes of a line of a tile. [shape]
static constexpr int64_t kStep = 16, kTileBytes = 64;
/// Rows, columns and slices of tiles, the largest first. Of each dim a warp has
/// all or half: whole pairs of fragments.
static constexpr std::tuple<int64_t, int64_t, int64_t> kTiles[] = {
    {128, 128, 1}, {96, 128, 1}, {128, 96, 1}, {96, 96, 1}, {128, 64, 1},
    {64, 128, 1},  {128, 64, 2}, {64, 128, 2}, {96, 64, 1}, {64, 96, 1},
    {96, 64, 2},   {64, 96, 2},  {64, 64, 1},  {64, 64, 2}};

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
    gpu::LaunchOp launched = launch(
        [&] { return share(); },
        [&](Value left, Value right, SmallVector<Value> sums) {
          return step(left, right, std::move(sums));
        },
        [&](Share &own, ArrayRef<Value> sums) { return addSlices(own, sums); });
    if (isBetter)
      spmd::contract::Otherwise::set(launched);
    finish();
  }

private:
  /// Fragments of a warp, one below or beside the other.
  int64_t high() const { return tiling.rows / warpsDown() / 16; }
  int64_t wide() const { return tiling.columns / warpsBeside() / 8; }
  /// Warps of a slice: two by two, or two that have half of the longer dim.
  int64_t warpsDown() const {
    return tiling.slices == 1 || tiling.rows >= tiling.columns ? 2 : 1;
  }
  int64_t warpsBeside() const { return 4 / tiling.slices / warpsDown(); }
  /// Depth of one mma, and of the rows of a matrix: 32 bytes, and 16.
  int64_t depthStep() const { return 32 / elementBytes(); }
  Share share();
  SmallVector<Value> step(Value left, Value right, SmallVector<Value> sums);
  /// Adds up the sums of two slices, in shared memory: each has half of the
  /// columns then.
  SmallVector<Value> addSlices(Share &own, ArrayRef<Value> sums);
  /// Four 8 x 8 matrices of `tile`, from so many lines behind `line`, and
  /// depths behind `from`, on: two by two, in an order that takes lines first,
  /// or the depth.
  SmallVector<Value> matrices(const Factor &factor, Value tile, Value line,
                              int64_t linesBehind, Value from,
                              int64_t depthsBehind, bool linesFirst);
  /// Words of f32 as tf32, and for three products what that leaves over.
  std::pair<SmallVector<Value>, SmallVector<Value>>
  rounded(ArrayRef<Value> words);
  Value lane, warpRow, warpColumn;
  Value slice; // of a tile's depth, where there are two
};
} // namespace

ProductKernel::Share TensorCoreKernel::share() {
  lane = rem(thread, kWarp);
  Value warp = div(thread, kWarp);
  if (tiling.slices > 1) {
    slice = div(warp, 2);
    warp = rem(warp, 2);
  }
  warpRow = mul(div(warp, warpsBeside()), 16 * high());
  warpColumn = mul(rem(warp, warpsBeside()), 8 * wide());
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
                                              Value line, int64_t linesBehind,
                                              Value from, int64_t depthsBehind,
                                              bool linesFirst) {
  int64_t half = depthStep() / 2;
  if (factor.alongLines && product.element.isF32()) {
    // ldmatrix transposes 16-bit numbers only: these are read one by one.
    SmallVector<Value> words;
    for (int64_t i = 0; i < 4; ++i) {
      int64_t byLine = (linesFirst ? i % 2 : i / 2) * 8;
      int64_t byDepth = (linesFirst ? i / 2 : i % 2) * half;
      Value address =
          addressIn(factor, tile, add(line, div(lane, 4)), linesBehind + byLine,
                    add(from, rem(lane, 4)), depthsBehind + byDepth);
      words.push_back(LLVM::LoadOp::create(b, loc, b.getI32Type(), address, 4));
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
  Value address = addressIn(factor, tile, add(line, byLine), linesBehind,
                            add(from, byDepth), depthsBehind);
  return loadMatrices(b, loc, address, factor.alongLines);
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
  for (int64_t behind = 0; behind < tiling.depth / tiling.slices;
       behind += depthStep()) {
    Value from = slice ? mul(slice, tiling.depth / tiling.slices) : index(0);
    SmallVector<SmallVector<Value>> lefts, rights, leftRests, rightRests;
    for (int64_t i = 0; i < high(); ++i) {
      auto [most, rest] = rounded(matrices(product.left, left, warpRow, 16 * i,
                                           from, behind, /*linesFirst=*/true));
      lefts.push_back(most);
      leftRests.push_back(rest);
    }
    // Two fragments at once: a fragment is the depth of one half.
    for (int64_t j = 0; j < wide(); j += 2) {
      auto [both, rest] =
          rounded(matrices(product.right, right, warpColumn, 8 * j, from,
                           behind, /*linesFirst=*/false));
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

SmallVector<Value> TensorCoreKernel::addSlices(Share &own,
                                               ArrayRef<Value> sums) {
  if (!slice)
    return llvm::to_vector(sums);
  // Fragments of the columns that the other slice keeps go to shared memory
  // where stages were, a word of all threads behind the other.
  int64_t columns = own.columns.size(), kept = columns / 2,
          words = own.rows.size() * kept;
  assert(words * tiling.threads * 4 <=
             tiling.stages *
                 (tileBytes(product.left) + tileBytes(product.right)) &&
         "sums need more room than stages");
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, slice, index(0));
  auto either = [&](Value first, Value second) -> Value {
    return arith::SelectOp::create(b, loc, isFirst, first, second);
  };
  auto eachKept = [&](llvm::function_ref<void(int64_t, Value, Value)> visit) {
    for (int64_t i = 0; i < words; ++i) {
      int64_t spot = i / kept * columns + i % kept;
      visit(i, sums[spot], sums[spot + kept]);
    }
  };
  auto placeOf = [&](Value of, int64_t word) {
    return at(base, add(mul(of, 4), index(word * tiling.threads * 4)));
  };
  gpu::BarrierOp::create(b, loc); // all have read the last stage
  eachKept([&](int64_t word, Value first, Value second) {
    LLVM::StoreOp::create(b, loc, either(second, first), placeOf(thread, word),
                          4);
  });
  gpu::BarrierOp::create(b, loc);
  Value other = arith::XOrIOp::create(b, loc, thread, index(2 * kWarp));
  SmallVector<Value> results;
  eachKept([&](int64_t word, Value first, Value second) {
    Value theirs =
        LLVM::LoadOp::create(b, loc, product.sum, placeOf(other, word), 4);
    Value mine = either(first, second);
    // In the slices' order.
    results.push_back(arith::AddFOp::create(b, loc, either(mine, theirs),
                                            either(theirs, mine)));
  });
  SmallVector<Value> keptColumns;
  for (int64_t j = 0; j < kept; ++j)
    keptColumns.push_back(either(own.columns[j], own.columns[j + kept]));
  own.columns = keptColumns;
  return results;
}

static bool fitsTensorCores(const Product &product) {
  if (product.element == product.sum)
    return product.tensorTerms > 0;
  return product.depths >= kStep;
}

bool gpukernels::hasKernel(const Product &product) {
  return fitsTensorCores(product) || fitsRegisterTiles(product);
}

/// The tile of a block whose multiprocessors end first: with large tiles fewer
/// of them may be busy to the end, small ones are read more often. A smaller
/// one must be worth it: what an estimate does not see is in favour of the
/// larger one.
static Tiling chooseTiling(const Product &product, const Cost &cost,
                           int64_t multiprocessors) {
  constexpr int64_t warps = 4, lineBytes = kTileBytes; // [shape]
  int64_t depth = product.element.isF32() ? lineBytes / 4 : lineBytes / 2;
  Tiling best{64, 64, depth, 4, warps * kWarp};
  double least = std::numeric_limits<double>::infinity();
  for (auto [rows, columns, slices] : kTiles) {
    // Of sizes that are not known the number of tiles is not known either.
    bool isPlain = rows == columns && rows % 64 == 0 && slices == 1;
    if ((!product.isStatic && !isPlain) || (rows > 64 && product.rows < rows) ||
        (columns > 64 && product.columns < columns))
      continue;
    double blocks = double(llvm::divideCeil(product.rows, rows)) *
                    double(llvm::divideCeil(product.columns, columns)) *
                    double(product.batches);
    double steps = double(llvm::divideCeil(product.depths, depth));
    // Copies write each line of a tile. Two warps read it, or, where a slice
    // has two warps, of each slice's half of it both read the shorter side.
    double lines = rows + columns;
    double reads =
        slices == 1 ? 2 * lines : lines + double(std::min(rows, columns));
    // For a result and a byte of a line an operation on 16 bits: tf32 has twice
    // the bytes and half of the rate.
    double tensor = cost.multiply(double(rows * columns * lineBytes)),
           shared = cost.accessShared((lines + reads) * lineBytes);
    // Two slices write, and read, half of their sums.
    double sums =
        slices == 1 ? 0 : cost.accessShared(8.0 * double(rows * columns));
    // As long as if all multiprocessors had as many blocks as the busiest.
    double ofBusiest = std::ceil(blocks / multiprocessors) * multiprocessors;
    double seconds =
        std::max(ofBusiest * (steps * std::max(tensor, shared) + sums),
                 cost.accessLevel2(blocks * steps * lines * lineBytes));
    if (!Cost::isWorth(seconds, least))
      continue;
    least = seconds;
    best = {rows,          columns, depth, rows * columns > 96 * 96 ? 3 : 4,
            warps * kWarp, slices};
  }
  return best;
}

bool gpukernels::launchOnTensorCores(linalg::GenericOp op,
                                     const Product &product, OwnKernels own) {
  if (!fitsTensorCores(product))
    return false;
  Tiling tiling = chooseTiling(product, Cost(machineOf(op)), blocksOfGpu(op));
  // Three products want the registers of large tiles.
  if (product.tensorTerms > 1)
    tiling = {64, 64, 16, 4, 128};
  OpBuilder b(op);
  TensorCoreKernel(b, op, product, tiling).emit(own);
  return true;
}
