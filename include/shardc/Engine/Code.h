//===- Code.h - Machine code in this process --------------------*- C++ -*-===//
#ifndef SHARDC_ENGINE_CODE_H
#define SHARDC_ENGINE_CODE_H

#include "shardc/Engine/Failure.h"
#include <string_view>

namespace shardc::engine {

/// Code and data of an object file, linked in place, without a file or
/// another process. Freed with the object.
class Code {
public:
  /// `object` holds position-independent code that calls the runtime and the
  /// C library, and is not looked at later.
  static MaybeFailure load(std::string_view object,
                           std::unique_ptr<Code> &code);
  /// Maps `object`, a shared object, whose code is trusted.
  static MaybeFailure map(std::string_view object, std::unique_ptr<Code> &code);
  ~Code();
  Code(const Code &) = delete;
  Code &operator=(const Code &) = delete;

  /// The address of a symbol that the object defines; null if it does not.
  void *find(const char *symbol) const;

private:
  struct State;
  explicit Code(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace shardc::engine

#endif // SHARDC_ENGINE_CODE_H
