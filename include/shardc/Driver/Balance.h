//===- Balance.h - Which sizes of a program are free ------------*- C++ -*-===//
#ifndef SHARDC_DRIVER_BALANCE_H
#define SHARDC_DRIVER_BALANCE_H

#include "shardc/Layout/Balance.h"
#include "shardc/Translation/Metadata.h"

namespace shardc {

/// Chooses sizes of the dims that `program`, which is bound to sizes, was left
/// open in, starting with those. A usage error where there is nothing to
/// choose: one rank, or no dim that is open and cut.
llvm::Expected<Balance> makeBalance(const ProgramMetadata &program);

} // namespace shardc

#endif // SHARDC_DRIVER_BALANCE_H
