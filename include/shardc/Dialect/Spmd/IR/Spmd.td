//===- Spmd.td - The spmd dialect: the global view ---------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMD_TD
#define SHARDC_DIALECT_SPMD_IR_SPMD_TD

include "shardc/Dialect/Spmd/IR/SpmdGlobal.td"

#endif // SHARDC_DIALECT_SPMD_IR_SPMD_TD
