//===- Abi.h - PJRT's C API, as far as the plugin speaks it -----*- C++ -*-===//
//
// Declared here from the layout of version 0.112, so that the plugin needs no
// header of XLA. Every struct says how many bytes it has, and where its last
// field lies. Opaque types of the API are the plugin's own classes
// (Objects.h). What callers fill in begins with its size, by which versions
// differ; fields that nothing here reads are `void *`.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PJRT_ABI_H
#define SHARDC_PJRT_ABI_H

#include <cstddef>
#include <cstdint>

namespace shardc::pjrt {

inline constexpr int32_t apiMajor = 0;
/// Callers look at this number, not at the size of the table: every function
/// of that version is there.
inline constexpr int32_t apiMinor = 112;

struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct TopologyDescription;
struct Executable;
struct LoadedExecutable;
struct Buffer;
struct AsyncHostToDeviceTransferManager;
struct ExecuteContext;
struct FulfillAliasBufferCallback;
struct Device_Attributes;
struct DeviceAssignmentSerialized;
struct SerializedExecutable;
struct SerializedCompileOptions;
struct SerializedTopology;

enum Extension_Type : int32_t {
  Extension_Type_Profiler = 1,
  Extension_Type_CustomPartitioner = 2,
  Extension_Type_Layouts = 4,
  Extension_Type_Shardings = 19,
};

enum Error_Code : int32_t {
  Error_Code_OK = 0,
  Error_Code_CANCELLED = 1,
  Error_Code_UNKNOWN = 2,
  Error_Code_INVALID_ARGUMENT = 3,
  Error_Code_DEADLINE_EXCEEDED = 4,
  Error_Code_NOT_FOUND = 5,
  Error_Code_ALREADY_EXISTS = 6,
  Error_Code_PERMISSION_DENIED = 7,
  Error_Code_RESOURCE_EXHAUSTED = 8,
  Error_Code_FAILED_PRECONDITION = 9,
  Error_Code_ABORTED = 10,
  Error_Code_OUT_OF_RANGE = 11,
  Error_Code_UNIMPLEMENTED = 12,
  Error_Code_INTERNAL = 13,
  Error_Code_UNAVAILABLE = 14,
  Error_Code_DATA_LOSS = 15,
  Error_Code_UNAUTHENTICATED = 16,
};

enum NamedValue_Type : int32_t {
  NamedValue_Type_String = 0,
  NamedValue_Type_Int64 = 1,
  NamedValue_Type_Int64List = 2,
  NamedValue_Type_Float = 3,
  NamedValue_Type_Bool = 4,
};

enum Buffer_Type : int32_t {
  Buffer_Type_INVALID = 0,
  Buffer_Type_PRED = 1,
  Buffer_Type_S8 = 2,
  Buffer_Type_S16 = 3,
  Buffer_Type_S32 = 4,
  Buffer_Type_S64 = 5,
  Buffer_Type_U8 = 6,
  Buffer_Type_U16 = 7,
  Buffer_Type_U32 = 8,
  Buffer_Type_U64 = 9,
  Buffer_Type_F16 = 10,
  Buffer_Type_F32 = 11,
  Buffer_Type_F64 = 12,
  Buffer_Type_BF16 = 13,
  Buffer_Type_C64 = 14,
  Buffer_Type_C128 = 15,
  Buffer_Type_F8E5M2 = 16,
  Buffer_Type_F8E4M3FN = 17,
  Buffer_Type_F8E4M3B11FNUZ = 18,
  Buffer_Type_F8E5M2FNUZ = 19,
  Buffer_Type_F8E4M3FNUZ = 20,
  Buffer_Type_S4 = 21,
  Buffer_Type_U4 = 22,
  Buffer_Type_TOKEN = 23,
  Buffer_Type_S2 = 24,
  Buffer_Type_U2 = 25,
  Buffer_Type_F8E4M3 = 26,
  Buffer_Type_F8E3M4 = 27,
  Buffer_Type_F8E8M0FNU = 28,
  Buffer_Type_F4E2M1FN = 29,
  Buffer_Type_S1 = 30,
  Buffer_Type_U1 = 31,
};

enum HostBufferSemantics : int32_t {
  HostBufferSemantics_ImmutableOnlyDuringCall = 0,
  HostBufferSemantics_ImmutableUntilTransferCompletes = 1,
  HostBufferSemantics_ImmutableZeroCopy = 2,
  HostBufferSemantics_MutableZeroCopy = 3,
};

enum Buffer_MemoryLayout_Type : int32_t {
  Buffer_MemoryLayout_Type_Tiled = 0,
  Buffer_MemoryLayout_Type_Strides = 1,
};

struct Extension_Base {
  size_t struct_size;
  Extension_Type type;
  Extension_Base *next;
};

/// Takes over the error.
using EventCallback = void (*)(Error *error, void *user_arg);

/// What every struct of arguments begins with.
#define SHARDC_PJRT_HEAD                                                       \
  size_t struct_size;                                                          \
  Extension_Base *extension_start
/// Checks the bytes of a struct, and where its last field is.
#define SHARDC_PJRT_LAYOUT(STRUCT, BYTES, LAST, OFFSET)                        \
  static_assert(sizeof(STRUCT) == (BYTES) && offsetof(STRUCT, LAST) == (OFFSET))

struct Api_Version {
  SHARDC_PJRT_HEAD;
  int32_t major_version;
  int32_t minor_version;
};
SHARDC_PJRT_LAYOUT(Api_Version, 24, minor_version, 20);

struct Error_Destroy_Args {
  SHARDC_PJRT_HEAD;
  Error *error;
};
SHARDC_PJRT_LAYOUT(Error_Destroy_Args, 24, error, 16);

struct Error_Message_Args {
  SHARDC_PJRT_HEAD;
  const Error *error;
  const char *message;
  size_t message_size;
};
SHARDC_PJRT_LAYOUT(Error_Message_Args, 40, message_size, 32);

struct Error_FunctionTable {
  size_t struct_size;
  size_t instance_size;
  Extension_Base *extension_start;
  void (*destroy)(Error *);
  void (*message)(const Error *, const char **, size_t *);
  Error_Code (*get_code)(const Error *);
  void (*for_each_payload)(const Error *, void *, void *);
};
SHARDC_PJRT_LAYOUT(Error_FunctionTable, 56, for_each_payload, 48);

struct Error_GetCode_Args {
  SHARDC_PJRT_HEAD;
  const Error *error;
  Error_Code code;
};
SHARDC_PJRT_LAYOUT(Error_GetCode_Args, 32, code, 24);

struct Error_ForEachPayload_Args {
  SHARDC_PJRT_HEAD;
  const Error *error;
  void *visitor;
  void *user_arg;
};
SHARDC_PJRT_LAYOUT(Error_ForEachPayload_Args, 40, user_arg, 32);

struct NamedValue {
  SHARDC_PJRT_HEAD;
  const char *name;
  size_t name_size;
  NamedValue_Type type;
  union {
    const char *string_value;
    int64_t int64_value;
    const int64_t *int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size;
};
SHARDC_PJRT_LAYOUT(NamedValue, 56, value_size, 48);

struct Plugin_Initialize_Args {
  SHARDC_PJRT_HEAD;
};
SHARDC_PJRT_LAYOUT(Plugin_Initialize_Args, 16, extension_start, 8);

struct Plugin_Attributes_Args {
  SHARDC_PJRT_HEAD;
  const NamedValue *attributes;
  size_t num_attributes;
};
SHARDC_PJRT_LAYOUT(Plugin_Attributes_Args, 32, num_attributes, 24);

struct Event_Destroy_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
};
SHARDC_PJRT_LAYOUT(Event_Destroy_Args, 24, event, 16);

struct Event_IsReady_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
  bool is_ready;
};
SHARDC_PJRT_LAYOUT(Event_IsReady_Args, 32, is_ready, 24);

