//===- ExpandEigenvalues.cpp - LAPACK's calls for matrices of any kind ----===//
//
// A matrix becomes Hessenberg's, then Schur's form; eigenvectors are those of a
// triangular matrix, rotated back. Of a real matrix Schur's form has blocks for
// pairs of eigenvalues, from which these are read, so that they are conjugates;
// its vectors come from a complex form that keeps the blocks where they are.
//
//===----------------------------------------------------------------------===//
#include "LinearAlgebraCall.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using stablehlo::CustomCallOp;

/// Sizes of `value` from first to last along the last `dims` dims.
static Value reversed(Ops &ops, Value value, ArrayRef<int64_t> fromEnd) {
  int64_t rank = Ops::typeOf(value).getRank();
  SmallVector<int64_t> dims =
      llvm::map_to_vector(fromEnd, [&](int64_t dim) { return rank - dim; });
  llvm::sort(dims);
  return stablehlo::ReverseOp::create(ops.b, value.getType(), value, dims);
}

/// Elements `offset` below the diagonal of square matrices (negative: above),
/// from the first row that has one on; zeros behind, so that there is one for
/// each row.
static Value diagonalOf(Ops &ops, Value matrices, int64_t offset) {
  RankedTensorType type = Ops::typeOf(matrices);
  int64_t rank = type.getRank();
  auto numbers = type.clone(ops.b.getI32Type());
  Value row = ops.iota(numbers, rank - 2), column = ops.iota(numbers, rank - 1);
  Value shifted =
      ops.op<stablehlo::AddOp>(column, ops.splat(numbers, double(offset)));
  Value here = ops.compare("EQ", row, shifted);
  Value kept = ops.select(here, matrices, ops.splat(type, 0));
  // Below: by column; above: by row.
  return ops.reduce<stablehlo::AddOp>(kept, 0,
                                      {offset >= 0 ? rank - 2 : rank - 1});
}

static Value complexOf(Ops &ops, Value re, Value im) {
  auto type =
      Ops::withElement(re, ComplexType::get(Ops::typeOf(re).getElementType()));
  return stablehlo::ComplexOp::create(ops.b, type, re, im);
}

static Value zerosLike(Ops &ops, Value value) {
  return ops.splat(Ops::typeOf(value), 0);
}

/// Where row >= column + offset.
static Value isBelow(Ops &ops, RankedTensorType type, int64_t offset) {
  auto numbers = type.clone(ops.b.getI32Type());
  int64_t rank = type.getRank();
  Value column = ops.op<stablehlo::AddOp>(ops.iota(numbers, rank - 1),
                                          ops.splat(numbers, double(offset)));
  return ops.compare("GE", ops.iota(numbers, rank - 2), column);
}

/// The product of the reflectors that solver.hessenberg left: one before, and
/// columns one further left.
static Value reflectorsOf(Ops &ops, Value packed, Value taus) {
  RankedTensorType type = Ops::typeOf(packed);
  int64_t rank = type.getRank(), n = type.getShape().back();
  auto numbers = type.clone(ops.b.getI32Type());
  Value isDiagonal = ops.compare("EQ", ops.iota(numbers, rank - 2),
                                 ops.iota(numbers, rank - 1));
  Value identity =
      ops.select(isDiagonal, ops.splat(type, 1), ops.splat(type, 0));
  if (n < 2)
    return identity;
  SmallVector<int64_t> low(rank, 0), high(type.getShape()), ones(rank, 1);
  low[rank - 2] = 1;
  high[rank - 1] = n - 1;
  auto inner = shapedLike(packed, 2, {n - 1, n - 1}, type.getElementType());
  Value part =
      stablehlo::SliceOp::create(ops.b, inner, packed, low, high, ones);
  Value q = solver::HouseholderProductOp::create(ops.b, inner, part, taus);
  // A row and a column of the identity before it.
  SmallVector<int64_t> before(rank, 0), none(rank, 0);
  before[rank - 2] = before[rank - 1] = 1;
  Value zero = ops.splat(RankedTensorType::get({}, type.getElementType()), 0);
  Value padded =
      stablehlo::PadOp::create(ops.b, type, q, zero, before, none, none);
  Value first =
      ops.compare("EQ",
                  ops.op<stablehlo::MulOp>(ops.iota(numbers, rank - 2),
                                           ops.iota(numbers, rank - 1)),
                  ops.splat(numbers, 0));
  return ops.select(first, identity, padded);
}

