//===- SpmdDialect.td - Meshes and shardings ---------------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDDIALECT_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "shardc/Dialect/Spmd/IR/SpmdEnums.td"

def Spmd_Dialect : Dialect {
  let name = "spmd";
  let cppNamespace = "::shardc::spmd";
  let summary = "The global view: tensors laid over a mesh.";
  let description = [{
    The first of four dialects, one for each level of a program. Global view (before partition): `spmd.mesh`,
    `#spmd.sharding`, `spmd.constrain`, `spmd.reshard`. Meshes, shardings, formulas and enums are what all levels share;
    after partition there is no op of it but `spmd.mesh`. The levels below are `local`, `pairs` and `kernel`. What one
    stage leaves for another beside ops is a discardable attribute of the dialect whose level it is about: SpmdContracts.h
    says where each is allowed and what it means.
  }];
  // One line a level: annotations; decisions; which view a function is in.
  // SpmdContracts.cpp verifies them.
  let discardableAttrs = (ins
    "::shardc::spmd::ShardingAttr":$sharding, "::mlir::StringAttr":$name, "::mlir::IntegerAttr":$donated,
    "::mlir::StringAttr":$order, "::mlir::IntegerAttr":$platform, "::shardc::spmd::CheckAttr":$check,
    "::mlir::IntegerAttr":$group, "::shardc::spmd::FlowDirectionAttr":$direction,
    "::shardc::spmd::ExtentsAttr":$extents, "::mlir::StringAttr":$memory_kind, "::mlir::DenseI64ArrayAttr":$ranks,
    "::mlir::DenseI64ArrayAttr":$caller_dims, "::mlir::UnitAttr":$token, "::mlir::IntegerAttr":$partitioned_call,

    "::mlir::ArrayAttr":$shardings, "::mlir::ArrayAttr":$factors, "::mlir::StringAttr":$order_note,
    "::mlir::ArrayAttr":$origins, "::mlir::UnitAttr":$explain, "::mlir::UnitAttr":$whole_sum,
    "::mlir::UnitAttr":$of_manual, "::mlir::UnitAttr":$whole_lines,

    "::mlir::UnitAttr":$local_view, "::mlir::TypeAttr":$global_type);
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

class Spmd_Attr<string name, string attrMnemonic> : AttrDef<Spmd_Dialect, name> {
  let mnemonic = attrMnemonic;
}

/// An enum that is an attribute by itself: `#spmd.direction<forward>`.
class Spmd_EnumAttr<EnumInfo info, string attrMnemonic> : EnumAttr<Spmd_Dialect, info, attrMnemonic> {
  let assemblyFormat = "`<` $value `>`";
}
def Spmd_FlowDirectionAttr : Spmd_EnumAttr<Spmd_FlowDirection, "direction">;

def Spmd_CheckAttr : Spmd_Attr<"Check", "check"> {
  let summary = "How a result is compared with the one behind it, which is `expected`.";
  let description = [{
    `<kind = almost_eq, tolerance = 1.000000e-03 : f64>`, or `<kind = close, max_ulps = 3>`: so many representable numbers
    apart, at least `min_ulps` and at most `max_ulps`. A number and a NaN are as far apart as a distance can say.
  }];
  let parameters = (ins EnumParameter<Spmd_CheckKind>:$kind, OptionalParameter<"::mlir::FloatAttr">:$tolerance,
                        DefaultValuedParameter<"uint64_t", "0">:$min_ulps,
                        DefaultValuedParameter<"uint64_t", "0">:$max_ulps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Spmd_ExtentsAttr : Spmd_Attr<"Extents", "extents"> {
  let summary = "Extents that are known when a program is bound, and their placeholders.";
  let description = [{
    `#spmd.extents<[dim [0, 0] = 231947, constant [2] = 2, divide [0, 1] = 115973]>`: dim 0 of argument 0 has 231947
    elements as long as the program is compiled, and what has 115973 has half as many. Operands are earlier extents;
    `requires 5 "text" [0]`: extent 5 is not 0 (shardc/Layout/Extents.h).
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$words);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Null where there are none.
    static ExtentsAttr get(::mlir::MLIRContext *context, const ::shardc::Extents &extents);
    ::shardc::Extents getExtents() const;
  }];
}

def Spmd_MeshAttr : Spmd_Attr<"Mesh", "mesh_shape"> {
  let summary = "Named axes with sizes, major to minor; and what else a program is bound to.";
  let description = [{
    `<["x"=4, "y"=2]>`: rank = x * 2 + y. `<["x"=2 symbolic]>`: the size of x is said when the program is bound; 2 is the
    one by which costs are estimated, and no decision holds for it alone. `<["x"=4], #spmd.extents<…>>`: numbers of the
    program follow from extents that are known when it is bound.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axisNames,
                        ArrayRefParameter<"int64_t">:$axisSizes,
                        ArrayRefParameter<"int64_t">:$symbolicAxes,
                        OptionalParameter<"::shardc::spmd::ExtentsAttr">:$extents);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<::mlir::StringAttr>":$axisNames, "::llvm::ArrayRef<int64_t>":$axisSizes),
      [{ return $_get($_ctxt, axisNames, axisSizes, ::llvm::ArrayRef<int64_t>(), ExtentsAttr()); }]>];
  let extraClassDeclaration = [{
    /// True if a dim of `size` elements has more or fewer in another binding.
    bool isOpen(int64_t size) const;
    /// True if the size of axis number `axis`, or of one of `axes`, is said when
    /// the program is bound.
    bool isSymbolic(int64_t axis) const;
    bool isSymbolic(::llvm::ArrayRef<int64_t> axes) const;
    /// How many coordinates there are along `axes`, whatever is bound.
    ::shardc::ShardCount countCoordinates(::llvm::ArrayRef<int64_t> axes) const;
    /// The axis' place in the mesh, or -1 if the mesh has no such axis.
    int64_t getAxisIndex(::llvm::StringRef name) const;
    /// The axis' size; 1 if the mesh has no such axis.
    int64_t getAxisSize(::llvm::StringRef name) const;
    int64_t getNumRanks() const;
  }];
}

def Spmd_FormulaAttr : Spmd_Attr<"Formula", "formula"> {
  let summary = "A table that follows from what is known when a program is bound.";
  let description = [{
    `#spmd.formula<affine [1, 0, 2, 8] (#spmd.formula<given [0, 0, 16]>)>`: the boundaries in which dim 0 of argument 0
    arrives, halved. shardc/Layout/Formula.h says what each kind means.
  }];
  let parameters = (ins "::shardc::FormulaKind":$kind, ArrayRefParameter<"int64_t">:$numbers,
                        ArrayRefParameter<"::mlir::Attribute">:$operands);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Null where there is no formula.
    static FormulaAttr get(::mlir::MLIRContext *context, const ::shardc::Formula &formula);
    ::shardc::Formula getFormula() const;
  }];
}

