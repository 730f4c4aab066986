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
    nothing else is enough; random bits, effects and loops never. Adds: `stablehlo.while` with `spmd.blocks`, and
    `stablehlo.optimization_barrier` with `spmd.again`, so that nothing undoes it.

    `spmd.memory_plan` of the function says what was done: `peak_before` and `peak_after` (bytes as estimated),
    `repeated` (ops that run once more), `loops`, and `fits`; `largest` names what is held where memory is fullest.

    ```mlir
    // before
    %a = stablehlo.dot_general %x, %w ... : tensor<1000000x64xf32>
    %b = stablehlo.tanh %a : tensor<1000000x64xf32>
    %s = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : tensor<64xf32>
    // after, with a limit
    %s:2 = stablehlo.while(%i = %c0, %sum = %zeros) ... do {
      %xi = stablehlo.dynamic_slice %x, %row, %c0, sizes = [8192, 64]
      %a = stablehlo.dot_general %xi, %w ... : tensor<8192x64xf32>
      ...
    ```
  }];
  let options = [Option<"limit", "limit", "int64_t", /*default=*/"0", "Bytes of temporaries of one rank; 0: no limit.">,
                 Option<"blocks", "blocks", "bool", /*default=*/"true", "Loops over blocks of rows.">];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

#endif // SHARDC_MEMORY_PASSES_TD
