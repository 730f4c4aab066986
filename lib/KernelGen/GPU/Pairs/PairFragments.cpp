//===- PairFragments.cpp - Steps of 16-bit floats on tensor cores ---------===//
#include "PairFragments.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

/// Number `i` of the two 16-bit numbers in a word, as f32.
static Value wideOf(PairPoint &point, Value word, int64_t i) {
  OpBuilder &b = point.b;
  Location loc = point.loc;
  Type type = point.step.type, half = point.step.half, type32 = b.getI32Type();
  if (half.isBF16()) {
    // The upper half of an f32.
    Value bits = i == 0 ? arith::ShLIOp::create(
                              b, loc, word,
                              arith::ConstantIntOp::create(b, loc, type32, 16))
                              .getResult()
                        : arith::AndIOp::create(b, loc, word,
                                                arith::ConstantIntOp::create(
                                                    b, loc, type32, -65536))
                              .getResult();
    return arith::BitcastOp::create(b, loc, type, bits);
  }
  Value pair =
      LLVM::BitcastOp::create(b, loc, VectorType::get({2}, half), word);
  Value number = vector::ExtractOp::create(b, loc, pair, i);
  return arith::ExtFOp::create(b, loc, type, number);
}

SmallVector<Value> gpukernels::pairs::splitToHalves(PairPoint &point, Value low,
                                                    Value high, int64_t terms,
                                                    bool isFinite) {
  OpBuilder &b = point.b;
  Location loc = point.loc;
  Type type = point.step.type, half = point.step.half, word = b.getI32Type();
  SmallVector<Value> values = {low, high}, words;
  while (true) {
    // One instruction rounds two numbers to a word.
    Value pair = vector::FromElementsOp::create(
        b, loc, VectorType::get({2}, type), values);
    Value rounded =
        arith::TruncFOp::create(b, loc, VectorType::get({2}, half), pair);
    words.push_back(LLVM::BitcastOp::create(b, loc, word, rounded));
    if (static_cast<int64_t>(words.size()) == terms)
      return words;
    for (auto [i, value] : llvm::enumerate(values)) {
      Value wide = wideOf(point, words.back(), i);
      Value left = arith::SubFOp::create(b, loc, value, wide);
      value = left;
      if (isFinite)
        continue;
      // What is infinite is so in its first part.
      Value finite =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, left, left);
      value = point.choose(finite, left, point.number(0));
    }
  }
}

SmallVector<SmallVector<Value>>
gpukernels::pairs::weightFragments(PairBlock &block, ArrayRef<Value> weights,
                                   bool isFinite) {
  const Step &step = block.step;
  int64_t terms = step.shortWeights ? 1 : step.half.isBF16() ? 3 : 2;
  int64_t columns = block.shape.columnsOfThread();
  SmallVector<SmallVector<Value>> split; // of two neighbours each
  for (size_t at = 0; at < weights.size(); at += 2)
    split.push_back(
        splitToHalves(block, weights[at], weights[at + 1], terms, isFinite));
  SmallVector<SmallVector<Value>> fragments;
  for (int64_t term = 0; term < terms; ++term)
    for (int64_t column = 0; column < columns; column += 4) {
      SmallVector<Value> words;
      for (int64_t pair = 0; pair < 4; pair += 2)
        for (int64_t row = 0; row < 2; ++row)
          words.push_back(split[(row * columns + column + pair) / 2][term]);
      fragments.push_back(words);
    }
  return fragments;
}