static solver::HessenbergOp buildHessenberg(Ops &ops, Value a) {
  RankedTensorType type = Ops::typeOf(a);
  int64_t n = type.getShape().back();
  auto taus =
      shapedLike(a, 2, {std::max<int64_t>(n - 1, 0)}, type.getElementType());
  return solver::HessenbergOp::create(ops.b, type, taus, a);
}

static bool isSquare(Value value) {
  auto shape = Ops::typeOf(value).getShape();
  return shape.size() >= 2 && shape.back() == shape[shape.size() - 2];
}

static LogicalResult expectSquare(Call &c) {
  if (isSquare(c.input(0)))
    return success();
  return c.refuse() << "has an operand of type " << c.input(0).getType()
                    << ", expected square matrices";
}

LogicalResult import::expandGehrd(Call &c) {
  if (failed(c.expect(1, 3)) || failed(expectSquare(c)))
    return failure();
  int64_t n = Ops::typeOf(c.input(0)).getShape().back();
  if (c.option("low", 1) > 1 || c.option("high", n) < n)
    return emitUnsupported(c.call, "custom call @")
           << c.call.getCallTargetName()
           << " reduces a part of its matrices, expected all rows";
  auto form = buildHessenberg(c.ops, c.input(0));
  return c.finish({form.getPacked(), form.getTaus(), zeroInfo(c, 2)});
}

LogicalResult import::expandSytrd(Call &c) {
  if (failed(c.expect(1, 5)) || failed(expectSquare(c)))
    return failure();
  Ops &ops = c.ops;
  bool lower = c.isLower();
  // The upper triangle is the lower one of the matrix read backwards.
  Value a = c.input(0), given = lower ? a : reversed(ops, a, {1, 2});
  RankedTensorType type = Ops::typeOf(a);
  int64_t n = type.getShape().back();
  Value below = isBelow(ops, type, 0), under = isBelow(ops, type, 1);
  Value whole = ops.select(below, given, ops.adjoint(given));
  if (isa<ComplexType>(type.getElementType())) {
    // LAPACK takes the diagonal's real parts.
    auto real = type.clone(realOf(type.getElementType()));
    Value re = stablehlo::RealOp::create(ops.b, real, whole);
    Value isDiagonal = ops.op<stablehlo::XorOp>(below, under);
    whole =
        ops.select(isDiagonal, complexOf(ops, re, zerosLike(ops, re)), whole);
  }
  auto form = buildHessenberg(ops, whole);
  Value packed = ops.select(below, form.getPacked(), given),
        taus = form.getTaus();
  auto parts = [&](int64_t offset, int64_t count) {
    Value all = diagonalOf(ops, form.getPacked(), offset);
    RankedTensorType allType = Ops::typeOf(all);
    if (isa<ComplexType>(allType.getElementType()))
      all = stablehlo::RealOp::create(
          ops.b, allType.clone(realOf(allType.getElementType())), all);
    SmallVector<int64_t> low(allType.getRank(), 0), high(allType.getShape()),
        ones(allType.getRank(), 1);
    high.back() = count;
    return stablehlo::SliceOp::create(ops.b, Ops::typeOf(all).clone(high), all,
                                      low, high, ones)
        .getResult();
  };
  Value d = parts(0, n), e = parts(1, std::max<int64_t>(n - 1, 0));
  if (!lower) {
    packed = reversed(ops, packed, {1, 2});
    d = reversed(ops, d, {1});
    e = reversed(ops, e, {1});
    taus = reversed(ops, taus, {1});
  }
  return c.finish({packed, d, e, taus, zeroInfo(c, 2)});
}

