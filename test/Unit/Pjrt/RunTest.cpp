//===- RunTest.cpp - Programs as callers of PJRT see them -----------------===//
#include "Caller.h"
#include "Wire.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

using namespace shardc::pjrt;
using namespace shardc::pjrt::test;

static std::string optionsFor(int64_t partitions,
                              std::string_view user = std::string_view()) {
  WireWriter build, options;
  build.number(4, 1);
  build.number(5, uint64_t(partitions));
  options.text(3, build.take());
  if (!user.empty()) {
    WireWriter entry, value;
    value.number(2, 1);
    entry.text(1, user);
    entry.text(2, value.take());
    options.text(7, entry.take());
  }
  return options.take();
}

namespace {
class PjrtRun : public testing::Test {
protected:
  void SetUp() override {
    client = makeClient(2);
    ASSERT_TRUE(client);
  }

  OwnedBuffer put(const void *data, Buffer_Type type, std::vector<int64_t> dims,
                  size_t device = 0) {
    auto args = sized<Client_BufferFromHostBuffer_Args>();
    args.client = client.get();
    args.data = data;
    args.type = type;
    args.dims = dims.data();
    args.num_dims = dims.size();
    args.device = deviceOf(client.get(), device);
    EXPECT_EQ(message(api()->Client_BufferFromHostBuffer(&args)), "");
    destroy(args.done_with_host_buffer);
    return OwnedBuffer(args.buffer);
  }

  /// Runs a program of one rank; what failed.
  std::string run(const OwnedLoaded &loaded, std::vector<Buffer *> arguments,
                  std::vector<Buffer *> &results) {
    Buffer *const *in = arguments.data();
    Buffer **out = results.data();
    auto options = sized<ExecuteOptions>();
    auto args = sized<LoadedExecutable_Execute_Args>();
    args.executable = loaded.get();
    args.options = &options;
    args.argument_lists = &in;
    args.num_devices = 1;
    args.num_args = arguments.size();
    args.output_lists = &out;
    return message(api()->LoadedExecutable_Execute(&args));
  }

  static bool isDeleted(Buffer *buffer) {
    auto args = sized<Buffer_IsDeleted_Args>();
    args.buffer = buffer;
    EXPECT_EQ(message(api()->Buffer_IsDeleted(&args)), "");
    return args.is_deleted;
  }

  OwnedClient client;
};
} // namespace

// JAX says either; what is not marked stays. What is given up for any result
// goes where one has its bytes, else it stays too.
TEST_F(PjrtRun, GivesUpWhatTheProgramDeclares) {
  static const char text[] =
      "func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, "
      "%b: tensor<4xf32>, %c: tensor<4xf32> {jax.buffer_donor = true}, "
      "%useless: tensor<2xf32> {jax.buffer_donor = true}, "
      "%late: tensor<4xf32> {jax.buffer_donor = true}) -> "
      "(tensor<4xf32>, tensor<4xi32>) {\n"
      "  %0 = stablehlo.add %a, %b : tensor<4xf32>\n"
      "  %1 = stablehlo.add %c, %late : tensor<4xf32>\n"
      "  %2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xi32>\n"
      "  return %0, %2 : tensor<4xf32>, tensor<4xi32>\n}\n";
  std::string error;
  OwnedLoaded loaded = compile(client.get(), text, optionsFor(1), error);
  ASSERT_EQ(error, "");
  const float data[] = {1, 2, 3, 4};
  OwnedBuffer a = put(data, Buffer_Type_F32, {4}),
              b = put(data, Buffer_Type_F32, {4}),
              c = put(data, Buffer_Type_F32, {4}),
              useless = put(data, Buffer_Type_F32, {2}),
              late = put(data, Buffer_Type_F32, {4});
  std::vector<Buffer *> results(2);
  ASSERT_EQ(run(loaded, {a.get(), b.get(), c.get(), useless.get(), late.get()},
                results),
            "");
  OwnedBuffer result(results[0]), other(results[1]);
  EXPECT_TRUE(isDeleted(a.get()));
  EXPECT_FALSE(isDeleted(b.get()));
  EXPECT_FALSE(isDeleted(useless.get()));
  // One result has their bytes, so one of the two goes.
  EXPECT_NE(isDeleted(c.get()), isDeleted(late.get()));
  EXPECT_NE(run(loaded, {a.get(), b.get(), c.get(), useless.get(), late.get()},
                results),
            "");
  OwnedBuffer d = put(data, Buffer_Type_F32, {4}),
              e = put(data, Buffer_Type_F32, {4}),
              f = put(data, Buffer_Type_F32, {4});
  EXPECT_EQ(
      run(loaded, {d.get(), d.get(), e.get(), useless.get(), f.get()}, results),
      "argument 0 is donated, and argument 1 is the same array");
  EXPECT_FALSE(isDeleted(d.get()));
  EXPECT_FALSE(isDeleted(e.get()));
}

