//===- Programs.cpp - Programs and their executions -----------------------===//

#include "Handles.h"
#include <cstdlib>

using namespace shardc::capi;

//===----------------------------------------------------------------------===//
// Calls of the host
//===----------------------------------------------------------------------===//

static std::vector<shardc_host_array>
convert(const shardrt_host_buffer *buffers, int64_t count) {
  std::vector<shardc_host_array> arrays;
  for (int64_t i = 0; i < count; ++i)
    arrays.push_back({buffers[i].data,
                      shardc_element_type_named(buffers[i].element_type),
                      buffers[i].num_dims, buffers[i].dims, buffers[i].bytes});
  return arrays;
}

static int callHost(const HostCalls &host, const shardrt_host_call *call,
                    char *message, size_t messageSize) {
  try {
    auto operands = convert(call->operands, call->num_operands),
         results = convert(call->results, call->num_results);
    shardc_host_call mine = {};
    mine.size = sizeof(mine);
    mine.rank = call->rank;
    mine.index = call->index;
    mine.ordered = call->ordered;
    mine.location = call->location;
    mine.num_operands = call->num_operands;
    mine.operands = operands.data();
    mine.num_results = call->num_results;
    mine.results = results.data();
    return reinterpret_cast<shardc_host_fn>(host.function)(
        host.user, &mine, message, messageSize);
  } catch (const std::exception &) {
    if (messageSize > 0)
      message[0] = '\0';
    return SHARDC_MEMORY;
  }
}

