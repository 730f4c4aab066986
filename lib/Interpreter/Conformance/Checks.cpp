//===- Checks.cpp - What a program expects of itself ----------------------===//
#include "../Evaluator.h"
#include "shardc/Dialect/Check/IR/Check.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interpreter/DialectInterface.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

/// How many numbers of the format are between two; each side of zero counts.
static uint64_t stepsBetween(const Format &format, double a, double b) {
  auto place = [&](double value) -> int64_t {
    uint64_t bits = bitsOf(format, std::fabs(value));
    return std::signbit(value) ? -static_cast<int64_t>(bits)
                               : static_cast<int64_t>(bits);
  };
  int64_t x = place(a), y = place(b);
  return x > y ? static_cast<uint64_t>(x) - y : static_cast<uint64_t>(y) - x;
}

/// Calls `holds` for pairs of real numbers, complex ones by part.
static bool
allHold(const Array &a, const Array &b,
        llvm::function_ref<bool(const Format &, double, double)> holds) {
  if (a.shape() != b.shape())
    return false;
  for (int64_t i = 0; i < a.size(); ++i) {
    if (a.format().isInteger()) {
      if (a[i].integer != b[i].integer)
        return false;
      continue;
    }
    Format part = a.format().part();
    if (!holds(part, a[i].real, b[i].real) ||
        (a.format().isComplex() && !holds(part, a[i].imag, b[i].imag)))
      return false;
  }
  return true;
}

static bool areEqual(const Array &a, const Array &b) {
  return allHold(a, b,
                 [](const Format &, double x, double y) { return x == y; });
}

static bool areClose(const Array &a, const Array &b, double tolerance) {
  return allHold(a, b, [&](const Format &, double x, double y) {
    if (!std::isfinite(x) || !std::isfinite(y))
      return x == y || (std::isnan(x) && std::isnan(y));
    return std::fabs(x - y) <= tolerance;
  });
}

static bool areWithin(const Array &a, const Array &b, uint64_t least,
                      uint64_t most) {
  return allHold(a, b, [&](const Format &format, double x, double y) {
    // What is no number is no steps from itself, and all there are from others.
    bool isSame = x == y || (std::isnan(x) && std::isnan(y));
    uint64_t steps = std::isfinite(x) && std::isfinite(y)
                         ? stepsBetween(format, x, y)
                     : isSame ? 0
                              : std::numeric_limits<uint64_t>::max();
    return least <= steps && steps <= most;
  });
}

static FailureOr<Values> note(Evaluator &evaluator, Operation *op, bool holds) {
  if (holds)
    ++evaluator.outcome.checksHeld;
  else
    evaluator.outcome.failedChecks.push_back(
        {op->getLoc(), op->getName().getStringRef().str() + " does not hold"});
  return Values();
}

static FailureOr<Values> expectEq(Evaluator &evaluator, check::ExpectEqOp op,
                                  ArrayRef<Array> in) {
  return note(evaluator, op, areEqual(in[0], in[1]));
}
static FailureOr<Values> expectAlmostEq(Evaluator &evaluator,
                                        check::ExpectAlmostEqOp op,
                                        ArrayRef<Array> in) {
  return note(evaluator, op,
              areClose(in[0], in[1], op.getTolerance().convertToDouble()));
}
static FailureOr<Values>
expectClose(Evaluator &evaluator, check::ExpectCloseOp op, ArrayRef<Array> in) {
  return note(evaluator, op,
              areWithin(in[0], in[1], op.getMinUlpDifference(),
                        op.getMaxUlpDifference()));
}
static FailureOr<Values> expectEqConst(Evaluator &evaluator,
                                       check::ExpectEqConstOp op,
                                       ArrayRef<Array> in) {
  std::optional<Array> expected = Array::read(op.getValue());
  if (!expected)
    return Evaluator::unknown(op, "a constant of elements of another kind");
  return note(evaluator, op, areEqual(in[0], *expected));
}
static FailureOr<Values> expectAlmostEqConst(Evaluator &evaluator,
                                             check::ExpectAlmostEqConstOp op,
                                             ArrayRef<Array> in) {
  std::optional<Array> expected = Array::read(op.getValue());
  if (!expected)
    return Evaluator::unknown(op, "a constant of elements of another kind");
  return note(evaluator, op,
              areClose(in[0], *expected, op.getTolerance().convertToDouble()));
}

static FailureOr<Values> evaluateEq(Evaluator &, Operation *op,
                                    ArrayRef<Array> in) {
  Array result(Format::boolean(),
               cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  if (result.rank() == 0) {
    result.set(0).integer = areClose(in[0], in[1], 1e-4);
    return Values{result};
  }
  for (int64_t i = 0; i < result.size(); ++i)
    result.set(i).integer =
        areClose(in[0].elementAt(i), in[1].elementAt(i), 1e-4);
  return Values{result};
}

static void addChecks(Table &table) {
  table.add<check::ExpectEqOp>(expectEq);
  table.add<check::ExpectAlmostEqOp>(expectAlmostEq);
  table.add<check::ExpectCloseOp>(expectClose);
  table.add<check::ExpectEqConstOp>(expectEqConst);
  table.add<check::ExpectAlmostEqConstOp>(expectAlmostEqConst);
  table.handlers["check.eq"] = table.customCalls["check.eq"] =
      withForm(2, 1, evaluateEq);
  auto addCall = [&](StringRef name,
                     bool (*holds)(const Array &got, const Array &expected)) {
    table.customCalls[name] = withForm(
        2, 0, [holds](Evaluator &evaluator, Operation *op, ArrayRef<Array> in) {
          return note(evaluator, op, holds(in[0], in[1]));
        });
  };
  addCall("check.expect_eq", areEqual);
  addCall("check.expect_almost_eq",
          [](const Array &a, const Array &b) { return areClose(a, b, 1e-3); });
  addCall("check.expect_close",
          [](const Array &a, const Array &b) { return areWithin(a, b, 0, 3); });
}

namespace {
struct EvaluateChecks final : HandlerDialectInterface {
  using HandlerDialectInterface::HandlerDialectInterface;
  void addHandlers(Table &table) const override { addChecks(table); }
};
} // namespace

void shardc::interpreter::registerConformanceHandlers(
    DialectRegistry &registry) {
  registry.insert<check::CheckDialect>();
  registry.addExtension(+[](MLIRContext *, check::CheckDialect *dialect) {
    dialect->addInterfaces<EvaluateChecks>();
  });
  // Checks come as custom calls of StableHLO too.
  registry.addExtension(
      +[](MLIRContext *context, stablehlo::StablehloDialect *) {
        context->loadDialect<check::CheckDialect>();
      });
}
