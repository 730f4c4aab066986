//===- Emit.cpp - Ops on all pairs from what was matched ------------------===//
#include "Emit.h"
#include "Writer.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

namespace {
/// A tensor with one iteration dim for each of its dims.
struct Arranged {
  Value value;
  SmallVector<unsigned> dims;
};

/// Builds one op from a match, operand by operand, then result by result.
class Emitter {
public:
  Emitter(Forward &forward, Operation *place, Replacements &replacements)
      : f(forward), builder(place), loc(place->getLoc()),
        replacements(replacements) {
    bool isDouble = typeOf(f.queryRoot.value).getElementType().isF64();
    accumulator = isDouble ? FloatType(builder.getF64Type())
                           : FloatType(builder.getF32Type());
    SmallVector<unsigned> order = f.dims();
    for (auto [i, dim] : llvm::enumerate(order))
      numbers[dim] = i;
  }

  /// `root`, reshaped so that each dim is one of `f`; `required` dims that it
  /// lacks are repeated.
  Arranged arrange(const Root &root, ArrayRef<unsigned> required);
  /// The queries, or keys, of all products of `f`, one behind the other along
  /// depth; `first` are those of the raw score.
  Arranged arrangeAll(const Root &first, bool ofQueries);
  /// `arranged` along `dims`: transposed, and repeated along those it lacks.
  Value spread(const Arranged &arranged, ArrayRef<unsigned> dims);
  Value convert(Value value, Type element) {
    auto type = typeOf(value).clone(element);
    return type == value.getType()
               ? value
               : Value(stablehlo::ConvertOp::create(builder, loc, type, value));
  }
  SmallVector<unsigned> rows() { return f.rows(); }
  SmallVector<int64_t> shapeOf(ArrayRef<unsigned> dims) {
    return llvm::map_to_vector(dims, [&](unsigned dim) {
      return dim < kNoFeature ? f.reader->sizeOf(dim) : 1;
    });
  }

  /// `ratio` times the elements [begin, begin + size) of the depth of `whole`,
  /// its last dim, along `dims`: summed over those that it has besides.
  Value takePart(const Arranged &whole, int64_t begin, int64_t size,
                 double ratio, ArrayRef<unsigned> dims);
  /// The next operand.
  Value add(const Arranged &operand) {
    addMap(operand.dims);
    return operand.value;
  }
  Value add(const Root &root, ArrayRef<unsigned> required) {
    return add(arrange(root, required));
  }
  /// The tensors that `polys` read besides raw scores, as the next operands.
  void addExtras(ArrayRef<PolyId> polys);
  /// The type of the next result, which replaces `like`, and its dims.
  std::pair<RankedTensorType, SmallVector<unsigned>>
  addResult(Value like, const Layout &layout, ArrayRef<unsigned> required);
  /// The type of the next result, a number of each row.
  RankedTensorType addRows() {
    addMap(rows());
    return RankedTensorType::get(shapeOf(rows()), accumulator);
  }
  void addMap(ArrayRef<unsigned> dims);
  ArrayAttr mapsAttr() { return builder.getArrayAttr(maps); }
  IntegerAttr bandAttr(std::optional<int64_t> bound) {
    return bound ? builder.getI64IntegerAttr(*bound) : IntegerAttr();
  }

  /// Fills `region`: its first arguments are `first`, and it yields `polys`,
  /// each times the first argument where `timesFirst`.
  void fill(Region &region, ArrayRef<std::optional<TermId>> first,
            ArrayRef<PolyId> polys, bool timesFirst);
  void fillScore(Region &score, PolyId poly) {
    fill(score, {f.raw}, {poly}, false);
  }
  void fillWeight(Region &weight) {
    if (f.algebra->constantOf(f.weight) != 1.0)
      fill(weight, {std::nullopt}, {f.weight}, true);
  }

