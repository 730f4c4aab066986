//===- AssemblyFormat.cpp - StableHLO's text ------------------------------===//
//
// What assemblyFormat cannot say: the custom<...> directives and the ops with a
// text of their own (reduce, while).
//
//===----------------------------------------------------------------------===//
#include "AssemblyFormat.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Gives `types` (the result last) what a function type says.
static ParseResult assignFunctionType(OpAsmParser &parser, SMLoc loc,
                                      FunctionType function,
                                      ArrayRef<Type *> types) {
  if (function.getNumInputs() != types.size() - 1 ||
      function.getNumResults() != 1)
    return parser.emitError(loc)
           << "expected " << types.size() - 1
           << " operand types and 1 result type, got "
           << function.getNumInputs() << " and " << function.getNumResults();
  for (auto [slot, type] : llvm::zip(types.drop_back(), function.getInputs()))
    *slot = type;
  *types.back() = function.getResult(0);
  return success();
}

static void printFunctionType(OpAsmPrinter &printer, ArrayRef<Type> types) {
  printer.printFunctionalType(TypeRange(types.drop_back()),
                              TypeRange(types.take_back()));
}

ParseResult stablehlo::parseOneOrFunctionType(OpAsmParser &parser,
                                              ArrayRef<Type *> types) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return assignFunctionType(parser, loc, function, types);
  for (Type *slot : types)
    *slot = type;
  return success();
}

void stablehlo::printOneOrFunctionType(OpAsmPrinter &printer,
                                       ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    printer << types.front();
  else
    printFunctionType(printer, types);
}

/// The tensor of a complex tensor's parts; null if `type` is not one.
static RankedTensorType getPartType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto complex =
      tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  return complex ? tensor.clone(complex.getElementType()) : RankedTensorType();
}

ParseResult stablehlo::parseComplexOpType(OpAsmParser &parser, Type &lhs,
                                          Type &rhs, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return assignFunctionType(parser, loc, function, {&lhs, &rhs, &result});
  result = type;
  lhs = rhs = getPartType(type);
  if (!lhs)
    return parser.emitError(loc)
           << "expected a tensor of complex elements, got " << type;
  return success();
}

void stablehlo::printComplexOpType(OpAsmPrinter &printer, Operation *, Type lhs,
                                   Type rhs, Type result) {
  RankedTensorType part = getPartType(result);
  if (part && lhs == part && rhs == part)
    printer << result;
  else
    printFunctionType(printer, {lhs, rhs, result});
}

ParseResult stablehlo::parseSelectOpType(OpAsmParser &parser, Type &pred,
                                         Type &onTrue, Type &onFalse,
                                         Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return assignFunctionType(parser, loc, function,
                              {&pred, &onTrue, &onFalse, &result});
  pred = type;
  if (parser.parseComma() || parser.parseType(result))
    return failure();
  onTrue = onFalse = result;
  return success();
}

void stablehlo::printSelectOpType(OpAsmPrinter &printer, Operation *, Type pred,
                                  Type onTrue, Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printFunctionType(printer, {pred, onTrue, onFalse, result});
}

ParseResult stablehlo::parsePairwiseOpType(OpAsmParser &parser,
                                           SmallVectorImpl<Type> &operands,
                                           SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  results = operands;
  return success();
}

