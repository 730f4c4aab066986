//===- Programs.h - Compiling and running programs, for tests ---*- C++ -*-===//
#ifndef SHARDC_UNITTESTS_ENGINE_PROGRAMS_H
#define SHARDC_UNITTESTS_ENGINE_PROGRAMS_H

#include "Handles.h"

namespace shardc::test {

inline const char *const kAddMul = R"mlir(
module @add_mul {
  func.func @main(%x: tensor<4xf32> loc("x"), %y: tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.add %x, %y : tensor<4xf32>
    %1 = stablehlo.multiply %x, %y : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
})mlir";

using Options = std::vector<shardc_option>;

inline shardc_error *tryCompile(shardc_engine *engine, const std::string &text,
                                const Options &options, ProgramPtr &program) {
  shardc_program *made = nullptr;
  shardc_error *error =
      shardc_compile(engine, text.data(), text.size(), "model.mlir",
                     options.data(), options.size(), &made);
  program.reset(made);
  return error;
}

inline ProgramPtr compile(shardc_engine *engine, const std::string &text,
                          const Options &options = {}) {
  ProgramPtr program;
  EXPECT_GOOD(tryCompile(engine, text, options, program));
  return program;
}

/// Runs `program` on `arguments[rank]`; fills `results[rank]`.
inline shardc_error *
tryRun(shardc_program *program,
       const std::vector<std::vector<shardc_buffer *>> &arguments,
       std::vector<std::vector<BufferPtr>> &results,
       const shardc_execute_options *options = nullptr,
       EventPtr *done = nullptr) {
  size_t count = shardc_program_num_results(program);
  std::vector<std::vector<shardc_buffer *>> made(
      arguments.size(), std::vector<shardc_buffer *>(count));
  std::vector<shardc_buffer *const *> in;
  std::vector<shardc_buffer **> out;
  for (size_t rank = 0; rank < arguments.size(); ++rank) {
    in.push_back(arguments[rank].data());
    out.push_back(made[rank].data());
  }
  shardc_event *event = nullptr;
  shardc_error *error = shardc_execute(program, options, in.data(), out.data(),
                                       done ? &event : nullptr);
  results.clear();
  for (const auto &list : made)
    for (auto &into = results.emplace_back(); shardc_buffer *buffer : list)
      into.emplace_back(buffer);
  if (done)
    done->reset(event);
  return error;
}

inline std::vector<std::vector<BufferPtr>>
run(shardc_program *program,
    const std::vector<std::vector<shardc_buffer *>> &arguments) {
  std::vector<std::vector<BufferPtr>> results;
  EXPECT_GOOD(tryRun(program, arguments, results));
  return results;
}

} // namespace shardc::test

#endif // SHARDC_UNITTESTS_ENGINE_PROGRAMS_H
