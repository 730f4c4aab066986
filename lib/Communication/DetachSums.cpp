//===- DetachSums.cpp - Sums that need not wait for other sums ------------===//
//
// A norm across ranks sums its elements, waits for the mean of all ranks, sums
// squared differences from it, waits again: each time its elements come from
// memory anew. What was waited for is one number for many elements. So it is
// taken out of the sum: a factor by the distributive law, the mean of all ranks
// by way of the mean of the own elements, which is near it (Chan, Golub and
// LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances", 1979):
//
//   sum (x - m)² = sum (x - c)² + 2 (c - m) sum (x - c) + n (c - m)²
//
// What is left in the sums waits for nothing, so one pass over memory does. Of
// such sums, those of the same elements are made from one another.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/ElementBytes.h"

namespace shardc {
#define GEN_PASS_DEF_DETACHSUMSPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// Terms that a sum may fall into. [limit]
static constexpr size_t kMostTerms = 4;
/// Elements that are summed up, for each that is left. A pass over them is
/// saved; each term of what is left is written, read, multiplied and added.
/// Both are bytes of memory, so its bandwidth is of no account. [maths]
static constexpr int64_t kLeastSummed = 4 * kMostTerms;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool isShape(Operation *op) {
  return isa<stablehlo::ReshapeOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp>(op);
}

/// The elements of `value` before they got their shape.
static Value withoutShape(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isShape(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static bool isBroadcast(Operation *op) {
  return isa_and_present<stablehlo::BroadcastInDimOp,
                         stablehlo::DynamicBroadcastInDimOp>(op);
}

static ArrayRef<int64_t> dimsOfBroadcast(Operation *op) {
  if (auto fixed = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return fixed.getBroadcastDimensions();
  return cast<stablehlo::DynamicBroadcastInDimOp>(op).getBroadcastDimensions();
}

/// True for a constant, or one under a larger shape.
static bool isNumber(Value value) {
  while (isBroadcast(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return matchPattern(value, m_Constant());
}

/// True if the reduction adds floats up, from zero.
static bool addsUp(stablehlo::ReduceOp op) {
  if (op->getNumResults() != 1 ||
      !stablehlo::isZero(op.getInitValues().front(), /*orNegative=*/true))
    return false;
  Type element = typeOf(op->getResult(0)).getElementType();
  Block &body = op.getBody().front();
  return (element.isF32() || element.isF64()) &&
         isa<stablehlo::AddOp>(body.front()) &&
         body.front().getNextNode() == body.getTerminator();
}

namespace {
/// One term of what is summed: a factor that is the same for all elements that
/// are added to one another, by kept dims, and what is to be summed. Null: one.
struct Term {
  Value factor, summed;
};
using Terms = SmallVector<Term, 4>;
using Dims = llvm::SmallBitVector;

class Detacher {
public:
  explicit Detacher(func::FuncOp function)
      : function(function), b(function.getContext()),
        leastBytes(machineOf(function).cacheBytes / 2) {}
  void run();

private:
  int64_t levelOf(Value value);
  bool visit(stablehlo::ReduceOp sum, bool isNew);
  void shareSums();
  bool isWorth(Value summed, const Dims &kept);
  std::optional<Terms> expand(Value value, const Dims &kept);
  std::optional<Terms> expandOp(Operation *op, const Dims &kept, bool isEarly);
  Value timesUnderShape(Value x, Value y);
  std::optional<Terms> product(const Terms &some, const Terms &others);
  std::optional<Value> factorOf(Value source, Operation *broadcast,
                                const Dims &kept);
  std::optional<Terms> aroundOwnMean(Value value, Operation *broadcast,
                                     const Dims &kept);
  std::optional<std::pair<Dims, Value>> throughShape(Operation *op,
                                                     const Dims &kept);
  template <typename OpT> Value make(Value x, Value y) {
    return isTrial ? x : OpT::create(b, loc, x.getType(), x, y).getResult();
  }
  /// The number of elements along `dims` of `value`, in a tensor of `type`.
  Value countOf(Value value, ArrayRef<int64_t> dims, RankedTensorType type);
  Value sumOver(Value value, ArrayRef<int64_t> dims);

  func::FuncOp function;
  OpBuilder b;
  Location loc = UnknownLoc::get(b.getContext());
  double leastBytes;
  /// How many all-reduces, one after the other, a value waits for.
  DenseMap<Value, int64_t> levels;
  SmallVector<std::pair<stablehlo::ReduceOp, bool>> work;
  llvm::SetVector<Value> summedAnew; ///< what sums made here are of
  // While one sum is looked at:
  stablehlo::ReduceOp current;
  int64_t level = 0;
  bool isTrial = true;      ///< nothing is written
  bool splitsEarly = false; ///< also factors that wait for nobody
};
} // namespace

int64_t Detacher::levelOf(Value value) {
  auto known = levels.find(value);
  if (known != levels.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  int64_t found = 0;
  if (op)
    for (Value operand : op->getOperands())
      found = std::max(found, levelOf(operand));
  return levels[value] = found;
}

bool Detacher::isWorth(Value summed, const Dims &kept) {
  auto type = typeOf(summed);
  double all = elementBytes(type.getElementType());
  int64_t perSum = 1;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    // What nobody knows is taken to be large. [guess]
    constexpr int64_t kUnknownSize = 1024;
    int64_t guess = ShapedType::isDynamic(size) ? kUnknownSize : size;
    all *= guess;
    if (!kept.test(dim))
      perSum *= guess;
    else if (ShapedType::isDynamic(size))
      return false;
  }
  return all >= leastBytes && perSum >= kLeastSummed;
}

Value Detacher::countOf(Value value, ArrayRef<int64_t> dims,
                        RankedTensorType type) {
  auto floats = cast<FloatType>(type.getElementType());
  int64_t fixed = 1;
  Value open;
  for (int64_t dim : dims) {
    int64_t size = typeOf(value).getDimSize(dim);
    if (!ShapedType::isDynamic(size)) {
      fixed *= size;
      continue;
    }
    Value here = tensor::DimOp::create(b, loc, value, dim);
    open = open ? arith::MulIOp::create(b, loc, open, here).getResult() : here;
  }
  if (!open)
    return stablehlo::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(type, b.getFloatAttr(floats, double(fixed))));
  Value factor = arith::ConstantIndexOp::create(b, loc, fixed);
  Value count = arith::IndexCastOp::create(
      b, loc, b.getI64Type(), arith::MulIOp::create(b, loc, open, factor));
  count = arith::SIToFPOp::create(b, loc, floats, count);
  count = tensor::FromElementsOp::create(
      b, loc, RankedTensorType::get({}, floats), ValueRange{count});
  return stablehlo::BroadcastInDimOp::create(b, loc, type, count,
                                             ArrayRef<int64_t>());
}

Value Detacher::sumOver(Value value, ArrayRef<int64_t> dims) {
  auto type = typeOf(value);
  SmallVector<int64_t> shape;
  // Elements are summed in the shape that they have.
  Dims kept(type.getRank(), true);
  for (int64_t dim : dims)
    kept.reset(dim);
  if (Operation *op = value.getDefiningOp(); op && isShape(op))
    if (auto before = throughShape(op, kept)) {
      SmallVector<int64_t> inner;
      for (int64_t dim : llvm::seq(typeOf(before->second).getRank()))
        if (!before->first.test(dim))
          inner.push_back(dim);
      for (unsigned dim : kept.set_bits())
        shape.push_back(type.getDimSize(dim));
      Value sum = sumOver(before->second, inner);
      return typeOf(sum).getShape() == ArrayRef(shape)
                 ? sum
                 : stablehlo::ReshapeOp::create(b, loc, type.clone(shape), sum)
                       .getResult();
    }
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, int64_t(dim)))
      shape.push_back(size);
  auto sum = stablehlo::ReduceOp::create(
      b, loc, TypeRange{type.clone(shape)}, ValueRange{value},
      current.getInitValues(), b.getDenseI64ArrayAttr(dims));
  IRMapping mapping;
  current.getBody().cloneInto(&sum.getBody(), mapping);
  summedAnew.insert(value);
  work.push_back({sum, true});
  return sum->getResult(0);
}

/// What `broadcast` would spread, were it of `source`, by kept dims of its
/// result. Nothing if that is not the same for all that is summed.
std::optional<Value> Detacher::factorOf(Value source, Operation *broadcast,
                                        const Dims &kept) {
  auto type = typeOf(broadcast->getResult(0));
  SmallVector<int64_t> shape, sizes, places;
  SmallVector<int64_t> placeOf(type.getRank(), -1);
  for (unsigned dim : kept.set_bits()) {
    placeOf[dim] = shape.size();
    shape.push_back(type.getDimSize(dim));
  }
  for (auto [from, to] : llvm::enumerate(dimsOfBroadcast(broadcast))) {
    int64_t size = typeOf(source).getDimSize(from);
    if (size == 1)
      continue;
    if (placeOf[to] < 0 || ShapedType::isDynamic(size))
      return std::nullopt;
    sizes.push_back(size);
    places.push_back(placeOf[to]);
  }
  if (isTrial)
    return source;
  if (int64_t(sizes.size()) != typeOf(source).getRank())
    source = stablehlo::ReshapeOp::create(b, loc, type.clone(sizes), source);
  if (sizes == shape && llvm::is_sorted(places))
    return source;
  return stablehlo::BroadcastInDimOp::create(b, loc, type.clone(shape), source,
                                             places);
}

/// `value` less what `broadcast` spreads, if that is its mean on all ranks.
std::optional<Terms> Detacher::aroundOwnMean(Value value, Operation *broadcast,
                                             const Dims &kept) {
  Value mean = broadcast->getOperand(0);
  // Down to the sum of all ranks: one division, and shapes.
  SmallVector<Operation *> links;
  AllReduceOp total;
  int divisions = 0;
  for (Value at = mean; !total; at = links.back()->getOperand(0)) {
    Operation *op = at.getDefiningOp();
    if (!op)
      return std::nullopt;
    if ((total = dyn_cast<AllReduceOp>(op)))
      break;
    bool isShape = isa<stablehlo::ReshapeOp>(op) ||
                   (isa<stablehlo::BroadcastInDimOp>(op) &&
                    typeOf(op->getOperand(0)).hasStaticShape() &&
                    typeOf(at).getNumElements() ==
                        typeOf(op->getOperand(0)).getNumElements());
    bool divides = isa<stablehlo::DivOp, stablehlo::MulOp>(op) &&
                   isNumber(op->getOperand(1));
    divisions += divides;
    if (!isShape && !divides)
      return std::nullopt;
    links.push_back(op);
  }
  if (divisions != 1 || total.getKind() != ReductionKind::Sum)
    return std::nullopt;
  auto sum =
      withoutShape(total.getInput()).getDefiningOp<stablehlo::ReduceOp>();
  if (!sum || !addsUp(sum) ||
      withoutShape(sum.getInputs().front()) != withoutShape(value))
    return std::nullopt;
  if (isTrial) {
    std::optional<Value> factor = factorOf(mean, broadcast, kept);
    if (!factor)
      return std::nullopt;
    return Terms{{{}, value}, {*factor, {}}};
  }
  // The same of the own elements; without any, of whatever number.
  auto type = typeOf(total.getInput());
  Value count = countOf(sum.getInputs().front(), sum.getDimensions(), type);
  Value one = stablehlo::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), 1.0)));
  if (!matchPattern(count, m_Constant()))
    count = stablehlo::MaxOp::create(b, loc, type, count, one);
  Value own = stablehlo::DivOp::create(b, loc, type, total.getInput(), count);
  for (Operation *link : llvm::reverse(links)) {
    if (isa<stablehlo::DivOp, stablehlo::MulOp>(link))
      continue;
    IRMapping map;
    map.map(link->getOperand(0), own);
    own = b.clone(*link, map)->getResult(0);
  }
  Value apart = stablehlo::SubtractOp::create(b, loc, own.getType(), own, mean);
  IRMapping map;
  map.map(mean, own);
  Value spread = b.clone(*broadcast, map)->getResult(0);
  Value centred =
      stablehlo::SubtractOp::create(b, loc, value.getType(), value, spread);
  return Terms{{{}, centred}, {*factorOf(apart, broadcast, kept), {}}};
}

