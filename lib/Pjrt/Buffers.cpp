//===- Buffers.cpp - Arrays on devices ------------------------------------===//
//
// A buffer covers one of the C API's. Types narrower than a byte take a byte
// an element there, as callers hand them over.
//
//===----------------------------------------------------------------------===//
#include "Objects.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace shardc::pjrt {

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct TypeName {
  Buffer_Type type;
  const char *name;    ///< as MLIR spells it
  const char *display; ///< as callers do
};
} // namespace

static constexpr TypeName typeNames[] = {
    {Buffer_Type_PRED, "i1", "pred"},
    {Buffer_Type_S8, "i8", "s8"},
    {Buffer_Type_S16, "i16", "s16"},
    {Buffer_Type_S32, "i32", "s32"},
    {Buffer_Type_S64, "i64", "s64"},
    {Buffer_Type_U8, "ui8", "u8"},
    {Buffer_Type_U16, "ui16", "u16"},
    {Buffer_Type_U32, "ui32", "u32"},
    {Buffer_Type_U64, "ui64", "u64"},
    {Buffer_Type_F16, "f16", "f16"},
    {Buffer_Type_F32, "f32", "f32"},
    {Buffer_Type_F64, "f64", "f64"},
    {Buffer_Type_BF16, "bf16", "bf16"},
    {Buffer_Type_C64, "complex<f32>", "c64"},
    {Buffer_Type_C128, "complex<f64>", "c128"},
    {Buffer_Type_F8E5M2, "f8E5M2", "f8e5m2"},
    {Buffer_Type_F8E4M3FN, "f8E4M3FN", "f8e4m3fn"},
    {Buffer_Type_F8E4M3B11FNUZ, "f8E4M3B11FNUZ", "f8e4m3b11fnuz"},
    {Buffer_Type_F8E5M2FNUZ, "f8E5M2FNUZ", "f8e5m2fnuz"},
    {Buffer_Type_F8E4M3FNUZ, "f8E4M3FNUZ", "f8e4m3fnuz"},
    {Buffer_Type_S4, "i4", "s4"},
    {Buffer_Type_U4, "ui4", "u4"},
    {Buffer_Type_S2, "i2", "s2"},
    {Buffer_Type_U2, "ui2", "u2"},
    {Buffer_Type_F8E4M3, "f8E4M3", "f8e4m3"},
    {Buffer_Type_F8E3M4, "f8E3M4", "f8e3m4"},
    {Buffer_Type_F8E8M0FNU, "f8E8M0FNU", "f8e8m0fnu"},
    {Buffer_Type_F4E2M1FN, "f4E2M1FN", "f4e2m1fn"},
    {Buffer_Type_TOKEN, "", "token"},
    {Buffer_Type_S1, "", "s1"},
    {Buffer_Type_U1, "", "u1"},
};

static constexpr size_t numBufferTypes = Buffer_Type_U1 + 1;

/// The C API's code of each type, by its number.
static const std::array<shardc_element_type, numBufferTypes> &codes() {
  static const auto table = [] {
    std::array<shardc_element_type, numBufferTypes> table = {};
    for (const TypeName &entry : typeNames)
      if (*entry.name)
        table[entry.type] = shardc_element_type_named(entry.name);
    return table;
  }();
  return table;
}

shardc_element_type elementType(Buffer_Type type) {
  return type > 0 && size_t(type) < numBufferTypes ? codes()[type] : 0;
}

Buffer_Type bufferType(shardc_element_type type) {
  for (size_t i = 0; type && i < numBufferTypes; ++i)
    if (codes()[i] == type)
      return Buffer_Type(i);
  return Buffer_Type_INVALID;
}

