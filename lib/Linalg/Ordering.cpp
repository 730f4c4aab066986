//===- Ordering.cpp - sort and top_k --------------------------------------===//
//
// Lines along the dim are sorted each by itself, stable whatever is asked.
// Where a comparator compares elements of one operand by their value alone, as
// nearly all do, and for many threads, they stay an op, kernel.lines: the
// runtime sorts such lines, and kernels of GPUs any. Several keys, and parts of
// complex numbers, are as many sorts. Others are sorted here: a
// bottom-up merge sort of the line's positions, so that several operands move
// once, at the end.
//
//===----------------------------------------------------------------------===//
#include "StableHLOToLinalg.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

namespace {
/// Sorts lines of `inputs` along `dim`; `less` says whether the first list of
/// elements, one an input, belongs before the second.
struct LineSorter {
  using Less = llvm::function_ref<Value(ValueRange, ValueRange)>;

  Lowerer &l;
  ImplicitLocOpBuilder &b;
  SmallVector<Value> inputs;
  int64_t dim;
  Less less;
  /// As the runtime knows it; null: it does not.
  spmd::LineOrderAttr order;
  SmallVector<OpFoldResult> sizes;
  Value length, zero, one;

  LineSorter(Lowerer &l, ArrayRef<Value> inputs, int64_t dim, Less less,
             spmd::LineOrderAttr order);
  /// The sorted inputs, of each line the first `keep` elements; with
  /// `indexType` also their positions as another result.
  SmallVector<Value> emit(OpFoldResult keep, Type indexType);

private:
  SmallVector<Value> elements(ValueRange line, Value position);
  SmallVector<Value> leave(ArrayRef<Value> outs, bool positions);
  SmallVector<Value> sortLine(ValueRange line, Value order, Value spare);
  Value merge(ValueRange line, Value order, Value spare, Value chunk,
              Value width);
};
} // namespace

LineSorter::LineSorter(Lowerer &l, ArrayRef<Value> inputs, int64_t dim,
                       Less less, spmd::LineOrderAttr order)
    : l(l), b(l.b), inputs(inputs), dim(dim), less(less), order(order),
      sizes(l.sizes(inputs.front())) {
  length = l.value(sizes[dim]);
  zero = l.index(0);
  one = l.index(1);
}

SmallVector<Value> LineSorter::elements(ValueRange line, Value position) {
  SmallVector<Value> at(line), result;
  at.insert(at.begin() + dim, position);
  for (Value input : inputs)
    result.push_back(tensor::ExtractOp::create(b, input, at));
  return result;
}

// Merges runs [start, middle) and [middle, end) of `order` into `spare`.
Value LineSorter::merge(ValueRange line, Value order, Value spare, Value chunk,
                        Value width) {
  Value twice = arith::AddIOp::create(b, width, width);
  Value start = arith::MulIOp::create(b, chunk, twice);
  Value half = arith::AddIOp::create(b, start, width);
  Value middle = arith::MinSIOp::create(b, half, length);
  Value whole = arith::AddIOp::create(b, start, twice);
  Value end = arith::MinSIOp::create(b, whole, length);
  Value count = arith::SubIOp::create(b, end, start);
  // Where a run is used up its last element is compared, and not taken.
  Value lastLeft = arith::SubIOp::create(b, middle, one);
  Value lastRight = arith::SubIOp::create(b, end, one);
  SmallVector<Value> carried = {start, middle, spare};
  return l.loops(
      OpFoldResult(count), carried, [&](ValueRange step, ValueRange now) {
        Value left = now[0], right = now[1];
        Value leftAt = arith::MinSIOp::create(b, left, lastLeft);
        Value rightAt = arith::MinSIOp::create(b, right, lastRight);
        Value leftPosition = tensor::ExtractOp::create(b, order, leftAt);
        Value rightPosition = tensor::ExtractOp::create(b, order, rightAt);
        // Of equals the left one goes first.
        Value before =
            less(elements(line, rightPosition), elements(line, leftPosition));
        Value leftDone =
            arith::CmpIOp::create(b, arith::CmpIPredicate::sge, left, middle);
        Value hasRight =
            arith::CmpIOp::create(b, arith::CmpIPredicate::slt, right, end);
        Value either = arith::OrIOp::create(b, leftDone, before);
        Value takeRight = arith::AndIOp::create(b, hasRight, either);
        Value taken =
            arith::SelectOp::create(b, takeRight, rightPosition, leftPosition);
        Value to = arith::AddIOp::create(b, start, step[0]);
        Value word = arith::IndexCastOp::create(b, b.getI64Type(), taken);
        Value stored = tensor::InsertOp::create(b, word, now[2], to);
        Value leftNext = arith::AddIOp::create(b, left, one);
        Value rightNext = arith::AddIOp::create(b, right, one);
        return SmallVector<Value>{
            arith::SelectOp::create(b, takeRight, left, leftNext),
            arith::SelectOp::create(b, takeRight, rightNext, right), stored};
      })[2];
}

