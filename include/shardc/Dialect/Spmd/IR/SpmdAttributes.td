//===- SpmdAttributes.td - Meshes, shardings, exchanges ----*- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDATTRIBUTES_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Spmd_Dialect : Dialect {
  let name = "spmd";
  let cppNamespace = "::shardc::spmd";
  let summary = "Tensors laid over a mesh, and what their ranks say to one another.";
  let description = [{
    Global view (before partition): `spmd.mesh`, `#spmd.sharding`,
    `spmd.constrain`, `spmd.reshard`. Local view (after): rank queries and
    communication. What one stage leaves for another beside ops is a discardable
    attribute: SpmdContracts.h says where each is allowed and what it means.
  }];
  // One line a level: annotations; decisions; the local view; sites; kernels on
  // buffers; kernels of GPUs. SpmdContracts.cpp verifies them.
  let discardableAttrs = (ins
    "::shardc::spmd::ShardingAttr":$sharding, "::mlir::StringAttr":$name, "::mlir::IntegerAttr":$donated,
    "::mlir::StringAttr":$order, "::mlir::IntegerAttr":$platform, "::shardc::spmd::CheckAttr":$check,
    "::mlir::IntegerAttr":$group, "::shardc::spmd::FlowDirectionAttr":$direction,
    "::shardc::spmd::PairWayAttr":$way,
    "::shardc::spmd::ExtentsAttr":$extents, "::mlir::StringAttr":$memory_kind, "::mlir::DenseI64ArrayAttr":$ranks,
    "::mlir::DenseI64ArrayAttr":$caller_dims, "::mlir::UnitAttr":$token, "::mlir::IntegerAttr":$partitioned_call,

    "::mlir::ArrayAttr":$shardings, "::mlir::ArrayAttr":$factors, "::mlir::StringAttr":$order_note,
    "::mlir::ArrayAttr":$origins, "::mlir::UnitAttr":$explain, "::mlir::UnitAttr":$whole_sum,
    "::mlir::UnitAttr":$of_manual, "::mlir::UnitAttr":$whole_lines,

    "::mlir::UnitAttr":$local_view, "::mlir::TypeAttr":$global_type, "::mlir::UnitAttr":$running,
    "::shardc::spmd::MemoryPlanAttr":$memory_plan, "::mlir::IntegerAttr":$again, "::mlir::DenseI64ArrayAttr":$blocks,

    "::shardc::spmd::SiteTableAttr":$sites, "::mlir::ArrayAttr":$entry_inputs, "::mlir::ArrayAttr":$entry_outputs,

    "::mlir::UnitAttr":$any_order, "::mlir::UnitAttr":$rounded_once,
    "::mlir::UnitAttr":$brief, "::mlir::UnitAttr":$logistic, "::mlir::UnitAttr":$rotated,
    "::mlir::IntegerAttr":$parts, "::mlir::ArrayAttr":$kernels, "::mlir::UnitAttr":$arena,
    "::mlir::IntegerAttr":$arena_bytes, "::mlir::StringAttr":$arena_largest, "::mlir::ArrayAttr":$arena_plan,
    "::mlir::IntegerAttr":$in_place, "::mlir::DenseI64ArrayAttr":$written_in_place, "::shardc::spmd::LineOrderAttr":$line_order,
    "::mlir::ArrayAttr":$starts, "::mlir::IntegerAttr":$complex_part, "::mlir::UnitAttr":$library_call,

    "::shardc::spmd::KernelGpuAttr":$gpu, "::mlir::UnitAttr":$otherwise, "::mlir::UnitAttr":$persistent, "::mlir::UnitAttr":$paired,
    "::shardc::spmd::TensorFloatKindAttr":$tensor_float, "::mlir::ArrayAttr":$tensor_map, "::mlir::DenseI64ArrayAttr":$tensor_box,
    "::mlir::IntegerAttr":$tensor_maps);
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
class Spmd_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::shardc::spmd";
  let genSpecializedAttr = 0;
}

