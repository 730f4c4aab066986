//===- Verify.cpp - The local view against the program --------------------===//
#include "Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Support/Refusal.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

/// The next number of SplitMix64.
static uint64_t draw(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Short fractions in [-1, 1), small integers: exact in most types.
static Array randomArray(RankedTensorType type, uint64_t &state) {
  Format format = *Format::of(type.getElementType());
  Array array(format, type.getShape());
  auto fraction = [&] {
    return (static_cast<int64_t>(draw(state) % 128) - 64) / 64.0;
  };
  for (int64_t i = 0; i < array.size(); ++i)
    if (format.isInteger())
      array.put(i, static_cast<int64_t>(draw(state) % 16) -
                       (format.isSigned ? 8 : 0));
    else if (format.isFloat())
      array.put(i, fraction());
    else
      array.put(i, std::complex<double>(fraction(), fraction()));
  return array;
}

/// How far results may be apart, of the largest of them: sums are taken in
/// another order by ranks.
static double relativeTolerance(const Format &format) {
  switch (format.bits) {
  case 64:
    return 1e-10;
  case 32:
    return 2e-4;
  case 16:
    return 5e-2;
  default:
    return 0.25;
  }
}

/// The narrowest type of floats that what `value` is computed from was rounded
/// to: a number that two ways to compute it leave on two sides of a border is
/// as far apart as that type's numbers are, whatever holds it then.
static Format roundedTo(Value value, const Format &format) {
  Format narrowest = format;
  llvm::SetVector<Operation *> makers;
  auto follow = [&](Value from) {
    // What a region is given comes from what its op is given.
    Operation *maker = from.getDefiningOp()
                           ? from.getDefiningOp()
                           : from.getParentBlock()->getParentOp();
    if (!isa_and_nonnull<func::FuncOp>(maker))
      makers.insert(maker);
  };
  follow(value);
  for (size_t i = 0; i < makers.size(); ++i)
    makers[i]->walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (std::optional<Format> made = Format::of(getElementTypeOrSelf(type));
            made && !made->isInteger())
          narrowest = made->bits < narrowest.bits || narrowest.isInteger()
                          ? *made
                          : narrowest;
      for (Value operand : op->getOperands())
        follow(operand);
      if (auto call = dyn_cast<func::CallOp>(op))
        if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                call, call.getCalleeAttr()))
          for (Operation &inner : callee.getBody().getOps())
            makers.insert(&inner);
    });
  return narrowest;
}

/// The first element that differs; -1 if none does. `rounded`: to what numbers
/// were rounded on the way.
static int64_t firstDifference(const Array &got, const Array &expected,
                               const Format &rounded) {
  const Format &format = expected.format();
  double largest = 0;
  for (int64_t i = 0; i < expected.size() && !format.isInteger(); ++i)
    for (double part : {expected[i].real, expected[i].imag})
      if (std::isfinite(part))
        largest = std::max(largest, std::fabs(part));
  // Arguments are numbers about one, computed with in f64: less than this is
  // what sums that cancel leave.
  constexpr double noise = 0x1p-46;
  double tolerance =
      format.isInteger()
          ? 0
          : std::max(relativeTolerance(rounded) * largest, noise);
  auto isClose = [&](double a, double b) {
    if (std::isfinite(a) && std::isfinite(b))
      return std::fabs(a - b) <= tolerance;
    return a == b || (std::isnan(a) && std::isnan(b));
  };
  for (int64_t i = 0; i < expected.size(); ++i) {
    bool isSame = format.isInteger()
                      ? got[i].integer == expected[i].integer
                      : isClose(got[i].real, expected[i].real) &&
                            (!format.isComplex() ||
                             isClose(got[i].imag, expected[i].imag));
    if (!isSame)
      return i;
  }
  return -1;
}

static std::string print(const Format &format, const Element &element) {
  if (format.isInteger())
    return std::to_string(element.integer);
  auto number = [](double value) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g", value);
    return text;
  };
  return format.isComplex()
             ? "(" + number(element.real) + ", " + number(element.imag) + ")"
             : number(element.real);
}

/// Runs `run`; what it does not know is no error but a remark.
static FailureOr<Outcome>
attempt(MLIRContext *context, StringRef view, bool &isKnown,
        llvm::function_ref<FailureOr<Outcome>()> run) {
  std::string reason;
  Location at = UnknownLoc::get(context);
  FailureOr<Outcome> outcome = failure();
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      std::string text = diagnostic.str();
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error ||
          !isUnsupported(diagnostic))
        return failure();
      reason = text;
      at = diagnostic.getLocation();
      return success();
    });
    outcome = run();
  }
  isKnown = reason.empty();
  if (!isKnown)
    emitRemark(at) << "partition not verified (" << view
                   << " view): " << StringRef(reason).drop_front(13);
  return outcome;
}

FailureOr<Verification> shardc::interpreter::verifyLocal(ModuleOp global,
                                                         ModuleOp local,
                                                         const Options &options,
                                                         uint64_t seed) {
  auto main = local.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return local.emitError() << "has no function @main";
  uint64_t state = seed;
  std::vector<Array> arguments;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    TypeAttr type = spmd::contract::GlobalType::ofArgument(main, i);
    auto tensor =
        type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
    if (!tensor || !Format::of(tensor.getElementType()))
      return main.emitError() << "does not say the type of argument " << i;
    if (options.maxWork != 0 && tensor.getNumElements() > options.maxWork) {
      emitRemark(main.getLoc())
          << "partition not verified: argument " << i << " has more than "
          << options.maxWork << " elements";
      return Verification::NotKnown;
    }
    arguments.push_back(randomArray(tensor, state));
  }
  bool isKnown;
  FailureOr<Outcome> expected =
      attempt(global.getContext(), "global", isKnown,
              [&] { return interpret(global, arguments, options); });
  if (!isKnown)
    return Verification::NotKnown;
  if (failed(expected))
    return failure();
  FailureOr<Outcome> got = attempt(local.getContext(), "local", isKnown, [&] {
    return interpretLocal(local, arguments, options);
  });
  if (!isKnown)
    return Verification::NotKnown;
  if (failed(got))
    return failure();
  ValueRange returned =
      findFunction(global)->getBody().front().getTerminator()->getOperands();
  // The program's own results come first, then those that its checks compare.
  if (got->results.size() < expected->results.size())
    return main.emitError()
           << "has " << got->results.size() << " results, the program "
           << expected->results.size();
  for (auto [i, theirs] : llvm::enumerate(expected->results)) {
    const Array &mine = got->results[i];
    if (mine.shape() != theirs.shape() || !(mine.format() == theirs.format()))
      return main.emitError()
             << "gives result " << i << " another type than the program";
    if (int64_t at = firstDifference(mine, theirs,
                                     roundedTo(returned[i], theirs.format()));
        at >= 0)
      return main.emitError()
             << "gives result " << i << " other elements than the program: at "
             << at << " " << print(mine.format(), mine[at]) << ", expected "
             << print(theirs.format(), theirs[at]);
  }
  return Verification::Equal;
}