void stablehlo::printPairwiseOpType(OpAsmPrinter &printer, Operation *,
                                    TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

ParseResult stablehlo::parseTupleOpType(OpAsmParser &parser,
                                        SmallVectorImpl<Type> &operands,
                                        Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  if (auto function = dyn_cast<FunctionType>(result);
      function && function.getNumResults() == 1) {
    llvm::append_range(operands, function.getInputs());
    result = function.getResult(0);
    return success();
  }
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(loc) << "expected a tuple type, got " << result;
  llvm::append_range(operands, tuple.getTypes());
  return success();
}

void stablehlo::printTupleOpType(OpAsmPrinter &printer, Operation *, TypeRange,
                                 Type result) {
  printer << result;
}

//===----------------------------------------------------------------------===//
// Operands and small attributes
//===----------------------------------------------------------------------===//

ParseResult stablehlo::parseOperandsBeforeAttribute(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult found = parser.parseOptionalOperand(operand);
    if (!found.has_value()) {
      // StableHLO prints a comma behind no operands as well.
      if (operands.empty())
        (void)parser.parseOptionalComma();
      return success();
    }
    if (failed(*found) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void stablehlo::printOperandsBeforeAttribute(OpAsmPrinter &printer, Operation *,
                                             OperandRange operands) {
  printer << operands << ',';
}

ParseResult stablehlo::parseExponentMantissa(OpAsmParser &parser,
                                             IntegerAttr &exponent,
                                             IntegerAttr &mantissa) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  StringRef rest = text;
  int32_t exponentBits, mantissaBits;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponentBits) ||
      !rest.consume_front("m") || rest.getAsInteger(10, mantissaBits))
    return parser.emitError(loc)
           << "expected a format such as e8m7, got '" << text << "'";
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}

void stablehlo::printExponentMantissa(OpAsmPrinter &printer, Operation *,
                                      IntegerAttr exponent,
                                      IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

ParseResult stablehlo::parseIntegers(AsmParser &parser,
                                     SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

void stablehlo::printIntegers(AsmPrinter &printer, ArrayRef<int64_t> values) {
  printer << '[';
  llvm::interleaveComma(values, printer);
  printer << ']';
}

ParseResult stablehlo::parseSliceRanges(OpAsmParser &parser,
                                        DenseI64ArrayAttr &start,
                                        DenseI64ArrayAttr &limit,
                                        DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> starts, limits, steps;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            if (parser.parseInteger(starts.emplace_back()) ||
                parser.parseColon() ||
                parser.parseInteger(limits.emplace_back()))
              return failure();
            steps.push_back(1);
            return succeeded(parser.parseOptionalColon())
                       ? parser.parseInteger(steps.back())
                       : ParseResult(success());
          }))
    return failure();
  start = parser.getBuilder().getDenseI64ArrayAttr(starts);
  limit = parser.getBuilder().getDenseI64ArrayAttr(limits);
  strides = parser.getBuilder().getDenseI64ArrayAttr(steps);
  return success();
}

void stablehlo::printSliceRanges(OpAsmPrinter &printer, Operation *,
                                 DenseI64ArrayAttr start,
                                 DenseI64ArrayAttr limit,
                                 DenseI64ArrayAttr strides) {
  printer << '[';
  llvm::interleaveComma(
      llvm::zip(start.asArrayRef(), limit.asArrayRef(), strides.asArrayRef()),
      printer, [&](const auto &range) {
        auto [first, end, step] = range;
        printer << first << ':' << end;
        if (step != 1)
          printer << ':' << step;
      });
  printer << ']';
}

ParseResult stablehlo::parseCustomCallTarget(OpAsmParser &parser,
                                             StringAttr &target) {
  return parser.parseSymbolName(target);
}

void stablehlo::printCustomCallTarget(OpAsmPrinter &printer, Operation *,
                                      StringAttr target) {
  printer.printSymbolName(target.getValue());
}

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

/// `[0] x [1]`
static ParseResult parseDimPair(OpAsmParser &parser,
                                SmallVectorImpl<int64_t> &lhs,
                                SmallVectorImpl<int64_t> &rhs) {
  return failure(parser.parseEqual() || parseIntegers(parser, lhs) ||
                 parser.parseKeyword("x") || parseIntegers(parser, rhs));
}

static void printDimPair(OpAsmPrinter &printer, ArrayRef<int64_t> lhs,
                         ArrayRef<int64_t> rhs) {
  printIntegers(printer, lhs);
  printer << " x ";
  printIntegers(printer, rhs);
}

ParseResult stablehlo::parsePrecisions(OpAsmParser &parser,
                                       ArrayAttr &precision) {
  SmallVector<Attribute> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        PrecisionAttr value;
        ParseResult parsed = parseEnumWord(parser, value);
        values.push_back(value);
        return parsed;
      }))
    return failure();
  precision = parser.getBuilder().getArrayAttr(values);
  return success();
}