std::string_view bufferTypeName(Buffer_Type type) {
  for (const TypeName &entry : typeNames)
    if (entry.type == type)
      return entry.display;
  return "no type";
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

Error *byteStrides(const Buffer_MemoryLayout *layout,
                   std::span<const int64_t> dims, int64_t elementBytes,
                   std::vector<int64_t> &strides) {
  size_t rank = dims.size();
  strides.assign(rank, 0);
  if (layout && layout->type == Buffer_MemoryLayout_Type_Strides) {
    if (layout->strides.num_byte_strides != rank)
      return invalid(
          "a layout of " + std::to_string(layout->strides.num_byte_strides) +
          " strides for an array of " + std::to_string(rank) + " dims");
    std::copy_n(layout->strides.byte_strides, rank, strides.begin());
    return nullptr;
  }
  if (layout && layout->tiled.num_tiles)
    return makeError(Error_Code_UNIMPLEMENTED,
                     "layouts in tiles: arrays are dense here");
  if (layout && layout->tiled.minor_to_major_size != rank)
    return invalid("a layout of " +
                   std::to_string(layout->tiled.minor_to_major_size) +
                   " dims for an array of " + std::to_string(rank));
  int64_t stride = elementBytes;
  for (size_t i = 0; i < rank; ++i) {
    int64_t dim =
        layout ? layout->tiled.minor_to_major[i] : int64_t(rank - 1 - i);
    if (dim < 0 || size_t(dim) >= rank || strides[dim])
      return invalid("a layout whose order of dims is no permutation");
    strides[dim] = stride;
    stride *= dims[dim] > 0 ? dims[dim] : 1;
  }
  return nullptr;
}

Error *checkRowMajor(const Buffer_MemoryLayout *layout, size_t numDims) {
  if (!layout)
    return nullptr;
  bool rowMajor = layout->type == Buffer_MemoryLayout_Type_Tiled &&
                  layout->tiled.minor_to_major_size == numDims;
  for (size_t i = 0; rowMajor && i < numDims; ++i)
    rowMajor = layout->tiled.minor_to_major[i] == int64_t(numDims - 1 - i);
  // A tile of one row and one element changes nothing, and is what some write.
  return rowMajor ? nullptr
                  : makeError(Error_Code_UNIMPLEMENTED,
                              "arrays come from the host row by row, in no "
                              "other layout: copy it on the device");
}

//===----------------------------------------------------------------------===//
// Making buffers
//===----------------------------------------------------------------------===//

Buffer::Buffer(Memory &memory, shardc_buffer *buffer,
               Layouts_MemoryLayout *layout)
    : memory(&memory), device(memory.device), handle(buffer),
      type(bufferType(shardc_buffer_element_type(buffer))), layout(layout) {
  dims = {shardc_buffer_dims(buffer), size_t(shardc_buffer_num_dims(buffer))};
  if (!layout)
    return;
  ordered.resize(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    ordered[layout->majorToMinor[i]] = dims[i];
  dims = ordered;
}

void Buffer::becomeToken() {
  type = Buffer_Type_TOKEN;
  dims = {};
  layout = nullptr;
}

Buffer::~Buffer() {
  for (int64_t i = pins; i > 0; --i)
    shardc_buffer_unpin(handle.get());
}

/// Refuses what no array can be.
static Error *checkShape(Buffer_Type type, const int64_t *dims,
                         size_t numDims) {
  if (!elementType(type))
    return makeError(Error_Code_UNIMPLEMENTED,
                     "arrays of type " + std::string(bufferTypeName(type)) +
                         " (" + std::to_string(type) + ") are not supported");
  for (size_t i = 0; i < numDims; ++i)
    if (dims[i] < 0)
      return invalid("a dim of size " + std::to_string(dims[i]));
  return nullptr;
}

namespace {
/// Sets the event of a caller whose memory is not needed any more.
struct Lender {
  EventHandle done;
  static void release(void *user) {
    std::unique_ptr<Lender> lender(static_cast<Lender *>(user));
    shardc_event_set(lender->done.get(), nullptr);
  }
};
} // namespace

Error *Client_BufferFromHostBuffer(Client_BufferFromHostBuffer_Args *args) {
  if (Error *error = checkShape(args->type, args->dims, args->num_dims))
    return error;
  if (Error *error = checkRowMajor(args->device_layout, args->num_dims))
    return error;
  if (args->num_byte_strides && args->num_byte_strides != args->num_dims)
    return invalid(std::to_string(args->num_byte_strides) +
                   " strides for an array of " +
                   std::to_string(args->num_dims) + " dims");
  Memory &memory = memoryOf(args->client, args->device, args->memory);
  shardc_host_data data = {};
  data.size = sizeof(data);
  data.data = args->data;
  data.element_type = elementType(args->type);
  data.num_dims = int64_t(args->num_dims);
  data.dims = args->dims;
  data.byte_strides = args->num_byte_strides ? args->byte_strides : nullptr;
  bool lent =
      args->host_buffer_semantics == HostBufferSemantics_ImmutableZeroCopy ||
      args->host_buffer_semantics == HostBufferSemantics_MutableZeroCopy;
  EventHandle done;
  if (lent) {
    shardc_event *event = nullptr;
    if (Error *error = takeError(shardc_event_create(&event)))
      return error;
    done = ownEvent(event);
    data.semantics = SHARDC_BORROW;
    data.released = Lender::release;
    data.user = new Lender{done};
  }
  shardc_buffer *buffer = nullptr;
  if (Error *error = takeError(shardc_buffer_from_host(
          args->client->engine, memory.device->description.id, &data, &buffer)))
    return error;
  args->done_with_host_buffer = new Event(done);
  args->buffer = new Buffer(memory, buffer);
  return nullptr;
}

Error *
Client_CreateUninitializedBuffer(Client_CreateUninitializedBuffer_Args *args) {
  if (Error *error = checkShape(args->shape_element_type, args->shape_dims,
                                args->shape_num_dims))
    return error;
  if (Error *error = checkRowMajor(args->shape_layout, args->shape_num_dims))
    return error;
  Memory &memory = memoryOf(args->client, args->device, args->memory);
  shardc_buffer *buffer = nullptr;
  if (Error *error = takeError(shardc_buffer_create(
          args->client->engine, memory.device->description.id,
          elementType(args->shape_element_type), int64_t(args->shape_num_dims),
          args->shape_dims, &buffer)))
    return error;
  args->buffer = new Buffer(memory, buffer);
  return nullptr;
}

Error *createLater(Memory &memory, Buffer_Type type, const int64_t *dims,
                   size_t numDims, const Buffer_MemoryLayout *layout,
                   shardc_event *ready, std::unique_ptr<Buffer> &buffer) {
  if (Error *error = checkShape(type, dims, numDims))
    return error;
  if (Error *error = checkRowMajor(layout, numDims))
    return error;
  shardc_buffer *handle = nullptr;
  if (Error *error = takeError(shardc_buffer_create_later(
          memory.device->client->engine, memory.device->description.id,
          elementType(type), int64_t(numDims), dims, ready, &handle)))
    return error;
  buffer = std::make_unique<Buffer>(memory, handle);
  return nullptr;
}

Error *Client_CreateErrorBuffer(Client_CreateErrorBuffer_Args *args) {
  shardc_event *event = nullptr;
  if (Error *error = takeError(shardc_event_create(&event)))
    return error;
  EventHandle ready = ownEvent(event);
  Error_Code code =
      args->error_code == Error_Code_OK ? Error_Code_UNKNOWN : args->error_code;
  shardc_event_set(
      event, giveError(code, args->error_message, args->error_message_size));
  std::unique_ptr<Buffer> buffer;
  if (Error *error =
          createLater(memoryOf(args->client, nullptr, args->memory),
                      args->shape_element_type, args->shape_dims,
                      args->shape_num_dims, args->shape_layout, event, buffer))
    return error;
  args->buffer = buffer.release();
  return nullptr;
}

namespace {
struct View {
  void (*deleted)(void *, void *);
  void *pointer, *user;
  static void release(void *user) {
    std::unique_ptr<View> view(static_cast<View *>(user));
    if (view->deleted)
      view->deleted(view->pointer, view->user);
  }
};
} // namespace

Error *
Client_CreateViewOfDeviceBuffer(Client_CreateViewOfDeviceBuffer_Args *args) {
  if (!args->client->onHost)
    return makeError(Error_Code_UNIMPLEMENTED,
                     "views of a GPU's memory: copy the array to the device");
  if (Error *error = checkShape(args->element_type, args->dims, args->num_dims))
    return error;
  if (Error *error = checkRowMajor(args->layout, args->num_dims))
    return error;
  Memory &memory = memoryOf(args->client, args->device, args->memory);
  shardc_host_data data = {};
  data.size = sizeof(data);
  data.data = args->device_buffer_ptr;
  data.element_type = elementType(args->element_type);
  data.num_dims = int64_t(args->num_dims);
  data.dims = args->dims;
  data.semantics = SHARDC_BORROW;
  data.released = View::release;
  data.user = new View{args->on_delete_callback, args->device_buffer_ptr,
                       args->on_delete_callback_arg};
  shardc_buffer *buffer = nullptr;
  if (Error *error = takeError(shardc_buffer_from_host(
          args->client->engine, memory.device->description.id, &data, &buffer)))
    return error;
  args->buffer = new Buffer(memory, buffer);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Buffers that others stand for
//===----------------------------------------------------------------------===//

/// What fulfils an alias: filled with the elements of another buffer.
struct FulfillAliasBufferCallback {
  BufferHandle alias;
  EventHandle ready;
};

Error *Client_CreateAliasBuffer(Client_CreateAliasBuffer_Args *args) {
  Memory &memory = memoryOf(args->client, nullptr, args->memory);
  if (!args->client->onHost)
    return makeError(Error_Code_UNIMPLEMENTED, "aliases in a GPU's memory");
  shardc_event *event = nullptr;
  if (Error *error = takeError(shardc_event_create(&event)))
    return error;
  EventHandle ready = ownEvent(event);
  std::unique_ptr<Buffer> buffer;
  if (Error *error =
          createLater(memory, args->shape_element_type, args->shape_dims,
                      args->shape_num_dims, args->shape_layout, event, buffer))
    return error;
  shardc_buffer_retain(buffer->handle.get());
  args->fulfill_alias_buffer_cb =
      new FulfillAliasBufferCallback{BufferHandle(buffer->handle.get()), ready};
  args->alias_buffer = buffer.release();
  return nullptr;
}

namespace {
/// A copy that waits for its source.
struct Fulfilment {
  std::unique_ptr<FulfillAliasBufferCallback> alias;
  BufferHandle source;
};
} // namespace

Error *Client_FulfillAliasBuffer(Client_FulfillAliasBuffer_Args *args) {
  if (!args->fulfill_alias_buffer_cb)
    return invalid("no alias to fulfil");
  std::unique_ptr<FulfillAliasBufferCallback> alias(
      args->fulfill_alias_buffer_cb);
  if (args->status_code != Error_Code_OK || !args->buffer) {
    Error_Code code = args->status_code == Error_Code_OK ? Error_Code_INTERNAL
                                                         : args->status_code;
    shardc_event_set(alias->ready.get(), giveError(code, args->error_message,
                                                   args->error_message_size));
    return nullptr;
  }
  shardc_buffer *source = args->buffer->handle.get();
  if (shardc_buffer_bytes(source) != shardc_buffer_bytes(alias->alias.get())) {
    static const char text[] = "an alias is fulfilled by another shape";
    shardc_event_set(alias->ready.get(), giveError(Error_Code_INVALID_ARGUMENT,
                                                   text, sizeof(text) - 1));
    return invalid(text);
  }
  shardc_buffer_retain(source);
  auto *work = new Fulfilment{std::move(alias), BufferHandle(source)};
  EventHandle ready = ownEvent(shardc_buffer_ready(source));
  shardc_event_on_ready(
      ready.get(),
      [](shardc_error *error, void *user) {
        std::unique_ptr<Fulfilment> work(static_cast<Fulfilment *>(user));
        shardc_buffer *source = work->source.get();
        if (!error)
          if (int64_t bytes = shardc_buffer_bytes(source))
            std::memcpy(shardc_buffer_data(work->alias->alias.get()),
                        shardc_buffer_data(source), size_t(bytes));
        shardc_event_set(work->alias->ready.get(), error);
      },
      work);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Asking a buffer
//===----------------------------------------------------------------------===//

Error *Buffer_Destroy(Buffer_Destroy_Args *args) {
  delete args->buffer;
  return nullptr;
}

Error *Buffer_ElementType(Buffer_ElementType_Args *args) {
  args->type = args->buffer->type;
  return nullptr;
}

Error *Buffer_Dimensions(Buffer_Dimensions_Args *args) {
  args->dims = args->buffer->dims.data();
  args->num_dims = args->buffer->dims.size();
  return nullptr;
}

Error *Buffer_UnpaddedDimensions(Buffer_UnpaddedDimensions_Args *args) {
  args->unpadded_dims = args->buffer->dims.data();
  args->num_dims = args->buffer->dims.size();
  return nullptr;
}

Error *
Buffer_DynamicDimensionIndices(Buffer_DynamicDimensionIndices_Args *args) {
  args->dynamic_dim_indices = nullptr;
  args->num_dynamic_dims = 0;
  return nullptr;
}

Error *Buffer_GetMemoryLayout(Buffer_GetMemoryLayout_Args *args) {
  Buffer_MemoryLayout &layout = args->layout;
  std::memset(&layout, 0, sizeof(layout));
  layout.struct_size = sizeof(layout);
  layout.type = Buffer_MemoryLayout_Type_Tiled;
  layout.tiled.struct_size = sizeof(layout.tiled);
  const Buffer &buffer = *args->buffer;
  const std::vector<int64_t> &order =
      (buffer.layout ? buffer.layout : rowMajor(buffer.dims.size()))
          ->minorToMajor;
  layout.tiled.minor_to_major = order.data();
  layout.tiled.minor_to_major_size = order.size();
  return nullptr;
}

Error *Buffer_OnDeviceSizeInBytes(Buffer_OnDeviceSizeInBytes_Args *args) {
  args->on_device_size_in_bytes =
      size_t(shardc_buffer_bytes(args->buffer->handle.get()));
  return nullptr;
}

Error *Buffer_Device(Buffer_Device_Args *args) {
  args->device = args->buffer->device;
  return nullptr;
}

Error *Buffer_Memory(Buffer_Memory_Args *args) {
  args->memory = args->buffer->memory;
  return nullptr;
}

Error *Buffer_Delete(Buffer_Delete_Args *args) {
  shardc_buffer_delete(args->buffer->handle.get());
  return nullptr;
}

Error *Buffer_IsDeleted(Buffer_IsDeleted_Args *args) {
  args->is_deleted = shardc_buffer_is_deleted(args->buffer->handle.get());
  return nullptr;
}

/// Whether callers copy what they read, though it is in the host's memory.
static std::atomic<bool> isEachReadACopy = false;
static thread_local bool isEachReadOfThisThreadACopy = false;

/// Callers look into arrays of the host's memory, and watch over copies alone.
/// With `yes` they learn that arrays are elsewhere: on the calling thread,
/// or `everywhere`.
extern "C" SHARDC_EXPORT void shardc_pjrt_copy_reads(bool everywhere,
                                                     bool yes) {
  if (everywhere)
    isEachReadACopy = yes;
  else
    isEachReadOfThisThreadACopy = yes;
}

Error *Buffer_IsOnCpu(Buffer_IsOnCpu_Args *args) {
  // Arrays of other devices keep what was read of them: to read it again is no
  // copy that anybody watches over.
  args->is_on_cpu = args->buffer->device->client->onHost &&
                    (args->buffer->wasRead ||
                     (!isEachReadACopy && !isEachReadOfThisThreadACopy));
  return nullptr;
}

Error *checkAlive(const Buffer &buffer, const char *call) {
  if (!shardc_buffer_is_deleted(buffer.handle.get()))
    return nullptr;
  return invalid(std::string(call) +
                 ": the buffer has been deleted or donated");
}

Error *Buffer_ReadyEvent(Buffer_ReadyEvent_Args *args) {
  if (Error *error = checkAlive(*args->buffer, "Buffer_ReadyEvent"))
    return error;
  args->event =
      new Event(ownEvent(shardc_buffer_ready(args->buffer->handle.get())));
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Memory of a buffer
//===----------------------------------------------------------------------===//

Error *Buffer_UnsafePointer(Buffer_UnsafePointer_Args *args) {
  if (Error *error = checkAlive(*args->buffer, "Buffer_UnsafePointer"))
    return error;
  args->buffer_pointer = reinterpret_cast<uintptr_t>(
      shardc_buffer_data(args->buffer->handle.get()));
  return nullptr;
}

Error *Buffer_OpaqueDeviceMemoryDataPointer(
    Buffer_OpaqueDeviceMemoryDataPointer_Args *args) {
  if (Error *error =
          checkAlive(*args->buffer, "Buffer_OpaqueDeviceMemoryDataPointer"))
    return error;
  args->device_memory_ptr = shardc_buffer_data(args->buffer->handle.get());
  return nullptr;
}

Error *Buffer_IncreaseExternalReferenceCount(
    Buffer_IncreaseExternalReferenceCount_Args *args) {
  if (Error *error =
          checkAlive(*args->buffer, "Buffer_IncreaseExternalReferenceCount"))
    return error;
  ++args->buffer->pins;
  args->buffer->wasRead = true;
  shardc_buffer_pin(args->buffer->handle.get());
  return nullptr;
}

Error *Buffer_DecreaseExternalReferenceCount(
    Buffer_DecreaseExternalReferenceCount_Args *args) {
  int64_t pins = args->buffer->pins;
  do
    if (pins <= 0)
      return invalid("an external reference is given back that nobody took");
  while (!args->buffer->pins.compare_exchange_weak(pins, pins - 1));
  shardc_buffer_unpin(args->buffer->handle.get());
  return nullptr;
}

} // namespace shardc::pjrt
