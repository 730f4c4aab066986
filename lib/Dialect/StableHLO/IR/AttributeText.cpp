//===- AttributeText.cpp - Text of StableHLO's attributes -----------------===//
#include "AssemblyFormat.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;

//===----------------------------------------------------------------------===//
// Attribute bodies: `<name = value, ...>`
//===----------------------------------------------------------------------===//

namespace {
/// A named list or a named number of an attribute's body.
struct Field {
  Field(StringRef name, SmallVectorImpl<int64_t> &list)
      : name(name), list(&list) {}
  Field(StringRef name, int64_t &number) : name(name), number(&number) {}
  StringRef name;
  SmallVectorImpl<int64_t> *list = nullptr;
  int64_t *number = nullptr;
  bool seen = false;
};
} // namespace

/// `name = value` pairs up to `>`, in any order, each at most once.
static ParseResult parseFieldsUntilGreater(AsmParser &parser,
                                           MutableArrayRef<Field> fields) {
  while (failed(parser.parseOptionalGreater())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word) || parser.parseEqual())
      return failure();
    Field *field =
        llvm::find_if(fields, [&](const Field &f) { return f.name == word; });
    if (field == fields.end() || field->seen) {
      InFlightDiagnostic error =
          parser.emitError(loc)
          << "'" << word << "' is "
          << (field == fields.end() ? "unknown here" : "given twice")
          << "; expected ";
      llvm::interleaveComma(fields, error,
                            [&](const Field &f) { error << f.name; });
      return error;
    }
    field->seen = true;
    if (field->list ? parseIntegers(parser, *field->list)
                    : parser.parseInteger(*field->number))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return parser.parseGreater();
  }
  return success();
}

static ParseResult parseFields(AsmParser &parser,
                               MutableArrayRef<Field> fields) {
  return failure(parser.parseLess() || parseFieldsUntilGreater(parser, fields));
}

/// Prints fields; empty lists are left out, and a zero number too.
static void printFields(AsmPrinter &printer,
                        ArrayRef<std::pair<StringRef, ArrayRef<int64_t>>> lists,
                        StringRef numberName = "", int64_t number = 0) {
  StringRef separator;
  printer << '<';
  for (auto &[name, list] : lists) {
    if (list.empty())
      continue;
    printer << separator << name << " = ";
    printIntegers(printer, list);
    separator = ", ";
  }
  if (number != 0)
    printer << separator << numberName << " = " << number;
  printer << '>';
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> offset, collapsed, operandBatch, indicesBatch, indexMap;
  int64_t indexVectorDim = 0;
  Field fields[] = {{"offset_dims", offset},
                    {"collapsed_slice_dims", collapsed},
                    {"operand_batching_dims", operandBatch},
                    {"start_indices_batching_dims", indicesBatch},
                    {"start_index_map", indexMap},
                    {"index_vector_dim", indexVectorDim}};
  if (parseFields(parser, fields))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatch, indicesBatch,
             indexMap, indexVectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              {{"offset_dims", getOffsetDims()},
               {"collapsed_slice_dims", getCollapsedSliceDims()},
               {"operand_batching_dims", getOperandBatchingDims()},
               {"start_indices_batching_dims", getStartIndicesBatchingDims()},
               {"start_index_map", getStartIndexMap()}},
              "index_vector_dim", getIndexVectorDim());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> window, inserted, inputBatch, indicesBatch, indexMap;
  int64_t indexVectorDim = 0;
  Field fields[] = {{"update_window_dims", window},
                    {"inserted_window_dims", inserted},
                    {"input_batching_dims", inputBatch},
                    {"scatter_indices_batching_dims", indicesBatch},
                    {"scatter_dims_to_operand_dims", indexMap},
                    {"index_vector_dim", indexVectorDim}};
  if (parseFields(parser, fields))
    return {};
  return get(parser.getContext(), window, inserted, inputBatch, indicesBatch,
             indexMap, indexVectorDim);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printFields(
      printer,
      {{"update_window_dims", getUpdateWindowDims()},
       {"inserted_window_dims", getInsertedWindowDims()},
       {"input_batching_dims", getInputBatchingDims()},
       {"scatter_indices_batching_dims", getScatterIndicesBatchingDims()},
       {"scatter_dims_to_operand_dims", getScatterDimsToOperandDims()}},
      "index_vector_dim", getIndexVectorDim());
}

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracting, rhsContracting;
  Field fields[] = {{"lhs_batching_dimensions", lhsBatch},
                    {"rhs_batching_dimensions", rhsBatch},
                    {"lhs_contracting_dimensions", lhsContracting},
                    {"rhs_contracting_dimensions", rhsContracting}};
  if (parseFields(parser, fields))
    return {};
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContracting,
             rhsContracting);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              {{"lhs_batching_dimensions", getLhsBatchingDimensions()},
               {"rhs_batching_dimensions", getRhsBatchingDimensions()},
               {"lhs_contracting_dimensions", getLhsContractingDimensions()},
               {"rhs_contracting_dimensions", getRhsContractingDimensions()}});
}

