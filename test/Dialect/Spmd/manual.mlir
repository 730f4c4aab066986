// RUN: shard-opt %s | shard-opt | FileCheck %s

spmd.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: func.func @nested(
//  CHECK-SAME:   %[[X:.*]]: tensor<8x6xf32>
func.func @nested(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // CHECK: spmd.manual(%[[X]]) in [#spmd.sharding<@mesh, [{"x"}, {?}]>] out [#spmd.sharding<@mesh, [{"x"}, {}]>] along ["x"] {
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"x"}, {?}]>] out [#spmd.sharding<@mesh, [{"x"}, {}]>] along ["x"] {
  ^bb0(%block: tensor<2x6xf32>):
    // CHECK: spmd.manual(%{{.*}}) in [#spmd.sharding<@mesh, [{}, {"y"}]>] out [#spmd.sharding<@mesh, [{}, {"y"}]>] along ["y"] {
    %1 = spmd.manual(%block) in [#spmd.sharding<@mesh, [{}, {"y"}]>] out [#spmd.sharding<@mesh, [{}, {"y"}]>] along ["y"] {
    ^bb0(%small: tensor<2x3xf32>):
      // CHECK: spmd.return %{{.*}} : tensor<2x3xf32>
      spmd.return %small : tensor<2x3xf32>
    } : (tensor<2x6xf32>) -> tensor<2x6xf32>
    spmd.return %1 : tensor<2x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
