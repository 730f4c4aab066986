//===- StormTest.cpp - Random calls from several threads ------------------===//
//
// Threads share arrays and programs, and each makes calls at random: right
// ones, whose results are compared, and wrong ones, which have to be errors.
// SHARDC_PJRT_CALLS says how many; nothing may crash, hang or leak.
//
//===----------------------------------------------------------------------===//
#include "Caller.h"
#include "Wire.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <mutex>
#include <random>
#include <thread>

using namespace shardc::pjrt;
using namespace shardc::pjrt::test;

namespace {

/// An array all of whose elements are the same, unless somebody gives it up.
struct Array {
  std::shared_ptr<Buffer> buffer;
  float value;
  size_t device;
};

/// A program that adds two arrays, on one device or cut over two.
struct Sum {
  std::shared_ptr<LoadedExecutable> loaded;
  size_t ranks;
};

constexpr size_t numDevices = 3, length = 64;

/// What threads share.
class Pool {
public:
  explicit Pool(Client *client) : client(client) {}
  Client *const client;

  void add(Array array) {
    std::lock_guard lock(mutex);
    if (arrays.size() < 64)
      arrays.push_back(std::move(array));
    else
      arrays[next++ % arrays.size()] = std::move(array);
  }
  Array pick(size_t number) {
    std::lock_guard lock(mutex);
    return arrays.empty() ? Array{} : arrays[number % arrays.size()];
  }
  /// One on `device`, should there be one.
  Array pickOn(size_t device, size_t number) {
    std::lock_guard lock(mutex);
    for (size_t i = 0; i < arrays.size(); ++i)
      if (const Array &array = arrays[(number + i) % arrays.size()];
          array.device == device)
        return array;
    return {};
  }
  std::vector<Sum> sums;
  /// How often arrays were read and programs run with success.
  std::atomic<size_t> reads = 0, runs = 0;

private:
  std::mutex mutex;
  std::vector<Array> arrays;
  size_t next = 0;
};

class Thread {
public:
  Thread(Pool &pool, unsigned seed) : pool(pool), random(seed) {}

  void run(size_t calls) {
    for (size_t i = 0; i < calls && !testing::Test::HasFailure(); ++i)
      switch (random() % 12) {
      case 0:
      case 1:
        put();
        break;
      case 2:
      case 3:
        get();
        break;
      case 4:
        copy();
        break;
      case 5:
        giveUp();
        break;
      case 6:
        hold();
        break;
      case 7:
        wrong();
        break;
      case 8:
        pieces();
        break;
      default:
        if (!pool.sums.empty())
          execute();
      }
  }

private:
  /// Others may give an array up at any time; nothing else may fail.
  void expectFine(const std::string &error) {
    if (error.find("deleted") == error.npos)
      EXPECT_EQ(error, "");
  }

  std::shared_ptr<Buffer> share(Buffer *buffer) {
    return std::shared_ptr<Buffer>(buffer, DestroyBuffer());
  }

  void put() {
    static const int64_t dims[] = {length};
    Array array = {nullptr, float(random() % 1000), random() % numDevices};
    auto args = sized<Client_BufferFromHostBuffer_Args>();
    auto *data = static_cast<float *>(std::aligned_alloc(64, 4 * length));
    std::fill_n(data, length, array.value);
    args.client = pool.client;
    args.data = data;
    args.type = Buffer_Type_F32;
    args.dims = dims;
    args.num_dims = 1;
    args.host_buffer_semantics = HostBufferSemantics(random() % 4);
    args.device = deviceOf(pool.client, array.device);
    std::string error = message(api()->Client_BufferFromHostBuffer(&args));
    ASSERT_EQ(error, "");
    array.buffer = share(args.buffer);
    // The memory goes when the event says so, by whichever thread.
    auto ready = sized<Event_OnReady_Args>();
    ready.event = args.done_with_host_buffer;
    ready.user_arg = data;
    ready.callback = [](Error *error, void *data) {
      message(error);
      std::free(data);
    };
    ASSERT_EQ(message(api()->Event_OnReady(&ready)), "");
    destroy(args.done_with_host_buffer);
    pool.add(std::move(array));
  }

  void get() {
    Array array = pool.pick(random());
    if (!array.buffer)
      return;
    std::vector<float> data(length);
    auto args = sized<Buffer_ToHostBuffer_Args>();
    args.src = array.buffer.get();
    args.dst = data.data();
    args.dst_size = 4 * length;
    std::string error = message(api()->Buffer_ToHostBuffer(&args));
    if (error.empty()) {
      error = await(args.event);
      if (error.empty()) {
        EXPECT_EQ(data, std::vector<float>(length, array.value));
        ++pool.reads;
      }
    }
    expectFine(error);
  }

  void copy() {
    Array array = pool.pick(random());
    if (!array.buffer)
      return;
    auto args = sized<Buffer_CopyToDevice_Args>();
    array.device = random() % numDevices;
    args.buffer = array.buffer.get();
    args.dst_device = deviceOf(pool.client, array.device);
    std::string error = message(api()->Buffer_CopyToDevice(&args));
    expectFine(error);
    if (error.empty())
      pool.add({share(args.dst_buffer), array.value, array.device});
  }

