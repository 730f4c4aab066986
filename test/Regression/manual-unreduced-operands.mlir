// RUN: shard-run %s --input=4xf32=1,2,3,4 --input=8xf32=0,1,2,3,4,5,6,7 --input=2x2xi32=1,2,3,4 --check --check=interpreter --outputs=@%t.npz
// RUN: shard-run %s --input=4xf32=1,2,3,4 --input=8xf32=0,1,2,3,4,5,6,7 --input=2x2xi32=1,2,3,4 --interpret | FileCheck %s

// A value that a manual region sees unreduced is whole outside: the region's sum of it was as often the value as there
// are ranks, on the ranks and in their emulation on one. The numbers are those that XLA gives (JAX 0.10.2,
// shard_map with unreduced specs).

// CHECK: output 0: f32 [4] 1 2 3 4
// CHECK: output 1: f32 [4] 4 6 8 10
// CHECK: output 2: i32 [2, 2] 1 2 3 4
// CHECK: output 3: f32 [2] 10 26
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4xf32>, %b: tensor<8xf32>, %c: tensor<2x2xi32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<2x2xi32>, tensor<2xf32>) {
  // In: summed over "x", each rank keeps its part.
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}], unreduced={"x"}>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%v: tensor<4xf32>) {
    %s = "stablehlo.reduce_scatter"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<2xf32>
    sdy.return %s : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // Out: blocks that are to be summed over "y".
  %1 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{"y"}]>] out_shardings=[<@mesh, [{}], unreduced={"y"}>] manual_axes={"y"} (%v: tensor<4xf32>) {
    sdy.return %v : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<4xf32>
  // Both ways over two axes, of integers: what leaves is what came.
  %2 = sdy.manual_computation(%c) in_shardings=[<@mesh, [{}, {}], unreduced={"x", "y"}>] out_shardings=[<@mesh, [{}, {}], unreduced={"x", "y"}>] manual_axes={"x", "y"} (%v: tensor<2x2xi32>) {
    sdy.return %v : tensor<2x2xi32>
  } : (tensor<2x2xi32>) -> tensor<2x2xi32>
  // Cut along one axis, unreduced along the other: 1 + 2 + 3 + 4 and 5 + 6 + 7 + 8, of which the first comes from
  // the argument plus one.
  %one = stablehlo.constant dense<1.0> : tensor<8xf32>
  %b1 = stablehlo.add %b, %one : tensor<8xf32>
  %3 = sdy.manual_computation(%b1) in_shardings=[<@mesh, [{"x"}], unreduced={"y"}>] out_shardings=[<@mesh, [{"x"}], unreduced={"y"}>] manual_axes={"x", "y"} (%v: tensor<4xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %w = stablehlo.reshape %r : (tensor<f32>) -> tensor<1xf32>
    sdy.return %w : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<2x2xi32>, tensor<2xf32>
}
