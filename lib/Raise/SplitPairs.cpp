//===- SplitPairs.cpp - Sums of pairs in parts that are ops ---------------===//
//
// Sums of pairs over both dims are sums over one, then over the other. Where
// what is summed has a product of its own, as the gradient of Σ_j k(x_i, y_j)
// w_jf has, that is a sum with values, contracted afterwards:
//
//     Σ_j c_ij Σ_f g_if w_jf  =  Σ_f g_if Σ_j c_ij w_jf
//
//===----------------------------------------------------------------------===//
#include "Match.h"
#include "Plain.h"
#include "Writer.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_SPLITPAIRSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

/// What a product inside of a sum is summed over.
static constexpr unsigned kProduct = 43;

/// True if `op` sums something of the differences of two points.
static bool sumsDifferences(Operation *op) {
  auto isSpread = [](Value value) {
    auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
    return broadcast && typeOf(broadcast.getOperand()).getNumElements() <
                            typeOf(value).getNumElements();
  };
  auto isDifference = [&](Operation *inner) {
    return isa<stablehlo::SubtractOp>(inner) &&
           isSpread(inner->getOperand(0)) && isSpread(inner->getOperand(1));
  };
  return isa<stablehlo::ReduceOp>(op) && op->getNumResults() == 1 &&
         isBefore(op->getOperand(0), 6, isDifference);
}

/// The sum over one dim, or several, that `op` is, if it is one of floats.
static stablehlo::ReduceOp asSum(Operation *op) {
  auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
  if (!reduce || op->getNumResults() != 1)
    return nullptr;
  auto type = typeOf(reduce.getInputs()[0]);
  Block &body = reduce.getBody().front();
  Operation *inside = body.getTerminator()->getOperand(0).getDefiningOp();
  auto init = reduce.getInitValues()[0].getDefiningOp<stablehlo::ConstantOp>();
  auto zero = init ? dyn_cast<DenseFPElementsAttr>(Attribute(init.getValue()))
                   : DenseFPElementsAttr();
  if (!isa_and_nonnull<stablehlo::AddOp>(inside) ||
      inside->getOperand(0) != body.getArgument(0) ||
      inside->getOperand(1) != body.getArgument(1) || !zero ||
      !zero.getSplatValue<APFloat>().isPosZero() || !type.hasStaticShape())
    return nullptr;
  return reduce;
}

/// Splits a sum over all pairs in one over the last of its dims, and one over
/// the others.
static bool splitDims(stablehlo::ReduceOp reduce) {
  Value input = reduce.getInputs()[0];
  auto type = typeOf(input);
  int64_t dims = llvm::count_if(reduce.getDimensions(), [&](int64_t dim) {
    return type.getDimSize(dim) != 1;
  });
  if (dims < 2 || type.getRank() < 2 || !isBefore(input, 64, sumsDifferences))
    return false;
  int64_t last = *llvm::max_element(reduce.getDimensions());
  SmallVector<int64_t> shape(type.getShape()), others;
  shape.erase(shape.begin() + last);
  for (int64_t dim : reduce.getDimensions())
    if (dim != last)
      others.push_back(dim);
  OpBuilder builder(reduce);
  auto sumOver = [&](Value value, ArrayRef<int64_t> over, RankedTensorType to) {
    auto sum = stablehlo::ReduceOp::create(
        builder, reduce.getLoc(), TypeRange{to}, ValueRange{value},
        reduce.getInitValues(), builder.getDenseI64ArrayAttr(over));
    IRMapping mapping;
    reduce.getBody().cloneInto(&sum.getBody(), mapping);
    return sum->getResult(0);
  };
  Value rows = sumOver(input, {last}, type.clone(shape));
  reduce->getResult(0).replaceAllUsesWith(
      sumOver(rows, others, typeOf(reduce->getResult(0))));
  reduce.erase();
  return true;
}

namespace {
/// Σ over `key` of weight * product.
class ProductSum : PlainOps {
public:
  ProductSum(stablehlo::ReduceOp reduce, Layout layout, unsigned key,
             const std::vector<int64_t> &sizes, const Numbering &numbering)
      : PlainOps(OpBuilder(reduce), reduce.getLoc(),
                 SmallVector<int64_t>(sizes.begin(), sizes.end()),
                 accumulatorOf(reduce)),
        algebra(bit(key), double(sizes[key])),
        reader(algebra, numbering, sizes, bit(key), dimsIn(layout) & ~bit(key)),
        layout(std::move(layout)), key(key), reduce(reduce) {}
  /// Finds weight and product; false if it is no such sum.
  bool match();
  Value write();

private:
  static FloatType accumulatorOf(Operation *op) {
    Type element = typeOf(op->getOperand(0)).getElementType();
    return element.isF64() ? cast<FloatType>(element)
                           : FloatType(Float32Type::get(op->getContext()));
  }
  Placed placedOf(const Root &root) {
    Placed placed{root.value, flatten(root.layout)};
    auto type = typeOf(placed.value).clone(shapeOf(placed.dims));
    if (type != placed.value.getType())
      placed.value =
          stablehlo::ReshapeOp::create(builder, loc, type, placed.value);
    return placed;
  }

  Algebra algebra;
  Reader reader;
  Layout layout;
  unsigned key;
  stablehlo::ReduceOp reduce;
  PolyId weight = 0;
  std::optional<TermId> product, pairs;
};
} // namespace

