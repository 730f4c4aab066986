// RUN: shard-opt %s | shard-opt | FileCheck %s
// Everything parses, and parses again from its own print.

// CHECK: spmd.mesh @mesh = <["x"=4, "y"=2]>
spmd.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: func @shardings(
//  CHECK-SAME:   #spmd.sharding<@mesh, [{"x"}, {}]>
//  CHECK-SAME:   #spmd.sharding<@mesh, [{"x" sizes [3, 2, 1, 2]}, {?}]>
//  CHECK-SAME:   #spmd.sharding<@mesh, [{"x", "y"}p1, {}]>
//  CHECK-SAME:   #spmd.sharding<@mesh, [{"x" sizes dynamic}, {}], replicated = {"y"}>
//  CHECK-SAME:   #spmd.sharding<@mesh, [{"x", ?}, {}], partial = {"y" = sum}>
//  CHECK-SAME:   #spmd.sharding<@mesh, [{"x" sizes [3, 2, 1, 2] order zigzag}, {"y" order zigzag, ?}p0]>
func.func @shardings(%a: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                     %b: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [3, 2, 1, 2]}, {?}]>},
                     %c: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}p1, {}]>},
                     %d: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes dynamic}, {}], replicated = {"y"}>},
                     %e: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x", ?}, {}], partial = {"y" = sum}>},
                     %f: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [3, 2, 1, 2] order zigzag}, {"y" order zigzag, ?}p0]>}) {
  return
}

// CHECK-LABEL: func @global_view(
func.func @global_view(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // CHECK: spmd.constrain %{{.*}} <@mesh, [{"x"}, {}]> : tensor<8x6xf32>
  %0 = spmd.constrain %a <@mesh, [{"x"}, {}]> : tensor<8x6xf32>
  // CHECK: spmd.reshard %{{.*}} <@mesh, [{"x"}, {}]> -> <@mesh, [{}, {"x"}]> reason "dim 0 is contracted" : tensor<8x6xf32>
  %1 = spmd.reshard %0 <@mesh, [{"x"}, {}]> -> <@mesh, [{}, {"x"}]> reason "dim 0 is contracted" : tensor<8x6xf32>
  // CHECK: spmd.deal %{{.*}} dim 1 sizes [3, 0, 3] : tensor<8x6xf32>
  %2 = spmd.deal %1 dim 1 sizes [3, 0, 3] : tensor<8x6xf32>
  // CHECK: spmd.deal %{{.*}} dim 1 sizes [3, 0, 3] back : tensor<8x6xf32>
  %3 = spmd.deal %2 dim 1 sizes [3, 0, 3] back : tensor<8x6xf32>
  // CHECK: spmd.dealt_iota sizes [3, 0, 3] : tensor<6xi32>
  %4 = spmd.dealt_iota sizes [3, 0, 3] : tensor<6xi32>
  // CHECK: spmd.deal %{{.*}} dim 0 by <given [0, 0, 8]> sizes [4, 4] back reason "for a test" : tensor<8x6xf32>
  %5 = spmd.deal %3 dim 0 by <given [0, 0, 8]> sizes [4, 4] back reason "for a test" : tensor<8x6xf32>
  // CHECK: spmd.dealt_iota by <given [0, 0, 8]> sizes [4, 4] : tensor<8xi32>
  %6 = spmd.dealt_iota by <given [0, 0, 8]> sizes [4, 4] : tensor<8xi32>
  return %3 : tensor<8x6xf32>
}

