//===- MachineDialect.h - The machine in the IR -----------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_MACHINE_IR_MACHINEDIALECT_H
#define SHARDC_DIALECT_MACHINE_IR_MACHINEDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "shardc/Machine/Machine.h"

#include "shardc/Dialect/Machine/IR/MachineDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Machine/IR/MachineAttributes.h.inc"

namespace shardc {

/// On a module: the machine that it is compiled for.
inline constexpr llvm::StringLiteral kMachineAttrName = "machine.target";

/// The machine that `op`'s module is compiled for; `generic` where it does not
/// say.
Machine machineOf(mlir::Operation *op);

} // namespace shardc

#endif // SHARDC_DIALECT_MACHINE_IR_MACHINEDIALECT_H
