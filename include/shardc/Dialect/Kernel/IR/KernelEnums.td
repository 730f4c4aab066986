//===- KernelEnums.td - Enums of the kernel dialect --------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELENUMS_TD
#define SHARDC_DIALECT_KERNEL_IR_KERNELENUMS_TD

include "mlir/IR/EnumAttr.td"

class Kernel_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::shardc::spmd";
  let genSpecializedAttr = 0;
}

/// What the program asks of a product of f32. Where the compiler may use tf32,
/// `default` is one product of it and `high` three.
def Kernel_TensorFloatKind : Kernel_Enum<"TensorFloatKind", "products on tensor cores in the place of one of f32", [
    I32EnumAttrCase<"Default", 0, "default">, I32EnumAttrCase<"High", 1, "high">,
    I32EnumAttrCase<"Tf32", 2, "tf32">, I32EnumAttrCase<"Tf32x3", 3, "tf32x3">]>;

/// GPUs that have kernels of their own.
def Kernel_KernelGpu : Kernel_Enum<"KernelGpu", "the GPU whose instructions a kernel needs", [
    I32EnumAttrCase<"Sm90a", 0, "sm_90a">, I32EnumAttrCase<"Sm100a", 1, "sm_100a">]>;

/// `total`: floats, by IEEE 754's total order. `numbers`: floats, zeros equal,
/// NaNs equal and above all others.
def Kernel_LineComparison : Kernel_Enum<"LineComparison", "how elements of a line are compared", [
    I32EnumAttrCase<"Signed", 0, "signed">, I32EnumAttrCase<"Unsigned", 1, "unsigned">,
    I32EnumAttrCase<"Total", 2, "total">, I32EnumAttrCase<"Numbers", 3, "numbers">]>;

def Kernel_LineKind : I32EnumAttr<"LineKind", "what is done to a line", [
    I32EnumAttrCase<"Sort", 0, "sort">, I32EnumAttrCase<"Scan", 1, "scan">,
    I32EnumAttrCase<"Fourier", 2, "fourier">]> {
  let cppNamespace = "::shardc::spmd";
}

/// As shardrt::SiteKind.
def Kernel_SiteKind : I32EnumAttr<"SiteKind", "what a communication site does", [
    I32EnumAttrCase<"Exchange", 1, "exchange">, I32EnumAttrCase<"AllReduce", 2, "all_reduce">,
    I32EnumAttrCase<"ReduceScatter", 3, "reduce_scatter">, I32EnumAttrCase<"RowPlan", 4, "row_plan">,
    I32EnumAttrCase<"GatherRows", 5, "gather_rows">, I32EnumAttrCase<"ScatterRows", 6, "scatter_rows">]> {
  let cppNamespace = "::shardc::spmd";
}

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELENUMS_TD
