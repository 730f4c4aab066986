//===- Profiler.cpp - What devices did, for a caller's profiler -----------===//
//
// While a caller's trace is on, engines note runs of programs and exchanges.
// What they noted is handed over as the message that such callers read: a plane
// for each device, with a line of programs and one of communication. Numbers of
// its fields are those of xplane.proto.
//
//===----------------------------------------------------------------------===//
#include "Objects.h"
#include "Wire.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace shardc::pjrt {

//===----------------------------------------------------------------------===//
// Clients
//===----------------------------------------------------------------------===//

namespace {
struct Clients {
  std::mutex mutex;
  std::vector<Client *> all;
};
} // namespace

/// Never deleted: a client may outlive what is static.
static Clients &clients() {
  static auto &clients = *new Clients;
  return clients;
}

void addClient(Client *client) {
  std::lock_guard lock(clients().mutex);
  clients().all.push_back(client);
}

void removeClient(Client *client) {
  std::lock_guard lock(clients().mutex);
  std::erase(clients().all, client);
}

/// For the end of a process, before it waits for others of its job: tells them
/// that it runs nothing with them any more.
extern "C" SHARDC_EXPORT void shardc_pjrt_leave() {
  std::lock_guard lock(clients().mutex);
  for (Client *client : clients().all)
    shardc_engine_leave(client->engine);
}

/// For the end of a process, before its caller waits for threads that compile:
/// nobody wants what they make.
extern "C" SHARDC_EXPORT void shardc_pjrt_cancel_compilations() {
  std::lock_guard lock(clients().mutex);
  for (Client *client : clients().all)
    shardc_engine_cancel_compilations(client->engine);
}

//===----------------------------------------------------------------------===//
// What was done
//===----------------------------------------------------------------------===//

struct Profiler_Error {
  Error_Code code;
  std::string message;
};

namespace {
struct Done {
  bool isExchange;
  std::string name, location;
  int64_t beginNs, endNs, waitNs, bytes;
};

/// The numbers that a plane gives to names.
class Names {
public:
  uint64_t numberOf(const std::string &name) {
    auto [found, isNew] = numbers.try_emplace(name, numbers.size() + 1);
    return found->second;
  }
  /// Entries of a map from numbers to messages with number and name.
  void write(WireWriter &plane, uint32_t field) const {
    for (const auto &[name, number] : numbers) {
      WireWriter value, entry;
      value.number(1, number);
      value.text(2, name);
      entry.number(1, number);
      entry.text(2, value.take());
      plane.text(field, entry.take());
    }
  }

private:
  std::map<std::string, uint64_t> numbers;
};
} // namespace

struct Profiler {
  bool isOn = false;
  std::map<int64_t, std::vector<Done>> events; ///< by device
  int64_t dropped = 0;
  std::string message;
};

static std::string writeLine(const std::vector<Done> &events, bool exchanges,
                             Names &names, Names &stats) {
  int64_t begin = std::numeric_limits<int64_t>::max();
  for (const Done &event : events)
    if (event.isExchange == exchanges)
      begin = std::min(begin, event.beginNs);
  if (begin == std::numeric_limits<int64_t>::max())
    return "";
  constexpr uint64_t picoseconds = 1000; // of a nanosecond
  WireWriter line;
  line.number(1, exchanges ? 2 : 1);
  line.text(2, exchanges ? "Communication" : "Programs");
  line.number(3, uint64_t(begin));
  for (const Done &event : events) {
    if (event.isExchange != exchanges)
      continue;
    WireWriter item;
    item.number(1, names.numberOf(event.name));
    item.number(2, uint64_t(event.beginNs - begin) * picoseconds);
    item.number(3, uint64_t(event.endNs - event.beginNs) * picoseconds);
    auto number = [&](const char *name, int64_t value) {
      WireWriter stat;
      stat.number(1, stats.numberOf(name));
      stat.number(4, uint64_t(value));
      item.text(4, stat.take());
    };
    if (exchanges) {
      number("bytes", event.bytes);
      number("wait_ns", event.waitNs);
      WireWriter stat;
      stat.number(1, stats.numberOf("source"));
      stat.text(5, event.location);
      item.text(4, stat.take());
    }
    line.text(4, item.take());
  }
  return line.take();
}

