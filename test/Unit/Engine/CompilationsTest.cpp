//===- CompilationsTest.cpp - Compiling that is waited for or given up ----===//

#include "Programs.h"
#include <chrono>
#include <thread>

using namespace shardc::test;

namespace {

using CompilationPtr =
    std::unique_ptr<shardc_compilation, Destroyer<shardc_compilation_destroy>>;

CompilationPtr startCompiling(shardc_engine *engine, const std::string &text) {
  shardc_compilation *begun = nullptr;
  EXPECT_GOOD(shardc_compile_start(engine, text.data(), text.size(), "model.py",
                                   nullptr, 0, &begun));
  return CompilationPtr(begun);
}

/// A program that takes some seconds of processor time to compile.
std::string longProgram() {
  std::string text =
      "func.func @main(%v0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n";
  constexpr int steps = 400;
  for (int i = 0; i < steps; ++i)
    text += "%v" + std::to_string(i + 1) + " = \"stablehlo.sort\"(%v" +
            std::to_string(i) + ") <{dimension = " + std::to_string(i % 2) +
            R"( : i64}> ({
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %s = stablehlo.sine %a : tensor<f32>
  %r = stablehlo.compare LT, %s, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %r : tensor<i1>
}) : (tensor<8x8xf32>) -> tensor<8x8xf32>
)";
  return text + "return %v" + std::to_string(steps) + " : tensor<8x8xf32>\n}";
}

/// Of this process, in seconds.
double processorTime() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

TEST(Compilations, GiveWhatCompilingGives) {
  EnginePtr engine = makeEngine(1);
  CompilationPtr compilation = startCompiling(engine.get(), kAddMul);
  while (!shardc_compilation_wait_for(compilation.get(), 1'000'000))
    ;
  shardc_program *made = nullptr;
  ASSERT_GOOD(shardc_compilation_finish(compilation.get(), &made));
  ProgramPtr program(made);
  BufferPtr x = put(engine.get(), 0, {1, 2, 3, 4}, {4}),
            y = put(engine.get(), 0, {10, 20, 30, 40}, {4});
  auto results = run(program.get(), {{x.get(), y.get()}});
  EXPECT_EQ(get(results[0][0].get()), (std::vector<float>{11, 22, 33, 44}));
  // The engine knows it now, as it does what shardc_compile made.
  compilation = startCompiling(engine.get(), kAddMul);
  EXPECT_TRUE(shardc_compilation_wait_for(compilation.get(), 0));
  ASSERT_GOOD(shardc_compilation_finish(compilation.get(), &made));
  EXPECT_EQ(made, program.get());
  shardc_program_destroy(made);

  compilation = startCompiling(engine.get(), "func.func @main(");
  EXPECT_FAILS(shardc_compilation_finish(compilation.get(), &made),
               SHARDC_REFUSED, "model.py:1");
  EXPECT_FAILS(shardc_compilation_finish(nullptr, &made), SHARDC_USAGE,
               "'compilation' is NULL");
  EXPECT_FAILS(
      shardc_compile_start(engine.get(), nullptr, 0, "", nullptr, 0, nullptr),
      SHARDC_USAGE, "'compilation' is NULL");
}

TEST(Compilations, EndSoonOnceNobodyWaits) {
  std::string text = longProgram();
  for (bool isLeft : {true, false}) {
    EnginePtr engine = makeEngine(1);
    double before = processorTime();
    CompilationPtr compilation = startCompiling(engine.get(), text);
    EXPECT_FALSE(shardc_compilation_wait_for(compilation.get(), 300'000'000));
    if (isLeft) {
      compilation.reset();
      // What is asked for next does not wait for it.
      EXPECT_TRUE(compile(engine.get(), kAddMul));
    }
    // Waits for the thread that compiles.
    engine.reset();
    EXPECT_LT(processorTime() - before, 2.5);
    shardc_program *made = nullptr;
    if (!isLeft)
      EXPECT_FAILS(shardc_compilation_finish(compilation.get(), &made),
                   SHARDC_USAGE, "engine has been destroyed");
  }
}

TEST(Compilations, FailOnceTheyAreCancelled) {
  EnginePtr engine = makeEngine(1);
  std::string text = longProgram();
  double before = processorTime();
  std::thread compiling([&] {
    shardc_program *made = nullptr;
    EXPECT_FAILS(shardc_compile(engine.get(), text.data(), text.size(), "long",
                                nullptr, 0, &made),
                 SHARDC_USAGE, "the compilation was cancelled");
  });
  // Before it has begun there is nothing to cancel.
  while (processorTime() - before < 0.2)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  shardc_engine_cancel_compilations(engine.get());
  compiling.join();
  EXPECT_TRUE(compile(engine.get(), kAddMul));
}

} // namespace
