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

  /// A buffer whose elements come in pieces; null after an error.
  AsyncHostToDeviceTransferManager *beginPieces() {
    ShapeSpec spec = sized<ShapeSpec>();
    spec.dims = dims;
    spec.num_dims = 2;
    spec.element_type = Buffer_Type_F32;
    auto create = sized<Client_CreateBuffersForAsyncHostToDevice_Args>();
    create.client = client.get();
    create.shape_specs = &spec;
    create.num_shape_specs = 1;
    EXPECT_EQ(message(api()->Client_CreateBuffersForAsyncHostToDevice(&create)),
              "");
    return create.transfer_manager;
  }

  static void endPieces(AsyncHostToDeviceTransferManager *pieces) {
    auto end = sized<AsyncHostToDeviceTransferManager_Destroy_Args>();
    end.transfer_manager = pieces;
    EXPECT_EQ(message(api()->AsyncHostToDeviceTransferManager_Destroy(&end)),
              "");
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
  auto *pieces = beginPieces();
  ASSERT_TRUE(pieces);
  auto args = sized<AsyncHostToDeviceTransferManager_TransferData_Args>();
  args.transfer_manager = pieces;
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
  fail.transfer_manager = pieces;
  fail.error_code = Error_Code_DATA_LOSS;
  fail.error_message = "lost";
  fail.error_message_size = 4;
  EXPECT_EQ(
      message(api()->AsyncHostToDeviceTransferManager_SetBufferError(&fail)),
      "an error for a buffer whose last piece has come");
  endPieces(pieces);
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

TEST_F(PjrtRefusal, ArraysOfOtherDimsThanTheirLayouts) {
  auto layout = sized<Buffer_MemoryLayout>();
  auto read = sized<Buffer_ToHostBuffer_Args>();
  float back[4];
  read.src = buffer.get();
  read.host_layout = &layout;
  read.dst = back;
  read.dst_size = sizeof(back);
  auto said = [&] { return message(api()->Buffer_ToHostBuffer(&read)); };
  layout.type = Buffer_MemoryLayout_Type_Strides;
  layout.strides.num_byte_strides = 3;
  EXPECT_EQ(said(), "a layout of 3 strides for an array of 2 dims");
  layout.type = Buffer_MemoryLayout_Type_Tiled;
  layout.tiled = {};
  layout.tiled.struct_size = sizeof(layout.tiled);
  const int64_t twice[] = {1, 1};
  layout.tiled.minor_to_major = twice;
  layout.tiled.minor_to_major_size = 1;
  EXPECT_EQ(said(), "a layout of 1 dims for an array of 2");
  layout.tiled.minor_to_major_size = 2;
  EXPECT_EQ(said(), "a layout whose order of dims is no permutation");
  auto args = hostBuffer();
  const int64_t strides[] = {4};
  args.byte_strides = strides;
  args.num_byte_strides = 1;
  EXPECT_EQ(message(api()->Client_BufferFromHostBuffer(&args)),
            "1 strides for an array of 2 dims");
}

TEST_F(PjrtRefusal, CallsWithoutWhatTheyAreAbout) {
  EXPECT_EQ(message(api()->Client_Devices(nullptr)),
            "a call of PJRT without a struct of arguments");
  auto fulfil = sized<Client_FulfillAliasBuffer_Args>();
  fulfil.client = client.get();
  EXPECT_EQ(message(api()->Client_FulfillAliasBuffer(&fulfil)),
            "no alias to fulfil");
  auto decrease = sized<Buffer_DecreaseExternalReferenceCount_Args>();
  decrease.buffer = buffer.get();
  EXPECT_EQ(message(api()->Buffer_DecreaseExternalReferenceCount(&decrease)),
            "an external reference is given back that nobody took");
  auto create = sized<Event_Create_Args>();
  ASSERT_EQ(message(api()->Event_Create(&create)), "");
  auto ready = sized<Event_OnReady_Args>();
  ready.event = create.event;
  EXPECT_EQ(message(api()->Event_OnReady(&ready)),
            "Event_OnReady without a function to call");
  destroy(create.event);
  NamedValue processes = sized<NamedValue>();
  processes.name = "num_nodes";
  processes.name_size = 9;
  processes.type = NamedValue_Type_Int64;
  processes.int64_value = 2;
  processes.value_size = 1;
  auto other = sized<Client_Create_Args>();
  other.create_options = &processes;
  other.num_options = 1;
  EXPECT_EQ(message(api()->Client_Create(&other)),
            "num_nodes=2 without a key-value store: call "
            "jax.distributed.initialize() first");
}

TEST_F(PjrtRefusal, DevicesThatAreNotThere) {
  auto look = sized<Client_LookupAddressableDevice_Args>();
  look.client = client.get();
  look.local_hardware_id = 2;
  EXPECT_EQ(message(api()->Client_LookupAddressableDevice(&look)),
            "no device 2 of this process: there are 2");
  auto assign = sized<Client_DefaultDeviceAssignment_Args>();
  int places[2];
  assign.client = client.get();
  assign.num_replicas = 1;
  assign.num_partitions = 3;
  assign.default_assignment = places;
  assign.default_assignment_size = 2;
  EXPECT_EQ(message(api()->Client_DefaultDeviceAssignment(&assign)),
            "a device assignment of 1 replicas and 3 partitions does not fit");
  std::string error;
  WireWriter first, second, devices, build, options;
  first.list(1, {0});
  second.list(1, {0});
  devices.number(1, 1);
  devices.number(2, 2);
  devices.text(3, first.take());
  devices.text(3, second.take());
  build.number(4, 1);
  build.number(5, 2);
  build.text(9, devices.take());
  options.text(3, build.take());
  EXPECT_FALSE(compile(client.get(), "func.func @main() { return }",
                       options.take(), error));
  EXPECT_EQ(error, "device 0 is named twice for one program");
}

TEST_F(PjrtRefusal, RunsThatDoNotFitTheProgram) {
  std::string error;
  OwnedLoaded loaded = compile(
      client.get(),
      "func.func @main(%x: tensor<2x2xf32> {mhlo.layout_mode = \"{0,1}\"}) "
      "{ return }",
      optionsFor(1), error);
  ASSERT_EQ(error, "");
  Buffer *argument = buffer.get();
  Buffer *const *in = &argument;
  Buffer **out = nullptr;
  auto args = sized<LoadedExecutable_Execute_Args>();
  args.executable = loaded.get();
  args.argument_lists = &in;
  args.output_lists = &out;
  args.num_devices = 1;
  auto said = [&] { return message(api()->LoadedExecutable_Execute(&args)); };
  EXPECT_EQ(said(), "Execution supplied 0 buffers but the program expected 1");
  args.num_args = 1;
  EXPECT_EQ(said(), "argument 0 has the layout {1,0}, but the program expected "
                    "{0,1}");
  auto remove = sized<LoadedExecutable_Delete_Args>();
  remove.executable = loaded.get();
  ASSERT_EQ(message(api()->LoadedExecutable_Delete(&remove)), "");
  EXPECT_EQ(said(), "a program is run that was deleted");
}

TEST_F(PjrtRefusal, LayoutsThatProgramsCannotHave) {
  auto refused = [&](std::string layout) {
    std::string error;
    EXPECT_FALSE(
        compile(client.get(),
                "func.func @main(%x: tensor<2x2xf32> {mhlo.layout_mode = \"" +
                    layout + "\"}) { return }",
                optionsFor(1), error));
    return error;
  };
  auto has = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
  };
  std::string order = refused("{0,2}"), tiles = refused("{1,0:T(2,2)}");
  EXPECT_TRUE(has(order, "layout '{0,2}', expected the dims of "
                         "'tensor<2x2xf32>' from the fastest to the slowest, "
                         "such as '{1,0}'"))
      << order;
  EXPECT_TRUE(has(tiles, "layout '{1,0:T(2,2)}': arrays are dense, without "
                         "tiles"))
      << tiles;
}

