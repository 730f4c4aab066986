//===- PairsDialect.td - Every query with every key --------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_PAIRS_IR_PAIRSDIALECT_TD
#define SHARDC_DIALECT_PAIRS_IR_PAIRSDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "shardc/Dialect/Pairs/IR/PairsEnums.td"
include "shardc/Dialect/Pairs/IR/PairsInterfaces.td"
include "shardc/Dialect/Spmd/IR/SpmdDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Pairs_Dialect : Dialect {
  let name = "pairs";
  let cppNamespace = "::shardc::spmd";
  let summary = "Every query with every key: attention, its gradient, sums of kernels, neighbours.";
  let description = [{
    `pairs.all_pairs` and `pairs.attention_backward` are of both views. Partition makes steps of them, `pairs.pair_step`,
    which add a block of keys to a state, on tensors and then on buffers, until they are kernels.
  }];
  // PairsContracts.cpp verifies them.
  let discardableAttrs = (ins "::shardc::spmd::PairWayAttr":$way);
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let dependentDialects = ["::shardc::spmd::SpmdDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

class Pairs_Attr<string name, string attrMnemonic> : AttrDef<Pairs_Dialect, name> {
  let mnemonic = attrMnemonic;
}

/// An enum that is an attribute by itself.
class Pairs_EnumAttr<EnumInfo info, string attrMnemonic> : EnumAttr<Pairs_Dialect, info, attrMnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Pairs_PairWayAttr : Pairs_EnumAttr<Pairs_PairWay, "way">;

class Pairs_Op<string mnemonic, list<Trait> traits = []> : Op<Pairs_Dialect, mnemonic, traits>;

#endif // SHARDC_DIALECT_PAIRS_IR_PAIRSDIALECT_TD
