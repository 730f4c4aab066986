// RUN: shard-opt %s | shard-opt | FileCheck %s
spmd.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @rows(
func.func @rows(%table: tensor<50x16xf32>, %indices: tensor<4x1xi32>, %updates: tensor<4x16xf32>)
    -> (tensor<4x16xf32>, tensor<50x16xf32>, tensor<50x16xf32>) {
  // CHECK: %[[PLAN:.*]] = local.row_plan %{{.*}} vector 1 components [0] slices [1] rows [<dim 0 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [<dim 0 along ["x"] : [0:4, 4:8] -> [0:4, 4:8]>] reason "asks" on @mesh : tensor<4x1xi32>
  %plan = local.row_plan %indices vector 1 components [0] slices [1]
      rows [<dim 0 along ["x"] : [0:50, 50:100] -> [0:1, 0:1]>] batch [<dim 0 along ["x"] : [0:4, 4:8] -> [0:4, 4:8]>]
      reason "asks" on @mesh : tensor<4x1xi32>
  // CHECK: local.gather_rows %[[PLAN]] of %{{.*}} first 0 [<dim 0 along ["x"] : [0:50, 50:100] -> [0:50, 50:100]>] on @mesh : tensor<50x16xf32> -> tensor<4x16xf32>
  %0 = local.gather_rows %plan of %table first 0 [<dim 0 along ["x"] : [0:50, 50:100] -> [0:50, 50:100]>]
      on @mesh : tensor<50x16xf32> -> tensor<4x16xf32>
  // CHECK: local.scatter_rows %[[PLAN]] by sum %{{.*}} into %{{.*}} first 0 [{{.*}}] on @mesh : tensor<4x16xf32>, tensor<50x16xf32>
  %1 = local.scatter_rows %plan by sum %updates into %table first 0 [<dim 0 along ["x"] : [0:50, 50:100] -> [0:50, 50:100]>]
      on @mesh : tensor<4x16xf32>, tensor<50x16xf32>
  // CHECK: local.scatter_rows %[[PLAN]] %{{.*}} into %{{.*}} first 0
  %2 = local.scatter_rows %plan %updates into %table first 0 [<dim 0 along ["x"] : [0:50, 50:100] -> [0:50, 50:100]>]
      on @mesh : tensor<4x16xf32>, tensor<50x16xf32>
  return %0, %1, %2 : tensor<4x16xf32>, tensor<50x16xf32>, tensor<50x16xf32>
}
