//===- ChloToMath.cpp - Elementary and special functions ------------------===//
#include "StableHLOToLinalgComplex.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

using ScalarBuilder = ImplicitLocOpBuilder;

template <typename ChloOp, typename MathOp>
static void addFunction(LoweringTable &table) {
  table.scalar<ChloOp>([](ScalarBuilder &b, Operation *op, ValueRange args) -> Value {
    auto type = dyn_cast<FloatType>(args[0].getType());
    if (!type) {
      op->emitOpError("unsupported for elements of type ") << args[0].getType();
      return nullptr;
    }
    Value wide = castFloat(b, args[0], computeType(type));
    Value result = MathOp::create(b, wide);
    return castFloat(b, result, type);
  });
}

static Value square(ScalarBuilder &b, Operation *, ValueRange args) {
  Value x = args[0];
  if (isa<ComplexType>(x.getType()))
    return complexMultiply(b, {x, x});
  auto type = dyn_cast<FloatType>(x.getType());
  if (!type)
    return arith::MulIOp::create(b, x, x);
  Value wide = castFloat(b, x, computeType(type));
  Value result = arith::MulFOp::create(b, wide, wide);
  return castFloat(b, result, type);
}

void shardc::lowering::addChlo(LoweringTable &table) {
  addFunction<chlo::AcosOp, math::AcosOp>(table);
  addFunction<chlo::AcoshOp, math::AcoshOp>(table);
  addFunction<chlo::AsinOp, math::AsinOp>(table);
  addFunction<chlo::AsinhOp, math::AsinhOp>(table);
  addFunction<chlo::AtanOp, math::AtanOp>(table);
  addFunction<chlo::AtanhOp, math::AtanhOp>(table);
  addFunction<chlo::CoshOp, math::CoshOp>(table);
  addFunction<chlo::ErfOp, math::ErfOp>(table);
  addFunction<chlo::ErfcOp, math::ErfcOp>(table);
  addFunction<chlo::SinhOp, math::SinhOp>(table);
  addFunction<chlo::TanOp, math::TanOp>(table);
  table.scalar<chlo::SquareOp>(square);
}
