//===- OpenRows.cpp - Softmax with more in its sum than scores ------------===//
//
// A sink, or a one, in the sum of a softmax makes its gradient one whose rows
// lose of dp what no sum of probabilities is:
//
//     ds = e (dp / Z - D)                D = Σ_k e dp / Z²              Z = Σ_k
//     e + more
//
// Nothing in the expressions of Match has to know of it. D is a number of each
// row as Z is, and needs no scores:
//
//     Σ_k y_k Σ_f g_f v_kf  =  Σ_f g_f Σ_k y_k v_kf
//
// where the right sum over k is attention again, not divided by anything. So D
// is written like this, and what reads maxima and sums of rows sees numbers
// that are given: one cast for each, until all of it is matched.
//
//===----------------------------------------------------------------------===//
#include "OpenRows.h"
#include "Match.h"
#include "Plain.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Support/ElementwiseTrait.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// Names of dims: those of a product, then what it is summed over.
static constexpr unsigned kFirstSummed = 32;
/// How many ops to look back.
static constexpr size_t kFar = 128;

static bool isFloat(Value value) {
  return typeOf(value) && typeOf(value).hasStaticShape() &&
         isa<FloatType>(typeOf(value).getElementType());
}

/// The one dim that `reduce` combines, with op `OpT`; -1 if it does anything
/// else.
template <typename OpT> static int64_t combinedDim(stablehlo::ReduceOp reduce) {
  if (reduce->getNumResults() != 1 || reduce.getDimensions().size() != 1 ||
      !isFloat(reduce.getInputs()[0]))
    return -1;
  Block &body = reduce.getBody().front();
  Operation *inside = body.getTerminator()->getOperand(0).getDefiningOp();
  bool isPlain = isa_and_nonnull<OpT>(inside) && inside->getBlock() == &body &&
                 inside->getOperand(0) == body.getArgument(0) &&
                 inside->getOperand(1) == body.getArgument(1);
  return isPlain ? reduce.getDimensions()[0] : -1;
}

/// The products that `value` is made of, element by element.
static SmallVector<stablehlo::DotGeneralOp> productsIn(Value value) {
  SmallVector<stablehlo::DotGeneralOp> found;
  isBefore(value, kFar, [&](Operation *op) {
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
      found.push_back(dot);
    return false;
  });
  return found;
}

/// The sum of `exp` over one dim, if it is one of a product's elements; null if
/// not.
static stablehlo::ReduceOp sumOf(stablehlo::ExpOp exp) {
  if (!isFloat(exp.getResult()) || productsIn(exp.getResult()).empty())
    return nullptr;
  for (Operation *user : exp->getUsers()) {
    if (isa<stablehlo::ConvertOp>(user) && user->hasOneUse())
      user = *user->user_begin();
    auto reduce = dyn_cast<stablehlo::ReduceOp>(user);
    if (reduce && reduce->getBlock() == exp->getBlock() &&
        combinedDim<stablehlo::AddOp>(reduce) >= 0)
      return reduce;
  }
  return nullptr;
}

size_t raise::countScores(func::FuncOp func) {
  size_t count = 0;
  func.walk([&](stablehlo::ExpOp exp) { count += bool(sumOf(exp)); });
  return count;
}

namespace {
/// `value` as `product` times `others`: null if that is one. `dims`: which of
/// the product's dims each of its own is.
struct Linear {
  Value others;
  SmallVector<int64_t> dims;
};
} // namespace

static Value onesLike(Value value, OpBuilder &b) {
  auto ones = DenseElementsAttr::get(
      typeOf(value), b.getFloatAttr(typeOf(value).getElementType(), 1));
  return stablehlo::ConstantOp::create(b, value.getLoc(),
                                       cast<ElementsAttr>(Attribute(ones)));
}

