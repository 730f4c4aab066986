// RUN: shard-opt %s --spmd-import --spmd-propagate --spmd-partition | FileCheck %s
// Algorithms along cut dims: what moves, and that nothing is gathered.

sdy.mesh @mesh = <["x"=4]>

// The columns are enough: one exchange there and one back.
// CHECK-LABEL: func.func @main(
// CHECK: %[[COLUMNS:.*]] = local.all_to_all %{{.*}} reason "'stablehlo.sort' has a dim whole that is cut, and another cut meanwhile"{{.*}} : tensor<2x8xf32> -> tensor<8x2xf32>
// CHECK: %[[SORTED:.*]] = "stablehlo.sort"(%[[COLUMNS]])
// CHECK: local.all_to_all %[[SORTED]]{{.*}} : tensor<8x2xf32> -> tensor<2x8xf32>

// No other dim: four blocks are sorted, and merged in the three rounds of merge
// exchange. The places are among the operands already.
// CHECK: "stablehlo.sort"({{.*}}) <{dimension = 0 : i64, is_stable = true}>
// CHECK-COUNT-2: local.{{rebalance|halo_exchange}} %{{.*}} [<dim 0 along ["x"] : [0:4, 4:8, 8:12, 12:16] -> [8:12, 12:16, 0:4, 4:8]>]
// CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<8xi32>
// CHECK: "stablehlo.sort"({{.*}}) <{dimension = 0 : i64, is_stable = true}>
// CHECK-COUNT-2: local.{{rebalance|halo_exchange}} %{{.*}} [<dim 0 along ["x"] : [0:4, 4:8, 8:12, 12:16] -> [4:8, 0:4, 12:16, 8:12]>]
// CHECK-COUNT-2: local.{{rebalance|halo_exchange}} %{{.*}} [<dim 0 along ["x"] : [0:4, 4:8, 8:12, 12:16] -> [0:0, 8:12, 4:8, 12:12]>]

// Two candidates a rank, to the rank that picks for their row. All ranks need what it picks.
// CHECK: chlo.top_k(%{{.*}}, k = 2) : tensor<3x16xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
// CHECK: local.all_to_all {{.*}} reason "'chlo.top_k' picks from the candidates of all ranks"{{.*}} : tensor<3x2xf32> -> tensor<?x8xf32>
// CHECK: local.all_gather {{.*}} reason "'chlo.top_k' gives what it picked to the ranks that need it"{{.*}} : tensor<?x2xf32> -> tensor<3x2xf32>

// One value a rank.
// CHECK: local.all_gather {{.*}} reason "'stablehlo.reduce' combines one value a rank"{{.*}} : tensor<1x3xf32> -> tensor<4x3xf32>

// One total a rank, to the ranks behind it; the block stays. What all elements of
// those ranks start from is a sum in f64.
// CHECK: local.halo_exchange %{{.*}} [<dim 0 along ["x"] : [0:1, 1:2, 2:3, 3:4] -> [0:0, 0:1, 0:2, 0:3]>] {{.*}} : tensor<1x3xf64> -> tensor<?x3xf64>
// CHECK: "stablehlo.reduce_window"({{.*}}) <{{{.*}}window_dimensions = array<i64: 1, 5>{{.*}}}>
// CHECK-NOT: all_gather
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %c: tensor<3x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %d: tensor<3x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8x8xf32>, tensor<16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<3xi32>, tensor<3x16xf32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %places = stablehlo.iota dim = 0 : tensor<16xi32>
  %2:2 = "stablehlo.sort"(%b, %places) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %1 = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>)
  %3:2 = chlo.top_k(%d, k = 2) : tensor<3x64xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %line = stablehlo.iota dim = 1 : tensor<3x16xi32>
  %4:2 = stablehlo.reduce(%c init: %least), (%line init: %first) across dimensions = [1] : (tensor<3x16xf32>, tensor<3x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
    reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %gt = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %value = stablehlo.or %gt, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %eq, %lt : tensor<i1>
    %place = stablehlo.or %value, %tie : tensor<i1>
    %v = stablehlo.select %value, %x, %y : tensor<i1>, tensor<f32>
    %w = stablehlo.select %place, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = "stablehlo.reduce_window"(%c, %zero) <{padding = dense<[[0, 0], [15, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 16>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x16xf32>, tensor<f32>) -> tensor<3x16xf32>
  return %0, %2#1, %3#0, %4#1, %5 : tensor<8x8xf32>, tensor<16xi32>, tensor<3x2xf32>, tensor<3xi32>, tensor<3x16xf32>
}