SmallVector<SmallVector<SmallVector<Value>>>
gpukernels::pairs::weightFragmentsOfRows(PairBlock &block,
                                         ArrayRef<Value> weights,
                                         bool isFinite) {
  int64_t columns = block.shape.columnsOfThread();
  SmallVector<SmallVector<SmallVector<Value>>> fragments;
  for (int64_t m = 0; m < block.shape.rowsOfThread / 2; ++m)
    fragments.push_back(weightFragments(
        block, weights.slice(2 * m * columns, 2 * columns), isFinite));
  return fragments;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Depth of one product. [shape]
static constexpr int64_t kStep = 16;

namespace {
/// The row of which matrix, of four, a lane gives the address of: two matrices
/// are along one dim (`first` is where the lane's begins), two along the other
/// (`second`).
struct MatrixLane {
  explicit MatrixLane(PairBlock &block) {
    Value lane = block.rem(block.thread, kWarp);
    row = block.rem(lane, 8);
    first = block.mul(block.rem(block.div(lane, 8), 2), 8);
    second = block.mul(block.div(lane, 16), 8);
  }
  Value row, first, second;
};
} // namespace

Value gpukernels::pairs::swizzledPiece(PairBlock &block, Value line,
                                       Value piece) {
  return block.bitXor(piece, block.rem(line, 8));
}

namespace {
/// Where a lane reads matrices: in lines that are a multiple of eight behind
/// its first one, at a multiple of 32 bytes behind its first column.
class LanePlace {
public:
  /// `column` is 0 or 8, of 16-bit numbers.
  LanePlace(PairBlock &block, const HalfLines &lines, Value line, Value column)
      : block(block), lines(lines) {
    Value piece = block.div(column, 8);
    if (lines.isSwizzled)
      piece = swizzledPiece(block, line, piece);
    Value first = block.add(block.mul(line, lines.pitch), block.mul(piece, 16));
    places.push_back(block.sharedByte(lines.area, first));
    // Four in 128 bytes; others are a constant away.
    for (int64_t bytes = 32; lines.isSwizzled && bytes < 128; bytes += 32)
      places.push_back(block.sharedByte(
          lines.area, block.bitXor(first, block.index(bytes))));
  }
  Value at(int64_t line, int64_t bytes) {
    int64_t within = lines.isSwizzled ? bytes % 128 : 0;
    return block.sharedByte(
        places[within / 32],
        block.index(lines.offset + line * lines.pitch + bytes - within));
  }

private:
  PairBlock &block;
  const HalfLines &lines;
  SmallVector<Value> places;
};
} // namespace

/// Adds the product of two fragments to four sums.
static void addProduct(PairBlock &block, ArrayRef<Value> left,
                       ArrayRef<Value> right,
                       llvm::function_ref<Value &(int64_t)> spot) {
  SmallVector<Value> made =
      multiplyFragments(block.b, block.loc, block.step.half, left, right,
                        {spot(0), spot(1), spot(2), spot(3)});
  for (int64_t word = 0; word < 4; ++word)
    spot(word) = made[word];
}

void gpukernels::pairs::multiplyLines(PairBlock &block, const HalfLines &left,
                                      const HalfLines &right, int64_t depth,
                                      MutableArrayRef<Value> sums) {
  int64_t ownRows = block.shape.rowsOfThread, high = ownRows / 2,
          ownColumns = block.shape.columnsOfThread();
  MatrixLane lane(block);
  Value firstRow = block.firstOfWarp;
  if (!firstRow)
    firstRow = block.mul(block.div(block.thread, kWarp), 8 * ownRows);
  LanePlace leftPlace(block, left,
                      block.add(firstRow, block.add(lane.first, lane.row)),
                      lane.second);
  Value rightLine = block.add(lane.second, lane.row);
  if (block.firstOfGroup)
    rightLine = block.add(rightLine, block.firstOfGroup);
  LanePlace rightPlace(block, right, rightLine, lane.first);
  auto load = [&](LanePlace &place, int64_t line, int64_t bytes) {
    return loadMatrices(block.b, block.loc, place.at(line, bytes),
                        /*transposed=*/false);
  };
  for (int64_t from = 0; from < depth; from += kStep) {
    SmallVector<SmallVector<Value>> rows;
    for (int64_t m = 0; m < high; ++m)
      rows.push_back(load(leftPlace, 16 * m, 2 * from));
    for (int64_t j = 0; j < ownColumns / 2; j += 2) {
      SmallVector<Value> columns = load(rightPlace, 8 * j, 2 * from);
      for (int64_t m = 0; m < high; ++m)
        for (int64_t k = 0; k < 2; ++k)
          addProduct(block, rows[m], {columns[2 * k], columns[2 * k + 1]},
                     [&](int64_t word) -> Value & {
                       return sums[(2 * m + word / 2) * ownColumns +
                                   2 * (j + k) + word % 2];
                     });
    }
  }
}

void gpukernels::pairs::storeWeights(PairBlock &block, ArrayRef<Value> weights,
                                     const HalfLines &lines) {
  OpBuilder &b = block.b;
  int64_t columns = block.shape.columnsOfThread();
  Value column = block.firstOfGroup ? block.firstOfGroup : block.index(0);
  Value inPiece = block.mul(block.laneOfRow, 4);
  // Rows of a thread are eight apart: a piece has one place in all of them.
  Value line = block.rowAt(0), base = block.mul(line, lines.pitch);
  for (int64_t own = 0; own < columns; own += 2) {
    Value piece = block.add(block.div(column, 8), block.index(own / 2));
    if (lines.isSwizzled)
      piece = swizzledPiece(block, line, piece);
    Value place = block.sharedByte(
        lines.area, block.add(base, block.add(block.mul(piece, 16), inPiece)));
    for (int64_t row = 0; row < block.shape.rowsOfThread; ++row) {
      ArrayRef<Value> two = weights.slice(row * columns + own, 2);
      Value word = splitToHalves(block, two[0], two[1], /*terms=*/1,
                                 /*isFinite=*/true)
                       .front();
      Value to = block.sharedByte(
          place, block.index(lines.offset + 8 * row * lines.pitch));
      LLVM::StoreOp::create(b, block.loc, word, to, /*alignment=*/4);
    }
  }
}

void gpukernels::pairs::addProducts(PairBlock &block, const HalfLines &left,
                                    bool isTransposed, Value firstRow,
                                    const HalfLines &right, Value firstColumn,
                                    int64_t rows, int64_t depth,
                                    MutableArrayRef<Value> sums) {
  int64_t perRow = static_cast<int64_t>(sums.size()) / (rows / 8);
  MatrixLane lane(block);
  LanePlace leftPlace =
      isTransposed
          ? LanePlace(block, left, block.add(lane.second, lane.row),
                      block.add(firstRow, lane.first))
          : LanePlace(block, left,
                      block.add(firstRow, block.add(lane.first, lane.row)),
                      lane.second);
  LanePlace rightPlace(block, right, block.add(lane.first, lane.row),
                       block.add(firstColumn, lane.second));
  for (int64_t from = 0; from < depth; from += kStep) {
    SmallVector<SmallVector<Value>> lefts;
    for (int64_t row = 0; row < rows; row += 16)
      lefts.push_back(loadMatrices(block.b, block.loc,
                                   isTransposed ? leftPlace.at(from, 2 * row)
                                                : leftPlace.at(row, 2 * from),
                                   isTransposed));
    for (int64_t j = 0; j < perRow / 2; j += 2) {
      SmallVector<Value> columns =
          loadMatrices(block.b, block.loc, rightPlace.at(from, 16 * j),
                       /*transposed=*/true);
      for (auto [m, fragment] : llvm::enumerate(lefts))
        for (int64_t k = 0; k < 2; ++k)
          addProduct(block, fragment, {columns[2 * k], columns[2 * k + 1]},
                     [&, m = static_cast<int64_t>(m)](int64_t word) -> Value & {
                       return sums[(2 * m + word / 2) * perRow + 2 * (j + k) +
                                   word % 2];
                     });
    }
  }
}

void gpukernels::pairs::addFragments(
    PairBlock &block, ArrayRef<SmallVector<SmallVector<Value>>> weights,
    const HalfLines &factor, int64_t begin, int64_t first, int64_t count,
    MutableArrayRef<Value> totals) {
  int64_t perRow =
      static_cast<int64_t>(totals.size()) / block.shape.rowsOfThread;
  int64_t steps = block.shape.columns / kStep;
  MatrixLane lane(block);
  LanePlace place(block, factor, block.add(lane.first, lane.row), lane.second);
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t j = 0; j < count / 2; j += 2) {
      SmallVector<Value> right = loadMatrices(
          block.b, block.loc, place.at(kStep * step, 2 * begin + 16 * j),
          /*transposed=*/true);
      for (auto [m, lefts] : llvm::enumerate(weights))
        for (int64_t k = 0; k < 2; ++k)
          for (size_t left = step; left < lefts.size(); left += steps)
            addProduct(
                block, lefts[left], {right[2 * k], right[2 * k + 1]},
                [&, m = static_cast<int64_t>(m)](int64_t word) -> Value & {
                  return totals[(2 * m + word / 2) * perRow + first +
                                2 * (j + k) + word % 2];
                });
    }
}