/// Which dims are kept before `op` changes the shape, and what it changes.
/// Nothing if what is kept does not stay together.
std::optional<std::pair<Dims, Value>> Detacher::throughShape(Operation *op,
                                                             const Dims &kept) {
  Value source = op->getOperand(0);
  auto from = typeOf(source), to = typeOf(op->getResult(0));
  std::optional<SmallVector<ReassociationIndices>> groups;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    groups = expand.getReassociationIndices();
  else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    groups = collapse.getReassociationIndices();
  else if (from.getRank() != to.getRank())
    groups = getReassociationIndicesForReshape(from, to);
  if (!groups)
    return std::nullopt;
  bool isCollapse = from.getRank() > to.getRank();
  auto wide = isCollapse ? from : to;
  Dims before(from.getRank());
  for (auto [narrow, group] : llvm::enumerate(*groups)) {
    if (isCollapse) {
      if (kept.test(narrow))
        for (int64_t dim : group)
          before.set(dim);
      continue;
    }
    bool some = false, all = true;
    for (int64_t dim : group) {
      if (wide.getDimSize(dim) == 1)
        continue;
      some |= kept.test(dim);
      all &= kept.test(dim);
    }
    if (some && !all)
      return std::nullopt;
    before[narrow] = some;
  }
  return std::pair(before, source);
}

