//===- RefusalTest.cpp ----------------------------------------------------===//

#include "shardc/Support/Refusal.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace shardc;

/// What `emit` says, and whether it is about what is unsupported.
static std::pair<std::string, bool>
diagnose(llvm::function_ref<void(ModuleOp)> emit) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  context.printOpOnDiagnostic(false);
  std::pair<std::string, bool> found;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    found = {diagnostic.str(), isUnsupported(diagnostic)};
    return success();
  });
  emit(*module);
  return found;
}

TEST(Refusal, SaysTheWordAndTheKind) {
  EXPECT_EQ(diagnose([](ModuleOp op) { emitUnsupported(op, "ops of ") << 7; }),
            std::pair(std::string("unsupported: ops of 7"), true));
  EXPECT_EQ(diagnose([](ModuleOp op) { emitUnsupported(op->getLoc()) << "x"; }),
            std::pair(std::string("unsupported: x"), true));
  EXPECT_EQ(
      diagnose([](ModuleOp op) { emitOpUnsupported(op, " here"); }),
      std::pair(std::string("'builtin.module' op unsupported here"), true));
}

/// What a message begins with may be a user's.
TEST(Refusal, WordsAloneAreNoKind) {
  EXPECT_EQ(diagnose([](ModuleOp op) { op.emitError("unsupported: x"); }),
            std::pair(std::string("unsupported: x"), false));
}