def Spmd_FlowDirection : Spmd_Enum<"FlowDirection", "where shardings may spread through a constraint", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Backward", 1, "backward">,
    I32EnumAttrCase<"None", 2, "none">]>;
def Spmd_FlowDirectionAttr : Spmd_EnumAttr<Spmd_FlowDirection, "direction">;

/// The ways to pair queries and keys of all ranks: docs/Rationale/Ring.md. Keys
/// travel and queries stay; the same, with queries in zigzag order; all keys
/// that a rank needs arrive at once; each rank has all of some heads.
def Spmd_PairWay : Spmd_Enum<"PairWay", "which way blocks of queries and keys go", [
    I32EnumAttrCase<"Ring", 0, "ring">, I32EnumAttrCase<"Zigzag", 1, "zigzag">,
    I32EnumAttrCase<"Gathered", 2, "gather">, I32EnumAttrCase<"Heads", 3, "heads">]>;
def Spmd_PairWayAttr : Spmd_EnumAttr<Spmd_PairWay, "way">;

/// What the program asks of a product of f32. Where the compiler may use tf32,
/// `default` is one product of it and `high` three.
def Spmd_TensorFloatKind : Spmd_Enum<"TensorFloatKind", "products on tensor cores in the place of one of f32", [
    I32EnumAttrCase<"Default", 0, "default">, I32EnumAttrCase<"High", 1, "high">,
    I32EnumAttrCase<"Tf32", 2, "tf32">, I32EnumAttrCase<"Tf32x3", 3, "tf32x3">]>;
def Spmd_TensorFloatKindAttr : Spmd_EnumAttr<Spmd_TensorFloatKind, "tensor_float">;

/// GPUs that have kernels of their own.
def Spmd_KernelGpu : Spmd_Enum<"KernelGpu", "the GPU whose instructions a kernel needs", [
    I32EnumAttrCase<"Sm90a", 0, "sm_90a">, I32EnumAttrCase<"Sm100a", 1, "sm_100a">]>;
def Spmd_KernelGpuAttr : Spmd_EnumAttr<Spmd_KernelGpu, "gpu">;

/// `total`: floats, by IEEE 754's total order. `numbers`: floats, zeros equal,
/// NaNs equal and above all others.
def Spmd_LineComparison : Spmd_Enum<"LineComparison", "how elements of a line are compared", [
    I32EnumAttrCase<"Signed", 0, "signed">, I32EnumAttrCase<"Unsigned", 1, "unsigned">,
    I32EnumAttrCase<"Total", 2, "total">, I32EnumAttrCase<"Numbers", 3, "numbers">]>;
def Spmd_LineOrderAttr : Spmd_Attr<"LineOrder", "line_order"> {
  let summary = "The order of a sorted line.";
  let description = [{
    `<comparison = numbers, descending = true>`: the largest is first.
  }];
  let parameters = (ins EnumParameter<Spmd_LineComparison>:$comparison,
                        DefaultValuedParameter<"bool", "false">:$descending);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Spmd_CheckKind : Spmd_Enum<"CheckKind", "how a result of a conformance file is compared", [
    I32EnumAttrCase<"Expected", 0, "expected">, I32EnumAttrCase<"Equal", 1, "eq">,
    I32EnumAttrCase<"AlmostEqual", 2, "almost_eq">, I32EnumAttrCase<"Close", 3, "close">]>;
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

def Spmd_ReductionKind : I32EnumAttr<"ReductionKind", "how partial values are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Product", 1, "product">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Max", 3, "max">,
    I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">,
    I32EnumAttrCase<"Xor", 6, "xor">]> {
  let cppNamespace = "::shardc::spmd";
}

