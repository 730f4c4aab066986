//===- Passes.td - Programs larger than memory -------------*- tablegen -*-===//
#ifndef SHARDC_MEMORY_PASSES_TD
#define SHARDC_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def FitMemoryPass : Pass<"spmd-fit-memory", "::mlir::func::FuncOp"> {
  let summary = "Make values again, block by block, where holding them takes too much memory.";
  let description = [{
    Before and after: local view of one function. Does nothing where the estimated bytes of temporaries are
    within `limit`. Otherwise chains of ops on the same rows become loops over blocks of rows, whose reductions are
    accumulators, and ops whose results only wait for a late use are repeated there, those that
    free most for what they cost first, until the estimate is within the limit. Communication is repeated only where
    nothing else is enough; random bits, effects and loops never. Adds: `stablehlo.while` with `local.blocks`, and
    `stablehlo.optimization_barrier` with `local.again`, so that nothing undoes it.

    `local.memory_plan` of the function says what was done: `peak_before` and `peak_after` (bytes as estimated),
    `repeated` (ops that run once more), `loops`, and `fits`; `largest` names what is held where memory is fullest.

    ```mlir
    // before: --spmd-fit-memory=limit=40000
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<1009x16xf32>, %w: tensor<16x16xf32>) -> tensor<16xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1009x16xf32>, tensor<16x16xf32>) -> tensor<1009x16xf32>
      %1 = stablehlo.tanh %0 : tensor<1009x16xf32>
      %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<1009x16xf32>, tensor<16x16xf32>) -> tensor<1009x16xf32>
      %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1009x16xf32>, tensor<f32>) -> tensor<16xf32>
      return %3 : tensor<16xf32>
    }
    // after, among others
    %1:2 = stablehlo.while(%iterArg = %c, %iterArg_3 = %0) : tensor<i64>, tensor<16xf32> attributes {local.blocks = array<i64: 78, 13, 1009>}
    ...
    %9 = stablehlo.dynamic_slice %arg0, %8, %c_5, sizes = [13, 16] : (tensor<1009x16xf32>, tensor<i64>, tensor<i64>) -> tensor<13x16xf32>
    %10 = stablehlo.dot_general %9, %arg1, contracting_dims = [1] x [0] : (tensor<13x16xf32>, tensor<16x16xf32>) -> tensor<13x16xf32>
    %11 = stablehlo.tanh %10 : tensor<13x16xf32>
    ...
    %13 = stablehlo.reduce(%12 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<13x16xf32>, tensor<f32>) -> tensor<16xf32>
    %14 = stablehlo.add %iterArg_3, %13 : tensor<16xf32>
    ...
    %2 = stablehlo.dynamic_slice %arg0, %c_1, %c_2, sizes = [8, 16] : (tensor<1009x16xf32>, tensor<i64>, tensor<i64>) -> tensor<8x16xf32>
    ...
    %7 = stablehlo.add %1#1, %6 : tensor<16xf32>
    return %7 : tensor<16xf32>
    ```
  }];
  let options = [Option<"limit", "limit", "int64_t", /*default=*/"0", "Bytes of temporaries of one rank; 0: no limit.">,
                 Option<"blocks", "blocks", "bool", /*default=*/"true", "Loops over blocks of rows.">];
  let dependentDialects = ["::shardc::spmd::LocalDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

#endif // SHARDC_MEMORY_PASSES_TD
