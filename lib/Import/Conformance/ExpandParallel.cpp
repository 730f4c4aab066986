//===- ExpandParallel.cpp - Programs side by side, on ranks ---------------===//
#include "ExpandProbes.h"
#include "ParallelPrograms.h"
#include "shardc/Dialect/Check/IR/Check.h"
#include "shardc/Import/ConformancePasses.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

namespace shardc {
#define GEN_PASS_DEF_EXPANDPARALLELPASS
#include "shardc/Import/ConformancePasses.h.inc"
} // namespace shardc

static constexpr StringLiteral kMeshName = "processes";
static constexpr StringLiteral kAxisNames[] = {"replica", "partition"};

static StringRef nameOf(Attribute attr) {
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attr))
    return symbol.getValue();
  return cast<StringAttr>(attr).getValue();
}

LogicalResult Expander::readPrograms() {
  auto find = [&](Attribute name) {
    auto function = symbols.lookup<func::FuncOp>(nameOf(name));
    if (!function || function.isExternal() ||
        !function.getBody().hasOneBlock()) {
      op.emitOpError("runs @")
          << nameOf(name)
          << ", which is no function with a body of this module";
      return func::FuncOp();
    }
    return function;
  };
  replicas = op.getPrograms().size();
  for (auto row : op.getPrograms().getAsRange<ArrayAttr>()) {
    partitions = row.size();
    for (Attribute name : row) {
      func::FuncOp function = find(name);
      if (!function)
        return failure();
      Program &program = programs[function];
      program.function = function;
      program.processes.push_back(ofProcess.size());
      ofProcess.push_back(nullptr);
    }
  }
  for (auto &[function, program] : programs) {
    program.next = program.function.getBody().front().begin();
    for (int64_t process : program.processes)
      ofProcess[process] = &program;
  }
  if (ArrayAttr infeed = op.getInfeedAttr())
    for (Attribute name : infeed) {
      func::FuncOp function = find(name);
      if (!function)
        return failure();
      if (function.getNumArguments() != 0)
        return op.emitOpError("feeds in @")
               << nameOf(name) << ", which takes arguments, expected none";
      fed.push_back(function);
    }
  SmallVector<Type> arguments, results;
  for (Program *program : ofProcess) {
    llvm::append_range(arguments, program->function.getArgumentTypes());
    llvm::append_range(results, program->function.getResultTypes());
  }
  if (!llvm::equal(arguments, op.getOperandTypes()) ||
      !llvm::equal(results, op.getResultTypes()))
    return op.emitOpError("has type ")
           << FunctionType::get(context, op.getOperandTypes(),
                                op.getResultTypes())
           << ", but its programs together have "
           << FunctionType::get(context, arguments, results);
  for (Type type : llvm::concat<Type>(arguments, results))
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        !isToken(type) && (!tensor || !tensor.hasStaticShape()))
      return emitOpUnsupported(op, ": hands over ")
             << type << ", expected tensors of known shape and tokens";
  return success();
}

//===----------------------------------------------------------------------===//
// The region
//===----------------------------------------------------------------------===//

/// `type` with a new first dim of `lead`.
static RankedTensorType withLead(Type type, int64_t lead) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape = {lead};
  llvm::append_range(shape, tensor.getShape());
  return RankedTensorType::get(shape, tensor.getElementType());
}

sdy::TensorShardingAttr Expander::stackedSharding(int64_t dims) {
  SmallVector<sdy::AxisRefAttr> axes;
  for (StringRef axis : kAxisNames)
    axes.push_back(sdy::AxisRefAttr::get(context, axis, {}));
  SmallVector<sdy::DimensionShardingAttr> list(
      dims, sdy::DimensionShardingAttr::get(context, {}, /*isClosed=*/true,
                                            std::nullopt));
  list[0] = sdy::DimensionShardingAttr::get(context, axes, /*isClosed=*/true,
                                            std::nullopt);
  return sdy::TensorShardingAttr::get(
      context, FlatSymbolRefAttr::get(context, kMeshName), list, {}, {},
      sdy::ReductionKind::Sum);
}

LogicalResult Expander::addMesh() {
  auto module = op->getParentOfType<ModuleOp>();
  if (!symbols.lookup(kMeshName)) {
    SmallVector<sdy::MeshAxisAttr> axes;
    for (auto [name, size] :
         llvm::zip(kAxisNames, ArrayRef{replicas, partitions}))
      axes.push_back(sdy::MeshAxisAttr::get(context, name, size));
    OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
    symbols.insert(sdy::MeshOp::create(atStart, op.getLoc(), kMeshName,
                                       sdy::MeshAttr::get(context, axes, {})),
                   module.getBody()->begin());
  } else if (auto mesh = symbols.lookup<sdy::MeshOp>(kMeshName);
             !mesh || mesh.getMesh().getAxes()[0].getSize() != replicas ||
             mesh.getMesh().getAxes()[1].getSize() != partitions) {
    return emitUnsupported(op, "'")
           << op->getName() << "' at " << userLocation(op.getLoc())
           << " has a grid of another size than one before it";
  }
  return success();
}

