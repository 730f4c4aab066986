//===- ApiTest.cpp - The plugin as its callers see it ---------------------===//
#include "Caller.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

using namespace shardc::pjrt;
using namespace shardc::pjrt::test;

namespace {
/// The table, and a client of two devices.
class PjrtApi : public testing::Test {
protected:
  void SetUp() override {
    owned = makeClient(2);
    ASSERT_TRUE(owned);
    client = owned.get();
  }

  Device *device(size_t index) {
    Device *found = deviceOf(client, index);
    EXPECT_NE(found, nullptr);
    return found;
  }

  Buffer *put(const float *data, std::vector<int64_t> dims,
              HostBufferSemantics semantics, Event **done) {
    auto args = sized<Client_BufferFromHostBuffer_Args>();
    args.client = client;
    args.data = data;
    args.type = Buffer_Type_F32;
    args.dims = dims.data();
    args.num_dims = dims.size();
    args.host_buffer_semantics = semantics;
    args.device = device(1);
    EXPECT_EQ(message(api->Client_BufferFromHostBuffer(&args)), "");
    *done = args.done_with_host_buffer;
    return args.buffer;
  }

  std::vector<float> get(Buffer *buffer, size_t count) {
    std::vector<float> data(count);
    auto args = sized<Buffer_ToHostBuffer_Args>();
    args.src = buffer;
    EXPECT_EQ(message(api->Buffer_ToHostBuffer(&args)), "");
    EXPECT_EQ(args.dst_size, count * sizeof(float));
    args.dst = data.data();
    EXPECT_EQ(message(api->Buffer_ToHostBuffer(&args)), "");
    EXPECT_EQ(await(args.event), "");
    return data;
  }

  void drop(Buffer *buffer) { OwnedBuffer{buffer}; }

  const Api *api = GetPjrtApi();
  OwnedClient owned;
  Client *client = nullptr;
};
} // namespace

TEST_F(PjrtApi, EveryFunctionIsThere) {
  EXPECT_EQ(api->struct_size, 1144u);
  EXPECT_EQ(api->version.major_version, 0);
  EXPECT_EQ(api->version.minor_version, 112);
  auto *slots =
      reinterpret_cast<void *const *>(reinterpret_cast<const char *>(api) + 40);
  for (size_t i = 0; i < 138; ++i)
    EXPECT_NE(slots[i], nullptr) << i;
}

// struct_size is what callers of other versions hand over.
TEST_F(PjrtApi, CallersOfOtherVersionsAreServed) {
  // Older: the last field is not theirs, and stays as it is.
  auto args = sized<Client_Devices_Args>();
  args.struct_size = offsetof(Client_Devices_Args, num_devices);
  args.client = client;
  args.num_devices = 99;
  EXPECT_EQ(message(api->Client_Devices(&args)), "");
  EXPECT_NE(args.devices, nullptr);
  EXPECT_EQ(args.num_devices, 99u);
  // Newer: more than is known here.
  args.struct_size = sizeof(args) + 64;
  EXPECT_EQ(message(api->Client_Devices(&args)), "");
  EXPECT_EQ(args.num_devices, 2u);
  // None: a struct that was not filled in.
  args.struct_size = 0;
  EXPECT_NE(message(api->Client_Devices(&args)), "");
}

TEST_F(PjrtApi, WhatIsAbsentSaysSo) {
  EXPECT_EQ(message(api->Compile(nullptr)),
            "shardc's plugin has no PJRT_Compile; docs/Reference/jax.md says "
            "what there is");
  // JAX knows by the first three words that it has to do without.
  EXPECT_EQ(message(api->TopologyDescription_Create(nullptr)),
            "topology not implemented, but of the devices there are: shardc's "
            "plugin has no PJRT_TopologyDescription_Create; "
            "docs/Reference/jax.md says what there is");
}

/// What a memory calls its kind.
static std::string kindOf(const Api *api, Memory *memory) {
  auto args = sized<Memory_Kind_Args>();
  args.memory = memory;
  EXPECT_EQ(message(api->Memory_Kind(&args)), "");
  return std::string(args.kind, args.kind_size);
}