/// Reads `value` as a multiple of `product`.
static std::optional<Linear> readLinear(Value value, Operation *product,
                                        OpBuilder &b) {
  Operation *op = value.getDefiningOp();
  auto isOf = [&](Value operand) {
    return isBefore(operand, kFar,
                    [&](Operation *inner) { return inner == product; });
  };
  if (op == product) {
    Linear linear;
    for (int64_t dim = 0; dim < typeOf(value).getRank(); ++dim)
      linear.dims.push_back(dim);
    return linear;
  }
  if (!op || op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      !isFloat(value))
    return std::nullopt;
  bool isDivide = isa<stablehlo::DivOp>(op);
  if (isDivide || isa<stablehlo::MulOp>(op)) {
    bool side = !isOf(op->getOperand(0));
    Value other = op->getOperand(!side);
    if ((side && isDivide) || isOf(other))
      return std::nullopt;
    std::optional<Linear> linear = readLinear(op->getOperand(side), product, b);
    if (!linear)
      return std::nullopt;
    if (isDivide) {
      Value one = linear->others;
      if (!one)
        one = onesLike(value, b);
      linear->others = stablehlo::DivOp::create(b, op->getLoc(),
                                                value.getType(), one, other);
    } else {
      linear->others =
          linear->others
              ? Value(stablehlo::MulOp::create(b, op->getLoc(), value.getType(),
                                               linear->others, other))
              : other;
    }
    return linear;
  }
  if (!isa<stablehlo::NegOp, stablehlo::ConvertOp, stablehlo::TransposeOp>(op))
    return std::nullopt;
  std::optional<Linear> linear = readLinear(op->getOperand(0), product, b);
  if (!linear)
    return std::nullopt;
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    linear->dims =
        llvm::map_to_vector(transpose.getPermutation(),
                            [&](int64_t dim) { return linear->dims[dim]; });
  if (linear->others || isa<stablehlo::NegOp>(op)) {
    if (!linear->others)
      linear->others = onesLike(value, b);
    Operation *moved = b.clone(*op);
    moved->setOperand(0, linear->others);
    linear->others = moved->getResult(0);
  }
  return linear;
}

/// Writes `reduce`, a sum over keys of something times the product `dp` of
/// cotangent and values, as a sum over features. Null where it is none.
static Value sumOverFeatures(stablehlo::ReduceOp reduce,
                             stablehlo::DotGeneralOp dp) {
  int64_t key = combinedDim<stablehlo::AddOp>(reduce);
  OpBuilder b(reduce);
  std::optional<Linear> linear = readLinear(reduce.getInputs()[0], dp, b);
  if (!linear || !linear->others)
    return Value();
  stablehlo::DotDimensionNumbersAttr numbers = dp.getDotDimensionNumbers();
  SmallVector<int64_t> sizes(64, 1);
  auto type = typeOf(dp.getResult());
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    sizes[dim] = size;
  // Dims of the two operands: those of the product, then those summed over.
  Placed sides[2] = {
      {dp.getLhs(), SmallVector<unsigned>(typeOf(dp.getLhs()).getRank())},
      {dp.getRhs(), SmallVector<unsigned>(typeOf(dp.getRhs()).getRank())}};
  unsigned next = 0;
  for (auto [l, r] : llvm::zip(numbers.getLhsBatchingDimensions(),
                               numbers.getRhsBatchingDimensions()))
    sides[0].dims[l] = sides[1].dims[r] = next++;
  for (bool side : {false, true})
    for (int64_t dim : dotOperand(dp, side).free)
      sides[side].dims[dim] = next++;
  unsigned summed = kFirstSummed;
  SmallVector<unsigned> features;
  for (auto [l, r] : llvm::zip(numbers.getLhsContractingDimensions(),
                               numbers.getRhsContractingDimensions())) {
    sizes[summed] = typeOf(dp.getLhs()).getDimSize(l);
    features.push_back(summed);
    sides[0].dims[l] = sides[1].dims[r] = summed++;
  }
  if (next >= kFirstSummed || summed >= 64)
    return Value();
  unsigned keyDim = linear->dims[key];
  bool valueSide = llvm::is_contained(sides[1].dims, keyDim);
  Placed &values = sides[valueSide], &dout = sides[!valueSide];
  if (llvm::is_contained(dout.dims, keyDim))
    return Value();
  auto element = cast<FloatType>(typeOf(linear->others).getElementType());
  PlainOps ops(b, reduce.getLoc(), sizes, element);
  Placed weights{linear->others, SmallVector<unsigned>(linear->dims.begin(),
                                                       linear->dims.end())};
  // Σ_k y v, along rows and features, then over features.
  SmallVector<unsigned> rows, whole;
  for (unsigned dim : weights.dims)
    if (dim != keyDim)
      rows.push_back(dim);
  whole = rows;
  llvm::append_range(whole, features);
  Value output = ops.contract(weights, values, {keyDim}, whole);
  Value cotangent =
      ops.spread({ops.convert(dout.value, element), dout.dims}, whole);
  Value product = stablehlo::MulOp::create(ops.builder, ops.loc,
                                           output.getType(), output, cotangent);
  Value result = ops.reduce<stablehlo::AddOp>({product, whole}, rows, 0).value;
  return ops.convert(result, typeOf(reduce->getResult(0)).getElementType());
}

