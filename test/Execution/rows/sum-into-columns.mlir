// RUN: shard-run %s --seed=3 --check
// RUN: shard-run %s --ranks=1 --seed=3 --check
// RUN: shard-run %s --mesh=x=3 --sizes=0:0=5,0,3 --sizes=2:0=0,9,7 --seed=3 --check
// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate --spmd-lower-cpu --mlir-print-ir-after=spmd-generalize-buffer-ops -o /dev/null 2>&1 | FileCheck %s

// Rows that other ranks send are added up turn by turn, and what comes of it becomes columns of a larger tensor: not
// an array to send rows to. The sum has one of its own, which no turn copies.
// CHECK-LABEL: func.func @main(
//       CHECK:   scf.for
//   CHECK-NOT:     memref.alloc
//   CHECK-NOT:     linalg.generic
//       CHECK:     kernel.run_site {{.*}} accumulates
//   CHECK-NOT:     memref.alloc
//   CHECK-NOT:     linalg.generic
//       CHECK:   }
//   CHECK-NOT:   memref.alloc{{.*}}strided
module @m {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%h: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %m: tensor<3x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %to: tensor<16x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<8x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %none = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %loop:2 = stablehlo.while(%i = %i0, %sum = %none) : tensor<i32>, tensor<8x4xf32>
     cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %go = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %z = stablehlo.constant dense<0> : tensor<i32>
      %part = stablehlo.dynamic_slice %m, %i, %z, %z, sizes = [1, 16, 4] : (tensor<3x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x4xf32>
      %rows = stablehlo.reshape %part : (tensor<1x16x4xf32>) -> tensor<16x4xf32>
      %next = "stablehlo.scatter"(%sum, %to, %rows) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<8x4xf32>, tensor<16x1xi32>, tensor<16x4xf32>) -> tensor<8x4xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next : tensor<i32>, tensor<8x4xf32>
    }
    %both = stablehlo.concatenate %h, %loop#1, dim = 1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    %out = stablehlo.dot_general %both, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    return %out : tensor<8x4xf32>
  }
}
