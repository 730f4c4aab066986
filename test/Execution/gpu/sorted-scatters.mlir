// Many updates: sorted by place, of each place in order. Most places have many, some none; some updates go outside (dropped). Results
// are those of the host's loop to the bit, sums of floats and what overwrites among them.
// RUN: shard-run %s --seed=3 --range=-20,120 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --range=-20,120 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --seed=3 --range=-20,120 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --seed=3 --range=-20,120 --device=emulated-cuda --kernel-schedule=random=2 --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// Uneven shards: as many updates as a rank knows when the program runs. Ranks' sums are added, so that roundings differ.
// RUN: shard-run %s --seed=3 --range=-20,120 --mesh=x=3 --sizes=1:0=1300,0,200 --sizes=2:0=1300,0,200 --sizes=4:0=2,2398,100 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=1e-5 --atol=1e-2
// RUN: shard-opt %s --shardc-pipeline="target=cuda" | FileCheck %s
// CHECK-NOT: llvm.call @shardrt_read
// CHECK-NOT: llvm.func @serial_
sdy.mesh @mesh = <["x"=1]>
#rows = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
#elements = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
func.func @main(%x: tensor<100x6xf32>,
                %places: tensor<1500x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %u: tensor<1500x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %y: tensor<90xf64>, %v: tensor<2500xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<100x6xf32>, tensor<100x6xf32>, tensor<90xf64>) {
  %i = stablehlo.convert %places : (tensor<1500x1xf32>) -> tensor<1500x1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #rows, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<100x6xf32>, tensor<1500x1xi32>, tensor<1500x6xf32>) -> tensor<100x6xf32>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #rows, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<100x6xf32>, tensor<1500x1xi32>, tensor<1500x6xf32>) -> tensor<100x6xf32>
  %w = stablehlo.convert %v : (tensor<2500xf32>) -> tensor<2500xi64>
  %j = stablehlo.reshape %w : (tensor<2500xi64>) -> tensor<2500x1xi64>
  %f = stablehlo.convert %v : (tensor<2500xf32>) -> tensor<2500xf64>
  %2 = "stablehlo.scatter"(%y, %j, %f) <{scatter_dimension_numbers = #elements, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %s = stablehlo.maximum %a, %b : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) : (tensor<90xf64>, tensor<2500x1xi64>, tensor<2500xf64>) -> tensor<90xf64>
  return %0, %1, %2 : tensor<100x6xf32>, tensor<100x6xf32>, tensor<90xf64>
}
