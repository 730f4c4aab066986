//===- Transfers.cpp - Buffers that come in pieces ------------------------===//
#include "Objects.h"

#include <cstring>
#include <mutex>

namespace shardc::pjrt {

/// Buffers that the host fills piece by piece.
struct AsyncHostToDeviceTransferManager {
  struct Target {
    std::unique_ptr<Buffer> buffer; ///< until somebody takes it
    BufferHandle handle;
    EventHandle ready;
    bool set = false;
  };
  Memory &memory;
  std::mutex mutex;
  std::vector<Target> targets;

  explicit AsyncHostToDeviceTransferManager(Memory &memory) : memory(memory) {}
  /// What is never finished fails, so that nobody waits for it.
  ~AsyncHostToDeviceTransferManager() {
    static const char text[] = "the transfer to the device was given up";
    for (Target &target : targets)
      if (!target.set)
        shardc_event_set(target.ready.get(), giveError(Error_Code_CANCELLED,
                                                       text, sizeof(text) - 1));
  }
};

using TransferManager = AsyncHostToDeviceTransferManager;

Error *Client_CreateBuffersForAsyncHostToDevice(
    Client_CreateBuffersForAsyncHostToDevice_Args *args) {
  if (!args->client->onHost)
    return makeError(Error_Code_UNIMPLEMENTED,
                     "transfers in pieces to a GPU's memory");
  auto manager = std::make_unique<TransferManager>(
      memoryOf(args->client, nullptr, args->memory));
  for (size_t i = 0; i < args->num_shape_specs; ++i) {
    const ShapeSpec &spec = args->shape_specs[i];
    const Buffer_MemoryLayout *layout =
        i < args->num_device_layouts ? args->device_layouts[i] : nullptr;
    shardc_event *event = nullptr;
    if (Error *error = takeError(shardc_event_create(&event)))
      return error;
    TransferManager::Target target;
    target.ready = ownEvent(event);
    if (Error *error =
            createLater(manager->memory, spec.element_type, spec.dims,
                        spec.num_dims, layout, event, target.buffer)) {
      shardc_event_set(event, nullptr);
      return error;
    }
    shardc_buffer_retain(target.buffer->handle.get());
    target.handle.reset(target.buffer->handle.get());
    manager->targets.push_back(std::move(target));
  }
  args->transfer_manager = manager.release();
  return nullptr;
}

Error *AsyncHostToDeviceTransferManager_Destroy(
    AsyncHostToDeviceTransferManager_Destroy_Args *args) {
  delete args->transfer_manager;
  return nullptr;
}

static Error *targetOf(TransferManager &manager, int index,
                       TransferManager::Target *&target) {
  if (index < 0 || size_t(index) >= manager.targets.size())
    return invalid("buffer " + std::to_string(index) + " of " +
                   std::to_string(manager.targets.size()));
  target = &manager.targets[index];
  return nullptr;
}

Error *AsyncHostToDeviceTransferManager_TransferData(
    AsyncHostToDeviceTransferManager_TransferData_Args *args) {
  TransferManager &manager = *args->transfer_manager;
  std::lock_guard lock(manager.mutex);
  TransferManager::Target *target = nullptr;
  if (Error *error = targetOf(manager, args->buffer_index, target))
    return error;
  if (target->set)
    return makeError(Error_Code_FAILED_PRECONDITION,
                     "data for a buffer whose last piece has come");
  int64_t all = shardc_buffer_bytes(target->handle.get());
  if (args->offset < 0 || args->transfer_size < 0 || args->offset > all ||
      args->transfer_size > all - args->offset)
    return invalid("bytes " + std::to_string(args->offset) + " to " +
                   std::to_string(args->offset) + " + " +
                   std::to_string(args->transfer_size) +
                   " of a buffer that has " + std::to_string(all));
  char *memory = static_cast<char *>(shardc_buffer_data(target->handle.get()));
  if (args->transfer_size && memory)
    std::memcpy(memory + args->offset, args->data, size_t(args->transfer_size));
  if (args->is_last_transfer) {
    target->set = true;
    shardc_event_set(target->ready.get(), nullptr);
  }
  args->done_with_h2d_transfer = new Event;
  return nullptr;
}

Error *AsyncHostToDeviceTransferManager_RetrieveBuffer(
    AsyncHostToDeviceTransferManager_RetrieveBuffer_Args *args) {
  TransferManager &manager = *args->transfer_manager;
  std::lock_guard lock(manager.mutex);
  TransferManager::Target *target = nullptr;
  if (Error *error = targetOf(manager, args->buffer_index, target))
    return error;
  if (!target->buffer)
    return makeError(Error_Code_FAILED_PRECONDITION,
                     "a buffer of a transfer is taken twice");
  args->buffer_out = target->buffer.release();
  return nullptr;
}

Error *AsyncHostToDeviceTransferManager_Device(
    AsyncHostToDeviceTransferManager_Device_Args *args) {
  args->device_out = args->transfer_manager->memory.device;
  return nullptr;
}

Error *AsyncHostToDeviceTransferManager_BufferCount(
    AsyncHostToDeviceTransferManager_BufferCount_Args *args) {
  args->buffer_count = args->transfer_manager->targets.size();
  return nullptr;
}

Error *AsyncHostToDeviceTransferManager_BufferSize(
    AsyncHostToDeviceTransferManager_BufferSize_Args *args) {
  TransferManager::Target *target = nullptr;
  if (Error *error =
          targetOf(*args->transfer_manager, args->buffer_index, target))
    return error;
  args->buffer_size = size_t(shardc_buffer_bytes(target->handle.get()));
  return nullptr;
}

Error *AsyncHostToDeviceTransferManager_SetBufferError(
    AsyncHostToDeviceTransferManager_SetBufferError_Args *args) {
  TransferManager &manager = *args->transfer_manager;
  std::lock_guard lock(manager.mutex);
  TransferManager::Target *target = nullptr;
  if (Error *error = targetOf(manager, args->buffer_index, target))
    return error;
  if (target->set)
    return makeError(Error_Code_FAILED_PRECONDITION,
                     "an error for a buffer whose last piece has come");
  target->set = true;
  shardc_event_set(target->ready.get(),
                   giveError(args->error_code, args->error_message,
                             args->error_message_size));
  return nullptr;
}

Error *AsyncHostToDeviceTransferManager_AddMetadata(
    AsyncHostToDeviceTransferManager_AddMetadata_Args *) {
  return nullptr; // for traces of who sent it
}

} // namespace shardc::pjrt