static std::string writeSpace(const Profiler &profiler) {
  WireWriter space;
  for (const auto &[device, events] : profiler.events) {
    WireWriter plane;
    Names names, stats;
    plane.number(1, uint64_t(device));
    plane.text(2, "/device:SHARDC:" + std::to_string(device));
    for (bool exchanges : {false, true})
      if (std::string line = writeLine(events, exchanges, names, stats);
          !line.empty())
        plane.text(3, line);
    names.write(plane, 4);
    stats.write(plane, 5);
    space.text(1, plane.take());
  }
  if (profiler.dropped)
    space.text(3, std::to_string(profiler.dropped) +
                      " events of shardc's devices were not kept");
  return space.take();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void stopTraces(Profiler &profiler) {
  if (!profiler.isOn)
    return;
  profiler.isOn = false;
  std::lock_guard lock(clients().mutex);
  for (Client *client : clients().all) {
    int64_t dropped = 0;
    shardc_error *error = shardc_engine_trace_stop(
        client->engine,
        [](void *user, const shardc_trace_event *event) {
          static_cast<Profiler *>(user)->events[event->device].push_back(
              {event->is_exchange != 0, event->name, event->location,
               event->begin_ns, event->end_ns, event->wait_ns, event->bytes});
        },
        &profiler, &dropped);
    // A client that was made since then has none.
    shardc_error_destroy(error);
    profiler.dropped += dropped;
  }
}

static void destroyError(Profiler_Error_Destroy_Args *args) {
  delete args->error;
}

static void messageOf(Profiler_Error_Message_Args *args) {
  args->message = args->error->message.data();
  args->message_size = args->error->message.size();
}

static Profiler_Error *codeOf(Profiler_Error_GetCode_Args *args) {
  args->error_code = args->error->code;
  return nullptr;
}

static Profiler_Error *create(Profiler_Create_Args *args) {
  args->profiler = new Profiler;
  return nullptr;
}

static Profiler_Error *destroy(Profiler_Args *args) {
  if (args->profiler)
    stopTraces(*args->profiler);
  delete args->profiler;
  return nullptr;
}

static Profiler_Error *start(Profiler_Args *args) {
  Profiler &profiler = *args->profiler;
  profiler.events.clear();
  profiler.dropped = 0;
  profiler.message.clear();
  std::lock_guard lock(clients().mutex);
  std::vector<Client *> started;
  for (Client *client : clients().all) {
    shardc_error *error = shardc_engine_trace_start(client->engine);
    if (!error) {
      started.push_back(client);
      continue;
    }
    auto *refusal = new Profiler_Error{Error_Code_FAILED_PRECONDITION,
                                       shardc_error_message(error)};
    shardc_error_destroy(error);
    for (Client *other : started)
      shardc_error_destroy(shardc_engine_trace_stop(
          other->engine, [](void *, const shardc_trace_event *) {}, nullptr,
          nullptr));
    return refusal;
  }
  profiler.isOn = true;
  return nullptr;
}

static Profiler_Error *stop(Profiler_Args *args) {
  stopTraces(*args->profiler);
  return nullptr;
}

/// A caller that brings no buffer is lent one; the other asked for its size
/// before.
static Profiler_Error *collectData(Profiler_CollectData_Args *args) {
  Profiler &profiler = *args->profiler;
  if (profiler.isOn)
    return new Profiler_Error{Error_Code_FAILED_PRECONDITION,
                              "a trace is collected that is still on"};
  if (profiler.message.empty())
    profiler.message = writeSpace(profiler);
  if (args->buffer)
    std::memcpy(args->buffer, profiler.message.data(), profiler.message.size());
  else
    args->buffer = reinterpret_cast<uint8_t *>(profiler.message.data());
  args->buffer_size_in_bytes = profiler.message.size();
  return nullptr;
}

static const Profiler_Api profilerApi = {sizeof(Profiler_Api),
                                         nullptr,
                                         destroyError,
                                         messageOf,
                                         codeOf,
                                         create,
                                         destroy,
                                         start,
                                         stop,
                                         collectData};

const Profiler_Api *profilerFunctions() { return &profilerApi; }

} // namespace shardc::pjrt
