// RUN: shard-opt %s --spmd-verify-communication --split-input-file | FileCheck %s
// Programs in which what ranks do together fits.

spmd.mesh @mesh = <["x"=4]>

// Sizes that differ by rank, an empty shard among them, are '?'.
// CHECK-LABEL: func @uneven
func.func @uneven(
    %x: tensor<?xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [3, 0, 4, 1]}]>}) -> tensor<2xf32>
    attributes {spmd.local_view} {
  %0 = local.rebalance %x [<dim 0 along ["x"] : [0:3, 3:3, 3:7, 7:8] -> [0:2, 2:4, 4:6, 6:8]>] on @mesh
      : tensor<?xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @scatter
func.func @scatter(
    %x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}], partial = {"x" = sum}>}) -> tensor<4xf32>
    attributes {spmd.local_view} {
  %0 = local.reduce_scatter sum %x along ["x"] [<dim 0 along ["x"] : [0:8, 0:8] -> [0:4, 4:8]>] on @mesh
      : tensor<8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
