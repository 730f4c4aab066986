//===- Handles.h - The C API's objects, for tests ---------------*- C++ -*-===//
#ifndef SHARDC_UNITTESTS_ENGINE_HANDLES_H
#define SHARDC_UNITTESTS_ENGINE_HANDLES_H

#include "shardc-c/shardc.h"
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace shardc::test {

template <auto Destroy> struct Destroyer {
  template <typename T> void operator()(T *object) const { Destroy(object); }
};
using EnginePtr =
    std::unique_ptr<shardc_engine, Destroyer<shardc_engine_destroy>>;
using BufferPtr =
    std::unique_ptr<shardc_buffer, Destroyer<shardc_buffer_release>>;
using ProgramPtr =
    std::unique_ptr<shardc_program, Destroyer<shardc_program_destroy>>;
using EventPtr = std::unique_ptr<shardc_event, Destroyer<shardc_event_destroy>>;
using ErrorPtr = std::unique_ptr<shardc_error, Destroyer<shardc_error_destroy>>;

/// "2: what it says at model.py:3", or "" for no error, which is destroyed.
inline std::string textOf(shardc_error *error) {
  ErrorPtr owned(error);
  if (!error)
    return "";
  std::string location = shardc_error_location(error);
  return std::to_string(shardc_error_status(error)) + ": " +
         shardc_error_message(error) +
         (location.empty() ? "" : " at " + location);
}

#define EXPECT_GOOD(CALL) EXPECT_EQ(textOf(CALL), "")
#define ASSERT_GOOD(CALL) ASSERT_EQ(textOf(CALL), "")
/// That `CALL` fails with `STATUS`, in words that have `PART` among them.
#define EXPECT_FAILS(CALL, STATUS, PART)                                       \
  do {                                                                         \
    std::string said = textOf(CALL);                                           \
    EXPECT_EQ(said.substr(0, said.find(':')), std::to_string(STATUS)) << said; \
    EXPECT_NE(said.find(PART), std::string::npos) << said;                     \
  } while (false)

/// The sum of all, and each element minus it, of 7 elements over `x`.
inline const char *const kCentred = R"mlir(
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
    %all = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %0 = stablehlo.subtract %x, %all : tensor<7xf32>
    return %0, %sum : tensor<7xf32>, tensor<f32>
  }
})mlir";

inline EnginePtr makeEngine(int64_t devices) {
  shardc_engine_options options = {};
  options.size = sizeof(options);
  options.devices = devices;
  options.threads = 1;
  options.cache_directory = "";
  shardc_engine *engine = nullptr;
  EXPECT_GOOD(shardc_engine_create(&options, &engine));
  return EnginePtr(engine);
}

inline shardc_host_data hostData(const void *data, const char *type,
                                 const std::vector<int64_t> &dims) {
  shardc_host_data host = {};
  host.size = sizeof(host);
  host.data = data;
  host.element_type = shardc_element_type_named(type);
  host.num_dims = static_cast<int64_t>(dims.size());
  host.dims = dims.data();
  return host;
}

inline BufferPtr put(shardc_engine *engine, int64_t device,
                     const std::vector<float> &values,
                     const std::vector<int64_t> &dims) {
  shardc_host_data host = hostData(values.data(), "f32", dims);
  shardc_buffer *buffer = nullptr;
  EXPECT_GOOD(shardc_buffer_from_host(engine, device, &host, &buffer));
  return BufferPtr(buffer);
}

inline std::vector<float> get(shardc_buffer *buffer) {
  std::vector<float> values(shardc_buffer_bytes(buffer) / sizeof(float));
  EXPECT_GOOD(shardc_buffer_to_host(buffer, values.data(), nullptr, nullptr));
  return values;
}

} // namespace shardc::test

#endif // SHARDC_UNITTESTS_ENGINE_HANDLES_H