// A token is an array of no elements to callers, and counts.
TEST_F(PjrtRun, KeepsTokensAtTheBorder) {
  static const char text[] =
      "func.func @main(%t: !stablehlo.token, %a: tensor<f32>) -> "
      "(!stablehlo.token, tensor<f32>) {\n"
      "  %0 = stablehlo.after_all %t : !stablehlo.token\n"
      "  return %0, %a : !stablehlo.token, tensor<f32>\n}\n";
  std::string error;
  OwnedLoaded loaded = compile(client.get(), text, optionsFor(1), error);
  ASSERT_EQ(error, "");
  const float data = 7;
  OwnedBuffer token = put(nullptr, Buffer_Type_PRED, {0}),
              value = put(&data, Buffer_Type_F32, {});
  std::vector<Buffer *> results(2);
  ASSERT_EQ(run(loaded, {token.get(), value.get()}, results), "");
  OwnedBuffer after(results[0]), result(results[1]);
  auto type = sized<Buffer_ElementType_Args>();
  type.buffer = after.get();
  ASSERT_EQ(message(api()->Buffer_ElementType(&type)), "");
  EXPECT_EQ(type.type, Buffer_Type_TOKEN);
  // It goes where one is taken.
  ASSERT_EQ(run(loaded, {after.get(), value.get()}, results), "");
  OwnedBuffer last(results[0]), same(results[1]);
}

// An argument of a mesh in another order comes to that mesh's devices, and a
// result leaves at its own.
TEST_F(PjrtRun, ShardsAreAtTheDevicesOfTheirMesh) {
  static const char text[] =
      "sdy.mesh @mesh = <[\"x\"=2]>\n"
      "sdy.mesh @back = <[\"x\"=2], device_ids=[1, 0]>\n"
      "func.func @main(%a: tensor<4xf32> {sdy.sharding = "
      "#sdy.sharding<@back, [{\"x\"}]>}) -> (tensor<4xf32> {sdy.sharding = "
      "#sdy.sharding<@mesh, [{\"x\"}]>}, tensor<4xf32> {sdy.sharding = "
      "#sdy.sharding<@back, [{\"x\"}]>}) {\n"
      "  return %a, %a : tensor<4xf32>, tensor<4xf32>\n}\n";
  std::string error;
  OwnedLoaded loaded = compile(client.get(), text, optionsFor(2), error);
  ASSERT_EQ(error, "");
  const float low[] = {1, 2}, high[] = {3, 4};
  OwnedBuffer first = put(high, Buffer_Type_F32, {2}, 0),
              second = put(low, Buffer_Type_F32, {2}, 1);
  Buffer *in[] = {first.get(), second.get()}, *out[2][2];
  Buffer *const *inputs[] = {&in[0], &in[1]};
  Buffer **outputs[] = {out[0], out[1]};
  auto options = sized<ExecuteOptions>();
  auto args = sized<LoadedExecutable_Execute_Args>();
  args.executable = loaded.get();
  args.options = &options;
  args.argument_lists = inputs;
  args.num_devices = 2;
  args.num_args = 1;
  args.output_lists = outputs;
  ASSERT_EQ(message(api()->LoadedExecutable_Execute(&args)), "");
  for (size_t device = 0; device < 2; ++device)
    for (size_t number = 0; number < 2; ++number) {
      OwnedBuffer result(out[device][number]);
      float values[2] = {};
      auto read = sized<Buffer_ToHostBuffer_Args>();
      read.src = result.get();
      read.dst = values;
      read.dst_size = sizeof(values);
      ASSERT_EQ(message(api()->Buffer_ToHostBuffer(&read)), "");
      ASSERT_EQ(await(read.event), "");
      const float *expected = device == number ? low : high;
      EXPECT_EQ(values[0], expected[0]) << device << ' ' << number;
      EXPECT_EQ(values[1], expected[1]) << device << ' ' << number;
    }
}

