// RUN: shard-opt %s --spmd-propagate | FileCheck %s

spmd.mesh @mesh = <["x"=4]>

// One reader needs all, another columns: what is gathered is sliced, and nothing moves twice.
// CHECK-LABEL: func.func @main
//       CHECK:   %[[ALL:.*]] = spmd.reshard %{{.*}} <@mesh, [{"x"}, {}]> -> <@mesh, [{}, {}]>
//       CHECK:   spmd.reshard %[[ALL]] <@mesh, [{}, {}]> -> <@mesh, [{}, {"x"}]>
func.func @main(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}, tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}) {
  %0 = spmd.constrain %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}
