//===- KernelDialect.td - Kernels, sites and calls on buffers -*- tablegen -*-===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELDIALECT_TD
#define SHARDC_DIALECT_KERNEL_IR_KERNELDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "shardc/Dialect/Kernel/IR/KernelEnums.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::shardc::spmd";
  let summary = "Kernels, and what they call: sites, the host, libraries; on tensors and on buffers.";
  let description = [{
    Once communication is lowered. An op names destinations: on tensors they are its results, on buffers it has none.
    Communication is a site, by its number. What is marked here is about kernels: loops, arithmetic, launches, and the
    arena that they work in. Nothing here knows a sharding.
  }];
  // One line a level: sites; kernels on buffers; kernels of GPUs. KernelContracts.cpp
  // verifies them.
  let discardableAttrs = (ins
    "::shardc::spmd::SiteTableAttr":$sites, "::mlir::ArrayAttr":$entry_inputs, "::mlir::ArrayAttr":$entry_outputs,

    "::mlir::UnitAttr":$any_order, "::mlir::UnitAttr":$rounded_once, "::mlir::UnitAttr":$brief,
    "::mlir::UnitAttr":$logistic, "::mlir::UnitAttr":$rotated, "::mlir::IntegerAttr":$parts,
    "::mlir::ArrayAttr":$kernels, "::mlir::UnitAttr":$arena, "::mlir::IntegerAttr":$arena_bytes,
    "::mlir::StringAttr":$arena_largest, "::mlir::ArrayAttr":$arena_plan, "::mlir::IntegerAttr":$in_place,
    "::mlir::DenseI64ArrayAttr":$written_in_place, "::shardc::spmd::LineOrderAttr":$line_order,
    "::mlir::ArrayAttr":$starts, "::mlir::IntegerAttr":$complex_part, "::mlir::UnitAttr":$library_call,

    "::shardc::spmd::KernelGpuAttr":$gpu, "::mlir::UnitAttr":$otherwise, "::mlir::UnitAttr":$persistent,
    "::mlir::UnitAttr":$paired, "::shardc::spmd::TensorFloatKindAttr":$tensor_float, "::mlir::ArrayAttr":$tensor_map,
    "::mlir::DenseI64ArrayAttr":$tensor_box, "::mlir::IntegerAttr":$tensor_maps);
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let dependentDialects = ["::shardc::spmd::LocalDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

class Kernel_Attr<string name, string attrMnemonic> : AttrDef<Kernel_Dialect, name> {
  let mnemonic = attrMnemonic;
}

/// An enum that is an attribute by itself.
class Kernel_EnumAttr<EnumInfo info, string attrMnemonic> : EnumAttr<Kernel_Dialect, info, attrMnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Kernel_TensorFloatKindAttr : Kernel_EnumAttr<Kernel_TensorFloatKind, "tensor_float">;
def Kernel_KernelGpuAttr : Kernel_EnumAttr<Kernel_KernelGpu, "gpu">;

def Kernel_LineOrderAttr : Kernel_Attr<"LineOrder", "line_order"> {
  let summary = "The order of a sorted line.";
  let description = [{
    `<comparison = numbers, descending = true>`: the largest is first.
  }];
  let parameters = (ins EnumParameter<Kernel_LineComparison>:$comparison,
                        DefaultValuedParameter<"bool", "false">:$descending);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Kernel_ArenaBufferAttr : Kernel_Attr<"ArenaBuffer", "arena_buffer"> {
  let summary = "A buffer of an arena whose buffers have sizes that are known when the program is bound.";
  let description = [{
    `<bytes = 32, sizes = [#spmd.formula<…>], below = array<i64: 0, 2>>`: `bytes` times the `sizes` of this rank, which follow from
    what is bound; it is above the ends of the buffers numbered `below`, earlier ones of the plan.
  }];
  let parameters = (ins "int64_t":$bytes, OptionalParameter<"::mlir::ArrayAttr">:$sizes,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$below);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Kernel_SiteRowsAttr : Kernel_Attr<"SiteRows", "site_rows"> {
  let summary = "Of sites that plan, gather or scatter rows: how rows are addressed.";
  let description = [{
    `<vector_dim = 1, gathers = true, components = array<i64: 0>, slices = array<i64: 1>, dims = [#local.dim_exchange<…>]>`:
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

def Kernel_OptionalReductionParameter : OptionalParameter<"std::optional<::shardc::spmd::ReductionKind>"> {
  let printer = "$_printer << ::shardc::spmd::stringifyReductionKind(*$_self)";
}

def Kernel_SiteAttr : Kernel_Attr<"Site", "site"> {
  let summary = "One communication op of a program, as the runtime knows it.";
  let description = [{
    `<kind = exchange, report = "halo_exchange", type = f32, shape = array<i64: 16, 4>, dims = [#local.dim_exchange<…>]>`.
    `report` is what reports call it, `name` why it is there, `location` the user's line. `shape` is that of the whole tensor.
    `in_place`: source and destination are one buffer, which holds the needed box. `released_later`: others may read the
    source until `kernel.release_site`. `group` are axes that are combined over; reductions of values alone have no shape.
  }];
  let parameters = (ins EnumParameter<Kernel_SiteKind>:$kind, "::mlir::StringAttr":$report, "::mlir::Type":$type,
                        Kernel_OptionalReductionParameter:$reduction,
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

def Kernel_SiteTableAttr : Kernel_Attr<"SiteTable", "site_table"> {
  let summary = "All communication sites of a program, by their numbers, and the mesh they are for.";
  let description = [{
    `<#spmd.mesh_shape<["x"=2]>, []>`. `kernel.run_site 3` runs entry 3.
  }];
  let parameters = (ins "::shardc::spmd::MeshAttr":$mesh, "::mlir::ArrayAttr":$sites);
  let assemblyFormat = "`<` $mesh `,` $sites `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t size() const { return getSites().size(); }
    SiteAttr getSite(int64_t number) const { return ::mlir::cast<SiteAttr>(getSites()[number]); }
  }];
}

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits>;

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELDIALECT_TD
