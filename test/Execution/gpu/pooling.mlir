// Pooling backward: windows that overlap, that do not touch, that lie in the padding as a whole; many equals, of which the first counts;
// nothing at all. Each place takes what chose it in the order of the host's loop, so that results are the same to the bit, and no
// kernel has one thread.
// RUN: shard-run %s --seed=3 --range=-4,4 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --range=-4,4 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --seed=3 --range=-4,4 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --seed=3 --range=-4,4 --device=emulated-cuda --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// Images in shards of other sizes, none on one rank.
// RUN: shard-run %s --seed=3 --range=-4,4 --mesh=x=3 --sizes=0:1=9,0,6 --sizes=1:1=5,0,3 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-opt %s --spmd-lower-to-linalg=many-threads=true | FileCheck %s
// Two kernels: windows choose, places take. Two windows of 3 at steps of 2 hold a place.
// CHECK-LABEL: func.func @main
//       CHECK: %[[PLACES:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]} outs({{.*}} : tensor<2x8x7xi64>)
//       CHECK: %[[SHAPE:.*]] = tensor.empty() : tensor<1x2x2xf32>
//       CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[SHAPE]]
//       CHECK:   tensor.extract %[[PLACES]]
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<2x15x13xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>},
                %u: tensor<2x8x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>},
                %y: tensor<20xf64>, %v: tensor<7xf64>, %none: tensor<0x6xf32>, %w: tensor<0x3xf32>)
    -> (tensor<2x15x13xf32>, tensor<20xf64>, tensor<0x6xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %whole = stablehlo.round_nearest_even %x : tensor<2x15x13xf32>
  %0 = "stablehlo.select_and_scatter"(%whole, %u, %zero) <{window_dimensions = array<i64: 1, 3, 3>, window_strides = array<i64: 1, 2, 2>,
      padding = dense<[[0, 0], [1, 1], [1, 1]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x15x13xf32>, tensor<2x8x7xf32>, tensor<f32>) -> tensor<2x15x13xf32>
  // 2 of every 4, the first of them in the padding: the smallest, and what overwrites.
  %1 = "stablehlo.select_and_scatter"(%y, %v, %one) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 4>,
      padding = dense<[[5, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.compare LE, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    stablehlo.return %b : tensor<f64>
  }) : (tensor<20xf64>, tensor<7xf64>, tensor<f64>) -> tensor<20xf64>
  %2 = "stablehlo.select_and_scatter"(%none, %w, %zero) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<0x6xf32>, tensor<0x3xf32>, tensor<f32>) -> tensor<0x6xf32>
  return %0, %1, %2 : tensor<2x15x13xf32>, tensor<20xf64>, tensor<0x6xf32>
}
