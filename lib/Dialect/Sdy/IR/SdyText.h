//===- SdyText.h - custom<...> directives of the ops ------------*- C++ -*-===//
#ifndef SHARDC_LIB_DIALECT_SDY_IR_SDYTEXT_H
#define SHARDC_LIB_DIALECT_SDY_IR_SDYTEXT_H

#include "shardc/Dialect/Sdy/IR/Sdy.h"

namespace shardc::sdy {

/// `[<@mesh, [{"x"}]>, <@mesh, [{}]>]`: shardings without their mnemonic.
mlir::ParseResult parseShardings(mlir::AsmParser &parser,
                                 TensorShardingPerValueAttr &shardings);
void printShardings(mlir::AsmPrinter &printer,
                    TensorShardingPerValueAttr shardings);
void printShardings(mlir::OpAsmPrinter &printer, mlir::Operation *,
                    TensorShardingPerValueAttr shardings);

/// `(%a: tensor<4xf32>, %b: tensor<f32>) {...}`
mlir::ParseResult parseRegionWithArguments(mlir::OpAsmParser &parser,
                                           mlir::Region &region);
void printRegionWithArguments(mlir::OpAsmPrinter &printer, mlir::Operation *,
                              mlir::Region &region);

/// `FORWARD`, `BACKWARD`, `BOTH` or `NONE`.
mlir::ParseResult parseDirection(mlir::OpAsmParser &parser,
                                 PropagationDirectionAttr &direction);
void printDirection(mlir::OpAsmPrinter &printer, mlir::Operation *,
                    PropagationDirectionAttr direction);

/// `max`, `min`, `sum` or nothing, which is sum.
mlir::ParseResult parseOptionalReduction(mlir::AsmParser &parser,
                                         ReductionKindAttr &kind);
void printOptionalReduction(mlir::OpAsmPrinter &printer, mlir::Operation *,
                            ReductionKindAttr kind);

} // namespace shardc::sdy

#endif // SHARDC_LIB_DIALECT_SDY_IR_SDYTEXT_H
