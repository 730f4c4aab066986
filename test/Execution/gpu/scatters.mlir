// Updates go to places that the program computes: rows and single elements, many of one place (of which the last one counts where they
// overwrite), places outside (dropped). Places belong to threads, so that results are those of the loop; nothing is left on the host.
// RUN: shard-run %s --seed=3 --range=-20,120 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --range=-20,120 --device=emulated-cuda --check-kernels --expect=@%t.npz
// RUN: shard-run %s --seed=3 --range=-20,120 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz
// RUN: shard-run %s --seed=3 --range=-20,120 --device=emulated-cuda --kernel-schedule=random=2 --expect=@%t.npz
// RUN: shard-opt %s --shardc-pipeline="target=cuda" | FileCheck %s
// CHECK-NOT: llvm.call @shardrt_read
// CHECK-NOT: llvm.func @serial_
#rows = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
#elements = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
func.func @main(%x: tensor<100x24xf32>, %places: tensor<300x1xf32>, %u: tensor<300x24xf32>, %y: tensor<100xi32>, %v: tensor<300xi32>)
    -> (tensor<100x24xf32>, tensor<100x24xf32>, tensor<100xi32>) {
  %i = stablehlo.convert %places : (tensor<300x1xf32>) -> tensor<300x1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #rows, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<100x24xf32>, tensor<300x1xi32>, tensor<300x24xf32>) -> tensor<100x24xf32>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #rows, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<100x24xf32>, tensor<300x1xi32>, tensor<300x24xf32>) -> tensor<100x24xf32>
  %2 = "stablehlo.scatter"(%y, %i, %v) <{scatter_dimension_numbers = #elements, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<100xi32>, tensor<300x1xi32>, tensor<300xi32>) -> tensor<100xi32>
  return %0, %1, %2 : tensor<100x24xf32>, tensor<100x24xf32>, tensor<100xi32>
}
