//===- Passes.td - Global view to local view ---------------*- tablegen -*-===//
#ifndef SHARDC_PARTITION_PASSES_TD
#define SHARDC_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PartitionToLocalPass : Pass<"spmd-partition-to-local", "::mlir::ModuleOp"> {
  let summary = "Turn the fully sharded global view into one program for every rank.";
  let description = [{
    Before: every op carries `spmd.shardings`, ops with a rule `spmd.factors`. After: local types
    (static where all ranks agree, `?` elsewhere), communication ops where a rank needs what it does
    not own, `spmd.lookup` for what differs by rank. Refuses: shardings with dynamic sizes.
    Adds: one exchange for each operand that reaches out (all its dims in one round), one
    all-reduce or reduce-scatter for each partial result.

    ```mlir
    // before, 16 rows over x = 2
    %1 = stablehlo.convolution(%0, %w) ... pad = [[1, 1], [1, 1]] ... : tensor<1x16x16x3xf32> ...
    // after
    %1 = spmd.halo_exchange %0 [<dim 1 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero ...
    %2 = stablehlo.convolution(%1, %w) ... pad = [[0, 0], [1, 1]] ... : tensor<1x10x16x3xf32> ...
    ```
  }];
  let dependentDialects = ["::shardc::spmd::SpmdDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::shardc::stablehlo::StablehloDialect"];
}

#endif // SHARDC_PARTITION_PASSES_TD
