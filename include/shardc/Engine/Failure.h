//===- Failure.h - Errors as values -----------------------------*- C++ -*-===//
#ifndef SHARDC_ENGINE_FAILURE_H
#define SHARDC_ENGINE_FAILURE_H

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace shardc::engine {

/// What went wrong. The numbers are those of shardc_status.
enum class Status {
  Ok = 0,
  Refused = 1,
  Usage = 2,
  Lost = 4,
  Watchdog = 5,
  Mismatch = 6,
  IO = 7,
  Artifact = 8,
  Memory = 9,
  Internal = 70,
  Unsupported = 77
};

struct Failure {
  Status status = Status::Refused;
  std::string message;
  std::string location; ///< "model.py:84:11"; empty where none is known
};

/// That memory has ended, which takes none to say.
Failure *noMemory();

struct DeleteFailure {
  void operator()(Failure *failure) const {
    if (failure != noMemory())
      delete failure;
  }
};

/// What functions return that can fail: nothing, or what failed.
using MaybeFailure = std::unique_ptr<Failure, DeleteFailure>;

inline MaybeFailure failForMemory() { return MaybeFailure(noMemory()); }

inline MaybeFailure fail(Status status, std::string message,
                         std::string location = {}) {
  return MaybeFailure(
      new Failure{status, std::move(message), std::move(location)});
}
/// Another of `failure`, which may be null.
inline MaybeFailure copyOf(const Failure *failure) {
  return failure ? MaybeFailure(new Failure(*failure)) : nullptr;
}
inline MaybeFailure usage(std::string message) {
  return fail(Status::Usage, std::move(message));
}

} // namespace shardc::engine

#endif // SHARDC_ENGINE_FAILURE_H
