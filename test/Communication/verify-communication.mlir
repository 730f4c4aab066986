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

spmd.mesh @mesh = <["x"=2, "y"=2]>

// Dim 1 of the slices is dim 1 of the operand, whose dim 0 they do not keep:
// cut over "x", summed along "y".
// CHECK-LABEL: func @slices
func.func @slices(
    %x: tensor<?x?x7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y" sizes [1, 2]}, {"x" sizes [5, 4]}, {}]>},
    %indices: tensor<3x1xi32>) -> tensor<3x?x7xf32> attributes {spmd.local_view} {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %columns = tensor.dim %x, %c1 : tensor<?x?x7xf32>
  %sizes = tensor.from_elements %c1, %columns, %c7 : tensor<3xindex>
  %slices = "stablehlo.dynamic_gather"(%x, %indices, %sizes) <{dimension_numbers = #stablehlo.gather<
      offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}>
      : (tensor<?x?x7xf32>, tensor<3x1xi32>, tensor<3xindex>) -> tensor<3x?x7xf32>
  %0 = local.all_reduce sum %slices along ["y"] on @mesh : tensor<3x?x7xf32>
  return %0 : tensor<3x?x7xf32>
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
