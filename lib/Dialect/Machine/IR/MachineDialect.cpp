//===- MachineDialect.cpp - The machine in the IR -------------------------===//
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::machine;

#include "shardc/Dialect/Machine/IR/MachineDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Machine/IR/MachineAttributes.cpp.inc"

void MachineDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardc/Dialect/Machine/IR/MachineAttributes.cpp.inc"
      >();
}

LogicalResult MachineDialect::verifyOperationAttribute(Operation *op,
                                                       NamedAttribute attr) {
  if (attr.getName() != kMachineAttrName)
    return op->emitOpError() << "unknown attribute " << attr.getName()
                             << ", expected '" << kMachineAttrName << "'";
  if (!isa<ModuleOp>(op))
    return op->emitOpError()
           << "'" << kMachineAttrName << "' is an attribute of modules";
  if (!isa<FiguresAttr>(attr.getValue()))
    return op->emitOpError()
           << "'" << kMachineAttrName << "' is " << attr.getValue()
           << ", expected #machine.figures<\""
           << llvm::StringRef(kDefaultMachine) << "\">";
  return success();
}

/// Sets in `machine` what `changed` says. Returns what is wrong, empty if
/// nothing is.
static std::string apply(Machine &machine, DictionaryAttr changed) {
  if (!changed)
    return {};
  for (NamedAttribute figure : changed) {
    auto value = dyn_cast<FloatAttr>(figure.getValue());
    if (!value || !value.getType().isF64())
      return "figure '" + figure.getName().str() + "' is no number of type f64";
    if (std::string problem = setFigure(machine, figure.getName().getValue(),
                                        value.getValueAsDouble());
        !problem.empty())
      return problem;
  }
  return {};
}

LogicalResult
FiguresAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    StringRef preset, DictionaryAttr changed) {
  Machine machine;
  std::string problem = parseMachine(preset, machine);
  if (problem.empty())
    problem = apply(machine, changed);
  return problem.empty() ? success() : LogicalResult(emitError() << problem);
}

Machine FiguresAttr::getMachine() const {
  Machine machine = *machinePreset(getPreset());
  apply(machine, getChanged());
  return machine;
}

FiguresAttr FiguresAttr::get(MLIRContext *context, const Machine &machine) {
  NamedAttrList changed;
  for (const std::string &name : changedFigures(machine))
    changed.append(name, FloatAttr::get(Float64Type::get(context),
                                        *getFigure(machine, name)));
  return get(context, machine.name,
             changed.empty() ? DictionaryAttr()
                             : changed.getDictionary(context));
}

Machine shardc::machineOf(Operation *op) {
  while (Operation *parent = op->getParentOp())
    op = parent;
  auto figures = op->getAttrOfType<FiguresAttr>(kMachineAttrName);
  return figures ? figures.getMachine() : *machinePreset(kDefaultMachine);
}
