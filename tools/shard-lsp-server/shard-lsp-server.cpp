//===- shard-lsp-server.cpp - Our IR in an editor -------------------------===//
//
// MLIR's language server with the dialects that shard-opt reads: diagnostics as
// one types, definitions and uses, hover. Protocol: stdin and stdout.
//
//===----------------------------------------------------------------------===//
#include "../Common/Dialects.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  shardc::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
