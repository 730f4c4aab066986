//===- Executables.cpp - Compiling, and what is asked of programs ---------===//
#include "Executables.h"
#include "Metadata.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

namespace shardc::pjrt {

void Texts::add(std::string text) { owned.push_back(std::move(text)); }

void Texts::point() {
  for (const std::string &text : owned) {
    data.push_back(text.data());
    sizes.push_back(text.size());
  }
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Turns the caller's options into shardc's. User options that begin with
/// `shardc_` are those of the tools ("shardc_memory_limit": "memory-limit");
/// XLA's own, which say how XLA works, are passed over where they make sense.
static Error *
readUserOptions(const CompileOptions &options,
                std::vector<std::pair<std::string, std::string>> &ours) {
  for (const auto &[name, value] : options.user) {
    if (name.starts_with("xla_")) {
      // Those of one of two values that programs give often.
      static constexpr std::string_view flags[] = {
          "xla_embed_ir_in_executable",  "xla_cpu_enable_fast_math",
          "xla_cpu_enable_fast_min_max", "xla_allow_excess_precision",
          "xla_dump_hlo_as_text",        "xla_dump_hlo_as_proto"};
      if (std::ranges::find(flags, name) != std::end(flags) &&
          value != "true" && value != "false")
        return invalid("While setting option " + name + ", '" + value +
                       "' is not a valid bool value.");
      continue;
    }
    if (!name.starts_with("shardc_"))
      return invalid("No such compile option: '" + name +
                     "'; those of shardc begin with shardc_");
    std::string option = name.substr(strlen("shardc_"));
    for (char &character : option)
      if (character == '_')
        character = '-';
    ours.emplace_back(option, value);
  }
  return nullptr;
}

/// The devices of each rank, as the options say.
static Error *readDevices(Client *client, const CompileOptions &options,
                          std::vector<Device *> &devices) {
  if (options.replicas != 1)
    return makeError(Error_Code_UNIMPLEMENTED,
                     "programs of " + std::to_string(options.replicas) +
                         " replicas: use jit or shard_map over a mesh");
  if (options.partitions < 1 ||
      size_t(options.partitions) > client->devices.size())
    return invalid("a program for " + std::to_string(options.partitions) +
                   " devices, where there are " +
                   std::to_string(client->devices.size()) +
                   "; SHARDC_DEVICES says how many");
  std::vector<int64_t> ids = options.devices;
  if (ids.empty() && options.partitions == 1) {
    if (options.portable)
      return nullptr;
    const std::vector<Device *> &here = client->here;
    size_t ordinal = size_t(std::max<int64_t>(0, options.deviceOrdinal));
    if (ordinal >= here.size())
      return invalid("no device " + std::to_string(ordinal) + ": there are " +
                     std::to_string(here.size()));
    ids = {here[ordinal]->description.id};
  }
  if (ids.empty())
    for (int64_t i = 0; i < options.partitions; ++i)
      ids.push_back(i);
  if (ids.size() != size_t(options.partitions))
    return invalid(std::to_string(ids.size()) + " devices for a program of " +
                   std::to_string(options.partitions) + " partitions");
  std::set<int64_t> seen;
  for (int64_t id : ids) {
    if (id < 0 || size_t(id) >= client->devices.size())
      return invalid("no device " + std::to_string(id) + ": there are " +
                     std::to_string(client->devices.size()));
    if (!seen.insert(id).second)
      return invalid("device " + std::to_string(id) +
                     " is named twice for one program");
    devices.push_back(client->devices[id]);
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// 128 bits of FNV-1a, two of 64 from different starts: identifies programs,
/// keeps nobody out.
static std::string fingerprintOf(std::string_view first,
                                 std::string_view second) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (uint64_t hash : {0xcbf29ce484222325ull, 0x9e3779b97f4a7c15ull}) {
    auto mix = [&](std::string_view bytes) {
      for (char byte : bytes)
        hash = (hash ^ uint8_t(byte)) * 0x100000001b3ull;
      hash = (hash ^ bytes.size()) * 0x100000001b3ull;
    };
    mix(first);
    mix(second);
    for (int shift = 60; shift >= 0; shift -= 4)
      text += digits[hash >> shift & 15];
  }
  return text;
}

static std::string tensorType(const std::vector<int64_t> &dims,
                              shardc_element_type type) {
  std::string text = "tensor<";
  for (int64_t dim : dims)
    text += std::to_string(dim) + "x";
  return text + shardc_element_type_name(type) + ">";
}

namespace {
/// A type and a shape, as one rank has it.
struct LocalType {
  shardc_element_type type;
  std::vector<int64_t> dims;
  int64_t over = -1; ///< of a result: the argument that it is written over
};
} // namespace

/// A module with the right signature, for a program that cannot be shown:
/// callers read types off it.
static std::string stubOf(const std::vector<LocalType> &arguments,
                          const std::vector<LocalType> &results) {
  std::string parameters, types, body, values;
  for (size_t i = 0; i < arguments.size(); ++i)
    parameters += (i ? ", %arg" : "%arg") + std::to_string(i) + ": " +
                  tensorType(arguments[i].dims, arguments[i].type);
  for (size_t i = 0; i < results.size(); ++i) {
    std::string type = tensorType(results[i].dims, results[i].type);
    std::string value = "%" + std::to_string(i);
    types += (i ? ", " : "") + type;
    values += (i ? ", " : "") + value;
    body += "    " + value +
            " = stablehlo.custom_call @shardc_program() {has_side_effect = "
            "true} : () -> " +
            type + "\n";
  }
  std::string result = results.empty() ? "" : " -> (" + types + ")";
  std::string end = results.empty() ? "" : " " + values + " : " + types;
  return "module @program {\n  func.func public @main(" + parameters + ")" +
         result + " {\n" + body + "    return" + end + "\n  }\n}\n";
}

/// Longest text of a program that is shown.
static constexpr size_t mostShown = size_t(8) << 20;

/// The memory that the program wants a value in.
static Error *memoryOf(const Program &program, const ValueMetadata &value,
                       int32_t &kind) {
  kind = value.memory.empty() ? 0 : memoryKindOf(value.memory);
  const std::vector<Memory *> &memories =
      program.client->devices.front()->memories;
  if (kind >= 0 && size_t(kind) < memories.size())
    return nullptr;
  std::string known;
  for (size_t i = 0; i < memories.size(); ++i)
    known += (i ? ", " : "") + std::string(memoryKinds[i]);
  return makeError(Error_Code_UNIMPLEMENTED, "a value in memory of kind '" +
                                                 value.memory +
                                                 "': devices reach " + known);
}

static int64_t bytesOf(const LocalType &value) {
  return std::accumulate(value.dims.begin(), value.dims.end(),
                         shardc_element_type_bytes(value.type),
                         std::multiplies<>());
}

/// What is given up for any result stays the caller's if no result has its
/// bytes: nobody has a use for its memory, and callers of XLA go on with it.
static void keepUnusable(Program &program, const Metadata &metadata,
                         const std::vector<LocalType> &arguments,
                         const std::vector<LocalType> &results) {
  std::vector<bool> isTaken(results.size()), isUsed(arguments.size());
  for (const ValueMetadata &argument : metadata.arguments)
    if (int64_t over = argument.donated.value_or(-1);
        over >= 0 && size_t(over) < results.size())
      isTaken[size_t(over)] = true;
  for (size_t i = 0; i < results.size(); ++i)
    if (int64_t over = results[i].over;
        over >= 0 && size_t(over) < arguments.size())
      isTaken[i] = isUsed[size_t(over)] = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!program.donated[i] || isUsed[i] || metadata.arguments[i].donated != -1)
      continue;
    size_t room = 0;
    while (room < results.size() &&
           (isTaken[room] || bytesOf(results[room]) != bytesOf(arguments[i])))
      ++room;
    if (room < results.size())
      isTaken[room] = true;
    else
      program.donated[i] = 0;
  }
}

/// Asks the program for all that callers will ask for.
static Error *describe(Program &program) {
  size_t numArguments = size_t(shardc_program_num_arguments(program.handle));
  size_t numResults = size_t(shardc_program_num_results(program.handle));
  std::optional<Metadata> metadata =
      readMetadata(shardc_program_metadata(program.handle));
  if (!metadata || metadata->arguments.size() != numArguments ||
      metadata->results.size() < numResults)
    return makeError(Error_Code_INTERNAL,
                     "a compiled program's metadata cannot be read");
  metadata->results.resize(numResults); // checks are behind them
  std::vector<LocalType> arguments, results;
  std::vector<int64_t> starts;
  for (size_t i = 0; i < numArguments + numResults; ++i) {
    bool isArgument = i < numArguments;
    int64_t index = int64_t(isArgument ? i : i - numArguments);
    shardc_value value = {};
    value.size = sizeof(value);
    if (Error *error = takeError(
            isArgument ? shardc_program_argument(program.handle, index, &value)
                       : shardc_program_result(program.handle, index, &value)))
      return error;
    LocalType local = {value.element_type,
                       std::vector<int64_t>(size_t(value.num_dims))};
    starts.resize(size_t(value.num_dims));
    if (Error *error = takeError(
            isArgument
                ? shardc_program_argument_box(program.handle, index, 0,
                                              starts.data(), local.dims.data())
                : shardc_program_result_box(program.handle, index, 0,
                                            starts.data(), local.dims.data())))
      return error;
    const ValueMetadata &known =
        (isArgument ? metadata->arguments : metadata->results)[index];
    std::vector<int64_t> dims = local.dims;
    Layouts_MemoryLayout *order = nullptr;
    if (!known.callerDims.empty()) {
      order = layoutOf(known.callerDims);
      for (size_t k = 0; k < dims.size(); ++k)
        dims[known.callerDims[k]] = local.dims[k];
    }
    if (known.isToken)
      dims.clear();
    (isArgument ? program.argumentOrders : program.resultOrders)
        .push_back(order);
    (isArgument ? program.argumentLayouts : program.resultLayouts)
        .push_back(order ? order : rowMajor(dims.size()));
    if (isArgument) {
      program.donated.push_back(value.donated == 1);
      arguments.push_back(std::move(local));
      continue;
    }
    program.resultTypes.push_back(
        known.isToken ? Buffer_Type_TOKEN : bufferType(value.element_type));
    program.resultRanks.push_back(dims.size());
    program.resultDims.insert(program.resultDims.end(), dims.begin(),
                              dims.end());
    local.over = value.donated;
    results.push_back(std::move(local));
  }

  keepUnusable(program, *metadata, arguments, results);

  const char *text = shardc_program_local_text(program.handle);
  // Callers parse it several times for each program.
  bool isShown = text && *text && std::strlen(text) < mostShown;
  program.optimized = isShown ? text : stubOf(arguments, results);

  program.cost = {};
  program.cost.size = sizeof(program.cost);
  if (Error *error =
          takeError(shardc_program_get_costs(program.handle, &program.cost)))
    return error;
  // Callers look at the program of one device.
  auto each = [&](double sum) {
    return float(sum / double(program.numRanks()));
  };
  program.costs.add("flops", each(program.cost.flops));
  program.costs.add("bytes accessed", each(program.cost.bytes_accessed));
  program.costs.add("transcendentals", each(program.cost.transcendentals));
  program.costs.add("bytes moved", float(program.cost.bytes_moved));

  for (const ValueMetadata &value : metadata->arguments) {
    int32_t memory = 0;
    if (Error *error = memoryOf(program, value, memory))
      return error;
    program.argumentMemoryKinds.add(std::string(memoryKinds[memory]));
    program.argumentShardings.add(
        writeSharding(shardingOf(value, metadata->mesh)));
  }
  for (const ValueMetadata &value : metadata->results) {
    int32_t &memory = program.resultMemories.emplace_back();
    if (Error *error = memoryOf(program, value, memory))
      return error;
    program.resultMemoryKinds.add(std::string(memoryKinds[memory]));
    program.resultShardings.add(
        writeSharding(shardingOf(value, metadata->mesh)));
  }
  for (Texts *texts : {&program.argumentMemoryKinds, &program.resultMemoryKinds,
                       &program.argumentShardings, &program.resultShardings})
    texts->point();
  return nullptr;
}

/// Finishes what was compiled or loaded; takes `handle` over.
static Error *makeProgram(Client *client, shardc_program *handle,
                          CompileOptions options, std::string_view optionBytes,
                          std::vector<Device *> devices,
                          std::string fingerprint,
                          std::shared_ptr<Program> &program) {
  program = std::make_shared<Program>();
  program->client = client;
  program->handle = handle;
  program->report = client->report;
  program->options = std::move(options);
  program->optionBytes = optionBytes;
  program->fingerprint = std::move(fingerprint);
  program->devices = std::move(devices);
  for (size_t i = 0; i < program->devices.size(); ++i)
    if (program->devices[i]->isHere) {
      program->ranksHere.push_back(i);
      program->here.push_back(program->devices[i]);
      program->logicalIds.push_back({0, int(i)});
    }
  if (program->devices.empty())
    program->ranksHere.push_back(0);
  if (Error *error = describe(*program))
    return error;
  if (program->numRanks() != size_t(program->options.partitions))
    return makeError(Error_Code_INTERNAL,
                     "a program for " +
                         std::to_string(program->options.partitions) +
                         " devices was compiled to " +
                         std::to_string(program->numRanks()) + " ranks");
  return nullptr;
}

static Error *readOptions(Client *client, std::string_view bytes,
                          CompileOptions &options,
                          std::vector<Device *> &devices) {
  std::optional<CompileOptions> read = readCompileOptions(bytes);
  if (!read)
    return invalid("compile options that are no protocol buffer");
  options = std::move(*read);
  return readDevices(client, options, devices);
}

/// Gives its askers the shardings that programs inspect: calls of the host,
/// each with one sharding as bytes. The compiler's remarks have them, as lines
/// with "inspected NUMBER: [0 1] []": of each dim the mesh axes that cut it.
static Error *reportInspected(const Program &program) {
  constexpr std::string_view mark = "remark: inspected ";
  std::string_view remarks = shardc_program_remarks(program.handle);
  for (size_t at; (at = remarks.find(mark)) != remarks.npos;) {
    remarks.remove_prefix(at + mark.size());
    std::string_view line = remarks.substr(0, remarks.find('\n'));
    int64_t number = 0;
    const char *next = line.data(), *end = next + line.size();
    std::from_chars_result read = std::from_chars(next, end, number);
    if (read.ec != std::errc() || read.ptr == end || *read.ptr != ':')
      continue;
    ValueMetadata value;
    for (next = read.ptr + 1; next != end;) {
      if (*next == '[')
        value.axes.emplace_back();
      int64_t axis = 0;
      read = std::from_chars(next, end, axis);
      if (read.ec == std::errc() && !value.axes.empty()) {
        value.axes.back().push_back(axis);
        next = read.ptr;
      } else {
        ++next;
      }
    }
    std::optional<Metadata> metadata =
        readMetadata(shardc_program_metadata(program.handle));
    if (!metadata || std::ranges::any_of(value.axes, [&](const auto &axes) {
          return std::ranges::any_of(axes, [&](int64_t axis) {
            return axis < 0 || size_t(axis) >= metadata->mesh.size();
          });
        }))
      continue;
    std::string bytes = writeSharding(shardingOf(value, metadata->mesh));
    int64_t size = int64_t(bytes.size());
    shardc_host_array operand = {bytes.data(), shardc_element_type_named("ui8"),
                                 1, &size, size};
    shardc_host_call call = {};
    call.size = sizeof(call);
    call.index = number;
    call.location = "";
    call.num_operands = 1;
    call.operands = &operand;
    char message[4096] = "";
    if (callHost(nullptr, &call, message, sizeof(message)) != SHARDC_OK)
      return makeError(Error_Code_INTERNAL, message);
  }
  return nullptr;
}

Error *Client_Compile(Client_Compile_Args *args) {
  const pjrt::Program_Args &given = *args->program;
  std::string_view format(given.format, given.format_size);
  if (format != "mlir")
    return makeError(Error_Code_UNIMPLEMENTED,
                     "a program of format '" + std::string(format) +
                         "': shardc reads StableHLO ('mlir')");
  std::string_view optionBytes(args->compile_options,
                               args->compile_options_size);
  CompileOptions options;
  std::vector<Device *> devices;
  if (Error *error = readOptions(args->client, optionBytes, options, devices))
    return error;
  std::vector<std::pair<std::string, std::string>> named;
  if (Error *error = readUserOptions(options, named))
    return error;
  named.emplace_back("ranks", std::to_string(options.partitions));
  // Callers know equal shards alone.
  named.emplace_back("even-borders", "true");
  // What is unreduced arrives and leaves in parts.
  named.emplace_back("partial-results", "true");
  // JAX has just written it: what came from a file it has read itself. Of other
  // callers bytecode is looked at first.
  if (isCalledByJax())
    named.emplace_back("own", "true");
  named.emplace_back("layouts", "true");
  // They know the devices of a program by their numbers.
  named.emplace_back("device-order", "true");
  std::vector<shardc_option> list;
  for (const auto &[name, value] : named)
    list.push_back({name.c_str(), value.c_str()});
  shardc_program *handle = nullptr;
  if (Error *error = takeError(
          shardc_compile(args->client->engine, given.code, given.code_size,
                         "program", list.data(), list.size(), &handle)))
    return error;
  std::string fingerprint =
      fingerprintOf(std::string_view(given.code, given.code_size), optionBytes);
  std::shared_ptr<Program> program;
  if (Error *error =
          makeProgram(args->client, handle, std::move(options), optionBytes,
                      std::move(devices), std::move(fingerprint), program))
    return error;
  if (Error *error = reportInspected(*program))
    return error;
  args->executable = new LoadedExecutable(std::move(program));
  return nullptr;
}

Error *Client_Load(Client_Load_Args *args) {
  args->loaded_executable = new LoadedExecutable(args->executable->program);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

Error *Executable_Destroy(Executable_Destroy_Args *args) {
  delete args->executable;
  return nullptr;
}

Error *Executable_Name(Executable_Name_Args *args) {
  const char *name = shardc_program_name(args->executable->program->handle);
  args->executable_name = name;
  args->executable_name_size = std::strlen(name);
  return nullptr;
}

Error *Executable_NumReplicas(Executable_NumReplicas_Args *args) {
  args->num_replicas = 1;
  return nullptr;
}

Error *Executable_NumPartitions(Executable_NumPartitions_Args *args) {
  args->num_partitions = args->executable->program->numRanks();
  return nullptr;
}

Error *Executable_NumOutputs(Executable_NumOutputs_Args *args) {
  args->num_outputs = args->executable->program->numResults();
  return nullptr;
}

Error *Executable_SizeOfGeneratedCodeInBytes(
    Executable_SizeOfGeneratedCodeInBytes_Args *args) {
  args->size_in_bytes = args->executable->program->cost.code_bytes;
  return nullptr;
}

Error *Executable_Fingerprint(Executable_Fingerprint_Args *args) {
  const std::string &text = args->executable->program->fingerprint;
  args->executable_fingerprint = text.data();
  args->executable_fingerprint_size = text.size();
  return nullptr;
}

Error *Executable_GetCostAnalysis(Executable_GetCostAnalysis_Args *args) {
  const NamedValues &costs = args->executable->program->costs;
  args->properties = costs.data();
  args->num_properties = costs.size();
  return nullptr;
}

Error *Executable_GetCompiledMemoryStats(
    Executable_GetCompiledMemoryStats_Args *args) {
  const Program &program = *args->executable->program;
  Executable_GetCompiledMemoryStats_Args answer = {};
  answer.struct_size = args->struct_size;
  answer.extension_start = args->extension_start;
  answer.executable = args->executable;
  answer.generated_code_size_in_bytes = program.cost.code_bytes;
  answer.argument_size_in_bytes = program.cost.argument_bytes;
  answer.output_size_in_bytes = program.cost.result_bytes;
  answer.temp_size_in_bytes = program.cost.temporary_bytes;
  answer.peak_memory_in_bytes = program.cost.argument_bytes +
                                program.cost.result_bytes +
                                program.cost.temporary_bytes;
  answer.total_size_in_bytes = answer.peak_memory_in_bytes;
  *args = answer;
  return nullptr;
}

Error *Executable_OutputElementTypes(Executable_OutputElementTypes_Args *args) {
  std::vector<Buffer_Type> &types = args->executable->program->resultTypes;
  args->output_types = types.data();
  args->num_output_types = types.size();
  return nullptr;
}

Error *Executable_OutputDimensions(Executable_OutputDimensions_Args *args) {
  const Program &program = *args->executable->program;
  args->num_outputs = program.numResults();
  args->dims = program.resultDims.data();
  args->dim_sizes = program.resultRanks.data();
  return nullptr;
}

Error *
Executable_ParameterMemoryKinds(Executable_ParameterMemoryKinds_Args *args) {
  const Program &program = *args->executable->program;
  args->num_parameters = program.numArguments();
  args->memory_kinds = program.argumentMemoryKinds.data.data();
  args->memory_kind_sizes = program.argumentMemoryKinds.sizes.data();
  return nullptr;
}

Error *Executable_OutputMemoryKinds(Executable_OutputMemoryKinds_Args *args) {
  const Program &program = *args->executable->program;
  args->num_outputs = program.numResults();
  args->memory_kinds = program.resultMemoryKinds.data.data();
  args->memory_kind_sizes = program.resultMemoryKinds.sizes.data();
  return nullptr;
}

Error *Executable_OptimizedProgram(Executable_OptimizedProgram_Args *args) {
  static const std::string_view format = "mlir";
  const std::string &text = args->executable->program->optimized;
  Program_Args &answer = *args->program;
  answer.format = format.data();
  answer.format_size = format.size();
  if (!answer.code) {
    answer.code_size = text.size();
    return nullptr;
  }
  if (answer.code_size < text.size())
    return invalid("no room for a program of " + std::to_string(text.size()) +
                   " bytes");
  std::memcpy(answer.code, text.data(), text.size());
  answer.code_size = text.size();
  return nullptr;
}

Error *Executable_GetCompileOptions(Executable_GetCompileOptions_Args *args) {
  auto *text = new std::string(args->executable->program->optionBytes);
  args->serialized_bytes = text->data();
  args->serialized_bytes_size = text->size();
  args->serialized_compile_options =
      reinterpret_cast<SerializedCompileOptions *>(text);
  args->serialized_compile_options_deleter =
      [](SerializedCompileOptions *options) {
        delete reinterpret_cast<std::string *>(options);
      };
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

Error *Executable_ParameterShardings(Executable_ParameterShardings_Args *args) {
  const Program &program = *args->executable->program;
  args->num_parameters = program.numArguments();
  args->shardings = program.argumentShardings.data.data();
  args->sharding_sizes = program.argumentShardings.sizes.data();
  return nullptr;
}

Error *Executable_OutputShardings(Executable_OutputShardings_Args *args) {
  const Program &program = *args->executable->program;
  args->num_outputs = program.numResults();
  args->shardings = program.resultShardings.data.data();
  args->sharding_sizes = program.resultShardings.sizes.data();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Saving and loading
//===----------------------------------------------------------------------===//

// What is saved: this line, the bytes of options as 8 bytes little-endian, the
// fingerprint, the options, the artifact.
static constexpr std::string_view savedHead = "shardc pjrt 1\n";
static constexpr size_t fingerprintSize = 32;

Error *Executable_Serialize(Executable_Serialize_Args *args) {
  const Program &program = *args->executable->program;
  shardc_bytes artifact = {};
  if (Error *error =
          takeError(shardc_program_serialize(program.handle, &artifact)))
    return error;
  auto *text = new std::string(savedHead);
  uint64_t size = program.optionBytes.size();
  for (int shift = 0; shift < 64; shift += 8)
    *text += char(uint8_t(size >> shift));
  *text += program.fingerprint;
  *text += program.optionBytes;
  text->append(artifact.data, artifact.size);
  shardc_bytes_free(&artifact);
  args->serialized_bytes = text->data();
  args->serialized_bytes_size = text->size();
  args->serialized_executable = reinterpret_cast<SerializedExecutable *>(text);
  args->serialized_executable_deleter = [](SerializedExecutable *executable) {
    delete reinterpret_cast<std::string *>(executable);
  };
  return nullptr;
}

Error *Executable_DeserializeAndLoad(Executable_DeserializeAndLoad_Args *args) {
  std::string_view bytes(args->serialized_executable,
                         args->serialized_executable_size);
  size_t head = savedHead.size() + 8 + fingerprintSize;
  if (!bytes.starts_with(savedHead) || bytes.size() < head)
    return invalid("bytes that are no program saved by shardc of this version");
  uint64_t size = 0;
  for (int i = 0; i < 8; ++i)
    size |= uint64_t(uint8_t(bytes[savedHead.size() + i])) << (8 * i);
  if (size > bytes.size() - head)
    return invalid("a saved program that was cut short");
  std::string_view optionBytes = bytes.substr(head, size);
  std::string_view artifact = bytes.substr(head + size);
  if (args->overridden_serialized_compile_options_size)
    optionBytes =
        std::string_view(args->overridden_serialized_compile_options,
                         args->overridden_serialized_compile_options_size);
  CompileOptions options;
  std::vector<Device *> devices;
  if (Error *error = readOptions(args->client, optionBytes, options, devices))
    return error;
  shardc_program *handle = nullptr;
  if (Error *error = takeError(shardc_program_load(
          args->client->engine, artifact.data(), artifact.size(), &handle)))
    return error;
  std::shared_ptr<Program> program;
  if (Error *error = makeProgram(
          args->client, handle, std::move(options), optionBytes,
          std::move(devices),
          std::string(bytes.substr(savedHead.size() + 8, fingerprintSize)),
          program))
    return error;
  args->loaded_executable = new LoadedExecutable(std::move(program));
  return nullptr;
}

} // namespace shardc::pjrt
