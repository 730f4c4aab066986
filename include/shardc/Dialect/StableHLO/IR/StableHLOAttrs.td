//===- StableHLOAttrs.td - Enums and attributes ---------------------------===//
//
// Their text is StableHLO's: #stablehlo<precision DEFAULT> for enums, a
// `name = value` list for the others.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOATTRS_TD
#define SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOATTRS_TD

include "shardc/Dialect/StableHLO/IR/StableHLOBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class StableHLO_Enum<string name, list<I32EnumCase> cases> : I32Enum<name, "", cases> {
  let cppNamespace = "::shardc::stablehlo";
}
class StableHLO_EnumAttr<string attrMnemonic, EnumInfo info>
    : EnumAttr<Stablehlo_Dialect, info, attrMnemonic>;

def StableHLO_ComparisonDirection : StableHLO_Enum<"ComparisonDirection", [
    I32EnumCase<"EQ", 0>, I32EnumCase<"NE", 1>, I32EnumCase<"GE", 2>,
    I32EnumCase<"GT", 3>, I32EnumCase<"LE", 4>, I32EnumCase<"LT", 5>]>;
def StableHLO_ComparisonDirectionAttr
    : StableHLO_EnumAttr<"comparison_direction", StableHLO_ComparisonDirection>;

def StableHLO_ComparisonType : StableHLO_Enum<"ComparisonType", [
    I32EnumCase<"NOTYPE", 0>, I32EnumCase<"FLOAT", 1>, I32EnumCase<"TOTALORDER", 2>,
    I32EnumCase<"SIGNED", 3>, I32EnumCase<"UNSIGNED", 4>]>;
def StableHLO_ComparisonTypeAttr
    : StableHLO_EnumAttr<"comparison_type", StableHLO_ComparisonType>;

def StableHLO_Precision : StableHLO_Enum<"Precision", [
    I32EnumCase<"DEFAULT", 0>, I32EnumCase<"HIGH", 1>, I32EnumCase<"HIGHEST", 2>]>;
def StableHLO_PrecisionAttr : StableHLO_EnumAttr<"precision", StableHLO_Precision>;
def StableHLO_PrecisionConfigAttr
    : TypedArrayAttrBase<StableHLO_PrecisionAttr, "precision of each operand">;

def StableHLO_FftType : StableHLO_Enum<"FftType", [
    I32EnumCase<"FFT", 0>, I32EnumCase<"IFFT", 1>, I32EnumCase<"RFFT", 2>,
    I32EnumCase<"IRFFT", 3>]>;
def StableHLO_FftTypeAttr : StableHLO_EnumAttr<"fft_type", StableHLO_FftType>;

def StableHLO_RngAlgorithm : StableHLO_Enum<"RngAlgorithm", [
    I32EnumCase<"DEFAULT", 0>, I32EnumCase<"THREE_FRY", 1>, I32EnumCase<"PHILOX", 2>]>;
def StableHLO_RngAlgorithmAttr : StableHLO_EnumAttr<"rng_algorithm", StableHLO_RngAlgorithm>;

def StableHLO_RngDistribution : StableHLO_Enum<"RngDistribution", [
    I32EnumCase<"UNIFORM", 1>, I32EnumCase<"NORMAL", 2>]>;
def StableHLO_RngDistributionAttr
    : StableHLO_EnumAttr<"rng_distribution", StableHLO_RngDistribution>;

def StableHLO_Transpose : StableHLO_Enum<"Transpose", [
    I32EnumCase<"TRANSPOSE_INVALID", 0>, I32EnumCase<"NO_TRANSPOSE", 1>,
    I32EnumCase<"TRANSPOSE", 2>, I32EnumCase<"ADJOINT", 3>]>;
def StableHLO_TransposeAttr : StableHLO_EnumAttr<"transpose", StableHLO_Transpose>;

def StableHLO_ResultAccuracyMode : StableHLO_Enum<"ResultAccuracyMode", [
    I32EnumCase<"DEFAULT", 0>, I32EnumCase<"HIGHEST", 1>, I32EnumCase<"TOLERANCE", 2>]>;
def StableHLO_ResultAccuracyModeAttr
    : StableHLO_EnumAttr<"result_accuracy_mode", StableHLO_ResultAccuracyMode> {
  // #stablehlo.result_accuracy_mode<HIGHEST>, unlike the others, whose form is read too.
  let assemblyFormat = "`` custom<AccuracyMode>($value)";
}

