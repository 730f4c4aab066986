//===- Clients.h - Clients and what they join, in PJRT's C API --*- C++ -*-===//
#ifndef SHARDC_PJRT_ABI_CLIENTS_H
#define SHARDC_PJRT_ABI_CLIENTS_H

#include "Types.h"

namespace shardc::pjrt {

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

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_ABI_CLIENTS_H
