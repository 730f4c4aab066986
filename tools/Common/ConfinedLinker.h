//===- ConfinedLinker.h - Links what is not trusted -------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_COMMON_CONFINEDLINKER_H
#define SHARDC_TOOLS_COMMON_CONFINEDLINKER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace shardc {

/// Links `object` in a process that can read and compute.
llvm::Expected<std::string> linkConfined(llvm::StringRef object);

/// All bytes of an open file, as far as they can be read.
std::string contentsOf(int file);

} // namespace shardc

#endif // SHARDC_TOOLS_COMMON_CONFINEDLINKER_H
