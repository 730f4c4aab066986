//===- PlantAfter.h - Mistakes between passes -------------------*- C++ -*-===//
//
// Tests change what a pass leaves, as a wrong pass would have left it, and see
// whether what comes later finds that. Stages know nothing of it: passes are
// watched from outside, as MLIR's own instrumentation does.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TEST_LIB_PLANTAFTER_H
#define SHARDC_TEST_LIB_PLANTAFTER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include <functional>
#include <string>
#include <utility>

namespace shardc {

/// Calls `plant` with the module each time the pass with the argument `pass`
/// has run on it, or on a part of it.
class PlantAfter final : public mlir::PassInstrumentation {
public:
  using Plant = std::function<void(mlir::ModuleOp)>;

  PlantAfter(std::string pass, Plant plant)
      : name(std::move(pass)), plant(std::move(plant)) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    if (pass->getArgument() != name)
      return;
    auto module = mlir::dyn_cast<mlir::ModuleOp>(op);
    plant(module ? module : op->getParentOfType<mlir::ModuleOp>());
  }

private:
  std::string name;
  Plant plant;
};

} // namespace shardc

#endif // SHARDC_TEST_LIB_PLANTAFTER_H
