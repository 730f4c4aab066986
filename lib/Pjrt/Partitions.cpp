//===- Partitions.cpp - Custom calls that callers cut ---------------------===//
//
// The extension through which callers say who cuts a custom call: JAX's
// custom_partitioning. They get the shardings of values, as they would get what
// XLA has decided, and give each device's program.
//
//===----------------------------------------------------------------------===//
#include "Objects.h"
#include "Wire.h"

#include <cstring>

namespace shardc::pjrt {

/// The custom call that programs come with.
static constexpr std::string_view partitionedCall = "CustomSPMDPartitioning";
static std::atomic<Partitioner_Callbacks *> partitioner = nullptr;

Error *Partitioner_Register(Partitioner_Register_Args *args) {
  // Others are refused by name in the programs that have them.
  if (std::string_view(args->name, args->name_size) != partitionedCall ||
      !args->callbacks || !args->callbacks->partition)
    return nullptr;
  // What was there before may be cutting a call on another thread: it stays.
  partitioner = args->callbacks;
  return nullptr;
}

Error *Partitioner_RegisterBatch(Partitioner_RegisterBatch_Args *) {
  return nullptr;
}

namespace {
/// A shape and a sharding as callers read them.
struct Value {
  std::string shape, sharding;
};
/// A sharding as the engine reads it.
struct TilingStorage {
  Sharding sharding;
  shardc_tiling tiling;

  TilingStorage(Sharding read, int64_t numDims) : sharding(std::move(read)) {
    int64_t copies = 1;
    for (size_t i = size_t(numDims); i < sharding.tiles.size(); ++i)
      copies *= sharding.tiles[i];
    tiling = {numDims, nullptr, copies, nullptr};
  }
};
} // namespace

static Bytes bytesOf(const std::string &text) {
  return {text.data(), text.size()};
}
static std::string_view textOf(Bytes bytes) { return {bytes.data, bytes.size}; }

static Value write(const shardc_tiled_value &value, int64_t numRanks) {
  std::vector<int64_t> dims(value.dims, value.dims + value.num_dims);
  const shardc_tiling &tiling = value.tiling;
  Sharding sharding;
  sharding.tiles.assign(tiling.tiles, tiling.tiles + tiling.num_dims);
  sharding.partitions.assign(tiling.ranks, tiling.ranks + numRanks);
  if (tiling.copies > 1) {
    sharding.tiles.push_back(tiling.copies);
    sharding.subgroups.push_back(Sharding::Replicated);
  }
  return {writeShape(shardc_element_type_name(value.element_type), dims),
          writeSharding(sharding)};
}

/// Appends to `to` the layout of a value; false for what cannot be.
static bool read(std::string_view bytes, const shardc_tiled_value &value,
                 int64_t numRanks, std::vector<TilingStorage> &to) {
  std::optional<Sharding> sharding =
      readSharding(bytes, size_t(value.num_dims), numRanks);
  if (sharding)
    to.emplace_back(std::move(*sharding), value.num_dims);
  return sharding.has_value();
}

static std::vector<shardc_tiling> pointTo(std::vector<TilingStorage> &values) {
  std::vector<shardc_tiling> tilings;
  for (TilingStorage &value : values) {
    value.tiling.tiles = value.sharding.tiles.data();
    value.tiling.ranks = value.sharding.partitions.data();
    tilings.push_back(value.tiling);
  }
  return tilings;
}

/// Asks the caller. Returns what is wrong.
static std::string cut(Partitioner_Callbacks &callbacks,
                       const shardc_partition_call &call) {
  std::vector<Value> values;
  std::vector<std::string> shapes, shardings;
  std::vector<Partitioner_Value> operands;
  for (int64_t i = 0; i < call.num_operands; ++i)
    values.push_back(write(call.operands[i], call.num_ranks));
  for (const Value &value : values)
    operands.push_back({bytesOf(value.shape), true, bytesOf(value.sharding)});
  for (int64_t i = 0; i < call.num_results; ++i) {
    Value value = write(call.results[i], call.num_ranks);
    shapes.push_back(std::move(value.shape));
    shardings.push_back(std::move(value.sharding));
  }
  bool isTuple = call.num_results != 1;
  std::string shape = isTuple ? writeTupleShape(shapes) : shapes[0];
  std::string sharding = isTuple ? writeTupleSharding(shardings) : shardings[0];

  Partitioner_Partition_Args args = {};
  args.num_operands = operands.size();
  args.operands = operands.data();
  args.result = {bytesOf(shape), true, bytesOf(sharding)};
  args.config = {call.config, call.config_size};
  callbacks.partition(&callbacks, &args);
  struct Cleanup {
    const Partitioner_Head &head;
    ~Cleanup() {
      if (head.cleanup)
        head.cleanup(head.data);
    }
  } cleanup{args.head};
  if (args.head.has_error)
    return std::string(textOf(args.head.message));

  constexpr char wrong[] =
      "the sharding that the partition of custom_partitioning gives does not "
      "say where each element is; give a NamedSharding of the mesh";
  std::vector<TilingStorage> in, out;
  for (int64_t i = 0; i < call.num_operands; ++i)
    if (!read(textOf(args.operand_shardings[i]), call.operands[i],
              call.num_ranks, in))
      return wrong;
  std::vector<std::string_view> parts = {textOf(args.result_sharding)};
  if (isTuple) {
    std::optional<std::vector<std::string_view>> split =
        splitTupleSharding(parts[0]);
    if (!split || split->size() != size_t(call.num_results))
      return wrong;
    parts = std::move(*split);
  }
  for (int64_t i = 0; i < call.num_results; ++i)
    if (!read(parts[size_t(i)], call.results[i], call.num_ranks, out))
      return wrong;
  std::vector<shardc_tiling> operandTilings = pointTo(in),
                             resultTilings = pointTo(out);
  call.answer(&call, args.module.data, args.module.size, operandTilings.data(),
              resultTilings.data());
  return "";
}

int cutCall(void *, const shardc_partition_call *call, char *message,
            size_t messageSize) {
  Partitioner_Callbacks *callbacks = partitioner;
  std::string wrong =
      callbacks ? cut(*callbacks, *call)
                : "the program has a function of custom_partitioning, and "
                  "nobody has said who cuts it";
  if (wrong.empty())
    return SHARDC_OK;
  if (messageSize) {
    size_t size = std::min(wrong.size(), messageSize - 1);
    std::memcpy(message, wrong.data(), size);
    message[size] = 0;
  }
  return SHARDC_REFUSED;
}

} // namespace shardc::pjrt
