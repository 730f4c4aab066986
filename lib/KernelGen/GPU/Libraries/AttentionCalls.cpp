//===- AttentionCalls.cpp - Steps of attention that cuDNN may do ----------===//
//
// A library does a whole block: its output, and of each row the largest score
// and the sum, from which the state goes on. What a step's score region means
// is found out here: a number times the product, and perhaps a mask by
// positions.
//
//===----------------------------------------------------------------------===//
#include "Libraries.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardrt/LibraryCall.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using spmd::PairStepOp;

using Groups = SmallVector<SmallVector<int64_t>>;

/// Features that fill a tile of a library's engines: fewer take as long.
/// [shape]
static constexpr int64_t kTileFeatures = 64;
/// Queries or keys whose number is not known: as many as rows of products.
/// [guess]
static constexpr double kUnknownRows = 1024;
/// Most features that any GPU's engines take. [format]
static constexpr int64_t kMostFeatures = 256;

namespace {
/// What a score is made of.
struct Score {
  double scale = 1;
  /// A key counts up to this many places behind its query; all where there is
  /// none.
  std::optional<int64_t> last;
  /// What others have in place of a score.
  double masked = 0;
};

/// A sum of positions: `query` times that of the query, and so on.
struct Linear {
  int64_t query = 0, key = 0, number = 0;
};
} // namespace

static std::optional<Linear> linearOf(Value value, Value query, Value key) {
  if (value == query)
    return Linear{1, 0, 0};
  if (value == key)
    return Linear{0, 1, 0};
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return Linear{0, 0, number.getSExtValue()};
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  auto left = linearOf(op->getOperand(0), query, key),
       right = linearOf(op->getOperand(1), query, key);
  if (!left || !right)
    return std::nullopt;
  int64_t sign = isa<arith::AddIOp>(op) ? 1 : -1;
  return Linear{left->query + sign * right->query,
                left->key + sign * right->key,
                left->number + sign * right->number};
}

namespace {
/// Keys up to `last` behind their query are on one side of a comparison.
struct Bound {
  int64_t last;
  bool isTrue; ///< which side
};
} // namespace

static std::optional<Bound> boundOf(Value condition, Value query, Value key) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  auto left = linearOf(compare.getLhs(), query, key),
       right = linearOf(compare.getRhs(), query, key);
  if (!left || !right)
    return std::nullopt;
  int64_t ofQuery = left->query - right->query, ofKey = left->key - right->key,
          number = left->number - right->number;
  auto predicate = compare.getPredicate();
  // As key - query + number against zero.
  if (ofQuery == 1 && ofKey == -1) {
    number = -number;
    switch (predicate) {
    case arith::CmpIPredicate::sle:
      predicate = arith::CmpIPredicate::sge;
      break;
    case arith::CmpIPredicate::slt:
      predicate = arith::CmpIPredicate::sgt;
      break;
    case arith::CmpIPredicate::sge:
      predicate = arith::CmpIPredicate::sle;
      break;
    case arith::CmpIPredicate::sgt:
      predicate = arith::CmpIPredicate::slt;
      break;
    default:
      return std::nullopt;
    }
  } else if (ofQuery != -1 || ofKey != 1) {
    return std::nullopt;
  }
  switch (predicate) {
  case arith::CmpIPredicate::sle:
    return Bound{-number, true};
  case arith::CmpIPredicate::slt:
    return Bound{-number - 1, true};
  case arith::CmpIPredicate::sgt:
    return Bound{-number, false};
  case arith::CmpIPredicate::sge:
    return Bound{-number - 1, false};
  default:
    return std::nullopt;
  }
}

static std::optional<double> numberOf(Value value) {
  APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  bool loses;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return number.convertToDouble();
}

