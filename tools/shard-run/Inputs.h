//===- Inputs.h - The arrays that a program is run on -----------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_INPUTS_H
#define SHARDC_TOOLS_SHARD_RUN_INPUTS_H

#include "HostArray.h"
#include "Options.h"
#include "shardc/Translation/Metadata.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace shardc {

/// "input 2 ([1]['w'])": how errors call a value.
std::string nameOf(llvm::StringRef kind, size_t index,
                   const ValueMetadata &value);

/// An array for each argument of `program`, as `options` say: from files, from
/// the command line, or random. Errors (of files: I/O, of the command line:
/// usage) name the argument, what was found and what was expected. `inPlace`:
/// of files that hold arrays as they are in memory, a part that is not used is
/// not read. `isGiven`: whether an argument comes from elsewhere; it is left
/// empty, and need not be in a file.
llvm::Expected<std::vector<HostArray>>
makeInputs(const ProgramMetadata &program, const RunOptions &options,
           bool inPlace = false,
           llvm::function_ref<bool(size_t)> isGiven = nullptr);

/// Argument number `index` where all are random.
HostArray randomInput(const ProgramMetadata &program, const RunOptions &options,
                      size_t index);

/// The members out0, out1, … of the .npz file at `path`, one for each result.
llvm::Expected<std::vector<HostArray>>
readExpected(const ProgramMetadata &program, llvm::StringRef path);

/// Writes `outputs` as members out0, out1, ….
llvm::Error writeOutputs(llvm::StringRef path,
                         llvm::ArrayRef<HostArray> outputs);

/// The shapes of the given arrays for arguments that have dynamic ones, as
/// StageOptions::shapes; empty if none is given, or for a model in which no `?`
/// stands. What cannot be read is left out here and refused by makeInputs.
std::string shapesOfInputs(const RunOptions &options);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_INPUTS_H
