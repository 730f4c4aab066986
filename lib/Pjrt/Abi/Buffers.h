//===- Buffers.h - Arrays of PJRT's C API, and transfers --------*- C++ -*-===//
#ifndef SHARDC_PJRT_ABI_BUFFERS_H
#define SHARDC_PJRT_ABI_BUFFERS_H

#include "Types.h"

namespace shardc::pjrt {

struct AsyncHostToDeviceTransferManager_Destroy_Args {
  SHARDC_PJRT_HEAD;
  AsyncHostToDeviceTransferManager *transfer_manager;
};
SHARDC_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_Destroy_Args, 24,
                   transfer_manager, 16);

struct AsyncHostToDeviceTransferManager_TransferData_Args {
  SHARDC_PJRT_HEAD;
  AsyncHostToDeviceTransferManager *transfer_manager;
  int buffer_index;
  const void *data;
  int64_t offset;
  int64_t transfer_size;
  bool is_last_transfer;
  Event *done_with_h2d_transfer;
};
SHARDC_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_TransferData_Args, 72,
                   done_with_h2d_transfer, 64);

struct AsyncHostToDeviceTransferManager_RetrieveBuffer_Args {
  SHARDC_PJRT_HEAD;
  AsyncHostToDeviceTransferManager *transfer_manager;
  int buffer_index;
  Buffer *buffer_out;
};
SHARDC_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_RetrieveBuffer_Args, 40,
                   buffer_out, 32);

struct AsyncHostToDeviceTransferManager_Device_Args {
  SHARDC_PJRT_HEAD;
  AsyncHostToDeviceTransferManager *transfer_manager;
  Device *device_out;
};
SHARDC_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_Device_Args, 32, device_out,
                   24);

struct AsyncHostToDeviceTransferManager_BufferCount_Args {
  SHARDC_PJRT_HEAD;
  AsyncHostToDeviceTransferManager *transfer_manager;
  size_t buffer_count;
};
SHARDC_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_BufferCount_Args, 32,
                   buffer_count, 24);

struct AsyncHostToDeviceTransferManager_BufferSize_Args {
  SHARDC_PJRT_HEAD;
  AsyncHostToDeviceTransferManager *transfer_manager;
  int buffer_index;
  size_t buffer_size;
};
SHARDC_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_BufferSize_Args, 40,
                   buffer_size, 32);

struct AsyncHostToDeviceTransferManager_SetBufferError_Args {
  SHARDC_PJRT_HEAD;
  AsyncHostToDeviceTransferManager *transfer_manager;
  int buffer_index;
  Error_Code error_code;
  const char *error_message;
  size_t error_message_size;
};
SHARDC_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_SetBufferError_Args, 48,
                   error_message_size, 40);

struct AsyncHostToDeviceTransferManager_AddMetadata_Args {
  SHARDC_PJRT_HEAD;
  AsyncHostToDeviceTransferManager *transfer_manager;
  const NamedValue *transfer_metadata;
  size_t num_metadata;
};
SHARDC_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_AddMetadata_Args, 40,
                   num_metadata, 32);

struct Buffer_MemoryLayout_Tiled {
  SHARDC_PJRT_HEAD;
  const int64_t *minor_to_major;
  size_t minor_to_major_size;
  const int64_t *tile_dims;
  const size_t *tile_dim_sizes;
  size_t num_tiles;
};
SHARDC_PJRT_LAYOUT(Buffer_MemoryLayout_Tiled, 56, num_tiles, 48);

struct Buffer_MemoryLayout_Strides {
  SHARDC_PJRT_HEAD;
  const int64_t *byte_strides;
  size_t num_byte_strides;
};
SHARDC_PJRT_LAYOUT(Buffer_MemoryLayout_Strides, 32, num_byte_strides, 24);

struct Buffer_MemoryLayout {
  SHARDC_PJRT_HEAD;
  union {
    Buffer_MemoryLayout_Tiled tiled;
    Buffer_MemoryLayout_Strides strides;
  };
  Buffer_MemoryLayout_Type type;
};
SHARDC_PJRT_LAYOUT(Buffer_MemoryLayout, 80, type, 72);

