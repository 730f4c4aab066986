//===- AssemblyFormat.h - custom<...> directives of the ops -----*- C++ -*-===//
//
// One parse/print pair for each directive that the .td files name. A parse
// function reports where the text is wrong and returns failure.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_DIALECT_STABLEHLO_IR_ASSEMBLYFORMAT_H
#define SHARDC_LIB_DIALECT_STABLEHLO_IR_ASSEMBLYFORMAT_H

#include "mlir/IR/DialectImplementation.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

namespace shardc::stablehlo {

/// `[1, 2]`
mlir::ParseResult parseIntegers(mlir::AsmParser &parser,
                                llvm::SmallVectorImpl<int64_t> &values);
void printIntegers(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> values);

/// `T` if all types are T, else `(operands) -> result`; the result is last.
mlir::ParseResult parseOneOrFunctionType(mlir::OpAsmParser &parser,
                                         llvm::ArrayRef<mlir::Type *> types);
void printOneOrFunctionType(mlir::OpAsmPrinter &printer,
                            llvm::ArrayRef<mlir::Type> types);

template <typename... Types>
mlir::ParseResult parseSameOperandsAndResultType(mlir::OpAsmParser &parser,
                                                 Types &...types) {
  return parseOneOrFunctionType(parser, {&types...});
}
template <typename... Types>
void printSameOperandsAndResultType(mlir::OpAsmPrinter &printer,
                                    mlir::Operation *, Types... types) {
  printOneOrFunctionType(printer, {mlir::Type(types)...});
}

/// `tensor<4xcomplex<f32>>`, the result's type, where the operands are its
/// parts; else `(T, U) -> V`.
mlir::ParseResult parseComplexOpType(mlir::OpAsmParser &parser, mlir::Type &lhs,
                                     mlir::Type &rhs, mlir::Type &result);
void printComplexOpType(mlir::OpAsmPrinter &printer, mlir::Operation *,
                        mlir::Type lhs, mlir::Type rhs, mlir::Type result);

/// `P, T` where both choices and the result are T; else `(P, T, U) -> V`.
mlir::ParseResult parseSelectOpType(mlir::OpAsmParser &parser, mlir::Type &pred,
                                    mlir::Type &onTrue, mlir::Type &onFalse,
                                    mlir::Type &result);
void printSelectOpType(mlir::OpAsmPrinter &printer, mlir::Operation *,
                       mlir::Type pred, mlir::Type onTrue, mlir::Type onFalse,
                       mlir::Type result);

/// `T, U`: operand types, which are the result types as well.
mlir::ParseResult
parsePairwiseOpType(mlir::OpAsmParser &parser,
                    llvm::SmallVectorImpl<mlir::Type> &operands,
                    llvm::SmallVectorImpl<mlir::Type> &results);
void printPairwiseOpType(mlir::OpAsmPrinter &printer, mlir::Operation *,
                         mlir::TypeRange operands, mlir::TypeRange results);

/// `<HIGHEST>`, in older text `HIGHEST`.
mlir::ParseResult parseAccuracyMode(mlir::AsmParser &parser,
                                    ResultAccuracyMode &mode);
void printAccuracyMode(mlir::AsmPrinter &printer, ResultAccuracyMode mode);

/// `tuple<T, U>`: the result's type, which holds the operands'; in older text
/// `(T, U) -> tuple<T, U>`.
mlir::ParseResult parseTupleOpType(mlir::OpAsmParser &parser,
                                   llvm::SmallVectorImpl<mlir::Type> &operands,
                                   mlir::Type &result);
void printTupleOpType(mlir::OpAsmPrinter &printer, mlir::Operation *,
                      mlir::TypeRange operands, mlir::Type result);

/// `%a, %b,`: operands, each with a comma behind it; may be none.
mlir::ParseResult parseOperandsBeforeAttribute(
    mlir::OpAsmParser &parser,
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &operands);
void printOperandsBeforeAttribute(mlir::OpAsmPrinter &printer,
                                  mlir::Operation *,
                                  mlir::OperandRange operands);

/// `e8m7`
mlir::ParseResult parseExponentMantissa(mlir::OpAsmParser &parser,
                                        mlir::IntegerAttr &exponent,
                                        mlir::IntegerAttr &mantissa);
void printExponentMantissa(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::IntegerAttr exponent,
                           mlir::IntegerAttr mantissa);

/// `[0:8, 1:5:2]`
mlir::ParseResult parseSliceRanges(mlir::OpAsmParser &parser,
                                   mlir::DenseI64ArrayAttr &start,
                                   mlir::DenseI64ArrayAttr &limit,
                                   mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(mlir::OpAsmPrinter &printer, mlir::Operation *,
                      mlir::DenseI64ArrayAttr start,
                      mlir::DenseI64ArrayAttr limit,
                      mlir::DenseI64ArrayAttr strides);

/// An enum's word alone, `GT`.
template <typename AttrT>
mlir::ParseResult parseEnumWord(mlir::OpAsmParser &parser, AttrT &attr) {
  using Value = decltype(attr.getValue());
  mlir::FailureOr<Value> value = mlir::FieldParser<Value>::parse(parser);
  if (failed(value))
    return mlir::failure();
  attr = AttrT::get(parser.getContext(), *value);
  return mlir::success();
}
template <typename AttrT>
void printEnumWord(mlir::OpAsmPrinter &printer, mlir::Operation *, AttrT attr) {
  printer.getStream() << attr.getValue();
}

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1],
/// precision = [DEFAULT, HIGH], algorithm = <...>`; only the second is a must.
mlir::ParseResult parseDotAttributes(mlir::OpAsmParser &parser,
                                     DotDimensionNumbersAttr &dims,
                                     mlir::ArrayAttr &precision,
                                     DotAlgorithmAttr &algorithm);
void printDotAttributes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                        DotDimensionNumbersAttr dims, mlir::ArrayAttr precision,
                        DotAlgorithmAttr algorithm);

