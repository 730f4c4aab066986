//===- SdyBytecode.h - Shardy's attributes in bytecode ----------*- C++ -*-===//
#ifndef SHARDC_LIB_DIALECT_SDY_IR_SDYBYTECODE_H
#define SHARDC_LIB_DIALECT_SDY_IR_SDYBYTECODE_H

namespace shardc::sdy {

class SdyDialect;

/// Lets `dialect` read and write its attributes as Shardy does.
void addBytecode(SdyDialect *dialect);

} // namespace shardc::sdy

#endif // SHARDC_LIB_DIALECT_SDY_IR_SDYBYTECODE_H
