//===- Emit.cpp - Ops on all pairs from what was matched ------------------===//
#include "Emit.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

namespace {
/// Writes polynomials as ops on tensors without dims.
class RegionWriter {
public:
  RegionWriter(const Algebra &algebra, OpBuilder &builder, Location loc, FloatType accumulator)
      : algebra(algebra), builder(builder), loc(loc), accumulator(accumulator) {}

  /// What terms are, and where the positions of dims are.
  llvm::DenseMap<TermId, Value> terms;
  llvm::DenseMap<unsigned, Value> positions;

  Value write(PolyId poly, Type type);
  Value cast(Value value, Type type) {
    if (typeOf(value).getElementType() == type)
      return value;
    return stablehlo::ConvertOp::create(builder, loc, scalarOf(type), value);
  }

private:
  static RankedTensorType scalarOf(Type type) { return RankedTensorType::get({}, type); }
  Type widen(Type type) {
    auto number = dyn_cast<FloatType>(type);
    return number && number.getWidth() < accumulator.getWidth() ? accumulator : type;
  }
  Value number(double value, Type type) {
    Attribute attr = isa<FloatType>(type) ? Attribute(builder.getFloatAttr(type, value))
                                          : Attribute(builder.getIntegerAttr(type, int64_t(value)));
    return stablehlo::ConstantOp::create(builder, loc, ::cast<ElementsAttr>(Attribute(DenseElementsAttr::get(scalarOf(type), attr))));
  }
  template <typename OpT> Value binary(Value lhs, Value rhs) {
    return OpT::create(builder, loc, lhs.getType(), lhs, rhs);
  }
  Value writeTerm(TermId id, Type type);
  Value writeBool(PolyId poly);
  Value writeAnd(const Monomial &monomial);

  const Algebra &algebra;
  OpBuilder &builder;
  Location loc;
  FloatType accumulator;
};
} // namespace

Value RegionWriter::writeTerm(TermId id, Type type) {
  if (Value known = terms.lookup(id))
    return cast(known, type);
  const Term &term = algebra.getTerm(id);
  Value value;
  switch (term.kind) {
  case TermKind::Position:
    value = positions.lookup(term.dim);
    break;
  case TermKind::Exp:
    value = write(term.arguments[0], accumulator);
    value = stablehlo::ExpOp::create(builder, loc, value.getType(), value);
    break;
  case TermKind::Log:
    value = write(term.arguments[0], accumulator);
    value = stablehlo::LogOp::create(builder, loc, value.getType(), value);
    break;
  case TermKind::Inverse:
    value = binary<stablehlo::DivOp>(number(1, accumulator), write(term.arguments[0], accumulator));
    break;
  default: {
    OperationState state(loc, term.name.getValue());
    for (auto [argument, argumentType] : llvm::zip(term.arguments, term.argumentTypes))
      state.addOperands(write(argument, widen(argumentType)));
    state.addTypes(scalarOf(widen(term.type)));
    state.addAttributes(term.attributes.getValue());
    value = builder.create(state)->getResult(0);
  }
  }
  terms[id] = value;
  return cast(value, type);
}

Value RegionWriter::writeAnd(const Monomial &monomial) {
  Value all;
  for (auto [id, power] : monomial.factors) {
    Value next = writeTerm(id, builder.getI1Type());
    all = all ? binary<stablehlo::AndOp>(all, next) : next;
  }
  return all;
}

Value RegionWriter::writeBool(PolyId poly) {
  Type type = builder.getI1Type();
  if (std::optional<double> constant = algebra.constantOf(poly))
    return number(*constant != 0, type);
  const Poly &p = algebra.get(poly);
  auto isAnd = [&](const Monomial &m, double coefficient) {
    return m.coefficient == coefficient && !m.factors.empty() &&
           llvm::all_of(m.factors, [&](auto &factor) { return algebra.getTerm(factor.first).isBool; });
  };
  if (p.size() == 1 && isAnd(p[0], 1))
    return writeAnd(p[0]);
  if (p.size() == 2 && p[0].factors.empty() && p[0].coefficient == 1 && isAnd(p[1], -1)) {
    Value all = writeAnd(p[1]);
    return stablehlo::NotOp::create(builder, loc, all.getType(), all);
  }
  Value value = write(poly, accumulator);
  return stablehlo::CompareOp::create(builder, loc, value, number(0, accumulator), stablehlo::ComparisonDirection::NE);
}

