//===- PairsEnums.td - Enums of the pairs dialect ----------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_PAIRS_IR_PAIRSENUMS_TD
#define SHARDC_DIALECT_PAIRS_IR_PAIRSENUMS_TD

include "mlir/IR/EnumAttr.td"

class Pairs_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::shardc::spmd";
  let genSpecializedAttr = 0;
}

/// The ways to pair queries and keys of all ranks: docs/Rationale/Ring.md. Keys
/// travel and queries stay; the same, with queries in zigzag order; all keys
/// that a rank needs arrive at once; each rank has all of some heads.
def Pairs_PairWay : Pairs_Enum<"PairWay", "which way blocks of queries and keys go", [
    I32EnumAttrCase<"Ring", 0, "ring">, I32EnumAttrCase<"Zigzag", 1, "zigzag">,
    I32EnumAttrCase<"Gathered", 2, "gather">, I32EnumAttrCase<"Heads", 3, "heads">]>;

def Pairs_PairCombine : I32EnumAttr<"PairCombine", "what becomes of a row of scores", [
    I32EnumAttrCase<"Softmax", 0, "softmax">, I32EnumAttrCase<"Sum", 1, "sum">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"TopK", 4, "top_k">]> {
  let cppNamespace = "::shardc::spmd";
}

#endif // SHARDC_DIALECT_PAIRS_IR_PAIRSENUMS_TD
