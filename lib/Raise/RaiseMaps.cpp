//===- RaiseMaps.cpp - Loops whose iterations have nothing in common ------===//
//
// A scan that carries nothing, as `lax.map` writes it, computes one element, or
// row, after the other, in the order of a counter. Each of its ops has a form
// for all iterations, which are a dim more, in front. So the loop becomes ops
// on whole tensors, that fuse, are vectors, and are cut where their tensors
// are.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Raise/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace shardc {
#define GEN_PASS_DEF_RAISEMAPSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;

namespace {
/// What a number is in iteration i: `base + step * i`.
struct Linear {
  int64_t step, base;
  int64_t in(int64_t iteration) const { return base + step * iteration; }
};

/// The numbers of a loop that follow from its iteration alone.
class Counters {
public:
  Counters(WhileOp loop, int64_t count)
      : loop(loop), body(loop.getBody().front()), count(count) {}

  /// What `value`, an integer, is in each iteration; nullopt where that is not
  /// seen, or is more than its type holds.
  std::optional<Linear> of(Value value) const {
    std::optional<Linear> number = read(value);
    auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(value.getType()));
    if (!number || !type || type.getWidth() < 32)
      return std::nullopt;
    for (int64_t end : {number->in(0), number->in(count - 1)})
      if (end > INT32_MAX || end < (type.isUnsigned() ? 0 : INT32_MIN))
        return std::nullopt;
    return number;
  }

private:
  std::optional<Linear> read(Value value) const {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return Linear{0, constant.getSExtValue()};
    if (auto argument = dyn_cast<BlockArgument>(value))
      return carried(argument);
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<ConvertOp>(op))
      return of(op->getOperand(0));
    if (auto select = dyn_cast_or_null<SelectOp>(op))
      return chosen(select);
    if (!isa_and_nonnull<AddOp, SubtractOp, MulOp>(op))
      return std::nullopt;
    std::optional<Linear> x = of(op->getOperand(0)), y = of(op->getOperand(1));
    if (!x || !y)
      return std::nullopt;
    if (isa<MulOp>(op)) {
      if (x->step != 0)
        std::swap(x, y);
      if (x->step != 0)
        return std::nullopt;
      return Linear{x->base * y->step, x->base * y->base};
    }
    int64_t sign = isa<AddOp>(op) ? 1 : -1;
    return Linear{x->step + sign * y->step, x->base + sign * y->base};
  }

  /// An argument of the body that stays, or grows by the same each time.
  std::optional<Linear> carried(BlockArgument argument) const {
    APInt first, step;
    unsigned number = argument.getArgNumber();
    if (argument.getOwner() != &body ||
        !matchPattern(loop->getOperand(number), m_ConstantInt(&first)))
      return std::nullopt;
    Value next = body.getTerminator()->getOperand(number);
    if (next == argument)
      return Linear{0, first.getSExtValue()};
    auto add = next.getDefiningOp<AddOp>();
    if (!add || add.getLhs() != argument ||
        !matchPattern(add.getRhs(), m_ConstantInt(&step)))
      return std::nullopt;
    return Linear{step.getSExtValue(), first.getSExtValue()};
  }

  /// An index from the end, as it is chosen where one is below zero.
  std::optional<Linear> chosen(SelectOp select) const {
    auto compare = select.getPred().getDefiningOp<CompareOp>();
    if (!compare || compare.getComparisonDirection() != ComparisonDirection::LT)
      return std::nullopt;
    std::optional<Linear> x = of(compare.getLhs()), y = of(compare.getRhs());
    if (!x || !y)
      return std::nullopt;
    int64_t first = x->in(0) - y->in(0),
            last = x->in(count - 1) - y->in(count - 1);
    if (first < 0 && last < 0)
      return of(select.getOnTrue());
    if (first >= 0 && last >= 0)
      return of(select.getOnFalse());
    return std::nullopt;
  }

  WhileOp loop;
  Block &body;
  int64_t count;
};

/// Writes the ops of a loop for all of its iterations.
class MapWriter {
public:
  MapWriter(WhileOp loop, int64_t count)
      : loop(loop), body(loop.getBody().front()), count(count),
        counters(loop, count), b(loop.getContext()) {
    b.setInsertionPointToEnd(&made);
  }

  /// Replaces the loop; changes nothing where that cannot be done.
  bool replace() {
    if (!readArguments() ||
        !llvm::all_of(body.without_terminator(),
                      [&](Operation &op) { return write(op); }) ||
        !finish() || mostMade > mostMoved)
      return false;
    auto isResult = [&](Value value) {
      return llvm::is_contained(results, value);
    };
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(made)))
      if (isOpTriviallyDead(&op) && llvm::none_of(op.getResults(), isResult))
        op.erase();
    loop->getBlock()->getOperations().splice(Block::iterator(loop),
                                             made.getOperations());
    loop->replaceAllUsesWith(results);
    loop->erase();
    return true;
  }