SmallVector<Value> LineSorter::sortLine(ValueRange line, Value order,
                                        Value spare) {
  order = l.map({}, order, [&](ValueRange) -> SmallVector<Value> {
    return {linalg::IndexOp::create(b, 0).getResult()};
  });
  // Runs double in width from 1: as many rounds as the length has bits, less
  // one for an exact power of two.
  OpFoldResult rounds;
  if (auto known = getConstantIntValue(sizes[dim])) {
    rounds = b.getIndexAttr(*known < 2 ? 0 : llvm::Log2_64_Ceil(*known));
  } else {
    Value below = arith::SubIOp::create(b, length, one);
    Value wide = arith::IndexCastOp::create(b, b.getI64Type(), below);
    Value leading = math::CountLeadingZerosOp::create(b, wide);
    Value bits = arith::ConstantOp::create(b, b.getI64IntegerAttr(64));
    Value count = arith::SubIOp::create(b, bits, leading);
    Value some =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, length, one);
    Value asIndex = arith::IndexCastOp::create(b, b.getIndexType(), count);
    rounds = arith::SelectOp::create(b, some, asIndex, zero).getResult();
  }
  return l.loops(rounds, {order, spare}, [&](ValueRange round, ValueRange now) {
    Value width = arith::ShLIOp::create(b, one, round[0]);
    Value twice = arith::AddIOp::create(b, width, width);
    Value chunks = arith::CeilDivSIOp::create(b, length, twice);
    Value merged = l.loops(
        OpFoldResult(chunks), now[1], [&](ValueRange chunk, ValueRange spares) {
          return SmallVector<Value>{
              merge(line, now[0], spares[0], chunk[0], width)};
        })[0];
    Value copied =
        l.map(merged, now[0], [&](ValueRange args) -> SmallVector<Value> {
          return {arith::IndexCastOp::create(b, b.getIndexType(), args[0])
                      .getResult()};
        });
    return SmallVector<Value>{copied, merged};
  });
}

// The same as an op.
SmallVector<Value> LineSorter::leave(ArrayRef<Value> outs, bool positions) {
  auto lines = spmd::LinesOp::create(
      b, TypeRange(ValueRange(outs)), spmd::LineKind::Sort, dim,
      /*backward=*/false, positions, inputs, /*starts=*/ValueRange(), outs);
  if (!l.manyThreads)
    spmd::contract::LineOrder::set(lines, order);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&lines.getBody());
  SmallVector<Value> first, second;
  for (Value input : inputs)
    for (SmallVector<Value> *side : {&first, &second})
      side->push_back(
          block->addArgument(elementType(input.getType()), b.getLoc()));
  spmd::LineYieldOp::create(b, less(first, second));
  return lines.getResults();
}

SmallVector<Value> LineSorter::emit(OpFoldResult keep, Type indexType) {
  SmallVector<OpFoldResult> kept(sizes), lines(sizes);
  kept[dim] = keep;
  lines.erase(lines.begin() + dim);
  SmallVector<Value> carried;
  for (Value input : inputs)
    carried.push_back(l.empty(kept, elementType(input.getType())));
  if (indexType)
    carried.push_back(l.empty(kept, indexType));
  if (l.manyThreads || order)
    return leave(carried, indexType != nullptr);
  size_t count = carried.size();
  // Of different types, or CSE would make one buffer of the two.
  carried.push_back(l.empty(sizes[dim], b.getIndexType()));
  carried.push_back(l.empty(sizes[dim], b.getI64Type()));
  SmallVector<Value> results =
      l.loops(lines, carried, [&](ValueRange line, ValueRange now) {
        SmallVector<Value> sorted = sortLine(line, now[count], now[count + 1]);
        SmallVector<Value> next = l.loops(
            keep, now.take_front(count), [&](ValueRange to, ValueRange outs) {
              Value position = tensor::ExtractOp::create(b, sorted[0], to);
              SmallVector<Value> values = elements(line, position), at(line),
                                 then;
              at.insert(at.begin() + dim, to[0]);
              if (indexType)
                values.push_back(
                    arith::IndexCastOp::create(b, indexType, position));
              for (auto [value, out] : llvm::zip(values, outs))
                then.push_back(tensor::InsertOp::create(b, value, out, at));
              return then;
            });
        next.append(sorted);
        return next;
      });
  results.truncate(count);
  return results;
}

