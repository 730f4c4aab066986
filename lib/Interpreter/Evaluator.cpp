//===- Evaluator.cpp - Runs blocks op by op -------------------------------===//
#include "Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Solver/IR/Solver.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interpreter/DialectInterface.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

const Table &shardc::interpreter::everything() {
  static const Table table = [] {
    Table made;
    addElementwise(made);
    addSpecialFunctions(made);
    addShapes(made);
    addAddressing(made);
    addContractions(made);
    addReductions(made);
    addSorting(made);
    addFourier(made);
    addLinearAlgebra(made);
    addRandom(made);
    addControl(made);
    addManual(made);
    addManualCalls(made);
    addCollectives(made);
    addLocal(made);
    addExchanges(made);
    addRows(made);
    addTensors(made);
    addPairs(made);
    return made;
  }();
  return table;
}

Handler shardc::interpreter::withForm(size_t operands, size_t results,
                                      Handler handler) {
  return [=, handler =
                 std::move(handler)](Evaluator &evaluator, Operation *op,
                                     ArrayRef<Array> in) -> FailureOr<Values> {
    if (in.size() < operands || op->getNumResults() < results)
      return Evaluator::unknown(op, "a call with so few operands or results");
    return handler(evaluator, op, in);
  };
}

Format shardc::interpreter::formatOf(Value value) {
  return *Format::of(getElementTypeOrSelf(value.getType()));
}

/// What is known where dialects of a tool are.
static std::shared_ptr<const Table> tableIn(MLIRContext *context) {
  DialectInterfaceCollection<HandlerDialectInterface> dialects(context);
  if (dialects.begin() == dialects.end())
    return {std::shared_ptr<void>(), &everything()};
  auto more = std::make_shared<Table>(everything());
  for (const HandlerDialectInterface &dialect : dialects)
    dialect.addHandlers(*more);
  return more;
}

Evaluator::Evaluator(ModuleOp module, const Options &options)
    : ownTable(tableIn(module.getContext())), table(*ownTable), module(module),
      options(options) {
  Array::takeMisuse(); // what was before is none of its ops'
}

LogicalResult Evaluator::unknown(Operation *op, const llvm::Twine &what) {
  return emitUnsupported(op->getLoc())
         << "not known to the interpreter: " << what.str();
}

LogicalResult Evaluator::spend(Operation *op, int64_t elements) {
  work += elements + 1;
  if (options.maxWork == 0 || work <= options.maxWork)
    return success();
  return emitUnsupported(op->getLoc())
         << "the interpreter was to compute at most " << options.maxWork
         << " elements";
}

Values Evaluator::operandsOf(Operation *op, const Lane &lane) {
  Values operands;
  for (Value operand : op->getOperands())
    operands.push_back(lane.values.lookup(operand));
  return operands;
}

void Evaluator::bind(ValueRange results, Lane &lane, ArrayRef<Array> values) {
  for (auto [result, value] : llvm::zip_equal(results, values))
    lane.values[result] = value;
}

const Evaluator::Known &Evaluator::known(Operation *op) {
  auto [it, isNew] = cache.try_emplace(op->getName());
  if (!isNew)
    return it->second;
  StringRef name = op->getName().getStringRef();
  Known &found = it->second;
  if (auto at = table.handlers.find(name); at != table.handlers.end())
    found.handler = &at->second;
  if (auto at = table.lockstep.find(name); at != table.lockstep.end())
    found.lockstep = &at->second;
  found.unary = table.unary.lookup(name);
  found.binary = table.binary.lookup(name);
  return found;
}

Binary Evaluator::binaryOf(Operation *op) const {
  return table.binary.lookup(op->getName().getStringRef());
}

Operation *Evaluator::singleOp(Region &region) const {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return nullptr;
  Operation &op = block.front(), &end = block.back();
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 ||
      end.getNumOperands() != 1 || !binaryOf(&op) ||
      op.getOperand(0) != block.getArgument(0) ||
      op.getOperand(1) != block.getArgument(1) ||
      end.getOperand(0) != op.getResult(0))
    return nullptr;
  return &op;
}

