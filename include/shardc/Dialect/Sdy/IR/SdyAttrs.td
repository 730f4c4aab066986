//===- SdyAttrs.td - Meshes, shardings, rules -----------------------------===//
#ifndef SHARDC_DIALECT_SDY_IR_SDYATTRS_TD
#define SHARDC_DIALECT_SDY_IR_SDYATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::shardc::sdy";
  let summary = "Shardy's annotations as JAX prints them.";
  let description = [{
    `sdy.sharding` on arguments, results and ops, `sdy.sharding_rule` on ops, and the ops below
    are read and checked here: meshes and axes exist, no axis is used twice, dims match.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Sdy_Attr<string name, string attrMnemonic> : AttrDef<Sdy_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def Sdy_PropagationDirection : I32Enum<"PropagationDirection", "", [
    I32EnumCase<"NONE", 0>, I32EnumCase<"FORWARD", 1>, I32EnumCase<"BACKWARD", 2>,
    I32EnumCase<"BOTH", 3>]> {
  let cppNamespace = "::shardc::sdy";
}
def Sdy_PropagationDirectionAttr
    : EnumAttr<Sdy_Dialect, Sdy_PropagationDirection, "propagation_direction">;

def Sdy_ReductionKind : I32Enum<"ReductionKind", "", [
    I32EnumCase<"Sum", 0, "sum">, I32EnumCase<"Max", 1, "max">, I32EnumCase<"Min", 2, "min">]> {
  let cppNamespace = "::shardc::sdy";
}
def Sdy_ReductionKindAttr : EnumAttr<Sdy_Dialect, Sdy_ReductionKind, "reduction_kind">;

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

def Sdy_MeshAxisAttr : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "One direction of a mesh: `\"x\"=4`.";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
}

def Sdy_MeshAttr : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "Named arrangement of devices: `<[\"x\"=2, \"y\"=2], device_ids=[0, 2, 1, 3]>`.";
  let description = [{
    Without `device_ids` devices are numbered row-major. No axes and one id: the maximal mesh,
    that is one device; no axes and no ids: the empty mesh.
  }];
  let parameters = (ins OptionalArrayRefParameter<"::shardc::sdy::MeshAxisAttr">:$axes,
                        OptionalArrayRefParameter<"int64_t">:$deviceIds);
  let extraClassDeclaration = [{
    bool isMaximal() const { return getAxes().empty() && getDeviceIds().size() == 1; }
    /// The axis of this name; null if there is none.
    ::shardc::sdy::MeshAxisAttr getAxis(::llvm::StringRef name) const;
    /// Number of devices.
    int64_t getTotalSize() const;
  }];
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

def Sdy_SubAxisInfoAttr : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "Part of an axis seen as pre x size x rest: `(1)2`.";
  let parameters = (ins "int64_t":$preSize, "int64_t":$size);
}

def Sdy_AxisRefAttr : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "An axis or part of one: `\"x\"`, `\"x\":(1)2`.";
  let parameters = (ins StringRefParameter<>:$name,
                        OptionalParameter<"::shardc::sdy::SubAxisInfoAttr">:$subAxisInfo);
  let extraClassDeclaration = [{
    /// Number of devices along it, given the mesh; 0 if the mesh lacks the axis.
    int64_t getSize(::shardc::sdy::MeshAttr mesh) const;
  }];
}

def Sdy_DimensionShardingAttr : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "Axes of one dim, major to minor: `{\"x\", ?}p1`.";
  let parameters = (ins OptionalArrayRefParameter<"::shardc::sdy::AxisRefAttr">:$axes,
                        "bool":$isClosed, OptionalParameter<"std::optional<int64_t>">:$priority);
}