/// `x` times `y`. Of the shapes that elements have been in, the one with most
/// dims is the product's: equal products become one value.
Value Detacher::timesUnderShape(Value x, Value y) {
  if (isTrial)
    return x;
  auto isNarrowed = [](Value value) {
    Operation *op = value.getDefiningOp();
    return op && isShape(op) &&
           typeOf(op->getOperand(0)).getRank() > typeOf(value).getRank();
  };
  if (isNarrowed(y))
    std::swap(x, y);
  if (!isNarrowed(x) || x.getType() != y.getType())
    return make<stablehlo::MulOp>(x, y);
  Operation *op = x.getDefiningOp();
  Value wide = op->getOperand(0), other;
  auto type = typeOf(wide);
  if (isNarrowed(y) && y.getDefiningOp()->getOperand(0).getType() == type) {
    other = y.getDefiningOp()->getOperand(0);
  } else if (type.hasStaticShape()) {
    other = stablehlo::ReshapeOp::create(b, loc, type, y);
  } else {
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
    if (!collapse)
      return make<stablehlo::MulOp>(x, y);
    other = tensor::ExpandShapeOp::create(b, loc, type, y,
                                          collapse.getReassociationIndices(),
                                          tensor::getMixedSizes(b, loc, wide));
  }
  IRMapping map;
  map.map(wide, timesUnderShape(wide, other));
  return b.clone(*op, map)->getResult(0);
}

