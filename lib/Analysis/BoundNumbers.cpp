//===- BoundNumbers.cpp - What code computes of bound sizes ---------------===//
//
// An op on indices is the formula that says the same of the formulas of its
// operands. Each formula comes with its value in one binding: of formulas,
// those of look-ups have tables that say it.
//
//===----------------------------------------------------------------------===//
#include "shardc/Analysis/BoundNumbers.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Layout/Exchange.h"
#include "shardc/Layout/NumberFormula.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;

using Known = std::optional<BoundNumber>;

/// A number is made of so many ops at most.
static constexpr int kMostOps = 256;

static BoundNumber constant(int64_t number) {
  return {constantFormula(number), {number}};
}

/// `formula`, and `compute` of `x` and `y`, rank by rank.
static Known combine(const Formula &formula, const BoundNumber &x,
                     const BoundNumber &y,
                     llvm::function_ref<int64_t(int64_t, int64_t)> compute) {
  if (!formula)
    return std::nullopt;
  BoundNumber result{formula, {}};
  size_t ranks = std::max(x.byRank.size(), y.byRank.size());
  for (size_t rank = 0; rank < ranks; ++rank)
    result.byRank.push_back(
        compute(x.byRank.size() > 1 ? x.byRank[rank] : x.byRank[0],
                y.byRank.size() > 1 ? y.byRank[rank] : y.byRank[0]));
  return result;
}

static Known sum(const BoundNumber &x, int64_t a, const BoundNumber &y,
                 int64_t b) {
  return combine(sumFormula(x.formula, a, y.formula, b), x, y,
                 [&](int64_t m, int64_t n) { return a * m + b * n; });
}

static Known product(const BoundNumber &x, const BoundNumber &y) {
  return combine(productFormula(x.formula, y.formula), x, y,
                 [](int64_t m, int64_t n) { return m * n; });
}

static Known greatest(const BoundNumber &x, const BoundNumber &y) {
  return combine(greatestFormula(x.formula, y.formula), x, y,
                 [](int64_t m, int64_t n) { return std::max(m, n); });
}

static Known least(const BoundNumber &x, const BoundNumber &y) {
  Known turned =
      greatest(*sum(x, -1, constant(0), 1), *sum(y, -1, constant(0), 1));
  return turned ? sum(*turned, -1, constant(0), 1) : Known();
}

/// `x` where `condition` is greater than 0, else `y`.
static Known choice(const BoundNumber &condition, const BoundNumber &x,
                    const BoundNumber &y) {
  // Of x and y each is there or not.
  BoundNumber both;
  Known first = combine(condition.formula, condition, x,
                        [](int64_t c, int64_t m) { return c > 0 ? m : 0; }),
        second = combine(condition.formula, condition, y,
                         [](int64_t c, int64_t n) { return c > 0 ? 0 : n; });
  return combine(choiceFormula(condition.formula, x.formula, y.formula), *first,
                 *second, [](int64_t m, int64_t n) { return m + n; });
}

static Known floorQuotient(const BoundNumber &x, int64_t divisor) {
  if (divisor < 1)
    return std::nullopt;
  return combine(
      quotientFormula(x.formula, divisor), x, constant(0),
      [&](int64_t n, int64_t) { return llvm::divideFloorSigned(n, divisor); });
}

static Known ceilQuotient(const BoundNumber &x, int64_t divisor) {
  Known more = sum(x, 1, constant(divisor - 1), 1);
  return more ? floorQuotient(*more, divisor) : Known();
}

/// Towards 0.
static Known quotient(const BoundNumber &x, int64_t divisor) {
  Known down = floorQuotient(x, divisor);
  if (!down || x.formula.range().first >= 0)
    return down;
  Known up = ceilQuotient(x, divisor);
  return up ? choice(x, *down, *up) : Known();
}