/// As shardc::Padding; `constant` is `stablehlo.pad`.
def Spmd_PaddingMode : I32EnumAttr<"PaddingMode", "what is read outside a tensor", [
    I32EnumAttrCase<"Wrap", 1, "wrap">, I32EnumAttrCase<"Edge", 2, "edge">,
    I32EnumAttrCase<"Reflect", 3, "reflect">, I32EnumAttrCase<"Symmetric", 4, "symmetric">]> {
  let cppNamespace = "::shardc::spmd";
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

def Spmd_DimExchangeAttr : Spmd_Attr<"DimExchange", "dim_exchange"> {
  let summary = "Along one dim: what each coordinate owns and what it needs.";
  let description = [{
    `<dim 2 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>`: half-open global intervals, one for
    each coordinate along the axes. What is outside the domain is filled, or read where a last word
    `wrap`, `edge`, `reflect` or `symmetric` says. Tables that follow from what is bound are those of one binding, and have
    their formulas: `… by #spmd.formula<…> -> #spmd.formula<…>`.
  }];
  let parameters = (ins "int64_t":$dim, ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        ArrayRefParameter<"int64_t">:$owned,   // begin, end, begin, end ...
                        ArrayRefParameter<"int64_t">:$needed,
                        DefaultValuedParameter<"Padding", "Padding::Constant">:$padding,
                        OptionalParameter<"::shardc::spmd::FormulaAttr">:$ownedFormula,
                        OptionalParameter<"::shardc::spmd::FormulaAttr">:$neededFormula);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static DimExchangeAttr get(::mlir::MLIRContext *context, MeshAttr mesh, const ::shardc::DimExchange &exchange);
    ::shardc::DimExchange getExchange(MeshAttr mesh) const;
    /// The extent of the whole dim, as DimExchange::size.
    int64_t getSize() const;
  }];
}
def Spmd_DimExchangeArrayAttr : TypedArrayAttrBase<Spmd_DimExchangeAttr, "one entry for each dim that moves">;

def Spmd_ExchangePartAttr : Spmd_Attr<"ExchangePart", "part"> {
  let summary = "A part of what an exchange receives.";
  let description = [{
    `#spmd.part<[-1:9, 7:17], [0:4, 4:8]>`: for each dim of the exchange, in its order, an interval for each
    coordinate along the dim's axes.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$dims); // begin, end, begin, end ...
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static ExchangePartAttr get(::mlir::MLIRContext *context,
                                ::llvm::ArrayRef<std::vector<::shardc::Interval>> tables);
    std::vector<std::vector<::shardc::Interval>> getTables() const;
  }];
}
def Spmd_ExchangePartArrayAttr : TypedArrayAttrBase<Spmd_ExchangePartAttr, "parts of an exchange">;

//===----------------------------------------------------------------------===//
// What passes leave for the program as a whole
//===----------------------------------------------------------------------===//