//===----------------------------------------------------------------------===//
// What comparators compare
//===----------------------------------------------------------------------===//

namespace {
enum class Part { Whole, Real, Imaginary };
/// What a comparator compares: elements of an operand, or a part of them.
struct SortKey {
  unsigned operand = 0;
  Part part = Part::Whole;
  spmd::LineOrderAttr order; ///< null: the runtime has none
  bool operator==(const SortKey &) const = default;
};
/// An argument of a comparator, or a part of it, or that with zeros of one sign
/// and one NaN.
struct KeyArgument {
  BlockArgument arg;
  Part part = Part::Whole;
  bool isNumber = false;
};
} // namespace

static bool isFloatConstant(Value value,
                            llvm::function_ref<bool(const APFloat &)> is) {
  DenseFPElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat() &&
         is(constant.getSplatValue<APFloat>());
}

/// x in select(x == 0, 0, x) or, with `isNaN`, select(x != x, NaN, y), where
/// `other` is set to y; else null.
static Value replaced(Value value, bool isNaN, Value &other) {
  auto select = value.getDefiningOp<stablehlo::SelectOp>();
  auto compare = select ? select.getPred().getDefiningOp<stablehlo::CompareOp>()
                        : stablehlo::CompareOp();
  if (!compare)
    return {};
  using D = stablehlo::ComparisonDirection;
  other = select.getOnFalse();
  if (isNaN)
    return compare.getComparisonDirection() == D::NE &&
                   compare.getLhs() == compare.getRhs() &&
                   isFloatConstant(select.getOnTrue(),
                                   [](const APFloat &x) {
                                     return x.isNaN() && !x.isNegative();
                                   })
               ? compare.getLhs()
               : Value();
  auto isZero = [](const APFloat &x) { return x.isPosZero(); };
  return compare.getComparisonDirection() == D::EQ &&
                 isFloatConstant(compare.getRhs(), isZero) &&
                 isFloatConstant(select.getOnTrue(), isZero)
             ? compare.getLhs()
             : Value();
}

/// An argument, or a part of one.
static KeyArgument plainArgument(Value value) {
  if (auto real = value.getDefiningOp<stablehlo::RealOp>())
    return {dyn_cast<BlockArgument>(real.getOperand()), Part::Real};
  if (auto imaginary = value.getDefiningOp<stablehlo::ImagOp>())
    return {dyn_cast<BlockArgument>(imaginary.getOperand()), Part::Imaginary};
  return {dyn_cast<BlockArgument>(value)};
}

static KeyArgument keyArgument(Value value) {
  if (KeyArgument plain = plainArgument(value); plain.arg)
    return plain;
  Value inner, x, tested = replaced(value, /*isNaN=*/true, inner);
  if (!tested || replaced(inner, /*isNaN=*/false, x) != tested || x != tested)
    return {};
  KeyArgument argument = plainArgument(tested);
  argument.isNumber = true;
  return argument;
}

/// How the runtime compares plain values of `type`; none: it cannot.
static std::optional<spmd::LineComparison> comparisonOf(Type type,
                                                        bool isNumber) {
  unsigned width = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  // Bits of one without a sign are in order as they are.
  bool isBits = isa<Float8E8M0FNUType>(type);
  bool isFloat = isa<FloatType>(type) && !isBits;
  if (isNumber && !type.isF16() && !type.isBF16() && !type.isF32() &&
      !type.isF64())
    return std::nullopt;
  if (width != 8 && width != 16 && width != 32 && width != 64 &&
      !type.isInteger(1))
    return std::nullopt;
  if (isNumber)
    return spmd::LineComparison::Numbers;
  if (isFloat)
    return spmd::LineComparison::Total;
  if (isBits || isUnsigned(type) || type.isInteger(1))
    return spmd::LineComparison::Unsigned;
  return spmd::LineComparison::Signed;
}