struct Event_Error_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
};
SHARDC_PJRT_LAYOUT(Event_Error_Args, 24, event, 16);

struct Event_Await_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
};
SHARDC_PJRT_LAYOUT(Event_Await_Args, 24, event, 16);

struct Event_OnReady_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
  EventCallback callback;
  void *user_arg;
};
SHARDC_PJRT_LAYOUT(Event_OnReady_Args, 40, user_arg, 32);

struct Event_Create_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
};
SHARDC_PJRT_LAYOUT(Event_Create_Args, 24, event, 16);

struct Event_Set_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
  Error_Code error_code;
  const char *error_message;
  size_t error_message_size;
};
SHARDC_PJRT_LAYOUT(Event_Set_Args, 48, error_message_size, 40);

struct Memory_FunctionTable {
  SHARDC_PJRT_HEAD;
  size_t instance_struct_size;
  void *(*get_user_data)(Memory *, const void *);
  void (*set_user_data)(Memory *, const void *, void *, void (*)(void *));
};
SHARDC_PJRT_LAYOUT(Memory_FunctionTable, 40, set_user_data, 32);

/// Makes an error for a callback to return.
using CallbackError = Error *(*)(Error_Code code, const char *message,
                                 size_t message_size);

struct KeyValueGetCallback_Args {
  SHARDC_PJRT_HEAD;
  const char *key;
  size_t key_size;
  int timeout_in_ms;
  CallbackError *callback_error;
  void *user_arg;
  char *value;
  size_t value_size;
  void (*value_deleter_callback)(char *value);
};
SHARDC_PJRT_LAYOUT(KeyValueGetCallback_Args, 80, value_deleter_callback, 72);

struct KeyValuePutCallback_Args {
  SHARDC_PJRT_HEAD;
  const char *key;
  size_t key_size;
  const char *value;
  size_t value_size;
  CallbackError *callback_error;
  void *user_arg;
};
SHARDC_PJRT_LAYOUT(KeyValuePutCallback_Args, 64, user_arg, 56);

struct Client_Create_Args {
  SHARDC_PJRT_HEAD;
  const NamedValue *create_options;
  size_t num_options;
  Error *(*kv_get_callback)(KeyValueGetCallback_Args *args);
  void *kv_get_user_arg;
  Error *(*kv_put_callback)(KeyValuePutCallback_Args *args);
  void *kv_put_user_arg;
  Client *client;
  void *kv_try_get_callback;
  void *kv_try_get_user_arg;
};
SHARDC_PJRT_LAYOUT(Client_Create_Args, 88, kv_try_get_user_arg, 80);