/// Reads the score region of a step without extras.
static std::optional<Score> scoreOf(PairStepOp op) {
  Block &body = op.getScore().front();
  unsigned count = body.getNumArguments();
  Value raw = body.getArgument(0), query = body.getArgument(count - 2),
        key = body.getArgument(count - 1);
  Value value = body.getTerminator()->getOperand(0);
  Score score;
  if (auto select = value.getDefiningOp<arith::SelectOp>()) {
    auto bound = boundOf(select.getCondition(), query, key);
    if (!bound)
      return std::nullopt;
    value = bound->isTrue ? select.getTrueValue() : select.getFalseValue();
    auto masked = numberOf(bound->isTrue ? select.getFalseValue()
                                         : select.getTrueValue());
    if (!masked)
      return std::nullopt;
    score.last = bound->last;
    score.masked = *masked;
  }
  while (value != raw) {
    Operation *made = value.getDefiningOp();
    if (!made || !isa<arith::MulFOp, arith::DivFOp>(made))
      return std::nullopt;
    auto left = numberOf(made->getOperand(0)),
         right = numberOf(made->getOperand(1));
    bool divides = isa<arith::DivFOp>(made);
    if (right) {
      score.scale = divides ? score.scale / *right : score.scale * *right;
      value = made->getOperand(0);
    } else if (left && !divides) {
      score.scale *= *left;
      value = made->getOperand(1);
    } else {
      return std::nullopt;
    }
  }
  if (!std::isfinite(score.scale))
    return std::nullopt;
  return score;
}

/// Whether what `score` masks has no weight at all, and nothing else is left
/// out.
static bool masksExactly(PairStepOp op, const Score &score) {
  if (op.getBandLower())
    return false;
  std::optional<int64_t> band = op.getBandUpper();
  if (!score.last)
    return !band;
  if (band)
    return *band == *score.last;
  return score.masked == -std::numeric_limits<double>::infinity();
}

namespace {
/// One step as a library sees it.
class AttentionCall {
public:
  explicit AttentionCall(PairStepOp op)
      : op(op), b(op), loc(op.getLoc()), q(op.getNumBatchDims()), k(q + 1),
        d(q + 2), e(q + 3) {}

  /// Puts the call, and what takes its results into the state, before the step,
  /// which becomes the other branch. False where no library can, or `use` says
  /// that it is not worth it.
  bool emit(LibraryUse use);

private:
  bool splitBatch();
  bool describe(Value memref, AffineMap map, ArrayRef<unsigned> rest);
  bool isWorthIt();
  /// The result of `map` that is `dim`; -1 where none is.
  int64_t placeOf(AffineMap map, unsigned dim) {
    auto place = map.getResultPosition(b.getAffineDimExpr(dim));
    return place ? static_cast<int64_t>(*place) : -1;
  }
  int64_t sizeOf(unsigned dim) { return known[dim]; }
  void measure();
  Value scratch(ArrayRef<unsigned> dims, Type element);
  Value offsetOf(int64_t last);
  void takeInto(Value out, Value most, Value sum);
  /// A map of the dims that `dims` are, over those of `over`.
  AffineMap mapOf(ArrayRef<unsigned> dims, AffineMap over);

  PairStepOp op;
  OpBuilder b;
  Location loc;
  unsigned q, k, d, e;
  SmallVector<int64_t> known;                    ///< sizes of dims
  SmallVector<std::pair<Value, int64_t>> owners; ///< who has a dim, and where
  SmallVector<unsigned> outer, heads; ///< batch dims, outermost first
  SmallVector<Groups> groups;
};
} // namespace

