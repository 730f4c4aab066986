//===- Engines.cpp - Versions, errors, element types, engines -------------===//

#include "Handles.h"
#include <algorithm>
#include <chrono>

using namespace shardc::capi;

/// What there is when there is no memory for an error.
static shardc_error memoryError{{Status::Memory, "out of memory", ""}};

shardc_error *shardc::capi::toError(MaybeFailure failure) {
  if (!failure)
    return nullptr;
  if (failure.get() == noMemory())
    return &memoryError;
  auto *error = new (std::nothrow) shardc_error{std::move(*failure)};
  return error ? error : &memoryError;
}

shardc_error *shardc::capi::outOfMemory() { return &memoryError; }

/// Reads which process of which job this is.
static MaybeFailure readJob(const shardc_job_options &given, JobOptions &job) {
  shardc_job_options asked;
  if (!readStruct(&given, asked))
    return withoutSize("job");
  if (asked.processes < 0)
    return usage("a job of " + std::to_string(asked.processes) +
                 " processes; expected at least 0, which is none");
  if (asked.process < 0 ||
      (asked.processes > 0 && asked.process >= asked.processes))
    return usage("process " + std::to_string(asked.process) + " of " +
                 std::to_string(asked.processes) + "; expected " +
                 (asked.processes > 0
                      ? "0 to " + std::to_string(asked.processes - 1)
                      : "0, without a job"));
  job.processes = asked.processes;
  job.process = asked.process;
  job.host = asked.host ? asked.host : "";
  job.port = asked.port;
  job.token = asked.name ? asked.name : "";
  job.timeoutMs = asked.timeout_ms;
  std::string transport = asked.transport ? asked.transport : "auto";
  if (transport != "auto" && transport != "shared" && transport != "tcp")
    return usage("transport '" + transport + "'; expected shared or tcp");
  job.wire = transport == "shared" ? SHARDRT_WIRE_SHARED
             : transport == "tcp"  ? SHARDRT_WIRE_TCP
                                   : SHARDRT_WIRE_AUTO;
  if (!asked.key_values) {
    if (asked.processes > 0 && (asked.port < 1 || asked.port > 65535))
      return usage("port " + std::to_string(asked.port) +
                   "; expected 1 to 65535, the same for all processes");
    return nullptr;
  }
  shardc_key_values words;
  if (!readStruct(asked.key_values, words))
    return withoutSize("key_values");
  if (!words.put || !words.get)
    return nullArgument(words.put ? "get" : "put");
  if (asked.processes == 0)
    return usage("key_values without a number of processes");
  job.hasKeyValues = true;
  job.keyValues.size = sizeof(job.keyValues);
  job.keyValues.put = words.put;
  job.keyValues.get = words.get;
  job.keyValues.user = words.user;
  return nullptr;
}