/// Older text: `<raw input_batch_dimension = 0, ...>`, all numbers by name.
static Attribute parseRawConvolutionDims(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t inputBatch = 0, inputFeature = 0, kernelInput = 0, kernelOutput = 0,
          outputBatch = 0, outputFeature = 0;
  SmallVector<int64_t> inputSpatial, kernelSpatial, outputSpatial;
  Field fields[] = {{"input_batch_dimension", inputBatch},
                    {"input_feature_dimension", inputFeature},
                    {"input_spatial_dimensions", inputSpatial},
                    {"kernel_input_feature_dimension", kernelInput},
                    {"kernel_output_feature_dimension", kernelOutput},
                    {"kernel_spatial_dimensions", kernelSpatial},
                    {"output_batch_dimension", outputBatch},
                    {"output_feature_dimension", outputFeature},
                    {"output_spatial_dimensions", outputSpatial}};
  if (parseFieldsUntilGreater(parser, fields))
    return {};
  // The printed form has one position for each dim, so they must be a
  // permutation.
  auto isPermutation = [](int64_t first, int64_t second,
                          ArrayRef<int64_t> spatial) {
    SmallVector<int64_t> all(spatial);
    all.append({first, second});
    llvm::sort(all);
    return llvm::all_of(llvm::enumerate(all), [](auto e) {
      return e.value() == static_cast<int64_t>(e.index());
    });
  };
  if (!isPermutation(inputBatch, inputFeature, inputSpatial) ||
      !isPermutation(kernelInput, kernelOutput, kernelSpatial) ||
      !isPermutation(outputBatch, outputFeature, outputSpatial) ||
      inputSpatial.size() != kernelSpatial.size() ||
      inputSpatial.size() != outputSpatial.size()) {
    parser.emitError(loc)
        << "expected each dim of input, kernel and output once, and as many "
           "spatial dims in each";
    return {};
  }
  return ConvDimensionNumbersAttr::get(
      parser.getContext(), inputBatch, inputFeature, inputSpatial, kernelInput,
      kernelOutput, kernelSpatial, outputBatch, outputFeature, outputSpatial);
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword("raw")))
    return parseRawConvolutionDims(parser);
  ConvDimensionNumbersAttr dims;
  if (parseConvolutionDimensions(parser, dims) || parser.parseGreater())
    return {};
  return dims;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printConvolutionDimensions(printer, *this);
  printer << '>';
}

Attribute OutputOperandAliasAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> outputs, operands;
  int64_t operand = 0;
  Field fields[] = {{"output_tuple_indices", outputs},
                    {"operand_index", operand},
                    {"operand_tuple_indices", operands}};
  if (parseFields(parser, fields))
    return {};
  return get(parser.getContext(), outputs, operand, operands);
}

void OutputOperandAliasAttr::print(AsmPrinter &printer) const {
  printer << "<output_tuple_indices = ";
  printIntegers(printer, getOutputTupleIndices());
  printer << ", operand_index = " << getOperandIndex()
          << ", operand_tuple_indices = ";
  printIntegers(printer, getOperandTupleIndices());
  printer << '>';
}