FailureOr<Values> Evaluator::compute(Operation *op, ArrayRef<Array> operands) {
  const Known &what = known(op);
  if (what.unary) {
    const Array &operand = operands[0];
    Format format = formatOf(op->getResult(0));
    Array result(format, operand.shape());
    for (int64_t i = 0, e = result.size(); i < e; ++i)
      result.set(i) = what.unary(operand.format(), format, operand[i]);
    return Values{result};
  }
  if (what.binary) {
    const Array &lhs = operands[0], &rhs = operands[1];
    if (lhs.shape() != rhs.shape())
      return op->emitError() << "has operands of different shapes when it runs";
    Array result(lhs.format(), lhs.shape());
    for (int64_t i = 0, e = result.size(); i < e; ++i)
      result.set(i) = what.binary(lhs.format(), lhs[i], rhs[i]);
    return Values{result};
  }
  if (what.handler)
    return (*what.handler)(*this, op, operands);
  return Evaluator::unknown(op, "'" + op->getName().getStringRef() + "'");
}

//===----------------------------------------------------------------------===//
// What an op is given, and what it gives
//===----------------------------------------------------------------------===//

/// Whether verifiers of `op`'s dialect take an open size for any size, so that
/// they can be asked of operands whose sizes are known. Those of others compare
/// types as they are written: what their ops need is verified by who computes
/// them.
static bool takesOpenSizes(Operation *op) {
  Dialect *dialect = op->getDialect();
  return isa_and_nonnull<stablehlo::StablehloDialect, chlo::ChloDialect,
                         solver::SolverDialect>(dialect) ||
         (dialect &&
          dialect->getRegisteredInterface<HandlerDialectInterface>());
}

/// Whether `op` looks at none of its first operand's elements in `lane`: of a
/// gather without an index, or windows that hand nothing on. A rank's block
/// need not have room for a slice or a window then.
static bool readsNothing(Operation *op, const Lane &lane) {
  return isa<stablehlo::GatherOp, stablehlo::SelectAndScatterOp>(op) &&
         lane.values.find(op->getOperand(1))->second.size() == 0;
}

/// Gives the results of `op` the types that follow from its operands', where
/// the op can tell.
static LogicalResult refineResults(Operation *op) {
  auto inferring = dyn_cast<InferTypeOpInterface>(op);
  if (!inferring)
    return success();
  SmallVector<Type> types;
  if (failed(inferring.inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
          op->getRegions(), types)))
    return failure();
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
    result.setType(type);
  return success();
}

/// Verifies `op` with the sizes that its operands have in each lane. A type
/// with
/// `?` fits them all: only now is it known whether they go together.
LogicalResult Evaluator::verifyOperands(Operation *op, Lanes lanes) {
  if (!takesOpenSizes(op) || llvm::all_of(op->getOperandTypes(), [](Type type) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        return !tensor || tensor.hasStaticShape();
      }))
    return success();
  for (Lane *lane : lanes) {
    if (readsNothing(op, *lane))
      continue;
    std::vector<int64_t> sizes;
    Block values; // the operands, with the types that they have in this lane
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (!type)
        continue;
      const Array &array = lane->values.find(operand)->second;
      llvm::append_range(sizes, array.shape());
      mapping.map(operand, values.addArgument(type.clone(array.shape()),
                                              operand.getLoc()));
    }
    if (!verified[op].insert(sizes).second)
      continue;
    std::string reason;
    LogicalResult isRight = success();
    {
      ScopedDiagnosticHandler handler(op->getContext(),
                                      [&](Diagnostic &diagnostic) {
                                        if (reason.empty())
                                          reason = diagnostic.str();
                                      });
      Operation *actual = op->clone(mapping);
      op->getBlock()->getOperations().insert(Block::iterator(op), actual);
      isRight = success(succeeded(refineResults(actual)) &&
                        succeeded(op->getName().verifyInvariants(actual)));
      actual->erase();
    }
    if (failed(isRight))
      return emitError(op->getLoc()) << reason << " when it runs";
  }
  return success();
}

