// Partial sums (of vector lanes, of threads, of ranks, of ranks that have no part) began with +0, so that sums of nothing
// but -0 that start from -0 were +0. Shown as their inverses.
// RUN: shard-run %s --input=7x1003xf32=-0 --input=2x5xf32=-0 --input=2xi32=3 --sizes=0:1=600,0,403 | FileCheck %s
// RUN: shard-run %s --input=7x1003xf32=-0 --input=2x5xf32=-0 --input=2xi32=3 --mesh=x=1 | FileCheck %s
// RUN: shard-run %s --input=7x1003xf32=-0 --input=2x5xf32=-0 --input=2xi32=3 --device=emulated-cuda | FileCheck %s
// CHECK: output 0: f32 [7] -inf -inf -inf -inf -inf -inf -inf
// CHECK: output 1: f64 [] -inf
// CHECK: output 2: f32 [5] -inf -inf -inf -inf -inf
// CHECK: output 3: f32 [2] -inf -inf
// Of products, and from a number that is known only now.
// CHECK: output 4: f32 [7] -inf -inf -inf -inf -inf -inf -inf
// Rows that nothing is added to, and one that is added to twice.
// CHECK: output 5: f32 [4, 5] -inf -inf -inf -inf -inf -inf -inf -inf
// From +0 all are +0.
// CHECK: output 6: f32 [7] inf inf inf inf inf inf inf
// CHECK: output 7: f32 [4, 5] inf inf inf inf inf inf inf inf
spmd.mesh @mesh = <["x"=3]>
func.func @main(%x: tensor<7x1003xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>},
                %few: tensor<2x5xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %rows: tensor<2xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>})
    -> (tensor<7xf32>, tensor<f64>, tensor<5xf32>, tensor<2xf32>, tensor<7xf32>, tensor<4x5xf32>, tensor<7xf32>, tensor<4x5xf32>) {
  %minus = stablehlo.constant dense<-0.0> : tensor<f32>
  %minus64 = stablehlo.constant dense<-0.0> : tensor<f64>
  %plus = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %minus) applies stablehlo.add across dimensions = [1] : (tensor<7x1003xf32>, tensor<f32>) -> tensor<7xf32>
  %wide = stablehlo.convert %x : (tensor<7x1003xf32>) -> tensor<7x1003xf64>
  %1 = stablehlo.reduce(%wide init: %minus64) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x1003xf64>, tensor<f64>) -> tensor<f64>
  %2 = stablehlo.reduce(%few init: %minus) applies stablehlo.add across dimensions = [0] : (tensor<2x5xf32>, tensor<f32>) -> tensor<5xf32>
  %3 = stablehlo.reduce(%few init: %minus) applies stablehlo.add across dimensions = [1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<2xf32>
  %corner = stablehlo.slice %x [0:1, 0:1] : (tensor<7x1003xf32>) -> tensor<1x1xf32>
  %start = stablehlo.reshape %corner : (tensor<1x1xf32>) -> tensor<f32>
  %row = stablehlo.slice %x [0:1, 0:1003] : (tensor<7x1003xf32>) -> tensor<1x1003xf32>
  %flat = stablehlo.reshape %row : (tensor<1x1003xf32>) -> tensor<1003xf32>
  %ones = stablehlo.exponential %flat : tensor<1003xf32>
  %spread = stablehlo.broadcast_in_dim %ones, dims = [1] : (tensor<1003xf32>) -> tensor<7x1003xf32>
  %product = stablehlo.multiply %x, %spread : tensor<7x1003xf32>
  %4 = stablehlo.reduce(%product init: %start) applies stablehlo.add across dimensions = [1] : (tensor<7x1003xf32>, tensor<f32>) -> tensor<7xf32>
  %into = stablehlo.constant dense<-0.0> : tensor<4x5xf32>
  %5 = "stablehlo.scatter"(%into, %rows, %few) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<2xi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  %6 = stablehlo.reduce(%x init: %plus) applies stablehlo.add across dimensions = [1] : (tensor<7x1003xf32>, tensor<f32>) -> tensor<7xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4x5xf32>
  %7 = "stablehlo.scatter"(%zeros, %rows, %few) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<2xi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  %unit = stablehlo.constant dense<1.0> : tensor<7xf32>
  %unit64 = stablehlo.constant dense<1.0> : tensor<f64>
  %unit5 = stablehlo.constant dense<1.0> : tensor<5xf32>
  %unit2 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %unit45 = stablehlo.constant dense<1.0> : tensor<4x5xf32>
  %r0 = stablehlo.divide %unit, %0 : tensor<7xf32>
  %r1 = stablehlo.divide %unit64, %1 : tensor<f64>
  %r2 = stablehlo.divide %unit5, %2 : tensor<5xf32>
  %r3 = stablehlo.divide %unit2, %3 : tensor<2xf32>
  %r4 = stablehlo.divide %unit, %4 : tensor<7xf32>
  %r5 = stablehlo.divide %unit45, %5 : tensor<4x5xf32>
  %r6 = stablehlo.divide %unit, %6 : tensor<7xf32>
  %r7 = stablehlo.divide %unit45, %7 : tensor<4x5xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7
      : tensor<7xf32>, tensor<f64>, tensor<5xf32>, tensor<2xf32>, tensor<7xf32>, tensor<4x5xf32>, tensor<7xf32>, tensor<4x5xf32>
}
