//===- Abi.h - PJRT's C API, as far as the plugin speaks it -----*- C++ -*-===//
//
// Declared here from the layout of version 0.112, so that the plugin needs no
// header of XLA: the structs by subject in Abi/, the functions and their table
// below. Every struct says how many bytes it has, and where its last field
// lies. Opaque types of the API are the plugin's own classes (Objects.h). What
// callers fill in begins with its size, by which versions differ; fields that
// nothing here reads are `void *`.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PJRT_ABI_H
#define SHARDC_PJRT_ABI_H

#include "Abi/Buffers.h"
#include "Abi/Clients.h"
#include "Abi/Devices.h"
#include "Abi/Errors.h"
#include "Abi/Executables.h"
#include "Abi/Extensions.h"

namespace shardc::pjrt {

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