struct Client_UpdateGlobalProcessInfo_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  const void *process_infos;
  size_t num_process_infos;
};
SHARDC_PJRT_LAYOUT(Client_UpdateGlobalProcessInfo_Args, 40, num_process_infos,
                   32);

struct Client_Destroy_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
};
SHARDC_PJRT_LAYOUT(Client_Destroy_Args, 24, client, 16);

struct Client_PlatformName_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  const char *platform_name;
  size_t platform_name_size;
};
SHARDC_PJRT_LAYOUT(Client_PlatformName_Args, 40, platform_name_size, 32);

struct Client_ProcessIndex_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  int process_index;
};
SHARDC_PJRT_LAYOUT(Client_ProcessIndex_Args, 32, process_index, 24);

struct Client_PlatformVersion_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  const char *platform_version;
  size_t platform_version_size;
};
SHARDC_PJRT_LAYOUT(Client_PlatformVersion_Args, 40, platform_version_size, 32);

struct Client_TopologyDescription_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  TopologyDescription *topology;
};
SHARDC_PJRT_LAYOUT(Client_TopologyDescription_Args, 32, topology, 24);

struct Client_Devices_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  Device *const *devices;
  size_t num_devices;
};
SHARDC_PJRT_LAYOUT(Client_Devices_Args, 40, num_devices, 32);

struct Client_AddressableDevices_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  Device *const *addressable_devices;
  size_t num_addressable_devices;
};
SHARDC_PJRT_LAYOUT(Client_AddressableDevices_Args, 40, num_addressable_devices,
                   32);

struct Client_LookupDevice_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  int id;
  Device *device;
};
SHARDC_PJRT_LAYOUT(Client_LookupDevice_Args, 40, device, 32);

struct Client_LookupAddressableDevice_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  int local_hardware_id;
  Device *addressable_device;
};
SHARDC_PJRT_LAYOUT(Client_LookupAddressableDevice_Args, 40, addressable_device,
                   32);

struct Client_AddressableMemories_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  Memory *const *addressable_memories;
  size_t num_addressable_memories;
};
SHARDC_PJRT_LAYOUT(Client_AddressableMemories_Args, 40,
                   num_addressable_memories, 32);

struct Program_Args {
  SHARDC_PJRT_HEAD;
  char *code;
  size_t code_size;
  const char *format;
  size_t format_size;
};
SHARDC_PJRT_LAYOUT(Program_Args, 48, format_size, 40);

struct Client_Compile_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  const Program_Args *program;
  const char *compile_options;
  size_t compile_options_size;
  LoadedExecutable *executable;
};
SHARDC_PJRT_LAYOUT(Client_Compile_Args, 56, executable, 48);

struct Client_Load_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  Executable *executable;
  const char *compile_options;
  size_t compile_options_size;
  LoadedExecutable *loaded_executable;
};
SHARDC_PJRT_LAYOUT(Client_Load_Args, 56, loaded_executable, 48);

struct Client_DefaultDeviceAssignment_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  int num_replicas;
  int num_partitions;
  size_t default_assignment_size;
  int *default_assignment;
};
SHARDC_PJRT_LAYOUT(Client_DefaultDeviceAssignment_Args, 48, default_assignment,
                   40);

struct Client_DmaMap_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  void *data;
  size_t size;
};
SHARDC_PJRT_LAYOUT(Client_DmaMap_Args, 40, size, 32);

struct Client_DmaUnmap_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  void *data;
};
SHARDC_PJRT_LAYOUT(Client_DmaUnmap_Args, 32, data, 24);

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

struct DeviceDescription_Id_Args {
  SHARDC_PJRT_HEAD;
  DeviceDescription *device_description;
  int id;
};
SHARDC_PJRT_LAYOUT(DeviceDescription_Id_Args, 32, id, 24);

struct DeviceDescription_ProcessIndex_Args {
  SHARDC_PJRT_HEAD;
  DeviceDescription *device_description;
  int process_index;
};
SHARDC_PJRT_LAYOUT(DeviceDescription_ProcessIndex_Args, 32, process_index, 24);

struct DeviceDescription_Attributes_Args {
  SHARDC_PJRT_HEAD;
  DeviceDescription *device_description;
  size_t num_attributes;
  const NamedValue *attributes;
};
SHARDC_PJRT_LAYOUT(DeviceDescription_Attributes_Args, 40, attributes, 32);

struct DeviceDescription_Kind_Args {
  SHARDC_PJRT_HEAD;
  DeviceDescription *device_description;
  const char *device_kind;
  size_t device_kind_size;
};
SHARDC_PJRT_LAYOUT(DeviceDescription_Kind_Args, 40, device_kind_size, 32);

struct DeviceDescription_DebugString_Args {
  SHARDC_PJRT_HEAD;
  DeviceDescription *device_description;
  const char *debug_string;
  size_t debug_string_size;
};
SHARDC_PJRT_LAYOUT(DeviceDescription_DebugString_Args, 40, debug_string_size,
                   32);

struct DeviceDescription_ToString_Args {
  SHARDC_PJRT_HEAD;
  DeviceDescription *device_description;
  const char *to_string;
  size_t to_string_size;
};
SHARDC_PJRT_LAYOUT(DeviceDescription_ToString_Args, 40, to_string_size, 32);

struct Device_GetDescription_Args {
  SHARDC_PJRT_HEAD;
  Device *device;
  DeviceDescription *device_description;
};
SHARDC_PJRT_LAYOUT(Device_GetDescription_Args, 32, device_description, 24);