def Spmd_DimShardingAttr : Spmd_Attr<"DimSharding", "dim_sharding"> {
  let summary = "How one dim is cut: ordered axes, and sizes where they are not balanced.";
  let description = [{
    `{}` whole; `{"x"}` over x, balanced; `{"x", "y"}` x major; `{"x", ?}` open to more
    axes; `{"x" sizes [300, 200, 100, 424]}` uneven and known now;
    `{"x" sizes dynamic}` known when the program is bound; `{"x"}p1` priority 1. What follows from sizes that are known
    then has the sizes of one binding, by which costs are estimated, and a formula: `{"x" sizes [8, 8] by #spmd.formula<…>}`.
    `{"x" order zigzag}`: each rank has one part from the front and one from the end, together as many
    as a block would be (docs/Rationale/Ring.md, section 7). Of annotations alone: after `--spmd-deal-blocks`
    every dim is in the order in which it is cut.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$sizes,
                        DefaultValuedParameter<"bool", "false">:$dynamicSizes,
                        DefaultValuedParameter<"bool", "false">:$open,
                        DefaultValuedParameter<"int64_t", "-1">:$priority,
                        DefaultValuedParameter<"bool", "false">:$zigzag,
                        OptionalParameter<"::shardc::spmd::FormulaAttr">:$formula);
  let hasCustomAssemblyFormat = 1;
  let builders = [
    AttrBuilder<(ins), [{ return $_get($_ctxt, ::llvm::ArrayRef<::mlir::StringAttr>(), ::mlir::DenseI64ArrayAttr(), false, false, -1, false, FormulaAttr()); }]>,
    AttrBuilder<(ins "::llvm::ArrayRef<::mlir::StringAttr>":$axes, CArg<"::mlir::DenseI64ArrayAttr", "{}">:$sizes),
      [{ return $_get($_ctxt, axes, sizes, false, false, -1, false, FormulaAttr()); }]>,
    AttrBuilder<(ins "::llvm::ArrayRef<::mlir::StringAttr>":$axes, "::mlir::DenseI64ArrayAttr":$sizes, "bool":$dynamicSizes,
                     "bool":$open, "int64_t":$priority, CArg<"bool", "false">:$zigzag),
      [{ return $_get($_ctxt, axes, sizes, dynamicSizes, open, priority, zigzag, FormulaAttr()); }]>];
  let extraClassDeclaration = [{
    /// Without priority, open mark and redundant sizes are kept as they are.
    bool isWhole() const { return getAxes().empty(); }
    /// A closed dim over `axes`; sizes are left out where `bounds` is balanced.
    /// A formula of `bounds` is kept.
    static DimShardingAttr get(::mlir::MLIRContext *context, ::llvm::ArrayRef<::mlir::StringAttr> axes,
                               const ::shardc::Boundaries &bounds);
    /// The number of shards on `mesh`, and how it follows from what is bound.
    int64_t getNumShards(MeshAttr mesh) const;
    ::shardc::ShardCount countShards(MeshAttr mesh) const;
    /// The boundaries of a dim of `size` elements. Requires a verified attribute
    /// and no dynamic sizes.
    ::shardc::Boundaries getBoundaries(MeshAttr mesh, int64_t size) const;
    /// The boundaries of a dim of `size` elements in balanced shards.
    static ::shardc::Boundaries balancedOver(MeshAttr mesh, int64_t size, const ::shardc::ShardCount &shards);
  }];
}

def Spmd_PartialAxisAttr : Spmd_Attr<"PartialAxis", "partial_axis"> {
  let summary = "A value that is still to be combined over a mesh axis.";
  let parameters = (ins "::mlir::StringAttr":$axis, EnumParameter<Spmd_ReductionKind>:$kind);
  let assemblyFormat = "`<` $axis `=` $kind `>`";
}

def Spmd_ShardingAttr : Spmd_Attr<"Sharding", "sharding"> {
  let summary = "How a tensor is sharded over a mesh.";
  let description = [{
    `#spmd.sharding<@mesh, [{}, {"x"} ], replicated = {"y"}, partial = {"z" = sum}>`.
    Axes that are named nowhere are replicated, and free to be used where a dim is open.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
                        ArrayRefParameter<"DimShardingAttr">:$dims,
                        ArrayRefParameter<"::mlir::StringAttr">:$replicated,
                        ArrayRefParameter<"PartialAxisAttr">:$partial);
  let hasCustomAssemblyFormat = 1;
  let builders = [
    AttrBuilder<(ins "::mlir::FlatSymbolRefAttr":$mesh, "::llvm::ArrayRef<DimShardingAttr>":$dims),
      [{ return $_get($_ctxt, mesh, dims, ::llvm::ArrayRef<::mlir::StringAttr>(), ::llvm::ArrayRef<PartialAxisAttr>()); }]>];
  let extraClassDeclaration = [{
    /// Everything whole, on every rank.
    static ShardingAttr getReplicated(::mlir::FlatSymbolRefAttr mesh, int64_t numDims);
    bool isFullyReplicated() const;
    /// The dim that `axis` cuts, or -1.
    int64_t getDimOfAxis(::llvm::StringRef axis) const;
    /// Says what is wrong with this sharding on a tensor of `shape` (unknown or
    /// repeated axis, wrong number of dims, sizes that do not add up) through
    /// `emitError`.
    ::llvm::LogicalResult verifyFor(MeshAttr mesh, ::llvm::ArrayRef<int64_t> shape,
                                    ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
    /// The type of the shard of a tensor of `type`: static where all ranks agree.
    ::mlir::RankedTensorType getLocalType(MeshAttr mesh, ::mlir::RankedTensorType type) const;
  }];
}

#endif // SHARDC_DIALECT_SPMD_IR_SPMDDIALECT_TD