void stablehlo::printPrecisions(OpAsmPrinter &printer, Operation *,
                                ArrayAttr precision) {
  printer << '[';
  llvm::interleaveComma(
      precision.getAsRange<PrecisionAttr>(), printer,
      [&](PrecisionAttr value) { printEnumWord(printer, nullptr, value); });
  printer << ']';
}

ParseResult stablehlo::parseDotAttributes(OpAsmParser &parser,
                                          DotDimensionNumbersAttr &dims,
                                          ArrayAttr &precision,
                                          DotAlgorithmAttr &algorithm) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracting, rhsContracting;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parseDimPair(parser, lhsBatch, rhsBatch) || parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") ||
      parseDimPair(parser, lhsContracting, rhsContracting))
    return failure();
  dims = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatch, rhsBatch,
                                      lhsContracting, rhsContracting);
  while (succeeded(parser.parseOptionalComma())) {
    if (!precision && !algorithm &&
        succeeded(parser.parseOptionalKeyword("precision"))) {
      if (parser.parseEqual() || parsePrecisions(parser, precision))
        return failure();
      continue;
    }
    if (algorithm)
      return parser.emitError(parser.getCurrentLocation())
             << "expected nothing more after 'algorithm'";
    if (parser.parseKeyword("algorithm") || parser.parseEqual())
      return failure();
    algorithm = dyn_cast_or_null<DotAlgorithmAttr>(
        DotAlgorithmAttr::parse(parser, Type()));
    if (!algorithm)
      return failure();
  }
  return success();
}

void stablehlo::printDotAttributes(OpAsmPrinter &printer, Operation *op,
                                   DotDimensionNumbersAttr dims,
                                   ArrayAttr precision,
                                   DotAlgorithmAttr algorithm) {
  if (!dims.getLhsBatchingDimensions().empty() ||
      !dims.getRhsBatchingDimensions().empty()) {
    printer << "batching_dims = ";
    printDimPair(printer, dims.getLhsBatchingDimensions(),
                 dims.getRhsBatchingDimensions());
    printer << ", ";
  }
  printer << "contracting_dims = ";
  printDimPair(printer, dims.getLhsContractingDimensions(),
               dims.getRhsContractingDimensions());
  if (precision) {
    printer << ", precision = ";
    printPrecisions(printer, op, precision);
  }
  if (algorithm) {
    printer << ", algorithm = ";
    algorithm.print(printer);
  }
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

/// `[b, 0, 1, f]`: the positions of the two named dims and of spatial dims 0,
/// 1, ... in order.
static ParseResult parseConvolutionDims(AsmParser &parser, StringRef firstName,
                                        StringRef secondName, int64_t &first,
                                        int64_t &second,
                                        SmallVectorImpl<int64_t> &spatial) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<std::pair<int64_t, int64_t>> found; // (spatial number, position)
  int64_t position = 0;
  first = second = -1;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            SMLoc here = parser.getCurrentLocation();
            int64_t number;
            OptionalParseResult isNumber = parser.parseOptionalInteger(number);
            if (isNumber.has_value()) {
              if (failed(*isNumber))
                return failure();
              found.emplace_back(number, position++);
              return success();
            }
            StringRef word;
            if (parser.parseKeyword(&word))
              return failure();
            int64_t *slot = word == firstName    ? &first
                            : word == secondName ? &second
                                                 : nullptr;
            if (!slot || *slot >= 0)
              return parser.emitError(here)
                     << "expected '" << firstName << "', '" << secondName
                     << "' or a spatial dim's number, each once, got '" << word
                     << "'";
            *slot = position++;
            return success();
          }))
    return failure();
  if (first < 0 || second < 0)
    return parser.emitError(loc) << "'" << (first < 0 ? firstName : secondName)
                                 << "' is missing in this list of dims";
  llvm::sort(found);
  for (auto [expected, entry] : llvm::enumerate(found)) {
    if (entry.first != static_cast<int64_t>(expected))
      return parser.emitError(loc) << "expected spatial dims 0 to "
                                   << found.size() - 1 << ", each once";
    spatial.push_back(entry.second);
  }
  return success();
}

