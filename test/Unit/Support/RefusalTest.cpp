//===- RefusalTest.cpp ----------------------------------------------------===//

#include "shardc/Support/Refusal.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "shardc/Support/MemoryErrors.h"
#include "shardc/Support/Misuse.h"
#include <cerrno>
#include <gtest/gtest.h>

using namespace mlir;
using namespace shardc;

/// What `emit` says, and whether that is of the kind that `isOfKind` asks for.
static std::pair<std::string, bool>
diagnose(llvm::function_ref<void(ModuleOp)> emit,
         llvm::function_ref<bool(Diagnostic &)> isOfKind = isUnsupported) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  context.printOpOnDiagnostic(false);
  std::pair<std::string, bool> found;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    found = {diagnostic.str(), isOfKind(diagnostic)};
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

TEST(Refusal, MemoryIsAKindOfItsOwn) {
  auto isOfMemory = [](Diagnostic &diagnostic) {
    return isAboutMemory(diagnostic);
  };
  auto emit = [](ModuleOp op) { noMemory(op.emitError()) << "no pipe"; };
  EXPECT_EQ(diagnose(emit, isOfMemory),
            std::pair(std::string("no pipe"), true));
  EXPECT_FALSE(diagnose(emit, isFileTrouble).second);
  EXPECT_FALSE(diagnose(emit, isUnsupported).second);
  EXPECT_EQ(
      diagnose([](ModuleOp op) { op.emitError("no memory"); }, isOfMemory),
      std::pair(std::string("no memory"), false));
}

/// Whether `error` is about memory.
static bool isOfMemory(llvm::Error error) {
  bool isOf = isAboutMemory(error);
  llvm::consumeError(std::move(error));
  return isOf;
}

TEST(MemoryErrors, TheirCodeSaysSo) {
  EXPECT_TRUE(isOfMemory(llvm::createStringError(noMemoryCode(), "x")));
  EXPECT_TRUE(isOfMemory(llvm::createStringError(
      std::error_code(ENOMEM, std::generic_category()), "x")));
  EXPECT_TRUE(isOfMemory(
      llvm::joinErrors(llvm::createStringError("x"),
                       llvm::createStringError(noMemoryCode(), "y"))));
  EXPECT_FALSE(isOfMemory(llvm::Error::success()));
  EXPECT_FALSE(isOfMemory(llvm::createStringError(
      std::error_code(ENOENT, std::generic_category()), "out of memory")));
  for (const char *words :
       {"out of memory.npy: no such file", "no memory", "no process", "no pipe",
        "bad_alloc", "Cannot allocate memory"})
    EXPECT_FALSE(isOfMemory(llvm::createStringError(llvm::Twine(words))))
        << words;
}

/// Of programs there are words alone.
TEST(MemoryErrors, WhatOtherProgramsSay) {
  for (const char *words :
       {"LLVM ERROR: out of memory", "ld.lld: error: Out of memory",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "posix_spawn failed: Cannot allocate memory"})
    EXPECT_EQ(codeOfProgram(words), noMemoryCode()) << words;
  EXPECT_EQ(codeOfProgram("ld.lld: error: undefined symbol: f"),
            llvm::inconvertibleErrorCode());
}