// Four rows and one do not go into two equal shards: they leave whole.
TEST_F(PjrtRun, ResultsLeaveInEqualShards) {
  static const char text[] =
      "sdy.mesh @mesh = <[\"x\"=2]>\n"
      "func.func @main(%a: tensor<10xf32> {sdy.sharding = "
      "#sdy.sharding<@mesh, [{\"x\"}]>}) -> (tensor<10xf32>, tensor<5xf32>) {\n"
      "  %0 = stablehlo.add %a, %a : tensor<10xf32>\n"
      "  %1 = stablehlo.slice %0 [0:5] : (tensor<10xf32>) -> tensor<5xf32>\n"
      "  return %0, %1 : tensor<10xf32>, tensor<5xf32>\n}\n";
  std::string error;
  OwnedLoaded loaded = compile(client.get(), text, optionsFor(2), error);
  ASSERT_EQ(error, "");
  auto get = sized<LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = loaded.get();
  ASSERT_EQ(message(api()->LoadedExecutable_GetExecutable(&get)), "");
  auto args = sized<Executable_OutputDimensions_Args>();
  args.executable = get.executable;
  ASSERT_EQ(message(api()->Executable_OutputDimensions(&args)), "");
  ASSERT_EQ(args.num_outputs, 2u);
  EXPECT_EQ(args.dims[0], 5);
  EXPECT_EQ(args.dims[1], 5);
  auto end = sized<Executable_Destroy_Args>();
  end.executable = get.executable;
  EXPECT_EQ(message(api()->Executable_Destroy(&end)), "");
}

// Callers that get no answer here parse the program's text to know.
TEST_F(PjrtRun, SaysHowArraysLieInMemory) {
  const Extension_Base *found = api()->extension_start;
  while (found && found->type != Extension_Type_Layouts)
    found = found->next;
  ASSERT_TRUE(found);
  const auto &layouts = *reinterpret_cast<const Layouts_Extension *>(found);
  auto text = [&](Layouts_MemoryLayout *layout) {
    auto args = sized<Layouts_MemoryLayout_Serialize_Args>();
    args.layout = layout;
    EXPECT_EQ(message(layouts.serialize(&args)), "");
    std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
    args.serialized_layout_deleter(args.serialized_layout);
    return bytes;
  };
  static const char program[] =
      "func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<f32>) -> "
      "(tensor<f32>, tensor<2x3x4xf32>, tensor<f32>) {\n"
      "  return %b, %a, %b : tensor<f32>, tensor<2x3x4xf32>, tensor<f32>\n}\n";
  std::string error;
  OwnedLoaded loaded = compile(client.get(), program, optionsFor(1), error);
  ASSERT_EQ(error, "");
  auto get = sized<LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = loaded.get();
  ASSERT_EQ(message(api()->LoadedExecutable_GetExecutable(&get)), "");
  auto in = sized<Layouts_Executable_GetParameterLayouts_Args>();
  in.executable = get.executable;
  ASSERT_EQ(message(layouts.parameters(&in)), "");
  ASSERT_EQ(in.num_parameters, 2u);
  EXPECT_EQ(text(in.layouts[0]), "{2,1,0}");
  EXPECT_EQ(text(in.layouts[1]), "{}");
  auto out = sized<Layouts_Executable_GetOutputLayouts_Args>();
  out.executable = get.executable;
  ASSERT_EQ(message(layouts.outputs(&out)), "");
  ASSERT_EQ(out.num_outputs, 3u);
  EXPECT_EQ(text(out.layouts[1]), "{2,1,0}");
  auto end = sized<Executable_Destroy_Args>();
  end.executable = get.executable;
  EXPECT_EQ(message(api()->Executable_Destroy(&end)), "");

  const float data[] = {1, 2};
  OwnedBuffer buffer = put(data, Buffer_Type_F32, {1, 2});
  auto of = sized<Layouts_Buffer_MemoryLayout_Args>();
  of.buffer = buffer.get();
  ASSERT_EQ(message(layouts.ofBuffer(&of)), "");
  EXPECT_EQ(text(of.layout), "{1,0}");
  // Whoever was given a layout gives it back, and others still have it.
  auto gone = sized<Layouts_MemoryLayout_Destroy_Args>();
  gone.layout = of.layout;
  ASSERT_EQ(message(layouts.destroy(&gone)), "");
  EXPECT_EQ(text(of.layout), "{1,0}");
}