TEST_F(PjrtRefusal, BytesOutsideOfAPiecewiseBuffer) {
  auto *pieces = beginPieces();
  ASSERT_TRUE(pieces);
  auto args = sized<AsyncHostToDeviceTransferManager_TransferData_Args>();
  args.transfer_manager = pieces;
  args.data = data;
  args.offset = 8;
  for (auto [size, text] :
       {std::pair<int64_t, const char *>(
            16, "bytes 8 to 8 + 16 of a buffer that has 16"),
        {INT64_MAX,
         "bytes 8 to 8 + 9223372036854775807 of a buffer that has 16"}}) {
    args.transfer_size = size;
    EXPECT_EQ(
        message(api()->AsyncHostToDeviceTransferManager_TransferData(&args)),
        text);
  }
  endPieces(pieces);
}

TEST_F(PjrtRefusal, SavedProgramsThatWereCutShort) {
  // As many bytes of options as there are none.
  std::string bytes = "shardc pjrt 1\n" + std::string(8, '\xff');
  bytes.append(256, '\0');
  auto load = sized<Executable_DeserializeAndLoad_Args>();
  load.client = client.get();
  load.serialized_executable = bytes.data();
  load.serialized_executable_size = bytes.size();
  EXPECT_EQ(message(api()->Executable_DeserializeAndLoad(&load)),
            "a saved program that was cut short");
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
