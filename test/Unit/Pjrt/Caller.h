//===- Caller.h - A caller of PJRT for tests --------------------*- C++ -*-===//
//
// What a client of the API does around each call: structs of the right size,
// errors as text, objects that are destroyed.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TEST_PJRT_CALLER_H
#define SHARDC_TEST_PJRT_CALLER_H

#include "Abi.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

extern "C" const shardc::pjrt::Api *GetPjrtApi();

namespace shardc::pjrt::test {

inline const Api *api() { return GetPjrtApi(); }

template <typename Args> Args sized() {
  Args args;
  std::memset(&args, 0, sizeof(args));
  args.struct_size = sizeof(args);
  return args;
}

/// What an error says, which is freed; "" for none.
inline std::string message(Error *error) {
  if (!error)
    return "";
  Error_Message_Args args = sized<Error_Message_Args>();
  args.error = error;
  api()->Error_Message(&args);
  std::string text(args.message, args.message_size);
  Error_Destroy_Args destroy = sized<Error_Destroy_Args>();
  destroy.error = error;
  api()->Error_Destroy(&destroy);
  return text;
}

inline void destroy(Event *event) {
  auto args = sized<Event_Destroy_Args>();
  args.event = event;
  message(api()->Event_Destroy(&args));
}

/// Waits for `event`, which is destroyed; what failed.
inline std::string await(Event *event) {
  auto args = sized<Event_Await_Args>();
  args.event = event;
  std::string text = message(api()->Event_Await(&args));
  destroy(event);
  return text;
}

struct DestroyBuffer {
  void operator()(Buffer *buffer) const {
    auto args = sized<Buffer_Destroy_Args>();
    args.buffer = buffer;
    message(api()->Buffer_Destroy(&args));
  }
};
using OwnedBuffer = std::unique_ptr<Buffer, DestroyBuffer>;

struct DestroyLoaded {
  void operator()(LoadedExecutable *executable) const {
    auto args = sized<LoadedExecutable_Destroy_Args>();
    args.executable = executable;
    message(api()->LoadedExecutable_Destroy(&args));
  }
};
using OwnedLoaded = std::unique_ptr<LoadedExecutable, DestroyLoaded>;

struct DestroyClient {
  void operator()(Client *client) const {
    auto args = sized<Client_Destroy_Args>();
    args.client = client;
    message(api()->Client_Destroy(&args));
  }
};
using OwnedClient = std::unique_ptr<Client, DestroyClient>;

/// A client of `numDevices` devices; null where it cannot be had.
inline OwnedClient makeClient(int64_t numDevices) {
  NamedValue devices = {};
  devices.struct_size = sizeof(devices);
  devices.name = "devices";
  devices.name_size = 7;
  devices.type = NamedValue_Type_Int64;
  devices.int64_value = numDevices;
  devices.value_size = 1;
  auto args = sized<Client_Create_Args>();
  args.create_options = &devices;
  args.num_options = 1;
  return message(api()->Client_Create(&args)).empty() ? OwnedClient(args.client)
                                                      : nullptr;
}

inline Device *deviceOf(Client *client, size_t index) {
  auto args = sized<Client_Devices_Args>();
  args.client = client;
  message(api()->Client_Devices(&args));
  return index < args.num_devices ? args.devices[index] : nullptr;
}

/// Compiles StableHLO; `error` says what failed.
inline OwnedLoaded compile(Client *client, std::string_view text,
                           std::string_view options, std::string &error) {
  Program_Args program = sized<Program_Args>();
  program.code = const_cast<char *>(text.data());
  program.code_size = text.size();
  program.format = "mlir";
  program.format_size = 4;
  auto args = sized<Client_Compile_Args>();
  args.client = client;
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  error = message(api()->Client_Compile(&args));
  return OwnedLoaded(error.empty() ? args.executable : nullptr);
}

} // namespace shardc::pjrt::test

#endif // SHARDC_TEST_PJRT_CALLER_H