  void giveUp() {
    Array array = pool.pick(random());
    if (!array.buffer || random() % 3)
      return;
    auto args = sized<Buffer_Delete_Args>();
    args.buffer = array.buffer.get();
    EXPECT_EQ(message(api()->Buffer_Delete(&args)), "");
  }

  /// Looks into memory while it is held.
  void hold() {
    Array array = pool.pick(random());
    if (!array.buffer)
      return;
    auto take = sized<Buffer_IncreaseExternalReferenceCount_Args>();
    take.buffer = array.buffer.get();
    std::string error =
        message(api()->Buffer_IncreaseExternalReferenceCount(&take));
    expectFine(error);
    if (!error.empty())
      return;
    auto ready = sized<Buffer_ReadyEvent_Args>();
    ready.buffer = array.buffer.get();
    error = message(api()->Buffer_ReadyEvent(&ready));
    if (error.empty())
      error = await(ready.event);
    expectFine(error);
    auto look = sized<Buffer_OpaqueDeviceMemoryDataPointer_Args>();
    look.buffer = array.buffer.get();
    if (error.empty())
      error = message(api()->Buffer_OpaqueDeviceMemoryDataPointer(&look));
    expectFine(error);
    if (error.empty() && look.device_memory_ptr) {
      auto *data = static_cast<const float *>(look.device_memory_ptr);
      EXPECT_EQ(data[0], array.value);
      EXPECT_EQ(data[length - 1], array.value);
    }
    auto give = sized<Buffer_DecreaseExternalReferenceCount_Args>();
    give.buffer = array.buffer.get();
    EXPECT_EQ(message(api()->Buffer_DecreaseExternalReferenceCount(&give)), "");
  }

  /// Calls that cannot be right.
  void wrong() {
    switch (random() % 4) {
    case 0: {
      auto args = sized<Client_LookupDevice_Args>();
      args.client = pool.client;
      args.id = int(random() % 100) + int(numDevices);
      EXPECT_NE(message(api()->Client_LookupDevice(&args)), "");
      break;
    }
    case 1: {
      std::string garbage(random() % 200, '\0'), error;
      for (char &byte : garbage)
        byte = char(random());
      EXPECT_EQ(compile(pool.client, garbage, garbage, error), nullptr);
      EXPECT_NE(error, "");
      break;
    }
    case 2: {
      Array array = pool.pick(random());
      if (!array.buffer)
        break;
      auto args = sized<Buffer_CopyRawToHost_Args>();
      args.buffer = array.buffer.get();
      args.offset = int64_t(random() % 1000);
      args.transfer_size = 4 * length + 1;
      EXPECT_NE(message(api()->Buffer_CopyRawToHost(&args)), "");
      break;
    }
    case 3: {
      std::string garbage(random() % 100, char(random()));
      auto args = sized<Executable_DeserializeAndLoad_Args>();
      args.client = pool.client;
      args.serialized_executable = garbage.data();
      args.serialized_executable_size = garbage.size();
      EXPECT_NE(message(api()->Executable_DeserializeAndLoad(&args)), "");
      break;
    }
    }
  }

  /// An array that comes in pieces, or not at all.
  void pieces() {
    static const int64_t dims[] = {length};
    ShapeSpec spec = sized<ShapeSpec>();
    spec.dims = dims;
    spec.num_dims = 1;
    spec.element_type = Buffer_Type_F32;
    auto create = sized<Client_CreateBuffersForAsyncHostToDevice_Args>();
    create.client = pool.client;
    create.shape_specs = &spec;
    create.num_shape_specs = 1;
    ASSERT_EQ(message(api()->Client_CreateBuffersForAsyncHostToDevice(&create)),
              "");
    auto retrieve =
        sized<AsyncHostToDeviceTransferManager_RetrieveBuffer_Args>();
    retrieve.transfer_manager = create.transfer_manager;
    ASSERT_EQ(message(api()->AsyncHostToDeviceTransferManager_RetrieveBuffer(
                  &retrieve)),
              "");
    OwnedBuffer buffer(retrieve.buffer_out);
    bool whole = random() % 4 != 0;
    float value = float(random() % 1000);
    if (whole) {
      std::vector<float> data(length, value);
      auto args = sized<AsyncHostToDeviceTransferManager_TransferData_Args>();
      args.transfer_manager = create.transfer_manager;
      args.data = data.data();
      args.transfer_size = 4 * length;
      args.is_last_transfer = true;
      ASSERT_EQ(
          message(api()->AsyncHostToDeviceTransferManager_TransferData(&args)),
          "");
      destroy(args.done_with_h2d_transfer);
    }
    auto end = sized<AsyncHostToDeviceTransferManager_Destroy_Args>();
    end.transfer_manager = create.transfer_manager;
    ASSERT_EQ(message(api()->AsyncHostToDeviceTransferManager_Destroy(&end)),
              "");
    if (whole) {
      pool.add({share(buffer.release()), value, 0});
      return;
    }
    auto ready = sized<Buffer_ReadyEvent_Args>();
    ready.buffer = buffer.get();
    ASSERT_EQ(message(api()->Buffer_ReadyEvent(&ready)), "");
    EXPECT_EQ(await(ready.event), "the transfer to the device was given up");
  }