struct Device_IsAddressable_Args {
  SHARDC_PJRT_HEAD;
  Device *device;
  bool is_addressable;
};
SHARDC_PJRT_LAYOUT(Device_IsAddressable_Args, 32, is_addressable, 24);

struct Device_LocalHardwareId_Args {
  SHARDC_PJRT_HEAD;
  Device *device;
  int local_hardware_id;
};
SHARDC_PJRT_LAYOUT(Device_LocalHardwareId_Args, 32, local_hardware_id, 24);

struct Device_AddressableMemories_Args {
  SHARDC_PJRT_HEAD;
  Device *device;
  Memory *const *memories;
  size_t num_memories;
};
SHARDC_PJRT_LAYOUT(Device_AddressableMemories_Args, 40, num_memories, 32);

struct Device_DefaultMemory_Args {
  SHARDC_PJRT_HEAD;
  Device *device;
  Memory *memory;
};
SHARDC_PJRT_LAYOUT(Device_DefaultMemory_Args, 32, memory, 24);

struct Device_MemoryStats_Args {
  SHARDC_PJRT_HEAD;
  Device *device;
  int64_t bytes_in_use;
  int64_t peak_bytes_in_use;
  bool peak_bytes_in_use_is_set;
  int64_t num_allocs;
  bool num_allocs_is_set;
  int64_t largest_alloc_size;
  bool largest_alloc_size_is_set;
  int64_t bytes_limit;
  bool bytes_limit_is_set;
  int64_t bytes_reserved;
  bool bytes_reserved_is_set;
  int64_t peak_bytes_reserved;
  bool peak_bytes_reserved_is_set;
  int64_t bytes_reservable_limit;
  bool bytes_reservable_limit_is_set;
  int64_t largest_free_block_bytes;
  bool largest_free_block_bytes_is_set;
  int64_t pool_bytes;
  bool pool_bytes_is_set;
  int64_t peak_pool_bytes;
  bool peak_pool_bytes_is_set;
};
SHARDC_PJRT_LAYOUT(Device_MemoryStats_Args, 192, peak_pool_bytes_is_set, 184);

struct Device_ClearMemoryStats_Args {
  SHARDC_PJRT_HEAD;
  Device *device;
};
SHARDC_PJRT_LAYOUT(Device_ClearMemoryStats_Args, 24, device, 16);

struct Device_GetAttributes_Args {
  SHARDC_PJRT_HEAD;
  Device *device;
  const NamedValue *attributes;
  size_t num_attributes;
  Device_Attributes *device_attributes;
  void (*attributes_deleter)(Device_Attributes *);
};
SHARDC_PJRT_LAYOUT(Device_GetAttributes_Args, 56, attributes_deleter, 48);

struct Memory_Id_Args {
  SHARDC_PJRT_HEAD;
  Memory *memory;
  int id;
};
SHARDC_PJRT_LAYOUT(Memory_Id_Args, 32, id, 24);

struct Memory_Kind_Args {
  SHARDC_PJRT_HEAD;
  Memory *memory;
  const char *kind;
  size_t kind_size;
};
SHARDC_PJRT_LAYOUT(Memory_Kind_Args, 40, kind_size, 32);

struct Memory_Kind_Id_Args {
  SHARDC_PJRT_HEAD;
  Memory *memory;
  int kind_id;
};
SHARDC_PJRT_LAYOUT(Memory_Kind_Id_Args, 32, kind_id, 24);

struct Memory_DebugString_Args {
  SHARDC_PJRT_HEAD;
  Memory *memory;
  const char *debug_string;
  size_t debug_string_size;
};
SHARDC_PJRT_LAYOUT(Memory_DebugString_Args, 40, debug_string_size, 32);

struct Memory_ToString_Args {
  SHARDC_PJRT_HEAD;
  Memory *memory;
  const char *to_string;
  size_t to_string_size;
};
SHARDC_PJRT_LAYOUT(Memory_ToString_Args, 40, to_string_size, 32);

struct Memory_AddressableByDevices_Args {
  SHARDC_PJRT_HEAD;
  Memory *memory;
  Device *const *devices;
  size_t num_devices;
};
SHARDC_PJRT_LAYOUT(Memory_AddressableByDevices_Args, 40, num_devices, 32);

struct ExecuteContext_Create_Args {
  SHARDC_PJRT_HEAD;
  ExecuteContext *context;
};
SHARDC_PJRT_LAYOUT(ExecuteContext_Create_Args, 24, context, 16);

struct ExecuteContext_Destroy_Args {
  SHARDC_PJRT_HEAD;
  ExecuteContext *context;
};
SHARDC_PJRT_LAYOUT(ExecuteContext_Destroy_Args, 24, context, 16);

struct Executable_Destroy_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
};
SHARDC_PJRT_LAYOUT(Executable_Destroy_Args, 24, executable, 16);

struct LoadedExecutable_Destroy_Args {
  SHARDC_PJRT_HEAD;
  LoadedExecutable *executable;
};
SHARDC_PJRT_LAYOUT(LoadedExecutable_Destroy_Args, 24, executable, 16);

struct LoadedExecutable_GetExecutable_Args {
  SHARDC_PJRT_HEAD;
  LoadedExecutable *loaded_executable;
  Executable *executable;
};
SHARDC_PJRT_LAYOUT(LoadedExecutable_GetExecutable_Args, 32, executable, 24);

