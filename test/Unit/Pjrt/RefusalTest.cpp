//===- RefusalTest.cpp - What the plugin refuses, and how it says so ------===//
#include "Caller.h"
#include "Wire.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace shardc::pjrt;
using namespace shardc::pjrt::test;

namespace {
/// A client of two devices, and four numbers on the first.
class PjrtRefusal : public testing::Test {
protected:
  void SetUp() override {
    client = makeClient(2);
    ASSERT_TRUE(client);
    auto args = hostBuffer();
    ASSERT_EQ(message(api()->Client_BufferFromHostBuffer(&args)), "");
    destroy(args.done_with_host_buffer);
    buffer.reset(args.buffer);
  }

  Client_BufferFromHostBuffer_Args hostBuffer() {
    auto args = sized<Client_BufferFromHostBuffer_Args>();
    args.client = client.get();
    args.data = data;
    args.type = Buffer_Type_F32;
    args.dims = dims;
    args.num_dims = 2;
    args.device = deviceOf(client.get(), 0);
    return args;
  }

  static std::string optionsFor(uint64_t replicas) {
    WireWriter build, options;
    build.number(4, replicas);
    build.number(5, 1);
    options.text(3, build.take());
    return options.take();
  }

  OwnedClient client;
  OwnedBuffer buffer;
  const float data[4] = {1, 2, 3, 4};
  const int64_t dims[2] = {2, 2};
};
} // namespace

TEST_F(PjrtRefusal, LayoutsThatAreNotRowByRow) {
  auto layout = sized<Buffer_MemoryLayout>();
  layout.type = Buffer_MemoryLayout_Type_Tiled;
  const int64_t columns[] = {0, 1}, rows[] = {1, 0};
  layout.tiled.minor_to_major = columns;
  layout.tiled.minor_to_major_size = 2;
  auto args = hostBuffer();
  args.device_layout = &layout;
  EXPECT_EQ(message(api()->Client_BufferFromHostBuffer(&args)),
            "arrays come from the host row by row, in no other layout: copy it "
            "on the device");
  layout.tiled.minor_to_major = rows;
  layout.tiled.num_tiles = 1;
  auto read = sized<Buffer_ToHostBuffer_Args>();
  float back[4];
  read.src = buffer.get();
  read.host_layout = &layout;
  read.dst = back;
  read.dst_size = sizeof(back);
  EXPECT_EQ(message(api()->Buffer_ToHostBuffer(&read)),
            "layouts in tiles: arrays are dense here");
}

TEST_F(PjrtRefusal, CopiesToDevicesOfAnotherClient) {
  OwnedClient other = makeClient(1);
  ASSERT_TRUE(other);
  auto copy = sized<Buffer_CopyToDevice_Args>();
  copy.buffer = buffer.get();
  copy.dst_device = deviceOf(other.get(), 0);
  EXPECT_EQ(message(api()->Buffer_CopyToDevice(&copy)),
            "copies between clients: go through the host");
}

TEST_F(PjrtRefusal, PiecesBehindTheLast) {
  ShapeSpec spec = sized<ShapeSpec>();
  spec.dims = dims;
  spec.num_dims = 2;
  spec.element_type = Buffer_Type_F32;
  auto create = sized<Client_CreateBuffersForAsyncHostToDevice_Args>();
  create.client = client.get();
  create.shape_specs = &spec;
  create.num_shape_specs = 1;
  ASSERT_EQ(message(api()->Client_CreateBuffersForAsyncHostToDevice(&create)),
            "");
  auto args = sized<AsyncHostToDeviceTransferManager_TransferData_Args>();
  args.transfer_manager = create.transfer_manager;
  args.data = data;
  args.transfer_size = sizeof(data);
  args.is_last_transfer = true;
  EXPECT_EQ(
      message(api()->AsyncHostToDeviceTransferManager_TransferData(&args)), "");
  destroy(args.done_with_h2d_transfer);
  EXPECT_EQ(
      message(api()->AsyncHostToDeviceTransferManager_TransferData(&args)),
      "data for a buffer whose last piece has come");
  auto fail = sized<AsyncHostToDeviceTransferManager_SetBufferError_Args>();
  fail.transfer_manager = create.transfer_manager;
  fail.error_code = Error_Code_DATA_LOSS;
  fail.error_message = "lost";
  fail.error_message_size = 4;
  EXPECT_EQ(
      message(api()->AsyncHostToDeviceTransferManager_SetBufferError(&fail)),
      "an error for a buffer whose last piece has come");
  auto end = sized<AsyncHostToDeviceTransferManager_Destroy_Args>();
  end.transfer_manager = create.transfer_manager;
  EXPECT_EQ(message(api()->AsyncHostToDeviceTransferManager_Destroy(&end)), "");
}

