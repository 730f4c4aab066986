//===- MachineFile.h - Machines as files ------------------------*- C++ -*-===//
#ifndef SHARDC_DRIVER_MACHINEFILE_H
#define SHARDC_DRIVER_MACHINEFILE_H

#include "shardc/Machine/Machine.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace shardc {

/// Reads what --machine says: a file if it ends in ".json", else a preset with
/// figures (parseMachine). Usage errors for text, errors of files for files;
/// both name the figure.
llvm::Expected<Machine> readMachine(llvm::StringRef option);

/// The same of a file's text, {"preset": "generic", "flops": "100 GFLOP/s",
/// "link": {"latency": "20 us"}, "axes": {"x": {"bandwidth": 1e9}}}: quantities
/// with units, or numbers in SI units. Returns what is wrong, empty if nothing
/// is.
std::string readMachineText(llvm::StringRef text, Machine &machine);

/// The inverse: a file with every figure, its unit and what it means left out.
std::string writeMachineText(const Machine &machine);

} // namespace shardc

#endif // SHARDC_DRIVER_MACHINEFILE_H