ParseResult stablehlo::parseAccuracyMode(AsmParser &parser,
                                         ResultAccuracyMode &mode) {
  bool bracket = succeeded(parser.parseOptionalLess());
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<ResultAccuracyMode> known = symbolizeResultAccuracyMode(word);
  if (!known)
    return parser.emitError(loc)
           << "expected DEFAULT, HIGHEST or TOLERANCE, got '" << word << "'";
  mode = *known;
  return bracket ? parser.parseGreater() : success();
}

void stablehlo::printAccuracyMode(AsmPrinter &printer,
                                  ResultAccuracyMode mode) {
  printer << '<' << stringifyResultAccuracyMode(mode) << '>';
}

Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  if (parser.parseLess())
    return {};
  do {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word) || parser.parseEqual())
      return {};
    ParseResult parsed = failure();
    if (word == "atol")
      parsed = parser.parseFloat(atol);
    else if (word == "rtol")
      parsed = parser.parseFloat(rtol);
    else if (word == "ulps")
      parsed = parser.parseInteger(ulps);
    else if (word == "mode")
      parsed = parser.parseAttribute(mode);
    else
      parser.emitError(loc)
          << "expected atol, rtol, ulps or mode, got '" << word << "'";
    if (failed(parsed))
      return {};
  } while (succeeded(parser.parseOptionalComma()));
  if (parser.parseGreater())
    return {};
  if (!mode)
    mode = ResultAccuracyModeAttr::get(parser.getContext(),
                                       ResultAccuracyMode::DEFAULT);
  return get(parser.getContext(), APFloat(atol), APFloat(rtol), ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (!getAtol().isZero()) {
    printer << "atol = ";
    printer.printFloat(getAtol());
    printer << ", ";
  }
  if (!getRtol().isZero()) {
    printer << "rtol = ";
    printer.printFloat(getRtol());
    printer << ", ";
  }
  if (getUlps() != 0)
    printer << "ulps = " << getUlps() << ", ";
  printer << "mode = " << getMode() << '>';
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  DenseIntElementsAttr devices;
  if (parser.parseLess() || parser.parseKeyword("axes") ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseCustomAttributeWithFallback(axes.emplace_back());
      }))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() ||
       parser.parseAttribute(devices)))
    return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), axes, devices);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<axes=[";
  llvm::interleaveComma(getAxes(), printer, [&](MeshAxisAttr axis) {
    printer.printStrippedAttrOrType(axis);
  });
  printer << ']';
  if (getDeviceIds())
    printer << ", device_ids=" << getDeviceIds();
  printer << '>';
}

LogicalResult ReplicaGroupMeshAxesAttr::verify(
    llvm::function_ref<InFlightDiagnostic()> emitError, Attribute mesh,
    ArrayAttr axes) {
  auto here = dyn_cast<MeshAttr>(mesh);
  if (!here && !isa<FlatSymbolRefAttr>(mesh))
    return emitError() << "expected a mesh or the symbol of one, got " << mesh;
  for (Attribute attr : axes) {
    auto axis = dyn_cast<AxisRefAttr>(attr);
    if (!axis)
      return emitError() << "expected #stablehlo.axis_ref, got " << attr;
    if (here && llvm::none_of(here.getAxes(), [&](MeshAxisAttr known) {
          return known.getName() == axis.getName();
        }))
      return emitError() << "axis '" << axis.getName() << "' is none of mesh "
                         << mesh;
  }
  return success();
}

LogicalResult
FutureType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   ArrayRef<Type> types) {
  for (Type type : types)
    if (!isa<RankedTensorType>(type))
      return emitError() << "a future holds ranked tensors, got " << type;
  return success();
}

Attribute TypeExtensionsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> bounds;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
            if (succeeded(parser.parseOptionalQuestion())) {
              bounds.push_back(ShapedType::kDynamic);
              return success();
            }
            return parser.parseInteger(bounds.emplace_back());
          }))
    return {};
  return get(parser.getContext(), bounds);
}

void TypeExtensionsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getBounds(), printer, [&](int64_t bound) {
    if (ShapedType::isDynamic(bound))
      printer << '?';
    else
      printer << bound;
  });
  printer << '>';
}
