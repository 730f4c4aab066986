//===- Extensions.h - What PJRT's C API has beside its table ----*- C++ -*-===//
#ifndef SHARDC_PJRT_ABI_EXTENSIONS_H
#define SHARDC_PJRT_ABI_EXTENSIONS_H

#include "Types.h"

namespace shardc::pjrt {

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

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_ABI_EXTENSIONS_H