void AttentionCall::measure() {
  known.assign(e + 1, 1);
  owners.assign(e + 1, {Value(), 0});
  SmallVector<Value> all = op.getShapedInputs();
  llvm::append_range(all, op.getInits());
  for (auto [number, memref] : llvm::enumerate(all)) {
    auto type = cast<MemRefType>(memref.getType());
    for (auto [place, expr] : llvm::enumerate(op.getMap(number).getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      if (owners[dim].first && ShapedType::isStatic(known[dim]))
        continue;
      known[dim] = type.getDimSize(place);
      owners[dim] = {memref, static_cast<int64_t>(place)};
    }
  }
}

bool AttentionCall::describe(Value memref, AffineMap map,
                             ArrayRef<unsigned> rest) {
  auto type = cast<MemRefType>(memref.getType());
  Groups mine;
  for (ArrayRef<unsigned> dims : {ArrayRef(outer), ArrayRef(heads)}) {
    SmallVector<int64_t> places;
    for (unsigned dim : dims)
      if (int64_t place = placeOf(map, dim); place >= 0)
        places.push_back(place);
    if (!isContiguous(type, places))
      return false;
    mine.push_back(places);
  }
  for (unsigned dim : rest) {
    int64_t place = placeOf(map, dim);
    // Of one element, and not there.
    if (place < 0 && sizeOf(dim) != 1)
      return false;
    mine.emplace_back();
    if (place >= 0)
      mine.back().push_back(place);
  }
  groups.push_back(std::move(mine));
  return true;
}

/// Which batch dims are the batch and which the heads; keys and values lack the
/// innermost heads, if any, where several queries share them.
bool AttentionCall::splitBatch() {
  AffineMap ofQuery = op.getMap(0), ofKey = op.getMap(1),
            ofValue = op.getMap(2);
  SmallVector<std::pair<int64_t, unsigned>> common, shared;
  for (unsigned dim = 0; dim < q; ++dim) {
    if (sizeOf(dim) == 1)
      continue;
    int64_t place = placeOf(ofQuery, dim);
    bool inKey = placeOf(ofKey, dim) >= 0;
    if (place < 0 || inKey != (placeOf(ofValue, dim) >= 0))
      return false;
    (inKey ? common : shared).push_back({place, dim});
  }
  llvm::sort(common);
  llvm::sort(shared);
  // Heads are as many as are together.
  for (size_t split = 0; split <= common.size(); ++split) {
    outer.clear();
    heads.clear();
    groups.clear();
    for (auto [number, entry] : llvm::enumerate(common))
      (number < split ? outer : heads).push_back(entry.second);
    for (auto [place, dim] : shared)
      heads.push_back(dim);
    if (describe(op.getQuery(), ofQuery, {q, d}) &&
        describe(op.getKey(), ofKey, {k, d}) &&
        describe(op.getValue(), ofValue, {k, e}))
      return true;
  }
  return false;
}

bool AttentionCall::isWorthIt() {
  if (sizeOf(d) < kTileFeatures || sizeOf(e) < kTileFeatures)
    return false;
  auto count = [&](unsigned dim) {
    return ShapedType::isDynamic(sizeOf(dim)) ? kUnknownRows
                                              : double(sizeOf(dim));
  };
  double rows = count(q);
  for (unsigned dim : llvm::concat<unsigned>(outer, heads))
    rows *= count(dim);
  // The host asks by itself, and two kernels take 16-bit results and two
  // numbers of f32 a row into the state: written by the call, and read again.
  return isWorthACall(op, 2 * rows * count(k) * double(sizeOf(d) + sizeOf(e)),
                      /*launches=*/3,
                      2 * rows * (2 * double(sizeOf(e)) + 2 * 4));
}

Value AttentionCall::scratch(ArrayRef<unsigned> dims, Type element) {
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  for (unsigned dim : dims) {
    shape.push_back(sizeOf(dim));
    if (ShapedType::isDynamic(shape.back()))
      sizes.push_back(
          memref::DimOp::create(b, loc, owners[dim].first, owners[dim].second));
  }
  return memref::AllocOp::create(b, loc, MemRefType::get(shape, element),
                                 sizes);
}

/// The last column of the block's row 0.
Value AttentionCall::offsetOf(int64_t last) {
  Value apart = arith::SubIOp::create(b, loc, op.getAt()[q], op.getAt()[k]);
  Value number = arith::ConstantIndexOp::create(b, loc, last);
  return arith::AddIOp::create(b, loc, apart, number);
}

AffineMap AttentionCall::mapOf(ArrayRef<unsigned> dims, AffineMap over) {
  SmallVector<AffineExpr> places;
  for (unsigned dim : dims) {
    int64_t place = placeOf(over, dim);
    places.push_back(place >= 0 ? b.getAffineDimExpr(place)
                                : b.getAffineConstantExpr(0));
  }
  return AffineMap::get(over.getNumResults(), 0, places, b.getContext());
}

/// Two elementwise ops that let the state be that of the block as well: sums
/// grow by what both are as seen from the larger of both maxima.
void AttentionCall::takeInto(Value out, Value most, Value sum) {
  SmallVector<unsigned> rowDims(outer);
  llvm::append_range(rowDims, heads);
  rowDims.push_back(q);
  SmallVector<unsigned> outDims(rowDims);
  outDims.push_back(e);
  Value maxima = op.getInits()[0], sums = op.getInits()[1],
        total = op.getInits()[2];
  Type type = b.getF32Type();
  using Body = llvm::function_ref<SmallVector<Value>(OpBuilder &, ValueRange)>;
  auto generic = [&](ValueRange ins, ValueRange outs, ArrayRef<AffineMap> maps,
                     Body body) {
    unsigned dims = maps.back().getNumDims();
    SmallVector<utils::IteratorType> parallel(dims,
                                              utils::IteratorType::parallel);
    linalg::GenericOp::create(b, loc, ins, outs, maps, parallel,
                              [&](OpBuilder &inner, Location, ValueRange args) {
                                linalg::YieldOp::create(inner, loc,
                                                        body(inner, args));
                              });
  };
  struct Factors {
    Value most, before, block, isEmpty;
  };
  // `before` and `block` are what sums are multiplied by. A block whose scores
  // are all -inf adds nothing.
  auto factors = [&](OpBuilder &inner, Value before, Value block) {
    Factors result;
    Value isLess = arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OGT,
                                         before, block);
    result.most = arith::SelectOp::create(inner, loc, isLess, before, block);
    auto power = [&](Value value) -> Value {
      Value apart = arith::SubFOp::create(inner, loc, value, result.most);
      return math::ExpOp::create(inner, loc, apart);
    };
    result.before = power(before);
    result.block = power(block);
    Value none = arith::ConstantOp::create(
        inner, loc,
        b.getFloatAttr(type, -std::numeric_limits<double>::infinity()));
    result.isEmpty = arith::CmpFOp::create(
        inner, loc, arith::CmpFPredicate::OEQ, block, none);
    return result;
  };
  auto mix = [&](OpBuilder &inner, const Factors &by, Value before,
                 Value block) -> Value {
    Value kept = arith::MulFOp::create(inner, loc, before, by.before),
          added = arith::MulFOp::create(inner, loc, block, by.block),
          both = arith::AddFOp::create(inner, loc, kept, added);
    return arith::SelectOp::create(inner, loc, by.isEmpty, before, both);
  };
  AffineMap totalMap = op.getInitMap(2), maxMap = op.getInitMap(0),
            sumMap = op.getInitMap(1);
  auto dimsOf = [](AffineMap map) {
    return llvm::map_to_vector(map.getResults(), [](AffineExpr expr) {
      return cast<AffineDimExpr>(expr).getPosition();
    });
  };
  // What the output is multiplied by is the sum that it was divided by.
  generic({out, most, sum, maxima}, total,
          {mapOf(outDims, totalMap), mapOf(rowDims, totalMap),
           mapOf(rowDims, totalMap), mapOf(dimsOf(maxMap), totalMap),
           b.getMultiDimIdentityMap(totalMap.getNumResults())},
          [&](OpBuilder &inner, ValueRange args) -> SmallVector<Value> {
            Factors by = factors(inner, args[3], args[1]);
            Value whole = arith::ExtFOp::create(inner, loc, type, args[0]);
            whole = arith::MulFOp::create(inner, loc, whole, args[2]);
            return {mix(inner, by, args[4], whole)};
          });
  generic({most, sum}, {maxima, sums},
          {mapOf(rowDims, maxMap), mapOf(rowDims, maxMap),
           b.getMultiDimIdentityMap(maxMap.getNumResults()),
           mapOf(dimsOf(sumMap), maxMap)},
          [&](OpBuilder &inner, ValueRange args) -> SmallVector<Value> {
            Factors by = factors(inner, args[2], args[0]);
            Value largest = arith::SelectOp::create(inner, loc, by.isEmpty,
                                                    args[2], by.most);
            return {largest, mix(inner, by, args[3], args[1])};
          });
}

