//===- ScarceMemoryTest.cpp - Calls of the C API without memory -----------===//
//
// Each call says that memory has ended, as a value, and leaves the engine, its
// programs and buffers usable.
//
//===----------------------------------------------------------------------===//

#include "../../../runtime/test/ScarceMemory.h"
#include "Handles.h"

using namespace shardc::test;
using shardrt::test::canBeScarce;
using shardrt::test::Scarce;

namespace {
/// Calls `call` with one allocation failing after the other, once or from there
/// on, until all succeed. Returns how often it failed.
template <typename Call> int64_t exhaust(Call call) {
  int64_t failed = 0;
  for (bool staysOut : {false, true})
    for (int64_t succeed = 0; succeed < 2000; ++succeed) {
      shardc_error *error;
      {
        Scarce scarce(succeed, staysOut);
        error = call();
      }
      if (!error)
        break;
      ++failed;
      EXPECT_FAILS(error, SHARDC_MEMORY, "memory");
    }
  return failed;
}
} // namespace

TEST(ScarceMemory, OfBuffersIsSaid) {
  if (!canBeScarce)
    GTEST_SKIP() << "a sanitizer has its own operator new";
  EnginePtr engine = makeEngine(2);
  std::vector<float> data(100, 3);
  shardc_host_data host = hostData(data.data(), "f32", {100});
  EXPECT_GE(exhaust([&] {
              shardc_buffer *made = nullptr;
              shardc_error *error =
                  shardc_buffer_from_host(engine.get(), 1, &host, &made);
              BufferPtr owned(made);
              return error;
            }),
            2);
  BufferPtr buffer = put(engine.get(), 1, data, {100});
  EXPECT_EQ(get(buffer.get()), data);
}

TEST(ScarceMemory, OfRunsIsSaid) {
  if (!canBeScarce)
    GTEST_SKIP() << "a sanitizer has its own operator new";
  EnginePtr engine = makeEngine(2);
  shardc_program *made = nullptr;
  std::string text = kCentred;
  ASSERT_GOOD(shardc_compile(engine.get(), text.data(), text.size(),
                             "model.mlir", nullptr, 0, &made));
  ProgramPtr program(made);
  BufferPtr parts[] = {put(engine.get(), 0, {1, 2, 3, 4}, {4}),
                       put(engine.get(), 1, {5, 6, 7}, {3})};
  shardc_buffer *first[] = {parts[0].get()}, *second[] = {parts[1].get()};
  shardc_buffer *const *in[] = {first, second};
  auto run = [&](std::vector<float> *sum) {
    shardc_buffer *results[2][2] = {};
    shardc_buffer **out[] = {results[0], results[1]};
    shardc_error *error =
        shardc_execute(program.get(), nullptr, in, out, nullptr);
    BufferPtr owned[] = {BufferPtr(results[0][0]), BufferPtr(results[0][1]),
                         BufferPtr(results[1][0]), BufferPtr(results[1][1])};
    if (!error && sum)
      *sum = get(owned[1].get());
    return error;
  };
  EXPECT_GE(exhaust([&] { return run(nullptr); }), 2);
  std::vector<float> sum;
  EXPECT_GOOD(run(&sum));
  EXPECT_EQ(sum, std::vector<float>{28});
}
