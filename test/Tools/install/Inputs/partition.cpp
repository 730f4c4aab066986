// Prints the local view of a program.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "shardc/Pipelines/Compile.h"
#include "shardc/Pipelines/Register.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  shardc::registerShardcDialects(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      shardc::parseModel(context, argc > 1 ? argv[1] : "-");
  if (!module || failed(shardc::compileToLocal(*module, {})))
    return 1;
  module->print(llvm::outs());
  return 0;
}
