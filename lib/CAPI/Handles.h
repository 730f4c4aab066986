//===- Handles.h - What the C API's handles are -----------------*- C++ -*-===//
//
// Every handle but an error is the object itself. Nothing thrown leaves a
// function: memory that could not be had is an error like others.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_CAPI_HANDLES_H
#define SHARDC_LIB_CAPI_HANDLES_H

#include "shardc-c/shardc.h"
#include "shardc/Engine/Compilation.h"
#include "shardc/Engine/Program.h"
#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

struct shardc_error {
  shardc::engine::Failure failure;
};

namespace shardc::capi {

using namespace shardc::engine;

#define SHARDC_HANDLE(HANDLE, CLASS)                                           \
  inline CLASS *unwrap(HANDLE *handle) {                                       \
    return reinterpret_cast<CLASS *>(handle);                                  \
  }                                                                            \
  inline const CLASS *unwrap(const HANDLE *handle) {                           \
    return reinterpret_cast<const CLASS *>(handle);                            \
  }                                                                            \
  inline HANDLE *wrap(CLASS *object) {                                         \
    return reinterpret_cast<HANDLE *>(object);                                 \
  }
SHARDC_HANDLE(shardc_engine, Engine)
SHARDC_HANDLE(shardc_event, Event)
SHARDC_HANDLE(shardc_buffer, Buffer)
SHARDC_HANDLE(shardc_program, Program)
SHARDC_HANDLE(shardc_compilation, Compilation)

/// The error of what failed, or NULL. Where there is no memory for it: one that
/// is always there.
shardc_error *toError(MaybeFailure failure);
shardc_error *outOfMemory();

/// Does `body`, which returns what failed.
template <typename Body> shardc_error *guarded(Body body) {
  try {
    return toError(body());
  } catch (const std::exception &) {
    return outOfMemory();
  }
}

/// How `function`, which the caller gave, answers calls of the host.
HostCalls hostCalls(shardc_host_fn function, void *user);
/// How it cuts calls.
PartitionFunction partitions(shardc_partition_fn function, void *user);

/// The caller's `given`, which begins with its size, with the defaults for what
/// it does not have. False without a size.
template <typename Struct> bool readStruct(const Struct *given, Struct &read) {
  read = {};
  if (!given)
    return true;
  if (given->size < sizeof(size_t))
    return false;
  std::memcpy(&read, given, std::min(given->size, sizeof(read)));
  return true;
}
/// Writes `from` to the caller's `to`, as far as that goes; false without a
/// size.
template <typename Struct> bool writeStruct(Struct from, Struct *to) {
  size_t size = to->size;
  if (size < sizeof(size_t))
    return false;
  from.size = size;
  std::memcpy(to, &from, std::min(size, sizeof(from)));
  return true;
}

inline MaybeFailure nullArgument(const char *name) {
  return usage(std::string("'") + name + "' is NULL");
}
inline MaybeFailure withoutSize(const char *name) {
  return usage(std::string("'") + name +
               "' has no size: set its first field to sizeof");
}

} // namespace shardc::capi

#endif // SHARDC_LIB_CAPI_HANDLES_H