def Spmd_MemoryPlanAttr : Spmd_Attr<"MemoryPlan", "memory_plan"> {
  let summary = "The result of the plan of memory.";
  let description = [{
    `<fits = true, peak_before = 960, peak_after = 512, repeated = 3, loops = 1, added_percent = 4>`: bytes that
    temporaries need without the plan and with it, ops computed again, loops over blocks, time added by estimate. A plan
    that does not fit names its `largest` values.
  }];
  let parameters = (ins "bool":$fits, "int64_t":$peak_before, "int64_t":$peak_after, "int64_t":$repeated,
                        "int64_t":$loops, "int64_t":$added_percent, OptionalParameter<"::mlir::StringAttr">:$largest);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Spmd_ArenaBufferAttr : Spmd_Attr<"ArenaBuffer", "arena_buffer"> {
  let summary = "A buffer of an arena whose buffers have sizes that are known when the program is bound.";
  let description = [{
    `<bytes = 32, sizes = [#spmd.formula<…>], below = array<i64: 0, 2>>`: `bytes` times the `sizes` of this rank, which follow from
    what is bound; it is above the ends of the buffers numbered `below`, earlier ones of the plan.
  }];
  let parameters = (ins "int64_t":$bytes, OptionalParameter<"::mlir::ArrayAttr">:$sizes,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$below);
  let assemblyFormat = "`<` struct(params) `>`";
}

/// As shardrt::SiteKind.
def Spmd_SiteKind : I32EnumAttr<"SiteKind", "what a communication site does", [
    I32EnumAttrCase<"Exchange", 1, "exchange">, I32EnumAttrCase<"AllReduce", 2, "all_reduce">,
    I32EnumAttrCase<"ReduceScatter", 3, "reduce_scatter">, I32EnumAttrCase<"RowPlan", 4, "row_plan">,
    I32EnumAttrCase<"GatherRows", 5, "gather_rows">, I32EnumAttrCase<"ScatterRows", 6, "scatter_rows">]> {
  let cppNamespace = "::shardc::spmd";
}

def Spmd_SiteRowsAttr : Spmd_Attr<"SiteRows", "site_rows"> {
  let summary = "Of sites that plan, gather or scatter rows: how rows are addressed.";
  let description = [{
    `<vector_dim = 1, gathers = true, components = array<i64: 0>, slices = array<i64: 1>, dims = [#spmd.dim_exchange<…>]>`:
    `vector_dim` of the indices holds the index vectors; the addressed dims of a tensor of rows start at `first`; each
    addressed dim has a component of the index vectors, a size of its slices and a table.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$vector_dim, DefaultValuedParameter<"int64_t", "0">:$first,
                        DefaultValuedParameter<"bool", "false">:$gathers, DefaultValuedParameter<"bool", "false">:$scatters,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$components,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$slices,
                        OptionalParameter<"::mlir::ArrayAttr">:$dims);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Spmd_OptionalReductionParameter : OptionalParameter<"std::optional<::shardc::spmd::ReductionKind>"> {
  let printer = "$_printer << ::shardc::spmd::stringifyReductionKind(*$_self)";
}

def Spmd_SiteAttr : Spmd_Attr<"Site", "site"> {
  let summary = "One communication op of a program, as the runtime knows it.";
  let description = [{
    `<kind = exchange, report = "halo_exchange", type = f32, shape = array<i64: 16, 4>, dims = [#spmd.dim_exchange<…>]>`.
    `report` is what reports call it, `name` why it is there, `location` the user's line. `shape` is that of the whole tensor.
    `in_place`: source and destination are one buffer, which holds the needed box. `released_later`: others may read the
    source until `spmd.release_site`. `group` are axes that are combined over; reductions of values alone have no shape.
  }];
  let parameters = (ins EnumParameter<Spmd_SiteKind>:$kind, "::mlir::StringAttr":$report, "::mlir::Type":$type,
                        Spmd_OptionalReductionParameter:$reduction,
                        OptionalParameter<"::mlir::StringAttr">:$name,
                        OptionalParameter<"::mlir::StringAttr">:$location,
                        DefaultValuedParameter<"bool", "false">:$in_place,
                        DefaultValuedParameter<"bool", "false">:$released_later,
                        OptionalParameter<"::mlir::ArrayAttr">:$group, OptionalParameter<"::mlir::DenseI64ArrayAttr">:$shape,
                        OptionalParameter<"::mlir::ArrayAttr">:$dims, OptionalParameter<"::mlir::ArrayAttr">:$parts,
                        OptionalParameter<"::shardc::spmd::SiteRowsAttr">:$rows);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Spmd_SiteTableAttr : Spmd_Attr<"SiteTable", "site_table"> {
  let summary = "All communication sites of a program, by their numbers, and the mesh they are for.";
  let description = [{
    `<#spmd.mesh_shape<["x"=2]>, []>`. `spmd.run_site 3` runs entry 3.
  }];
  let parameters = (ins "::shardc::spmd::MeshAttr":$mesh, "::mlir::ArrayAttr":$sites);
  let assemblyFormat = "`<` $mesh `,` $sites `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t size() const { return getSites().size(); }
    SiteAttr getSite(int64_t number) const { return ::mlir::cast<SiteAttr>(getSites()[number]); }
  }];
}

#endif // SHARDC_DIALECT_SPMD_IR_SPMDATTRIBUTES_TD
