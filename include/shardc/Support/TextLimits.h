//===- TextLimits.h - Limits on program text --------------------*- C++ -*-===//
//
// MLIR's parser recurses with the nesting of its input and accepts tensors
// whose number of elements overflows. Text is scanned for both before parsing.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_TEXTLIMITS_H
#define SHARDC_SUPPORT_TEXTLIMITS_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace shardc {

/// Deepest nesting of brackets, attributes and regions alike.
inline constexpr size_t kMaxNesting = 256;
/// Most dims of a tensor.
inline constexpr size_t kMaxDims = 16;
/// Longest name, in bytes.
inline constexpr size_t kMaxNameLength = 4096;

/// What is beyond a limit, and where. Lines and columns count from 1.
struct LimitViolation {
  size_t offset;
  unsigned line;
  unsigned column;
  std::string message;
};

/// The first place in `text` that is beyond a limit; nothing if all is well.
/// Knows strings, comments and brackets only: text that passes may still not
/// parse.
std::optional<LimitViolation> checkLimits(llvm::StringRef text);

} // namespace shardc

#endif // SHARDC_SUPPORT_TEXTLIMITS_H