/// `[DEFAULT, HIGH]`
mlir::ParseResult parsePrecisions(mlir::OpAsmParser &parser,
                                  mlir::ArrayAttr &precision);
void printPrecisions(mlir::OpAsmPrinter &printer, mlir::Operation *,
                     mlir::ArrayAttr precision);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
mlir::ParseResult parseConvolutionDimensions(mlir::AsmParser &parser,
                                             ConvDimensionNumbersAttr &dims);
void printConvolutionDimensions(mlir::AsmPrinter &printer,
                                ConvDimensionNumbersAttr dims);
void printConvolutionDimensions(mlir::AsmPrinter &printer, mlir::Operation *,
                                ConvDimensionNumbersAttr dims);

/// `stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse =
/// [false]`, each optional, in any order.
mlir::ParseResult parseWindowAttributes(mlir::OpAsmParser &parser,
                                        mlir::DenseI64ArrayAttr &strides,
                                        mlir::DenseIntElementsAttr &padding,
                                        mlir::DenseI64ArrayAttr &lhsDilation,
                                        mlir::DenseI64ArrayAttr &rhsDilation,
                                        mlir::DenseBoolArrayAttr &reversal);
void printWindowAttributes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::DenseI64ArrayAttr strides,
                           mlir::DenseIntElementsAttr padding,
                           mlir::DenseI64ArrayAttr lhsDilation,
                           mlir::DenseI64ArrayAttr rhsDilation,
                           mlir::DenseBoolArrayAttr reversal);

/// `@target`
mlir::ParseResult parseCustomCallTarget(mlir::OpAsmParser &parser,
                                        mlir::StringAttr &target);
void printCustomCallTarget(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::StringAttr target);

} // namespace shardc::stablehlo

#endif // SHARDC_LIB_DIALECT_STABLEHLO_IR_ASSEMBLYFORMAT_H
