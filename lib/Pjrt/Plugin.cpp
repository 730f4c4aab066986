//===- Plugin.cpp - The table of functions --------------------------------===//
//
// What is loaded by callers: one function, which returns the table. Each entry
// goes through a door that makes older callers' shorter structs whole, and
// exceptions errors.
//
//===----------------------------------------------------------------------===//
#include "Objects.h"

#include <cstring>
#include <exception>
#include <new>

namespace shardc::pjrt {

//===----------------------------------------------------------------------===//
// The door
//===----------------------------------------------------------------------===//

/// Says so without memory of its own: nobody frees it.
static Error *outOfMemory() {
  static const Error_FunctionTable functions = [] {
    Error_FunctionTable table = *errorFunctions();
    table.destroy = [](Error *) {};
    return table;
  }();
  static Error error = {&functions, Error_Code_RESOURCE_EXHAUSTED,
                        "out of memory"};
  return &error;
}

/// Calls `function` with arguments of this version. A caller of an older one
/// hands over less: what it does not know is 0, and not written back.
template <auto Function, typename Args> static Error *enter(Args *args) {
  try {
    constexpr size_t least = 2 * sizeof(void *);
    if (!args || args->struct_size < least)
      return invalid("a call of PJRT without a struct of arguments");
    // The size may leave out what pads the struct's end.
    if (args->struct_size + alignof(Args) > sizeof(Args))
      return Function(args);
    Args whole;
    std::memset(&whole, 0, sizeof(whole));
    std::memcpy(&whole, args, args->struct_size);
    Error *error = Function(&whole);
    std::memcpy(args, &whole, args->struct_size);
    return error;
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::exception &exception) {
    return makeError(Error_Code_INTERNAL, exception.what());
  }
}

//===----------------------------------------------------------------------===//
// What is not there
//===----------------------------------------------------------------------===//

/// Refuses a function by its name.
static Error *absent(std::string_view name) {
  // JAX asks for topologies of devices that are not there, and knows by these
  // words that there are none.
  std::string what =
      name.ends_with("TopologyDescription_Create")
          ? "topology not implemented, but of the devices there are: "
          : "";
  return makeError(Error_Code_UNIMPLEMENTED,
                   what + "shardc's plugin has no " + std::string(name) +
                       "; docs/Reference/jax.md says what there is");
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static Layouts_Extension layouts = {
    {sizeof(Layouts_Extension), Extension_Type_Layouts, nullptr},
    enter<Layouts_MemoryLayout_Destroy, Layouts_MemoryLayout_Destroy_Args>,
    enter<Layouts_MemoryLayout_Serialize, Layouts_MemoryLayout_Serialize_Args>,
    enter<Layouts_Client_GetDefaultLayout,
          Layouts_Client_GetDefaultLayout_Args>,
    enter<Layouts_Buffer_MemoryLayout, Layouts_Buffer_MemoryLayout_Args>,
    enter<Layouts_Topology_GetDefaultLayout,
          Layouts_Topology_GetDefaultLayout_Args>,
    enter<Layouts_Executable_GetOutputLayouts,
          Layouts_Executable_GetOutputLayouts_Args>,
    enter<Layouts_Executable_GetParameterLayouts,
          Layouts_Executable_GetParameterLayouts_Args>};

static Shardings_Extension shardings = {
    {sizeof(Shardings_Extension), Extension_Type_Shardings, &layouts.base},
    enter<Executable_ParameterShardings, Executable_ParameterShardings_Args>,
    enter<Executable_OutputShardings, Executable_OutputShardings_Args>};

static Partitioner_Extension partitioner = {
    {sizeof(Partitioner_Extension), Extension_Type_CustomPartitioner,
     &shardings.base},
    enter<Partitioner_Register, Partitioner_Register_Args>,
    enter<Partitioner_RegisterBatch, Partitioner_RegisterBatch_Args>};

static Profiler_Extension profiler = {
    {sizeof(Profiler_Extension), Extension_Type_Profiler, &partitioner.base},
    profilerFunctions(),
    0};

static const Api api = {
    sizeof(Api),
    &profiler.base,
    {sizeof(Api_Version), nullptr, apiMajor, apiMinor},
#define SHARDC_PJRT_FUNCTION(NAME) enter<NAME, NAME##_Args>,
#define SHARDC_PJRT_VOID_FUNCTION(NAME) NAME,
#define SHARDC_PJRT_ABSENT(NAME) [](void *) { return absent("PJRT_" #NAME); },
#include "Functions.def"
};

} // namespace shardc::pjrt

extern "C" SHARDC_EXPORT const shardc::pjrt::Api *GetPjrtApi() {
  return &shardc::pjrt::api;
}