bool AttentionCall::emit(LibraryUse use) {
  if (op.getBackward() || op.getCombine() != spmd::PairCombine::Softmax ||
      !op.getValue() || !op.getPair().empty() || !op.getWeight().empty() ||
      !op.getExtras().empty() || !op.getRows().empty())
    return false;
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  if (!element.isF16() && !element.isBF16())
    return false;
  for (Value operand : {op.getKey(), op.getValue()})
    if (getElementTypeOrSelf(operand.getType()) != element)
      return false;
  std::optional<Score> score = scoreOf(op);
  if (!score || !masksExactly(op, *score))
    return false;
  measure();
  for (unsigned dim : {d, e})
    if (ShapedType::isDynamic(sizeOf(dim)) || sizeOf(dim) % 8 != 0 ||
        sizeOf(dim) > kMostFeatures)
      return false;
  if (!splitBatch() || (use != LibraryUse::Library && !isWorthIt()))
    return false;

  SmallVector<unsigned> rowDims(outer);
  llvm::append_range(rowDims, heads);
  rowDims.push_back(q);
  SmallVector<unsigned> outDims(rowDims);
  outDims.push_back(e);
  Value out = scratch(outDims, element),
        most = scratch(rowDims, b.getF32Type()),
        sum = scratch(rowDims, b.getF32Type());
  // Dims of the results, which are dense.
  Groups ofRows{
      llvm::to_vector(llvm::seq<int64_t>(0, outer.size())),
      llvm::to_vector(llvm::seq<int64_t>(outer.size(), rowDims.size() - 1)),
      {static_cast<int64_t>(rowDims.size()) - 1}};
  Groups ofOut(ofRows);
  ofOut.push_back({static_cast<int64_t>(rowDims.size())});
  llvm::append_values(groups, ofOut, ofRows, ofRows);
  SmallVector<Value> at;
  if (score->last)
    at.push_back(offsetOf(*score->last));
  LibraryWish wish = wishOf(b, use);
  auto call = spmd::LibraryCallOp::create(
      b, loc, Type(), b.getI1Type(), b.getStringAttr("attention"),
      ValueRange{op.getQuery(), op.getKey(), op.getValue()},
      ValueRange{out, most, sum}, at, groupsAttr(b, groups),
      b.getDenseI64ArrayAttr(
          {llvm::bit_cast<int64_t>(score->scale),
           score->last ? SHARDRT_CALL_CAUSAL : SHARDRT_CALL_FULL}),
      ArrayAttr(), wish.required, wish.tcgen05, UnitAttr());
  remark::passed(loc,
                 remark::RemarkOpts::name("LibraryCall").category("kernels"))
      << remark::metric("Kind", "attention")
      << remark::metric("Library", "cuDNN");
  auto branch =
      scf::IfOp::create(b, loc, call.getDone(), /*withElseRegion=*/true);
  b.setInsertionPoint(branch.thenYield());
  takeInto(out, most, sum);
  op->moveBefore(branch.elseYield());
  return true;
}

bool gpukernels::callLibrary(PairStepOp op, LibraryUse use, bool shortWeights) {
  if (use == LibraryUse::OnTcgen05 && !shortWeights)
    return false;
  return AttentionCall(op).emit(use);
}
