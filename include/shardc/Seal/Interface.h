//===- Interface.h - Which runtime a program calls --------------*- C++ -*-===//
//
// Code and tables of a program fit the runtime that its compiler knew. Both
// have a digest of the headers that say what they tell each other
// (cmake/Interface.cmake): it is in a program's metadata, and no program is
// run by a runtime of another one.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SEAL_INTERFACE_H
#define SHARDC_SEAL_INTERFACE_H

#include <string>
#include <string_view>

namespace shardc {

/// That of this build: 16 hexadecimal digits.
std::string_view runtimeInterface();

/// Why a program with `metadata` cannot be run by this build's runtime, as what
/// follows "it"; empty if it can.
std::string checkInterface(std::string_view metadata);

} // namespace shardc

#endif // SHARDC_SEAL_INTERFACE_H
