//===- InputFile.h - Files and pipes that users give ------------*- C++ -*-===//
#ifndef SHARDC_SUPPORT_INPUTFILE_H
#define SHARDC_SUPPORT_INPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdint>

namespace shardc {

/// What is read of a pipe, which does not say how long it is.
struct PipeLimits {
  uint64_t bytes = uint64_t(1) << 30;
  /// How long nothing may come, other than on stdin. 0: for ever.
  int64_t silentMs = 120'000;
};

/// Whether `path` can be read more than once.
bool isStoredFile(llvm::StringRef path);

/// Reads the file or pipe at `path`; stdin for '-'. A directory, a socket, a
/// device (but /dev/null), and what is beyond `limits` is an error that starts
/// with the path.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readInputFile(llvm::StringRef path, bool isText, PipeLimits limits = {});

} // namespace shardc

#endif // SHARDC_SUPPORT_INPUTFILE_H