TEST_F(PjrtApi, DevicesReachTheirMemoryAndTheHosts) {
  auto args = sized<Device_AddressableMemories_Args>();
  args.device = device(1);
  EXPECT_EQ(message(api->Device_AddressableMemories(&args)), "");
  ASSERT_EQ(args.num_memories, 3u);
  EXPECT_EQ(kindOf(api, args.memories[0]), "device");
  EXPECT_EQ(kindOf(api, args.memories[1]), "pinned_host");
  EXPECT_EQ(kindOf(api, args.memories[2]), "unpinned_host");
  auto all = sized<Client_AddressableMemories_Args>();
  all.client = client;
  EXPECT_EQ(message(api->Client_AddressableMemories(&all)), "");
  EXPECT_EQ(all.num_addressable_memories, 6u);
  auto usual = sized<Device_DefaultMemory_Args>();
  usual.device = device(1);
  EXPECT_EQ(message(api->Device_DefaultMemory(&usual)), "");
  EXPECT_EQ(usual.memory, args.memories[0]);
  auto back = sized<Memory_AddressableByDevices_Args>();
  back.memory = args.memories[1];
  EXPECT_EQ(message(api->Memory_AddressableByDevices(&back)), "");
  ASSERT_EQ(back.num_devices, 1u);
  EXPECT_EQ(back.devices[0], device(1));
  auto look = sized<Client_LookupDevice_Args>();
  look.client = client;
  look.id = 2;
  EXPECT_EQ(message(api->Client_LookupDevice(&look)),
            "no device 2: there are 2");
}

TEST_F(PjrtApi, DevicesOfTheHostShareItsMemory) {
  auto args = sized<Device_MemoryStats_Args>();
  args.device = device(1);
  EXPECT_EQ(message(api->Device_MemoryStats(&args)), "");
  EXPECT_TRUE(args.bytes_limit_is_set);
  EXPECT_GT(args.bytes_limit, 0);
  EXPECT_TRUE(args.bytes_reservable_limit_is_set);
  EXPECT_EQ(args.bytes_reservable_limit, args.bytes_limit / 2);
  EXPECT_FALSE(args.largest_alloc_size_is_set);
}

TEST_F(PjrtApi, BuffersGoThereAndBack) {
  std::vector<float> data(6);
  std::iota(data.begin(), data.end(), 1.0f);
  Event *done = nullptr;
  Buffer *buffer = put(data.data(), {2, 3},
                       HostBufferSemantics_ImmutableOnlyDuringCall, &done);
  EXPECT_EQ(await(done), "");
  std::vector<float> expected = data;
  data.assign(6, 0.0f); // copied already
  EXPECT_EQ(get(buffer, 6), expected);

  auto copy = sized<Buffer_CopyToDevice_Args>();
  copy.buffer = buffer;
  copy.dst_device = device(0);
  EXPECT_EQ(message(api->Buffer_CopyToDevice(&copy)), "");
  auto where = sized<Buffer_Device_Args>();
  where.buffer = copy.dst_buffer;
  EXPECT_EQ(message(api->Buffer_Device(&where)), "");
  EXPECT_EQ(where.device, device(0));

  auto remove = sized<Buffer_Delete_Args>();
  remove.buffer = buffer;
  EXPECT_EQ(message(api->Buffer_Delete(&remove)), "");
  auto args = sized<Buffer_ToHostBuffer_Args>();
  args.src = buffer;
  args.dst = data.data();
  args.dst_size = sizeof(float) * 6;
  EXPECT_EQ(message(api->Buffer_ToHostBuffer(&args)),
            "Buffer_ToHostBuffer: the buffer has been deleted or donated");
  EXPECT_EQ(get(copy.dst_buffer, 6), expected);
  drop(buffer);
  drop(copy.dst_buffer);
}

// Memory that is lent is given back when its buffer goes, not before.
TEST_F(PjrtApi, LentMemoryIsGivenBack) {
  alignas(64) static const float data[16] = {1, 2, 3};
  Event *done = nullptr;
  Buffer *buffer =
      put(data, {16}, HostBufferSemantics_ImmutableZeroCopy, &done);
  auto pointer = sized<Buffer_OpaqueDeviceMemoryDataPointer_Args>();
  pointer.buffer = buffer;
  EXPECT_EQ(message(api->Buffer_OpaqueDeviceMemoryDataPointer(&pointer)), "");
  EXPECT_EQ(pointer.device_memory_ptr, data);
  auto ready = sized<Event_IsReady_Args>();
  ready.event = done;
  EXPECT_EQ(message(api->Event_IsReady(&ready)), "");
  EXPECT_FALSE(ready.is_ready);
  drop(buffer);
  EXPECT_EQ(await(done), "");
}

