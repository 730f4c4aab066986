// Products whose result is of another kind than their operands, as einsum of real
// tables and complex numbers prints them: refused where a complex result had real
// operands, a crash where it had integers. A sum that a lesser kind takes is
// converted once, not by each rank: 4 * 0.5 * 0.5 is 1, though two halves of it
// are 0 each.
// RUN: shard-run %s --input=2x4xf32=0.5 --input=4x3xf32=0.5 --input=2x4xi8=100 --input=4x3xi8=-3 | FileCheck %s
// RUN: shard-run %s --input=2x4xf32=0.5 --input=4x3xf32=0.5 --input=2x4xi8=100 --input=4x3xi8=-3 --ranks=1 | FileCheck %s
// RUN: shard-opt %s --spmd-decompose-ops | FileCheck %s --check-prefix=WHOLE

// CHECK: output 0: i32 [2, 3] 1 1 1 1 1 1
// CHECK: output 1: complex<f32> [2, 3] (1,0) (1,0)
// CHECK: output 2: complex<f32> [2, 3] (-1200,0)
// CHECK: output 3: f32 [2, 3] 1 1 1 1 1 1
// CHECK: output 4: i1 [2, 3] true true true true true true

// WHOLE: %[[SUM:.*]] = stablehlo.dot_general {{.*}} -> tensor<2x3xf32>
// WHOLE: stablehlo.convert %[[SUM]] : (tensor<2x3xf32>) -> tensor<2x3xi32>

sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<4x3xf32>,
                %c: tensor<2x4xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %d: tensor<4x3xi8>)
    -> (tensor<2x3xi32>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xi1>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xi32>
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xcomplex<f32>>
  %2 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<2x4xi8>, tensor<4x3xi8>) -> tensor<2x3xcomplex<f32>>
  %e = stablehlo.convert %a : (tensor<2x4xf32>) -> tensor<2x4xcomplex<f32>>
  %3 = stablehlo.dot_general %e, %b, contracting_dims = [1] x [0] : (tensor<2x4xcomplex<f32>>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %4 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xi1>
  return %0, %1, %2, %3, %4 : tensor<2x3xi32>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xi1>
}