  /// exp(max) times `factor`, of each row: what sums of exp(score - max) lack.
  Arranged rowFactor(const Monomial &factor, spmd::AllPairsOp op);
  /// `poly`, the same all along a row, as a tensor of rows.
  Value writeRows(PolyId poly) {
    Writer writer(*f.algebra, builder, loc, accumulator, shapeOf(rows()));
    provide(poly, writer);
    return writer.write(poly, accumulator);
  }
  void replace(Value old, Value result);

  Forward &f;
  OpBuilder builder;
  Location loc;
  FloatType accumulator;
  Replacements &replacements;
  SmallVector<Value> extras;

private:
  void collectExtras(PolyId poly);
  /// Passes `writer` the places of the terms of `poly`.
  void provide(PolyId poly, Writer &writer) {
    llvm::DenseSet<TermId> seen;
    provide(poly, writer, seen);
  }
  void provide(PolyId poly, Writer &writer, llvm::DenseSet<TermId> &seen);

  llvm::DenseMap<unsigned, unsigned> numbers;
  SmallVector<Attribute> maps;
  SmallVector<TermId> extraTerms;
  llvm::DenseSet<TermId> collected; ///< seen by collectExtras
};
} // namespace

void Emitter::addMap(ArrayRef<unsigned> dims) {
  SmallVector<AffineExpr> exprs;
  for (unsigned dim : dims)
    exprs.push_back(builder.getAffineDimExpr(numbers.lookup(dim)));
  maps.push_back(AffineMapAttr::get(
      AffineMap::get(numbers.size(), 0, exprs, builder.getContext())));
}

std::pair<RankedTensorType, SmallVector<unsigned>>
Emitter::addResult(Value like, const Layout &layout,
                   ArrayRef<unsigned> required) {
  SmallVector<unsigned> dims = flatten(layout);
  SmallVector<int64_t> shape;
  for (unsigned dim : required)
    if (!llvm::is_contained(dims, dim))
      dims.push_back(dim);
  // Extents as the tensor has them: numbers of depth dims are used again.
  for (auto [i, parts] : llvm::enumerate(layout))
    for (unsigned part : parts)
      shape.push_back(parts.size() == 1 ? typeOf(like).getDimSize(i)
                                        : f.reader->sizeOf(part));
  shape.resize(dims.size(), 1);
  addMap(dims);
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
      shape.push_back(parts.size() == 1 ? typeOf(root.value).getDimSize(i)
                                        : f.reader->sizeOf(part));
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
    result.value =
        stablehlo::ReshapeOp::create(builder, loc, type, result.value);
  if (repeated.empty())
    return result;
  SmallVector<int64_t> places;
  for (size_t i = 0; i < shape.size(); ++i)
    places.push_back(i);
  for (unsigned dim : repeated) {
    result.dims.push_back(dim);
    shape.push_back(f.reader->sizeOf(dim));
  }
  result.value = stablehlo::BroadcastInDimOp::create(
      builder, loc, type.clone(shape), result.value,
      builder.getDenseI64ArrayAttr(places));
  return result;
}

Arranged Emitter::arrangeAll(const Root &first, bool ofQueries) {
  SmallVector<unsigned> required{ofQueries ? f.query : f.key, f.depth};
  Arranged all = arrange(first, required);
  if (f.more.empty())
    return all;
  SmallVector<Arranged> parts{all};
  for (const MoreProducts &part : f.more) {
    Arranged &next = parts.emplace_back(
        arrange(ofQueries ? part.query : part.key, required));
    if (ofQueries && part.ratio != 1) {
      auto type = typeOf(next.value);
      auto ratio = DenseElementsAttr::get(
          type, builder.getFloatAttr(type.getElementType(), part.ratio));
      Value factor = stablehlo::ConstantOp::create(
          builder, loc, cast<ElementsAttr>(Attribute(ratio)));
      next.value =
          stablehlo::MulOp::create(builder, loc, type, next.value, factor);
    }
  }
  // In the order of the one with most dims: the others are broadcast like
  // it.
  all.dims = llvm::max_element(parts, [](const Arranged &a, const Arranged &b) {
               return a.dims.size() < b.dims.size();
             })->dims;
  llvm::erase(all.dims, f.depth);
  for (const Arranged &part : parts)
    for (unsigned dim : part.dims)
      if (dim != f.depth && !llvm::is_contained(all.dims, dim))
        all.dims.push_back(dim);
  all.dims.push_back(f.depth);
  SmallVector<Value> values;
  int64_t depth = 0;
  for (const Arranged &part : parts) {
    int64_t size =
        typeOf(part.value)
            .getDimSize(llvm::find(part.dims, f.depth) - part.dims.begin());
    depth += size;
    values.push_back(spread(part, all.dims));
  }
  f.reader->setSize(f.depth, depth);
  SmallVector<int64_t> shape(typeOf(values.front()).getShape());
  shape.back() = depth;
  all.value = stablehlo::ConcatenateOp::create(
      builder, loc, typeOf(values.front()).clone(shape), values,
      shape.size() - 1);
  return all;
}