LogicalResult import::expandGeqp3(Call &c) {
  CustomCallOp call = c.call;
  auto a = call.getInputs().size() == 2
               ? dyn_cast<RankedTensorType>(call.getInputs()[0].getType())
               : RankedTensorType();
  auto fixed = a ? dyn_cast<RankedTensorType>(call.getInputs()[1].getType())
                 : RankedTensorType();
  if (!a || !fixed || call.getNumResults() != 3 || a.getRank() < 2 ||
      !a.hasStaticShape() ||
      fixed != shapedLike(call.getInputs()[0], 2, {a.getShape().back()},
                          c.ops.b.getI32Type()))
    return c.refuse() << "has type " << call->getOperandTypes() << " -> "
                      << call->getResultTypes()
                      << ", expected matrices, one 32-bit integer for each of "
                         "their columns, and three results";
  ArrayRef<int64_t> last = a.getShape().take_back(2);
  auto taus = shapedLike(c.input(0), 2, {std::min(last[0], last[1])},
                         a.getElementType());
  auto qr = solver::PivotedQrOp::create(c.ops.b, a, fixed, taus, c.input(0),
                                        c.input(1));
  return c.finish({qr.getPacked(), qr.getOrder(), qr.getTaus()});
}

namespace {
/// T and its vectors.
struct Schur {
  Value t, v;
};
} // namespace

static Schur schurOf(Ops &ops, Value h, Value q) {
  auto schur = solver::SchurOp::create(ops.b, h.getType(), q.getType(), h, q);
  return {schur.getT(), schur.getV()};
}

static Schur schurOf(Ops &ops, Value a) {
  auto form = buildHessenberg(ops, a);
  Value q = reflectorsOf(ops, form.getPacked(), form.getTaus());
  return schurOf(ops, form.getPacked(), q);
}

/// Eigenvalues of Schur's form of real matrices: the second parts, and where
/// pairs begin (i1).
static std::pair<Value, Value> pairsOf(Ops &ops, Value t) {
  Value down = diagonalOf(ops, t, 1), up = diagonalOf(ops, t, -1);
  RankedTensorType type = Ops::typeOf(down);
  Value zero = zerosLike(ops, down);
  Value begins = ops.compare("NE", down, zero);
  auto root = [&](Value x) -> Value {
    return ops.op<stablehlo::SqrtOp>(ops.op<stablehlo::AbsOp>(x));
  };
  Value size = ops.op<stablehlo::MulOp>(root(down), root(up));
  Value first = ops.select(begins, size, zero);
  // The second of a pair: one further right, the other sign.
  SmallVector<int64_t> before(type.getRank(), 0), behind(type.getRank(), 0),
      inside(type.getRank(), 0);
  before.back() = 1;
  behind.back() = -1;
  Value none = ops.splat(RankedTensorType::get({}, type.getElementType()), 0);
  Value moved = stablehlo::PadOp::create(ops.b, type, first, none, before,
                                         behind, inside);
  return {ops.op<stablehlo::SubtractOp>(first, moved), begins};
}

