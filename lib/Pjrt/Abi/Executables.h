//===- Executables.h - Programs of PJRT's C API, and their runs -*- C++ -*-===//
#ifndef SHARDC_PJRT_ABI_EXECUTABLES_H
#define SHARDC_PJRT_ABI_EXECUTABLES_H

#include "Clients.h"

namespace shardc::pjrt {

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

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_ABI_EXECUTABLES_H