// Each of several loaded programs runs its own code.
TEST_F(PjrtRun, SavedProgramsAreLoaded) {
  std::vector<OwnedLoaded> loaded;
  for (const char *op : {"add", "multiply", "subtract"}) {
    std::string text = std::string("func.func @main(%a: tensor<f32>) -> "
                                   "tensor<f32> {\n  %0 = stablehlo.") +
                       op +
                       " %a, %a : tensor<f32>\n  return %0 : "
                       "tensor<f32>\n}\n";
    std::string error;
    OwnedLoaded compiled = compile(client.get(), text, optionsFor(1), error);
    ASSERT_EQ(error, "");
    auto get = sized<LoadedExecutable_GetExecutable_Args>();
    get.loaded_executable = compiled.get();
    ASSERT_EQ(message(api()->LoadedExecutable_GetExecutable(&get)), "");
    auto save = sized<Executable_Serialize_Args>();
    save.executable = get.executable;
    ASSERT_EQ(message(api()->Executable_Serialize(&save)), "");
    auto load = sized<Executable_DeserializeAndLoad_Args>();
    load.client = client.get();
    load.serialized_executable = save.serialized_bytes;
    load.serialized_executable_size = save.serialized_bytes_size;
    ASSERT_EQ(message(api()->Executable_DeserializeAndLoad(&load)), "");
    loaded.emplace_back(load.loaded_executable);
    // Cut short it is refused, wherever.
    load.serialized_executable_size = save.serialized_bytes_size / 2;
    EXPECT_NE(message(api()->Executable_DeserializeAndLoad(&load)), "");
    save.serialized_executable_deleter(save.serialized_executable);
    auto end = sized<Executable_Destroy_Args>();
    end.executable = get.executable;
    EXPECT_EQ(message(api()->Executable_Destroy(&end)), "");
  }
  const float data = 3, expected[] = {6, 9, 0};
  OwnedBuffer argument = put(&data, Buffer_Type_F32, {});
  for (size_t i = 0; i < 3; ++i) {
    std::vector<Buffer *> results(1);
    ASSERT_EQ(run(loaded[i], {argument.get()}, results), "");
    OwnedBuffer result(results[0]);
    float value = 0;
    auto args = sized<Buffer_ToHostBuffer_Args>();
    args.src = result.get();
    args.dst = &value;
    args.dst_size = sizeof(value);
    ASSERT_EQ(message(api()->Buffer_ToHostBuffer(&args)), "");
    EXPECT_EQ(await(args.event), "");
    EXPECT_EQ(value, expected[i]) << i;
  }
}