HostCalls shardc::capi::hostCalls(shardc_host_fn function, void *user) {
  if (!function)
    return {};
  return {callHost, reinterpret_cast<void (*)()>(function), user};
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Calls `use` with value `index` of `values`.
template <typename Use>
static MaybeFailure withValue(const shardc_program *program, bool isArgument,
                              int64_t index, Use use) {
  if (!program)
    return nullArgument("program");
  const CompiledModel &model = unwrap(program)->model;
  const std::vector<ProgramValue> &values =
      isArgument ? model.arguments : model.results;
  auto count =
      static_cast<int64_t>(values.size() - (isArgument ? 0 : model.hidden));
  if (index < 0 || index >= count)
    return usage(
        std::string("there is no ") + (isArgument ? "argument " : "result ") +
        std::to_string(index) + ": the program has " + std::to_string(count));
  return use(values[index]);
}

static shardc_error *describe(const shardc_program *program, bool isArgument,
                              int64_t index, shardc_value *value) {
  return guarded([&]() -> MaybeFailure {
    if (!value)
      return nullArgument("value");
    return withValue(
        program, isArgument, index,
        [&](const ProgramValue &from) -> MaybeFailure {
          shardc_value read = {};
          read.name = from.name.c_str();
          read.location = from.location.c_str();
          read.element_type = static_cast<shardc_element_type>(from.type);
          read.num_dims = static_cast<int64_t>(from.dims.size());
          read.dims = from.dims.data();
          read.donated = from.donated;
          return writeStruct(read, value) ? nullptr : withoutSize("value");
        });
  });
}

static shardc_error *describeBox(const shardc_program *program, bool isArgument,
                                 int64_t index, int64_t rank, int64_t *starts,
                                 int64_t *sizes) {
  return guarded([&]() -> MaybeFailure {
    return withValue(
        program, isArgument, index,
        [&](const ProgramValue &from) -> MaybeFailure {
          const CompiledModel &model = unwrap(program)->model;
          if (rank < 0 || rank >= model.numRanks)
            return usage("there is no rank " + std::to_string(rank) +
                         ": the program has " + std::to_string(model.numRanks));
          if (!from.dims.empty() && (!starts || !sizes))
            return nullArgument(starts ? "sizes" : "starts");
          const RankValues &mine = model.ofRank(rank);
          const LocalValue &local =
              isArgument ? mine.arguments[index] : mine.results[index];
          for (size_t d = 0; d < from.dims.size(); ++d) {
            starts[d] = local.box[d].begin;
            sizes[d] = local.box[d].size();
          }
          return nullptr;
        });
  });
}

/// Reads what a model is compiled with.
static MaybeFailure readOptions(const void *model, size_t modelBytes,
                                const shardc_option *options, size_t numOptions,
                                Program::Options &given) {
  if ((!model && modelBytes > 0) || (!options && numOptions > 0))
    return nullArgument(model ? "options" : "model");
  for (size_t i = 0; i < numOptions; ++i) {
    if (!options[i].name)
      return nullArgument("name of an option");
    given.push_back(
        {options[i].name, options[i].value ? options[i].value : ""});
  }
  return nullptr;
}

extern "C" {

shardc_error *shardc_compile(shardc_engine *engine, const void *model,
                             size_t model_bytes, const char *name,
                             const shardc_option *options, size_t num_options,
                             shardc_program **program) {
  return guarded([&]() -> MaybeFailure {
    if (program)
      *program = nullptr;
    if (!engine || !program)
      return nullArgument(engine ? "program" : "engine");
    Program::Options given;
    if (MaybeFailure failure =
            readOptions(model, model_bytes, options, num_options, given))
      return failure;
    Ref<Program> made;
    if (MaybeFailure failure = Program::compile(
            *unwrap(engine), {static_cast<const char *>(model), model_bytes},
            name ? name : "", std::move(given), made))
      return failure;
    *program = wrap(made.take());
    return nullptr;
  });
}

shardc_error *shardc_compile_start(shardc_engine *engine, const void *model,
                                   size_t model_bytes, const char *name,
                                   const shardc_option *options,
                                   size_t num_options,
                                   shardc_compilation **compilation) {
  return guarded([&]() -> MaybeFailure {
    if (compilation)
      *compilation = nullptr;
    if (!engine || !compilation)
      return nullArgument(engine ? "compilation" : "engine");
    Program::Options given;
    if (MaybeFailure failure =
            readOptions(model, model_bytes, options, num_options, given))
      return failure;
    std::unique_ptr<Compilation> made;
    if (MaybeFailure failure = Compilation::start(
            *unwrap(engine), {static_cast<const char *>(model), model_bytes},
            name ? name : "", std::move(given), made))
      return failure;
    *compilation = wrap(made.release());
    return nullptr;
  });
}

bool shardc_compilation_wait_for(shardc_compilation *compilation,
                                 int64_t timeout_ns) {
  return !compilation ||
         unwrap(compilation)->waitFor(std::chrono::nanoseconds(timeout_ns));
}

shardc_error *shardc_compilation_finish(shardc_compilation *compilation,
                                        shardc_program **program) {
  return guarded([&]() -> MaybeFailure {
    if (program)
      *program = nullptr;
    if (!compilation || !program)
      return nullArgument(compilation ? "program" : "compilation");
    Ref<Program> made;
    if (MaybeFailure failure = unwrap(compilation)->finish(made))
      return failure;
    *program = wrap(made.take());
    return nullptr;
  });
}

void shardc_compilation_destroy(shardc_compilation *compilation) {
  delete unwrap(compilation);
}

void shardc_program_destroy(shardc_program *program) {
  if (program)
    unwrap(program)->release();
}

shardc_error *shardc_program_serialize(const shardc_program *program,
                                       shardc_bytes *artifact) {
  return guarded([&]() -> MaybeFailure {
    if (!program || !artifact)
      return nullArgument(program ? "artifact" : "program");
    *artifact = {};
    std::string bytes;
    if (MaybeFailure failure = unwrap(program)->serialize(bytes))
      return failure;
    artifact->data = static_cast<char *>(std::malloc(bytes.size()));
    if (!artifact->data)
      return fail(Status::Memory, "out of memory");
    std::memcpy(artifact->data, bytes.data(), bytes.size());
    artifact->size = bytes.size();
    return nullptr;
  });
}

shardc_error *shardc_program_load(shardc_engine *engine, const void *artifact,
                                  size_t artifact_bytes,
                                  shardc_program **program) {
  return guarded([&]() -> MaybeFailure {
    if (program)
      *program = nullptr;
    if (!engine || !program || !artifact)
      return nullArgument(!engine     ? "engine"
                          : !artifact ? "artifact"
                                      : "program");
    Ref<Program> made;
    if (MaybeFailure failure = Program::loadArtifact(
            *unwrap(engine),
            {static_cast<const char *>(artifact), artifact_bytes}, made))
      return failure;
    *program = wrap(made.take());
    return nullptr;
  });
}

shardc_error *shardc_program_bind(shardc_program *program,
                                  const shardc_binding *binding,
                                  shardc_program **bound) {
  return guarded([&]() -> MaybeFailure {
    if (bound)
      *bound = nullptr;
    if (!program || !bound)
      return nullArgument(program ? "bound" : "program");
    shardc_binding asked;
    if (!readStruct(binding, asked))
      return withoutSize("binding");
    if (asked.num_sizes > 0 && !asked.sizes)
      return nullArgument("sizes");
    if (asked.num_axes > 0 && !asked.mesh)
      return nullArgument("mesh");
    std::vector<GivenSizes> given;
    for (const shardc_sizes &sizes : std::span(asked.sizes, asked.num_sizes)) {
      if (!sizes.sizes || sizes.num_shards < 1)
        return usage("argument " + std::to_string(sizes.argument) + ", dim " +
                     std::to_string(sizes.dim) + ": no sizes are given");
      given.push_back({sizes.argument,
                       sizes.dim,
                       {sizes.sizes, static_cast<size_t>(sizes.num_shards)}});
    }
    Ref<Program> made;
    if (MaybeFailure failure =
            unwrap(program)->bind(given, {asked.mesh, asked.num_axes}, made))
      return failure;
    *bound = wrap(made.take());
    return nullptr;
  });
}

void shardc_bytes_free(shardc_bytes *bytes) {
  if (!bytes)
    return;
  std::free(bytes->data);
  *bytes = {};
}

const char *shardc_program_name(const shardc_program *program) {
  return program ? unwrap(program)->model.name.c_str() : "";
}

int64_t shardc_program_num_ranks(const shardc_program *program) {
  return program ? unwrap(program)->model.numRanks : 0;
}

bool shardc_program_calls_host(const shardc_program *program) {
  return program && unwrap(program)->callsHost;
}

int64_t shardc_program_num_arguments(const shardc_program *program) {
  return program ? static_cast<int64_t>(unwrap(program)->model.arguments.size())
                 : 0;
}

int64_t shardc_program_num_results(const shardc_program *program) {
  if (!program)
    return 0;
  const CompiledModel &model = unwrap(program)->model;
  return static_cast<int64_t>(model.results.size() - model.hidden);
}

shardc_error *shardc_program_argument(const shardc_program *program,
                                      int64_t index, shardc_value *value) {
  return describe(program, /*isArgument=*/true, index, value);
}

shardc_error *shardc_program_result(const shardc_program *program,
                                    int64_t index, shardc_value *value) {
  return describe(program, /*isArgument=*/false, index, value);
}

shardc_error *shardc_program_argument_box(const shardc_program *program,
                                          int64_t index, int64_t rank,
                                          int64_t *starts, int64_t *sizes) {
  return describeBox(program, /*isArgument=*/true, index, rank, starts, sizes);
}

shardc_error *shardc_program_result_box(const shardc_program *program,
                                        int64_t index, int64_t rank,
                                        int64_t *starts, int64_t *sizes) {
  return describeBox(program, /*isArgument=*/false, index, rank, starts, sizes);
}

const char *shardc_program_metadata(const shardc_program *program) {
  return program ? unwrap(program)->model.metadata.c_str() : "";
}

const char *shardc_program_local_text(const shardc_program *program) {
  const std::string *text = nullptr;
  if (!program)
    return "";
  // What compiled once compiles again; else there is nothing to show.
  shardc_error_destroy(guarded(
      [&] { return const_cast<Program *>(unwrap(program))->localText(text); }));
  return text ? text->c_str() : "";
}

const char *shardc_program_remarks(const shardc_program *program) {
  return program ? unwrap(program)->compiled->remarks.c_str() : "";
}

shardc_error *shardc_program_get_costs(const shardc_program *program,
                                       shardc_program_costs *costs) {
  return guarded([&]() -> MaybeFailure {
    if (!program || !costs)
      return nullArgument(program ? "costs" : "program");
    const Costs &from = unwrap(program)->model.costs;
    shardc_program_costs read = {};
    read.flops = from.flops;
    read.bytes_accessed = from.bytesAccessed;
    read.transcendentals = from.transcendentals;
    read.bytes_moved = from.bytesMoved;
    read.code_bytes = from.codeBytes;
    read.argument_bytes = from.argumentBytes;
    read.result_bytes = from.resultBytes;
    read.temporary_bytes = from.temporaryBytes;
    return writeStruct(read, costs) ? nullptr : withoutSize("costs");
  });
}

shardc_error *shardc_execute(shardc_program *program,
                             const shardc_execute_options *given,
                             shardc_buffer *const *const *arguments,
                             shardc_buffer **const *results,
                             shardc_event **done) {
  return guarded([&]() -> MaybeFailure {
    if (done)
      *done = nullptr;
    if (!program)
      return nullArgument("program");
    shardc_execute_options asked;
    if (!readStruct(given, asked))
      return withoutSize("options");
    const CompiledModel &model = unwrap(program)->model;
    const Engine &engine = *unwrap(program)->engine;
    for (int64_t rank = 0; rank < model.numRanks; ++rank) {
      // What is of other processes is theirs to give.
      int64_t device = asked.devices ? asked.devices[rank] : rank;
      if (engine.processOf(device) != engine.process())
        continue;
      if (!model.arguments.empty() && (!arguments || !arguments[rank]))
        return nullArgument("arguments");
      if (model.results.size() > model.hidden && (!results || !results[rank]))
        return nullArgument("results");
    }
    Execution execution;
    execution.devices = asked.devices;
    execution.donated = asked.donated;
    execution.host = hostCalls(asked.host, asked.host_user);
    execution.arguments = reinterpret_cast<Buffer *const *const *>(arguments);
    execution.results = reinterpret_cast<Buffer **const *>(results);
    Ref<Event> event;
    if (MaybeFailure failure =
            unwrap(program)->execute(execution, done ? &event : nullptr))
      return failure;
    bool isDone = event && event->isReady() && !event->failure();
    if (done && !(asked.omit_done && isDone))
      *done = wrap(event.take());
    return nullptr;
  });
}

int64_t shardc_program_num_sites(const shardc_program *program) {
  return program ? unwrap(program)->numSites() : 0;
}

shardc_error *shardc_program_site_stats(const shardc_program *program,
                                        int64_t site,
                                        shardc_site_stats *stats) {
  return guarded([&]() -> MaybeFailure {
    if (!program || !stats)
      return nullArgument(program ? "stats" : "program");
    shardrt_site_info info;
    shardrt_site_stats from;
    if (MaybeFailure failure =
            const_cast<Program *>(unwrap(program))->siteStats(site, info, from))
      return failure;
    shardc_site_stats read = {};
    read.kind = info.kind;
    read.axes = info.axes;
    read.name = info.name;
    read.location = info.location;
    read.count = from.count;
    read.bytes_received = from.bytes_received;
    read.total_ns = from.total_ns;
    read.wait_ns = from.wait_ns;
    return writeStruct(read, stats) ? nullptr : withoutSize("stats");
  });
}

shardc_error *shardc_program_rank_stats(const shardc_program *program,
                                        int64_t rank,
                                        shardc_rank_stats *stats) {
  return guarded([&]() -> MaybeFailure {
    if (!program || !stats)
      return nullArgument(program ? "stats" : "program");
    shardrt_rank_stats from;
    if (MaybeFailure failure =
            const_cast<Program *>(unwrap(program))->rankStats(rank, from))
      return failure;
    shardc_rank_stats read = {};
    read.steps = from.steps;
    read.total_ns = from.total_ns;
    read.wait_ns = from.wait_ns;
    return writeStruct(read, stats) ? nullptr : withoutSize("stats");
  });
}

} // extern "C"
