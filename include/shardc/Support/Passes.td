//===- Passes.td - Passes for every stage ------------------*- tablegen -*-===//
#ifndef SHARDC_SUPPORT_PASSES_TD
#define SHARDC_SUPPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def CanonicalizePass : Pass<"spmd-canonicalize"> {
  let summary = "Bring ops to canonical forms of the same numbers.";
  let description = [{
    Before and after: ops of any stage, in regions of one block each; blocks stay as they are. MLIR's `canonicalize` without the patterns
    that make one rounding of two. The patterns of all ops are collected once for a context, not once for each place in a pipeline.

    ```mlir
    // before
    func.func @main(%n: i32, %i: index) -> (bf16, index) {
      %zero = arith.constant 0 : index
      %wide = arith.sitofp %n : i32 to f32
      %narrow = arith.truncf %wide : f32 to bf16
      %sum = arith.addi %i, %zero : index
      return %narrow, %sum : bf16, index
    }
    // after
    func.func @main(%n: i32, %i: index) -> (bf16, index) {
      %wide = arith.sitofp %n : i32 to f32
      %narrow = arith.truncf %wide : f32 to bf16
      return %narrow, %i : bf16, index
    }
    ```
  }];
}

def MergeEqualOpsPass : Pass<"spmd-merge-equal-ops"> {
  let summary = "Compute what is equal once.";
  let description = [{
    Before and after: ops of any stage. Of ops without effects that compute the same of the same operands the first is left.
    MLIR's `cse` does the same, but its hash does not look into regions: for ops that differ there alone, such as loops that begin
    with the same zeros, it takes time with the square of their number.

    ```mlir
    // before
    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %a = tensor.empty() : tensor<4xf32>
      %b = tensor.empty() : tensor<4xf32>
      %y = linalg.exp ins(%x : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
      %z = linalg.exp ins(%x : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
      return %y, %z : tensor<4xf32>, tensor<4xf32>
    }
    // after
    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = tensor.empty() : tensor<4xf32>
      %1 = linalg.exp ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
      return %1, %1 : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
}

#endif // SHARDC_SUPPORT_PASSES_TD
