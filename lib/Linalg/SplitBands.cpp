//===- SplitBands.cpp - Products with weights that are mostly zero --------===//
//
// To resize an image, JAX multiplies it with weights that it computes from
// positions: of 128 numbers in a column two are not zero. Here such weights are
// computed once, when the program is compiled. Where what is not zero is in a
// band, the product is made by blocks of columns, each with the rows of its
// part of the band alone.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Linalg/Passes.h"
#include "shardc/Machine/Cost.h"
#include <cmath>
#include <memory>

namespace shardc {
#define GEN_PASS_DEF_SPLITBANDSPASS
#include "shardc/Linalg/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

/// Elements of weights that are looked at, and ops that they come of.
static constexpr int64_t kMostElements = 1 << 20;
static constexpr unsigned kMostDepth = 96;
/// Blocks of columns, and columns that a block has at least: two vectors.
static constexpr int64_t kMostBlocks = 8, kLeastColumns = 32;

namespace {
/// The elements of a tensor of f32, i1 or integers of 32 bits.
using Numbers = std::vector<double>;

/// Computes values that depend on no argument, each once.
class Evaluator {
public:
  /// Null for what depends on arguments, is large, or comes of other ops.
  const Numbers *find(Value value, unsigned depth = 0);

private:
  std::optional<Numbers> compute(Operation *op, RankedTensorType type,
                                 unsigned depth);
  DenseMap<Value, std::unique_ptr<Numbers>> known;
};

/// Where a block of columns has its band.
struct Band {
  int64_t begin, end;     ///< of rows
  int64_t column, behind; ///< of columns
};
} // namespace

static bool isNumber(Type type) {
  return type.isF32() || type.isInteger(1) || type.isInteger(32);
}

const Numbers *Evaluator::find(Value value, unsigned depth) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second.get();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  std::optional<Numbers> numbers;
  if (op && type && type.hasStaticShape() && isNumber(type.getElementType()) &&
      type.getNumElements() <= kMostElements && depth < kMostDepth)
    numbers = compute(op, type, depth + 1);
  // As a sum, a difference, a product or a quotient of two f32 is rounded.
  if (numbers && type.getElementType().isF32())
    for (double &number : *numbers)
      number = static_cast<float>(number);
  auto &kept = known[value];
  kept = numbers ? std::make_unique<Numbers>(std::move(*numbers)) : nullptr;
  return kept.get();
}

/// Strides of a contiguous tensor.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