/// The order of plain values of `type`; null where the runtime has none.
static spmd::LineOrderAttr orderOf(Type type, bool isNumber,
                                   bool isDescending) {
  std::optional<spmd::LineComparison> comparison = comparisonOf(type, isNumber);
  if (!comparison)
    return {};
  return spmd::LineOrderAttr::get(type.getContext(), *comparison, isDescending);
}

/// What `value` compares two arguments of one operand by, in `directions`; of
/// equality the order is ascending.
static std::optional<SortKey>
keyOf(Value value, ArrayRef<stablehlo::ComparisonDirection> directions) {
  auto compare = value.getDefiningOp<stablehlo::CompareOp>();
  if (!compare ||
      !llvm::is_contained(directions, compare.getComparisonDirection()))
    return std::nullopt;
  Type type = elementType(compare.getLhs().getType());
  // Otherwise NaN is neither before nor behind a number.
  if (isa<FloatType>(type) &&
      compare.getCompareType() != stablehlo::ComparisonType::TOTALORDER)
    return std::nullopt;
  KeyArgument x = keyArgument(compare.getLhs()),
              y = keyArgument(compare.getRhs());
  if (!x.arg || !y.arg || x.arg.getOwner() != y.arg.getOwner() ||
      x.isNumber != y.isNumber || x.part != y.part ||
      (x.arg.getArgNumber() ^ y.arg.getArgNumber()) != 1)
    return std::nullopt;
  using D = stablehlo::ComparisonDirection;
  bool isDescending = compare.getComparisonDirection() == D::GT;
  if (compare.getComparisonDirection() != D::EQ)
    isDescending ^= x.arg.getArgNumber() > y.arg.getArgNumber();
  return SortKey{x.arg.getArgNumber() / 2, x.part,
                 orderOf(type, x.isNumber, isDescending)};
}

