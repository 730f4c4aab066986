//===- MemoryErrors.cpp - Errors about memory that is not there -----------===//
#include "shardc/Support/MemoryErrors.h"

using namespace llvm;
using namespace shardc;

bool shardc::isAboutMemory(const Error &error) {
  bool isOfMemory = false;
  visitErrors(error, [&](const ErrorInfoBase &info) {
    isOfMemory |= info.convertToErrorCode() == noMemoryCode();
  });
  return isOfMemory;
}

std::error_code shardc::codeOfProgram(StringRef said) {
  // Other programs end with the same code whatever they failed at, and LLVM's
  // word on one that it could not start is a text: here words decide. They are
  // those of LLVM, of the C++ library and of the system.
  return said.contains_insensitive("out of memory") ||
                 said.contains("bad_alloc") ||
                 said.contains("Cannot allocate memory")
             ? noMemoryCode()
             : inconvertibleErrorCode();
}