private:
  /// `type` with all iterations in front.
  RankedTensorType allOf(Type type) const {
    auto one = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape{count};
    llvm::append_range(shape, one.getShape());
    return RankedTensorType::get(shape, one.getElementType());
  }

  /// Values that stay, those that count, and results that are filled.
  bool readArguments() {
    Operation *next = body.getTerminator();
    for (BlockArgument argument : body.getArguments()) {
      unsigned number = argument.getArgNumber();
      Value yielded = next->getOperand(number);
      if (yielded == argument) {
        same.map(argument, loop->getOperand(number));
        continue;
      }
      if (counters.of(argument))
        continue;
      std::optional<Fill> fill = fillOf(yielded.getDefiningOp());
      if (!fill || fill->array != argument || !argument.hasOneUse() ||
          !yielded.hasOneUse() || !fillsAll(*fill))
        return false;
      filled[yielded.getDefiningOp()] = *fill;
    }
    return true;
  }

  /// What sets one row of `array`.
  struct Fill {
    Value array, elements, row;
  };
  std::optional<Fill> fillOf(Operation *op) const {
    if (auto scatter = dyn_cast_or_null<ScatterOp>(op))
      return rowOf(scatter);
    auto update = dyn_cast_or_null<DynamicUpdateSliceOp>(op);
    if (!update || update.getStartIndices().empty())
      return std::nullopt;
    for (Value start : update.getStartIndices().drop_front())
      if (std::optional<Linear> at = counters.of(start);
          !at || at->step != 0 || at->base != 0)
        return std::nullopt;
    return Fill{update.getOperand(), update.getUpdate(),
                update.getStartIndices()[0]};
  }

  /// A scatter with one index of the first dim, as `x.at[i].set(y)` writes it.
  static std::optional<Fill> rowOf(ScatterOp op) {
    auto numbers = op.getScatterDimensionNumbers();
    Block &update = op.getUpdateComputation().front();
    auto type = dyn_cast<RankedTensorType>(op.getUpdates()[0].getType());
    auto indices = dyn_cast<RankedTensorType>(op.getScatterIndices().getType());
    if (op.getInputs().size() != 1 || !type || !indices ||
        numbers.getInsertedWindowDims() != ArrayRef<int64_t>{0} ||
        numbers.getScatterDimsToOperandDims() != ArrayRef<int64_t>{0} ||
        !numbers.getInputBatchingDims().empty() ||
        numbers.getUpdateWindowDims().size() != size_t(type.getRank()) ||
        update.getTerminator()->getOperand(0) != update.getArgument(1))
      return std::nullopt;
    Operation *index = op.getScatterIndices().getDefiningOp();
    if (!isa_and_nonnull<BroadcastInDimOp, ReshapeOp>(index) ||
        !indices.hasStaticShape() || indices.getNumElements() != 1)
      return std::nullopt;
    return Fill{op.getInputs()[0], op.getUpdates()[0], index->getOperand(0)};
  }

  /// True if `fill` sets one row in each iteration, and all rows so.
  bool fillsAll(const Fill &fill) const {
    auto type = dyn_cast<RankedTensorType>(fill.array.getType());
    auto part = dyn_cast<RankedTensorType>(fill.elements.getType());
    if (!type || !part || !type.hasStaticShape() || !part.hasStaticShape() ||
        type.getRank() == 0 || type.getDimSize(0) != count ||
        type.getNumElements() != count * part.getNumElements())
      return false;
    std::optional<Linear> row = counters.of(fill.row);
    return row && std::abs(row->step) == 1 &&
           std::min(row->in(0), row->in(count - 1)) == 0;
  }

  bool isSame(Value value) const {
    return same.contains(value) ||
           !body.getParent()->isAncestor(value.getParentRegion());
  }
  Value sameOf(Value value) const { return same.lookupOrDefault(value); }

  /// `value` of all iterations; null where it has no such form.
  Value whole(Value value) {
    if (Value found = all.lookup(value))
      return found;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape())
      return {};
    if (isSame(value)) {
      SmallVector<int64_t> dims =
          llvm::to_vector(llvm::seq<int64_t>(1, type.getRank() + 1));
      return keep(value,
                  BroadcastInDimOp::create(b, value.getLoc(), allOf(type),
                                           sameOf(value), dims));
    }
    std::optional<Linear> number = counters.of(value);
    if (!number || type.getRank() != 0)
      return {};
    Location loc = value.getLoc();
    RankedTensorType numbers = allOf(type);
    auto splat = [&](int64_t constant) -> Value {
      auto attr = DenseElementsAttr::get(
          numbers, APInt(type.getElementTypeBitWidth(), constant, true));
      return ConstantOp::create(b, loc, attr);
    };
    Value written = IotaOp::create(b, loc, numbers, 0);
    if (number->step != 1)
      written = MulOp::create(b, loc, written, splat(number->step));
    if (number->base != 0)
      written = AddOp::create(b, loc, written, splat(number->base));
    return keep(value, written);
  }

  Value keep(Value value, Value written) {
    mostMade = std::max(
        mostMade, cast<RankedTensorType>(written.getType()).getNumElements());
    return all[value] = written;
  }

  /// What an iteration takes of a whole tensor at its counter.
  bool take(DynamicSliceOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getOperand().getType());
    ArrayRef<int64_t> sizes = op.getSliceSizes();
    if (!isSame(op.getOperand()) || !type || !type.hasStaticShape() ||
        type.getRank() == 0 || sizes[0] != 1)
      return false;
    SmallVector<int64_t> starts, limits, strides(type.getRank(), 1);
    bool turned = false;
    for (auto [dim, start] : llvm::enumerate(op.getStartIndices())) {
      std::optional<Linear> at = counters.of(start);
      if (!at || (at->step == 0) != (dim != 0))
        return false;
      turned |= at->step < 0;
      int64_t low = std::min(at->in(0), at->in(count - 1)),
              high = std::max(at->in(0), at->in(count - 1)) + sizes[dim];
      if (low < 0 || high > type.getDimSize(dim))
        return false; // moved back, each by something else
      starts.push_back(low);
      limits.push_back(high);
      if (dim == 0)
        strides[dim] = std::abs(at->step);
    }
    mostMoved = std::max(mostMoved, type.getNumElements());
    Location loc = op.getLoc();
    Value rows = SliceOp::create(b, loc, sameOf(op.getOperand()), starts,
                                 limits, strides);
    keep(op.getResult(), ReshapeOp::create(b, loc, allOf(op.getType()),
                                           inOrder(loc, rows, turned)));
    return true;
  }

  Value inOrder(Location loc, Value rows, bool turned) {
    return turned ? ReverseOp::create(b, loc, rows.getType(), rows,
                                      ArrayRef<int64_t>{0})
                  : rows;
  }

  bool write(Operation &op) {
    if (filled.contains(&op))
      return true; // see finish
    auto result = op.getNumResults() == 1
                      ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                      : nullptr;
    if (!result || !result.hasStaticShape() || !isPure(&op) ||
        !op.getDiscardableAttrs().empty())
      return false;
    if (counters.of(op.getResult(0)))
      return true; // see whole
    if (op.getNumRegions() == 0 &&
        llvm::all_of(op.getOperands(), [&](Value v) { return isSame(v); })) {
      b.clone(op, same);
      return true;
    }
    return llvm::TypeSwitch<Operation *, bool>(&op)
        .Case([&](DynamicSliceOp slice) { return take(slice); })
        .Case<ReshapeOp, BroadcastInDimOp, TransposeOp, SliceOp, ReverseOp>(
            [&](auto shaping) { return writeShape(shaping); })
        .Case([&](ConcatenateOp join) { return writeJoin(join); })
        .Case([&](ReduceOp reduce) { return writeReduction(reduce); })
        .Default([&](Operation *other) {
          return other->hasTrait<ElementwiseTrait>() &&
                 other->getNumRegions() == 0 && writeElements(*other, result);
        });
  }

  /// Scalars beside tensors, as predicates and bounds may be, become tensors.
  bool writeElements(Operation &op, RankedTensorType result) {
    IRMapping map;
    for (Value operand : op.getOperands()) {
      Value elements = whole(operand);
      if (!elements)
        return false;
      auto type = cast<RankedTensorType>(elements.getType());
      if (type.getRank() == 1 && result.getRank() != 0) {
        auto wide = allOf(
            RankedTensorType::get(result.getShape(), type.getElementType()));
        elements = BroadcastInDimOp::create(b, op.getLoc(), wide, elements,
                                            ArrayRef<int64_t>{0});
      }
      map.map(operand, elements);
    }
    Operation *written = b.clone(op, map);
    written->getResult(0).setType(allOf(result));
    keep(op.getResult(0), written->getResult(0));
    return true;
  }

  /// `dims`, behind that of iterations, which comes first.
  static SmallVector<int64_t> behind(int64_t first, ArrayRef<int64_t> dims,
                                     int64_t by = 1) {
    SmallVector<int64_t> result{first};
    for (int64_t dim : dims)
      result.push_back(dim + by);
    return result;
  }

  bool writeShape(Operation *op) {
    Value operand = whole(op->getOperand(0));
    if (!operand)
      return false;
    Location loc = op->getLoc();
    RankedTensorType type = allOf(op->getResult(0).getType());
    keep(op->getResult(0),
         llvm::TypeSwitch<Operation *, Value>(op)
             .Case([&](ReshapeOp) {
               return ReshapeOp::create(b, loc, type, operand);
             })
             .Case([&](BroadcastInDimOp broadcast) {
               return BroadcastInDimOp::create(
                   b, loc, type, operand,
                   behind(0, broadcast.getBroadcastDimensions()));
             })
             .Case([&](TransposeOp transpose) {
               return TransposeOp::create(
                   b, loc, type, operand,
                   behind(0, transpose.getPermutation()));
             })
             .Case([&](ReverseOp reverse) {
               SmallVector<int64_t> dims = behind(0, reverse.getDimensions());
               return ReverseOp::create(b, loc, type, operand,
                                        ArrayRef(dims).drop_front());
             })
             .Case([&](SliceOp slice) {
               return SliceOp::create(b, loc, operand,
                                      behind(0, slice.getStartIndices(), 0),
                                      behind(count, slice.getLimitIndices(), 0),
                                      behind(1, slice.getStrides(), 0));
             }));
    return true;
  }

  bool writeJoin(ConcatenateOp join) {
    SmallVector<Value> parts;
    for (Value operand : join.getInputs())
      parts.push_back(whole(operand));
    if (llvm::is_contained(parts, Value()))
      return false;
    keep(join.getResult(),
         ConcatenateOp::create(b, join.getLoc(), allOf(join.getType()), parts,
                               join.getDimension() + 1));
    return true;
  }

  bool writeReduction(ReduceOp reduce) {
    Value input = whole(reduce.getInputs()[0]),
          init = reduce.getInitValues()[0];
    bool reads = false; // what is around it
    reduce.getBody().walk([&](Operation *inner) {
      reads |= llvm::any_of(inner->getOperands(), [&](Value operand) {
        return operand.getParentRegion() != &reduce.getBody();
      });
    });
    if (!input || !isSame(init) || reads)
      return false;
    IRMapping map;
    map.map(reduce.getInputs()[0], input);
    map.map(init, sameOf(init));
    auto written = cast<ReduceOp>(b.clone(*reduce, map));
    SmallVector<int64_t> dims = behind(0, reduce.getDimensions());
    written.setDimensions(ArrayRef(dims).drop_front());
    written->getResult(0).setType(allOf(reduce->getResult(0).getType()));
    keep(reduce->getResult(0), written->getResult(0));
    return true;
  }

  /// What the loop gives.
  bool finish() {
    Location loc = loop.getLoc();
    for (BlockArgument argument : body.getArguments()) {
      unsigned number = argument.getArgNumber();
      Value next = body.getTerminator()->getOperand(number);
      if (isSame(argument)) {
        results.push_back(sameOf(argument));
      } else if (auto fill = filled.find(next.getDefiningOp());
                 fill != filled.end()) {
        Value rows = whole(fill->second.elements);
        if (!rows)
          return false;
        rows = ReshapeOp::create(b, loc, argument.getType(), rows);
        results.push_back(
            inOrder(loc, rows, counters.of(fill->second.row)->step < 0));
        mostMoved = std::max(
            mostMoved, cast<ShapedType>(argument.getType()).getNumElements());
      } else {
        auto type = cast<RankedTensorType>(argument.getType());
        APInt last(type.getElementTypeBitWidth(),
                   counters.of(argument)->in(count), true);
        results.push_back(
            ConstantOp::create(b, loc, DenseElementsAttr::get(type, last)));
      }
    }
    return true;
  }

  WhileOp loop;
  Block &body;
  int64_t count;
  Counters counters;
  Block made;
  OpBuilder b;
  IRMapping same;                     ///< values that are so in each iteration
  DenseMap<Value, Value> all;         ///< others, of all iterations
  DenseMap<Operation *, Fill> filled; ///< updates of results
  SmallVector<Value> results;
  /// Elements of the largest tensor that is made, and of the largest one that
  /// the loop takes its rows from, or fills: no more memory is wanted.
  int64_t mostMade = 0, mostMoved = 0;
};

struct RaiseMapsPass final : shardc::impl::RaiseMapsPassBase<RaiseMapsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<WhileOp> loops;
    getOperation().walk([&](WhileOp loop) { loops.push_back(loop); });
    // Inner loops come first: what was one may be an op of the outer one then.
    for (WhileOp loop : loops) {
      std::optional<CountedLoop> counted = readCountedLoop(loop);
      if (counted && counted->tripCount() > 0)
        MapWriter(loop, counted->tripCount()).replace();
    }
  }
};
} // namespace
