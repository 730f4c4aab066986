//===- NeutralElement.cpp - What combining leaves others as they are with -===//
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "shardc/Dialect/Spmd/IR/SpmdEnums.h"
#include <complex>

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// What sums of floats start from: -0, or +0 in formats that have no other.
static APFloat neutralOfSum(FloatType type) {
  return APFloat::getZero(type.getFloatSemantics(), /*Negative=*/true);
}

static std::optional<APFloat> neutralOf(ReductionKind kind, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  switch (kind) {
  case ReductionKind::Sum:
    if (!APFloat::semanticsHasZero(semantics))
      return std::nullopt;
    return neutralOfSum(type);
  case ReductionKind::Product:
    return APFloat::getOne(semantics);
  case ReductionKind::Min:
  case ReductionKind::Max: {
    bool isMax = kind == ReductionKind::Max;
    if (isMax && !APFloat::semanticsHasSignedRepr(semantics))
      return APFloat::getSmallest(semantics);
    return APFloat::semanticsHasInf(semantics)
               ? APFloat::getInf(semantics, /*Negative=*/isMax)
               : APFloat::getLargest(semantics, /*Negative=*/isMax);
  }
  default:
    return std::nullopt;
  }
}

static std::optional<APInt> neutralOf(ReductionKind kind, IntegerType type) {
  unsigned width = type.getWidth();
  bool isUnsigned = type.isUnsigned() || width == 1;
  switch (kind) {
  case ReductionKind::Sum:
  case ReductionKind::Or:
  case ReductionKind::Xor:
    return APInt(width, 0);
  case ReductionKind::Product:
    return APInt(width, 1);
  case ReductionKind::And:
    return APInt::getAllOnes(width);
  case ReductionKind::Min:
    return isUnsigned ? APInt::getMaxValue(width)
                      : APInt::getSignedMaxValue(width);
  case ReductionKind::Max:
    return isUnsigned ? APInt::getMinValue(width)
                      : APInt::getSignedMinValue(width);
  }
  return std::nullopt;
}

DenseElementsAttr spmd::neutralElement(ReductionKind kind, Type elementType) {
  auto scalar = RankedTensorType::get({}, elementType);
  if (auto complex = dyn_cast<ComplexType>(elementType)) {
    auto part = dyn_cast<FloatType>(complex.getElementType());
    bool isProduct = kind == ReductionKind::Product;
    if (!part || (kind != ReductionKind::Sum && !isProduct))
      return {};
    APFloat zero = isProduct ? APFloat::getZero(part.getFloatSemantics())
                             : neutralOfSum(part);
    APFloat real = isProduct ? APFloat::getOne(part.getFloatSemantics()) : zero;
    return DenseElementsAttr::get(
        scalar,
        ArrayRef<std::complex<APFloat>>{std::complex<APFloat>(real, zero)});
  }
  if (auto type = dyn_cast<FloatType>(elementType)) {
    std::optional<APFloat> value = neutralOf(kind, type);
    return value ? DenseElementsAttr::get(scalar, ArrayRef<APFloat>{*value})
                 : DenseElementsAttr();
  }
  if (auto type = dyn_cast<IntegerType>(elementType)) {
    std::optional<APInt> value = neutralOf(kind, type);
    return value ? DenseElementsAttr::get(scalar, ArrayRef<APInt>{*value})
                 : DenseElementsAttr();
  }
  return {};
}

TypedAttr spmd::neutralElement(Operation *combiner) {
  // Upstream's sums start from +0.
  if (isa<arith::AddFOp>(combiner)) {
    auto type = dyn_cast<FloatType>(combiner->getResult(0).getType());
    return type ? FloatAttr::get(type, neutralOfSum(type)) : TypedAttr();
  }
  return arith::getNeutralElement(combiner).value_or(TypedAttr());
}