  /// Adds two arrays; now and then one of them is given up.
  void execute() {
    const Sum &sum = pool.sums[random() % pool.sums.size()];
    std::vector<Array> first, second;
    std::vector<std::array<Buffer *, 2>> arguments(sum.ranks);
    std::vector<Buffer *const *> lists;
    for (size_t rank = 0; rank < sum.ranks; ++rank) {
      first.push_back(pool.pickOn(rank, random()));
      second.push_back(pool.pickOn(rank, random()));
      if (!first[rank].buffer || !second[rank].buffer)
        return;
      arguments[rank] = {first[rank].buffer.get(), second[rank].buffer.get()};
      lists.push_back(arguments[rank].data());
    }
    std::vector<Buffer *> results(sum.ranks);
    std::vector<Buffer **> resultLists;
    for (Buffer *&result : results)
      resultLists.push_back(&result);
    std::vector<Event *> done(sum.ranks);
    auto options = sized<ExecuteOptions>();
    int64_t kept = 0;
    if (random() % 2) {
      options.non_donatable_input_indices = &kept;
      options.num_non_donatable_input_indices = 1;
    }
    auto args = sized<LoadedExecutable_Execute_Args>();
    args.executable = sum.loaded.get();
    args.options = &options;
    args.argument_lists = lists.data();
    args.num_devices = random() % 16 ? sum.ranks : sum.ranks + 1;
    args.num_args = random() % 16 ? 2 : 1;
    args.output_lists = resultLists.data();
    args.device_complete_events = random() % 2 ? done.data() : nullptr;
    std::string error = message(api()->LoadedExecutable_Execute(&args));
    if (args.num_devices != sum.ranks || args.num_args != 2) {
      EXPECT_NE(error, "");
      return;
    }
    if (!error.empty()) {
      // Given up by another thread, or twice the same one.
      if (error.find("deleted") == error.npos &&
          error.find("donate") == error.npos)
        EXPECT_EQ(error, "");
      return;
    }
    ++pool.runs;
    for (size_t rank = 0; rank < sum.ranks; ++rank) {
      if (args.device_complete_events)
        expectFine(await(done[rank]));
      pool.add(
          {share(results[rank]), first[rank].value + second[rank].value, rank});
    }
  }

  Pool &pool;
  std::mt19937 random;
};
} // namespace

static std::string optionsFor(int64_t partitions) {
  WireWriter build, options;
  build.number(4, 1);
  build.number(5, uint64_t(partitions));
  options.text(3, build.take());
  return options.take();
}

TEST(PjrtStorm, AnyCallsAtOnce) {
  const char *text = std::getenv("SHARDC_PJRT_CALLS");
  size_t calls = text ? std::strtoul(text, nullptr, 10) : 4000;
  constexpr size_t numThreads = 4;
  OwnedClient client = makeClient(numDevices);
  ASSERT_TRUE(client);
  {
    Pool pool(client.get());
    static const char one[] =
        "func.func @main(%a: tensor<64xf32> {tf.aliasing_output = 0 : i32}, "
        "%b: tensor<64xf32>) -> tensor<64xf32> {\n"
        "  %0 = stablehlo.add %a, %b : tensor<64xf32>\n"
        "  return %0 : tensor<64xf32>\n}\n";
    static const char two[] =
        "sdy.mesh @mesh = <[\"x\"=2]>\n"
        "func.func @main(%a: tensor<128xf32> {sdy.sharding = "
        "#sdy.sharding<@mesh, [{\"x\"}]>}, %b: tensor<128xf32> {sdy.sharding = "
        "#sdy.sharding<@mesh, [{\"x\"}]>}) -> (tensor<128xf32> {sdy.sharding = "
        "#sdy.sharding<@mesh, [{\"x\"}]>}) {\n"
        "  %0 = stablehlo.add %a, %b : tensor<128xf32>\n"
        "  return %0 : tensor<128xf32>\n}\n";
    std::string error;
    for (auto [source, ranks] : {std::pair(one, 1), std::pair(two, 2)}) {
      OwnedLoaded loaded =
          compile(client.get(), source, optionsFor(ranks), error);
      ASSERT_EQ(error, "");
      pool.sums.push_back({std::shared_ptr<LoadedExecutable>(std::move(loaded)),
                           size_t(ranks)});
    }
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < numThreads; ++i)
      threads.emplace_back(
          [&, i] { Thread(pool, 17 + i).run(calls / numThreads); });
    for (std::thread &thread : threads)
      thread.join();
    // Most are about arrays that somebody gave up; not all.
    EXPECT_GT(pool.reads, calls / 50);
    EXPECT_GT(pool.runs, calls / 50);
    RecordProperty("reads", int(pool.reads));
    RecordProperty("runs", int(pool.runs));
  }
}
