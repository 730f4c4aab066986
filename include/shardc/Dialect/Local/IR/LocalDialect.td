//===- LocalDialect.td - The local view --------------------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCALDIALECT_TD
#define SHARDC_DIALECT_LOCAL_IR_LOCALDIALECT_TD

include "shardc/Dialect/Local/IR/LocalInterfaces.td"
include "shardc/Dialect/Spmd/IR/SpmdDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Local_Dialect : Dialect {
  let name = "local";
  let cppNamespace = "::shardc::spmd";
  let summary = "The local view: what one rank does, with communication as ops.";
  let description = [{
    Between partition and the lowering of communication: values are a rank's own parts, `local.lookup` says what differs
    by rank, and exchanges, reductions and rows by index are what ranks do together. `local.lookup` stays until kernels
    are called. Meshes and shardings are those of `spmd`.
  }];
  // LocalContracts.cpp verifies them.
  let discardableAttrs = (ins
    "::mlir::UnitAttr":$running, "::shardc::spmd::MemoryPlanAttr":$memory_plan, "::mlir::IntegerAttr":$again,
    "::mlir::DenseI64ArrayAttr":$blocks);
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let dependentDialects = ["::shardc::spmd::SpmdDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

class Local_Attr<string name, string attrMnemonic> : AttrDef<Local_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Local_DimExchangeAttr : Local_Attr<"DimExchange", "dim_exchange"> {
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
def Local_DimExchangeArrayAttr : TypedArrayAttrBase<Local_DimExchangeAttr, "one entry for each dim that moves">;

def Local_ExchangePartAttr : Local_Attr<"ExchangePart", "part"> {
  let summary = "A part of what an exchange receives.";
  let description = [{
    `#local.part<[-1:9, 7:17], [0:4, 4:8]>`: for each dim of the exchange, in its order, an interval for each
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
def Local_ExchangePartArrayAttr : TypedArrayAttrBase<Local_ExchangePartAttr, "parts of an exchange">;

def Local_MemoryPlanAttr : Local_Attr<"MemoryPlan", "memory_plan"> {
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

class Local_Op<string mnemonic, list<Trait> traits = []> : Op<Local_Dialect, mnemonic, traits>;

#endif // SHARDC_DIALECT_LOCAL_IR_LOCALDIALECT_TD