struct LoadedExecutable_GetDeviceAssignment_Args {
  SHARDC_PJRT_HEAD;
  LoadedExecutable *executable;
  const char *serialized_bytes;
  size_t serialized_bytes_size;
  DeviceAssignmentSerialized *serialized_device_assignment;
  void (*serialized_device_assignment_deleter)(DeviceAssignmentSerialized *);
};
SHARDC_PJRT_LAYOUT(LoadedExecutable_GetDeviceAssignment_Args, 56,
                   serialized_device_assignment_deleter, 48);

struct Executable_Name_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  const char *executable_name;
  size_t executable_name_size;
};
SHARDC_PJRT_LAYOUT(Executable_Name_Args, 40, executable_name_size, 32);

struct Executable_NumReplicas_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  size_t num_replicas;
};
SHARDC_PJRT_LAYOUT(Executable_NumReplicas_Args, 32, num_replicas, 24);

struct Executable_NumPartitions_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  size_t num_partitions;
};
SHARDC_PJRT_LAYOUT(Executable_NumPartitions_Args, 32, num_partitions, 24);

struct LogicalDeviceIds {
  int replica;
  int partition;
};
SHARDC_PJRT_LAYOUT(LogicalDeviceIds, 8, partition, 4);

struct LoadedExecutable_AddressableDevices_Args {
  SHARDC_PJRT_HEAD;
  LoadedExecutable *executable;
  Device *const *addressable_devices;
  size_t num_addressable_devices;
};
SHARDC_PJRT_LAYOUT(LoadedExecutable_AddressableDevices_Args, 40,
                   num_addressable_devices, 32);

struct LoadedExecutable_AddressableDeviceLogicalIds_Args {
  SHARDC_PJRT_HEAD;
  LoadedExecutable *executable;
  LogicalDeviceIds *addressable_device_logical_ids;
  size_t num_addressable_device_logical_ids;
};
SHARDC_PJRT_LAYOUT(LoadedExecutable_AddressableDeviceLogicalIds_Args, 40,
                   num_addressable_device_logical_ids, 32);

struct Executable_OptimizedProgram_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  Program_Args *program;
};
SHARDC_PJRT_LAYOUT(Executable_OptimizedProgram_Args, 32, program, 24);

struct LoadedExecutable_Delete_Args {
  SHARDC_PJRT_HEAD;
  LoadedExecutable *executable;
};
SHARDC_PJRT_LAYOUT(LoadedExecutable_Delete_Args, 24, executable, 16);

struct LoadedExecutable_IsDeleted_Args {
  SHARDC_PJRT_HEAD;
  LoadedExecutable *executable;
  bool is_deleted;
};
SHARDC_PJRT_LAYOUT(LoadedExecutable_IsDeleted_Args, 32, is_deleted, 24);

struct ExecuteOptions {
  SHARDC_PJRT_HEAD;
  void **send_callbacks;
  void **recv_callbacks;
  size_t num_send_ops;
  size_t num_recv_ops;
  int launch_id;
  const int64_t *non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
  ExecuteContext *context;
  const char *call_location;
  size_t num_tasks;
  int *task_ids;
  int64_t *incarnation_ids;
  void *multi_slice_config;
  bool use_major_to_minor_data_layout_for_callbacks;
  void *hlo_output_callbacks;
  size_t num_hlo_output_callbacks;
};
SHARDC_PJRT_LAYOUT(ExecuteOptions, 144, num_hlo_output_callbacks, 136);

struct LoadedExecutable_Execute_Args {
  SHARDC_PJRT_HEAD;
  LoadedExecutable *executable;
  ExecuteOptions *options;
  Buffer *const *const *argument_lists;
  size_t num_devices;
  size_t num_args;
  Buffer **const *output_lists;
  Event **device_complete_events;
  Device *execute_device;
};
SHARDC_PJRT_LAYOUT(LoadedExecutable_Execute_Args, 80, execute_device, 72);

struct Executable_NumOutputs_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  size_t num_outputs;
};
SHARDC_PJRT_LAYOUT(Executable_NumOutputs_Args, 32, num_outputs, 24);

struct Executable_SizeOfGeneratedCodeInBytes_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  int64_t size_in_bytes;
};
SHARDC_PJRT_LAYOUT(Executable_SizeOfGeneratedCodeInBytes_Args, 32,
                   size_in_bytes, 24);

struct Executable_Fingerprint_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  const char *executable_fingerprint;
  size_t executable_fingerprint_size;
};
SHARDC_PJRT_LAYOUT(Executable_Fingerprint_Args, 40, executable_fingerprint_size,
                   32);

struct Executable_GetCostAnalysis_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  size_t num_properties;
  const NamedValue *properties;
};
SHARDC_PJRT_LAYOUT(Executable_GetCostAnalysis_Args, 40, properties, 32);

