//===- shard-reduce.cpp - Makes a program that shows a mistake smaller ----===//
//
// MLIR's reducer with the project's dialects and passes, and upstream's that
// transform. It keeps what a script of the user's calls interesting (code 1):
//   shard-reduce FILE --opt-reduction-pass='opt-pass=symbol-dce test=SCRIPT'
// MLIR 22's `reduction-tree` crashes, in mlir-reduce too.
//
//===----------------------------------------------------------------------===//
#include "../Common/Dialects.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"
#include "shardc/Import/ConformancePasses.h"
#include "shardc/Pipelines/Register.h"

int main(int argc, char **argv) {
  mlir::registerReducerPasses();
  mlir::registerTransformsPasses();
  shardc::registerShardcPasses();
  shardc::registerConformancePasses();
  mlir::DialectRegistry registry;
  shardc::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