TEST_F(PjrtRun, OptionsAndProgramsThatCannotBeAreErrors) {
  std::string error;
  EXPECT_FALSE(compile(client.get(), "func.func @main() { return }",
                       optionsFor(1, "colour"), error));
  EXPECT_EQ(error, "No such compile option: 'colour'; those of shardc begin "
                   "with shardc_");
  EXPECT_FALSE(compile(client.get(), "func.func @main() { return }",
                       optionsFor(3), error));
  EXPECT_EQ(error, "a program for 3 devices, where there are 2; "
                   "SHARDC_DEVICES says how many");
  EXPECT_FALSE(compile(client.get(), "no program", optionsFor(1), error));
  EXPECT_NE(error, "");
  EXPECT_FALSE(
      compile(client.get(), "func.func @main() { return }", "\x1a", error));
  EXPECT_EQ(error, "compile options that are no protocol buffer");
}

// In-process it ends the reader's process.
TEST_F(PjrtRun, DamagedBytecodeIsAnError) {
  std::ifstream file(SHARDC_TEST_FOLDER
                     "/Tools/shard-run/Inputs/crashes-the-reader.mlirbc",
                     std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(bytes.empty());
  std::string error;
  EXPECT_FALSE(compile(client.get(), bytes, optionsFor(1), error));
  EXPECT_NE(error, "");
  EXPECT_TRUE(compile(client.get(), "func.func @main() { return }",
                      optionsFor(1), error));
}

// The table of the profiler, used as it is meant and not.
TEST_F(PjrtRun, ProfilersTakeTurns) {
  const Extension_Base *base = api()->extension_start;
  while (base && base->type != Extension_Type_Profiler)
    base = base->next;
  ASSERT_TRUE(base);
  const Profiler_Api &table =
      *reinterpret_cast<const Profiler_Extension *>(base)->api;
  auto messageOf = [&](Profiler_Error *error) -> std::string {
    if (!error)
      return "";
    Profiler_Error_Message_Args text = {sizeof(text), nullptr, error, nullptr,
                                        0};
    table.error_message(&text);
    std::string message(text.message, text.message_size);
    Profiler_Error_GetCode_Args code = {sizeof(code), nullptr, error,
                                        Error_Code_OK};
    EXPECT_EQ(table.error_get_code(&code), nullptr);
    EXPECT_EQ(code.error_code, Error_Code_FAILED_PRECONDITION);
    Profiler_Error_Destroy_Args end = {sizeof(end), nullptr, error};
    table.error_destroy(&end);
    return message;
  };
  Profiler_Args both[2];
  for (Profiler_Args &args : both) {
    Profiler_Create_Args create = {sizeof(create), "", 0, nullptr};
    ASSERT_EQ(messageOf(table.create(&create)), "");
    args = {sizeof(args), create.profiler};
  }
  EXPECT_EQ(messageOf(table.start(&both[0])), "");
  EXPECT_EQ(messageOf(table.start(&both[1])), "a trace is on");
  Profiler_CollectData_Args collect = {sizeof(collect), both[0].profiler,
                                       nullptr, 0};
  EXPECT_EQ(messageOf(table.collect_data(&collect)),
            "a trace is collected that is still on");
  EXPECT_EQ(messageOf(table.stop(&both[0])), "");
  EXPECT_EQ(messageOf(table.stop(&both[0])), "");
  EXPECT_EQ(messageOf(table.collect_data(&collect)), "");
  EXPECT_EQ(collect.buffer_size_in_bytes, 0u); // nothing ran
  // The other one's turn; it ends with a trace that is on.
  EXPECT_EQ(messageOf(table.start(&both[1])), "");
  EXPECT_EQ(messageOf(table.destroy(&both[1])), "");
  EXPECT_EQ(messageOf(table.start(&both[0])), "");
  EXPECT_EQ(messageOf(table.destroy(&both[0])), "");
}
