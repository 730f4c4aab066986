//===- Copies.cpp - To the host, and to other devices ---------------------===//
#include "Objects.h"

namespace shardc::pjrt {

Error *Buffer_ToHostBuffer(Buffer_ToHostBuffer_Args *args) {
  const Buffer &buffer = *args->src;
  shardc_buffer *handle = buffer.handle.get();
  size_t bytes = size_t(shardc_buffer_bytes(handle));
  if (!args->dst) {
    args->dst_size = bytes;
    return nullptr;
  }
  if (Error *error = checkAlive(buffer, "Buffer_ToHostBuffer"))
    return error;
  if (args->dst_size < bytes)
    return invalid(std::to_string(args->dst_size) +
                   " bytes for a buffer that has " + std::to_string(bytes));
  std::vector<int64_t> strides;
  if (Error *error = byteStrides(
          args->host_layout, buffer.dims,
          shardc_element_type_bytes(shardc_buffer_element_type(handle)),
          strides))
    return error;
  if (buffer.layout) {
    std::vector<int64_t> ofCaller = strides;
    for (size_t i = 0; i < strides.size(); ++i)
      strides[i] = ofCaller[buffer.layout->majorToMinor[i]];
  }
  shardc_event *done = nullptr;
  if (Error *error = takeError(
          shardc_buffer_to_host(handle, args->dst, strides.data(), &done)))
    return error;
  args->event = new Event(ownEvent(done));
  return nullptr;
}

static Error *copyRaw(const Buffer &buffer, void *data, int64_t offset,
                      int64_t bytes, EventHandle &done) {
  if (Error *error = checkAlive(buffer, "Buffer_CopyRawToHost"))
    return error;
  int64_t all = shardc_buffer_bytes(buffer.handle.get());
  if (offset < 0 || bytes < 0 || offset > all || bytes > all - offset)
    return invalid("bytes " + std::to_string(offset) + " to " +
                   std::to_string(offset + bytes) + " of a buffer that has " +
                   std::to_string(all));
  shardc_event *event = nullptr;
  if (Error *error = takeError(shardc_buffer_bytes_to_host(
          buffer.handle.get(), data, offset, bytes, &event)))
    return error;
  done = ownEvent(event);
  return nullptr;
}

Error *Buffer_CopyRawToHost(Buffer_CopyRawToHost_Args *args) {
  EventHandle done;
  if (Error *error = copyRaw(*args->buffer, args->dst, args->offset,
                             args->transfer_size, done))
    return error;
  args->event = new Event(done);
  return nullptr;
}

namespace {
/// A copy whose destination is said later.
struct LaterCopy {
  Buffer buffer;
  int64_t offset, bytes;
  EventHandle done;
};
} // namespace

static void startLaterCopy(Buffer_CopyRawToHostFuture_Callback_Args *args) {
  std::unique_ptr<LaterCopy> copy(
      static_cast<LaterCopy *>(args->callback_data));
  if (args->error_code != Error_Code_OK) {
    shardc_event_set(copy->done.get(),
                     giveError(args->error_code, args->error_message,
                               args->error_message_size));
    return;
  }
  EventHandle copied;
  if (Error *error =
          copyRaw(copy->buffer, args->dst, copy->offset, copy->bytes, copied)) {
    shardc_event_set(
        copy->done.get(),
        giveError(error->code, error->message.data(), error->message.size()));
    delete error;
    return;
  }
  shardc_event_on_ready(
      copied.get(),
      [](shardc_error *error, void *user) {
        std::unique_ptr<LaterCopy> copy(static_cast<LaterCopy *>(user));
        shardc_event_set(copy->done.get(), error);
      },
      copy.release());
}

Error *Buffer_CopyRawToHostFuture(Buffer_CopyRawToHostFuture_Args *args) {
  if (Error *error = checkAlive(*args->buffer, "Buffer_CopyRawToHostFuture"))
    return error;
  shardc_event *event = nullptr;
  if (Error *error = takeError(shardc_event_create(&event)))
    return error;
  EventHandle done = ownEvent(event);
  shardc_buffer *handle = args->buffer->handle.get();
  shardc_buffer_retain(handle);
  args->callback_data =
      new LaterCopy{Buffer(*args->buffer->memory, handle, args->buffer->layout),
                    args->offset, args->transfer_size, done};
  args->future_ready_callback = startLaterCopy;
  args->event = new Event(done);
  return nullptr;
}

static Error *copyTo(const Buffer &buffer, Memory &memory, Buffer *&copy) {
  Device *device = memory.device;
  if (Error *error = checkAlive(buffer, "Buffer_CopyToMemory"))
    return error;
  if (device->client != buffer.device->client)
    return makeError(Error_Code_UNIMPLEMENTED,
                     "copies between clients: go through the host");
  shardc_buffer *handle = nullptr;
  if (Error *error = takeError(shardc_buffer_to_device(
          buffer.handle.get(), device->description.id, &handle)))
    return error;
  copy = new Buffer(memory, handle, buffer.layout);
  if (buffer.type == Buffer_Type_TOKEN)
    copy->becomeToken();
  return nullptr;
}

Error *Buffer_CopyToDevice(Buffer_CopyToDevice_Args *args) {
  return copyTo(*args->buffer, args->dst_device->memory(), args->dst_buffer);
}

Error *Buffer_CopyToMemory(Buffer_CopyToMemory_Args *args) {
  return copyTo(*args->buffer, *args->dst_memory, args->dst_buffer);
}

} // namespace shardc::pjrt
