//===- StableHLOBytecode.h - StableHLO in bytecode --------------*- C++ -*-===//
#ifndef SHARDC_LIB_DIALECT_STABLEHLO_IR_STABLEHLOBYTECODE_H
#define SHARDC_LIB_DIALECT_STABLEHLO_IR_STABLEHLOBYTECODE_H

namespace shardc::stablehlo {

class StablehloDialect;

/// Lets `dialect` read and write its attributes and types as StableHLO does.
void addBytecode(StablehloDialect *dialect);

} // namespace shardc::stablehlo

#endif // SHARDC_LIB_DIALECT_STABLEHLO_IR_STABLEHLOBYTECODE_H
