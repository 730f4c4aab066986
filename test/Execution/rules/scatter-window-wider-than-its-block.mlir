// RUN: shard-run %s --check 2>&1 | FileCheck %s
// RUN: shard-run %s --check --mesh=x=1,y=3 --sizes=0:2=5,0,3 2>&1 | FileCheck %s
// RUN: shard-run %s --check --mesh=x=2,y=4 2>&1 | FileCheck %s
// An update of a whole row, which an index moves along the dim that is cut: no rank's block holds the window. Batches
// are cut too, as vmap of dynamic_update_slice prints it with axes that are explicit. Indices reach past both ends: what
// lies outside is dropped, element by element.
// CHECK-COUNT-3: as unsharded: bitwise equal

module @scatter {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%x: tensor<2x10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>},
                  %u: tensor<2x1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>})
      -> (tensor<2x10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>},
          tensor<2x10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>},
          tensor<2x10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>}) {
    %i = stablehlo.constant dense<[[2, 0], [3, 0]]> : tensor<2x2xi32>
    %j = stablehlo.constant dense<[[9, 3], [0, -2]]> : tensor<2x2xi32>
    %0 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<2x10x8xf32>, tensor<2x2xi32>, tensor<2x1x8xf32>) -> tensor<2x10x8xf32>
    %1 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<2x10x8xf32>, tensor<2x2xi32>, tensor<2x1x8xf32>) -> tensor<2x10x8xf32>
    %2 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %3 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<2x10x8xf32>, tensor<2x2xi32>, tensor<2x1x8xf32>) -> tensor<2x10x8xf32>
    return %0, %1, %2 : tensor<2x10x8xf32>, tensor<2x10x8xf32>, tensor<2x10x8xf32>
  }
}