namespace {
/// One question.
class Reader {
public:
  Known read(Value value);

private:
  Known compute(Operation *op);
  Known lookUp(spmd::LookupOp lookup);
  Known sizeOf(Value buffer, int64_t dim);
  Known compare(arith::CmpIOp op, const BoundNumber &x, const BoundNumber &y);
  Known read(OpFoldResult number);
  Known read(AffineExpr expr, AffineMap map, ValueRange operands);

  DenseMap<Value, Known> known;
  int ops = 0;
};
} // namespace

Known Reader::lookUp(spmd::LookupOp lookup) {
  spmd::MeshAttr mesh = spmd::lookupMesh(lookup, lookup.getMeshAttr());
  ArrayRef<int64_t> table = lookup.getTable();
  if (!lookup.getFormula() || !mesh || table.empty())
    return std::nullopt;
  BoundNumber number{lookup.getFormulaAttr().getFormula(), {}};
  SmallVector<int64_t> axes;
  for (auto axis : lookup.getAxes().getAsRange<StringAttr>())
    axes.push_back(mesh.getAxisIndex(axis.getValue()));
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
    number.byRank.push_back(
        table[coordinateAlong(mesh.getAxisSizes(), axes, rank)]);
  return number;
}

Known Reader::read(OpFoldResult number) {
  if (std::optional<int64_t> constantNumber = getConstantIntValue(number))
    return constant(*constantNumber);
  auto value = dyn_cast<Value>(number);
  return value ? read(value) : Known();
}

Known Reader::sizeOf(Value buffer, int64_t dim) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || dim < 0 || dim >= type.getRank())
    return std::nullopt;
  if (!type.isDynamicDim(dim))
    return constant(type.getDimSize(dim));
  Operation *op = buffer.getDefiningOp();
  if (auto alloc = dyn_cast_or_null<memref::AllocOp>(op))
    return read(alloc.getMixedSizes()[dim]);
  if (auto cast = dyn_cast_or_null<memref::CastOp>(op))
    return sizeOf(cast.getSource(), dim);
  if (auto received = dyn_cast_or_null<spmd::ReceivedOp>(op))
    return sizeOf(received.getBuffer(), dim);
  if (auto expand = dyn_cast_or_null<memref::ExpandShapeOp>(op))
    return read(expand.getMixedOutputShape()[dim]);
  if (auto view = dyn_cast_or_null<memref::ReinterpretCastOp>(op))
    return read(view.getMixedSizes()[dim]);
  if (auto collapse = dyn_cast_or_null<memref::CollapseShapeOp>(op)) {
    Known all = constant(1);
    ReassociationIndices group = collapse.getReassociationIndices()[dim];
    for (int64_t from : group) {
      Known next = sizeOf(collapse.getSrc(), from);
      all = all && next ? product(*all, *next) : Known();
    }
    return all;
  }
  auto part = dyn_cast_or_null<memref::SubViewOp>(op);
  if (!part)
    return std::nullopt;
  llvm::SmallBitVector dropped = part.getDroppedDims();
  for (auto [i, size] : llvm::enumerate(part.getMixedSizes()))
    if (!dropped.test(i) && dim-- == 0)
      return read(size);
  return std::nullopt;
}

/// A number that is greater than 0 where the comparison holds.
Known Reader::compare(arith::CmpIOp op, const BoundNumber &x,
                      const BoundNumber &y) {
  bool orEqual = false;
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::sle:
    orEqual = true;
    [[fallthrough]];
  case arith::CmpIPredicate::slt: {
    Known less = sum(y, 1, x, -1);
    return less ? sum(*less, 1, constant(orEqual), 1) : Known();
  }
  case arith::CmpIPredicate::sge:
    orEqual = true;
    [[fallthrough]];
  case arith::CmpIPredicate::sgt: {
    Known more = sum(x, 1, y, -1);
    return more ? sum(*more, 1, constant(orEqual), 1) : Known();
  }
  default:
    return std::nullopt;
  }
}

