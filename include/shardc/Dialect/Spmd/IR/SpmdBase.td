//===- SpmdBase.td - What all families of ops need ---------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDBASE_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDBASE_TD

include "shardc/Dialect/Spmd/IR/SpmdDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Spmd_Op<string mnemonic, list<Trait> traits = []> : Op<Spmd_Dialect, mnemonic, traits>;

#endif // SHARDC_DIALECT_SPMD_IR_SPMDBASE_TD
