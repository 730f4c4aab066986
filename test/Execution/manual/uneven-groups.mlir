// RUN: shard-run %s --check --seed=3
// Sums over groups of two and of three ranks, and a reducer that asks for the order of a group's members, over one of one and one of four.
sdy.mesh @mesh = <["d"=5]>
func.func @main(%arg0: tensor<10x3xf32>) -> (tensor<10x3xf32>, tensor<10x3xf32>) {
  %0:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"d"}, {}]>]
      out_shardings=[<@mesh, [{"d"}, {}]>, <@mesh, [{"d"}, {}]>] manual_axes={"d"} (%x: tensor<2x3xf32>) {
    %sum = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 0, -1], [4, 1, 2]]> : tensor<2x3xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %other = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[2, -1, -1, -1], [4, 1, 0, 3]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %half = stablehlo.constant dense<0.5> : tensor<f32>
      %m = stablehlo.multiply %b, %half : tensor<f32>
      %s = stablehlo.subtract %a, %m : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    sdy.return %sum, %other : tensor<2x3xf32>, tensor<2x3xf32>
  } : (tensor<10x3xf32>) -> (tensor<10x3xf32>, tensor<10x3xf32>)
  return %0#0, %0#1 : tensor<10x3xf32>, tensor<10x3xf32>
}
