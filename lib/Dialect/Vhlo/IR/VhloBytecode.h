//===- VhloBytecode.h - VHLO as it is in bytecode ---------------*- C++ -*-===//
#ifndef SHARDC_LIB_DIALECT_VHLO_IR_VHLOBYTECODE_H
#define SHARDC_LIB_DIALECT_VHLO_IR_VHLOBYTECODE_H

namespace shardc::vhlo {

class VhloDialect;

/// Lets attributes, types and ops of the dialect be read.
void addBytecode(VhloDialect *dialect);

} // namespace shardc::vhlo

#endif // SHARDC_LIB_DIALECT_VHLO_IR_VHLOBYTECODE_H
