//===- ThreadChecksTest.cpp - ThreadSanitizer knows of every access -------===//

#include "shardc/Translation/ThreadChecks.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace shardc;

namespace {
struct Checked {
  std::string unknown; ///< as addThreadChecks
  std::string text;

  /// How often `part` is there.
  int count(StringRef part) const { return StringRef(text).count(part); }
};
} // namespace

/// `body`, of a function of pointers %p and %q, vectors and a mask, with what
/// is added to it.
static Checked check(StringRef body, StringRef declarations = "") {
  LLVMContext context;
  SMDiagnostic problem;
  std::unique_ptr<Module> module = parseAssemblyString(
      "define void @f(ptr %p, <8 x ptr> %ps, <16 x float> %v, <8 x float> %w, "
      "<8 x i1> %m) {\n" +
          body.str() + "\nret void\n}\n" + declarations.str(),
      problem, context);
  EXPECT_NE(module, nullptr) << problem.getMessage().str();
  Checked result;
  if (!module)
    return result;
  result.unknown = addThreadChecks(*module, nullptr);
  raw_string_ostream(result.text) << *module->getFunction("f");
  return result;
}

TEST(ThreadChecks, NarrowAccessesAreLLVMs) {
  Checked code = check("%x = load float, ptr %p, align 4\n"
                       "%y = getelementptr i8, ptr %p, i64 64\n"
                       "store float %x, ptr %y, align 4");
  EXPECT_EQ(code.unknown, "");
  EXPECT_EQ(code.count("call void @__tsan_read4(ptr %p)"), 1) << code.text;
  EXPECT_EQ(code.count("call void @__tsan_write4(ptr %y)"), 1) << code.text;
  EXPECT_EQ(code.count("_range("), 0) << code.text;
}

TEST(ThreadChecks, WideVectorsAreRanges) {
  Checked code = check("%x = load <16 x float>, ptr %p, align 4\n"
                       "%y = getelementptr i8, ptr %p, i64 64\n"
                       "store <8 x float> %w, ptr %y, align 4\n"
                       "%z = load <3 x float>, ptr %y, align 4");
  EXPECT_EQ(code.count("call void @__tsan_read_range(ptr %p, i64 64)"), 1)
      << code.text;
  EXPECT_EQ(code.count("call void @__tsan_write_range(ptr %y, i64 32)"), 1);
  EXPECT_EQ(code.count("call void @__tsan_read_range(ptr %y, i64 12)"), 1);
}

TEST(ThreadChecks, LanesUnderAMaskOneByOne) {
  constexpr StringLiteral store =
      "declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, <8 x i1>)\n";
  Checked code = check("call void @llvm.masked.store.v8f32.p0(<8 x float> %w, "
                       "ptr align 4 %p, <8 x i1> %m)",
                       store);
  EXPECT_EQ(code.unknown, "");
  EXPECT_EQ(code.count("select i1"), 8) << code.text;
  EXPECT_EQ(code.count("call void @__tsan_write_range("), 8);
  code = check("call void @llvm.masked.store.v8f32.p0(<8 x float> %w, "
               "ptr align 4 %p, <8 x i1> <i1 1, i1 0, i1 1, i1 0, i1 0, i1 0, "
               "i1 0, i1 0>)",
               store);
  EXPECT_EQ(code.count("call void @__tsan_write_range("), 2) << code.text;
  EXPECT_EQ(code.count("i64 4)"), 2);
}

TEST(ThreadChecks, GathersAndPackedLanes) {
  Checked code = check(
      "%x = call <8 x float> @llvm.masked.gather.v8f32.v8p0(<8 x ptr> align 4 "
      "%ps, <8 x i1> %m, <8 x float> %w)",
      "declare <8 x float> @llvm.masked.gather.v8f32.v8p0(<8 x ptr>, <8 x i1>, "
      "<8 x float>)\n");
  EXPECT_EQ(code.count("call void @__tsan_read_range("), 8) << code.text;
  code = check("call void @llvm.masked.compressstore.v8f32(<8 x float> %w, ptr "
               "%p, <8 x i1> %m)",
               "declare void @llvm.masked.compressstore.v8f32(<8 x float>, "
               "ptr, <8 x i1>)\n");
  EXPECT_EQ(code.count("call void @__tsan_write_range(ptr %p, i64 %"), 1)
      << code.text;
}

TEST(ThreadChecks, WhatIsNotKnownIsNamed) {
  Checked code = check("%x = call <8 x float> @llvm.vp.load.v8f32.p0(ptr %p, "
                       "<8 x i1> %m, i32 8)",
                       "declare <8 x float> @llvm.vp.load.v8f32.p0(ptr, <8 x "
                       "i1>, i32)\n");
  EXPECT_EQ(code.unknown, "llvm.vp.load.v8f32.p0");
}

TEST(ThreadChecks, NoneInAProcessWithoutThreadSanitizer) {
  EXPECT_FALSE(checksThreads());
}