struct Client_CreateUninitializedBuffer_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  const int64_t *shape_dims;
  size_t shape_num_dims;
  Buffer_Type shape_element_type;
  Buffer_MemoryLayout *shape_layout;
  Device *device;
  Memory *memory;
  Buffer *buffer;
};
SHARDC_PJRT_LAYOUT(Client_CreateUninitializedBuffer_Args, 80, buffer, 72);

struct Client_CreateErrorBuffer_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  Error_Code error_code;
  const char *error_message;
  size_t error_message_size;
  const int64_t *shape_dims;
  size_t shape_num_dims;
  Buffer_Type shape_element_type;
  Buffer_MemoryLayout *shape_layout;
  Memory *memory;
  Buffer *buffer;
  const NamedValue *payload;
  size_t num_payload;
};
SHARDC_PJRT_LAYOUT(Client_CreateErrorBuffer_Args, 112, num_payload, 104);

struct Client_CreateAliasBuffer_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  Memory *memory;
  const int64_t *shape_dims;
  size_t shape_num_dims;
  Buffer_Type shape_element_type;
  Buffer_MemoryLayout *shape_layout;
  Buffer *alias_buffer;
  FulfillAliasBufferCallback *fulfill_alias_buffer_cb;
};
SHARDC_PJRT_LAYOUT(Client_CreateAliasBuffer_Args, 80, fulfill_alias_buffer_cb,
                   72);

struct Client_FulfillAliasBuffer_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  Buffer *buffer;
  Error_Code status_code;
  const char *error_message;
  size_t error_message_size;
  FulfillAliasBufferCallback *fulfill_alias_buffer_cb;
};
SHARDC_PJRT_LAYOUT(Client_FulfillAliasBuffer_Args, 64, fulfill_alias_buffer_cb,
                   56);

struct Client_BufferFromHostBuffer_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  const void *data;
  Buffer_Type type;
  const int64_t *dims;
  size_t num_dims;
  const int64_t *byte_strides;
  size_t num_byte_strides;
  HostBufferSemantics host_buffer_semantics;
  Device *device;
  Memory *memory;
  Buffer_MemoryLayout *device_layout;
  Event *done_with_host_buffer;
  Buffer *buffer;
};
SHARDC_PJRT_LAYOUT(Client_BufferFromHostBuffer_Args, 120, buffer, 112);

struct Client_CreateViewOfDeviceBuffer_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  void *device_buffer_ptr;
  const int64_t *dims;
  size_t num_dims;
  Buffer_Type element_type;
  Buffer_MemoryLayout *layout;
  Device *device;
  void (*on_delete_callback)(void *, void *);
  void *on_delete_callback_arg;
  intptr_t stream;
  Buffer *buffer;
  Memory *memory;
};
SHARDC_PJRT_LAYOUT(Client_CreateViewOfDeviceBuffer_Args, 112, memory, 104);

struct ShapeSpec {
  SHARDC_PJRT_HEAD;
  const int64_t *dims;
  size_t num_dims;
  Buffer_Type element_type;
};
SHARDC_PJRT_LAYOUT(ShapeSpec, 40, element_type, 32);

struct Client_CreateBuffersForAsyncHostToDevice_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  ShapeSpec *shape_specs;
  size_t num_shape_specs;
  Buffer_MemoryLayout **device_layouts;
  size_t num_device_layouts;
  Memory *memory;
  AsyncHostToDeviceTransferManager *transfer_manager;
};
SHARDC_PJRT_LAYOUT(Client_CreateBuffersForAsyncHostToDevice_Args, 72,
                   transfer_manager, 64);

struct Buffer_Destroy_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
};
SHARDC_PJRT_LAYOUT(Buffer_Destroy_Args, 24, buffer, 16);

struct Buffer_ElementType_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  Buffer_Type type;
};
SHARDC_PJRT_LAYOUT(Buffer_ElementType_Args, 32, type, 24);

struct Buffer_Dimensions_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  const int64_t *dims;
  size_t num_dims;
};
SHARDC_PJRT_LAYOUT(Buffer_Dimensions_Args, 40, num_dims, 32);

struct Buffer_UnpaddedDimensions_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  const int64_t *unpadded_dims;
  size_t num_dims;
};
SHARDC_PJRT_LAYOUT(Buffer_UnpaddedDimensions_Args, 40, num_dims, 32);

