//===- Types.h - What all of PJRT's C API speaks of -------------*- C++ -*-===//
//
// Versions, opaque types, numbers with names, and what every struct begins
// with.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PJRT_ABI_TYPES_H
#define SHARDC_PJRT_ABI_TYPES_H

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

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_ABI_TYPES_H
