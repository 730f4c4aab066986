//===- ScarceCompilerTest.cpp - Compiling without memory ------------------===//
//
// In a process of its own: what earlier tests have freed would be memory.
//
//===----------------------------------------------------------------------===//

#include "../../../runtime/test/ScarceMemory.h"
#include "Handles.h"
#include <sys/resource.h>
#include <unistd.h>

using namespace shardc::test;
using shardrt::test::canBeScarce;

namespace {
/// As long as it is there, the process gets `bytes` of address space and no
/// more.
class Room {
public:
  explicit Room(size_t bytes) {
    getrlimit(RLIMIT_AS, &before);
    rlimit limit = {addressSpace() + bytes, before.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  }
  ~Room() { setrlimit(RLIMIT_AS, &before); }

private:
  static size_t addressSpace() {
    size_t pages = 0;
    std::FILE *file = std::fopen("/proc/self/statm", "re");
    EXPECT_EQ(std::fscanf(file, "%zu", &pages), 1);
    std::fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
  }
  rlimit before;
};

/// A program of `steps` functions one behind the other.
std::string longProgram(int steps) {
  std::string type = "tensor<16xf32>", text;
  text = "func.func @main(%v0: " + type + ") -> " + type + " {\n";
  for (int i = 0; i < steps; ++i)
    text += "  %v" + std::to_string(i + 1) + " = stablehlo." +
            (i % 2 ? "tanh" : "sine") + " %v" + std::to_string(i) + " : " +
            type + "\n";
  return text + "  return %v" + std::to_string(steps) + " : " + type + "\n}\n";
}
} // namespace

// Where the compiler's memory ends depends on the room: in MLIR, which looks at
// what it gets or does not, in LLVM, or in our own code.
TEST(ScarceCompiler, SaysThatMemoryHasEnded) {
  if (!canBeScarce)
    GTEST_SKIP() << "a sanitizer has reserved more address space than that";
  EnginePtr engine = makeEngine(1);
  auto compile = [&](const std::string &text, ProgramPtr &program) {
    shardc_program *made = nullptr;
    shardc_error *error = shardc_compile(engine.get(), text.data(), text.size(),
                                         "model.mlir", nullptr, 0, &made);
    program.reset(made);
    return error;
  };
  std::string text = longProgram(100);
  int failed = 0;
  for (size_t room = 1 << 20; room <= size_t(1) << 27; room *= 4) {
    ProgramPtr program;
    shardc_error *error;
    {
      Room scarce(room);
      error = compile(text, program);
    }
    if (!error)
      continue;
    ++failed;
    EXPECT_FAILS(error, SHARDC_MEMORY, "memory");
  }
  EXPECT_GE(failed, 2);
  ProgramPtr program;
  EXPECT_GOOD(compile(text, program));
}
