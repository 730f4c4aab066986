//===- Carried.h - Models that artifacts carry ------------------*- C++ -*-===//
//
// What an artifact carries beside its code: the model and the options that it
// was compiled with.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DRIVER_CARRIED_H
#define SHARDC_DRIVER_CARRIED_H

#include "shardc/Driver/Model.h"

namespace shardc {

/// All that `options` say of the program, and its `path`, as a line of JSON.
/// The same program has the same line.
std::string printOptions(const ModelOptions &options, llvm::StringRef path);

/// A model with what it was compiled with.
struct CarriedProgram {
  std::string path; ///< as it was given; for diagnostics
  ModelOptions options;
};

/// `options` and the model's text, compressed. The same arguments give the same
/// bytes.
std::string packProgram(llvm::StringRef path, const ModelOptions &options,
                        llvm::StringRef text);
/// Undoes packProgram. The bytes are not trusted.
llvm::Expected<CarriedProgram> unpackProgram(llvm::StringRef packed);

} // namespace shardc

#endif // SHARDC_DRIVER_CARRIED_H
