//===- Execute.cpp - Loaded programs, and running them --------------------===//
#include "Executables.h"

#include <algorithm>
#include <utility>

namespace shardc::pjrt {

//===----------------------------------------------------------------------===//
// Loaded programs
//===----------------------------------------------------------------------===//

Error *LoadedExecutable_Destroy(LoadedExecutable_Destroy_Args *args) {
  delete args->executable;
  return nullptr;
}

Error *
LoadedExecutable_GetExecutable(LoadedExecutable_GetExecutable_Args *args) {
  args->executable = new Executable{args->loaded_executable->program};
  return nullptr;
}

Error *LoadedExecutable_AddressableDevices(
    LoadedExecutable_AddressableDevices_Args *args) {
  const Program &program = *args->executable->program;
  args->addressable_devices = program.here.data();
  args->num_addressable_devices = program.here.size();
  return nullptr;
}

Error *LoadedExecutable_AddressableDeviceLogicalIds(
    LoadedExecutable_AddressableDeviceLogicalIds_Args *args) {
  Program &program = *args->executable->program;
  args->addressable_device_logical_ids = program.logicalIds.data();
  args->num_addressable_device_logical_ids = program.logicalIds.size();
  return nullptr;
}

Error *LoadedExecutable_GetDeviceAssignment(
    LoadedExecutable_GetDeviceAssignment_Args *args) {
  std::vector<int64_t> devices;
  for (const Device *device : args->executable->program->devices)
    devices.push_back(device->description.id);
  auto *text = new std::string(writeDeviceAssignment(devices));
  args->serialized_bytes = text->data();
  args->serialized_bytes_size = text->size();
  args->serialized_device_assignment =
      reinterpret_cast<DeviceAssignmentSerialized *>(text);
  args->serialized_device_assignment_deleter =
      [](DeviceAssignmentSerialized *assignment) {
        delete reinterpret_cast<std::string *>(assignment);
      };
  return nullptr;
}

Error *LoadedExecutable_Delete(LoadedExecutable_Delete_Args *args) {
  args->executable->deleted = true;
  return nullptr;
}

Error *LoadedExecutable_IsDeleted(LoadedExecutable_IsDeleted_Args *args) {
  args->is_deleted = args->executable->deleted;
  return nullptr;
}

Error *LoadedExecutable_Fingerprint(LoadedExecutable_Fingerprint_Args *args) {
  const std::string &text = args->executable->program->fingerprint;
  args->executable_fingerprint = text.data();
  args->executable_fingerprint_size = text.size();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

struct ExecuteContext {};

Error *ExecuteContext_Create(ExecuteContext_Create_Args *args) {
  args->context = new ExecuteContext;
  return nullptr;
}

Error *ExecuteContext_Destroy(ExecuteContext_Destroy_Args *args) {
  delete args->context;
  return nullptr;
}

/// Refuses a call that does not fit the program.
static Error *checkCall(const LoadedExecutable_Execute_Args &args) {
  const Program &program = *args.executable->program;
  if (args.executable->deleted)
    return invalid("a program is run that was deleted");
  if (args.num_devices != program.ranksHere.size())
    return invalid("arguments for " + std::to_string(args.num_devices) +
                   " devices, where the program runs on " +
                   std::to_string(program.ranksHere.size()) +
                   " of this process");
  if (args.num_devices > 0 && args.num_args != program.numArguments())
    return invalid("Execution supplied " + std::to_string(args.num_args) +
                   " buffers but the program expected " +
                   std::to_string(program.numArguments()));
  if (args.options &&
      (args.options->num_send_ops || args.options->num_recv_ops))
    return makeError(Error_Code_UNIMPLEMENTED,
                     "send and recv callbacks: callbacks of JAX come as "
                     "custom calls here");
  if (args.execute_device && program.numRanks() != 1)
    return makeError(Error_Code_UNIMPLEMENTED,
                     "one device of a program for several is run alone");
  return nullptr;
}

Error *LoadedExecutable_Execute(LoadedExecutable_Execute_Args *args) {
  if (Error *error = checkCall(*args))
    return error;
  // Nothing of it is of this process.
  if (args->num_devices == 0)
    return nullptr;
  Program &program = *args->executable->program;
  size_t numRanks = program.numRanks(), numArguments = program.numArguments(),
         numResults = program.numResults();

  std::vector<Device *> devices = program.devices;
  if (args->execute_device)
    devices = {args->execute_device};
  else if (devices.empty())
    devices = {numArguments ? args->argument_lists[0][0]->device
                            : program.client->here.front()};
  std::vector<int64_t> ids;
  for (const Device *device : devices)
    ids.push_back(device->description.id);

  // Callers give and take what is of this process.
  const std::vector<size_t> &here = program.ranksHere;
  std::vector<shardc_buffer *> buffers(here.size() * numArguments);
  std::vector<shardc_buffer *const *> arguments(numRanks);
  std::vector<shardc_buffer *> made(here.size() * numResults);
  std::vector<shardc_buffer **> results(numRanks);
  for (size_t k = 0; k < here.size(); ++k) {
    arguments[here[k]] = buffers.data() + k * numArguments;
    results[here[k]] = made.data() + k * numResults;
    for (size_t i = 0; i < numArguments; ++i) {
      const Buffer &argument = *args->argument_lists[k][i];
      if (argument.layout != program.argumentOrders[i])
        return invalid(
            "argument " + std::to_string(i) + " has the layout " +
            (argument.layout ? argument.layout : rowMajor(argument.dims.size()))
                ->text +
            ", but the program expected " + program.argumentLayouts[i]->text);
      buffers[k * numArguments + i] = argument.handle.get();
    }
  }

  shardc_execute_options options = {};
  options.size = sizeof(options);
  options.devices = ids.data();
  std::vector<uint8_t> donated = program.donated;
  if (args->options)
    for (size_t i = 0; i < args->options->num_non_donatable_input_indices;
         ++i) {
      int64_t index = args->options->non_donatable_input_indices[i];
      if (index >= 0 && size_t(index) < donated.size())
        donated[size_t(index)] = 0;
    }
  options.donated = donated.data();
  // What a callback raises is the call's: callers may never look at results.
  bool waits = shardc_program_calls_host(program.handle);
  shardc_event *done = nullptr;
  if (Error *error = takeError(shardc_execute(
          program.handle, &options, arguments.data(), results.data(),
          args->device_complete_events || waits ? &done : nullptr)))
    return error;
  EventHandle finished = ownEvent(done);
  ++program.runs;
  if (waits)
    if (Error *error = takeError(shardc_event_await(finished.get()))) {
      for (shardc_buffer *buffer : made)
        shardc_buffer_release(buffer);
      return error;
    }
  for (size_t k = 0; k < here.size(); ++k)
    for (size_t i = 0; i < numResults; ++i) {
      auto *result =
          new Buffer(*devices[here[k]]->memories[program.resultMemories[i]],
                     made[k * numResults + i], program.resultOrders[i]);
      if (program.resultTypes[i] == Buffer_Type_TOKEN)
        result->becomeToken();
      args->output_lists[k][i] = result;
    }
  if (args->device_complete_events)
    for (size_t k = 0; k < here.size(); ++k)
      args->device_complete_events[k] = new Event(finished);
  return nullptr;
}

} // namespace shardc::pjrt
