//===- ExpandLinearAlgebra.cpp - Calls of LAPACK as ops -------------------===//
//
// JAX leaves factorisations to LAPACK (cuSOLVER, or the TPU's own). What these
// calls compute is said here, in cholesky, triangular_solve and the solver
// dialect. Layouts on the calls say nothing about values.
//
//===----------------------------------------------------------------------===//
#include "LinearAlgebraCall.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/Refusal.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using stablehlo::CustomCallOp;

namespace shardc {
#define GEN_PASS_DEF_EXPANDLINEARALGEBRAPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

using Expand = LogicalResult (*)(Call &);

LogicalResult Call::expect(size_t inputs, size_t outputs) {
  bool fits =
      call.getInputs().size() == inputs && call.getNumResults() == outputs;
  Type element;
  for (Value value : call.getInputs()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    fits = fits && type && type.hasStaticShape() && type.getRank() >= 1;
    if (!fits)
      break;
    Type mine = type.getElementType();
    Type part = isa<ComplexType>(mine)
                    ? cast<ComplexType>(mine).getElementType()
                    : mine;
    fits = (!element || mine == element) && (part.isF32() || part.isF64());
    element = mine;
  }
  for (Type type : call.getResultTypes())
    fits = fits && isa<RankedTensorType>(type);
  if (fits && cast<RankedTensorType>(input(inputs - 1).getType()).getRank() +
                      (inputs == 2 && outputs == 1 ? 1 : 0) <
                  2)
    fits = false;
  if (!fits)
    return refuse() << "has type " << call->getOperandTypes() << " -> "
                    << call->getResultTypes() << ", expected " << inputs
                    << " tensors of f32, f64 or complex numbers and " << outputs
                    << " results";
  return success();
}

int64_t Call::option(StringRef name, int64_t otherwise) {
  auto config = dyn_cast_or_null<DictionaryAttr>(
      call.getBackendConfig().value_or(nullptr));
  if (!config)
    config = call->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  Attribute found = config ? config.get(name) : Attribute();
  if (auto flag = dyn_cast_or_null<BoolAttr>(found))
    return flag.getValue();
  auto number = dyn_cast_or_null<IntegerAttr>(found);
  return number ? static_cast<int64_t>(number.getValue().getZExtValue())
                : otherwise;
}

bool Call::isLower() {
  return option("uplo", 'L') == 'L' && flag("lower", true);
}

LogicalResult Call::finish(ArrayRef<Value> results) {
  for (auto [i, result, value] : llvm::enumerate(call.getResults(), results)) {
    if (!value && !result.use_empty())
      return emitUnsupported(call, "custom call @")
             << call.getCallTargetName() << " has result " << i
             << " in use, which no program of JAX reads";
    if (value && value.getType() != result.getType())
      return refuse() << "has result " << i << " of type " << result.getType()
                      << ", expected " << value.getType();
  }
  for (auto [result, value] : llvm::zip(call.getResults(), results))
    if (value)
      result.replaceAllUsesWith(value);
  call.erase();
  return success();
}

RankedTensorType import::shapedLike(Value value, unsigned drop,
                                    ArrayRef<int64_t> last, Type element) {
  SmallVector<int64_t> shape(Ops::typeOf(value).getShape().drop_back(drop));
  shape.append(last.begin(), last.end());
  return RankedTensorType::get(shape, element);
}

Type import::realOf(Type element) {
  auto complex = dyn_cast<ComplexType>(element);
  return complex ? complex.getElementType() : element;
}

/// The real parts of the diagonals of matrices with no more columns than rows.
static Value diagonalOf(Ops &ops, Value matrices) {
  RankedTensorType type = Ops::typeOf(matrices);
  int64_t rank = type.getRank();
  auto numbers = type.clone(ops.b.getI32Type());
  Value onDiagonal = ops.compare("EQ", ops.iota(numbers, rank - 2),
                                 ops.iota(numbers, rank - 1));
  if (isa<ComplexType>(type.getElementType()))
    matrices = stablehlo::RealOp::create(
        ops.b, type.clone(realOf(type.getElementType())), matrices);
  Value others = ops.splat(Ops::typeOf(matrices), 0);
  Value kept = ops.select(onDiagonal, matrices, others);
  return ops.reduce<stablehlo::AddOp>(kept, 0, {rank - 2});
}

//===----------------------------------------------------------------------===//
// Cholesky, triangular and tridiagonal systems
//===----------------------------------------------------------------------===//

/// Factor and, as LAPACK says it, the number of the first leading minor that is
/// not positive.
static LogicalResult expandPotrf(Call &c) {
  if (failed(c.expect(1, 2)))
    return failure();
  Value a = c.input(0);
  RankedTensorType type = Ops::typeOf(a);
  int64_t n = type.getShape().back();
  Value factor = stablehlo::CholeskyOp::create(c.ops.b, type, a, c.isLower());
  Value diagonal = diagonalOf(c.ops, factor);
  Value good =
      c.ops.compare("GT", diagonal, c.ops.splat(Ops::typeOf(diagonal), 0));
  auto numbers = Ops::withElement(diagonal, c.ops.b.getI32Type());
  Value number = c.ops.op<stablehlo::AddOp>(
      c.ops.iota(numbers, numbers.getRank() - 1), c.ops.splat(numbers, 1));
  Value bad = c.ops.select(good, c.ops.splat(numbers, n + 1), number);
  Value first =
      c.ops.reduce<stablehlo::MinOp>(bad, n + 1, {numbers.getRank() - 1});
  Value none = c.ops.splat(Ops::typeOf(first), n + 1);
  Value info = c.ops.select(c.ops.compare("EQ", first, none),
                            c.ops.splat(Ops::typeOf(first), 0), first);
  return c.finish({factor, info});
}

static LogicalResult expandTrsm(Call &c) {
  if (failed(c.expect(2, 1)))
    return failure();
  int64_t transposed = c.option("trans_x", 'N');
  auto transpose = transposed == 'N'   ? stablehlo::Transpose::NO_TRANSPOSE
                   : transposed == 'T' ? stablehlo::Transpose::TRANSPOSE
                                       : stablehlo::Transpose::ADJOINT;
  Value x = stablehlo::TriangularSolveOp::create(
      c.ops.b, c.input(1).getType(), c.input(0), c.input(1),
      c.option("side", 'L') == 'L', c.isLower(), c.option("diag", 'N') == 'U',
      transpose);
  return c.finish(x);
}

static LogicalResult expandGtsv(Call &c) {
  bool lapack = c.call.getNumResults() == 5;
  if (failed(c.expect(4, lapack ? 5 : 1)))
    return failure();
  Value x = solver::TridiagonalSolveOp::create(c.ops.b, c.input(3).getType(),
                                               c.input(0), c.input(1),
                                               c.input(2), c.input(3));
  if (!lapack)
    return c.finish(x);
  // The number of the first zero pivot: then some x is no number.
  auto flags = Ops::withElement(x, c.ops.b.getI32Type());
  Value broken = c.ops.convert(c.ops.compare("NE", x, x), c.ops.b.getI32Type());
  Value info = c.ops.reduce<stablehlo::MaxOp>(
      broken, 0, {flags.getRank() - 2, flags.getRank() - 1});
  return c.finish({nullptr, nullptr, nullptr, x, info});
}

static LogicalResult expandGtsvPerturbed(Call &c) {
  if (failed(c.expect(4, 1)))
    return failure();
  Value x = solver::TridiagonalSolveOp::create(
      c.ops.b, c.input(3).getType(), c.input(0), c.input(1), c.input(2),
      c.input(3), /*perturbed=*/true);
  return c.finish(x);
}

//===----------------------------------------------------------------------===//
// LU and QR
//===----------------------------------------------------------------------===//

static solver::LuOp buildLu(Call &c) {
  RankedTensorType type = Ops::typeOf(c.input(0));
  ArrayRef<int64_t> last = type.getShape().take_back(2);
  Type number = c.ops.b.getI32Type();
  return solver::LuOp::create(
      c.ops.b, type,
      shapedLike(c.input(0), 2, {std::min(last[0], last[1])}, number),
      shapedLike(c.input(0), 2, {last[0]}, number),
      shapedLike(c.input(0), 2, {}, number), c.input(0));
}

/// LAPACK counts rows from 1.
static LogicalResult expandGetrf(Call &c) {
  if (failed(c.expect(1, 3)))
    return failure();
  auto lu = buildLu(c);
  Value one = c.ops.splat(Ops::typeOf(lu.getPivots()), 1);
  Value pivots = c.ops.op<stablehlo::AddOp>(lu.getPivots(), one);
  return c.finish({lu.getPacked(), pivots, lu.getInfo()});
}

static LogicalResult expandLuDecomposition(Call &c) {
  if (failed(c.expect(1, 3)))
    return failure();
  auto lu = buildLu(c);
  return c.finish({lu.getPacked(), lu.getPivots(), lu.getPermutation()});
}

static LogicalResult expandPivots(Call &c) {
  if (c.call.getInputs().size() != 1 || c.call.getNumResults() != 1)
    return c.refuse() << "expects one operand and one result";
  Value order = solver::PermutationOp::create(
      c.ops.b, c.call.getResultTypes()[0], c.input(0));
  return c.finish(order);
}

static solver::QrOp buildQr(Ops &ops, Value a) {
  RankedTensorType type = Ops::typeOf(a);
  ArrayRef<int64_t> last = type.getShape().take_back(2);
  auto taus =
      shapedLike(a, 2, {std::min(last[0], last[1])}, type.getElementType());
  return solver::QrOp::create(ops.b, type, taus, a);
}

static LogicalResult expandGeqrf(Call &c) {
  if (failed(c.expect(1, 2)))
    return failure();
  auto qr = buildQr(c.ops, c.input(0));
  return c.finish({qr.getPacked(), qr.getTaus()});
}

static LogicalResult expandOrgqr(Call &c) {
  if (c.call.getInputs().size() != 2 || failed(c.expect(2, 1)))
    return failure();
  Value q = solver::HouseholderProductOp::create(c.ops.b, c.input(0).getType(),
                                                 c.input(0), c.input(1));
  return c.finish(q);
}

/// A product with Q, all of it, from either side: Q or its adjoint.
static LogicalResult expandOrmqr(Call &c) {
  if (c.call.getInputs().size() != 3 || failed(c.expect(3, 1)))
    return failure();
  Ops &ops = c.ops;
  RankedTensorType type = Ops::typeOf(c.input(0)),
                   other = Ops::typeOf(c.input(2));
  int64_t rank = type.getRank(), rows = type.getDimSize(rank - 2),
          columns = type.getDimSize(rank - 1);
  bool isLeft = c.flag("left", true);
  if (other.getRank() != rank || columns > rows ||
      other.getDimSize(rank - (isLeft ? 2 : 1)) != rows ||
      other.getShape().drop_back(2) != type.getShape().drop_back(2))
    return c.refuse() << "multiplies " << other
                      << (isLeft ? " from the left" : " from the right")
                      << " by reflectors in " << type;
  SmallVector<int64_t> more(rank, 0);
  more.back() = rows - columns;
  Value packed = ops.padHigh(c.input(0), 0, more);
  Value q = solver::HouseholderProductOp::create(ops.b, packed.getType(),
                                                 packed, c.input(1));
  if (c.flag("transpose", false))
    q = ops.adjoint(q);
  auto batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  auto dims = stablehlo::DotDimensionNumbersAttr::get(
      ops.b.getContext(), batch, batch, {rank - 1}, {rank - 2});
  Value product = stablehlo::DotGeneralOp::create(
      ops.b, other, isLeft ? q : c.input(2), isLeft ? c.input(2) : q, dims,
      ArrayAttr(), stablehlo::DotAlgorithmAttr());
  return c.finish(product);
}

//===----------------------------------------------------------------------===//
// Eigenvalues and singular values
//===----------------------------------------------------------------------===//

static solver::EighOp buildEigh(Call &c, bool lower) {
  Value a = c.input(0);
  RankedTensorType type = Ops::typeOf(a);
  auto values = shapedLike(a, 1, {}, realOf(type.getElementType()));
  return solver::EighOp::create(c.ops.b, type, values, a, lower);
}

Value import::zeroInfo(Call &c, unsigned drop) {
  return c.ops.splat(shapedLike(c.input(0), drop, {}, c.ops.b.getI32Type()), 0);
}

static LogicalResult expandSyevd(Call &c) {
  if (failed(c.expect(1, 3)))
    return failure();
  auto eigh = buildEigh(c, c.isLower());
  return c.finish({eigh.getVectors(), eigh.getValues(), zeroInfo(c, 2)});
}

/// The TPU's: options are a text "lower,sorted,iterations,tolerance". Sorted
/// values are among those that unsorted ones may be.
static LogicalResult expandEigh(Call &c) {
  if (failed(c.expect(1, 2)))
    return failure();
  auto text =
      dyn_cast_or_null<StringAttr>(c.call.getBackendConfig().value_or(nullptr));
  bool lower = !text || !text.getValue().starts_with("0");
  auto eigh = buildEigh(c, lower);
  return c.finish({eigh.getVectors(), eigh.getValues()});
}

/// W of A V = W as unit vectors, `count` of them: what W lacks (its columns may
/// be zero) is made up.
static Value unitColumns(Ops &ops, Value w, int64_t count) {
  RankedTensorType type = Ops::typeOf(w);
  int64_t rank = type.getRank(), rows = type.getDimSize(rank - 2),
          columns = type.getDimSize(rank - 1);
  auto qr = buildQr(ops, w);
  SmallVector<int64_t> more(rank, 0);
  more.back() = count - columns;
  Value packed = ops.padHigh(qr.getPacked(), 0, more);
  Value q = solver::HouseholderProductOp::create(ops.b, packed.getType(),
                                                 packed, qr.getTaus());
  // R is diagonal here; where it is negative, Q points the other way.
  Value diagonal = diagonalOf(ops, qr.getPacked());
  RankedTensorType vector = Ops::typeOf(diagonal);
  Value negative = ops.compare("LT", diagonal, ops.splat(vector, 0));
  Value sign =
      ops.select(negative, ops.splat(vector, -1), ops.splat(vector, 1));
  SmallVector<int64_t> moreSigns(rank - 1, 0);
  moreSigns.back() = count - columns;
  sign = ops.convert(ops.padHigh(sign, 1, moreSigns), type.getElementType());
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  dims.push_back(rank - 1);
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  shape.append({rows, count});
  return ops.op<stablehlo::MulOp>(q, ops.broadcast(sign, shape, dims));
}

/// A = U S V^H of tall matrices by one-sided rotations; a wide one is
/// transposed first. `adjoint` says whether the fourth result is V^H or V;
/// `swapped`, whether that one is the third, and U the fourth.
static LogicalResult expandSvd(Call &c, bool vectors, bool full, bool adjoint,
                               bool swapped = false) {
  if (failed(c.expect(1, 5)))
    return failure();
  Ops &ops = c.ops;
  Value a = c.input(0);
  RankedTensorType type = Ops::typeOf(a);
  Type element = type.getElementType();
  int64_t rank = type.getRank(), rows = type.getDimSize(rank - 2),
          columns = type.getDimSize(rank - 1);
  bool wide = rows < columns;
  int64_t most = std::max(rows, columns), least = std::min(rows, columns);
  Value tall = wide ? ops.adjoint(a) : a;
  auto rotated = solver::OrthogonalizeOp::create(
      ops.b, tall.getType(), shapedLike(a, 2, {least}, realOf(element)),
      shapedLike(a, 2, {least, least}, element), tall);
  if (!vectors)
    return c.finish(
        {nullptr, rotated.getSigma(), nullptr, nullptr, zeroInfo(c, 2)});
  Value units = unitColumns(ops, rotated.getW(), full ? most : least);
  Value u = wide ? Value(rotated.getV()) : units,
        v = wide ? units : Value(rotated.getV());
  if (adjoint)
    v = ops.adjoint(v);
  return c.finish({nullptr, rotated.getSigma(), swapped ? v : u,
                   swapped ? u : v, zeroInfo(c, 2)});
}

static LogicalResult expandGesdd(Call &c) {
  int64_t mode = c.option("mode", 'A');
  return expandSvd(c, mode != 'N', mode == 'A', /*adjoint=*/true);
}
static LogicalResult expandGesvd(Call &c) {
  return expandSvd(c, c.flag("compute_uv", true), c.flag("full_matrices", true),
                   /*adjoint=*/true, c.flag("transposed", false));
}
static LogicalResult expandGesvdj(Call &c) {
  return expandSvd(c, c.flag("compute_uv", true), c.flag("full_matrices", true),
                   /*adjoint=*/false);
}

static const llvm::StringMap<Expand> &registry() {
  static const llvm::StringMap<Expand> table = [] {
    llvm::StringMap<Expand> names = {
        {"LuDecomposition", expandLuDecomposition},
        {"Qr", expandGeqrf},
        {"ProductOfElementaryHouseholderReflectors", expandOrgqr},
        {"Eigh", expandEigh},
        {"cu_lu_pivots_to_permutation", expandPivots},
        {"cusolver_potrf_ffi", expandPotrf},
        {"cusolver_getrf_ffi", expandGetrf},
        {"cusolver_geqrf_ffi", expandGeqrf},
        {"cusolver_orgqr_ffi", expandOrgqr},
        {"cusolver_ormqr_ffi", expandOrmqr},
        {"cusolver_syevd_ffi", expandSyevd},
        {"cusolver_sytrd_ffi", expandSytrd},
        {"cusolver_gesvd_ffi", expandGesvd},
        {"cusolver_gesvdj_ffi", expandGesvdj},
        {"cusolver_gesvdp_ffi", expandGesvdj},
        {"cusolver_gesdd_ffi", expandGesvd},
        {"cusparse_gtsv2_ffi", expandGtsv},
        {"tridiagonal_solve_perturbed_ffi", expandGtsvPerturbed},
        {"cu_tridiagonal_solve_perturbed", expandGtsvPerturbed}};
    for (StringRef type : {"s", "d", "c", "z"}) {
      auto add = [&](StringRef what, Expand expand) {
        names[("lapack_" + type + what + "_ffi").str()] = expand;
      };
      bool real = type == "s" || type == "d";
      add("potrf", expandPotrf);
      add("getrf", expandGetrf);
      add("geqrf", expandGeqrf);
      add(real ? "orgqr" : "ungqr", expandOrgqr);
      add(real ? "ormqr" : "unmqr", expandOrmqr);
      add(real ? "syevd" : "heevd", expandSyevd);
      add(real ? "sytrd" : "hetrd", expandSytrd);
      add("geev", expandGeev);
      add("gees", expandGees);
      add("gehrd", expandGehrd);
      add("geqp3", expandGeqp3);
      add("gesdd", expandGesdd);
      add("gesvd", expandGesdd);
      add("gtsv", expandGtsv);
      add("trsm", expandTrsm);
    }
    return names;
  }();
  return table;
}

namespace {
struct ExpandLinearAlgebraPass final
    : shardc::impl::ExpandLinearAlgebraPassBase<ExpandLinearAlgebraPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<CustomCallOp> calls;
    getOperation().walk([&](CustomCallOp call) { calls.push_back(call); });
    for (CustomCallOp op : calls) {
      // ROCm's libraries are called as CUDA's are.
      StringRef name = op.getCallTargetName(), rest = name;
      auto found = registry().find(rest.consume_front("hip") ? "cu" + rest.str()
                                                             : name.str());
      if (found == registry().end())
        continue;
      Call call(op);
      if (failed(found->second(call)))
        return signalPassFailure();
    }
  }
};
} // namespace