struct Executable_GetCompiledMemoryStats_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  int64_t generated_code_size_in_bytes;
  int64_t argument_size_in_bytes;
  int64_t output_size_in_bytes;
  int64_t alias_size_in_bytes;
  int64_t temp_size_in_bytes;
  int64_t host_generated_code_size_in_bytes;
  int64_t host_argument_size_in_bytes;
  int64_t host_output_size_in_bytes;
  int64_t host_alias_size_in_bytes;
  int64_t host_temp_size_in_bytes;
  int64_t peak_memory_in_bytes;
  int64_t total_size_in_bytes;
  int64_t total_allocation_bytes;
  int64_t indefinite_allocations;
  int64_t peak_unpadded_heap_bytes;
};
SHARDC_PJRT_LAYOUT(Executable_GetCompiledMemoryStats_Args, 144,
                   peak_unpadded_heap_bytes, 136);

struct Executable_OutputElementTypes_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  Buffer_Type *output_types;
  size_t num_output_types;
};
SHARDC_PJRT_LAYOUT(Executable_OutputElementTypes_Args, 40, num_output_types,
                   32);

struct Executable_OutputDimensions_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  size_t num_outputs;
  const int64_t *dims;
  const size_t *dim_sizes;
};
SHARDC_PJRT_LAYOUT(Executable_OutputDimensions_Args, 48, dim_sizes, 40);

struct Executable_ParameterMemoryKinds_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  size_t num_parameters;
  const char *const *memory_kinds;
  const size_t *memory_kind_sizes;
};
SHARDC_PJRT_LAYOUT(Executable_ParameterMemoryKinds_Args, 48, memory_kind_sizes,
                   40);

struct Executable_OutputMemoryKinds_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  size_t num_outputs;
  const char *const *memory_kinds;
  const size_t *memory_kind_sizes;
};
SHARDC_PJRT_LAYOUT(Executable_OutputMemoryKinds_Args, 48, memory_kind_sizes,
                   40);

struct Executable_Serialize_Args {
  SHARDC_PJRT_HEAD;
  const Executable *executable;
  const char *serialized_bytes;
  size_t serialized_bytes_size;
  SerializedExecutable *serialized_executable;
  void (*serialized_executable_deleter)(SerializedExecutable *);
};
SHARDC_PJRT_LAYOUT(Executable_Serialize_Args, 56, serialized_executable_deleter,
                   48);

struct Executable_GetCompileOptions_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  const char *serialized_bytes;
  size_t serialized_bytes_size;
  SerializedCompileOptions *serialized_compile_options;
  void (*serialized_compile_options_deleter)(SerializedCompileOptions *);
};
SHARDC_PJRT_LAYOUT(Executable_GetCompileOptions_Args, 56,
                   serialized_compile_options_deleter, 48);

struct Executable_DeserializeAndLoad_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  const char *serialized_executable;
  size_t serialized_executable_size;
  LoadedExecutable *loaded_executable;
  const char *overridden_serialized_compile_options;
  size_t overridden_serialized_compile_options_size;
  void *load_options;
};
SHARDC_PJRT_LAYOUT(Executable_DeserializeAndLoad_Args, 72, load_options, 64);

struct LoadedExecutable_Fingerprint_Args {
  SHARDC_PJRT_HEAD;
  LoadedExecutable *executable;
  const char *executable_fingerprint;
  size_t executable_fingerprint_size;
};
SHARDC_PJRT_LAYOUT(LoadedExecutable_Fingerprint_Args, 40,
                   executable_fingerprint_size, 32);

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

struct TopologyDescription_Destroy_Args {
  SHARDC_PJRT_HEAD;
  TopologyDescription *topology;
};
SHARDC_PJRT_LAYOUT(TopologyDescription_Destroy_Args, 24, topology, 16);

struct TopologyDescription_PlatformVersion_Args {
  SHARDC_PJRT_HEAD;
  TopologyDescription *topology;
  const char *platform_version;
  size_t platform_version_size;
};
SHARDC_PJRT_LAYOUT(TopologyDescription_PlatformVersion_Args, 40,
                   platform_version_size, 32);

struct TopologyDescription_PlatformName_Args {
  SHARDC_PJRT_HEAD;
  const TopologyDescription *topology;
  const char *platform_name;
  size_t platform_name_size;
};
SHARDC_PJRT_LAYOUT(TopologyDescription_PlatformName_Args, 40,
                   platform_name_size, 32);

struct TopologyDescription_GetDeviceDescriptions_Args {
  SHARDC_PJRT_HEAD;
  const TopologyDescription *topology;
  DeviceDescription *const *descriptions;
  size_t num_descriptions;
};
SHARDC_PJRT_LAYOUT(TopologyDescription_GetDeviceDescriptions_Args, 40,
                   num_descriptions, 32);

struct TopologyDescription_Serialize_Args {
  SHARDC_PJRT_HEAD;
  TopologyDescription *topology;
  const char *serialized_bytes;
  size_t serialized_bytes_size;
  SerializedTopology *serialized_topology;
  void (*serialized_topology_deleter)(SerializedTopology *);
};
SHARDC_PJRT_LAYOUT(TopologyDescription_Serialize_Args, 56,
                   serialized_topology_deleter, 48);

struct TopologyDescription_Attributes_Args {
  SHARDC_PJRT_HEAD;
  TopologyDescription *topology;
  const NamedValue *attributes;
  size_t num_attributes;
};
SHARDC_PJRT_LAYOUT(TopologyDescription_Attributes_Args, 40, num_attributes, 32);

