//===- Devices.h - Devices and topologies of PJRT's C API -------*- C++ -*-===//
#ifndef SHARDC_PJRT_ABI_DEVICES_H
#define SHARDC_PJRT_ABI_DEVICES_H

#include "Types.h"

namespace shardc::pjrt {

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

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_ABI_DEVICES_H
