//===- UserLocation.h - The user's line behind a location -------*- C++ -*-===//
//
// JAX wraps a source line in names ("jit(f)/dot_general"), call sites (callee
// at caller, the callee innermost) and fusions.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_USERLOCATION_H
#define SHARDC_SUPPORT_USERLOCATION_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>

namespace shardc {

/// Returns "file:line" of the user's code that `loc` stands for: the innermost
/// Python line that is not inside an installed package, else the innermost
/// line of any file, else the outermost name that is no op's (see below), else
/// "unknown".
std::string userLocation(mlir::Location loc);

/// What `userLocation` reads of `loc`, as a location: the line, within the
/// outermost name that is no op's; an unknown location where there is neither.
mlir::Location shortLocation(mlir::Location loc);

/// The op that `loc` was given to, as spmd-name-locations wrote it
/// ("stablehlo.add"), and the location that it had; an empty name and `loc`
/// where nothing says it.
std::pair<llvm::StringRef, mlir::Location> namedOp(mlir::Location loc);

} // namespace shardc

#endif // SHARDC_SUPPORT_USERLOCATION_H