struct TopologyDescription_Fingerprint_Args {
  SHARDC_PJRT_HEAD;
  const TopologyDescription *topology;
  uint64_t fingerprint;
};
SHARDC_PJRT_LAYOUT(TopologyDescription_Fingerprint_Args, 32, fingerprint, 24);

struct TopologyDescription_GetMemorySpaceKindIds_Args {
  SHARDC_PJRT_HEAD;
  const TopologyDescription *topology;
  const int *memory_space_kind_ids;
  size_t num_memory_space_kind_ids;
};
SHARDC_PJRT_LAYOUT(TopologyDescription_GetMemorySpaceKindIds_Args, 40,
                   num_memory_space_kind_ids, 32);

struct Executable_ParameterShardings_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  size_t num_parameters;
  const char *const *shardings;
  const size_t *sharding_sizes;
};
SHARDC_PJRT_LAYOUT(Executable_ParameterShardings_Args, 48, sharding_sizes, 40);

struct Executable_OutputShardings_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  size_t num_outputs;
  const char *const *shardings;
  const size_t *sharding_sizes;
};
SHARDC_PJRT_LAYOUT(Executable_OutputShardings_Args, 48, sharding_sizes, 40);

struct Shardings_Extension {
  Extension_Base base;
  Error *(*parameterShardings)(Executable_ParameterShardings_Args *);
  Error *(*outputShardings)(Executable_OutputShardings_Args *);
};
SHARDC_PJRT_LAYOUT(Shardings_Extension, 40, outputShardings, 32);

struct Layouts_MemoryLayout;
struct Layouts_SerializedLayout;

struct Layouts_MemoryLayout_Destroy_Args {
  SHARDC_PJRT_HEAD;
  Layouts_MemoryLayout *layout;
};
SHARDC_PJRT_LAYOUT(Layouts_MemoryLayout_Destroy_Args, 24, layout, 16);

struct Layouts_MemoryLayout_Serialize_Args {
  SHARDC_PJRT_HEAD;
  Layouts_MemoryLayout *layout;
  const char *serialized_bytes;
  size_t serialized_bytes_size;
  Layouts_SerializedLayout *serialized_layout;
  void (*serialized_layout_deleter)(Layouts_SerializedLayout *);
};
SHARDC_PJRT_LAYOUT(Layouts_MemoryLayout_Serialize_Args, 56,
                   serialized_layout_deleter, 48);

struct Layouts_Client_GetDefaultLayout_Args {
  SHARDC_PJRT_HEAD;
  Client *client;
  Buffer_Type type;
  const int64_t *dims;
  size_t num_dims;
  Layouts_MemoryLayout *layout;
};
SHARDC_PJRT_LAYOUT(Layouts_Client_GetDefaultLayout_Args, 56, layout, 48);

struct Layouts_Buffer_MemoryLayout_Args {
  SHARDC_PJRT_HEAD;
  Buffer *buffer;
  Layouts_MemoryLayout *layout;
};
SHARDC_PJRT_LAYOUT(Layouts_Buffer_MemoryLayout_Args, 32, layout, 24);

struct Layouts_Topology_GetDefaultLayout_Args {
  SHARDC_PJRT_HEAD;
  TopologyDescription *topology_description;
  Buffer_Type type;
  const int64_t *dims;
  size_t num_dims;
  Layouts_MemoryLayout *layout;
};
SHARDC_PJRT_LAYOUT(Layouts_Topology_GetDefaultLayout_Args, 56, layout, 48);

struct Layouts_Executable_GetOutputLayouts_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  size_t num_outputs;
  Layouts_MemoryLayout *const *layouts;
};
SHARDC_PJRT_LAYOUT(Layouts_Executable_GetOutputLayouts_Args, 40, layouts, 32);

struct Layouts_Executable_GetParameterLayouts_Args {
  SHARDC_PJRT_HEAD;
  Executable *executable;
  size_t num_parameters;
  Layouts_MemoryLayout *const *layouts;
};
SHARDC_PJRT_LAYOUT(Layouts_Executable_GetParameterLayouts_Args, 40, layouts,
                   32);

struct Layouts_Extension {
  Extension_Base base;
  Error *(*destroy)(Layouts_MemoryLayout_Destroy_Args *);
  Error *(*serialize)(Layouts_MemoryLayout_Serialize_Args *);
  Error *(*clientDefault)(Layouts_Client_GetDefaultLayout_Args *);
  Error *(*ofBuffer)(Layouts_Buffer_MemoryLayout_Args *);
  Error *(*topologyDefault)(Layouts_Topology_GetDefaultLayout_Args *);
  Error *(*outputs)(Layouts_Executable_GetOutputLayouts_Args *);
  Error *(*parameters)(Layouts_Executable_GetParameterLayouts_Args *);
};
SHARDC_PJRT_LAYOUT(Layouts_Extension, 80, parameters, 72);

// The profiler has a table and errors of its own.
struct Profiler;
struct Profiler_Error;

