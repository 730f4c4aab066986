//===- PassedValues.cpp - Values on their way into a function -------------===//
#include "PassedValues.h"
#include "RuntimeCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "shardc/Support/Strides.h"

using namespace mlir;
using namespace shardc;

Value PassedValues::pass(Value value) {
  if (auto type = dyn_cast<MemRefType>(value.getType()))
    return passMemref(value, type);
  if (isa<LLVM::LLVMPointerType>(value.getType()))
    return passWord(value);
  return passScalar(value);
}

/// Passes an i64 or a pointer as it is.
Value PassedValues::passWord(Value word) {
  words.push_back(word);
  return find(word.getType(), static_cast<int64_t>(words.size()) - 1);
}

Value PassedValues::passIndex(Value index) {
  Value word =
      arith::IndexCastOp::create(outside, loc, outside.getI64Type(), index);
  return arith::IndexCastOp::create(inside, loc, inside.getIndexType(),
                                    passWord(word));
}

Value PassedValues::passScalar(Value scalar) {
  Type type = scalar.getType(), i64 = outside.getI64Type();
  if (type.isIndex())
    return passIndex(scalar);
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    Value real = passScalar(complex::ReOp::create(outside, loc, part, scalar));
    Value imaginary =
        passScalar(complex::ImOp::create(outside, loc, part, scalar));
    if (!real || !imaginary)
      return {};
    return complex::CreateOp::create(inside, loc, type, real, imaginary);
  }
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64)
    return {};
  unsigned width = type.getIntOrFloatBitWidth();
  Type bits = outside.getIntegerType(width);
  Value word = scalar;
  if (isa<FloatType>(type))
    word = arith::BitcastOp::create(outside, loc, bits, word);
  if (width < 64)
    word = arith::ExtUIOp::create(outside, loc, i64, word);
  Value result = passWord(word);
  if (width < 64)
    result = arith::TruncIOp::create(inside, loc, bits, result);
  if (isa<FloatType>(type))
    result = arith::BitcastOp::create(inside, loc, type, result);
  return result;
}

Value PassedValues::passMemref(Value memref, MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(getStridesAndOffset(type, strides, offset)))
    return {};
  Type i64 = outside.getI64Type();
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(outside, loc, memref);
  Value address = arith::IndexCastOp::create(outside, loc, i64, base);
  Type ptr = LLVM::LLVMPointerType::get(outside.getContext());
  Value pointer =
      passWord(LLVM::IntToPtrOp::create(outside, loc, ptr, address));
  memref::ExtractStridedMetadataOp metadata;
  auto piece = [&](int64_t known, auto value) -> Value {
    if (ShapedType::isStatic(known))
      return LLVM::ConstantOp::create(inside, loc, inside.getI64Type(),
                                      inside.getI64IntegerAttr(known));
    if (!metadata)
      metadata = memref::ExtractStridedMetadataOp::create(outside, loc, memref);
    return passWord(arith::IndexCastOp::create(outside, loc, i64, value()));
  };
  SmallVector<Value> sizes, steps;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    sizes.push_back(
        piece(type.getDimSize(i), [&] { return metadata.getSizes()[i]; }));
    steps.push_back(
        piece(strides[i], [&] { return metadata.getStrides()[i]; }));
  }
  Value start = piece(offset, [&] { return metadata.getOffset(); });
  return memrefAt(inside, loc, type, pointer, sizes, steps, start);
}
