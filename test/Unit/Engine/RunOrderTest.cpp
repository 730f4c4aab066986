//===- RunOrderTest.cpp - Runs that wait, and who waits for them ----------===//

#include "Programs.h"
#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

using namespace shardc::test;

namespace {

/// Four floats of device 0 that are there once `ready` is set.
void makeLater(shardc_engine *engine, EventPtr &ready, BufferPtr &buffer) {
  shardc_event *event = nullptr;
  ASSERT_GOOD(shardc_event_create(&event));
  ready.reset(event);
  int64_t size = 4;
  shardc_buffer *later = nullptr;
  ASSERT_GOOD(shardc_buffer_create_later(engine, 0,
                                         shardc_element_type_named("f32"), 1,
                                         &size, ready.get(), &later));
  buffer.reset(later);
}

TEST(Programs, RunBehindWhatTheyWaitFor) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kAddMul);
  EventPtr ready;
  BufferPtr x;
  ASSERT_NO_FATAL_FAILURE(makeLater(engine.get(), ready, x));
  BufferPtr y = put(engine.get(), 0, {1, 1, 1, 1}, {4});
  std::vector<std::vector<BufferPtr>> first, second;
  EventPtr done;
  ASSERT_GOOD(
      tryRun(program.get(), {{x.get(), y.get()}}, first, nullptr, &done));
  ASSERT_GOOD(tryRun(program.get(), {{first[0][0].get(), y.get()}}, second));
  // Given up by its owner; the runs have it all the same.
  y.reset();
  EXPECT_FALSE(shardc_event_is_ready(done.get()));
  auto *memory = static_cast<float *>(shardc_buffer_data(x.get()));
  std::fill(memory, memory + 4, 5);
  shardc_event_set(ready.get(), nullptr);
  EXPECT_EQ(get(second[0][0].get()), (std::vector<float>{7, 7, 7, 7}));
  EXPECT_GOOD(shardc_event_await(done.get()));
}

/// What is told of a run that is done.
struct Told {
  std::mutex mutex;
  std::vector<int> order;
  std::set<std::thread::id> threads;
  std::atomic<int> count{0};
};
struct Listener {
  Told *told;
  int number;
};
// JAX waits for each of hundreds of results of one run.
TEST(Programs, TellAllWhoWaitAwayFromTheDevice) {
  constexpr int kListeners = 400;
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kAddMul);
  EventPtr ready;
  BufferPtr x;
  ASSERT_NO_FATAL_FAILURE(makeLater(engine.get(), ready, x));
  std::vector<std::vector<BufferPtr>> results;
  ASSERT_GOOD(tryRun(program.get(), {{x.get(), x.get()}}, results));
  Told told;
  std::vector<Listener> listeners(kListeners);
  for (int i = 0; i < kListeners; ++i) {
    listeners[i] = {&told, i};
    EventPtr each(shardc_buffer_ready(results[0][i % 2].get()));
    shardc_event_on_ready(
        each.get(),
        [](shardc_error *error, void *user) {
          EXPECT_EQ(error, nullptr);
          auto *listener = static_cast<Listener *>(user);
          std::lock_guard lock(listener->told->mutex);
          listener->told->order.push_back(listener->number);
          listener->told->threads.insert(std::this_thread::get_id());
          ++listener->told->count;
        },
        &listeners[i]);
  }
  EXPECT_EQ(told.count, 0);
  auto *memory = static_cast<float *>(shardc_buffer_data(x.get()));
  std::fill(memory, memory + 4, 5);
  shardc_event_set(ready.get(), nullptr);
  while (told.count < kListeners)
    std::this_thread::yield();
  std::vector<int> inOrder(kListeners);
  std::iota(inOrder.begin(), inOrder.end(), 0);
  std::lock_guard lock(told.mutex);
  EXPECT_EQ(told.order, inOrder);
  EXPECT_EQ(told.threads.size(), 1u);
  EXPECT_FALSE(told.threads.contains(std::this_thread::get_id()));
}

TEST(Programs, FailWithTheirArguments) {
  EnginePtr engine = makeEngine(1);
  ProgramPtr program = compile(engine.get(), kAddMul);
  EventPtr ready;
  BufferPtr x;
  ASSERT_NO_FATAL_FAILURE(makeLater(engine.get(), ready, x));
  std::vector<std::vector<BufferPtr>> first, second, third;
  ASSERT_GOOD(tryRun(program.get(), {{x.get(), x.get()}}, first));
  ASSERT_GOOD(
      tryRun(program.get(), {{first[0][0].get(), first[0][1].get()}}, second));
  shardc_event_set(ready.get(), shardc_error_create(SHARDC_IO, "no such disk"));
  float values[4];
  EXPECT_FAILS(
      shardc_buffer_to_host(second[0][1].get(), values, nullptr, nullptr),
      SHARDC_IO, "no such disk");
  // Known by now.
  ASSERT_GOOD(
      tryRun(program.get(), {{second[0][0].get(), first[0][1].get()}}, third));
  EXPECT_FAILS(
      shardc_buffer_to_host(third[0][0].get(), values, nullptr, nullptr),
      SHARDC_IO, "no such disk");
  // And the device goes on.
  BufferPtr y = put(engine.get(), 0, {1, 2, 3, 4}, {4});
  auto right = run(program.get(), {{y.get(), y.get()}});
  EXPECT_EQ(get(right[0][0].get()), (std::vector<float>{2, 4, 6, 8}));
}

TEST(Programs, TakeBuffersOfOtherDevicesOnceMoved) {
  EnginePtr engine = makeEngine(2);
  ProgramPtr program = compile(engine.get(), kAddMul);
  BufferPtr x = put(engine.get(), 0, {1, 2, 3, 4}, {4});
  int64_t device = 1;
  shardc_execute_options options = {};
  options.size = sizeof(options);
  options.devices = &device;
  auto first = run(program.get(), {{x.get(), x.get()}});
  shardc_buffer *moved = nullptr;
  ASSERT_GOOD(shardc_buffer_to_device(first[0][0].get(), 1, &moved));
  BufferPtr there(moved);
  first.clear();
  uint8_t donated[2] = {1, 0};
  options.donated = donated;
  std::vector<std::vector<BufferPtr>> second;
  EXPECT_FAILS(
      tryRun(program.get(), {{there.get(), there.get()}}, second, &options),
      SHARDC_USAGE,
      "argument 0 (x) is donated, and argument 1 is the same array");
  EXPECT_FALSE(shardc_buffer_is_deleted(there.get()));
  BufferPtr y = put(engine.get(), 1, {2, 4, 6, 8}, {4});
  ASSERT_GOOD(
      tryRun(program.get(), {{there.get(), y.get()}}, second, &options));
  EXPECT_EQ(get(second[0][1].get()), (std::vector<float>{4, 16, 36, 64}));
  EXPECT_TRUE(shardc_buffer_is_deleted(there.get()));
}

} // namespace
