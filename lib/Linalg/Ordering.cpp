//===- Ordering.cpp - sort and top_k --------------------------------------===//
//
// Lines along the dim are sorted each by itself, stable whatever is asked.
// Where a comparator compares elements of one operand by their value alone, as
// nearly all do, and for many threads, they stay an op, kernel.lines: the
// runtime sorts such lines, and kernels of GPUs any. Others are sorted here: a
// bottom-up merge sort of the line's positions, so that several operands move
// once, at the end.
//
//===----------------------------------------------------------------------===//
#include "StableHLOToLinalg.h"

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
/// A comparator of elements of one operand by their values.
struct KeyOrder {
  unsigned operand = 0;
  spmd::LineOrderAttr order; ///< null: the runtime has none
};
/// An argument of a comparator, or that with zeros of one sign and one NaN.
struct KeyArgument {
  BlockArgument arg;
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

static KeyArgument keyArgument(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    return {arg};
  Value inner, x, tested = replaced(value, /*isNaN=*/true, inner);
  if (!tested || replaced(inner, /*isNaN=*/false, x) != tested || x != tested)
    return {};
  return {dyn_cast<BlockArgument>(tested), true};
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

static KeyOrder keyOrder(Region &comparator) {
  Block &block = comparator.front();
  Operation *end = block.getTerminator();
  auto compare = end->getNumOperands() == 1
                     ? end->getOperand(0).getDefiningOp<stablehlo::CompareOp>()
                     : stablehlo::CompareOp();
  using D = stablehlo::ComparisonDirection;
  if (!compare || (compare.getComparisonDirection() != D::LT &&
                   compare.getComparisonDirection() != D::GT))
    return {};
  Type type = elementType(compare.getLhs().getType());
  // Otherwise NaN is neither before nor behind a number.
  if (isa<FloatType>(type) &&
      compare.getCompareType() != stablehlo::ComparisonType::TOTALORDER)
    return {};
  KeyArgument x = keyArgument(compare.getLhs()),
              y = keyArgument(compare.getRhs());
  if (!x.arg || !y.arg || x.arg.getOwner() != &block ||
      y.arg.getOwner() != &block || x.isNumber != y.isNumber ||
      (x.arg.getArgNumber() ^ y.arg.getArgNumber()) != 1)
    return {};
  bool isDescending = compare.getComparisonDirection() == D::GT;
  isDescending ^= x.arg.getArgNumber() > y.arg.getArgNumber();
  return {x.arg.getArgNumber() / 2, orderOf(type, x.isNumber, isDescending)};
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
  KeyOrder key = l.manyThreads ? KeyOrder() : keyOrder(op.getComparator());
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
      [&](ValueRange first, ValueRange second) -> Value {
        Value x = first[0], y = second[0];
        if (isa<FloatType>(source)) {
          x = totalOrderKey(l.b, x);
          y = totalOrderKey(l.b, y);
        }
        auto how = isUnsigned(source) ? arith::CmpIPredicate::ugt
                                      : arith::CmpIPredicate::sgt;
        return arith::CmpIOp::create(l.b, how, x, y);
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
