//===- Buffers.cpp - Buffers ----------------------------------------------===//

#include "Handles.h"

using namespace shardc::capi;

/// Passes `event` to the caller.
static void giveEvent(Ref<Event> event, shardc_event **to) {
  *to = wrap(event.take());
}

/// Does `copy`, which may be asked for its event.
template <typename Copy>
static shardc_error *copying(shardc_buffer *buffer, shardc_event **done,
                             Copy copy) {
  return guarded([&]() -> MaybeFailure {
    if (done)
      *done = nullptr;
    if (!buffer)
      return nullArgument("buffer");
    Ref<Event> event;
    if (MaybeFailure failure = copy(*unwrap(buffer), done ? &event : nullptr))
      return failure;
    if (done)
      giveEvent(std::move(event), done);
    return nullptr;
  });
}

extern "C" {

void shardc_buffer_retain(shardc_buffer *buffer) {
  if (buffer)
    unwrap(buffer)->retain();
}

void shardc_buffer_release(shardc_buffer *buffer) {
  if (buffer)
    unwrap(buffer)->release();
}

void shardc_buffers_release(shardc_buffer *const *buffers, size_t num_buffers) {
  if (!buffers)
    return;
  for (size_t i = 0; i < num_buffers; ++i)
    shardc_buffer_release(buffers[i]);
}

shardc_error *shardc_buffer_from_host(shardc_engine *engine, int64_t device,
                                      const shardc_host_data *given,
                                      shardc_buffer **buffer) {
  return guarded([&]() -> MaybeFailure {
    shardc_host_data data;
    bool isRead = readStruct(given, data);
    std::function<void()> released;
    if (isRead && data.semantics == SHARDC_BORROW)
      released = [call = data.released, user = data.user] {
        if (call)
          call(user);
      };
    auto refuse = [&](MaybeFailure failure) {
      if (released)
        released();
      return failure;
    };
    if (!isRead || !given)
      return given ? withoutSize("data") : nullArgument("data");
    if (!engine || !buffer)
      return refuse(nullArgument(engine ? "buffer" : "engine"));
    *buffer = nullptr;
    if (data.num_dims < 0 || (data.num_dims > 0 && !data.dims))
      return refuse(usage("'dims' of the data are not there"));
    if (data.semantics != SHARDC_COPY && data.semantics != SHARDC_BORROW)
      return usage("'semantics' is " + std::to_string(data.semantics) +
                   "; expected SHARDC_COPY or SHARDC_BORROW");
    HostLayout layout;
    layout.type = static_cast<ElementType>(data.element_type);
    layout.dims = {data.dims, static_cast<size_t>(data.num_dims)};
    layout.byteStrides = data.byte_strides;
    Ref<Buffer> made;
    if (MaybeFailure failure =
            Buffer::fromHost(*unwrap(engine), device, data.data, layout,
                             std::move(released), made))
      return failure;
    *buffer = wrap(made.take());
    return nullptr;
  });
}

static shardc_error *createBuffer(shardc_engine *engine, int64_t device,
                                  shardc_element_type type, int64_t numDims,
                                  const int64_t *dims, Ref<Event> ready,
                                  shardc_buffer **buffer) {
  return guarded([&]() -> MaybeFailure {
    if (!engine || !buffer)
      return nullArgument(engine ? "buffer" : "engine");
    *buffer = nullptr;
    if (numDims < 0 || (numDims > 0 && !dims))
      return usage("'dims' are not there");
    Ref<Buffer> made;
    if (MaybeFailure failure = Buffer::create(
            *unwrap(engine), device, static_cast<ElementType>(type),
            {dims, static_cast<size_t>(numDims)}, std::move(ready), made))
      return failure;
    *buffer = wrap(made.take());
    return nullptr;
  });
}

shardc_error *shardc_buffer_create(shardc_engine *engine, int64_t device,
                                   shardc_element_type element_type,
                                   int64_t num_dims, const int64_t *dims,
                                   shardc_buffer **buffer) {
  return createBuffer(engine, device, element_type, num_dims, dims, nullptr,
                      buffer);
}

shardc_error *shardc_buffer_create_later(shardc_engine *engine, int64_t device,
                                         shardc_element_type element_type,
                                         int64_t num_dims, const int64_t *dims,
                                         shardc_event *ready,
                                         shardc_buffer **buffer) {
  if (!ready)
    return guarded([] { return nullArgument("ready"); });
  return createBuffer(engine, device, element_type, num_dims, dims,
                      Ref<Event>(unwrap(ready)), buffer);
}

int64_t shardc_buffer_device(const shardc_buffer *buffer) {
  return buffer ? unwrap(buffer)->device.index : -1;
}

shardc_element_type shardc_buffer_element_type(const shardc_buffer *buffer) {
  return buffer ? static_cast<shardc_element_type>(unwrap(buffer)->type) : 0;
}

int64_t shardc_buffer_num_dims(const shardc_buffer *buffer) {
  return buffer ? static_cast<int64_t>(unwrap(buffer)->dims.get().size()) : 0;
}

const int64_t *shardc_buffer_dims(const shardc_buffer *buffer) {
  return buffer ? unwrap(buffer)->dims.get().data() : nullptr;
}

int64_t shardc_buffer_bytes(const shardc_buffer *buffer) {
  return buffer ? unwrap(buffer)->bytes : 0;
}

void *shardc_buffer_data(const shardc_buffer *buffer) {
  return buffer ? unwrap(buffer)->data() : nullptr;
}

shardc_event *shardc_buffer_ready(const shardc_buffer *buffer) {
  return wrap((buffer ? unwrap(buffer)->readyEvent() : Event::ready()).take());
}

void shardc_buffer_delete(shardc_buffer *buffer) {
  if (buffer)
    unwrap(buffer)->erase();
}

bool shardc_buffer_is_deleted(const shardc_buffer *buffer) {
  return !buffer || unwrap(buffer)->isErased();
}

void shardc_buffer_pin(shardc_buffer *buffer) {
  if (buffer)
    unwrap(buffer)->pin();
}

void shardc_buffer_unpin(shardc_buffer *buffer) {
  if (buffer)
    unwrap(buffer)->unpin();
}

shardc_error *shardc_buffer_to_host(shardc_buffer *buffer, void *data,
                                    const int64_t *byte_strides,
                                    shardc_event **done) {
  return copying(buffer, done, [&](Buffer &from, Ref<Event> *event) {
    return from.toHost(data, byte_strides, event);
  });
}

shardc_error *shardc_buffer_bytes_to_host(shardc_buffer *buffer, void *data,
                                          int64_t offset, int64_t bytes,
                                          shardc_event **done) {
  return copying(buffer, done, [&](Buffer &from, Ref<Event> *event) {
    return from.bytesToHost(data, offset, bytes, event);
  });
}

shardc_error *shardc_buffer_to_device(shardc_buffer *buffer, int64_t device,
                                      shardc_buffer **copy) {
  return guarded([&]() -> MaybeFailure {
    if (!buffer || !copy)
      return nullArgument(buffer ? "copy" : "buffer");
    *copy = nullptr;
    Ref<Buffer> made;
    if (MaybeFailure failure = unwrap(buffer)->toDevice(device, made))
      return failure;
    *copy = wrap(made.take());
    return nullptr;
  });
}

} // extern "C"