std::optional<Numbers> Evaluator::compute(Operation *op, RankedTensorType type,
                                          unsigned depth) {
  size_t count = type.getNumElements();
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense)
      return std::nullopt;
    Numbers numbers;
    numbers.reserve(count);
    if (type.getElementType().isF32())
      for (const APFloat &number : dense.getValues<APFloat>())
        numbers.push_back(number.convertToFloat());
    else
      for (const APInt &number : dense.getValues<APInt>())
        numbers.push_back(type.getElementType().isInteger(1)
                              ? double(number.getZExtValue())
                              : double(number.getSExtValue()));
    return numbers;
  }
  SmallVector<int64_t> strides = stridesOf(type.getShape());
  auto indexIn = [&](size_t place, int64_t dim) {
    return int64_t(place) / strides[dim] % type.getDimSize(dim);
  };
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
    Numbers numbers(count);
    for (size_t i = 0; i < count; ++i)
      numbers[i] = indexIn(i, iota.getIotaDimension());
    return numbers;
  }
  SmallVector<const Numbers *> inputs;
  for (Value operand : op->getOperands()) {
    inputs.push_back(find(operand, depth));
    if (!inputs.back())
      return std::nullopt;
  }
  if (inputs.empty())
    return std::nullopt;
  if (isa<stablehlo::ReshapeOp>(op))
    return *inputs[0];
  if (isa<stablehlo::ConvertOp>(op)) {
    Type from = getElementTypeOrSelf(op->getOperand(0).getType());
    if (!type.getElementType().isF32() && from != type.getElementType())
      return std::nullopt;
    return *inputs[0];
  }
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    auto from = cast<RankedTensorType>(broadcast.getOperand().getType());
    SmallVector<int64_t> steps = stridesOf(from.getShape());
    Numbers numbers(count);
    for (size_t i = 0; i < count; ++i) {
      int64_t place = 0;
      for (auto [dim, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        if (from.getDimSize(dim) != 1)
          place += indexIn(i, to) * steps[dim];
      numbers[i] = (*inputs[0])[place];
    }
    return numbers;
  }
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op)) {
    Block &body = reduce.getBody().front();
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    if (op->getNumResults() != 1 || !isa<stablehlo::AddOp>(body.front()) ||
        body.front().getNextNode() != body.getTerminator() ||
        !type.getElementType().isF32() || inputs[0]->empty())
      return std::nullopt;
    SmallVector<int64_t> steps = stridesOf(from.getShape());
    Numbers numbers(count, (*inputs[1])[0]);
    for (size_t i = 0; i < inputs[0]->size(); ++i) {
      int64_t place = 0, kept = 0;
      for (int64_t dim : llvm::seq(from.getRank()))
        if (!llvm::is_contained(reduce.getDimensions(), dim))
          place +=
              int64_t(i) / steps[dim] % from.getDimSize(dim) * strides[kept++];
      numbers[place] += (*inputs[0])[i];
    }
    return numbers;
  }
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
    using Direction = stablehlo::ComparisonDirection;
    Numbers numbers(count);
    for (size_t i = 0; i < count; ++i) {
      double x = (*inputs[0])[i], y = (*inputs[1])[i];
      switch (compare.getComparisonDirection()) {
      case Direction::EQ:
        numbers[i] = x == y;
        break;
      case Direction::NE:
        numbers[i] = x != y;
        break;
      case Direction::GE:
        numbers[i] = x >= y;
        break;
      case Direction::GT:
        numbers[i] = x > y;
        break;
      case Direction::LE:
        numbers[i] = x <= y;
        break;
      case Direction::LT:
        numbers[i] = x < y;
        break;
      }
    }
    return numbers;
  }
  if (isa<stablehlo::SelectOp>(op)) {
    Numbers numbers(count);
    bool isOne = inputs[0]->size() == 1;
    for (size_t i = 0; i < count; ++i)
      numbers[i] = (*inputs[(*inputs[0])[isOne ? 0 : i] != 0 ? 1 : 2])[i];
    return numbers;
  }
  auto each = [&](auto function) {
    Numbers numbers(count);
    for (size_t i = 0; i < count; ++i)
      numbers[i] =
          function((*inputs[0])[i], inputs.size() > 1 ? (*inputs[1])[i] : 0);
    return std::optional(std::move(numbers));
  };
  if (type.getElementType().isInteger(1)) {
    if (isa<stablehlo::AndOp>(op))
      return each([](double x, double y) { return double(x != 0 && y != 0); });
    if (isa<stablehlo::OrOp>(op))
      return each([](double x, double y) { return double(x != 0 || y != 0); });
    return std::nullopt;
  }
  // Integers wrap around and are divided otherwise.
  if (!type.getElementType().isF32())
    return std::nullopt;
  if (isa<stablehlo::AddOp>(op))
    return each([](double x, double y) { return x + y; });
  if (isa<stablehlo::SubtractOp>(op))
    return each([](double x, double y) { return x - y; });
  if (isa<stablehlo::MulOp>(op))
    return each([](double x, double y) { return x * y; });
  if (isa<stablehlo::DivOp>(op))
    return each([](double x, double y) { return x / y; });
  if (isa<stablehlo::NegOp>(op))
    return each([](double x, double) { return -x; });
  if (isa<stablehlo::AbsOp>(op))
    return each([](double x, double) { return std::fabs(x); });
  if (isa<stablehlo::FloorOp>(op))
    return each([](double x, double) { return std::floor(x); });
  if (isa<stablehlo::MaxOp>(op))
    return each([](double x, double y) {
      return std::isnan(x) || std::isnan(y) ? std::nan("") : std::max(x, y);
    });
  if (isa<stablehlo::MinOp>(op))
    return each([](double x, double y) {
      return std::isnan(x) || std::isnan(y) ? std::nan("") : std::min(x, y);
    });
  return std::nullopt;
}

/// Blocks of columns of a matrix, each with as many of its rows: all that are
/// not zero. Empty if that is no third of the rows at most.
static SmallVector<Band>
bandsOf(int64_t rows, int64_t columns,
        llvm::function_ref<double(int64_t, int64_t)> at) {
  int64_t width =
      std::max(llvm::divideCeil(columns, kMostBlocks), uint64_t(kLeastColumns));
  width = llvm::alignTo(width, 16);
  SmallVector<Band> bands;
  int64_t most = 1;
  for (int64_t column = 0; column < columns; column += width) {
    Band band{rows, 0, column, std::min(column + width, columns)};
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t c = column; c < band.behind; ++c) {
        double weight = at(row, c);
        if (!std::isfinite(weight))
          return {};
        if (weight == 0)
          continue;
        band.begin = std::min(band.begin, row);
        band.end = row + 1;
      }
    most = std::max(most, band.end - band.begin);
    bands.push_back(band);
  }
  if (3 * most > rows || bands.size() < 2)
    return {};
  // Blocks of one shape share their code.
  for (Band &band : bands) {
    band.begin = std::clamp<int64_t>(band.begin, 0, rows - most);
    band.end = band.begin + most;
  }
  return bands;
}

