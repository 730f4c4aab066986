// Many updates of integers, whose order is all the same: a thread each, atomically. Few places that many want, places of two numbers, updates that go outside
// (dropped), the larger and the bits of both; to the bit the host's.
// RUN: shard-run %s --seed=3 --range=-2,8 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --range=-2,8 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --seed=3 --range=-2,8 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --seed=3 --range=-2,8 --device=emulated-cuda --kernel-schedule=random=2 --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --seed=3 --range=-2,8 --mesh=x=3 --sizes=0:0=1300,0,1700 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-translate %s --target=cuda --emit=ptx -o - | FileCheck %s
// Nothing is sorted: no block synchronises.
// CHECK-NOT: bar.sync
// CHECK-DAG: {{(red|atom)}}.{{.*}}add.u32
// CHECK-DAG: {{(red|atom)}}.{{.*}}max.s64
// CHECK-DAG: {{(red|atom)}}.{{.*}}xor.b32
// CHECK-NOT: bar.sync
sdy.mesh @mesh = <["x"=1]>
#elements = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
#pairs = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>
func.func @main(%places: tensor<3000x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %two: tensor<2000x2xf32>, %bins: tensor<7xi32>, %most: tensor<7xi64>, %grid: tensor<5x6xi32>)
    -> (tensor<7xi32>, tensor<7xi64>, tensor<5x6xi32>) {
  %i = stablehlo.convert %places : (tensor<3000x1xf32>) -> tensor<3000x1xi32>
  %one = stablehlo.constant dense<1> : tensor<3000xi32>
  %0 = "stablehlo.scatter"(%bins, %i, %one) <{scatter_dimension_numbers = #elements, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<7xi32>, tensor<3000x1xi32>, tensor<3000xi32>) -> tensor<7xi32>
  %many = stablehlo.constant dense<1.0e+6> : tensor<3000x1xf32>
  %large = stablehlo.multiply %places, %many : tensor<3000x1xf32>
  %flat = stablehlo.reshape %large : (tensor<3000x1xf32>) -> tensor<3000xf32>
  %wide = stablehlo.convert %flat : (tensor<3000xf32>) -> tensor<3000xi64>
  %1 = "stablehlo.scatter"(%most, %i, %wide) <{scatter_dimension_numbers = #elements, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.maximum %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<7xi64>, tensor<3000x1xi32>, tensor<3000xi64>) -> tensor<7xi64>
  %j = stablehlo.convert %two : (tensor<2000x2xf32>) -> tensor<2000x2xi64>
  %bits = stablehlo.iota dim = 0 : tensor<2000xi32>
  %2 = "stablehlo.scatter"(%grid, %j, %bits) <{scatter_dimension_numbers = #pairs, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.xor %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<5x6xi32>, tensor<2000x2xi64>, tensor<2000xi32>) -> tensor<5x6xi32>
  return %0, %1, %2 : tensor<7xi32>, tensor<7xi64>, tensor<5x6xi32>
}