std::optional<Terms> Detacher::product(const Terms &some, const Terms &others) {
  Terms terms;
  auto times = [&](Value x, Value y) -> Value {
    return !x ? y : !y ? x : timesUnderShape(x, y);
  };
  for (const Term &x : some)
    for (const Term &y : others) {
      Term term{times(x.factor, y.factor), times(x.summed, y.summed)};
      // Twice the same: its factors together.
      auto same = llvm::find_if(terms, [&](const Term &other) {
        return term.factor && other.factor && other.summed == term.summed;
      });
      if (!isTrial && same != terms.end())
        same->factor = make<stablehlo::AddOp>(same->factor, term.factor);
      else
        terms.push_back(term);
    }
  if (terms.size() > kMostTerms)
    return std::nullopt;
  return terms;
}

/// `value` as a sum of terms, of which what is to be summed waits for less than
/// `value` does; with `splitsEarly` also without what is a factor of all.
std::optional<Terms> Detacher::expand(Value value, const Dims &kept) {
  Operation *op = value.getDefiningOp();
  if (isBroadcast(op))
    if (std::optional<Value> factor = factorOf(op->getOperand(0), op, kept))
      return Terms{{*factor, {}}};
  bool isEarly = levelOf(value) < level || level == 0;
  std::optional<Terms> terms;
  if (op && (!isEarly || splitsEarly))
    terms = expandOp(op, kept, isEarly);
  if (isEarly && (!terms || terms->size() != 1 || !terms->front().factor))
    return Terms{{{}, value}};
  return terms;
}

