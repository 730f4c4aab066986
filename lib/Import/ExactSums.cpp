//===- ExactSums.cpp - Sums whose order cannot be seen --------------------===//
//
// (x + a) - a, with a = 3/2 2^52 g, is x rounded to a multiple of g. As many
// multiples of g as there are in a sum, none above 2^53 g, add up without
// rounding in any order: on any mesh, in any tiles and vectors. g follows from
// the largest element, which no order changes either, and the number of terms.
// J. Demmel, H. D. Nguyen, "Parallel Reproducible Summation", IEEE Trans.
// Comput. 64, 2015; K. Ozaki et al., "Error-free transformations of matrix
// multiplication", Numer. Algorithms 59, 2012.
//
//===----------------------------------------------------------------------===//
#include "ExactSums.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

static Type wideType(Ops &ops) { return ops.b.getF64Type(); }

/// From here on f64 has no room for an anchor, nor for sums of products.
static constexpr double kSumLimit = 0x1p900, kProductLimit = 0x1p480;

/// The limit for elements of `value`; 0: none.
static double limitOf(Value value, double limit) {
  return Ops::typeOf(value).getElementType().isF64() ? limit : 0;
}

static SmallVector<int64_t> keptDims(Value value, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> kept;
  for (int64_t dim = 0, rank = Ops::typeOf(value).getRank(); dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      kept.push_back(dim);
  return kept;
}

std::pair<Value, Value> ExactSums::powerAbove(Value value,
                                              ArrayRef<int64_t> dims) {
  Type wide = wideType(ops), bits = ops.b.getI64Type();
  Value magnitudes = ops.op<AbsOp>(value);
  Value most = ops.convert(ops.reduce<MaxOp>(magnitudes, 0, dims), wide);
  // The exponent alone; of what has none, the least.
  Value pattern =
      BitcastConvertOp::create(ops.b, Ops::withElement(most, bits), most);
  Value mask = ops.splatBits(Ops::typeOf(pattern), 0x7FF0000000000000);
  Value exponent = ops.op<AndOp>(pattern, mask);
  Value floor = BitcastConvertOp::create(ops.b, most.getType(), exponent);
  Value least = ops.op<MaxOp>(floor, ops.splat(Ops::typeOf(most), 0x1p-1022));
  Value power = ops.op<AddOp>(least, least);
  return {most, power};
}

Value ExactSums::number(int64_t value) {
  return ops.splatBits(RankedTensorType::get({}, ops.b.getI64Type()), value);
}

ExactSums::Count ExactSums::countOf(spmd::MeshAttr mesh,
                                    ArrayRef<int64_t> sizes) {
  int64_t known = 1;
  Value open;
  for (int64_t size : sizes) {
    if (!mesh || !mesh.isOpen(size)) {
      known *= size;
      continue;
    }
    Value extent = spmd::ExtentOp::create(
        ops.b, RankedTensorType::get({}, ops.b.getI64Type()), size);
    open = open ? ops.op<MulOp>(open, extent) : extent;
  }
  known = std::max<int64_t>(known, 1);
  if (!open)
    return {llvm::Log2_64_Ceil(known), {}};
  // Bits of the last number, from 0 on.
  Value one = number(1);
  Value all = ops.op<MaxOp>(ops.op<MulOp>(open, number(known)), one);
  Value last = ops.op<SubtractOp>(all, one);
  return {0, ops.op<SubtractOp>(number(64), ops.op<ClzOp>(last))};
}

ExactSums::Factor ExactSums::timesPower(double factor, Value exponent) {
  Value biased = ops.op<AddOp>(exponent, number(1023));
  Value pattern = ops.op<ShiftLeftOp>(biased, number(52));
  auto type = RankedTensorType::get({}, wideType(ops));
  Value power = BitcastConvertOp::create(ops.b, type, pattern);
  return {0, ops.op<MulOp>(power, ops.splat(type, factor))};
}

Value ExactSums::anchor(Value largest, Value power, Factor factor, Value like,
                        ArrayRef<int64_t> dims, double limit) {
  RankedTensorType type = Ops::typeOf(power);
  Value times = factor.open ? ops.broadcast(factor.open, type.getShape(), {})
                            : ops.splat(type, factor.known);
  Value scaled = ops.op<MulOp>(power, times);
  Value zero = ops.splat(type, 0);
  if (limit > 0) {
    Value fits = ops.compare("LT", largest, ops.splat(type, limit));
    scaled = ops.select(fits, scaled, ops.splat(type, NAN));
  }
  Value finite = ops.compare("LT", largest, ops.splat(type, INFINITY));
  Value known = ops.select(finite, scaled, zero);
  return ops.broadcast(known, Ops::typeOf(like).getShape(),
                       keptDims(like, dims));
}

Value ExactSums::roundTo(Value value, Value anchor) {
  Value moved = ops.op<AddOp>(value, anchor);
  return ops.op<SubtractOp>(moved, anchor);
}

Value ExactSums::without(Value value, Value rounded) {
  Value difference = ops.op<SubtractOp>(value, rounded);
  Value isSame = ops.compare("EQ", value, rounded);
  return ops.select(isSame, ops.splat(Ops::typeOf(value), 0), difference);
}

ExactSums::Terms ExactSums::split(Value value, ArrayRef<int64_t> dims,
                                  Count count) {
  double limit = limitOf(value, kSumLimit);
  auto [largest, power] = powerAbove(value, dims);
  // At least four, so that an element is no more than a third of its anchor.
  Factor coarse, fine;
  if (count.open) {
    Value exponent = ops.op<MaxOp>(count.open, number(2));
    coarse = timesPower(0.75, exponent);
    if (limit > 0)
      fine = timesPower(0.75 * 0x1p-53, ops.op<AddOp>(exponent, exponent));
  } else {
    double terms = std::ldexp(1.0, std::max<int>(2, count.logarithm));
    coarse.known = 0.75 * terms;
    fine.known = 0.75 * terms * std::ldexp(terms, -53);
  }
  Value wide = ops.convert(value, wideType(ops));
  Value first =
      roundTo(wide, anchor(largest, power, coarse, value, dims, limit));
  if (limit == 0)
    return {first};
  // What is left is within one step of the first grid.
  Value rest = without(wide, first);
  Value second =
      roundTo(rest, anchor(largest, power, fine, value, dims, limit));
  return {first, second};
}

ExactSums::Terms ExactSums::cut(Value factor, ArrayRef<int64_t> dims,
                                ArrayRef<Factor> grids) {
  Type element = Ops::typeOf(factor).getElementType();
  auto [largest, power] = powerAbove(factor, dims);
  Value rest = ops.convert(factor, wideType(ops));
  Terms terms;
  for (Factor step : grids) {
    Value rounded = roundTo(rest, anchor(largest, power, step, factor, dims,
                                         limitOf(factor, kProductLimit)));
    // No more digits than the factor had: exact.
    terms.push_back(ops.convert(rounded, element));
    if (terms.size() < grids.size())
      rest = without(rest, rounded);
  }
  return terms;
}

Value ExactSums::sumOfProducts(
    Value lhs, ArrayRef<int64_t> lhsDims, Value rhs, ArrayRef<int64_t> rhsDims,
    Count count, llvm::function_ref<Value(Value, Value)> contract) {
  bool isWide = Ops::typeOf(lhs).getElementType().isF64() ||
                Ops::typeOf(rhs).getElementType().isF64();
  // As many slices as it takes to have most of the digits of a factor.
  int wanted = isWide ? 42 : 18;
  SmallVector<Factor> lhsGrids, rhsGrids;
  if (!count.open) {
    int room = 53 - static_cast<int>(count.logarithm), rhsBits = room / 2,
        lhsBits = room - rhsBits;
    for (int slice = 1; slice == 1 || (slice - 1) * rhsBits < wanted; ++slice) {
      lhsGrids.push_back({std::ldexp(1.5, 52 - slice * lhsBits), {}});
      rhsGrids.push_back({std::ldexp(1.5, 52 - slice * rhsBits), {}});
    }
  } else {
    // As many slices as for 2^kMostTerms terms; those that fewer do without are
    // zero.
    constexpr int kMostTerms = 25;
    Value room = ops.op<SubtractOp>(number(53), count.open),
          rhsBits = ops.op<ShiftRightLogicalOp>(room, number(1)),
          lhsBits = ops.op<SubtractOp>(room, rhsBits);
    for (int slice = 1; (slice - 1) * ((53 - kMostTerms) / 2) < wanted;
         ++slice) {
      auto gridOf = [&](Value bits) {
        Value exponent =
            ops.op<SubtractOp>(number(52), ops.op<MulOp>(bits, number(slice)));
        if (slice > 1) {
          Value before = ops.op<MulOp>(rhsBits, number(slice - 1));
          Value isUsed = ops.compare("LT", before, number(wanted));
          exponent = ops.select(isUsed, exponent, number(54));
        }
        return timesPower(1.5, exponent);
      };
      lhsGrids.push_back(gridOf(lhsBits));
      rhsGrids.push_back(gridOf(rhsBits));
    }
  }
  Terms left = cut(lhs, lhsDims, lhsGrids), right = cut(rhs, rhsDims, rhsGrids);
  // The least first: products of slices i and j are 2^-(i + j) bits below the
  // largest.
  Value rest;
  for (int level = static_cast<int>(left.size()) - 1; level > 0; --level)
    for (int i = 0; i <= level; ++i) {
      Value product = contract(left[i], right[level - i]);
      rest = rest ? ops.op<AddOp>(rest, product) : product;
    }
  Value most = contract(left[0], right[0]);
  if (!rest)
    return most;
  // An infinity is in the first slices alone, and times the zeros of others it
  // would be no number.
  RankedTensorType type = Ops::typeOf(most);
  Value isFinite =
      ops.compare("LT", ops.op<AbsOp>(most), ops.splat(type, INFINITY));
  return ops.select(isFinite, ops.op<AddOp>(rest, most), most);
}

Value ExactSums::finish(ValueRange sums, Type element) {
  Value total = sums.front();
  for (Value more : sums.drop_front())
    total = ops.op<AddOp>(total, more);
  return ops.convert(total, element);
}