Value Emitter::spread(const Arranged &arranged, ArrayRef<unsigned> dims) {
  SmallVector<int64_t> order, places, shape;
  for (auto [place, dim] : llvm::enumerate(dims)) {
    auto it = llvm::find(arranged.dims, dim);
    if (it == arranged.dims.end())
      continue;
    order.push_back(it - arranged.dims.begin());
    places.push_back(place);
    shape.push_back(typeOf(arranged.value).getDimSize(order.back()));
  }
  auto type = typeOf(arranged.value).clone(shape);
  Value value = arranged.value;
  if (!llvm::is_sorted(order))
    value = stablehlo::TransposeOp::create(builder, loc, type, value,
                                           builder.getDenseI64ArrayAttr(order));
  if (places.size() == dims.size())
    return value;
  SmallVector<int64_t> whole = shapeOf(dims);
  for (auto [place, size] : llvm::zip_equal(places, shape))
    whole[place] = size;
  return stablehlo::BroadcastInDimOp::create(
      builder, loc, type.clone(whole), value,
      builder.getDenseI64ArrayAttr(places));
}

Value Emitter::takePart(const Arranged &whole, int64_t begin, int64_t size,
                        double ratio, ArrayRef<unsigned> dims) {
  auto type = typeOf(whole.value);
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()),
      strides(type.getRank(), 1), shape(type.getShape());
  starts.back() = begin;
  limits.back() = begin + size;
  shape.back() = size;
  Arranged part{stablehlo::SliceOp::create(builder, loc, type.clone(shape),
                                           whole.value, starts, limits,
                                           strides),
                {}};
  SmallVector<int64_t> gone, left;
  for (auto [i, dim] : llvm::enumerate(whole.dims)) {
    if (llvm::is_contained(dims, dim)) {
      part.dims.push_back(dim);
      left.push_back(shape[i]);
    } else {
      gone.push_back(i);
    }
  }
  auto scalar = RankedTensorType::get({}, type.getElementType());
  if (!gone.empty()) {
    auto zero = DenseElementsAttr::get(
        scalar,
        ArrayRef<Attribute>(builder.getFloatAttr(type.getElementType(), 0)));
    Value start = stablehlo::ConstantOp::create(
        builder, loc, cast<ElementsAttr>(Attribute(zero)));
    auto sum = stablehlo::ReduceOp::create(
        builder, loc, TypeRange{type.clone(left)}, ValueRange{part.value},
        ValueRange{start}, builder.getDenseI64ArrayAttr(gone));
    OpBuilder::InsertionGuard guard(builder);
    Block *body =
        builder.createBlock(&sum.getBody(), {}, {scalar, scalar}, {loc, loc});
    Value added = stablehlo::AddOp::create(
        builder, loc, scalar, body->getArgument(0), body->getArgument(1));
    stablehlo::ReturnOp::create(builder, loc, added);
    part.value = sum->getResult(0);
  }
  SmallVector<unsigned> order = llvm::filter_to_vector(
      dims, [&](unsigned dim) { return llvm::is_contained(part.dims, dim); });
  Value result = spread(part, order);
  if (ratio == 1)
    return result;
  auto factors = DenseElementsAttr::get(
      typeOf(result), builder.getFloatAttr(type.getElementType(), ratio));
  Value factor = stablehlo::ConstantOp::create(
      builder, loc, cast<ElementsAttr>(Attribute(factors)));
  return stablehlo::MulOp::create(builder, loc, result.getType(), result,
                                  factor);
}