Value RegionWriter::write(PolyId poly, Type type) {
  if (type.isInteger(1))
    return writeBool(poly);
  if (std::optional<double> constant = algebra.constantOf(poly))
    return number(*constant, type);
  Value sum;
  // Positive parts first: what starts with one needs no negation.
  SmallVector<const Monomial *> monomials;
  for (const Monomial &monomial : algebra.get(poly))
    monomials.push_back(&monomial);
  llvm::stable_sort(monomials, [](const Monomial *a, const Monomial *b) {
    auto rank = [](const Monomial *m) { return (m->coefficient < 0 ? 2 : 0) + (m->factors.empty() ? 1 : 0); };
    return rank(a) < rank(b);
  });
  for (const Monomial *monomial : monomials) {
    Value product, condition;
    for (int sign : {1, -1})
      for (auto [id, power] : monomial->factors) {
        if ((power > 0) != (sign > 0))
          continue;
        if (algebra.getTerm(id).isBool && power == 1) {
          Value next = writeTerm(id, builder.getI1Type());
          condition = condition ? binary<stablehlo::AndOp>(condition, next) : next;
          continue;
        }
        Value factor = writeTerm(id, type);
        for (int i = 0; i < std::abs(power); ++i) {
          if (sign > 0)
            product = product ? binary<stablehlo::MulOp>(product, factor) : factor;
          else
            product = binary<stablehlo::DivOp>(product ? product : number(1, type), factor);
        }
      }
    bool isSubtracted = sum && monomial->coefficient < 0;
    double coefficient = isSubtracted ? -monomial->coefficient : monomial->coefficient;
    if (!product)
      product = number(coefficient, type);
    else if (coefficient != 1)
      product = binary<stablehlo::MulOp>(product, number(coefficient, type));
    if (condition)
      product = stablehlo::SelectOp::create(builder, loc, product.getType(), condition, product, number(0, type));
    if (!sum)
      sum = product;
    else
      sum = isSubtracted ? binary<stablehlo::SubtractOp>(sum, product) : binary<stablehlo::AddOp>(sum, product);
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {
/// A tensor with one iteration dim for each of its dims.
struct Arranged {
  Value value;
  SmallVector<unsigned> dims;
};

/// Builds ops from one match.
class Emitter {
public:
  Emitter(Forward &forward, Operation *place, Replacements &replacements)
      : f(forward), builder(place), loc(place->getLoc()), replacements(replacements) {
    bool isDouble = typeOf(f.queryRoot.value).getElementType().isF64();
    accumulator = isDouble ? FloatType(builder.getF64Type()) : FloatType(builder.getF32Type());
    SmallVector<unsigned> order(f.batch);
    order.append({f.query, f.key, f.depth, f.feature});
    for (auto [i, dim] : llvm::enumerate(order))
      numbers[dim] = i;
  }

  /// `root`, reshaped so that each dim is one of `f`; `required` dims that it lacks
  /// are repeated.
  Arranged arrange(const Root &root, ArrayRef<unsigned> required);
  /// The type of a result that replaces `like`, and its dims.
  std::pair<RankedTensorType, SmallVector<unsigned>> resultType(Value like, const Layout &layout, ArrayRef<unsigned> required);
  void replace(Value old, Value result);
  AffineMap mapOf(ArrayRef<unsigned> dims);
  /// Tensors that `poly` reads, besides the raw score.
  void collectExtras(PolyId poly, SmallVectorImpl<TermId> &extras);
  SmallVector<unsigned> rows() {
    SmallVector<unsigned> dims(f.batch);
    dims.push_back(f.query);
    return dims;
  }
  /// Fills `region`: its first arguments are `first`, and it yields `polys`, the first
  /// of them times `factor` if that is not null.
  void fill(Region &region, ArrayRef<std::optional<TermId>> first, ArrayRef<TermId> extras, ArrayRef<PolyId> polys,
            bool timesFirst);

  Forward &f;
  OpBuilder builder;
  Location loc;
  FloatType accumulator;
  Replacements &replacements;
  llvm::DenseMap<unsigned, unsigned> numbers;
};
} // namespace

static SmallVector<unsigned> flatten(const Layout &layout) {
  SmallVector<unsigned> dims;
  for (const auto &dim : layout)
    dims.append(dim.begin(), dim.end());
  return dims;
}

std::pair<RankedTensorType, SmallVector<unsigned>> Emitter::resultType(Value like, const Layout &layout, ArrayRef<unsigned> required) {
  SmallVector<unsigned> dims = flatten(layout);
  SmallVector<int64_t> shape;
  for (unsigned dim : required)
    if (!llvm::is_contained(dims, dim))
      dims.push_back(dim);
  size_t next = 0;
  // Extents as the tensor has them: numbers of depth dims are used again.
  for (auto [i, parts] : llvm::enumerate(layout))
    for (unsigned part : parts) {
      shape.push_back(parts.size() == 1 ? typeOf(like).getDimSize(i) : f.reader->sizeOf(part));
      ++next;
    }
  for (; next < dims.size(); ++next)
    shape.push_back(1);
  return {typeOf(like).clone(shape), dims};
}

Arranged Emitter::arrange(const Root &root, ArrayRef<unsigned> required) {
  Arranged result;
  SmallVector<int64_t> shape;
  result.value = root.value;
  if (Value now = replacements.lookup(root.value))
    result.value = now;
  for (auto [i, parts] : llvm::enumerate(root.layout))
    for (unsigned part : parts) {
      result.dims.push_back(part);
      shape.push_back(parts.size() == 1 ? typeOf(root.value).getDimSize(i) : f.reader->sizeOf(part));
    }
  SmallVector<unsigned> repeated;
  for (unsigned dim : required) {
    if (llvm::is_contained(result.dims, dim))
      continue;
    int64_t size = dim < kNoFeature ? f.reader->sizeOf(dim) : 1;
    if (size != 1) {
      repeated.push_back(dim);
      continue;
    }
    result.dims.push_back(dim);
    shape.push_back(1);
  }
  auto type = typeOf(root.value).clone(shape);
  if (type != root.value.getType())
    result.value = stablehlo::ReshapeOp::create(builder, loc, type, result.value);
  if (repeated.empty())
    return result;
  SmallVector<int64_t> places;
  for (size_t i = 0; i < shape.size(); ++i)
    places.push_back(i);
  for (unsigned dim : repeated) {
    result.dims.push_back(dim);
    shape.push_back(f.reader->sizeOf(dim));
  }
  result.value = stablehlo::BroadcastInDimOp::create(builder, loc, type.clone(shape), result.value,
                                                     builder.getDenseI64ArrayAttr(places));
  return result;
}

void Emitter::replace(Value old, Value result) {
  if (old.getType() != result.getType())
    result = stablehlo::ReshapeOp::create(builder, loc, old.getType(), result);
  old.replaceAllUsesWith(result);
  replacements[old] = result;
}

AffineMap Emitter::mapOf(ArrayRef<unsigned> dims) {
  SmallVector<AffineExpr> exprs;
  for (unsigned dim : dims)
    exprs.push_back(builder.getAffineDimExpr(numbers.lookup(dim)));
  return AffineMap::get(f.batch.size() + 4, 0, exprs, builder.getContext());
}

void Emitter::collectExtras(PolyId poly, SmallVectorImpl<TermId> &extras) {
  for (const Monomial &monomial : f.algebra->get(poly))
    for (auto [id, power] : monomial.factors) {
      const Term &term = f.algebra->getTerm(id);
      bool isTensor = term.kind == TermKind::Leaf || term.kind == TermKind::Dot || term.kind == TermKind::SumOverKey ||
                      term.kind == TermKind::MaxOverKey;
      if (id == f.raw)
        continue;
      if (!isTensor) {
        for (PolyId argument : term.arguments)
          collectExtras(argument, extras);
      } else if (!llvm::is_contained(extras, id)) {
        extras.push_back(id);
      }
    }
}

void Emitter::fill(Region &region, ArrayRef<std::optional<TermId>> first, ArrayRef<TermId> extras, ArrayRef<PolyId> polys,
                   bool timesFirst) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  RegionWriter writer(*f.algebra, builder, loc, accumulator);
  auto addArgument = [&](Type type) { return block->addArgument(RankedTensorType::get({}, type), loc); };
  for (std::optional<TermId> term : first) {
    Value argument = addArgument(accumulator);
    if (term)
      writer.terms[*term] = argument;
  }
  for (TermId extra : extras)
    writer.terms[extra] = addArgument(typeOf(f.algebra->getTerm(extra).tensor).getElementType());
  SmallVector<unsigned> positions(f.batch);
  positions.append({f.query, f.key});
  for (unsigned dim : positions)
    writer.positions[dim] = addArgument(builder.getI32Type());
  SmallVector<Value> results;
  for (PolyId poly : polys) {
    if (timesFirst) {
      // A term of its own, so that conditions mask the product.
      Term term{TermKind::Leaf};
      term.dim = 1;
      PolyId first = f.algebra->term(std::move(term));
      writer.terms[*f.algebra->singleTerm(first)] = block->getArgument(0);
      poly = f.algebra->multiply(poly, first);
    }
    results.push_back(writer.write(poly, accumulator));
  }
  spmd::YieldOp::create(builder, loc, results);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static IntegerAttr bandAttr(OpBuilder &builder, std::optional<int64_t> bound) {
  return bound ? builder.getI64IntegerAttr(*bound) : IntegerAttr();
}

spmd::AllPairsOp raise::emitForward(Forward &f, Replacements &replacements) {
  Emitter e(f, f.dot, replacements);
  Arranged query = e.arrange(f.queryRoot, {f.query, f.depth}), key = e.arrange(f.keyRoot, {f.key, f.depth}),
           value = e.arrange(f.valueRoot, {f.key, f.feature});
  SmallVector<TermId> extras;
  e.collectExtras(f.score, extras);
  e.collectExtras(f.weight, extras);
  SmallVector<Attribute> maps;
  auto addMap = [&](ArrayRef<unsigned> dims) { maps.push_back(AffineMapAttr::get(e.mapOf(dims))); };
  for (const Arranged &arranged : {query, key, value})
    addMap(arranged.dims);
  SmallVector<Value> extraValues;
  for (TermId id : extras) {
    const Term &term = f.algebra->getTerm(id);
    Arranged extra = e.arrange({term.tensor, term.tensorLayout}, {});
    extraValues.push_back(extra.value);
    addMap(extra.dims);
  }
  auto [type, dims] = e.resultType(f.output, f.outputLayout, {f.query, f.feature});
  addMap(dims);
  SmallVector<int64_t> rowShape;
  SmallVector<unsigned> rows = e.rows();
  for (unsigned dim : rows)
    rowShape.push_back(dim < kNoFeature ? f.reader->sizeOf(dim) : 1);
  addMap(rows);
  SmallVector<Type> types = {type, RankedTensorType::get(rowShape, e.accumulator)};
  auto op = spmd::AllPairsOp::create(e.builder, e.loc, types, spmd::PairCombine::Softmax, query.value, key.value, value.value,
                                     extraValues, e.builder.getArrayAttr(maps), bandAttr(e.builder, f.bandLower),
                                     bandAttr(e.builder, f.bandUpper));
  e.fill(op.getScore(), {f.raw}, extras, {f.score}, false);
  if (f.algebra->constantOf(f.weight) != 1.0)
    e.fill(op.getWeight(), {std::nullopt}, extras, {f.weight}, true);
  e.replace(f.output, op.getResult(0));
  return op;
}

Operation *raise::placeOf(const Backward &b) {
  Operation *first = nullptr;
  auto look = [&](Value value) {
    if (value && (!first || value.getDefiningOp()->isBeforeInBlock(first)))
      first = value.getDefiningOp();
  };
  for (Value value : {b.dquery, b.dkey, b.dvalue})
    look(value);
  for (const ExtraGradient &extra : b.extras)
    look(extra.value);
  return first;
}

void raise::emitBackward(Forward &f, Backward &b, spmd::AllPairsOp made, const Forward &makes, Replacements &replacements) {
  Emitter e(f, placeOf(b), replacements);
  OpBuilder &builder = e.builder;
  Location loc = e.loc;
  auto orElse = [](const Root &root, const Root &other) { return root.value ? root : other; };
  Arranged query = e.arrange(orElse(b.queryRoot, f.queryRoot), {f.query, f.depth}),
           key = e.arrange(orElse(b.keyRoot, f.keyRoot), {f.key, f.depth}),
           value = e.arrange(orElse(b.valueRoot, f.valueRoot), {f.key, f.feature});
  // The log-sum-exp lies as the forward op has its rows.
  SmallVector<unsigned> rows(makes.batch);
  rows.push_back(makes.query);
  SmallVector<unsigned> outDims(rows);
  outDims.push_back(f.feature);
  Arranged dout = e.arrange(b.dout, outDims);

  // delta = Σ_e dout out, row by row.
  auto toAccumulator = [&](Value v) -> Value {
    auto type = typeOf(v).clone(e.accumulator);
    return type == v.getType() ? v : Value(stablehlo::ConvertOp::create(builder, loc, type, v));
  };
  auto placesIn = [&](ArrayRef<unsigned> dims, ArrayRef<unsigned> wanted) {
    SmallVector<int64_t> places;
    for (unsigned dim : wanted)
      places.push_back(llvm::find(dims, dim) - dims.begin());
    return places;
  };
  auto self = cast<spmd::AllPairsOpInterface>(made.getOperation());
  SmallVector<unsigned> madeDims;
  {
    SmallVector<unsigned> order(makes.batch);
    order.append({makes.query, makes.key, makes.depth, makes.feature});
    for (AffineExpr expr : self.getResultMap(0).getResults())
      madeDims.push_back(order[cast<AffineDimExpr>(expr).getPosition()]);
  }
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      builder.getContext(), placesIn(dout.dims, rows), placesIn(madeDims, rows), placesIn(dout.dims, {f.feature}),
      placesIn(madeDims, {f.feature}));
  Value wideDout = toAccumulator(dout.value), wideOut = toAccumulator(made.getResult(0));
  Value delta = stablehlo::DotGeneralOp::create(builder, loc, made.getResult(1).getType(), wideDout, wideOut, numbers,
                                                ArrayAttr(), stablehlo::DotAlgorithmAttr());

  SmallVector<TermId> extras;
  PolyId slope = b.slope ? *b.slope : f.algebra->number(0);
  e.collectExtras(f.score, extras);
  e.collectExtras(f.weight, extras);
  e.collectExtras(slope, extras);
  for (const ExtraGradient &extra : b.extras)
    e.collectExtras(extra.slope, extras);
  SmallVector<Attribute> maps;
  auto addMap = [&](ArrayRef<unsigned> dims) { maps.push_back(AffineMapAttr::get(e.mapOf(dims))); };
  for (const Arranged &arranged : {query, key, value})
    addMap(arranged.dims);
  addMap(rows);
  addMap(rows);
  addMap(dout.dims);
  SmallVector<Value> extraValues;
  for (TermId id : extras) {
    const Term &term = f.algebra->getTerm(id);
    Arranged extra = e.arrange({term.tensor, term.tensorLayout}, {});
    extraValues.push_back(extra.value);
    addMap(extra.dims);
  }
  SmallVector<Type> types;
  auto addResult = [&](Value old, const Layout &layout, ArrayRef<unsigned> required, const Arranged &like) {
    if (!old) {
      types.push_back(like.value.getType());
      addMap(like.dims);
      return;
    }
    auto [type, dims] = e.resultType(old, layout, required);
    types.push_back(type);
    addMap(dims);
  };
  addResult(b.dquery, b.dqueryLayout, {f.query, f.depth}, query);
  addResult(b.dkey, b.dkeyLayout, {f.key, f.depth}, key);
  addResult(b.dvalue, b.dvalueLayout, {f.key, f.feature}, value);
  SmallVector<Type> extraTypes;
  SmallVector<PolyId> slopes = {slope};
  for (const ExtraGradient &extra : b.extras) {
    auto [type, dims] = e.resultType(extra.value, extra.layout, {});
    extraTypes.push_back(type);
    addMap(dims);
    slopes.push_back(extra.slope);
  }
  auto op = spmd::AttentionBackwardOp::create(builder, loc, types[0], types[1], types[2], extraTypes, query.value, key.value,
                                              value.value, made.getResult(1), delta, dout.value, extraValues,
                                              builder.getArrayAttr(maps), bandAttr(builder, f.bandLower),
                                              bandAttr(builder, f.bandUpper));
  e.fill(op.getScore(), {f.raw}, extras, {f.score}, false);
  if (f.algebra->constantOf(f.weight) != 1.0)
    e.fill(op.getWeight(), {std::nullopt}, extras, {f.weight}, true);
  e.fill(op.getSlope(), {std::nullopt, f.raw}, extras, slopes, true);
  if (b.dquery)
    e.replace(b.dquery, op.getDquery());
  if (b.dkey)
    e.replace(b.dkey, op.getDkey());
  if (b.dvalue)
    e.replace(b.dvalue, op.getDvalue());
  for (auto [extra, result] : llvm::zip(b.extras, op.getDextras()))
    e.replace(extra.value, result);
}

void raise::emitPairs(Pairs &pairs, Replacements &replacements) {
  bool isTopK = pairs.combine == spmd::PairCombine::TopK;
  Forward f;
  f.algebra = std::move(pairs.algebra);
  f.reader = std::move(pairs.reader);
  f.batch = pairs.batch;
  f.query = pairs.query;
  f.key = pairs.key;
  f.depth = kDepth;
  f.feature = isTopK ? kFirstFeature : kNoFeature;
  f.queryRoot = pairs.queryRoot;
  f.keyRoot = pairs.keyRoot;
  f.raw = pairs.raw;
  if (isTopK)
    f.reader->setSize(kFirstFeature, pairs.count);
  Operation *place = pairs.op;
  Emitter e(f, place, replacements);
  PolyId score = pairs.isNegated ? f.algebra->scale(pairs.score, -1) : pairs.score;
  Arranged query = e.arrange(f.queryRoot, {}), key = e.arrange(f.keyRoot, {});
  SmallVector<TermId> extras;
  e.collectExtras(score, extras);
  SmallVector<Attribute> maps;
  auto addMap = [&](ArrayRef<unsigned> dims) { maps.push_back(AffineMapAttr::get(e.mapOf(dims))); };
  addMap(query.dims);
  addMap(key.dims);
  SmallVector<Value> extraValues;
  for (TermId id : extras) {
    const Term &term = f.algebra->getTerm(id);
    Arranged extra = e.arrange({term.tensor, term.tensorLayout}, {});
    extraValues.push_back(extra.value);
    addMap(extra.dims);
  }
  Layout layout = pairs.rows;
  if (isTopK)
    layout.push_back({kFirstFeature});
  auto [type, dims] = e.resultType(pairs.outputs[0], layout, {f.query});
  Type element = type.getElementType();
  SmallVector<Type> types = {type.clone(isa<FloatType>(element) ? element : Type(e.accumulator))};
  addMap(dims);
  if (isTopK) {
    types.push_back(type.clone(e.builder.getI32Type()));
    addMap(dims);
  }
  auto op = spmd::AllPairsOp::create(e.builder, e.loc, types, pairs.combine, query.value, key.value, Value(), extraValues,
                                     e.builder.getArrayAttr(maps), IntegerAttr(), IntegerAttr());
  e.fill(op.getScore(), {f.raw}, extras, {score}, false);
  if (pairs.elements) {
    OpBuilder::InsertionGuard guard(e.builder);
    auto scalar = RankedTensorType::get({}, e.accumulator);
    Block *block = e.builder.createBlock(&op.getPair(), {}, {scalar, scalar}, {e.loc, e.loc});
    RegionWriter writer(*f.algebra, e.builder, e.loc, e.accumulator);
    writer.terms[pairs.elements->first] = block->getArgument(0);
    writer.terms[pairs.elements->second] = block->getArgument(1);
    Value sum = writer.write(f.algebra->getTerm(f.raw).arguments[0], e.accumulator);
    spmd::YieldOp::create(e.builder, e.loc, sum);
  }
  Value values = op.getResult(0);
  if (pairs.isNegated)
    values = stablehlo::NegOp::create(e.builder, e.loc, values.getType(), values);
  if (values.getType() != type)
    values = stablehlo::ConvertOp::create(e.builder, e.loc, type, values);
  e.replace(pairs.outputs[0], values);
  if (pairs.outputs.size() == 2)
    e.replace(pairs.outputs[1], op.getResult(1));
}
