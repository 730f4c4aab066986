//===- Library.h - NCCL's functions -----------------------------*- C++ -*-===//
//
// Declared here, since NCCL's headers need not be there; opened at run time.
// Types and numbers are those of NCCL's ABI as of 2.18, which later versions
// keep. Source: NCCL's user guide, "API".
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_NCCL_LIBRARY_H
#define SHARDRT_COMM_NCCL_LIBRARY_H

#include "shardrt/Sites.h"
#include <climits>
#include <cstddef>
#include <optional>
#include <string>

namespace shardrt::nccl {

using Result = int; ///< ncclResult_t
constexpr Result success = 0;
constexpr Result systemError = 2;
constexpr Result remoteError = 6;
constexpr Result inProgress = 7;

using CommHandle = struct Communicator *; ///< ncclComm_t
using StreamHandle = void *;

/// ncclUniqueId: what ranks must share to find one another.
struct UniqueId {
  char bytes[128] = {};
};

/// ncclConfig_t, its part of 2.18: `size` and `version` say how much of it
/// there is, so that later versions fill in the rest.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21801;
  int blocking = INT_MIN; ///< INT_MIN: as NCCL likes
  int cgaClusterSize = INT_MIN;
  int minCTAs = INT_MIN, maxCTAs = INT_MIN;
  const char *netName = nullptr;
  int splitShare = INT_MIN;
};

/// What ncclDataType_t and ncclRedOp_t call what we need of them.
enum DataType : int {
  Int8 = 0,
  Uint8 = 1,
  Int32 = 2,
  Uint32 = 3,
  Int64 = 4,
  Uint64 = 5,
  Float16 = 6,
  Float32 = 7,
  Float64 = 8,
  BFloat16 = 9
};
enum RedOp : int { Sum = 0, Prod = 1, Max = 2, Min = 3 };

/// A reduction as NCCL knows it: of `perElement` numbers of `type` an element.
struct NativeReduction {
  DataType type;
  RedOp op;
  int perElement = 1;
};

/// How NCCL can combine elements of `type`; none where it cannot, or gives
/// other results: a minimum of floating-point numbers drops NaN there.
std::optional<NativeReduction> nativeReduction(ElementType type,
                                               Reduction reduction);

// Name in the library, name here, arguments.
#define SHARDRT_NCCL_FUNCTIONS(F)                                              \
  F(ncclGetVersion, getVersion, (int *))                                       \
  F(ncclGetUniqueId, getUniqueId, (UniqueId *))                                \
  F(ncclCommInitRankConfig, commInitRankConfig,                                \
    (CommHandle *, int, UniqueId, int, Config *))                              \
  F(ncclCommSplit, commSplit, (CommHandle, int, int, CommHandle *, Config *))  \
  F(ncclCommGetAsyncError, commGetAsyncError, (CommHandle, Result *))          \
  F(ncclCommAbort, commAbort, (CommHandle))                                    \
  F(ncclCommDestroy, commDestroy, (CommHandle))                                \
  F(ncclGroupStart, groupStart, ())                                            \
  F(ncclGroupEnd, groupEnd, ())                                                \
  F(ncclSend, send,                                                            \
    (const void *, size_t, int, int, CommHandle, StreamHandle))                \
  F(ncclRecv, recv, (void *, size_t, int, int, CommHandle, StreamHandle))      \
  F(ncclAllGather, allGather,                                                  \
    (const void *, void *, size_t, int, CommHandle, StreamHandle))             \
  F(ncclAllReduce, allReduce,                                                  \
    (const void *, void *, size_t, int, int, CommHandle, StreamHandle))        \
  F(ncclReduceScatter, reduceScatter,                                          \
    (const void *, void *, size_t, int, int, CommHandle, StreamHandle))

/// The library's functions.
struct Library {
#define SHARDRT_NCCL_MEMBER(SYMBOL, NAME, ARGUMENTS)                           \
  Result(*NAME) ARGUMENTS = nullptr;
  SHARDRT_NCCL_FUNCTIONS(SHARDRT_NCCL_MEMBER)
#undef SHARDRT_NCCL_MEMBER
  const char *(*getErrorString)(Result) = nullptr;
  const char *(*getLastError)(CommHandle) = nullptr;

  int version = 0; ///< 21801 for 2.18.1

  /// "remote process exited or there was a network error", and what the library
  /// says beside it.
  std::string nameOf(Result result, CommHandle comm) const;
};

/// The first version whose calls are used, and the first that takes several
/// ranks on one device.
constexpr int leastVersion = 21801, sharedDeviceVersion = 23000;

/// "2.18.1".
std::string versionName(int version);

/// NCCL, opened by the first call of the process: from the path in
/// SHARDRT_NCCL_LIBRARY, else libnccl.so.2. NULL with a reason: it is not
/// there, or too old.
const Library *openLibrary(std::string &error);

} // namespace shardrt::nccl

#endif // SHARDRT_COMM_NCCL_LIBRARY_H
