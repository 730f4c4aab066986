//===- Passes.td - Global view to local view ---------------*- tablegen -*-===//
#ifndef SHARDC_PARTITION_PASSES_TD
#define SHARDC_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PartitionToLocalPass : Pass<"spmd-partition-to-local", "::mlir::ModuleOp"> {
  let summary = "Turn the fully sharded global view into one program for every rank.";
  let description = [{
    Before: every op carries `spmd.shardings`, ops with a rule `spmd.factors`. After: local types
    (static where all ranks agree, `?` elsewhere), communication ops where a rank needs what it does
    not own, `local.lookup` for what differs by rank. Refuses: shardings with dynamic sizes.
    Adds: one exchange for each operand that reaches out (all its dims in one round), one
    all-reduce or reduce-scatter for each partial result.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}, %zero: tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, []>})
        -> (tensor<f32> {spmd.sharding = #spmd.sharding<@mesh, []>}) {
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
          {spmd.factors = [#spmd<dim_sharding{"x"}>], spmd.shardings = [#spmd.sharding<@mesh, []>]}
          : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<4xf32> {spmd.global_type = tensor<8xf32>, spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}, %zero: tensor<f32> {spmd.global_type = tensor<f32>, spmd.sharding = #spmd.sharding<@mesh, []>}) -> (tensor<f32> {spmd.global_type = tensor<f32>, spmd.sharding = #spmd.sharding<@mesh, []>}) attributes {spmd.local_view} {
      %cst = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      %1 = local.all_reduce sum %0 along ["x"] reason "'stablehlo.reduce' reduces a dim that is cut" on @mesh : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<f32>
      %3 = stablehlo.add %2, %1 : tensor<f32>
      return %3 : tensor<f32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::spmd::LocalDialect", "::shardc::spmd::PairsDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::shardc::stablehlo::StablehloDialect"];
}

def VerifyLocalPass : Pass<"spmd-verify-local", "::mlir::ModuleOp"> {
  let summary = "Check what optimising communication relies on.";
  let description = [{
    Every function is in the local view (`spmd.local_view`); no op of the global view is left, and nothing says how a value is cut.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
      %0 = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
      %0 = local.all_reduce sum %x along ["x"] on @mesh : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

#endif // SHARDC_PARTITION_PASSES_TD
