//===- Local.td - The local dialect ------------------------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCAL_TD
#define SHARDC_DIALECT_LOCAL_IR_LOCAL_TD

include "shardc/Dialect/Local/IR/LocalCommunication.td"
include "shardc/Dialect/Local/IR/LocalValues.td"

#endif // SHARDC_DIALECT_LOCAL_IR_LOCAL_TD