void Emitter::replace(Value old, Value result) {
  result = convert(result, typeOf(old).getElementType());
  if (old.getType() != result.getType())
    result = stablehlo::ReshapeOp::create(builder, loc, old.getType(), result);
  old.replaceAllUsesWith(result);
  replacements[old] = result;
}

/// True if `term` is read as an element of its tensor.
static bool isTensor(const Term &term) {
  return term.kind == TermKind::Leaf || term.kind == TermKind::Dot ||
         term.kind == TermKind::SumOverKey || term.kind == TermKind::MaxOverKey;
}

void Emitter::collectExtras(PolyId poly) {
  for (const Monomial &monomial : f.algebra->get(poly))
    for (auto [id, power] : monomial.factors) {
      const Term &term = f.algebra->getTerm(id);
      if (f.isRaw(id) || !collected.insert(id).second)
        continue;
      if (isTensor(term))
        extraTerms.push_back(id);
      else
        for (PolyId argument : term.arguments)
          collectExtras(argument);
    }
}

void Emitter::addExtras(ArrayRef<PolyId> polys) {
  for (PolyId poly : polys)
    collectExtras(poly);
  for (TermId id : extraTerms) {
    const Term &term = f.algebra->getTerm(id);
    extras.push_back(add({term.tensor, term.tensorLayout}, {}));
  }
}

void Emitter::fill(Region &region, ArrayRef<std::optional<TermId>> first,
                   ArrayRef<PolyId> polys, bool timesFirst) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  Writer writer(*f.algebra, builder, loc, accumulator);
  auto addArgument = [&](Type type) {
    return block->addArgument(RankedTensorType::get({}, type), loc);
  };
  for (std::optional<TermId> term : first) {
    Value argument = addArgument(accumulator);
    if (term)
      writer.terms[*term] = argument;
  }
  for (const MoreProducts &part : f.more)
    writer.contained.push_back(part.raw);
  for (TermId extra : extraTerms)
    writer.terms[extra] =
        addArgument(typeOf(f.algebra->getTerm(extra).tensor).getElementType());
  SmallVector<unsigned> positions = rows();
  positions.push_back(f.key);
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

void Emitter::provide(PolyId poly, Writer &writer,
                      llvm::DenseSet<TermId> &seen) {
  SmallVector<TermId> terms;
  for (const Monomial &monomial : f.algebra->get(poly))
    for (auto [id, power] : monomial.factors)
      terms.push_back(id);
  for (TermId id : terms) {
    const Term &term = f.algebra->getTerm(id);
    if (id == f.sum || !seen.insert(id).second)
      continue;
    if (term.tensor)
      writer.terms[id] =
          spread(arrange({term.tensor, term.tensorLayout}, {}), rows());
    else
      for (PolyId argument : term.arguments)
        provide(argument, writer, seen);
  }
}

