//===- Fourier.cpp - fft along dims that are cut --------------------------===//
//
// A transform of several dims is one of each after the other, and those of one
// dim do not see the others. So a dim that is cut is made whole while another
// is cut in its place, and nothing is gathered: pencils, as in P3DFFT (D.
// Pekurovsky, SIAM J. Sci. Comput. 34, 2012). Where one exchange makes all cut
// dims whole (a batch, channels), it is one exchange there and one back. A
// single line that many ranks hold in equal blocks is a matrix of k rows, and
// its transform two of columns and rows with factors between them (D. Bailey,
// "FFTs in external or hierarchical memory", J. Supercomputing 4, 1990).
//
//===----------------------------------------------------------------------===//
#include "Distribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include <numbers>

using namespace mlir;
using namespace shardc;
using namespace shardc::rules;
using stablehlo::FftType;

static bool isRealToComplex(stablehlo::FftOp op) {
  return op.getFftType() == FftType::RFFT;
}
static bool isComplexToReal(stablehlo::FftOp op) {
  return op.getFftType() == FftType::IRFFT;
}

/// Dims that are not transformed pass. A transformed dim may be cut before and
/// after it, along other axes; an axis that cuts it on one side best cuts a dim
/// that is not transformed on the other: then it is one exchange before or
/// after the op.
static FailureOr<ShardingRule> fftRule(stablehlo::FftOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand()),
                    to = shapeOf(op.getResult());
  size_t dims = from.size(), transformed = op.getFftLength().size(),
         first = dims - transformed;
  if (transformed > dims || transformed == 0)
    return failure();
  ShardingRule rule;
  TensorRule result = newFactors(rule, to), operand;
  operand.dims.assign(result.dims.begin(), result.dims.begin() + first);
  for (size_t dim = first; dim < dims; ++dim)
    operand.dims.push_back(IndexMap::identity(rule.addFactor(from[dim])));
  for (auto [tensor, other, value] :
       {std::tuple(&operand, &result, Value(op.getOperand())),
        std::tuple(&result, &operand, Value(op.getResult()))}) {
    for (size_t dim = first; dim < dims; ++dim) {
      Factor &factor = rule.factors[tensor->dims[dim].terms[0].factor];
      factor.kind = FactorKind::Distributed;
      factor.travels = true;
      factor.movedBytes = bytesOf(value);
      // Batch dims, other transformed dims from the last, the dim itself.
      for (size_t carrier = 0; carrier < first; ++carrier)
        factor.carriers.push_back(carrier);
      for (size_t carrier = dims; carrier-- > first;)
        if (carrier != dim)
          factor.carriers.push_back(other->dims[carrier].terms[0].factor);
      factor.carriers.push_back(other->dims[dim].terms[0].factor);
    }
  }
  rule.operands = {operand};
  rule.results = {result};
  return rule;
}

namespace {
/// A transform, dim by dim, of a value that is cut as `tables` say.
class Transformer {
public:
  Transformer(stablehlo::FftOp op, Localization &localization)
      : op(op), localization(localization), builder(localization.builder()),
        loc(op.getLoc()), value(localization.operands()[0]),
        tables(localization.operandTables(0)), numDims(tables.size()),
        first(numDims - static_cast<int64_t>(op.getFftLength().size())),
        done(numDims, false) {}

  Value run();

private:
  bool isCut(int64_t dim) const {
    return tables[dim].intervals.size() > 1 ||
           (tables[dim].formula.isOpen() && !tables[dim].axes.empty());
  }
  /// The dims that remain, in an order that is allowed: real ones last or
  /// first.
  SmallVector<int64_t> remaining() const;
  /// Moves the cuts of `dims` to others; false, and nothing moved, where
  /// `mustBalance` and ranks would be idle.
  bool makeWhole(ArrayRef<int64_t> dims, bool mustBalance);
  void takeAxes();
  /// Transforms the only line there is in blocks, if it is cut so; else false.
  bool transformLine();
  /// exp(-+2 pi i r c / length) of row r, of those in `rows`, and column c.
  Value twiddles(const IntervalTable &rows, int64_t columns, int64_t length);
  /// The last two dims change places.
  void swapLast();
  void transformDim(int64_t dim);
  void transformAll(ArrayRef<int64_t> dims);
  /// A transform of the last `lengths.size()` dims.
  void emit(FftType type, ArrayRef<int64_t> lengths, IntervalTable lastTable);

