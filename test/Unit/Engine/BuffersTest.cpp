//===- BuffersTest.cpp - Engines, events and buffers ----------------------===//

#include "Handles.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace shardc::test;

namespace {

TEST(Engines, RefuseWhatMakesNoSense) {
  shardc_engine *engine = nullptr;
  shardc_engine_options options = {};
  EXPECT_FAILS(shardc_engine_create(&options, &engine), SHARDC_USAGE, "size");
  options.size = sizeof(options);
  options.devices = -3;
  EXPECT_FAILS(shardc_engine_create(&options, &engine), SHARDC_USAGE,
               "-3 devices");
  options.devices = 2;
  options.target = "tpu";
  EXPECT_FAILS(shardc_engine_create(&options, &engine), SHARDC_USAGE, "'tpu'");
  EXPECT_FAILS(shardc_engine_create(nullptr, nullptr), SHARDC_USAGE, "NULL");
  EXPECT_EQ(engine, nullptr);
}

TEST(Engines, TakeOptionsOfAnOlderCaller) {
  // One who knew of `size` and `devices` alone.
  shardc_engine_options options;
  std::memset(&options, 0xff, sizeof(options));
  options.size = offsetof(shardc_engine_options, target);
  options.devices = 3;
  shardc_engine *engine = nullptr;
  ASSERT_GOOD(shardc_engine_create(&options, &engine));
  EXPECT_EQ(shardc_engine_num_devices(engine), 3);
  shardc_engine_destroy(engine);
}

TEST(ElementTypes, HaveNamesAndBytes) {
  EXPECT_EQ(shardc_element_type_bytes(shardc_element_type_named("f32")), 4);
  EXPECT_EQ(shardc_element_type_bytes(shardc_element_type_named("i1")), 1);
  EXPECT_STREQ(
      shardc_element_type_name(shardc_element_type_named("complex<f64>")),
      "complex<f64>");
  EXPECT_EQ(shardc_element_type_named("f31"), 0);
  EXPECT_EQ(shardc_element_type_named(nullptr), 0);
  EXPECT_STREQ(shardc_element_type_name(12345), "");
  EXPECT_EQ(shardc_element_type_bytes(-1), 0);
}

TEST(Buffers, BringBackWhatTheyWereGiven) {
  EnginePtr engine = makeEngine(2);
  BufferPtr buffer = put(engine.get(), 1, {1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(shardc_buffer_device(buffer.get()), 1);
  EXPECT_EQ(shardc_buffer_num_dims(buffer.get()), 2);
  EXPECT_EQ(shardc_buffer_dims(buffer.get())[1], 3);
  EXPECT_EQ(shardc_buffer_bytes(buffer.get()), 24);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(shardc_buffer_data(buffer.get())) % 64,
            0u);
  EXPECT_EQ(get(buffer.get()), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  float part[2];
  EXPECT_GOOD(shardc_buffer_bytes_to_host(buffer.get(), part, 8, 8, nullptr));
  EXPECT_EQ(part[0], 3);
  EXPECT_EQ(part[1], 4);
  EXPECT_FAILS(shardc_buffer_bytes_to_host(buffer.get(), part, 20, 8, nullptr),
               SHARDC_USAGE, "bytes 20 to 20 + 8 of a buffer that has 24");
  EXPECT_FAILS(shardc_buffer_to_host(buffer.get(), nullptr, nullptr, nullptr),
               SHARDC_USAGE, "no room for an array of 24 bytes");
}

TEST(Buffers, ReadAndWriteStrides) {
  EnginePtr engine = makeEngine(1);
  // A 3x2 array whose rows run backwards in every second column of memory.
  float memory[12];
  for (int i = 0; i < 12; ++i)
    memory[i] = i;
  std::vector<int64_t> dims = {3, 2}, strides = {-16, 8};
  shardc_host_data host = hostData(memory + 8, "f32", dims);
  host.byte_strides = strides.data();
  shardc_buffer *made = nullptr;
  ASSERT_GOOD(shardc_buffer_from_host(engine.get(), 0, &host, &made));
  BufferPtr buffer(made);
  EXPECT_EQ(get(buffer.get()), (std::vector<float>{8, 10, 4, 6, 0, 2}));
  // Back by columns.
  std::vector<float> columns(6);
  std::vector<int64_t> byColumn = {4, 12};
  EXPECT_GOOD(shardc_buffer_to_host(buffer.get(), columns.data(),
                                    byColumn.data(), nullptr));
  EXPECT_EQ(columns, (std::vector<float>{8, 4, 0, 10, 6, 2}));
}

TEST(Buffers, BorrowAlignedMemory) {
  EnginePtr engine = makeEngine(1);
  auto *memory = static_cast<float *>(std::aligned_alloc(64, 64));
  std::fill(memory, memory + 16, 5);
  int released = 0;
  std::vector<int64_t> dims = {16};
  shardc_host_data host = hostData(memory, "f32", dims);
  host.semantics = SHARDC_BORROW;
  host.released = [](void *user) { ++*static_cast<int *>(user); };
  host.user = &released;
  shardc_buffer *made = nullptr;
  ASSERT_GOOD(shardc_buffer_from_host(engine.get(), 0, &host, &made));
  BufferPtr buffer(made);
  EXPECT_EQ(shardc_buffer_data(made), memory);
  EXPECT_EQ(released, 0);
  buffer.reset();
  EXPECT_EQ(released, 1);
  // What does not lie on such an address is copied, and given back at once.
  std::vector<int64_t> fewer = {15};
  host.data = memory + 1;
  host.dims = fewer.data();
  ASSERT_GOOD(shardc_buffer_from_host(engine.get(), 0, &host, &made));
  buffer.reset(made);
  EXPECT_EQ(released, 2);
  // Also where the call fails.
  host.element_type = 99;
  EXPECT_FAILS(shardc_buffer_from_host(engine.get(), 0, &host, &made),
               SHARDC_USAGE, "code 99");
  EXPECT_EQ(released, 3);
  std::free(memory);
}

TEST(Buffers, OfNothingAndOfOne) {
  EnginePtr engine = makeEngine(1);
  BufferPtr one = put(engine.get(), 0, {7}, {});
  EXPECT_EQ(get(one.get()), std::vector<float>{7});
  BufferPtr none = put(engine.get(), 0, {}, {3, 0});
  EXPECT_EQ(shardc_buffer_bytes(none.get()), 0);
  EXPECT_EQ(get(none.get()), std::vector<float>{});
  EXPECT_FALSE(shardc_buffer_is_deleted(none.get()));
}

TEST(Buffers, RefuseWhatMakesNoSense) {
  EnginePtr engine = makeEngine(1);
  float value = 1;
  shardc_buffer *made = nullptr;
  std::vector<int64_t> dims = {1}, negative = {-1},
                       huge = {int64_t(1) << 40, int64_t(1) << 40},
                       large = {int64_t(1) << 50};
  shardc_host_data host = hostData(&value, "f32", dims);
  EXPECT_FAILS(shardc_buffer_from_host(engine.get(), 1, &host, &made),
               SHARDC_USAGE, "no device 1");
  EXPECT_FAILS(shardc_buffer_from_host(nullptr, 0, &host, &made), SHARDC_USAGE,
               "'engine' is NULL");
  EXPECT_FAILS(shardc_buffer_from_host(engine.get(), 0, nullptr, &made),
               SHARDC_USAGE, "'data' is NULL");
  host.dims = negative.data();
  EXPECT_FAILS(shardc_buffer_from_host(engine.get(), 0, &host, &made),
               SHARDC_USAGE, "[-1]");
  host.dims = dims.data();
  host.data = nullptr;
  EXPECT_FAILS(shardc_buffer_from_host(engine.get(), 0, &host, &made),
               SHARDC_USAGE, "no data for an array of 4 bytes");
  host.semantics = 7;
  EXPECT_FAILS(shardc_buffer_from_host(engine.get(), 0, &host, &made),
               SHARDC_USAGE,
               "'semantics' is 7; expected SHARDC_COPY or SHARDC_BORROW");
  host.semantics = SHARDC_COPY;
  host.num_dims = -1;
  EXPECT_FAILS(shardc_buffer_from_host(engine.get(), 0, &host, &made),
               SHARDC_USAGE, "'dims' of the data are not there");
  host.num_dims = 1;
  host.dims = nullptr;
  EXPECT_FAILS(shardc_buffer_from_host(engine.get(), 0, &host, &made),
               SHARDC_USAGE, "'dims' of the data are not there");
  shardc_element_type f32 = shardc_element_type_named("f32");
  EXPECT_FAILS(shardc_buffer_create(engine.get(), 0, f32, 2, nullptr, &made),
               SHARDC_USAGE, "'dims' are not there");
  EXPECT_FAILS(
      shardc_buffer_create(engine.get(), 0, f32, 2, huge.data(), &made),
      SHARDC_USAGE, "2^63");
  EXPECT_FAILS(
      shardc_buffer_create(engine.get(), 0, f32, 1, large.data(), &made),
      SHARDC_MEMORY, "out of memory");
  EXPECT_EQ(made, nullptr);
}

TEST(Buffers, AreOfNoUseOnceDeleted) {
  EnginePtr engine = makeEngine(2);
  BufferPtr buffer = put(engine.get(), 0, {1, 2}, {2});
  shardc_buffer_delete(buffer.get());
  shardc_buffer_delete(buffer.get());
  EXPECT_TRUE(shardc_buffer_is_deleted(buffer.get()));
  EXPECT_EQ(shardc_buffer_data(buffer.get()), nullptr);
  float values[2];
  EXPECT_FAILS(shardc_buffer_to_host(buffer.get(), values, nullptr, nullptr),
               SHARDC_USAGE, "deleted");
  shardc_buffer *copy = nullptr;
  EXPECT_FAILS(shardc_buffer_to_device(buffer.get(), 1, &copy), SHARDC_USAGE,
               "deleted");
}

TEST(Buffers, ArePinnedBeyondDeletion) {
  EnginePtr engine = makeEngine(1);
  BufferPtr buffer = put(engine.get(), 0, {1, 2}, {2});
  auto *memory = static_cast<float *>(shardc_buffer_data(buffer.get()));
  shardc_buffer_pin(buffer.get());
  shardc_buffer_pin(buffer.get());
  shardc_buffer_unpin(buffer.get());
  shardc_buffer_delete(buffer.get());
  // The next one of this size would be given the same memory.
  BufferPtr next = put(engine.get(), 0, {3, 4}, {2});
  EXPECT_EQ(memory[1], 2);
  shardc_buffer_unpin(buffer.get());
  BufferPtr last = put(engine.get(), 0, {5, 6}, {2});
  EXPECT_EQ(shardc_buffer_data(last.get()), memory);
}

TEST(Buffers, KeepFreedMemoryForOthers) {
  EnginePtr engine = makeEngine(1);
  shardc_memory_stats stats = {};
  stats.size = sizeof(stats);
  auto read = [&] {
    EXPECT_GOOD(shardc_engine_memory_stats(engine.get(), 0, &stats));
    return stats.bytes_in_use;
  };
  EXPECT_EQ(read(), 0);
  std::vector<float> values(1 << 20, 1);
  BufferPtr buffer = put(engine.get(), 0, values, {1 << 20});
  int64_t used = read();
  EXPECT_GE(used, 4 << 20);
  void *memory = shardc_buffer_data(buffer.get());
  buffer.reset();
  EXPECT_EQ(read(), 0);
  buffer = put(engine.get(), 0, values, {1 << 20});
  EXPECT_EQ(shardc_buffer_data(buffer.get()), memory);
  EXPECT_EQ(read(), used);
  EXPECT_EQ(stats.peak_bytes_in_use, used);
  EXPECT_GT(stats.bytes_limit, 0);
}

TEST(Buffers, MoveToOtherDevices) {
  EnginePtr engine = makeEngine(3);
  BufferPtr buffer = put(engine.get(), 0, {1, 2}, {2});
  shardc_buffer *made = nullptr;
  ASSERT_GOOD(shardc_buffer_to_device(buffer.get(), 2, &made));
  BufferPtr copy(made);
  EXPECT_EQ(shardc_buffer_device(copy.get()), 2);
  buffer.reset();
  EXPECT_EQ(get(copy.get()), (std::vector<float>{1, 2}));
}

TEST(Buffers, OutliveTheirEngine) {
  EnginePtr engine = makeEngine(1);
  BufferPtr buffer = put(engine.get(), 0, {1, 2}, {2});
  engine.reset();
  float values[2];
  EXPECT_FAILS(shardc_buffer_to_host(buffer.get(), values, nullptr, nullptr),
               SHARDC_USAGE, "engine has been destroyed");
}

TEST(Buffers, ComeLater) {
  EnginePtr engine = makeEngine(1);
  shardc_event *made = nullptr;
  ASSERT_GOOD(shardc_event_create(&made));
  EventPtr ready(made);
  shardc_buffer *later = nullptr;
  std::vector<int64_t> dims = {2};
  ASSERT_GOOD(shardc_buffer_create_later(engine.get(), 0,
                                         shardc_element_type_named("f32"), 1,
                                         dims.data(), ready.get(), &later));
  BufferPtr buffer(later);
  EventPtr watch(shardc_buffer_ready(later));
  EXPECT_FALSE(shardc_event_is_ready(watch.get()));
  std::vector<float> values(2);
  shardc_event *copied = nullptr;
  ASSERT_GOOD(shardc_buffer_to_host(later, values.data(), nullptr, &copied));
  EventPtr done(copied);
  std::atomic<int> calls{0};
  shardc_event_on_ready(
      done.get(),
      [](shardc_error *error, void *user) {
        EXPECT_EQ(error, nullptr);
        ++*static_cast<std::atomic<int> *>(user);
      },
      &calls);
  EXPECT_FALSE(shardc_event_is_ready(done.get()));
  auto *memory = static_cast<float *>(shardc_buffer_data(later));
  memory[0] = 8, memory[1] = 9;
  shardc_event_set(ready.get(), nullptr);
  EXPECT_GOOD(shardc_event_await(done.get()));
  EXPECT_EQ(values, (std::vector<float>{8, 9}));
  while (calls == 0)
    std::this_thread::yield();
  EXPECT_EQ(calls, 1);
}

TEST(Buffers, FailWithTheEventThatTheyWaitFor) {
  EnginePtr engine = makeEngine(1);
  shardc_event *made = nullptr;
  ASSERT_GOOD(shardc_event_create(&made));
  EventPtr ready(made);
  shardc_buffer *later = nullptr;
  std::vector<int64_t> dims = {2};
  ASSERT_GOOD(shardc_buffer_create_later(engine.get(), 0,
                                         shardc_element_type_named("f32"), 1,
                                         dims.data(), ready.get(), &later));
  BufferPtr buffer(later);
  float values[2];
  shardc_event *copied = nullptr;
  ASSERT_GOOD(shardc_buffer_to_host(later, values, nullptr, &copied));
  EventPtr done(copied);
  shardc_event_set(ready.get(),
                   shardc_error_create(SHARDC_IO, "the disk is gone"));
  EXPECT_FAILS(shardc_event_await(done.get()), SHARDC_IO, "the disk is gone");
  EXPECT_FAILS(shardc_buffer_to_host(later, values, nullptr, nullptr),
               SHARDC_IO, "the disk is gone");
}

TEST(Buffers, NeverComeWhereNobodySetsTheEvent) {
  EnginePtr engine = makeEngine(1);
  shardc_event *made = nullptr;
  ASSERT_GOOD(shardc_event_create(&made));
  std::atomic<int> told{0};
  shardc_event_on_ready(
      made,
      [](shardc_error *error, void *user) {
        EXPECT_FAILS(error, SHARDC_LOST,
                     "the event was destroyed before it was set");
        ++*static_cast<std::atomic<int> *>(user);
      },
      &told);
  shardc_event_destroy(made);
  EXPECT_EQ(told, 1);
}

TEST(Buffers, AreMadeAndReadByManyThreads) {
  EnginePtr engine = makeEngine(2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        BufferPtr buffer =
            put(engine.get(), i % 2, std::vector<float>(1 + i, t), {1 + i});
        ASSERT_EQ(get(buffer.get()), std::vector<float>(1 + i, t));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Engines, AreOfNoUseInAForkedChild) {
  EnginePtr engine = makeEngine(1);
  BufferPtr buffer = put(engine.get(), 0, {1}, {1});
  pid_t child = fork();
  if (child == 0) {
    float value;
    std::string said =
        textOf(shardc_buffer_to_host(buffer.get(), &value, nullptr, nullptr));
    bool isSaid = said.find("2: this process was forked from one that uses "
                            "shardc, and has none of its devices") == 0;
    _exit(isSaid ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(get(buffer.get()), std::vector<float>{1});
}

TEST(Events, AreWaitedForOnlySoLong) {
  shardc_event *made = nullptr;
  ASSERT_GOOD(shardc_event_create(&made));
  EventPtr event(made);
  EXPECT_FALSE(shardc_event_wait_for(event.get(), 1'000'000));
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    shardc_event_set(event.get(), nullptr);
  });
  EXPECT_TRUE(shardc_event_wait_for(event.get(), 60'000'000'000));
  setter.join();
  EXPECT_TRUE(shardc_event_wait_for(event.get(), 0));
}

TEST(Buffers, AreReleasedTogether) {
  EnginePtr engine = makeEngine(2);
  shardc_buffer *buffers[] = {put(engine.get(), 0, {1, 2}, {2}).release(),
                              nullptr,
                              put(engine.get(), 1, {3, 4}, {2}).release()};
  shardc_buffers_release(buffers, 3);
  for (int64_t device : {0, 1}) {
    shardc_memory_stats stats = {};
    stats.size = sizeof(stats);
    ASSERT_GOOD(shardc_engine_memory_stats(engine.get(), device, &stats));
    EXPECT_EQ(stats.bytes_in_use, 0);
  }
}

} // namespace