/// `values` have the sizes that their types say, where they say any.
LogicalResult Evaluator::verifySizes(Operation *op, ValueRange values,
                                     const Lane &lane, StringRef what) {
  for (auto [number, value] : llvm::enumerate(values)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    const Array &array = lane.values.find(value)->second;
    if (array.rank() != type.getRank())
      return op->emitError() << "has " << array.rank() << " dims of " << what
                             << ' ' << number << " when it runs, its type "
                             << type << " says " << type.getRank();
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!type.isDynamicDim(dim) && array.dim(dim) != type.getDimSize(dim))
        return op->emitError()
               << "has " << array.dim(dim) << " elements in dim " << dim
               << " of " << what << ' ' << number << " when it runs, its type "
               << type << " says " << type.getDimSize(dim);
  }
  return success();
}

/// Nothing was asked of arrays that cannot be had.
LogicalResult Evaluator::verifyUse(Operation *op) {
  switch (Array::takeMisuse()) {
  case Misuse::None:
    return success();
  case Misuse::Outside:
    return op->emitError()
           << "reads or writes an element that is not there when it runs";
  case Misuse::Negative:
    return op->emitError()
           << "has an array of less than no elements when it runs";
  case Misuse::TooMany:
    return Evaluator::unknown(op, "an array of more than " +
                                      llvm::Twine(kMostElements) + " elements");
  }
  return success();
}

LogicalResult Evaluator::runOp(Operation &op, Lanes lanes) {
  for (Type type : op.getResultTypes())
    if (isa<ShapedType>(type) && (!isa<RankedTensorType>(type) ||
                                  !Format::of(getElementTypeOrSelf(type))))
      return Evaluator::unknown(&op, "elements of this type");
  if (failed(verifyOperands(&op, lanes)))
    return failure();
  if (const LockstepHandler *lockstep = known(&op).lockstep)
    return (*lockstep)(*this, &op, lanes);
  static const Handler asKnown = [](Evaluator &evaluator, Operation *op,
                                    ArrayRef<Array> operands) {
    return evaluator.compute(op, operands);
  };
  return runEach(&op, lanes, asKnown);
}

LogicalResult Evaluator::runEach(Operation *op, Lanes lanes,
                                 const Handler &handler) {
  for (Lane *lane : lanes) {
    current = lane;
    FailureOr<Values> results = handler(*this, op, operandsOf(op, *lane));
    if (failed(results))
      return failure();
    if (results->size() != op->getNumResults())
      return Evaluator::unknown(
          op, "'" + op->getName().getStringRef() + "' with " +
                  llvm::Twine(op->getNumResults()) + " results");
    int64_t elements = 0;
    for (const Array &result : *results)
      elements += result.size();
    if (failed(spend(op, elements)))
      return failure();
    bind(op->getResults(), *lane, *results);
  }
  return success();
}

LogicalResult Evaluator::run(Block &block, Lanes lanes,
                             std::vector<Values> &yielded) {
  for (Operation &op : block) {
    if (op.getNumSuccessors() != 0)
      return Evaluator::unknown(&op, "a branch to another block");
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      yielded.clear();
      for (Lane *lane : lanes)
        yielded.push_back(operandsOf(&op, *lane));
      return success();
    }
    LogicalResult ran = runOp(op, lanes);
    // First: what was said after a misuse is not to be believed.
    if (failed(verifyUse(&op)) || failed(ran))
      return failure();
    for (Lane *lane : lanes)
      if (failed(verifySizes(&op, op.getResults(), *lane, "result")))
        return failure();
  }
  yielded.assign(lanes.size(), {});
  return success();
}