Known Reader::read(AffineExpr expr, AffineMap map, ValueRange operands) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return constant(number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return read(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return read(operands[map.getNumDims() + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Known x = read(binary.getLHS(), map, operands),
        y = read(binary.getRHS(), map, operands);
  if (!x || !y)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add)
    return sum(*x, 1, *y, 1);
  if (binary.getKind() == AffineExprKind::Mul)
    return product(*x, *y);
  std::optional<int64_t> divisor = constantOf(y->formula);
  if (!divisor || *divisor < 1)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::CeilDiv)
    return ceilQuotient(*x, *divisor);
  Known down = floorQuotient(*x, *divisor);
  if (!down || binary.getKind() == AffineExprKind::FloorDiv)
    return down;
  return sum(*x, 1, *down, -*divisor);
}

Known Reader::compute(Operation *op) {
  if (auto lookup = dyn_cast<spmd::LookupOp>(op))
    return lookUp(lookup);
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> number = dim.getConstantIndex();
    return number ? sizeOf(dim.getSource(), *number) : Known();
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return read(apply.getAffineMap().getResult(0), apply.getAffineMap(),
                op->getOperands());
  if (isa<affine::AffineMinOp, affine::AffineMaxOp>(op)) {
    AffineMap map = isa<affine::AffineMinOp>(op)
                        ? cast<affine::AffineMinOp>(op).getMap()
                        : cast<affine::AffineMaxOp>(op).getMap();
    Known best;
    for (AffineExpr expr : map.getResults()) {
      Known next = read(expr, map, op->getOperands());
      if (!next)
        return std::nullopt;
      if (best)
        next = isa<affine::AffineMinOp>(op) ? least(*best, *next)
                                            : greatest(*best, *next);
      best = next;
    }
    return best;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    auto compared = select.getCondition().getDefiningOp<arith::CmpIOp>();
    Known x = compared ? read(compared.getLhs()) : Known(),
          y = x ? read(compared.getRhs()) : Known(),
          condition = y ? compare(compared, *x, *y) : Known();
    Known yes = condition ? read(select.getTrueValue()) : Known(),
          no = yes ? read(select.getFalseValue()) : Known();
    return no ? choice(*condition, *yes, *no) : Known();
  }
  if (isa<arith::IndexCastOp>(op))
    return read(op->getOperand(0));
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return std::nullopt;
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MaxSIOp,
           arith::MinSIOp, arith::DivSIOp, arith::FloorDivSIOp,
           arith::CeilDivSIOp, arith::RemSIOp>(op))
    return std::nullopt;
  Known x = read(op->getOperand(0)), y = x ? read(op->getOperand(1)) : Known();
  if (!y)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return sum(*x, 1, *y, 1);
  if (isa<arith::SubIOp>(op))
    return sum(*x, 1, *y, -1);
  if (isa<arith::MulIOp>(op))
    return product(*x, *y);
  if (isa<arith::MaxSIOp>(op))
    return greatest(*x, *y);
  if (isa<arith::MinSIOp>(op))
    return least(*x, *y);
  std::optional<int64_t> divisor = constantOf(y->formula);
  if (!divisor || *divisor < 1)
    return std::nullopt;
  if (isa<arith::FloorDivSIOp>(op))
    return floorQuotient(*x, *divisor);
  if (isa<arith::CeilDivSIOp>(op))
    return ceilQuotient(*x, *divisor);
  Known towardsZero = quotient(*x, *divisor);
  if (!towardsZero || isa<arith::DivSIOp>(op))
    return towardsZero;
  return sum(*x, 1, *towardsZero, -*divisor);
}

Known Reader::read(Value value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return constant(*number);
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  Known number = ++ops <= kMostOps ? compute(op) : Known();
  known[value] = number;
  return number;
}

std::optional<BoundNumber> shardc::boundNumber(Value number) {
  return Reader().read(number);
}
