// RUN: shard-opt %s --spmd-propagate --split-input-file | FileCheck %s

// The free axis "d" goes in with an operand, through the region, and out again;
// "m" cuts nothing inside, and outside what the region takes.
// CHECK-LABEL: func.func @free_axis(
//  CHECK-SAME:   #spmd.sharding<@mesh, [{}, {"m"}]>}
//       CHECK:   spmd.manual(%{{.*}}, %{{.*}}) in [#spmd.sharding<@mesh, [{"d"}, {}]>, #spmd.sharding<@mesh, [{}, {"m"}]>]
//  CHECK-SAME:     out [#spmd.sharding<@mesh, [{"d"}, {"m"}]>] along ["m"]
//  CHECK-SAME:     spmd.shardings = [#spmd.sharding<@mesh, [{"d"}, {"m"}]>]
//       CHECK:     stablehlo.dot_general
//  CHECK-SAME:       spmd.shardings = [#spmd.sharding<@mesh, [{"d"}, {}]>]
//   CHECK-NOT:   spmd.reshard
//       CHECK:   return
spmd.mesh @mesh = <["d"=2, "m"=2]>
func.func @free_axis(%x: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"d"}, {}]>}, %w: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %0 = spmd.manual(%x, %w) in [#spmd.sharding<@mesh, [{?}, {?}]>, #spmd.sharding<@mesh, [{?}, {"m", ?}]>] out [#spmd.sharding<@mesh, [{?}, {"m", ?}]>] along ["m"] {
  ^bb0(%a: tensor<4x6xf32>, %b: tensor<6x4xf32>):
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
    spmd.return %1 : tensor<4x4xf32>
  } : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// An operand that lies otherwise is moved before the region, a result after it.
// CHECK-LABEL: func.func @moved(
//       CHECK:   %[[IN:.*]] = spmd.reshard %{{.*}} -> <@mesh, [{"x"}]> reason "operand 0 of 'spmd.manual'
//       CHECK:   %[[OUT:.*]] = spmd.manual(%[[IN]])
//       CHECK:   spmd.reshard %[[OUT]]
spmd.mesh @mesh = <["x"=2]>
func.func @moved(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [5, 3]}]>}) -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>}) {
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{"x"}]>] out [#spmd.sharding<@mesh, [{"x"}]>] along ["x"] {
  ^bb0(%a: tensor<4xf32>):
    %1 = stablehlo.negate %a : tensor<4xf32>
    spmd.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