bool ProductSum::match() {
  reader.seesRowSums = false;
  PolyId poly = reader.read(reduce.getInputs()[0], layout);
  if (reader.split || algebra.get(poly).empty())
    return false;
  SmallVector<TermId> terms;
  algebra.collectTerms(poly, terms);
  for (TermId id : terms) {
    const Term &term = algebra.getTerm(id);
    if (term.kind == TermKind::SumOverKey ||
        term.kind == TermKind::MaxOverKey ||
        (term.kind == TermKind::PairSum && (pairs || !term.tensor)) ||
        (term.kind == TermKind::Dot && (product || !findDot(term))))
      return false;
    if (term.kind == TermKind::PairSum)
      pairs = id;
    if (term.kind == TermKind::Dot)
      product = id;
  }
  if (!pairs || !product || !(algebra.getTerm(*pairs).dims & bit(key)) ||
      !(algebra.getTerm(*product).dims & bit(key)))
    return false;
  Poly rest;
  for (const Monomial &monomial : algebra.get(poly)) {
    if (Algebra::powerOf(monomial, *product) != 1)
      return false;
    rest.push_back(algebra.times(monomial, *product, -1));
  }
  weight = withDifference(algebra, algebra.intern(rest), reduce.getContext());
  SmallVector<TermId> left;
  algebra.collectTerms(weight, left);
  return !llvm::is_contained(left, *product);
}

Value ProductSum::write() {
  SmallVector<unsigned> scoreDims = flatten(layout), rowDims = scoreDims;
  llvm::erase(rowDims, key);
  const Term term = algebra.getTerm(*product);
  auto [mine, other] = rootsOf(findDot(term), term.tensorLayout, key, reader);
  if (reader.split ||
      (dimsIn(other.layout) &
       ~(bit(key) | bit(kFirstBoundDim) | dimsIn(mine.layout))) ||
      !(dimsIn(mine.layout) & bit(kFirstBoundDim)))
    return nullptr;
  sizes[kProduct] = reader.sizeOf(kFirstBoundDim);
  for (Root *root : {&mine, &other})
    for (auto &dim : root->layout)
      for (unsigned &part : dim)
        part = part == kFirstBoundDim ? kProduct : part;
  Writer writer(algebra, builder, loc, accumulator, shapeOf(scoreDims));
  SmallVector<TermId> terms;
  algebra.collectTerms(weight, terms);
  for (TermId id : terms) {
    const Term &one = algebra.getTerm(id);
    if ((one.kind == TermKind::Leaf || id == pairs) &&
        (one.dims >> kFirstBoundDim) == 0)
      writer.terms[id] =
          spread(placedOf({one.tensor, one.tensorLayout}), scoreDims);
  }
  for (auto [place, dim] : llvm::enumerate(scoreDims))
    writer.positions[dim] = stablehlo::IotaOp::create(
        builder, loc,
        RankedTensorType::get(shapeOf(scoreDims), builder.getI32Type()), place);
  Value scores = writer.write(weight, accumulator);
  SmallVector<unsigned> dims = rowDims;
  dims.push_back(kProduct);
  Value sums = contract({scores, scoreDims}, placedOf(other), {key}, dims);
  return contract({sums, dims}, placedOf(mine), {kProduct}, rowDims);
}

static bool splitProduct(stablehlo::ReduceOp reduce,
                         const Numbering &numbering) {
  Value input = reduce.getInputs()[0];
  auto type = typeOf(input);
  if (reduce.getDimensions().size() != 1 || type.getRank() < 2 ||
      numbering.of(input) == 0 || !isBefore(input, 64, sumsDifferences))
    return false;
  int64_t keyDim = reduce.getDimensions()[0];
  std::vector<int64_t> sizes(64, 1);
  Layout layout;
  unsigned next = 0, key = 0;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    auto &parts = layout.emplace_back();
    if (size == 1)
      continue;
    if (next >= kFirstFeature)
      return false;
    if (int64_t(dim) == keyDim)
      key = next;
    sizes[next] = size;
    parts.push_back(next++);
  }
  if (type.getDimSize(keyDim) == 1)
    return false;
  ProductSum sum(reduce, layout, key, sizes, numbering);
  Value result = sum.match() ? sum.write() : nullptr;
  if (!result)
    return false;
  OpBuilder builder(reduce);
  auto wanted = typeOf(reduce->getResult(0));
  if (typeOf(result).getElementType() != wanted.getElementType())
    result = stablehlo::ConvertOp::create(
        builder, reduce.getLoc(), typeOf(result).clone(wanted.getElementType()),
        result);
  if (result.getType() != wanted)
    result =
        stablehlo::ReshapeOp::create(builder, reduce.getLoc(), wanted, result);
  reduce->getResult(0).replaceAllUsesWith(result);
  reduce.erase();
  return true;
}

/// Writes sums of pairs that hold a product as sums with values, and sums over
/// both points of pairs as two.
static void splitPairs(func::FuncOp func) {
  SmallVector<stablehlo::ReduceOp> sums;
  auto collect = [&]() {
    sums.clear();
    func.walk([&](Operation *op) {
      if (stablehlo::ReduceOp sum = asSum(op))
        sums.push_back(sum);
    });
  };
  collect();
  for (stablehlo::ReduceOp sum : sums)
    splitDims(sum);
  collect();
  // Few programs have any.
  if (llvm::none_of(
          sums, [](stablehlo::ReduceOp sum) { return sumsDifferences(sum); }))
    return;
  Numbering numbering(func);
  for (stablehlo::ReduceOp sum : sums)
    splitProduct(sum, numbering);
}

namespace {
struct SplitPairsPass final : shardc::impl::SplitPairsPassBase<SplitPairsPass> {
  using Base::Base;
  void runOnOperation() override { splitPairs(getOperation()); }
};
} // namespace