/// Vectors of real matrices: those of a pair are conjugates, that of the
/// eigenvalue with a positive second part first; others are real. `values` are
/// the eigenvalues that column by column belong to `vectors`. The vector of an
/// eigenvalue that comes several times need not be a multiple of a real one,
/// but its real part is an eigenvector as well: not null, since the largest
/// element is real.
static Value conjugatePairs(Ops &ops, Value vectors, Value values, Value second,
                            Value begins) {
  RankedTensorType type = Ops::typeOf(vectors);
  auto real = type.clone(realOf(type.getElementType()));
  int64_t rank = type.getRank();
  SmallVector<int64_t> columns =
      llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  columns.push_back(rank - 1);
  auto spread = [&](Value vector) {
    return ops.broadcast(vector, type.getShape(), columns);
  };
  Value re = stablehlo::RealOp::create(ops.b, real, vectors),
        im = stablehlo::ImagOp::create(ops.b, real, vectors);
  Value valueIm = stablehlo::ImagOp::create(ops.b, Ops::typeOf(second), values);
  Value isConjugated = ops.compare("LT", valueIm, zerosLike(ops, valueIm));
  im = ops.select(spread(isConjugated), ops.op<stablehlo::NegOp>(im), im);
  // The second of a pair is the first's conjugate.
  SmallVector<int64_t> before(rank, 0), behind(rank, 0), inside(rank, 0);
  before.back() = 1;
  behind.back() = -1;
  Value none = ops.splat(RankedTensorType::get({}, real.getElementType()), 0);
  auto moved = [&](Value x) -> Value {
    return stablehlo::PadOp::create(ops.b, real, x, none, before, behind,
                                    inside);
  };
  Value isSecond = spread(ops.compare("LT", second, zerosLike(ops, second)));
  Value isFirst = spread(begins);
  Value length = ops.op<stablehlo::SqrtOp>(ops.reduce<stablehlo::AddOp>(
      ops.op<stablehlo::MulOp>(re, re), 0, {rank - 2}));
  Value alone = ops.op<stablehlo::DivOp>(re, spread(length));
  Value pairRe =
      ops.select(isSecond, moved(re), ops.select(isFirst, re, alone));
  Value pairIm = ops.select(isSecond, ops.op<stablehlo::NegOp>(moved(im)),
                            ops.select(isFirst, im, zerosLike(ops, im)));
  return complexOf(ops, pairRe, pairIm);
}

LogicalResult import::expandGeev(Call &c) {
  auto element = Ops::typeOf(c.input(0)).getElementType();
  bool isComplex = isa<ComplexType>(element);
  if (failed(c.expect(1, isComplex ? 4 : 5)) || failed(expectSquare(c)))
    return failure();
  Ops &ops = c.ops;
  Schur form = schurOf(ops, c.input(0));
  bool wantsLeft = c.option("compute_left", 'N') == 'V',
       wantsRight = c.option("compute_right", 'N') == 'V';
  Schur triangular = form;
  if (!isComplex && (wantsLeft || wantsRight))
    triangular = schurOf(ops, complexOf(ops, form.t, zerosLike(ops, form.t)),
                         complexOf(ops, form.v, zerosLike(ops, form.v)));
  Value second, begins;
  if (!isComplex)
    std::tie(second, begins) = pairsOf(ops, form.t);
  auto vectorsOf = [&](Value t, Value v) -> Value {
    return solver::EigenvectorsOp::create(ops.b, v.getType(), t, v);
  };
  Value values = diagonalOf(ops, triangular.t, 0), left, right;
  if (wantsRight)
    right = vectorsOf(triangular.t, triangular.v);
  if (wantsLeft) {
    // Right ones of the adjoint, which is triangular when it is read backwards.
    Value adjoint = reversed(ops, ops.adjoint(triangular.t), {1, 2});
    Value vectors = vectorsOf(adjoint, reversed(ops, triangular.v, {1}));
    left = reversed(ops, vectors, {1});
  }
  if (isComplex)
    return c.finish({values, left, right, zeroInfo(c, 2)});
  for (Value *vectors : {&left, &right})
    if (*vectors)
      *vectors = conjugatePairs(ops, *vectors, values, second, begins);
  return c.finish(
      {diagonalOf(ops, form.t, 0), second, left, right, zeroInfo(c, 2)});
}

LogicalResult import::expandGees(Call &c) {
  auto element = Ops::typeOf(c.input(0)).getElementType();
  bool isComplex = isa<ComplexType>(element);
  if (failed(c.expect(1, isComplex ? 5 : 6)) || failed(expectSquare(c)))
    return failure();
  if (c.option("sort", 'N') != 'N')
    return emitUnsupported(c.call, "custom call @")
           << c.call.getCallTargetName() << " sorts eigenvalues by a function";
  Ops &ops = c.ops;
  Schur form = schurOf(ops, c.input(0));
  Value none = zeroInfo(c, 2), values = diagonalOf(ops, form.t, 0);
  if (isComplex)
    return c.finish({form.t, form.v, values, none, none});
  return c.finish(
      {form.t, form.v, values, pairsOf(ops, form.t).first, none, none});
}