LogicalResult Evaluator::run(Region &region, Lanes lanes,
                             ArrayRef<Values> arguments,
                             std::vector<Values> &yielded) {
  for (auto [lane, values] : llvm::zip_equal(lanes, arguments))
    bind(region.getArguments(), *lane, values);
  for (Lane *lane : lanes)
    if (failed(verifySizes(region.getParentOp(), region.getArguments(), *lane,
                           "argument")))
      return failure();
  return run(region.front(), lanes, yielded);
}

FailureOr<Values> Evaluator::apply(Region &region, ArrayRef<Array> arguments) {
  Lane *lane = current;
  std::vector<Values> yielded;
  Values values(arguments);
  if (failed(run(region, lane, values, yielded)))
    return failure();
  current = lane;
  return yielded.front();
}

FailureOr<Values>
Evaluator::applyToEach(Region &region, ArrayRef<Array> columns, int64_t count) {
  Lane lane;
  bind(region.getArguments(), lane, columns);
  for (Operation &op : region.front()) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operandsOf(&op, lane);
    FailureOr<Values> results = compute(&op, operandsOf(&op, lane));
    if (failed(results) || failed(spend(&op, count)))
      return failure();
    for (Array &result : *results)
      if (result.rank() == 0) {
        Element element = result[0];
        result = Array(result.format(), count);
        result.fill(element);
      }
    bind(op.getResults(), lane, *results);
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

FailureOr<func::FuncOp> shardc::interpreter::findFunction(ModuleOp module) {
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    return main;
  SmallVector<func::FuncOp> all(module.getOps<func::FuncOp>());
  if (all.size() == 1)
    return all.front();
  SmallVector<func::FuncOp> open;
  for (func::FuncOp function : all)
    if (function.isPublic())
      open.push_back(function);
  if (open.size() == 1)
    return open.front();
  return module.emitError()
         << "has no function @main, and " << open.size() << " public ones";
}

FailureOr<std::vector<RankedTensorType>>
shardc::interpreter::argumentTypes(ModuleOp module) {
  FailureOr<func::FuncOp> function = findFunction(module);
  if (failed(function))
    return failure();
  std::vector<RankedTensorType> types;
  for (Type type : function->getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !Format::of(tensor.getElementType()))
      return Evaluator::unknown(
          *function, "an argument that is no tensor of known elements");
    types.push_back(tensor);
  }
  return types;
}

FailureOr<Outcome> shardc::interpreter::interpret(ModuleOp module,
                                                  ArrayRef<Array> arguments,
                                                  const Options &options) {
  FailureOr<std::vector<RankedTensorType>> types = argumentTypes(module);
  FailureOr<func::FuncOp> function = findFunction(module);
  if (failed(types) || failed(function))
    return failure();
  if (types->size() != arguments.size())
    return function->emitError()
           << "has " << types->size() << " arguments, but " << arguments.size()
           << " arrays are given";
  for (auto [type, argument] : llvm::zip_equal(*types, arguments))
    if (failed(verifyCompatibleShape(type.getShape(), argument.shape())))
      return function->emitError() << "has an argument of type " << type
                                   << ", which the array given does not fit";
  Evaluator evaluator(module, options);
  evaluator.devices = countPartitions(module);
  std::vector<Lane> made(evaluator.devices);
  SmallVector<Lane *> lanes;
  for (auto [device, lane] : llvm::enumerate(made)) {
    lane.device = device;
    lanes.push_back(&lane);
  }
  std::vector<Values> values(lanes.size(), Values(arguments)), yielded;
  evaluator.entered.insert(*function);
  if (failed(evaluator.run(function->getBody(), lanes, values, yielded)))
    return failure();
  llvm::append_range(evaluator.outcome.resultTypes, function->getResultTypes());
  evaluator.outcome.results.assign(yielded.front().begin(),
                                   yielded.front().end());
  return std::move(evaluator.outcome);
}
