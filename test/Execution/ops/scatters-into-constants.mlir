// RUN: shard-run %s --input=6xi32=3,-1,10,11,0,2147483647 --input=6xf32=1.5,2,-3,4,0.25,9 --input=2x6xi32=6,0,7,-1,3,2,4,5,0,0,-2147483648,1 --input=4x6xf32=3 --input=2xi8=8,120 --input=f32=7 --check --check=interpreter
// RUN: shard-run %s --input=6xi32=3,-1,10,11,0,2147483647 --input=6xf32=1.5,2,-3,4,0.25,9 --input=2x6xi32=6,0,7,-1,3,2,4,5,0,0,-2147483648,1 --input=4x6xf32=3 --input=2xi8=8,120 --input=f32=7 --ranks=1 --check=interpreter --outputs=@%t.npz
// RUN: shard-run %s --input=6xi32=3,-1,10,11,0,2147483647 --input=6xf32=1.5,2,-3,4,0.25,9 --input=2x6xi32=6,0,7,-1,3,2,4,5,0,0,-2147483648,1 --input=4x6xf32=3 --input=2xi8=8,120 --input=f32=7 --sizes=0:0=0,5,1 --threads=2 --check --check=interpreter
// RUN: shard-run %s --input=6xi32=3,-1,10,11,0,2147483647 --input=6xf32=1.5,2,-3,4,0.25,9 --input=2x6xi32=6,0,7,-1,3,2,4,5,0,0,-2147483648,1 --input=4x6xf32=3 --input=2xi8=8,120 --input=f32=7 --check=interpreter --device=emulated-cuda
// RUN: %python -c "import numpy; r = numpy.load(r'%t.npz'); print(numpy.argwhere(r['out0']).tolist(), r['out2'][2, 10], (r['out3'] != -1).sum(), numpy.argwhere(r['out4']).tolist(), r['out5'].ravel().tolist())" | FileCheck %s
// RUN: shard-opt %s --spmd-import | FileCheck %s --check-prefix=CHOICE

// Scatters that have one window for each batch become choices by place. Some
// indices are outside of the result, on both sides.
// CHECK: {{\[\[}}0, 3], [2, 10], [4, 0]] -3.0 8 {{\[\[}}8, 120]] [2.0, 2.0, 2.0, 2.0, 2.25, 2.0]
// CHOICE-NOT: stablehlo.scatter

spmd.mesh @mesh = <["x"=3]>
func.func @main(%labels: tensor<6xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
                %values: tensor<6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>},
                %pairs: tensor<2x6xi32>, %windows: tensor<4x6xf32>, %one: tensor<2xi8>, %number: tensor<f32>)
    -> (tensor<6x11xf32>, tensor<6x11xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}, tensor<6x11xf32>,
        tensor<6x4x5x7xf32>, tensor<9x300xf32>, tensor<6x1xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<6x11xf32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %halves = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> tensor<6x11xf32>
  %column = stablehlo.reshape %labels : (tensor<6xi32>) -> tensor<6x1x1xi32>
  %updates = stablehlo.reshape %values : (tensor<6xf32>) -> tensor<6x1xf32>
  // As JAX's take_along_axis has it, added; cut along rows.
  %0 = "stablehlo.scatter"(%zeros, %column, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x11xf32>, tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x11xf32>
  // The greater one; the result cut along what indices choose from.
  %1 = "stablehlo.scatter"(%halves, %labels, %values) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %b, %a : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x11xf32>, tensor<6xi32>, tensor<6xf32>) -> tensor<6x11xf32>
  // The update itself.
  %2 = "stablehlo.scatter"(%halves, %labels, %values) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<6x11xf32>, tensor<6xi32>, tensor<6xf32>) -> tensor<6x11xf32>
  // Two coordinates, the second dim of the result first; a window of the third between them.
  %many = stablehlo.constant dense<-1.0> : tensor<6x4x5x7xf32>
  %3 = "stablehlo.scatter"(%many, %pairs, %windows) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [2, 3],
      input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [3, 2], index_vector_dim = 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x4x5x7xf32>, tensor<2x6xi32>, tensor<4x6xf32>) -> tensor<6x4x5x7xf32>
  // No batch; the result has more places than the indices' type has numbers.
  %wide = stablehlo.constant dense<0.0> : tensor<9x300xf32>
  %4 = "stablehlo.scatter"(%wide, %one, %number) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1],
      scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<9x300xf32>, tensor<2xi8>, tensor<f32>) -> tensor<9x300xf32>
  // Of one place.
  %few = stablehlo.constant dense<2.0> : tensor<6x1xf32>
  %5 = "stablehlo.scatter"(%few, %labels, %values) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x1xf32>, tensor<6xi32>, tensor<6xf32>) -> tensor<6x1xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<6x11xf32>, tensor<6x11xf32>, tensor<6x11xf32>, tensor<6x4x5x7xf32>, tensor<9x300xf32>, tensor<6x1xf32>
}