/// The keys by which `comparator` compares, those of most weight first; none
/// where it does anything else. Several are written a < a' or (a = a' and ...).
static SmallVector<SortKey> keysOf(Region &comparator) {
  using D = stablehlo::ComparisonDirection;
  Operation *end = comparator.front().getTerminator();
  if (end->getNumOperands() != 1)
    return {};
  Value rest = end->getOperand(0);
  SmallVector<SortKey> keys;
  while (true) {
    if (std::optional<SortKey> last = keyOf(rest, {D::LT, D::GT})) {
      keys.push_back(*last);
      return keys;
    }
    auto either = rest.getDefiningOp<stablehlo::OrOp>();
    if (!either)
      return {};
    std::optional<SortKey> key;
    stablehlo::AndOp both;
    for (auto [first, second] : {std::pair(either.getLhs(), either.getRhs()),
                                 std::pair(either.getRhs(), either.getLhs())})
      if (auto then = second.getDefiningOp<stablehlo::AndOp>();
          then && (key = keyOf(first, {D::LT, D::GT}))) {
        both = then;
        break;
      }
    if (!both || !key->order)
      return {};
    SortKey same = *key;
    same.order = spmd::LineOrderAttr::get(key->order.getContext(),
                                          key->order.getComparison(), false);
    rest = {};
    for (auto [first, second] : {std::pair(both.getLhs(), both.getRhs()),
                                 std::pair(both.getRhs(), both.getLhs())})
      if (!rest && keyOf(first, {D::EQ}) == same)
        rest = second;
    if (!rest)
      return {};
    keys.push_back(*key);
  }
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

/// Whether `value` counts along `dim`, in integers that positions can have.
static bool isPosition(Value value, int64_t dim) {
  auto iota = value.getDefiningOp<stablehlo::IotaOp>();
  Type type = elementType(value.getType());
  return iota && static_cast<int64_t>(iota.getIotaDimension()) == dim &&
         (type.isInteger(32) || type.isInteger(64));
}

/// `x`, or 0 for a zero of any sign and NaN for any NaN.
static Value oneOfEach(Lowerer &l, Value x) {
  Type type = x.getType();
  auto is = [&](arith::CmpFPredicate how, Value y) {
    return arith::CmpFOp::create(l.b, how, x, y).getResult();
  };
  auto nan = l.constant(FloatAttr::get(
      type, APFloat::getNaN(cast<FloatType>(type).getFloatSemantics())));
  Value zero = l.zero(type);
  Value number = arith::SelectOp::create(
      l.b, is(arith::CmpFPredicate::OEQ, zero), zero, x);
  return arith::SelectOp::create(l.b, is(arith::CmpFPredicate::UNO, x), nan,
                                 number);
}

/// Whether `x` is before `y`, plain values of `type`; with `isNumber` zeros of
/// both signs are one, and NaNs are.
static Value isBefore(Lowerer &l, Type type, bool isNumber, bool isDescending,
                      Value x, Value y) {
  if (isa<FloatType>(type)) {
    if (isNumber)
      for (Value *one : {&x, &y})
        *one = oneOfEach(l, *one);
    x = totalOrderKey(l.b, x);
    y = totalOrderKey(l.b, y);
  }
  using P = arith::CmpIPredicate;
  P how = isUnsigned(type) ? (isDescending ? P::ugt : P::ult)
                           : (isDescending ? P::sgt : P::slt);
  return arith::CmpIOp::create(l.b, how, x, y);
}

namespace {
/// A sort by several keys, or by parts of complex elements: by the key of least
/// weight first, then, stable, by each that has more. Each of these sorts is
/// one that the runtime knows.
class KeySorter {
public:
  KeySorter(Lowerer &l, stablehlo::SortOp op, int64_t dim,
            ArrayRef<SortKey> keys)
      : l(l), op(op), dim(dim), keys(keys) {}

  void emit() {
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      addColumns(i);
    for (size_t left = keys.size(); left > 0; --left) {
      sortBy(keys[left - 1]);
      // What no key that is left reads, nor anybody else, moves no more.
      llvm::erase_if(columns, [&](const Column &column) {
        return op.getResult(column.operand).use_empty() &&
               llvm::none_of(
                   keys.take_front(left - 1),
                   [&](const SortKey &key) { return column.is(key); });
      });
    }
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      if (!op.getResult(i).use_empty())
        l.set(op.getResult(i), joined(i));
  }

private:
  /// An operand, or a part of it.
  struct Column {
    unsigned operand;
    Part part;
    Value value;
    bool is(const SortKey &key) const {
      return operand == key.operand && part == key.part;
    }
  };

  void addColumns(unsigned operand) {
    bool isKey = false, isCut = false;
    for (const SortKey &key : keys)
      if (key.operand == operand) {
        isKey = true;
        isCut |= key.part != Part::Whole;
      }
    if (!isKey && op.getResult(operand).use_empty())
      return;
    Value whole = l.tensor(op.getInputs()[operand]);
    if (!isCut) {
      columns.push_back({operand, Part::Whole, whole});
      return;
    }
    for (Part part : {Part::Real, Part::Imaginary}) {
      Type type =
          cast<ComplexType>(elementType(whole.getType())).getElementType();
      Value empty = l.empty(l.sizes(whole), type);
      columns.push_back(
          {operand, part,
           l.map(whole, empty, [&](ValueRange args) -> SmallVector<Value> {
             if (part == Part::Real)
               return {complex::ReOp::create(l.b, type, args[0]).getResult()};
             return {complex::ImOp::create(l.b, type, args[0]).getResult()};
           })});
    }
  }

  void sortBy(const SortKey &key) {
    auto *found = llvm::find_if(
        columns, [&](const Column &column) { return column.is(key); });
    std::swap(*found, columns.front());
    Type type = elementType(op.getInputs()[key.operand].getType());
    if (auto whole = dyn_cast<ComplexType>(type))
      type = whole.getElementType();
    LineSorter sorter(
        l,
        llvm::map_to_vector(columns,
                            [](const Column &column) { return column.value; }),
        dim,
        [&](ValueRange first, ValueRange second) {
          return isBefore(l, type,
                          key.order.getComparison() ==
                              spmd::LineComparison::Numbers,
                          key.order.getDescending(), first[0], second[0]);
        },
        key.order);
    for (auto [column, value] :
         llvm::zip_equal(columns, sorter.emit(sorter.sizes[dim], Type())))
      column.value = value;
  }

  Value joined(unsigned operand) {
    SmallVector<Value, 2> parts;
    for (Part part : {Part::Whole, Part::Real, Part::Imaginary})
      for (const Column &column : columns)
        if (column.operand == operand && column.part == part)
          parts.push_back(column.value);
    if (parts.size() == 1)
      return parts.front();
    auto type = ComplexType::get(elementType(parts.front().getType()));
    return l.map(parts, l.empty(l.sizes(parts.front()), type),
                 [&](ValueRange args) -> SmallVector<Value> {
                   return {
                       complex::CreateOp::create(l.b, type, args[0], args[1])
                           .getResult()};
                 });
  }

  Lowerer &l;
  stablehlo::SortOp op;
  int64_t dim;
  ArrayRef<SortKey> keys;
  SmallVector<Column> columns;
};
} // namespace

/// Whether the runtime sorts by these keys, one after the other.
static bool areSortable(ArrayRef<SortKey> keys, stablehlo::SortOp op) {
  return !keys.empty() && llvm::all_of(keys, [&](const SortKey &key) {
    Type type = elementType(op.getInputs()[key.operand].getType());
    // What compares a part of a complex number compares no other.
    if (auto whole = dyn_cast<ComplexType>(type))
      return key.part != Part::Whole && key.order;
    return key.order && !isa<Float8E8M0FNUType>(type);
  });
}

static LogicalResult lowerSort(Lowerer &l, stablehlo::SortOp op) {
  int64_t rank =
      cast<RankedTensorType>(op.getInputs().front().getType()).getRank();
  int64_t dim = op.getDimension();
  if (rank == 0)
    return emitOpUnsupported(op, " on scalars");
  dim = dim < 0 ? dim + rank : dim;
  // By number: the key first, then what moves with it.
  SmallVector<unsigned> moved;
  std::optional<unsigned> position;
  SmallVector<SortKey> keys;
  if (!l.manyThreads)
    keys = keysOf(op.getComparator());
  if ((keys.size() > 1 || (!keys.empty() && keys[0].part != Part::Whole)) &&
      areSortable(keys, op)) {
    KeySorter(l, op, dim, keys).emit();
    return success();
  }
  SortKey key = keys.size() == 1 ? keys.front() : SortKey();
  if (!key.order) {
    moved = llvm::to_vector(llvm::seq<unsigned>(0, op.getInputs().size()));
  } else {
    moved.push_back(key.operand);
    for (unsigned i = 0; i < op.getInputs().size(); ++i) {
      if (i == key.operand || op.getResult(i).use_empty())
        continue;
      if (!position && isPosition(op.getInputs()[i], dim))
        position = i;
      else
        moved.push_back(i);
    }
  }
  SmallVector<Value> inputs = llvm::map_to_vector(
      moved, [&](unsigned i) { return l.tensor(op.getInputs()[i]); });
  bool ok = true;
  LineSorter sorter(
      l, inputs, dim,
      [&](ValueRange first, ValueRange second) -> Value {
        // Of what does not move nothing is compared.
        SmallVector<Value> args(2 * op.getInputs().size());
        for (auto [i, x, y] : llvm::zip(moved, first, second)) {
          args[2 * i] = x;
          args[2 * i + 1] = y;
        }
        for (auto [i, arg] : llvm::enumerate(args))
          if (!arg)
            arg = l.zero(
                signlessType(elementType(op.getInputs()[i / 2].getType())));
        SmallVector<Value> order = l.scalarRegion(op.getComparator(), args);
        ok &= !order.empty();
        return order.empty() ? l.zero(l.b.getI1Type()) : order.front();
      },
      key.order);
  Type positions =
      position ? signlessType(elementType(op.getInputs()[*position].getType()))
               : Type();
  SmallVector<Value> sorted = sorter.emit(sorter.sizes[dim], positions);
  for (auto [i, value] : llvm::zip(moved, sorted))
    l.set(op.getResult(i), value);
  if (position)
    l.set(op.getResult(*position), sorted.back());
  return success(ok);
}

// Descending in total order: NaN first, ties by lower index.
static LogicalResult lowerTopK(Lowerer &l, chlo::TopKOp op) {
  Value input = l.tensor(op.getOperand());
  Type source = elementType(op.getOperand().getType());
  if (isa<ComplexType>(source))
    return emitOpUnsupported(op, " for elements of type ") << source;
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  LineSorter sorter(
      l, input, rank - 1,
      [&](ValueRange first, ValueRange second) {
        return isBefore(l, source, /*isNumber=*/false, /*isDescending=*/true,
                        first[0], second[0]);
      },
      l.manyThreads ? spmd::LineOrderAttr()
                    : orderOf(source, /*isNumber=*/false,
                              /*isDescending=*/true));
  SmallVector<Value> results =
      sorter.emit(l.b.getIndexAttr(op.getK()), l.b.getI32Type());
  l.set(op.getValues(), results[0]);
  l.set(op.getIndices(), results[1]);
  return success();
}

void shardc::lowering::addOrdering(LoweringTable &table) {
  table.op<stablehlo::SortOp>(lowerSort);
  table.op<chlo::TopKOp>(lowerTopK);
}
