//===- SpmdLevels.cpp - The level that a program is at ------------------===//
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

// The dialects of other levels have libraries that link this one.
static constexpr StringLiteral kLevels[] = {"spmd", "local", "pairs", "kernel"};

bool spmd::isOfLevel(Operation *op) {
  return llvm::is_contained(kLevels, op->getName().getDialectNamespace());
}

bool spmd::isContract(NamedAttribute attribute) {
  auto [dialect, rest] = attribute.getName().getValue().split('.');
  return !rest.empty() && llvm::is_contained(kLevels, dialect);
}

StringRef spmd::withoutDialect(StringRef opName) {
  auto [dialect, rest] = opName.split('.');
  bool isDropped =
      dialect == "stablehlo" || llvm::is_contained(kLevels, dialect);
  return isDropped && !rest.empty() ? rest : opName;
}

LogicalResult spmd::verifyLevel(Operation *root, ArrayRef<StringRef> legal,
                                StringRef when) {
  WalkResult result = root->walk([&](Operation *op) {
    OperationName name = op->getName();
    if (!isOfLevel(op) ||
        llvm::is_contained(legal, name.getDialectNamespace()) ||
        llvm::is_contained(legal, name.getStringRef()))
      return WalkResult::advance();
    InFlightDiagnostic error = op->emitOpError();
    error << "is left after " << when << ", expected only ";
    llvm::interleaveComma(legal, error,
                          [&](StringRef what) { error << "'" << what << "'"; });
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