std::optional<Terms> Detacher::expandOp(Operation *op, const Dims &kept,
                                        bool isEarly) {
  if (isa<stablehlo::MulOp>(op)) {
    bool isSquare = op->getOperand(0) == op->getOperand(1);
    std::optional<Terms> x = expand(op->getOperand(0), kept);
    std::optional<Terms> y =
        isSquare || !x ? x : expand(op->getOperand(1), kept);
    return x && y ? product(*x, *y) : std::nullopt;
  }
  if (isShape(op)) {
    std::optional<std::pair<Dims, Value>> before = throughShape(op, kept);
    if (!before)
      return std::nullopt;
    std::optional<Terms> terms = expand(before->second, before->first);
    if (!terms || isTrial)
      return terms;
    auto type = typeOf(op->getResult(0));
    SmallVector<int64_t> shape;
    for (unsigned dim : kept.set_bits())
      shape.push_back(type.getDimSize(dim));
    for (Term &term : *terms) {
      if (term.factor && typeOf(term.factor).getShape() != ArrayRef(shape))
        term.factor = stablehlo::ReshapeOp::create(b, loc, type.clone(shape),
                                                   term.factor);
      if (!term.summed)
        continue;
      IRMapping map;
      map.map(op->getOperand(0), term.summed);
      term.summed = b.clone(*op, map)->getResult(0);
    }
    return terms;
  }
  if (isEarly)
    return std::nullopt;
  if (isa<stablehlo::SubtractOp>(op)) {
    // Other differences may be small beside what they are of.
    Operation *broadcast = op->getOperand(1).getDefiningOp();
    if (!isBroadcast(broadcast) || levelOf(op->getOperand(0)) >= level)
      return std::nullopt;
    return aroundOwnMean(op->getOperand(0), broadcast, kept);
  }
  if (isa<stablehlo::NegOp>(op)) {
    std::optional<Terms> terms = expand(op->getOperand(0), kept);
    if (!terms || isTrial)
      return terms;
    for (Term &term : *terms) {
      Value &part = term.factor ? term.factor : term.summed;
      part = stablehlo::NegOp::create(b, loc, part.getType(), part);
    }
    return terms;
  }
  if (isa<chlo::SquareOp>(op))
    if (std::optional<Terms> terms = expand(op->getOperand(0), kept))
      return product(*terms, *terms);
  return std::nullopt;
}