struct Profiler_Error_Destroy_Args {
  size_t struct_size;
  void *priv;
  Profiler_Error *error;
};
struct Profiler_Error_Message_Args {
  size_t struct_size;
  void *priv;
  const Profiler_Error *error;
  const char *message;
  size_t message_size;
};
struct Profiler_Error_GetCode_Args {
  size_t struct_size;
  void *priv;
  const Profiler_Error *error;
  Error_Code error_code;
};
struct Profiler_Create_Args {
  size_t struct_size;
  const char *options;
  size_t options_size;
  Profiler *profiler;
};
struct Profiler_Args { ///< of destroy, start and stop
  size_t struct_size;
  Profiler *profiler;
};
struct Profiler_CollectData_Args {
  size_t struct_size;
  Profiler *profiler;
  uint8_t *buffer;
  size_t buffer_size_in_bytes;
};
struct Profiler_Api {
  size_t struct_size;
  void *priv;
  void (*error_destroy)(Profiler_Error_Destroy_Args *);
  void (*error_message)(Profiler_Error_Message_Args *);
  Profiler_Error *(*error_get_code)(Profiler_Error_GetCode_Args *);
  Profiler_Error *(*create)(Profiler_Create_Args *);
  Profiler_Error *(*destroy)(Profiler_Args *);
  Profiler_Error *(*start)(Profiler_Args *);
  Profiler_Error *(*stop)(Profiler_Args *);
  Profiler_Error *(*collect_data)(Profiler_CollectData_Args *);
};
struct Profiler_Extension {
  Extension_Base base;
  const Profiler_Api *api;
  int64_t traceme_context_id;
};
SHARDC_PJRT_LAYOUT(Profiler_Extension, 40, traceme_context_id, 32);

// Who cuts custom calls: structs of bytes, most of them protocol buffers. What
// callers' functions give belongs to `cleanup`.
struct Bytes {
  const char *data;
  size_t size;
};
struct Partitioner_Value {
  Bytes shape;
  bool has_sharding;
  Bytes sharding;
};
struct Partitioner_Head {
  int64_t api_version;
  void *data;
  void (*cleanup)(void *data);
  bool has_error;
  Error_Code code;
  Bytes message;
};
struct Partitioner_Partition_Args {
  Partitioner_Head head;
  size_t num_operands;
  Partitioner_Value *operands;
  Partitioner_Value result;
  Bytes config;
  Bytes module; ///< from here on what is answered
  Bytes *operand_shardings;
  Bytes result_sharding;
};
struct Partitioner_Callbacks {
  int64_t version;
  void *user;
  void (*destroy)(Partitioner_Callbacks *);
  void (*partition)(Partitioner_Callbacks *, Partitioner_Partition_Args *);
  void (*infer)(Partitioner_Callbacks *, void *);
  void (*propagate)(Partitioner_Callbacks *, void *);
  bool canBeReplicated;
};
struct Partitioner_Register_Args {
  size_t struct_size;
  const char *name;
  size_t name_size;
  Partitioner_Callbacks *callbacks;
};
SHARDC_PJRT_LAYOUT(Partitioner_Register_Args, 32, callbacks, 24);
struct Partitioner_RegisterBatch_Args {
  size_t struct_size;
  const char *name;
  size_t name_size;
};
SHARDC_PJRT_LAYOUT(Partitioner_RegisterBatch_Args, 24, name_size, 16);
struct Partitioner_Extension {
  Extension_Base base;
  Error *(*enroll)(Partitioner_Register_Args *);
  Error *(*enrollBatch)(Partitioner_RegisterBatch_Args *);
};
SHARDC_PJRT_LAYOUT(Partitioner_Extension, 40, enrollBatch, 32);

// The functions of the table.
#define SHARDC_PJRT_FUNCTION(NAME) Error *NAME(NAME##_Args *args);
#define SHARDC_PJRT_VOID_FUNCTION(NAME) void NAME(NAME##_Args *args);
#define SHARDC_PJRT_ABSENT(NAME)
#include "Functions.def"
// Those of the extensions.
Error *Executable_ParameterShardings(Executable_ParameterShardings_Args *args);
Error *Executable_OutputShardings(Executable_OutputShardings_Args *args);
Error *Partitioner_Register(Partitioner_Register_Args *args);
Error *Partitioner_RegisterBatch(Partitioner_RegisterBatch_Args *args);
Error *Layouts_MemoryLayout_Destroy(Layouts_MemoryLayout_Destroy_Args *args);
Error *
Layouts_MemoryLayout_Serialize(Layouts_MemoryLayout_Serialize_Args *args);
Error *
Layouts_Client_GetDefaultLayout(Layouts_Client_GetDefaultLayout_Args *args);
Error *Layouts_Buffer_MemoryLayout(Layouts_Buffer_MemoryLayout_Args *args);
Error *
Layouts_Topology_GetDefaultLayout(Layouts_Topology_GetDefaultLayout_Args *args);
Error *Layouts_Executable_GetOutputLayouts(
    Layouts_Executable_GetOutputLayouts_Args *args);
Error *Layouts_Executable_GetParameterLayouts(
    Layouts_Executable_GetParameterLayouts_Args *args);

/// What GetPjrtApi returns: the version, then a pointer for each function.
struct Api {
  SHARDC_PJRT_HEAD;
  Api_Version version;
#define SHARDC_PJRT_FUNCTION(NAME) Error *(*NAME)(NAME##_Args *);
#define SHARDC_PJRT_VOID_FUNCTION(NAME) void (*NAME)(NAME##_Args *);
#define SHARDC_PJRT_ABSENT(NAME) Error *(*NAME)(void *);
#include "Functions.def"
};
SHARDC_PJRT_LAYOUT(Api, 1144, TopologyDescription_GetMemorySpaceKindIds, 1136);

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_ABI_H