ParseResult
stablehlo::parseConvolutionDimensions(AsmParser &parser,
                                      ConvDimensionNumbersAttr &dims) {
  int64_t inputBatch, inputFeature, kernelInput, kernelOutput, outputBatch,
      outputFeature;
  SmallVector<int64_t> inputSpatial, kernelSpatial, outputSpatial;
  SMLoc loc = parser.getCurrentLocation();
  if (parseConvolutionDims(parser, "b", "f", inputBatch, inputFeature,
                           inputSpatial) ||
      parser.parseKeyword("x") ||
      parseConvolutionDims(parser, "i", "o", kernelInput, kernelOutput,
                           kernelSpatial) ||
      parser.parseArrow() ||
      parseConvolutionDims(parser, "b", "f", outputBatch, outputFeature,
                           outputSpatial))
    return failure();
  if (inputSpatial.size() != kernelSpatial.size() ||
      inputSpatial.size() != outputSpatial.size())
    return parser.emitError(loc)
           << "input, kernel and output have different numbers of spatial "
              "dims: "
           << inputSpatial.size() << ", " << kernelSpatial.size() << ", "
           << outputSpatial.size();
  dims = ConvDimensionNumbersAttr::get(
      parser.getContext(), inputBatch, inputFeature, inputSpatial, kernelInput,
      kernelOutput, kernelSpatial, outputBatch, outputFeature, outputSpatial);
  return success();
}

static void printConvolutionDims(AsmPrinter &printer, char firstName,
                                 int64_t first, char secondName, int64_t second,
                                 ArrayRef<int64_t> spatial) {
  printer << '[';
  for (int64_t position = 0, end = spatial.size() + 2; position < end;
       ++position) {
    if (position)
      printer << ", ";
    if (position == first)
      printer << firstName;
    else if (position == second)
      printer << secondName;
    else
      printer << llvm::find(spatial, position) - spatial.begin();
  }
  printer << ']';
}

void stablehlo::printConvolutionDimensions(AsmPrinter &printer,
                                           ConvDimensionNumbersAttr dims) {
  printConvolutionDims(printer, 'b', dims.getInputBatchDimension(), 'f',
                       dims.getInputFeatureDimension(),
                       dims.getInputSpatialDimensions());
  printer << 'x';
  printConvolutionDims(printer, 'i', dims.getKernelInputFeatureDimension(), 'o',
                       dims.getKernelOutputFeatureDimension(),
                       dims.getKernelSpatialDimensions());
  printer << "->";
  printConvolutionDims(printer, 'b', dims.getOutputBatchDimension(), 'f',
                       dims.getOutputFeatureDimension(),
                       dims.getOutputSpatialDimensions());
}

void stablehlo::printConvolutionDimensions(AsmPrinter &printer, Operation *,
                                           ConvDimensionNumbersAttr dims) {
  printConvolutionDimensions(printer, dims);
}

/// `[[1, 1], [0, 2]]` as tensor<2x2xi64>.
static ParseResult parsePadding(OpAsmParser &parser,
                                DenseIntElementsAttr &padding) {
  SmallVector<int64_t> values;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            return failure(parser.parseLSquare() ||
                           parser.parseInteger(values.emplace_back()) ||
                           parser.parseComma() ||
                           parser.parseInteger(values.emplace_back()) ||
                           parser.parseRSquare());
          }))
    return failure();
  auto type =
      RankedTensorType::get({static_cast<int64_t>(values.size() / 2), 2},
                            parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}