extern "C" {

int shardc_api_version(void) { return SHARDC_API_VERSION; }
const char *shardc_version(void) { return SHARDC_VERSION; }

void shardc_error_destroy(shardc_error *error) {
  if (error != &memoryError)
    delete error;
}

int shardc_error_status(const shardc_error *error) {
  return error ? static_cast<int>(error->failure.status) : SHARDC_OK;
}

const char *shardc_error_message(const shardc_error *error) {
  return error ? error->failure.message.c_str() : "";
}

const char *shardc_error_location(const shardc_error *error) {
  return error ? error->failure.location.c_str() : "";
}

shardc_error *shardc_error_create(int status, const char *message) {
  return guarded([&] {
    return fail(
        static_cast<Status>(status == SHARDC_OK ? SHARDC_REFUSED : status),
        message ? message : "");
  });
}

shardc_element_type shardc_element_type_named(const char *name) {
  if (!name)
    return 0;
  auto type = shardrt::elementTypeNamed(name);
  return type ? static_cast<shardc_element_type>(*type) : 0;
}

const char *shardc_element_type_name(shardc_element_type type) {
  // Names are literals, hence end with NUL.
  std::string_view name =
      shardrt::elementTypeName(static_cast<ElementType>(type));
  return name.empty() ? "" : name.data();
}

int64_t shardc_element_type_bytes(shardc_element_type type) {
  return shardrt::elementBytes(static_cast<ElementType>(type));
}

shardc_error *shardc_engine_create(const shardc_engine_options *given,
                                   shardc_engine **engine) {
  return guarded([&]() -> MaybeFailure {
    if (!engine)
      return nullArgument("engine");
    *engine = nullptr;
    shardc_engine_options asked;
    if (!readStruct(given, asked))
      return withoutSize("options");
    EngineOptions options;
    options.devices = asked.devices == 0 ? 1 : asked.devices;
    options.target = asked.target ? asked.target : "cpu";
    options.threads = asked.threads;
    if (asked.cache_directory)
      options.cacheFolder = asked.cache_directory;
    options.timeoutMs = asked.timeout_ms;
    options.host = hostCalls(asked.host, asked.host_user);
    options.partition = partitions(asked.partition, asked.partition_user);
    if (asked.job)
      if (MaybeFailure failure = readJob(*asked.job, options.job.emplace()))
        return failure;
    Ref<Engine> made;
    if (MaybeFailure failure = Engine::create(std::move(options), made))
      return failure;
    *engine = wrap(made.take());
    return nullptr;
  });
}

void shardc_engine_destroy(shardc_engine *engine) {
  if (!engine)
    return;
  unwrap(engine)->close();
  unwrap(engine)->release();
}

void shardc_engine_leave(shardc_engine *engine) {
  if (engine)
    unwrap(engine)->leave();
}

void shardc_engine_cancel_compilations(shardc_engine *engine) {
  if (engine)
    unwrap(engine)->cancelCompilations();
}

int64_t shardc_engine_num_devices(const shardc_engine *engine) {
  return engine ? static_cast<int64_t>(unwrap(engine)->devices.size()) : 0;
}

int64_t shardc_engine_num_local_devices(const shardc_engine *engine,
                                        int64_t *first) {
  if (first)
    *first = engine ? unwrap(engine)->firstDevice() : 0;
  return engine ? unwrap(engine)->options.devices : 0;
}

int64_t shardc_engine_process(const shardc_engine *engine) {
  return engine ? unwrap(engine)->process() : 0;
}

int64_t shardc_engine_num_processes(const shardc_engine *engine) {
  return engine ? unwrap(engine)->numProcesses() : 0;
}

int64_t shardc_engine_device_process(const shardc_engine *engine,
                                     int64_t device) {
  if (device < 0 || device >= shardc_engine_num_devices(engine))
    return -1;
  return unwrap(engine)->processOf(device);
}

shardc_error *shardc_engine_memory_stats(shardc_engine *engine, int64_t device,
                                         shardc_memory_stats *stats) {
  return guarded([&]() -> MaybeFailure {
    if (!engine)
      return nullArgument("engine");
    if (!stats)
      return nullArgument("stats");
    if (MaybeFailure failure = unwrap(engine)->checkDevice(device))
      return failure;
    const Device &place = *unwrap(engine)->devices[device];
    shardc_memory_stats read = {};
    int64_t most, work = unwrap(engine)->workBytes(device, most);
    {
      std::lock_guard lock(place.mutex);
      read.bytes_in_use = place.pool.bytesInUse() + work;
      read.peak_bytes_in_use = place.pool.peakBytes() + most;
      read.num_allocs = place.pool.allocations();
    }
    read.bytes_limit = memoryLimit();
    return writeStruct(read, stats) ? nullptr : withoutSize("stats");
  });
}

shardc_error *shardc_engine_trace_start(shardc_engine *engine) {
  return guarded([&]() -> MaybeFailure {
    if (!engine)
      return nullArgument("engine");
    if (!unwrap(engine)->tracer.start())
      return usage("a trace is on");
    return nullptr;
  });
}

shardc_error *shardc_engine_trace_stop(
    shardc_engine *engine,
    void (*each)(void *user, const shardc_trace_event *event), void *user,
    int64_t *dropped) {
  return guarded([&]() -> MaybeFailure {
    if (!engine)
      return nullArgument("engine");
    if (!each)
      return nullArgument("each");
    Trace noted;
    if (!unwrap(engine)->tracer.stop(noted))
      return usage("no trace is on");
    if (dropped)
      *dropped = noted.dropped;
    auto since = [](auto time) {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(
                 time.time_since_epoch())
          .count();
    };
    int64_t epoch = since(std::chrono::system_clock::now()) -
                    since(std::chrono::steady_clock::now());
    for (const TraceEvent &from : noted.events) {
      shardc_trace_event event = {};
      event.size = sizeof(event);
      event.device = from.device;
      event.is_exchange = from.isExchange;
      event.name = noted.texts[from.name].c_str();
      event.location = noted.texts[from.detail].c_str();
      event.begin_ns = epoch + from.beginNs;
      event.end_ns = epoch + from.endNs;
      event.wait_ns = from.waitNs;
      event.bytes = from.bytes;
      each(user, &event);
    }
    return nullptr;
  });
}

} // extern "C"
