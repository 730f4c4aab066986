// A loop whose state stays on the device: each step gives its argument up, and
// the next one takes the result. Also what is said of a program that is wrong.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <shardc-c/shardc.h>
#include <string>

template <auto Destroy> struct Deleter {
  template <typename T> void operator()(T *object) const { Destroy(object); }
};
using Engine = std::unique_ptr<shardc_engine, Deleter<shardc_engine_destroy>>;
using Program =
    std::unique_ptr<shardc_program, Deleter<shardc_program_destroy>>;
using Buffer = std::unique_ptr<shardc_buffer, Deleter<shardc_buffer_release>>;
using Error = std::unique_ptr<shardc_error, Deleter<shardc_error_destroy>>;

static void check(shardc_error *failed) {
  Error error(failed);
  if (!error)
    return;
  std::fprintf(stderr, "%s\n", shardc_error_message(error.get()));
  std::exit(shardc_error_status(error.get()));
}

int main() {
  shardc_engine *made = nullptr;
  check(shardc_engine_create(nullptr, &made));
  Engine engine(made);

  // x - x / 2
  const std::string text = R"(
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %half = stablehlo.constant dense<0.5> : tensor<f32>
      %0 = stablehlo.multiply %x, %half : tensor<f32>
      %1 = stablehlo.subtract %x, %0 : tensor<f32>
      return %1 : tensor<f32>
    })";
  shardc_program *compiled = nullptr;
  check(shardc_compile(engine.get(), text.data(), text.size(), "step.mlir",
                       nullptr, 0, &compiled));
  Program program(compiled);

  const float one = 1;
  shardc_host_data data = {};
  data.size = sizeof(data);
  data.data = &one;
  data.element_type = shardc_element_type_named("f32");
  shardc_buffer *buffer = nullptr;
  check(shardc_buffer_from_host(engine.get(), 0, &data, &buffer));
  Buffer state(buffer);

  const uint8_t donated = 1;
  shardc_execute_options options = {};
  options.size = sizeof(options);
  options.donated = &donated;
  for (int step = 0; step < 10; ++step) {
    shardc_buffer *argument = state.get(), *result = nullptr;
    shardc_buffer *const *arguments = &argument;
    shardc_buffer **results = &result;
    check(shardc_execute(program.get(), &options, &arguments, &results,
                         nullptr));
    state.reset(result);
  }
  float value = 0;
  check(shardc_buffer_to_host(state.get(), &value, nullptr, nullptr));
  std::printf("%g\n", value * 1024);

  const std::string wrong = "func.func @main() { stablehlo.nothing }";
  shardc_program *none = nullptr;
  Error error(shardc_compile(engine.get(), wrong.data(), wrong.size(),
                             "wrong.mlir", nullptr, 0, &none));
  std::printf("%s: %d\n", shardc_error_location(error.get()),
              shardc_error_status(error.get()) != SHARDC_OK);
}