  stablehlo::FftOp op;
  Localization &localization;
  OpBuilder &builder;
  Location loc;
  Value value;
  SmallVector<IntervalTable> tables;
  int64_t numDims, first;
  SmallVector<bool> done;
};
} // namespace

SmallVector<int64_t> Transformer::remaining() const {
  SmallVector<int64_t> dims;
  for (int64_t dim = first; dim < numDims; ++dim)
    if (!done[dim])
      dims.push_back(dim);
  // The real side of the last dim comes first or last of all.
  if (isRealToComplex(op) && !done[numDims - 1])
    return {numDims - 1};
  if (isComplexToReal(op) && dims.size() > 1)
    dims.pop_back();
  return dims;
}

bool Transformer::makeWhole(ArrayRef<int64_t> dims, bool mustBalance) {
  SmallVector<IntervalTable> moved = tables;
  SmallVector<int64_t> carriers;
  auto add = [&](bool wanted, int64_t begin, int64_t end) {
    for (int64_t dim = begin; dim < end; ++dim)
      if (done[dim] == wanted && !llvm::is_contained(dims, dim))
        carriers.push_back(dim);
  };
  // Dims that are not transformed at all, those that have been, the others.
  add(false, 0, first);
  add(true, first, numDims);
  add(false, first, numDims);
  if (!moveCuts(localization, moved, dims, carriers) && mustBalance)
    return false;
  value = localization.exchange(
      value, tables, moved, {},
      "transforms a dim that is cut, and another is cut meanwhile");
  tables = moved;
  return true;
}

void Transformer::emit(FftType type, ArrayRef<int64_t> lengths,
                       IntervalTable lastTable) {
  auto element = cast<FloatType>([&] {
    Type now = getElementTypeOrSelf(value.getType());
    auto complex = dyn_cast<ComplexType>(now);
    return complex ? complex.getElementType() : now;
  }());
  Type result =
      type == FftType::IRFFT ? Type(element) : ComplexType::get(element);
  auto shape =
      llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
  shape.back() = blockType({lastTable}, element).getDimSize(0);
  value = stablehlo::FftOp::create(
      builder, loc, RankedTensorType::get(shape, result), value, type, lengths);
}

/// Of one dim: the last one stays, another changes places with it.
void Transformer::transformDim(int64_t dim) {
  int64_t last = numDims - 1, length = op.getFftLength()[dim - first];
  FftType type = op.getFftType();
  if (dim != last && isRealToComplex(op))
    type = FftType::FFT;
  if (dim != last && isComplexToReal(op))
    type = FftType::IFFT;
  auto swapped = [&] {
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, numDims));
    std::swap(order[dim], order[last]);
    auto now = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape;
    for (int64_t from : order)
      shape.push_back(now.getDimSize(from));
    value = stablehlo::TransposeOp::create(builder, loc, now.clone(shape),
                                           value, order);
  };
  IntervalTable after = localization.wholeTable(shapeOf(op.getResult())[dim]);
  if (dim != last)
    swapped();
  emit(type, length, after);
  if (dim != last)
    swapped();
  tables[dim] = after;
  done[dim] = true;
}

/// Of dims that are whole: as the op itself where they are all there are, in
/// its order.
void Transformer::transformAll(ArrayRef<int64_t> dims) {
  if (static_cast<int64_t>(dims.size()) == numDims - first) {
    IntervalTable after =
        localization.wholeTable(shapeOf(op.getResult()).back());
    emit(op.getFftType(), op.getFftLength(), after);
    tables.back() = after;
    for (int64_t dim : dims)
      done[dim] = true;
    return;
  }
  for (int64_t dim : dims)
    transformDim(dim);
}

/// Axes that only the result is cut along cut the operand too: that moves
/// nothing.
void Transformer::takeAxes() {
  SmallVector<int64_t> used,
      carriers = llvm::to_vector(llvm::seq<int64_t>(0, numDims));
  for (const IntervalTable &table : tables)
    llvm::append_range(used, table.axes);
  SmallVector<IntervalTable> moved = tables;
  for (const IntervalTable &table : localization.resultTables(0))
    for (int64_t axis : table.axes)
      if (!llvm::is_contained(used, axis))
        placeAxis(localization, moved, axis, carriers);
  value = localization.exchange(value, tables, moved, {},
                                "takes its part of what it has whole");
  tables = moved;
}

