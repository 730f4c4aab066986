// What the interpreter says of local views that are not those of the program: one line each.
// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate -o %t.mlir
// RUN: shard-opt %t.mlir --spmd-verify-partition=global=%s -o %t.same.mlir
// RUN: sed 's/tensor<8x4xf32>, spmd.sharding = #spmd.sharding<@mesh, \[{"x"}, {}\]>/tensor<8x4xf32>/' %t.mlir | not shard-opt --spmd-verify-partition=global=%s 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: error: does not say how argument 0 is cut, or it has another shape
// RUN: sed 's/tensor<4xf32> {[^}]*}\]>}) attributes/tensor<4xf32>) attributes/; s/tensor<4xf32> {spmd.global_type = tensor<4xf32>, /tensor<4xf32> {/' %t.mlir | not shard-opt --spmd-verify-partition=global=%s 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: error: does not say how result 1 is cut
// RUN: sed 's/lookup \[4, 3\]/lookup [3, 3]/' %t.mlir | not shard-opt --spmd-verify-partition=global=%s 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: has another shape of result 0 on rank 0 than its sharding says
// RUN: sed 's/lookup \[1, 0\]/lookup [1, -1]/' %t.mlir | not shard-opt --spmd-verify-partition=global=%s 2>&1 | FileCheck %s --check-prefix=PAD
// PAD: error: pads by a negative amount
// RUN: sed 's/return %%padded, %%4/return %%padded, %%3/' %t.mlir | not shard-opt --spmd-verify-partition=global=%s 2>&1 | FileCheck %s --check-prefix=REPLICAS
// REPLICAS: error: gives rank 1 other elements of result 1 than a rank with the same box
// RUN: sed 's/return %%p, %%r : tensor<8x8xf32>, tensor<4xf32>/return %%p, %%r, %%r : tensor<8x8xf32>, tensor<4xf32>, tensor<4xf32>/; s/-> (tensor<8x8xf32>, tensor<4xf32>) {/-> (tensor<8x8xf32>, tensor<4xf32>, tensor<4xf32>) {/' %s > %t.more.mlir
// RUN: not shard-opt %t.mlir --spmd-verify-partition=global=%t.more.mlir 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: has 2 results, the program 3
// RUN: sed 's/return %%p, %%r : tensor<8x8xf32>/return %%b, %%r : tensor<4x8xf32>/; s/-> (tensor<8x8xf32>, tensor<4xf32>) {/-> (tensor<4x8xf32>, tensor<4xf32>) {/' %s > %t.other.mlir
// RUN: not shard-opt %t.mlir --spmd-verify-partition=global=%t.other.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: gives result 0 another type than the program
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<4xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %s = stablehlo.slice %0 [0:7, 0:8] : (tensor<8x8xf32>) -> tensor<7x8xf32>
  %p = stablehlo.pad %s, %z, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<7x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %p, %r : tensor<8x8xf32>, tensor<4xf32>
}
