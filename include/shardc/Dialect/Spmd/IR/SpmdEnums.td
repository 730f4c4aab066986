//===- SpmdEnums.td - Enums that all levels share ----------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDENUMS_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDENUMS_TD

include "mlir/IR/EnumAttr.td"

class Spmd_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::shardc::spmd";
  let genSpecializedAttr = 0;
}

def Spmd_FlowDirection : Spmd_Enum<"FlowDirection", "where shardings may spread through a constraint", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Backward", 1, "backward">,
    I32EnumAttrCase<"None", 2, "none">]>;

def Spmd_CheckKind : Spmd_Enum<"CheckKind", "how a result of a conformance file is compared", [
    I32EnumAttrCase<"Expected", 0, "expected">, I32EnumAttrCase<"Equal", 1, "eq">,
    I32EnumAttrCase<"AlmostEqual", 2, "almost_eq">, I32EnumAttrCase<"Close", 3, "close">]>;

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

#endif // SHARDC_DIALECT_SPMD_IR_SPMDENUMS_TD
