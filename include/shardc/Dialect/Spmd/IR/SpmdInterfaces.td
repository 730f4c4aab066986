//===- SpmdInterfaces.td - What communication ops share ----*- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDINTERFACES_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDINTERFACES_TD

include "mlir/IR/OpBase.td"

def Spmd_CommunicationOpInterface : OpInterface<"CommunicationOpInterface"> {
  let cppNamespace = "::shardc::spmd";
  let description = "An op that all ranks of a group reach together.";
  let methods = [
    InterfaceMethod<"The mesh whose ranks take part.", "::mlir::FlatSymbolRefAttr", "getMeshName">,
    InterfaceMethod<"Mesh axes that the group spans, in no order.", "::llvm::SmallVector<::mlir::StringAttr>", "getGroupAxes">,
    InterfaceMethod<"The local value that goes in.", "::mlir::Value", "getSource">,
    InterfaceMethod<"The tables of the dims that move; null of an op that has none.", "::mlir::ArrayAttr", "getDims", (ins),
                    "", "return ::mlir::ArrayAttr();">,
    InterfaceMethod<"Why the op is there, in words; may be null.", "::mlir::StringAttr", "getReasonAttr">,
    InterfaceMethod<"Says why the op is there.", "void", "setReasonAttr", (ins "::mlir::StringAttr":$reason)>
  ];
}

def Spmd_ExchangeOpInterface : OpInterface<"ExchangeOpInterface", [Spmd_CommunicationOpInterface]> {
  let cppNamespace = "::shardc::spmd";
  let description = "A communication op that takes each rank from the box it owns to the box it needs.";
  let methods = [
    InterfaceMethod<"One element (a 0-d tensor) for what is outside the domain; null if nothing does.",
                    "::mlir::Value", "getFillValue">,
    InterfaceMethod<"The parts of what is needed that arrive (#spmd.part); null: all of it.", "::mlir::ArrayAttr", "getArriving">,
    InterfaceMethod<"Gives it other tables.", "void", "setDimsAttr", (ins "::mlir::ArrayAttr":$dims)>
  ];
  let extraClassDeclaration = [{
    /// The exchange as plain data. Requires the mesh symbol to exist.
    ::shardc::Exchange getExchange();
  }];
}

def Spmd_AllPairsOpInterface : OpInterface<"AllPairsOpInterface"> {
  let cppNamespace = "::shardc::spmd";
  let description = [{
    An op over the dims (batch..., query, key, depth, feature): each dim of each operand and result is one
    of them (`maps`).
  }];
  let methods = [
    InterfaceMethod<"One map for each operand, then one for each result.", "::mlir::ArrayAttr", "getMaps">,
    InterfaceMethod<"What scores are made of besides raw products.", "::mlir::OperandRange", "getExtras">,
    InterfaceMethod<"Sizes of the shards whose zigzag order the query dim is in; none where it is in natural order.",
                    "::llvm::ArrayRef<int64_t>", "getQueryOrder">,
    InterfaceMethod<"The same of the key dim.", "::llvm::ArrayRef<int64_t>", "getKeyOrder">,
    InterfaceMethod<"Keys below a query's position plus this have no weight; null: all may have.", "::mlir::IntegerAttr", "getBandLowerAttr">,
    InterfaceMethod<"The same of keys above.", "::mlir::IntegerAttr", "getBandUpperAttr">
  ];
  let extraClassDeclaration = [{
    ::mlir::AffineMap getMap(int64_t number) { return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[number]).getValue(); }
    ::mlir::AffineMap getResultMap(int64_t result) { return getMap(getOperation()->getNumOperands() + result); }
    /// True if some keys have no weight because of their positions.
    bool hasBand() { return getBandLowerAttr() || getBandUpperAttr(); }
    int64_t getNumDims() { return getMap(0).getNumDims(); }
    /// Dims before the query: heads, samples, groups of queries.
    int64_t getNumBatchDims() { return getNumDims() - 4; }
    int64_t getQueryDim() { return getNumDims() - 4; }
    int64_t getKeyDim() { return getNumDims() - 3; }
    int64_t getDepthDim() { return getNumDims() - 2; }
    int64_t getFeatureDim() { return getNumDims() - 1; }
    /// The place among the operands of the first extra.
    int64_t getFirstExtra() { return getExtras().empty() ? getOperation()->getNumOperands() : getExtras().getBeginOperandIndex(); }
    /// Extents of the dims: of the first tensor that has the dim and knows its
    /// size; dynamic if none knows, 1 if none has it.
    ::llvm::SmallVector<int64_t> getDimSizes();
    /// The type that raw scores, scores and sums have: f64 for f64, else f32.
    ::mlir::FloatType getAccumulatorType();
  }];
}

#endif // SHARDC_DIALECT_SPMD_IR_SPMDINTERFACES_TD