Value Transformer::twiddles(const IntervalTable &rows, int64_t columns,
                            int64_t length) {
  int64_t count = rows.intervals.front().size();
  auto scalar = RankedTensorType::get({}, builder.getI64Type());
  auto places = RankedTensorType::get({count, columns}, builder.getI64Type());
  auto angles = RankedTensorType::get({count, columns}, builder.getF64Type());
  Value begin = getValueOrCreateConstantIndexOp(builder, loc,
                                                beginAt(localization, rows));
  begin = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), begin);
  begin = tensor::FromElementsOp::create(builder, loc, scalar, begin);
  Value row = stablehlo::IotaOp::create(builder, loc, places, 0),
        column = stablehlo::IotaOp::create(builder, loc, places, 1);
  Value offset = stablehlo::BroadcastInDimOp::create(
      builder, loc, places, begin, builder.getDenseI64ArrayAttr({}));
  row = stablehlo::AddOp::create(builder, loc, places, row, offset);
  Value product = stablehlo::MulOp::create(builder, loc, places, row, column);
  double unitAngle = 2 * std::numbers::pi / double(length);
  auto step = DenseElementsAttr::get(
      angles, op.getFftType() == FftType::FFT ? -unitAngle : unitAngle);
  Value angle = stablehlo::ConvertOp::create(builder, loc, angles, product);
  Value factor = stablehlo::ConstantOp::create(
      builder, loc, cast<ElementsAttr>(Attribute(step)));
  angle = stablehlo::MulOp::create(builder, loc, angles, angle, factor);
  Value real = stablehlo::CosineOp::create(builder, loc, angles, angle),
        imaginary = stablehlo::SineOp::create(builder, loc, angles, angle);
  Type element =
      cast<ComplexType>(getElementTypeOrSelf(value.getType())).getElementType();
  auto parts = RankedTensorType::get({count, columns}, element);
  if (!element.isF64()) {
    real = stablehlo::ConvertOp::create(builder, loc, parts, real);
    imaginary = stablehlo::ConvertOp::create(builder, loc, parts, imaginary);
  }
  return stablehlo::ComplexOp::create(
      builder, loc,
      RankedTensorType::get({count, columns}, ComplexType::get(element)), real,
      imaginary);
}

void Transformer::swapLast() {
  auto now = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> order = llvm::to_vector(
                           llvm::seq<int64_t>(0, now.getRank())),
                       shape(now.getShape());
  std::swap(order[numDims - 1], order[numDims]);
  std::swap(shape[numDims - 1], shape[numDims]);
  value = stablehlo::TransposeOp::create(builder, loc, now.clone(shape), value,
                                         order);
}

