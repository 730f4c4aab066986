// RUN: shard-opt %s --pass-pipeline="builtin.module(spmd-lower-to-linalg,canonicalize,cse)" | FileCheck %s

// v.at[..., 1].set(u) of one sample: the update lacks the last dim, and MLIR's canonicalisation took it to lack the first.
// Found by test/Execution/families (attention_zero_in_values).

// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0], [1], [2, 3]] {{.*}}tensor<1x2x?xf32> into tensor<1x2x?x1xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0, 1]
// CHECK-NOT: tensor.cast
func.func @main(%v: tensor<1x2x?x4xf32>, %u: tensor<1x2x?xf32>) -> tensor<1x2x?x4xf32> {
  %i = stablehlo.constant dense<1> : tensor<1xi32>
  %0 = "stablehlo.scatter"(%v, %i, %u) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 2], inserted_window_dims = [3], scatter_dims_to_operand_dims = [3]>, unique_indices = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<1x2x?x4xf32>, tensor<1xi32>, tensor<1x2x?xf32>) -> tensor<1x2x?x4xf32>
  return %0 : tensor<1x2x?x4xf32>
}