bool Detacher::visit(stablehlo::ReduceOp sum, bool isNew) {
  Value summed = sum.getInputs().front();
  level = levelOf(summed);
  if ((level == 0 && !isNew) || !addsUp(sum))
    return false;
  splitsEarly = isNew;
  current = sum;
  loc = sum.getLoc();
  auto type = typeOf(summed);
  ArrayRef<int64_t> reduced = sum.getDimensions();
  // Factors may differ along some of the summed dims: those are summed last.
  std::optional<Dims> best;
  for (unsigned late : llvm::seq(1u << std::min<size_t>(reduced.size(), 5))) {
    Dims kept(type.getRank(), true);
    for (auto [place, dim] : llvm::enumerate(reduced))
      if (place >= 5 || !(late >> place & 1))
        kept.reset(dim);
    if (kept.all() || !isWorth(summed, kept) ||
        (best && best->count() <= kept.count()))
      continue;
    isTrial = true;
    std::optional<Terms> terms = expand(summed, kept);
    // As it was?
    if (terms && (terms->size() > 1 || terms->front().factor))
      best = kept;
  }
  if (!best)
    return false;
  isTrial = false;
  b.setInsertionPoint(sum);
  std::optional<Terms> terms = expand(summed, *best);
  SmallVector<int64_t> shape, first, last;
  for (unsigned dim : best->set_bits()) {
    if (llvm::is_contained(reduced, int64_t(dim)))
      last.push_back(shape.size());
    shape.push_back(type.getDimSize(dim));
  }
  for (int64_t dim : llvm::seq(type.getRank()))
    if (!best->test(dim))
      first.push_back(dim);
  auto partType = type.clone(shape);
  Value total;
  for (const Term &term : *terms) {
    Value part = term.summed ? sumOver(term.summed, first)
                             : countOf(summed, first, partType);
    if (term.factor)
      part = make<stablehlo::MulOp>(term.factor, part);
    total = total ? make<stablehlo::AddOp>(total, part) : part;
  }
  if (!last.empty())
    total = sumOver(total, last);
  sum->getResult(0).replaceAllUsesWith(total);
  levels.erase(sum->getResult(0));
  sum.erase();
  return true;
}

/// A sum along some dims goes on from one along fewer of them.
void Detacher::shareSums() {
  for (Value value : summedAnew) {
    SmallVector<stablehlo::ReduceOp> sums;
    for (Operation *user : value.getUsers())
      if (auto sum = dyn_cast<stablehlo::ReduceOp>(user);
          sum && addsUp(sum) && user->getBlock() == value.getParentBlock())
        sums.push_back(sum);
    llvm::sort(sums, [](stablehlo::ReduceOp x, stablehlo::ReduceOp y) {
      return x.getDimensions().size() < y.getDimensions().size();
    });
    for (auto [place, sum] : llvm::enumerate(sums)) {
      ArrayRef<int64_t> dims = sum.getDimensions();
      for (stablehlo::ReduceOp &finer :
           MutableArrayRef(sums).take_front(place)) {
        Dims kept(typeOf(value).getRank(), true);
        for (int64_t dim : finer.getDimensions())
          kept.reset(dim);
        if (!llvm::all_of(
                finer.getDimensions(),
                [&](int64_t dim) { return llvm::is_contained(dims, dim); }) ||
            !isWorth(value, kept))
          continue;
        if (sum->isBeforeInBlock(finer)) {
          finer.getInitValuesMutable().assign(sum.getInitValues());
          finer->moveBefore(sum);
        }
        SmallVector<int64_t> rest;
        int64_t at = 0;
        for (unsigned dim : kept.set_bits()) {
          if (llvm::is_contained(dims, int64_t(dim)))
            rest.push_back(at);
          ++at;
        }
        if (rest.empty()) {
          sum->getResult(0).replaceAllUsesWith(finer->getResult(0));
          sum.erase();
          sum = finer;
        } else {
          sum.getInputsMutable().assign(finer->getResult(0));
          sum.setDimensions(rest);
          sum = finer;
        }
        break;
      }
    }
  }
}

void Detacher::run() {
  function.walk([&](Operation *op) {
    int64_t most = 0;
    for (Value operand : op->getOperands())
      most = std::max(most, levelOf(operand));
    // What a loop or a branch gives waits for all that it does.
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          for (Value result : inner.getResults())
            most = std::max(most, levelOf(result));
    for (Value result : op->getResults())
      levels[result] = most + isa<AllReduceOp>(op);
    if (auto sum = dyn_cast<stablehlo::ReduceOp>(op))
      work.push_back({sum, false});
  });
  while (!work.empty()) {
    auto [sum, isNew] = work.pop_back_val();
    visit(sum, isNew);
  }
  shareSums();
}

namespace {
struct DetachSumsPass final : shardc::impl::DetachSumsPassBase<DetachSumsPass> {
  using Base::Base;
  void runOnOperation() override { Detacher(getOperation()).run(); }
};
} // namespace