TEST_F(PjrtApi, ShapesThatCannotBeAreRefused) {
  auto args = sized<Client_BufferFromHostBuffer_Args>();
  int64_t dims[] = {-1};
  args.client = client;
  args.type = Buffer_Type_F32;
  args.dims = dims;
  args.num_dims = 1;
  EXPECT_EQ(message(api->Client_BufferFromHostBuffer(&args)),
            "a dim of size -1");
  args.type = Buffer_Type_TOKEN;
  EXPECT_EQ(message(api->Client_BufferFromHostBuffer(&args)),
            "arrays of type token (23) are not supported");
}

TEST_F(PjrtApi, TransfersInPiecesEndWithTheLast) {
  ShapeSpec spec = sized<ShapeSpec>();
  int64_t dims[] = {4};
  spec.dims = dims;
  spec.num_dims = 1;
  spec.element_type = Buffer_Type_F32;
  auto create = sized<Client_CreateBuffersForAsyncHostToDevice_Args>();
  create.client = client;
  create.shape_specs = &spec;
  create.num_shape_specs = 1;
  ASSERT_EQ(message(api->Client_CreateBuffersForAsyncHostToDevice(&create)),
            "");
  auto retrieve = sized<AsyncHostToDeviceTransferManager_RetrieveBuffer_Args>();
  retrieve.transfer_manager = create.transfer_manager;
  ASSERT_EQ(
      message(api->AsyncHostToDeviceTransferManager_RetrieveBuffer(&retrieve)),
      "");
  const float data[] = {1, 2, 3, 4};
  for (int half : {1, 0}) {
    auto args = sized<AsyncHostToDeviceTransferManager_TransferData_Args>();
    args.transfer_manager = create.transfer_manager;
    args.data = data + 2 * half;
    args.offset = 8 * half;
    args.transfer_size = 8;
    args.is_last_transfer = half == 0;
    EXPECT_EQ(
        message(api->AsyncHostToDeviceTransferManager_TransferData(&args)), "");
    destroy(args.done_with_h2d_transfer);
  }
  EXPECT_EQ(get(retrieve.buffer_out, 4), (std::vector<float>{1, 2, 3, 4}));
  drop(retrieve.buffer_out);
  auto end = sized<AsyncHostToDeviceTransferManager_Destroy_Args>();
  end.transfer_manager = create.transfer_manager;
  EXPECT_EQ(message(api->AsyncHostToDeviceTransferManager_Destroy(&end)), "");
}

// A buffer that failed is an error to all who use it, and no more than that.
TEST_F(PjrtApi, ErrorBuffersFailWhoReadsThem) {
  auto create = sized<Client_CreateErrorBuffer_Args>();
  int64_t dims[] = {4};
  create.client = client;
  create.error_code = Error_Code_DATA_LOSS;
  create.error_message = "the disk is full";
  create.error_message_size = strlen(create.error_message);
  create.shape_dims = dims;
  create.shape_num_dims = 1;
  create.shape_element_type = Buffer_Type_F32;
  ASSERT_EQ(message(api->Client_CreateErrorBuffer(&create)), "");
  auto ready = sized<Buffer_ReadyEvent_Args>();
  ready.buffer = create.buffer;
  ASSERT_EQ(message(api->Buffer_ReadyEvent(&ready)), "");
  EXPECT_EQ(await(ready.event), "the disk is full");
  drop(create.buffer);
}

TEST_F(PjrtApi, EventsAreSetOnce) {
  auto create = sized<Event_Create_Args>();
  ASSERT_EQ(message(api->Event_Create(&create)), "");
  int calls = 0;
  auto onReady = sized<Event_OnReady_Args>();
  onReady.event = create.event;
  onReady.user_arg = &calls;
  onReady.callback = [](Error *error, void *user) {
    EXPECT_EQ(error, nullptr);
    ++*static_cast<int *>(user);
  };
  EXPECT_EQ(message(api->Event_OnReady(&onReady)), "");
  EXPECT_EQ(calls, 0);
  auto set = sized<Event_Set_Args>();
  set.event = create.event;
  std::thread([&] { EXPECT_EQ(message(api->Event_Set(&set)), ""); }).join();
  EXPECT_EQ(message(api->Event_Set(&set)),
            "an event is set that is set already");
  EXPECT_EQ(await(create.event), "");
  EXPECT_EQ(calls, 1);
}