// CHECK-LABEL: func @local_view(
func.func @local_view(%a: tensor<2x6xf32>, %zero: tensor<f32>, %first: index) -> tensor<?x6xf32> attributes {spmd.local_view} {
  // CHECK: local.lookup [3, 2, 1, 2] along ["x"] on @mesh
  %size = local.lookup [3, 2, 1, 2] along ["x"] on @mesh
  // CHECK: local.halo_exchange %{{.*}} [<dim 0 along ["x"] : [0:2, 2:4, 4:6, 6:8] -> [-1:3, 1:5, 3:7, 5:9]>] fill %{{.*}} : tensor<f32> reason "window" on @mesh : tensor<2x6xf32> -> tensor<4x6xf32>
  %0 = local.halo_exchange %a [<dim 0 along ["x"] : [0:2, 2:4, 4:6, 6:8] -> [-1:3, 1:5, 3:7, 5:9]>]
      fill %zero : tensor<f32> reason "window" on @mesh : tensor<2x6xf32> -> tensor<4x6xf32>
  // CHECK: local.halo_exchange %{{.*}} [<dim 0 along ["x"] : [0:2, 2:4, 4:6, 6:8] -> [-1:3, 1:5, 3:7, 5:9]>] parts [#local.part<[0:3, 2:5, 4:7, 6:9]>] fill
  %8 = local.halo_exchange %a [<dim 0 along ["x"] : [0:2, 2:4, 4:6, 6:8] -> [-1:3, 1:5, 3:7, 5:9]>]
      parts [#local.part<[0:3, 2:5, 4:7, 6:9]>] fill %zero : tensor<f32> on @mesh : tensor<2x6xf32> -> tensor<4x6xf32>
  // CHECK: local.rebalance
  %1 = local.rebalance %a [<dim 0 along ["x"] : [0:2, 2:4, 4:6, 6:8] -> [0:3, 3:5, 5:6, 6:8]>] on @mesh : tensor<2x6xf32> -> tensor<?x6xf32>
  // CHECK: local.all_gather
  %2 = local.all_gather %a [<dim 0 along ["x"] : [0:2, 2:4, 4:6, 6:8] -> [0:8, 0:8, 0:8, 0:8]>] on @mesh : tensor<2x6xf32> -> tensor<8x6xf32>
  // CHECK: local.all_to_all
  %3 = local.all_to_all %2 [<dim 0 along ["y"] : [0:4, 4:8] -> [0:8, 0:8]>, <dim 1 along ["y"] : [0:6, 0:6] -> [0:3, 3:6]>] on @mesh : tensor<8x6xf32> -> tensor<8x3xf32>
  // CHECK: local.all_reduce sum %{{.*}} along ["x", "y"] on @mesh : tensor<4x6xf32>
  %4 = local.all_reduce sum %0 along ["x", "y"] on @mesh : tensor<4x6xf32>
  // CHECK: local.reduce_scatter max %{{.*}} along ["y"] [<dim 0 along ["y"] : [0:8, 0:8] -> [0:4, 4:8]>] on @mesh : tensor<8x6xf32> -> tensor<4x6xf32>
  %5 = local.reduce_scatter max %2 along ["y"] [<dim 0 along ["y"] : [0:8, 0:8] -> [0:4, 4:8]>] on @mesh : tensor<8x6xf32> -> tensor<4x6xf32>
  // CHECK: local.dilate %{{.*}} dim 1 by 2 first %{{.*}} size %{{.*}} fill %{{.*}} : tensor<2x6xf32>, tensor<f32> -> tensor<2x?xf32>
  %6 = local.dilate %a dim 1 by 2 first %first size %size fill %zero : tensor<2x6xf32>, tensor<f32> -> tensor<2x?xf32>
  // CHECK: kernel.run_site 3 ins(%{{.*}}, %{{.*}} : tensor<2x6xf32>, tensor<f32>) outs(%{{.*}} : tensor<4x6xf32>) -> tensor<4x6xf32>
  %7 = kernel.run_site 3 ins(%a, %zero : tensor<2x6xf32>, tensor<f32>) outs(%4 : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %1 : tensor<?x6xf32>
}

// A table whose entries agree is a constant.
// CHECK-LABEL: func @lookup(
func.func @lookup() -> index {
  // CHECK: local.lookup
  %0 = local.lookup [5, 5] along ["y"] on @mesh
  return %0 : index
}