Arranged Emitter::rowFactor(const Monomial &factor, spmd::AllPairsOp op) {
  Algebra &algebra = *f.algebra;
  Writer writer(algebra, builder, loc, accumulator, shapeOf(rows()));
  auto known = [&](unsigned number, Value value) {
    Term term{TermKind::Leaf};
    term.dim = number;
    TermId id = *algebra.singleTerm(algebra.term(std::move(term)));
    writer.terms[id] = value;
    return id;
  };
  writer.rowSum = {f.sum, known(2, op.getResult(2)), known(3, op.getResult(1))};
  provide(algebra.intern({factor}), writer);
  PolyId whole =
      algebra.multiply(algebra.intern({factor}),
                       algebra.exponential(algebra.ofTerm(writer.rowSum->max)));
  return {writer.write(whole, accumulator), rows()};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

spmd::AllPairsOp raise::emitForward(Forward &f, Replacements &replacements) {
  Emitter e(f, placeOf(f), replacements);
  Value query = e.add(e.arrangeAll(f.queryRoot, /*ofQueries=*/true)),
        key = e.add(e.arrangeAll(f.keyRoot, /*ofQueries=*/false)),
        value = e.add(f.valueRoot, {f.key, f.feature});
  e.addExtras({f.opScore, f.weight});
  auto [type, dims] =
      e.addResult(f.output, f.outputLayout, {f.query, f.feature});
  if (f.isOpen)
    type = type.clone(e.accumulator);
  RankedTensorType rowType = e.addRows();
  e.addRows();
  SmallVector<Type> types = {type, rowType, rowType};
  auto op = spmd::AllPairsOp::create(
      e.builder, e.loc, types, spmd::PairCombine::Softmax, f.isOpen, query, key,
      value, e.extras, e.mapsAttr(), e.bandAttr(f.bandLower),
      e.bandAttr(f.bandUpper),
      /*query_order=*/{}, /*key_order=*/{}, /*query_formula=*/{},
      /*key_formula=*/{});
  e.fillScore(op.getScore(), f.opScore);
  e.fillWeight(op.getWeight());
  for (const RowOutput &row : f.rowOutputs) {
    e.builder.setInsertionPoint(row.value.getDefiningOp());
    Arranged result{op.getResult(row.isMax ? 1 : 2), f.rows()};
    if (!row.isMax) {
      Arranged factor = e.rowFactor(row.factor, op);
      result.value = stablehlo::MulOp::create(e.builder, e.loc, rowType,
                                              result.value, factor.value);
    }
    if (row.least) {
      Writer writer(*f.algebra, e.builder, e.loc, e.accumulator,
                    rowType.getShape());
      Value least = writer.write(f.algebra->number(*row.least), e.accumulator);
      result.value = writer.binary<stablehlo::MaxOp>(result.value, least);
    }
    SmallVector<unsigned> order = flatten(row.layout);
    for (unsigned dim : f.rows())
      if (!llvm::is_contained(order, dim))
        order.push_back(dim);
    e.replace(row.value, e.spread(result, order));
  }
  Value out = op.getResult(0);
  if (f.isOpen) {
    e.builder.setInsertionPoint(f.output.getDefiningOp());
    Value factor = e.spread(e.rowFactor(f.factor, op), dims);
    out = stablehlo::MulOp::create(e.builder, e.loc, type, out, factor);
  }
  if (f.emptyIsZero) {
    auto outType = typeOf(out);
    Writer rows(*f.algebra, e.builder, e.loc, e.accumulator,
                rowType.getShape());
    Value none = rows.write(f.algebra->number(0), e.accumulator);
    Value isEmpty =
        stablehlo::CompareOp::create(e.builder, e.loc, op.getResult(2), none,
                                     stablehlo::ComparisonDirection::EQ);
    auto zero = DenseElementsAttr::get(
        outType, e.builder.getFloatAttr(outType.getElementType(), 0));
    Value zeros = stablehlo::ConstantOp::create(
        e.builder, e.loc, cast<ElementsAttr>(Attribute(zero)));
    out = stablehlo::SelectOp::create(e.builder, e.loc, outType,
                                      e.spread({isEmpty, f.rows()}, dims),
                                      zeros, out);
  }
  e.replace(f.output, out);
  return op;
}

static void keepFirst(Operation *&first, Value value) {
  if (value && (!first || value.getDefiningOp()->isBeforeInBlock(first)))
    first = value.getDefiningOp();
}

Operation *raise::placeOf(const Forward &f) {
  Operation *first = f.dot;
  for (const RowOutput &row : f.rowOutputs)
    keepFirst(first, row.value);
  return first;
}

Operation *raise::placeOf(const Backward &b) {
  Operation *first = nullptr;
  for (Value value : b.replaced())
    keepFirst(first, value);
  return first;
}

/// Rows of a gradient: what scores are shifted by, what each loses of dp, and
/// the cotangent over what p is divided by.
namespace {
struct GradientRows {
  SmallVector<unsigned> dims;
  Value max, delta;
  Arranged dout;
};
} // namespace

/// The extent of the depth of `root`.
static int64_t depthOf(const Forward &f, const Root &root) {
  for (auto [i, parts] : llvm::enumerate(root.layout))
    if (llvm::is_contained(parts, f.depth))
      return typeOf(root.value).getDimSize(i);
  return 1;
}

/// Makes the op of `b`, and replaces what it gives.
static void emitGradient(Emitter &e, Backward &b, const GradientRows &rows) {
  Forward &f = e.f;
  auto orElse = [](const Root &root, const Root &other) {
    return root.value ? root : other;
  };
  Arranged query = e.arrangeAll(orElse(b.queryRoot, f.queryRoot),
                                /*ofQueries=*/true),
           key =
               e.arrangeAll(orElse(b.keyRoot, f.keyRoot), /*ofQueries=*/false),
           value =
               e.arrange(orElse(b.valueRoot, f.valueRoot), {f.key, f.feature});
  SmallVector<PolyId> slopes = {b.slope ? *b.slope : f.algebra->number(0)};
  // Nothing comes back to what is masked with -inf, also in rows that are NaN
  // because all of it is.
  for (TermId condition : f.algebra->conditionsOf(f.exp).implied)
    slopes.front() =
        f.algebra->multiply(slopes.front(), f.algebra->ofTerm(condition));
  for (const ExtraGradient &extra : b.extras)
    slopes.push_back(extra.slope);
  for (const Arranged *operand : {&query, &key, &value})
    e.add(*operand);
  e.addMap(rows.dims);
  e.addMap(rows.dims);
  e.add(rows.dout);
  SmallVector<PolyId> read = {f.score, f.weight};
  llvm::append_range(read, slopes);
  e.addExtras(read);
  SmallVector<Type> types, extraTypes;
  auto addResult = [&](Value old, const Layout &layout,
                       ArrayRef<unsigned> required, const Arranged &like) {
    types.push_back(old ? e.addResult(old, layout, required).first
                        : typeOf(like.value));
    if (!old)
      e.addMap(like.dims);
  };
  // Those of several products are split afterwards.
  bool isOne = f.more.empty();
  addResult(isOne ? b.dquery : Value(), b.dqueryLayout, {f.query, f.depth},
            query);
  addResult(isOne ? b.dkey : Value(), b.dkeyLayout, {f.key, f.depth}, key);
  for (unsigned i = 0; !isOne && i < 2; ++i)
    types[i] = cast<RankedTensorType>(types[i]).clone(e.accumulator);
  addResult(b.dvalue, b.dvalueLayout, {f.key, f.feature}, value);
  for (const ExtraGradient &extra : b.extras)
    extraTypes.push_back(e.addResult(extra.value, extra.layout, {}).first);
  auto op = spmd::AttentionBackwardOp::create(
      e.builder, e.loc, types[0], types[1], types[2], extraTypes, query.value,
      key.value, value.value, rows.max, rows.delta, rows.dout.value, e.extras,
      e.mapsAttr(), e.bandAttr(f.bandLower), e.bandAttr(f.bandUpper),
      /*query_order=*/ArrayRef<int64_t>(), /*key_order=*/ArrayRef<int64_t>(),
      /*query_formula=*/{},
      /*key_formula=*/{});
  e.fillScore(op.getScore(), f.score);
  e.fillWeight(op.getWeight());
  e.fill(op.getSlope(), {std::nullopt, f.raw}, slopes, true);
  if (isOne) {
    for (auto [old, result] :
         {std::pair<Value, Value>(b.dquery, op.getDquery()),
          {b.dkey, op.getDkey()}})
      if (old)
        e.replace(old, result);
  } else {
    int64_t begin = 0;
    auto give = [&](const Root &queryRoot, double ratio, Value dquery,
                    const Layout &dqueryLayout, Value dkey,
                    const Layout &dkeyLayout) {
      int64_t size = depthOf(f, queryRoot);
      if (dquery)
        e.replace(dquery, e.takePart({op.getDquery(), query.dims}, begin, size,
                                     ratio, flatten(dqueryLayout)));
      if (dkey)
        e.replace(dkey, e.takePart({op.getDkey(), key.dims}, begin, size, 1,
                                   flatten(dkeyLayout)));
      begin += size;
    };
    give(f.queryRoot, 1, b.dquery, b.dqueryLayout, b.dkey, b.dkeyLayout);
    for (auto [part, gradients] : llvm::zip_equal(f.more, b.more))
      give(part.query, part.ratio, gradients.dquery, gradients.dqueryLayout,
           gradients.dkey, gradients.dkeyLayout);
  }
  if (b.dvalue)
    e.replace(b.dvalue, op.getDvalue());
  for (auto [extra, result] : llvm::zip(b.extras, op.getDextras()))
    e.replace(extra.value, result);
}

void raise::emitBackward(Forward &f, Backward &b, spmd::AllPairsOp made,
                         const Forward &makes, Replacements &replacements) {
  Emitter e(f, placeOf(b), replacements);
  // Rows and output have the forward op's layout.
  GradientRows rows{makes.rows(), made.getResult(1), Value(), {}};
  Value wideOut = e.convert(made.getResult(0), e.accumulator);
  /// `value`, which has the dims `dims`, or zero where a row has no key.
  auto orZero = [&](Value value, ArrayRef<unsigned> dims) {
    Value sums = e.spread({made.getResult(2), rows.dims}, dims);
    Writer whole(*f.algebra, e.builder, e.loc, e.accumulator,
                 typeOf(sums).getShape());
    Value zeros = whole.write(f.algebra->number(0), e.accumulator);
    Value isEmpty = stablehlo::CompareOp::create(
        e.builder, e.loc, sums, zeros, stablehlo::ComparisonDirection::EQ);
    return stablehlo::SelectOp::create(e.builder, e.loc, sums.getType(),
                                       isEmpty, zeros, value);
  };
  SmallVector<unsigned> outDims(rows.dims), madeOrder = makes.dims(), madeDims;
  outDims.push_back(f.feature);
  rows.dout = e.arrange(b.dout, outDims);
  for (AffineExpr expr : cast<spmd::AllPairsOpInterface>(made.getOperation())
                             .getResultMap(0)
                             .getResults())
    madeDims.push_back(madeOrder[cast<AffineDimExpr>(expr).getPosition()]);

  // The cotangent over the sum of its row, and delta = Σ_e of it times out.
  rows.dout.value = e.convert(rows.dout.value, e.accumulator);
  Value sums = e.spread({made.getResult(2), rows.dims}, rows.dout.dims);
  Value quotient = stablehlo::DivOp::create(e.builder, e.loc, sums.getType(),
                                            rows.dout.value, sums);
  if (f.emptyIsZero) {
    quotient = orZero(quotient, rows.dout.dims);
    rows.max = orZero(rows.max, rows.dims);
    wideOut = orZero(wideOut, madeDims);
  }
  rows.dout.value = quotient;
  auto placesIn = [&](ArrayRef<unsigned> dims, ArrayRef<unsigned> wanted) {
    return llvm::map_to_vector(wanted, [&](unsigned dim) {
      return int64_t(llvm::find(dims, dim) - dims.begin());
    });
  };
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      e.builder.getContext(), placesIn(rows.dout.dims, rows.dims),
      placesIn(madeDims, rows.dims), placesIn(rows.dout.dims, {f.feature}),
      placesIn(madeDims, {f.feature}));
  rows.delta = stablehlo::DotGeneralOp::create(
      e.builder, e.loc, made.getResult(1).getType(), rows.dout.value, wideOut,
      numbers, ArrayAttr(), stablehlo::DotAlgorithmAttr());
  emitGradient(e, b, rows);
}