/// Writes the largest of a row that has been shifted as the largest before,
/// shifted.
static void shiftMaximum(stablehlo::ReduceOp reduce) {
  int64_t dim = combinedDim<stablehlo::MaxOp>(reduce);
  auto difference =
      dim >= 0 ? reduce.getInputs()[0].getDefiningOp<stablehlo::SubtractOp>()
               : nullptr;
  auto broadcast =
      difference
          ? difference.getRhs().getDefiningOp<stablehlo::BroadcastInDimOp>()
          : nullptr;
  if (!broadcast)
    return;
  SmallVector<int64_t> shape, places;
  auto from = typeOf(broadcast.getOperand());
  for (auto [i, place] : llvm::enumerate(broadcast.getBroadcastDimensions())) {
    if (place == dim && from.getDimSize(i) != 1)
      return;
    if (place == dim)
      continue;
    shape.push_back(from.getDimSize(i));
    places.push_back(place - (place > dim));
  }
  OpBuilder b(reduce);
  Location loc = reduce.getLoc();
  Value shift = broadcast.getOperand();
  if (from.clone(shape) != from)
    shift = stablehlo::ReshapeOp::create(b, loc, from.clone(shape), shift);
  auto type = typeOf(reduce->getResult(0));
  shift = stablehlo::BroadcastInDimOp::create(b, loc, type, shift,
                                              b.getDenseI64ArrayAttr(places));
  Operation *largest = b.clone(*reduce);
  largest->setOperand(0, difference.getLhs());
  Value shifted =
      stablehlo::SubtractOp::create(b, loc, type, largest->getResult(0), shift);
  reduce->getResult(0).replaceAllUsesWith(shifted);
  reduce.erase();
}

/// Puts a cast between `value` and all that reads it.
static void hide(Value value) {
  OpBuilder b(value.getContext());
  b.setInsertionPointAfterValue(value);
  auto cast = UnrealizedConversionCastOp::create(b, value.getLoc(),
                                                 value.getType(), value);
  value.replaceAllUsesExcept(cast.getResult(0), cast);
}

/// Moves what `value` is made of before `place`, if it is not made of that.
static void hoist(Value value, Operation *place) {
  SmallVector<Value> worklist = {value};
  SmallVector<Operation *> ops;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != place->getBlock() ||
        llvm::is_contained(ops, op) || op->isBeforeInBlock(place))
      continue;
    if (op == place || ops.size() > 64 || op->getNumRegions() != 0 ||
        !isMemoryEffectFree(op))
      return;
    ops.push_back(op);
    llvm::append_range(worklist, op->getOperands());
  }
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops)
    op->moveBefore(place);
}

/// Moves products with exponentials, and what only moves their elements, to
/// where they are used: a gradient's rows may be made after the first of its
/// products.
static void sinkProducts(Block &block) {
  llvm::SmallPtrSet<Operation *, 16> moved;
  auto isExp = llvm::IsaPred<stablehlo::ExpOp>;
  for (Operation &op : block) {
    bool isProduct = isa<stablehlo::DotGeneralOp>(op) &&
                     llvm::any_of(op.getOperands(), [&](Value operand) {
                       return isBefore(operand, kFar, isExp);
                     });
    bool isMove =
        isa<stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::ConvertOp>(
            op) &&
        moved.contains(op.getOperand(0).getDefiningOp());
    if (isProduct || isMove)
      moved.insert(&op);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    Operation *first = nullptr;
    for (Operation *user : op.getUsers())
      if (Operation *here = block.findAncestorOpInBlock(*user);
          here && (!first || here->isBeforeInBlock(first)))
        first = here;
    if (moved.contains(&op) && first && op.getNextNode() != first)
      op.moveBefore(first);
  }
}