bool Transformer::transformLine() {
  // A rank receives all but its own of a block in each move, or all but its own
  // of the line at once: k (r - 1) / r blocks, or r - 1, which is less unless
  // there are more ranks r than moves k. Bytes of one link are compared with
  // bytes of the same, so no figure of it matters.
  constexpr int64_t kMoves = 3; // [maths]
  if (first + 1 != numDims ||
      (op.getFftType() != FftType::FFT && op.getFftType() != FftType::IFFT))
    return false;
  const IntervalTable line = tables.back();
  int64_t ranks = line.intervals.size(), length = op.getFftLength().front(),
          block = length / ranks;
  bool isSingle = llvm::all_of(
      ArrayRef(tables).drop_back(),
      [](const IntervalTable &table) { return longestBlock(table) == 1; });
  if (!isSingle || ranks <= kMoves || length == 0 ||
      length % (ranks * ranks) != 0 ||
      !cast<RankedTensorType>(value.getType()).hasStaticShape())
    return false;
  for (int64_t i = 0; i < ranks; ++i)
    if (!(line.intervals[i] == Interval{i * block, (i + 1) * block}))
      return false;
  // Element r block + m is row r, column m of a matrix; frequency f + ranks g
  // is column f, row g of another.
  SmallVector<IntervalTable> lead(ArrayRef(tables).drop_back());
  auto with = [&](const IntervalTable &rows, const IntervalTable &columns) {
    SmallVector<IntervalTable> all(lead);
    all.append({rows, columns});
    return all;
  };
  IntervalTable one = onePerRank(localization, line.axes),
                parts = tableOf(line.axes, Boundaries::balanced(block, ranks));
  IntervalTable wholeBlock = wholeTable(block), wholeRanks = wholeTable(ranks);
  Type element = getElementTypeOrSelf(value.getType());
  auto reshape = [&](ArrayRef<IntervalTable> to) {
    value = stablehlo::ReshapeOp::create(builder, loc, blockType(to, element),
                                         value);
  };
  auto move = [&](ArrayRef<IntervalTable> from, ArrayRef<IntervalTable> to) {
    value = localization.exchange(value, from, to, {},
                                  "transforms a line in blocks");
  };
  auto transform = [&](int64_t size) {
    value = stablehlo::FftOp::create(builder, loc, value.getType(), value,
                                     op.getFftType(), ArrayRef<int64_t>{size});
  };
  reshape(with(one, wholeBlock));
  move(with(one, wholeBlock), with(wholeRanks, parts));
  swapLast();
  transform(ranks);
  auto type = cast<RankedTensorType>(value.getType());
  Value factors = twiddles(parts, ranks, length);
  factors = stablehlo::BroadcastInDimOp::create(
      builder, loc, type, factors,
      builder.getDenseI64ArrayAttr({numDims - 1, numDims}));
  value = stablehlo::MulOp::create(builder, loc, type, value, factors);
  move(with(parts, wholeRanks), with(wholeBlock, one));
  swapLast();
  transform(block);
  swapLast();
  move(with(wholeBlock, one), with(parts, wholeRanks));
  reshape(tables);
  return true;
}

Value Transformer::run() {
  takeAxes();
  // In blocks a line is rounded otherwise than as a whole. Blocks of a line
  // are equal in some bindings only.
  if (!spmd::contract::WholeLines::has(op) && !localization.isBoundLate() &&
      transformLine())
    return localization.exchange(
        value, tables, localization.resultTables(0), {},
        "gives its result back to the blocks that it came from");
  SmallVector<int64_t> all =
                           llvm::to_vector(llvm::seq<int64_t>(first, numDims)),
                       cut;
  for (int64_t dim : all)
    if (isCut(dim))
      cut.push_back(dim);
  // Dims that are not transformed carry all the cuts, if they can.
  if (first > 0) {
    SmallVector<IntervalTable> moved = tables;
    if (moveCuts(localization, moved, cut,
                 llvm::to_vector(llvm::seq<int64_t>(0, first)))) {
      value = localization.exchange(
          value, tables, moved, {},
          "transforms dims that are cut, and others are cut meanwhile");
      tables = moved;
      transformAll(all);
      return localization.exchange(
          value, tables, localization.resultTables(0), {},
          "gives its result back to the blocks that it came from");
    }
  }
  for (SmallVector<int64_t> left = remaining(); !left.empty();
       left = remaining()) {
    SmallVector<int64_t> whole, others;
    for (int64_t dim : left)
      (isCut(dim) ? others : whole).push_back(dim);
    // What is whole already, then all the others at once, or one of them.
    if (whole.empty()) {
      if (!makeWhole(others, /*mustBalance=*/others.size() > 1))
        makeWhole(others.front(), /*mustBalance=*/false);
      continue;
    }
    for (int64_t dim : whole)
      transformDim(dim);
  }
  return localization.exchange(
      value, tables, localization.resultTables(0), {},
      "gives its result back to the blocks that it came from");
}

static LocalResults localizeFft(stablehlo::FftOp op,
                                Localization &localization) {
  int64_t dims = shapeOf(op.getOperand()).size(),
          first = dims - static_cast<int64_t>(op.getFftLength().size());
  localization.carriesFormulas();
  for (int64_t dim = first; dim < dims; ++dim)
    if (localization.isOperandDimLocal(0, dim) ||
        localization.isResultDimLocal(0, dim))
      return SmallVector<Value>{Transformer(op, localization).run()};
  return localizeByCloning(op, localization);
}

void rules::attachFourier(MLIRContext *context) {
  attach<stablehlo::FftOp, fftRule, localizeFft>(context);
}