sdy::ManualComputationOp Expander::createRegion() {
  SmallVector<Value> stacked;
  SmallVector<sdy::TensorShardingAttr> in, out;
  SmallVector<Type> blocks, stackedResults;
  for (auto &[function, program] : programs) {
    for (auto [i, type] :
         llvm::enumerate(program.function.getArgumentTypes())) {
      if (isToken(type))
        continue;
      SmallVector<Value> parts;
      for (auto [process, of] : llvm::enumerate(ofProcess)) {
        Value part = of == &program ? op.getOperand(firstOperand[process] + i)
                                    : zeros(type);
        parts.push_back(ops.reshape(part, withLead(type, 1).getShape()));
      }
      auto all = withLead(type, numProcesses());
      stacked.push_back(parts.size() == 1 ? parts[0]
                                          : stablehlo::ConcatenateOp::create(
                                                ops.b, all, parts, 0)
                                                .getResult());
      in.push_back(stackedSharding(all.getRank()));
      blocks.push_back(withLead(type, 1));
    }
    for (Type type : program.function.getResultTypes())
      if (!isToken(type)) {
        auto all = withLead(type, numProcesses());
        stackedResults.push_back(all);
        out.push_back(stackedSharding(all.getRank()));
      }
  }
  SmallVector<StringAttr> manualAxes;
  for (StringRef axis : kAxisNames)
    manualAxes.push_back(StringAttr::get(context, axis));
  auto region = sdy::ManualComputationOp::create(
      ops.b, stackedResults, stacked,
      sdy::TensorShardingPerValueAttr::get(context, in),
      sdy::TensorShardingPerValueAttr::get(context, out),
      sdy::ManualAxesAttr::get(context, manualAxes));
  Block &body = region.getBody().emplaceBlock();
  for (Type block : blocks)
    body.addArgument(block, op.getLoc());
  return region;
}

LogicalResult Expander::fillRegion(sdy::ManualComputationOp region) {
  Block &body = region.getBody().front();
  ImplicitLocOpBuilder outside = ops.b;
  ops.b.setInsertionPointToStart(&body);
  unsigned next = 0;
  for (auto &[function, program] : programs)
    for (BlockArgument argument : program.function.getArguments())
      if (isToken(argument))
        program.values.map(argument, token());
      else
        program.values.map(
            argument,
            ops.reshape(body.getArgument(next++),
                        cast<RankedTensorType>(argument.getType()).getShape()));
  if (failed(runPrograms()))
    return failure();
  SmallVector<Value> yielded;
  for (auto &[function, program] : programs)
    for (Value value : program.next->getOperands())
      if (!isToken(value))
        yielded.push_back(ops.reshape(program.values.lookup(value),
                                      withLead(value.getType(), 1).getShape()));
  sdy::ReturnOp::create(ops.b, yielded);
  ops.b = outside;
  return success();
}

void Expander::replaceResults(sdy::ManualComputationOp region) {
  unsigned next = 0;
  for (auto &[function, program] : programs)
    for (auto [i, type] : llvm::enumerate(program.function.getResultTypes())) {
      Value all = isToken(type) ? Value() : region.getResult(next++);
      for (int64_t process : program.processes) {
        Value result = op.getResult(firstResult[process] + i);
        if (!all) {
          result.replaceAllUsesWith(token());
          continue;
        }
        auto tensor = Ops::typeOf(all);
        SmallVector<int64_t> starts(tensor.getRank(), 0),
            limits(tensor.getShape()), strides(tensor.getRank(), 1);
        starts[0] = process;
        limits[0] = process + 1;
        Value block = stablehlo::SliceOp::create(ops.b, withLead(type, 1), all,
                                                 starts, limits, strides);
        result.replaceAllUsesWith(
            ops.reshape(block, cast<RankedTensorType>(type).getShape()));
      }
    }
}

LogicalResult Expander::run() {
  if (failed(readPrograms()) || failed(addMesh()))
    return failure();
  int64_t operandsSoFar = 0, resultsSoFar = 0;
  for (Program *program : ofProcess) {
    firstOperand.push_back(operandsSoFar);
    firstResult.push_back(resultsSoFar);
    operandsSoFar += program->function.getNumArguments();
    resultsSoFar += program->function.getNumResults();
  }
  sdy::ManualComputationOp region = createRegion();
  if (failed(fillRegion(region)))
    return failure();
  replaceResults(region);
  op.erase();
  return success();
}

namespace {
struct ExpandParallelPass final
    : shardc::impl::ExpandParallelPassBase<ExpandParallelPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<RunParallelOp> found;
    module.walk([&](RunParallelOp op) { found.push_back(op); });
    SymbolTable symbols(module);
    auto main = symbols.lookup<func::FuncOp>("main");
    for (RunParallelOp op : found) {
      if (op->getParentOp() != main) {
        emitUnsupported(op, "'")
            << op->getName() << "' at " << userLocation(op.getLoc())
            << " is in a region, expected one in @main";
        return signalPassFailure();
      }
      if (failed(Expander(op, symbols).run()))
        return signalPassFailure();
    }
    if (!found.empty())
      for (auto function :
           llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
        if (function != main)
          function.erase();
    if (failed(expandProbes(module)))
      return signalPassFailure();
  }
};
} // namespace
