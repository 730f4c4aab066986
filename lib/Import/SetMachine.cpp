//===- SetMachine.cpp - Which machine a module is compiled for ------------===//
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Import/Passes.h"

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_SETMACHINEPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

/// Refuses links along axes that the mesh, if there is one, lacks.
static LogicalResult checkAxes(ModuleOp module, const Machine &machine) {
  for (auto mesh : module.getOps<spmd::MeshOp>())
    for (const auto &[axis, link] : machine.axes)
      if (mesh.getMesh().getAxisIndex(axis) < 0) {
        InFlightDiagnostic error =
            mesh.emitError("machine has a link along axis \"")
            << axis << "\", but mesh @" << mesh.getSymName() << " has ";
        llvm::interleaveComma(mesh.getMesh().getAxisNames(), error,
                              [&](StringAttr name) { error << name; });
        return error << (mesh.getMesh().getAxisNames().empty() ? "no axes"
                                                               : "");
      }
  return success();
}

namespace {
class SetMachinePass : public shardc::impl::SetMachinePassBase<SetMachinePass> {
public:
  using SetMachinePassBase::SetMachinePassBase;

  void runOnOperation() override {
    Machine figures = machineOf(getOperation());
    std::string problem =
        machine.empty() ? "" : parseMachine(machine.getValue(), figures);
    if (!problem.empty()) {
      getOperation().emitError() << "machine option: " << problem;
      return signalPassFailure();
    }
    if (failed(checkAxes(getOperation(), figures)))
      return signalPassFailure();
    if (!machine.empty())
      getOperation()->setAttr(
          kMachineAttrName, machine::FiguresAttr::get(&getContext(), figures));
  }
};
} // namespace