TEST_F(PjrtRefusal, PeaksThatAreToBeForgotten) {
  auto args = sized<Device_ClearMemoryStats_Args>();
  args.device = deviceOf(client.get(), 0);
  EXPECT_EQ(message(api()->Device_ClearMemoryStats(&args)),
            "peaks of memory count from the start of the process on");
}

TEST_F(PjrtRefusal, TheErrorOfAnEventThatIsNotReady) {
  auto create = sized<Event_Create_Args>();
  ASSERT_EQ(message(api()->Event_Create(&create)), "");
  auto args = sized<Event_Error_Args>();
  args.event = create.event;
  EXPECT_EQ(message(api()->Event_Error(&args)),
            "an event that is not ready was asked for its error");
  destroy(create.event);
}

TEST_F(PjrtRefusal, ProgramsOfReplicasOfOtherFormatsAndInOtherMemory) {
  std::string error;
  EXPECT_FALSE(compile(client.get(), "func.func @main() { return }",
                       optionsFor(2), error));
  EXPECT_EQ(error, "programs of 2 replicas: use jit or shard_map over a mesh");
  EXPECT_FALSE(compile(client.get(),
                       "func.func @main(%x: tensor<4xf32> {mhlo.memory_kind = "
                       "\"attic\"}) { return }",
                       optionsFor(1), error));
  EXPECT_EQ(error.rfind("a value in memory of kind 'attic': devices reach ", 0),
            0u)
      << error;
  auto program = sized<Program_Args>();
  program.format = "hlo";
  program.format_size = 3;
  auto args = sized<Client_Compile_Args>();
  args.client = client.get();
  args.program = &program;
  EXPECT_EQ(message(api()->Client_Compile(&args)),
            "a program of format 'hlo': shardc reads StableHLO ('mlir')");
}

TEST_F(PjrtRefusal, CallbacksThatSend) {
  std::string error;
  OwnedLoaded loaded = compile(client.get(), "func.func @main() { return }",
                               optionsFor(1), error);
  ASSERT_EQ(error, "");
  auto options = sized<ExecuteOptions>();
  options.num_send_ops = 1;
  Buffer *const *in = nullptr;
  Buffer **out = nullptr;
  auto args = sized<LoadedExecutable_Execute_Args>();
  args.executable = loaded.get();
  args.options = &options;
  args.argument_lists = &in;
  args.output_lists = &out;
  args.num_devices = 1;
  EXPECT_EQ(message(api()->LoadedExecutable_Execute(&args)),
            "send and recv callbacks: callbacks of JAX come as custom calls "
            "here");
}

// What is in a GPU's memory has no address here.
TEST(PjrtRefusalOnGpu, ViewsAliasesAndPieces) {
  NamedValue cuda = sized<NamedValue>();
  cuda.name = "device";
  cuda.name_size = 6;
  cuda.type = NamedValue_Type_String;
  cuda.string_value = "cuda";
  cuda.value_size = 4;
  auto create = sized<Client_Create_Args>();
  create.create_options = &cuda;
  create.num_options = 1;
  if (std::string why = message(api()->Client_Create(&create)); !why.empty())
    GTEST_SKIP() << why;
  OwnedClient client(create.client);
  auto view = sized<Client_CreateViewOfDeviceBuffer_Args>();
  view.client = client.get();
  EXPECT_EQ(message(api()->Client_CreateViewOfDeviceBuffer(&view)),
            "views of a GPU's memory: copy the array to the device");
  auto alias = sized<Client_CreateAliasBuffer_Args>();
  alias.client = client.get();
  EXPECT_EQ(message(api()->Client_CreateAliasBuffer(&alias)),
            "aliases in a GPU's memory");
  auto pieces = sized<Client_CreateBuffersForAsyncHostToDevice_Args>();
  pieces.client = client.get();
  EXPECT_EQ(message(api()->Client_CreateBuffersForAsyncHostToDevice(&pieces)),
            "transfers in pieces to a GPU's memory");
}