static Value sliceOf(OpBuilder &b, Location loc, Value value, int64_t dim,
                     int64_t from, int64_t to) {
  // Other dims may have sizes that differ by rank.
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> begin(type.getRank(), b.getIndexAttr(0)),
      step(type.getRank(), b.getIndexAttr(1)),
      size = tensor::getMixedSizes(b, loc, value);
  begin[dim] = b.getIndexAttr(from);
  size[dim] = b.getIndexAttr(to - from);
  return tensor::ExtractSliceOp::create(b, loc, value, begin, size, step);
}

/// Makes `dot` by blocks if its operand `side` is a band.
static bool split(stablehlo::DotGeneralOp dot, unsigned side,
                  Evaluator &evaluator) {
  auto numbers = dot.getDotDimensionNumbers();
  Value weights = dot->getOperand(side), other = dot->getOperand(1 - side);
  auto type = cast<RankedTensorType>(weights.getType());
  auto otherType = cast<RankedTensorType>(other.getType());
  auto resultType = cast<RankedTensorType>(dot.getType());
  ArrayRef<int64_t> mine = side == 0 ? numbers.getLhsContractingDimensions()
                                     : numbers.getRhsContractingDimensions();
  ArrayRef<int64_t> theirs = side == 0 ? numbers.getRhsContractingDimensions()
                                       : numbers.getLhsContractingDimensions();
  if (type.getRank() != 2 || mine.size() != 1 || !type.hasStaticShape() ||
      !numbers.getLhsBatchingDimensions().empty() ||
      !type.getElementType().isF32() || !otherType.getElementType().isF32() ||
      ShapedType::isDynamic(otherType.getDimSize(theirs.front())))
    return false;
  int64_t rowDim = mine.front(), columnDim = 1 - rowDim;
  int64_t rows = type.getDimSize(rowDim), columns = type.getDimSize(columnDim);
  int64_t products = columns;
  for (int64_t size : otherType.getShape())
    products *= ShapedType::isDynamic(size) ? 64 : size;
  Cost cost(machineOf(dot));
  if (cost.isSoonOver(cost.compute(2 * double(products))) || rows < 3)
    return false;
  const Numbers *found = evaluator.find(weights);
  if (!found)
    return false;
  int64_t step = type.getDimSize(1);
  auto at = [&](int64_t row, int64_t column) {
    return (*found)[rowDim == 0 ? row * step + column : column * step + row];
  };
  SmallVector<Band> bands = bandsOf(rows, columns, at);
  if (bands.empty())
    return false;
  OpBuilder b(dot);
  Location loc = dot.getLoc();
  int64_t place = side == 0 ? 0 : otherType.getRank() - 1;
  SmallVector<Value> parts;
  for (const Band &band : bands) {
    int64_t height = band.end - band.begin, width = band.behind - band.column;
    SmallVector<int64_t> shape(2);
    shape[rowDim] = height;
    shape[columnDim] = width;
    SmallVector<float> block(height * width);
    for (int64_t row = 0; row < height; ++row)
      for (int64_t column = 0; column < width; ++column)
        block[rowDim == 0 ? row * width + column : column * height + row] =
            at(band.begin + row, band.column + column);
    auto blockType = type.clone(shape);
    Value constant = stablehlo::ConstantOp::create(
        b, loc, DenseElementsAttr::get(blockType, ArrayRef(block)));
    Value read = sliceOf(b, loc, other, theirs.front(), band.begin, band.end);
    auto made = cast<stablehlo::DotGeneralOp>(b.clone(*dot));
    made->setOperand(side, constant);
    made->setOperand(1 - side, read);
    SmallVector<int64_t> partShape(resultType.getShape());
    partShape[place] = width;
    made.getResult().setType(resultType.clone(partShape));
    parts.push_back(made);
  }
  // A transpose that is all that reads them goes before they are joined: each
  // part is written where it belongs.
  Operation *last = dot;
  if (auto transpose = dot->hasOneUse() ? dyn_cast<stablehlo::TransposeOp>(
                                              *dot->user_begin())
                                        : stablehlo::TransposeOp()) {
    ArrayRef<int64_t> order = transpose.getPermutation();
    for (Value &part : parts)
      part = stablehlo::TransposeOp::create(b, loc, part, order);
    place = llvm::find(order, place) - order.begin();
    resultType = transpose.getType();
    last = transpose;
  }
  Value whole = stablehlo::ConcatenateOp::create(b, loc, resultType, parts,
                                                 uint64_t(place));
  last->getResult(0).replaceAllUsesWith(whole);
  if (last != dot)
    last->erase();
  dot.erase();
  return true;
}

namespace {
struct SplitBandsPass final : shardc::impl::SplitBandsPassBase<SplitBandsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<stablehlo::DotGeneralOp> dots;
    getOperation().walk([&](stablehlo::DotGeneralOp dot) {
      if (dot.getType().hasRank())
        dots.push_back(dot);
    });
    Evaluator evaluator;
    for (stablehlo::DotGeneralOp dot : dots)
      if (!split(dot, 0, evaluator))
        split(dot, 1, evaluator);
  }
};
} // namespace