// Stands in text as an integer: api_version = 4 : i32.
def StableHLO_CustomCallApiVersionAttr
    : I32EnumAttr<"CustomCallApiVersion", "custom call ABI", [
        I32EnumAttrCase<"API_VERSION_UNSPECIFIED", 0>,
        I32EnumAttrCase<"API_VERSION_ORIGINAL", 1>,
        I32EnumAttrCase<"API_VERSION_STATUS_RETURNING", 2>,
        I32EnumAttrCase<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
        I32EnumAttrCase<"API_VERSION_TYPED_FFI", 4>]> {
  let cppNamespace = "::shardc::stablehlo";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class StableHLO_Attr<string name, string attrMnemonic> : AttrDef<Stablehlo_Dialect, name> {
  let mnemonic = attrMnemonic;
}
class StableHLO_Dims<string desc = ""> : ArrayRefParameter<"int64_t", desc>;

def StableHLO_ScatterDimensionNumbersAttr : StableHLO_Attr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "Which dims of updates and indices address which dims of the inputs.";
  let parameters = (ins StableHLO_Dims<>:$updateWindowDims, StableHLO_Dims<>:$insertedWindowDims,
      StableHLO_Dims<>:$inputBatchingDims, StableHLO_Dims<>:$scatterIndicesBatchingDims,
      StableHLO_Dims<>:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_GatherDimensionNumbersAttr : StableHLO_Attr<"GatherDimensionNumbers", "gather"> {
  let summary = "Which dims of the result and the indices address which dims of the operand.";
  let parameters = (ins StableHLO_Dims<>:$offsetDims, StableHLO_Dims<>:$collapsedSliceDims,
      StableHLO_Dims<>:$operandBatchingDims, StableHLO_Dims<>:$startIndicesBatchingDims,
      StableHLO_Dims<>:$startIndexMap, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_DotDimensionNumbersAttr : StableHLO_Attr<"DotDimensionNumbers", "dot"> {
  let summary = "Batching and contracting dims of both operands.";
  let parameters = (ins StableHLO_Dims<>:$lhsBatchingDimensions,
      StableHLO_Dims<>:$rhsBatchingDimensions, StableHLO_Dims<>:$lhsContractingDimensions,
      StableHLO_Dims<>:$rhsContractingDimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_DotAlgorithmAttr : StableHLO_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "How a dot_general computes: types and number of passes.";
  let parameters = (ins "::mlir::Type":$lhsPrecisionType, "::mlir::Type":$rhsPrecisionType,
      "::mlir::Type":$accumulationType, "int64_t":$lhsComponentCount,
      "int64_t":$rhsComponentCount, "int64_t":$numPrimitiveOperations,
      "bool":$allowImpreciseAccumulation);
  let assemblyFormat = [{
    `<` `lhs_precision_type` `=` $lhsPrecisionType `,`
        `rhs_precision_type` `=` $rhsPrecisionType `,`
        `accumulation_type` `=` $accumulationType `,`
        `lhs_component_count` `=` $lhsComponentCount `,`
        `rhs_component_count` `=` $rhsComponentCount `,`
        `num_primitive_operations` `=` $numPrimitiveOperations `,`
        `allow_imprecise_accumulation` `=` $allowImpreciseAccumulation `>`
  }];
}

def StableHLO_ConvDimensionNumbersAttr : StableHLO_Attr<"ConvDimensionNumbers", "conv"> {
  let summary = "Roles of the dims of a convolution's operands and result.";
  let description = [{
    `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: batch, feature and spatial dims by position;
    `raw` with named numbers in older text is read too.
  }];
  let parameters = (ins "int64_t":$inputBatchDimension, "int64_t":$inputFeatureDimension,
      StableHLO_Dims<>:$inputSpatialDimensions, "int64_t":$kernelInputFeatureDimension,
      "int64_t":$kernelOutputFeatureDimension, StableHLO_Dims<>:$kernelSpatialDimensions,
      "int64_t":$outputBatchDimension, "int64_t":$outputFeatureDimension,
      StableHLO_Dims<>:$outputSpatialDimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_OutputOperandAliasAttr : StableHLO_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "A result of a custom call that reuses an operand's buffer.";
  let parameters = (ins StableHLO_Dims<>:$outputTupleIndices, "int64_t":$operandIndex,
      StableHLO_Dims<>:$operandTupleIndices);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ChannelHandleAttr : StableHLO_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "Names a communication channel.";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_ResultAccuracyAttr : StableHLO_Attr<"ResultAccuracy", "result_accuracy"> {
  let summary = "Accuracy asked of an elementary function.";
  let parameters = (ins APFloatParameter<"">:$atol, APFloatParameter<"">:$rtol, "int64_t":$ulps,
      "::shardc::stablehlo::ResultAccuracyModeAttr":$mode);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_SubAxisInfoAttr : StableHLO_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "Part of an axis seen as pre x size x rest: `(1)2`.";
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}

def StableHLO_AxisRefAttr : StableHLO_Attr<"AxisRef", "axis_ref"> {
  let summary = "A mesh axis named by a collective, or a part of one.";
  let parameters = (ins StringRefParameter<>:$name,
      OptionalParameter<"::shardc::stablehlo::SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_MeshAxisAttr : StableHLO_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "One direction of a mesh.";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_MeshAttr : StableHLO_Attr<"Mesh", "mesh"> {
  let summary = "Named arrangement of devices: `<axes=[<name = \"x\", size = 2>]>`.";
  let parameters = (ins ArrayRefParameter<"::shardc::stablehlo::MeshAxisAttr">:$axes,
      OptionalParameter<"::mlir::DenseIntElementsAttr">:$device_ids);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ReplicaGroupMeshAxesAttr
    : StableHLO_Attr<"ReplicaGroupMeshAxes", "replica_group_mesh_axes"> {
  let summary = "Replica groups as axes of a mesh: a symbol, or one that stands here.";
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def StableHLO_TypeExtensionsAttr : StableHLO_Attr<"TypeExtensions", "bounds"> {
  let summary = "Upper bounds of a tensor's dynamic dims (a tensor encoding).";
  let parameters = (ins StableHLO_Dims<>:$bounds);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ReplicaGroups
    : AnyAttrOf<[I64ElementsAttr, StableHLO_ReplicaGroupMeshAxesAttr], "replica groups">;
def StableHLO_BackendConfig : AnyAttrOf<[StrAttr, DictionaryAttr], "a string or a dictionary">;

#endif // SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOATTRS_TD
