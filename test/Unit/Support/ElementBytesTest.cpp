//===- ElementBytesTest.cpp -----------------------------------------------===//

#include "shardc/Support/ElementBytes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace shardc;

TEST(ElementBytes, RoundsUpToWholeBytes) {
  MLIRContext context;
  EXPECT_EQ(elementBytes(IntegerType::get(&context, 1)), 1);
  EXPECT_EQ(elementBytes(IntegerType::get(&context, 4)), 1);
  EXPECT_EQ(elementBytes(IntegerType::get(&context, 16)), 2);
  EXPECT_EQ(elementBytes(IntegerType::get(&context, 64)), 8);
  EXPECT_EQ(elementBytes(Float8E4M3FNType::get(&context)), 1);
  EXPECT_EQ(elementBytes(BFloat16Type::get(&context)), 2);
  EXPECT_EQ(elementBytes(Float64Type::get(&context)), 8);
}

TEST(ElementBytes, CountsBothPartsOfComplexNumbers) {
  MLIRContext context;
  EXPECT_EQ(elementBytes(ComplexType::get(Float32Type::get(&context))), 8);
  EXPECT_EQ(elementBytes(ComplexType::get(Float64Type::get(&context))), 16);
}

TEST(ElementBytes, TakesIndicesAsWords) {
  MLIRContext context;
  EXPECT_EQ(elementBytes(IndexType::get(&context)), 8);
}

TEST(ElementBytes, IsNothingForWhatNoTensorHolds) {
  MLIRContext context;
  EXPECT_EQ(elementBytes(NoneType::get(&context)), 0);
}
