//===- ProgramCost.cpp - What things take where a program runs ------------===//
#include "shardc/Interfaces/ProgramCost.h"
#include "mlir/IR/BuiltinOps.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;

Cost shardc::costOn(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  std::vector<std::string> axes;
  if (module)
    if (auto meshes = module.getOps<spmd::MeshOp>();
        llvm::hasSingleElement(meshes))
      for (StringRef axis : (*meshes.begin()).getMesh().getAxisNames())
        axes.push_back(axis.str());
  return Cost(machineOf(op), axes);
}
