//===- FakeLibraries.h - Stand-ins for libraries ----------------*- C++ -*-===//
//
// The functions of these that shardrt opens, on the host. Addresses may be the
// emulated device's. It holds callers to the libraries' rules:
//
// - What is used was made, is whole, and was not destroyed.
// - Matrices do not overlap themselves; shapes, types and batches agree.
// - An algorithm, configuration or plan is used for what it was found for, with
//   the room it asked for and addresses as aligned as was promised.
// - Engines whose notes say that they round factors, or are different from run
//   to run, are not used; sums are not put together in 16 bits.
// - cuDNN and cuFFT were given a stream.
// - What is room is overwritten, and so are inputs that a library may
// overwrite.
//
// Graphs of products, points and reductions are done op by op, whatever they
// are.
//
// A rule that is broken is said on stderr, and the call fails. At the end of
// the process what was not destroyed is counted. Variables of the environment:
//   FAKE_LIBRARY_LOG=1      a line on stderr for each call that computes
//   FAKE_LIBRARY_REFUSE=1   products, graphs, transforms: none is taken
//   FAKE_LIBRARY_FAIL=1     what computes fails
//   FAKE_CUBLASLT_VERSION, FAKE_CUDNN_VERSION, FAKE_CUFFT_VERSION
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_TEST_FAKELIBRARIES_H
#define SHARDRT_TEST_FAKELIBRARIES_H

#include "Device/Cuda/Libraries.h"
#include "shardrt/Emulated.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {
using namespace shardrt::libraries;

inline bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value && *value != '0';
}

inline size_t versionOf(const char *variable, size_t usual) {
  const char *value = std::getenv(variable);
  return value && *value ? std::strtoul(value, nullptr, 10) : usual;
}

/// Says what rule is broken; `code` is what the call returns.
inline Status broken(Status code, const std::string &rule) {
  std::fprintf(stderr, "fake library: %s\n", rule.c_str());
  return code;
}

inline void logCall(const std::string &text) {
  if (isSet("FAKE_LIBRARY_LOG"))
    std::fprintf(stderr, "fake library: did %s\n", text.c_str());
}

/// Objects that were made and not destroyed, of all kinds.
class Live {
public:
  ~Live() {
    if (!all.empty())
      std::fprintf(stderr, "fake library: %zu objects were not destroyed\n",
                   all.size());
  }
  void *add(void *object) {
    std::lock_guard lock(mutex);
    all.insert(object);
    return object;
  }
  bool has(const void *object) {
    std::lock_guard lock(mutex);
    return all.count(object) != 0;
  }
  bool remove(const void *object) {
    std::lock_guard lock(mutex);
    return all.erase(object) != 0;
  }

private:
  std::mutex mutex;
  std::set<const void *> all;
};

/// What calls return for what was not made, or is destroyed.
constexpr Status unknownObject = 7;

inline Live live;

template <typename T> inline T *toHost(T *address) {
  auto bits = static_cast<int64_t>(reinterpret_cast<uintptr_t>(address));
  if (bits & SHARDRT_EMULATED_TAG)
    bits ^= SHARDRT_EMULATED_TAG;
  return reinterpret_cast<T *>(static_cast<uintptr_t>(bits));
}

inline bool isAligned(const void *address, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(toHost(address)) % bytes == 0;
}

/// Numbers of one type in memory.
enum class Number { F16, BF16, F32, F64 };

inline int64_t bytesOf(Number type) {
  return type == Number::F64 ? 8 : type == Number::F32 ? 4 : 2;
}

inline double load(Number type, const void *base, int64_t index) {
  const char *at = static_cast<const char *>(base) + index * bytesOf(type);
  if (type == Number::F64) {
    double value;
    std::memcpy(&value, at, 8);
    return value;
  }
  if (type == Number::F32) {
    float value;
    std::memcpy(&value, at, 4);
    return value;
  }
  if (type == Number::F16) {
    _Float16 value;
    std::memcpy(&value, at, 2);
    return static_cast<double>(value);
  }
  uint16_t half;
  std::memcpy(&half, at, 2);
  uint32_t bits = uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

inline void store(Number type, void *base, int64_t index, double value) {
  char *at = static_cast<char *>(base) + index * bytesOf(type);
  if (type == Number::F64) {
    std::memcpy(at, &value, 8);
    return;
  }
  auto single = static_cast<float>(value);
  if (type == Number::F32) {
    std::memcpy(at, &single, 4);
    return;
  }
  if (type == Number::F16) {
    auto half = static_cast<_Float16>(single);
    std::memcpy(at, &half, 2);
    return;
  }
  uint32_t bits;
  std::memcpy(&bits, &single, 4);
  // To the nearest, ties to even.
  if (single == single)
    bits += 0x7fff + ((bits >> 16) & 1);
  auto half = static_cast<uint16_t>(bits >> 16);
  std::memcpy(at, &half, 2);
}

inline const char *nameOf(Number type) {
  const char *const names[] = {"f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(type)];
}

template <typename T>
inline Status destroyObject(void *object, const char *what) {
  if (!live.remove(object))
    return broken(unknownObject,
                  std::string(what) + " was not made, or destroyed before");
  delete static_cast<T *>(object);
  return 0;
}
} // namespace fake

#endif // SHARDRT_TEST_FAKELIBRARIES_H