def Sdy_TensorShardingAttr : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "How a tensor is sharded over a mesh.";
  let description = [{
    `<@mesh, [{"x"}, {?} ], replicated={"y"}, unreduced=max{"z"}>`; the mesh is a symbol or stands
    there itself, `mesh<["x"=2]>`.
  }];
  let parameters = (ins "::mlir::Attribute":$meshOrRef,
      OptionalArrayRefParameter<"::shardc::sdy::DimensionShardingAttr">:$dimShardings,
      OptionalArrayRefParameter<"::shardc::sdy::AxisRefAttr">:$replicatedAxes,
      OptionalArrayRefParameter<"::shardc::sdy::AxisRefAttr">:$unreducedAxes,
      "::shardc::sdy::ReductionKind":$unreducedKind);
  let extraClassDeclaration = [{
    /// The mesh itself, looked up from `op` where it is a symbol; null if unknown.
    ::shardc::sdy::MeshAttr getMesh(::mlir::Operation *op) const;
    int64_t getRank() const { return getDimShardings().size(); }
  }];
}

def Sdy_TensorShardingPerValueAttr : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "A sharding for each result of an op: `<[<@mesh, [{}]>]>`.";
  let parameters =
      (ins OptionalArrayRefParameter<"::shardc::sdy::TensorShardingAttr">:$shardings);
}

def Sdy_ManualAxesAttr : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "Axes that a region handles by itself: `{\"x\"}`.";
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$axes);
}

def Sdy_AxisRefListAttr : Sdy_Attr<"AxisRefList", "axis_ref_list"> {
  let summary = "`{\"x\", \"y\"}`";
  let parameters = (ins OptionalArrayRefParameter<"::shardc::sdy::AxisRefAttr">:$value);
}

def Sdy_ListOfAxisRefListsAttr : Sdy_Attr<"ListOfAxisRefLists", "list_of_axis_ref_lists"> {
  let summary = "Axes for each dim: `[{\"x\"}, {}]`.";
  let parameters = (ins OptionalArrayRefParameter<"::shardc::sdy::AxisRefListAttr">:$value);
}

def Sdy_AllToAllParamAttr : Sdy_Attr<"AllToAllParam", "all_to_all_param"> {
  let summary = "Axes that move from one dim to another: `{\"x\"}: 0->1`.";
  let parameters = (ins OptionalArrayRefParameter<"::shardc::sdy::AxisRefAttr">:$axes,
                        "int64_t":$srcDim, "int64_t":$tgtDim);
}

def Sdy_AllToAllParamListAttr : Sdy_Attr<"AllToAllParamList", "all_to_all_param_list"> {
  let summary = "`[{\"x\"}: 0->1, {\"y\"}: 2->0]`";
  let parameters = (ins OptionalArrayRefParameter<"::shardc::sdy::AllToAllParamAttr">:$value);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

def Sdy_DimMappingAttr : Sdy_Attr<"DimMapping", "dim_mapping"> {
  let summary = "Factors of one dim, major to minor; none: no mapping (`*`).";
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$factorIndices);
}

def Sdy_TensorMappingAttr : Sdy_Attr<"TensorMapping", "tensor_mapping"> {
  let summary = "`[i, jk]`";
  let parameters = (ins OptionalArrayRefParameter<"::shardc::sdy::DimMappingAttr">:$dimMappings);
}

def Sdy_OpShardingRuleAttr : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "Ties dims of operands and results through factors.";
  let description = [{
    `<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}, custom>`. Factors are named i to z,
    then z_1, z_2 and so on.
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$factorSizes,
      OptionalArrayRefParameter<"::shardc::sdy::TensorMappingAttr">:$operandMappings,
      OptionalArrayRefParameter<"::shardc::sdy::TensorMappingAttr">:$resultMappings,
      OptionalArrayRefParameter<"int64_t">:$reductionFactors,
      OptionalArrayRefParameter<"int64_t">:$needReplicationFactors,
      OptionalArrayRefParameter<"int64_t">:$permutationFactors,
      OptionalArrayRefParameter<"int64_t">:$blockedPropagationFactors,
      "bool":$isCustom);
}

#endif // SHARDC_DIALECT_SDY_IR_SDYATTRS_TD
