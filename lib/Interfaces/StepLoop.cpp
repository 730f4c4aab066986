//===- StepLoop.cpp - Steps of a ring as a loop ---------------------------===//

#include "shardc/Interfaces/StepLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;

OpFoldResult shardc::pickEntry(OpBuilder &builder, Location loc,
                               ArrayRef<int64_t> table, Value index) {
  if (llvm::all_equal(table))
    return builder.getIndexAttr(table.front());
  int64_t step = table[1] - table[0];
  bool isEven = llvm::all_of(llvm::enumerate(table), [&](auto entry) {
    return entry.value() == table[0] + int64_t(entry.index()) * step;
  });
  if (!isEven) {
    auto type =
        RankedTensorType::get({int64_t(table.size())}, builder.getI64Type());
    Value entries = stablehlo::ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(Attribute(DenseElementsAttr::get(type, table))));
    Value entry = tensor::ExtractOp::create(builder, loc, entries, index);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      entry)
        .getResult();
  }
  Value value = index;
  if (step != 1)
    value = arith::MulIOp::create(
        builder, loc, value,
        arith::ConstantIndexOp::create(builder, loc, step));
  if (table[0] != 0)
    value = arith::AddIOp::create(
        builder, loc, value,
        arith::ConstantIndexOp::create(builder, loc, table[0]));
  return value;
}

SmallVector<Value> shardc::buildStepLoop(
    OpBuilder &builder, Location loc, int64_t first, int64_t last,
    ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  if (first >= last)
    return llvm::to_vector(carried);
  return buildStepLoop(builder, loc, first,
                       arith::ConstantIndexOp::create(builder, loc, last),
                       carried, body);
}

SmallVector<Value> shardc::buildStepLoop(
    OpBuilder &builder, Location loc, int64_t first, Value last,
    ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto i64 = RankedTensorType::get({}, builder.getI64Type());
  Value end;
  if (!getConstantIntValue(last))
    end = tensor::FromElementsOp::create(
        builder, loc, i64,
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), last)
            .getResult());
  auto number = [&](int64_t value) -> Value {
    return stablehlo::ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(Attribute(DenseElementsAttr::get(i64, value))));
  };
  SmallVector<Value> inits{number(first)};
  llvm::append_range(inits, carried);
  SmallVector<Type> types =
      llvm::map_to_vector(inits, [](Value value) { return value.getType(); });
  SmallVector<Location> locs(types.size(), loc);
  auto loop = stablehlo::WhileOp::create(builder, loc, types, inits);
  OpBuilder::InsertionGuard guard(builder);
  Block *condition = builder.createBlock(&loop.getCond(), {}, types, locs);
  Value goesOn = stablehlo::CompareOp::create(
      builder, loc, condition->getArgument(0),
      end ? end : number(*getConstantIntValue(last)),
      stablehlo::ComparisonDirection::LT, stablehlo::ComparisonType::SIGNED);
  stablehlo::ReturnOp::create(builder, loc, goesOn);
  Block *block = builder.createBlock(&loop.getBody(), {}, types, locs);
  Value step = block->getArgument(0);
  Value index = arith::IndexCastOp::create(
      builder, loc, builder.getIndexType(),
      tensor::ExtractOp::create(builder, loc, step, ValueRange()).getResult());
  SmallVector<Value> next{
      stablehlo::AddOp::create(builder, loc, i64, step, number(1))};
  llvm::append_range(
      next, body(index, ValueRange(block->getArguments()).drop_front()));
  stablehlo::ReturnOp::create(builder, loc, next);
  return llvm::to_vector(ValueRange(loop.getResults()).drop_front());
}

std::vector<Interval> shardc::buffersOf(int64_t count, int64_t size) {
  std::vector<Interval> buffers;
  for (int64_t number = 0; number < count; ++number)
    buffers.push_back({number * size, (number + 1) * size});
  return buffers;
}