void raise::emitOpenBackward(Forward &f, Backward &b,
                             Replacements &replacements) {
  Emitter e(f, placeOf(b), replacements);
  Algebra &algebra = *f.algebra;
  // p = exp(score - max) * others: `others` go to the cotangent and to delta.
  PolyId exponent = algebra.number(0);
  Monomial others{b.row.coefficient, {}};
  for (auto [id, power] : b.row.factors) {
    if (algebra.getTerm(id).kind == TermKind::Exp)
      exponent = algebra.add(exponent, algebra.getTerm(id).arguments[0], power);
    else
      others = algebra.times(std::move(others), id, power);
  }
  GradientRows rows{
      f.rows(),
      e.writeRows(algebra.scale(exponent, -1)),
      e.writeRows(algebra.multiply(b.delta, algebra.intern({others}))),
      {}};
  SmallVector<unsigned> outDims(rows.dims);
  outDims.push_back(f.feature);
  rows.dout = e.arrange(b.dout, outDims);
  if (others.coefficient != 1 || !others.factors.empty()) {
    rows.dout.value = e.convert(rows.dout.value, e.accumulator);
    Value factor = e.spread({e.writeRows(algebra.intern({others})), rows.dims},
                            rows.dout.dims);
    rows.dout.value = stablehlo::MulOp::create(
        e.builder, e.loc, factor.getType(), rows.dout.value, factor);
  }
  emitGradient(e, b, rows);
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
  f.feature = isTopK ? kFirstFeature : pairs.feature;
  f.queryRoot = pairs.queryRoot;
  f.keyRoot = pairs.keyRoot;
  f.raw = pairs.raw;
  if (isTopK)
    f.reader->setSize(kFirstFeature, pairs.count);
  Emitter e(f, pairs.op, replacements);
  PolyId score =
      pairs.isNegated ? f.algebra->scale(pairs.score, -1) : pairs.score;
  Value query = e.add(f.queryRoot, {}), key = e.add(f.keyRoot, {}), value;
  SmallVector<unsigned> required{f.query};
  if (pairs.value.value) {
    value = e.add(pairs.value, {f.key, f.feature});
    required.push_back(f.feature);
  }
  e.addExtras({score});
  Layout layout = pairs.rows;
  if (isTopK)
    layout.push_back({kFirstFeature});
  auto [type, dims] = e.addResult(pairs.outputs[0], layout, required);
  Type element = type.getElementType();
  SmallVector<Type> types = {
      type.clone(isa<FloatType>(element) ? element : Type(e.accumulator))};
  if (isTopK) {
    types.push_back(type.clone(e.builder.getI32Type()));
    e.addMap(dims);
  }
  auto op = spmd::AllPairsOp::create(
      e.builder, e.loc, types, pairs.combine, false, query, key, value,
      e.extras, e.mapsAttr(), IntegerAttr(), IntegerAttr(),
      /*query_order=*/{}, /*key_order=*/{}, /*query_formula=*/{},
      /*key_formula=*/{});
  e.fillScore(op.getScore(), score);
  if (pairs.elements) {
    OpBuilder::InsertionGuard guard(e.builder);
    auto scalar = RankedTensorType::get({}, e.accumulator);
    Block *block = e.builder.createBlock(&op.getPair(), {}, {scalar, scalar},
                                         {e.loc, e.loc});
    Writer writer(*f.algebra, e.builder, e.loc, e.accumulator);
    writer.terms[pairs.elements->first] = block->getArgument(0);
    writer.terms[pairs.elements->second] = block->getArgument(1);
    Value sum =
        writer.write(f.algebra->getTerm(f.raw).arguments[0], e.accumulator);
    spmd::YieldOp::create(e.builder, e.loc, sum);
  }
  Value values = op.getResult(0);
  if (pairs.isNegated)
    values =
        stablehlo::NegOp::create(e.builder, e.loc, values.getType(), values);
  e.replace(pairs.outputs[0], values);
  if (pairs.outputs.size() == 2)
    e.replace(pairs.outputs[1], op.getResult(1));
}