size_t raise::hideRows(func::FuncOp func) {
  func.walk([](stablehlo::ReduceOp reduce) {
    if (!productsIn(reduce.getInputs()[0]).empty())
      shiftMaximum(reduce);
  });
  SmallVector<std::pair<stablehlo::ExpOp, stablehlo::ReduceOp>> found;
  func.walk([&](stablehlo::ExpOp exp) {
    if (stablehlo::ReduceOp sum = sumOf(exp))
      found.push_back({exp, sum});
  });
  DenseSet<Operation *> seen;
  for (auto [exp, sum] : found) {
    SmallVector<stablehlo::DotGeneralOp> ofScores = productsIn(exp.getResult());
    auto shape = typeOf(exp.getResult()).getShape();
    for (auto reduce : llvm::make_early_inc_range(
             exp->getBlock()->getOps<stablehlo::ReduceOp>())) {
      bool isSum = combinedDim<stablehlo::AddOp>(reduce) >= 0;
      if ((!isSum && combinedDim<stablehlo::MaxOp>(reduce) < 0) ||
          reduce.getDimensions() != sum.getDimensions() ||
          typeOf(reduce.getInputs()[0]).getShape() != shape ||
          seen.contains(reduce))
        continue;
      SmallVector<stablehlo::DotGeneralOp> products =
          productsIn(reduce.getInputs()[0]);
      if (llvm::none_of(products, [&](auto dot) {
            return llvm::is_contained(ofScores, dot);
          }))
        continue;
      seen.insert(reduce);
      llvm::erase_if(products, [&](auto dot) {
        return llvm::is_contained(ofScores, dot);
      });
      Value rows = reduce->getResult(0);
      if (isSum && products.size() == 1)
        if (Value other = sumOverFeatures(reduce, products[0])) {
          rows.replaceAllUsesWith(other);
          rows = other;
        }
      hide(rows);
    }
  }
  llvm::SmallPtrSet<Block *, 4> blocks;
  for (auto [exp, sum] : found)
    if (blocks.insert(exp->getBlock()).second)
      sinkProducts(*exp->getBlock());
  // An op gives its rows where the first of them was, so what it averages has
  // to be there by then.
  for (auto [exp, sum] : found) {
    stablehlo::DotGeneralOp scores = productsIn(exp.getResult()).front();
    if (scores->getBlock() != exp->getBlock())
      continue;
    for (auto dot : llvm::make_early_inc_range(
             exp->getBlock()->getOps<stablehlo::DotGeneralOp>()))
      for (bool side : {false, true})
        if (isBefore(dot->getOperand(side), kFar,
                     [&](Operation *op) { return op == exp; }))
          hoist(dot->getOperand(!side), scores);
  }
  return found.size();
}

/// Where each dim of the output of `from` is in that of `to`, if they are the
/// same but for their outputs' layout.
static std::optional<SmallVector<int64_t>> permutationTo(spmd::AllPairsOp from,
                                                         spmd::AllPairsOp to) {
  if (!llvm::equal(from->getOperands(), to->getOperands()) ||
      from->getNumResults() != to->getNumResults() ||
      from->getNumRegions() != to->getNumRegions())
    return std::nullopt;
  unsigned output = from->getNumOperands();
  auto mapOf = [&](spmd::AllPairsOp op, unsigned i) {
    return cast<AffineMapAttr>(op.getMaps()[i]).getValue();
  };
  auto others = [](spmd::AllPairsOp op) {
    return llvm::to_vector(
        llvm::make_filter_range(op->getAttrs(), [&](NamedAttribute attr) {
          return attr.getName() != op.getMapsAttrName();
        }));
  };
  if (others(from) != others(to) ||
      from.getMaps().size() != to.getMaps().size())
    return std::nullopt;
  for (unsigned i = 0; i < from.getMaps().size(); ++i)
    if (i != output && mapOf(from, i) != mapOf(to, i))
      return std::nullopt;
  for (auto [a, b] : llvm::zip(from->getRegions(), to->getRegions()))
    if (!OperationEquivalence::isRegionEquivalentTo(
            &a, &b, OperationEquivalence::IgnoreLocations))
      return std::nullopt;
  SmallVector<int64_t> permutation;
  for (AffineExpr dim : mapOf(to, output).getResults()) {
    auto results = mapOf(from, output).getResults();
    auto it = llvm::find(results, dim);
    if (it == results.end() ||
        results.size() != mapOf(to, output).getNumResults())
      return std::nullopt;
    permutation.push_back(it - results.begin());
  }
  return permutation;
}

void raise::shareOutputs(func::FuncOp func) {
  SmallVector<spmd::AllPairsOp> kept;
  func.walk([&](spmd::AllPairsOp op) {
    for (spmd::AllPairsOp other : kept) {
      std::optional<SmallVector<int64_t>> permutation =
          other->getBlock() == op->getBlock() ? permutationTo(other, op)
                                              : std::nullopt;
      if (!permutation)
        continue;
      OpBuilder b(op);
      Value output = stablehlo::TransposeOp::create(
          b, op.getLoc(), op->getResult(0).getType(), other->getResult(0),
          b.getDenseI64ArrayAttr(*permutation));
      op->getResult(0).replaceAllUsesWith(output);
      for (unsigned i = 1; i < op->getNumResults(); ++i)
        op->getResult(i).replaceAllUsesWith(other->getResult(i));
      op.erase();
      return;
    }
    kept.push_back(op);
  });
}

void raise::showRows(func::FuncOp func) {
  func.walk([](UnrealizedConversionCastOp cast) {
    if (cast->getNumOperands() == 1 &&
        cast->getOperand(0).getType() == cast->getResult(0).getType()) {
      cast->getResult(0).replaceAllUsesWith(cast->getOperand(0));
      cast.erase();
    }
  });
}
