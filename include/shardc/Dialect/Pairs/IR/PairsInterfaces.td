//===- PairsInterfaces.td - What ops on all pairs share ----*- tablegen -*-===//
#ifndef SHARDC_DIALECT_PAIRS_IR_PAIRSINTERFACES_TD
#define SHARDC_DIALECT_PAIRS_IR_PAIRSINTERFACES_TD

include "mlir/IR/OpBase.td"

def Pairs_AllPairsOpInterface : OpInterface<"AllPairsOpInterface"> {
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

#endif // SHARDC_DIALECT_PAIRS_IR_PAIRSINTERFACES_TD