ParseResult stablehlo::parseWindowAttributes(OpAsmParser &parser,
                                             DenseI64ArrayAttr &strides,
                                             DenseIntElementsAttr &padding,
                                             DenseI64ArrayAttr &lhsDilation,
                                             DenseI64ArrayAttr &rhsDilation,
                                             DenseBoolArrayAttr &reversal) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&word)))
    return success();
  do {
    if (parser.parseEqual())
      return failure();
    auto parseList = [&](DenseI64ArrayAttr &slot) -> ParseResult {
      if (slot)
        return parser.emitError(loc) << "'" << word << "' is given twice";
      slot = dyn_cast_or_null<DenseI64ArrayAttr>(
          DenseI64ArrayAttr::parse(parser, Type()));
      return success(slot != nullptr);
    };
    ParseResult parsed = failure();
    if (word == "stride") {
      parsed = parseList(strides);
    } else if (word == "lhs_dilate") {
      parsed = parseList(lhsDilation);
    } else if (word == "rhs_dilate") {
      parsed = parseList(rhsDilation);
    } else if (word == "pad" && !padding) {
      parsed = parsePadding(parser, padding);
    } else if (word == "reverse" && !reversal) {
      reversal = dyn_cast_or_null<DenseBoolArrayAttr>(
          DenseBoolArrayAttr::parse(parser, Type()));
      parsed = success(reversal != nullptr);
    } else {
      return parser.emitError(loc)
             << "expected stride, pad, lhs_dilate, rhs_dilate or reverse, each "
                "at most once, got '"
             << word << "'";
    }
    if (failed(parsed))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
    loc = parser.getCurrentLocation();
  } while (succeeded(parser.parseKeyword(&word)));
  return failure();
}

