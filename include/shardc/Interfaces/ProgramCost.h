//===- ProgramCost.h - What things take where a program runs ----*- C++ -*-===//
#ifndef SHARDC_INTERFACES_PROGRAMCOST_H
#define SHARDC_INTERFACES_PROGRAMCOST_H

#include "mlir/IR/Operation.h"
#include "shardc/Machine/Cost.h"

namespace shardc {

/// Prices on the machine that `op`'s module is compiled for. Its mesh's axes
/// are known by number; a module without exactly one mesh has the links of no
/// axis.
Cost costOn(mlir::Operation *op);

} // namespace shardc

#endif // SHARDC_INTERFACES_PROGRAMCOST_H
