//===- StridesTest.cpp - Distances between elements of a buffer -----------===//
//
// MLIR's own answer is the oracle.
//
//===----------------------------------------------------------------------===//
#include "shardc/Support/Strides.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;

static void expectAsMlir(MemRefType type) {
  SmallVector<int64_t> expected, strides{7, 7};
  int64_t expectedOffset = -1, offset = -1;
  bool has = succeeded(type.getStridesAndOffset(expected, expectedOffset));
  ASSERT_EQ(succeeded(shardc::getStridesAndOffset(type, strides, offset)), has);
  if (!has)
    return;
  EXPECT_EQ(strides, expected);
  EXPECT_EQ(offset, expectedOffset);
  EXPECT_EQ(shardc::stridesAndOffset(type), std::pair(expected, offset));
}

TEST(Strides, PlainBuffers) {
  MLIRContext context;
  Builder b(&context);
  constexpr int64_t sizes[] = {1, 2, 3, 17, 4096, 0, ShapedType::kDynamic};
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    SmallVector<int64_t> shape;
    for (unsigned dims = random() % 6; shape.size() < dims;)
      shape.push_back(sizes[random() % std::size(sizes)]);
    expectAsMlir(MemRefType::get(shape, b.getF32Type()));
  }
}

TEST(Strides, OtherLayouts) {
  MLIRContext context;
  Builder b(&context);
  int64_t any = ShapedType::kDynamic;
  auto strided = [&](int64_t offset, ArrayRef<int64_t> strides) {
    return MemRefType::get({4, 8}, b.getF32Type(),
                           StridedLayoutAttr::get(&context, offset, strides));
  };
  expectAsMlir(strided(0, {8, 1}));
  expectAsMlir(strided(5, {16, 2}));
  expectAsMlir(strided(any, {any, 1}));
  AffineExpr row = b.getAffineDimExpr(0), column = b.getAffineDimExpr(1);
  for (AffineExpr place : {column * 4 + row, row.floorDiv(2) * 16 + column})
    expectAsMlir(
        MemRefType::get({4, 8}, b.getF32Type(),
                        AffineMapAttr::get(AffineMap::get(2, 0, place))));
}