void stablehlo::printWindowAttributes(OpAsmPrinter &printer, Operation *,
                                      DenseI64ArrayAttr strides,
                                      DenseIntElementsAttr padding,
                                      DenseI64ArrayAttr lhsDilation,
                                      DenseI64ArrayAttr rhsDilation,
                                      DenseBoolArrayAttr reversal) {
  StringRef separator;
  auto open = [&](StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
  };
  if (strides) {
    open("stride");
    printIntegers(printer, strides.asArrayRef());
  }
  if (padding) {
    open("pad");
    SmallVector<int64_t> values(padding.getValues<int64_t>());
    printer << '[';
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      printer << (i ? ", [" : "[") << values[i] << ", " << values[i + 1] << ']';
    printer << ']';
  }
  if (lhsDilation) {
    open("lhs_dilate");
    printIntegers(printer, lhsDilation.asArrayRef());
  }
  if (rhsDilation) {
    open("rhs_dilate");
    printIntegers(printer, rhsDilation.asArrayRef());
  }
  if (reversal) {
    open("reverse");
    printer << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer, [&](bool flag) {
      printer << (flag ? "true" : "false");
    });
    printer << ']';
  }
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// `reducer(%x: T, %y: T) (%p: U, %q: U) {...}`; the region's arguments are
/// %x, %p, %y, %q.
static ParseResult parseReducer(OpAsmParser &parser, size_t count,
                                Region &body) {
  SmallVector<OpAsmParser::Argument> accumulators, elements;
  if (parser.parseKeyword("reducer"))
    return failure();
  for (size_t i = 0; i < count; ++i)
    if (parser.parseLParen() ||
        parser.parseArgument(accumulators.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() ||
        parser.parseArgument(elements.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  accumulators.append(elements);
  return parser.parseRegion(body, accumulators);
}

/// True if `name` is an elementwise op of two operands and one result, which
/// `applies` may name.
static bool isBinaryElementwise(OperationName name) {
  return name.hasTrait<ElementwiseTrait>() &&
         name.hasTrait<OpTrait::OneResult>() &&
         name.hasTrait<OpTrait::NOperands<2>::Impl>();
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands, inits;
  do {
    if (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  size_t count = inits.size();
  operands.append(inits);

  std::optional<OperationName> applied;
  SMLoc appliedLoc;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    appliedLoc = parser.getCurrentLocation();
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    if (!isBinaryElementwise(*name))
      return parser.emitError(appliedLoc)
             << "expected an elementwise op of two operands, got '" << *name
             << "'";
    if (count != 1)
      return parser.emitError(appliedLoc)
             << "'applies' is for one operand, got " << count
             << "; give a reducer";
    applied = *name;
  }

  SmallVector<int64_t> dimensions;
  FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") ||
      parser.parseEqual() || parseIntegers(parser, dimensions) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  result.getOrAddProperties<Properties>().dimensions =
      parser.getBuilder().getDenseI64ArrayAttr(dimensions);

  Region &body = *result.addRegion();
  if (!applied)
    return parseReducer(parser, count, body);

  // The op inside has the location of the whole.
  std::optional<Location> given;
  if (parser.parseOptionalLocationSpecifier(given))
    return failure();
  if (given)
    result.location = *given;
  Location inner = given ? *given : parser.getEncodedSourceLoc(appliedLoc);
  auto init = dyn_cast<RankedTensorType>(type.getInput(count));
  if (!init)
    return parser.emitError(loc)
           << "initial value has type " << type.getInput(count)
           << ", expected a tensor of no dims";
  auto scalar = RankedTensorType::get({}, init.getElementType());
  OpBuilder builder(parser.getContext());
  Block *block =
      builder.createBlock(&body, {}, {scalar, scalar}, {inner, inner});
  Operation *op = builder.create(inner, applied->getIdentifier(),
                                 block->getArguments(), scalar);
  ReturnOp::create(builder, inner, op->getResults());
  return success();
}

/// The op that `applies` may name: the body does it to both arguments, in
/// order, and nothing else, all in the type that parsing would give them.
static Operation *getAppliedOp(ReduceOp op) {
  Region &body = op.getBody();
  if (op.getInputs().size() != 1 || op.getInitValues().size() != 1 ||
      !body.hasOneBlock())
    return nullptr;
  Block &block = body.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return nullptr;
  Operation &inner = block.front(), &terminator = block.back();
  auto scalar = RankedTensorType::get(
      {}, getElementTypeOrSelf(op.getInitValues().front().getType()));
  if (!isBinaryElementwise(inner.getName()) || !isa<ReturnOp>(terminator) ||
      !llvm::equal(inner.getOperands(), block.getArguments()) ||
      !llvm::equal(terminator.getOperands(), inner.getResults()) ||
      !inner.getAttrDictionary().empty() ||
      !terminator.getAttrDictionary().empty())
    return nullptr;
  bool oneType = inner.getResult(0).getType() == scalar &&
                 llvm::all_of(block.getArgumentTypes(),
                              [&](Type t) { return t == scalar; });
  return oneType ? &inner : nullptr;
}

void ReduceOp::print(OpAsmPrinter &printer) {
  llvm::interleaveComma(llvm::zip(getInputs(), getInitValues()), printer,
                        [&](auto pair) {
                          printer << '(' << std::get<0>(pair)
                                  << " init: " << std::get<1>(pair) << ')';
                        });
  Operation *applied = getAppliedOp(*this);
  if (applied)
    printer << " applies " << applied->getName();
  printer << " across dimensions = ";
  printIntegers(printer, getDimensions());
  printer.printOptionalAttrDict((*this)->getAttrs(), {getDimensionsAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (applied)
    return;
  printer.printNewline();
  printer << " reducer";
  Block &block = getBody().front();
  size_t count = block.getNumArguments() / 2;
  for (size_t i = 0; i < count; ++i) {
    printer << '(';
    printer.printRegionArgument(block.getArgument(i));
    printer << ", ";
    printer.printRegionArgument(block.getArgument(i + count));
    printer << ") ";
  }
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  if (parser.parseAssignmentList(arguments, operands))
    return failure();
  if (!operands.empty() && parser.parseColonTypeList(result.types))
    return failure();
  if (parser.resolveOperands(operands, result.types, loc, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (auto [argument, type] : llvm::zip(arguments, result.types))
    argument.type = type;
  Region *cond = result.addRegion(), *body = result.addRegion();
  return failure(
      parser.parseKeyword("cond") || parser.parseRegion(*cond, arguments) ||
      parser.parseKeyword("do") || parser.parseRegion(*body, arguments));
}

void WhileOp::print(OpAsmPrinter &printer) {
  // Both regions' arguments have the same names: see getAsmBlockArgumentNames.
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getOperand()),
                        printer, [&](auto pair) {
                          printer.printOperand(std::get<0>(pair));
                          printer << " = ";
                          printer.printOperand(std::get<1>(pair));
                        });
  printer << ')';
  if (!getOperand().empty())
    printer << " : " << getOperand().getTypes();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void WhileOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}
