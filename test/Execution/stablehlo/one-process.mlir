// RUN: shard-run %s 2>&1 | FileCheck %s
// Collectives of one device among itself, outside a manual region: pmap over an axis of one prints them.
// CHECK: on 1 rank

module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main() {
    %x = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1 = "stablehlo.all_gather"(%0) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %2 = "stablehlo.collective_permute"(%1) {source_target_pairs = dense<0> : tensor<1x2xi64>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %3 = stablehlo.replica_id : tensor<ui32>
    check.expect_eq_const %2, dense<[[1.0, 2.0]]> : tensor<1x2xf32>
    check.expect_eq_const %3, dense<0> : tensor<ui32>
    return
  }
}