struct Buffer_DynamicDimensionIndices_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  const size_t *dynamic_dim_indices;
  size_t num_dynamic_dims;
};
SHARDC_PJRT_LAYOUT(Buffer_DynamicDimensionIndices_Args, 40, num_dynamic_dims,
                   32);

struct Buffer_GetMemoryLayout_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  Buffer_MemoryLayout layout;
};
SHARDC_PJRT_LAYOUT(Buffer_GetMemoryLayout_Args, 104, layout, 24);

struct Buffer_ToHostBuffer_Args {
  SHARDC_PJRT_HEAD;
  Buffer *src;
  Buffer_MemoryLayout *host_layout;
  void *dst;
  size_t dst_size;
  Event *event;
};
SHARDC_PJRT_LAYOUT(Buffer_ToHostBuffer_Args, 56, event, 48);

struct Buffer_OnDeviceSizeInBytes_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  size_t on_device_size_in_bytes;
};
SHARDC_PJRT_LAYOUT(Buffer_OnDeviceSizeInBytes_Args, 32, on_device_size_in_bytes,
                   24);

struct Buffer_Delete_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
};
SHARDC_PJRT_LAYOUT(Buffer_Delete_Args, 24, buffer, 16);

struct Buffer_IsDeleted_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  bool is_deleted;
};
SHARDC_PJRT_LAYOUT(Buffer_IsDeleted_Args, 32, is_deleted, 24);

struct Buffer_CopyRawToHost_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  void *dst;
  int64_t offset;
  int64_t transfer_size;
  Event *event;
};
SHARDC_PJRT_LAYOUT(Buffer_CopyRawToHost_Args, 56, event, 48);

struct Buffer_CopyRawToHostFuture_Callback_Args {
  size_t struct_size;
  void *callback_data;
  Error_Code error_code;
  const char *error_message;
  size_t error_message_size;
  void *dst;
};
SHARDC_PJRT_LAYOUT(Buffer_CopyRawToHostFuture_Callback_Args, 48, dst, 40);

struct Buffer_CopyRawToHostFuture_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  int64_t offset;
  int64_t transfer_size;
  Event *event;
  void *callback_data;
  void (*future_ready_callback)(Buffer_CopyRawToHostFuture_Callback_Args *);
};
SHARDC_PJRT_LAYOUT(Buffer_CopyRawToHostFuture_Args, 64, future_ready_callback,
                   56);

struct Buffer_CopyToDevice_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  Device *dst_device;
  Buffer *dst_buffer;
};
SHARDC_PJRT_LAYOUT(Buffer_CopyToDevice_Args, 40, dst_buffer, 32);

struct Buffer_CopyToMemory_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  Memory *dst_memory;
  Buffer *dst_buffer;
};
SHARDC_PJRT_LAYOUT(Buffer_CopyToMemory_Args, 40, dst_buffer, 32);

struct Buffer_IsOnCpu_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  bool is_on_cpu;
};
SHARDC_PJRT_LAYOUT(Buffer_IsOnCpu_Args, 32, is_on_cpu, 24);

struct Buffer_Device_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  Device *device;
};
SHARDC_PJRT_LAYOUT(Buffer_Device_Args, 32, device, 24);

struct Buffer_Memory_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  Memory *memory;
};
SHARDC_PJRT_LAYOUT(Buffer_Memory_Args, 32, memory, 24);

struct Buffer_ReadyEvent_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  Event *event;
};
SHARDC_PJRT_LAYOUT(Buffer_ReadyEvent_Args, 32, event, 24);

struct Buffer_UnsafePointer_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  uintptr_t buffer_pointer;
};
SHARDC_PJRT_LAYOUT(Buffer_UnsafePointer_Args, 32, buffer_pointer, 24);

struct Buffer_IncreaseExternalReferenceCount_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
};
SHARDC_PJRT_LAYOUT(Buffer_IncreaseExternalReferenceCount_Args, 24, buffer, 16);

struct Buffer_DecreaseExternalReferenceCount_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
};
SHARDC_PJRT_LAYOUT(Buffer_DecreaseExternalReferenceCount_Args, 24, buffer, 16);

struct Buffer_OpaqueDeviceMemoryDataPointer_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  void *device_memory_ptr;
};
SHARDC_PJRT_LAYOUT(Buffer_OpaqueDeviceMemoryDataPointer_Args, 32,
                   device_memory_ptr, 24);

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_ABI_BUFFERS_H
