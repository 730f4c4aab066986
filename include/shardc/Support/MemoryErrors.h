//===- MemoryErrors.h - Errors about memory that is not there ---*- C++ -*-===//
//
// Tools end with a code of its own where memory, a process or a pipe could not
// be had: the program may be right, and the machine had no room for it. What
// says so is an error's code, not its text: a text may hold names that a user
// chose. Errors of the system have the system's code; of diagnostics, the
// metadata says it (Misuse.h).
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_MEMORYERRORS_H
#define SHARDC_SUPPORT_MEMORYERRORS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <system_error>

namespace shardc {

/// The code of an error about memory, a process or a pipe that could not be
/// had, whatever the system's reason is.
inline std::error_code noMemoryCode() {
  return std::make_error_code(std::errc::not_enough_memory);
}

/// Whether an error is about memory, a process or a pipe.
bool isAboutMemory(const llvm::Error &error);

/// The code of the error of a program, such as a linker, that was started and
/// failed: noMemoryCode() where `said`, what it or LLVM said of it, is about
/// memory.
std::error_code codeOfProgram(llvm::StringRef said);

} // namespace shardc

#endif // SHARDC_SUPPORT_MEMORYERRORS_H
