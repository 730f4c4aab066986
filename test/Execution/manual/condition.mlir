// RUN: shard-run %s --check --seed=3
// The loop goes on while the sum over all ranks is small: its condition holds a region and communicates, and one rank
// writes it down twice for each of the ranks.
sdy.mesh @mesh = <["d"=4]>
func.func @main(%arg0: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"d"}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>] manual_axes={"d"} (%arg1: tensor<2x3xf32>) {
    %1 = stablehlo.abs %arg1 : tensor<2x3xf32>
    %2 = stablehlo.while(%block = %1) : tensor<2x3xf32>
    cond {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %own = stablehlo.reduce(%block init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
      %sum = "stablehlo.all_reduce"(%own) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %limit = stablehlo.constant dense<5.0e+01> : tensor<f32>
      %again = stablehlo.compare LT, %sum, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %again : tensor<i1>
    } do {
      %scale = stablehlo.constant dense<1.5> : tensor<2x3xf32>
      %more = stablehlo.multiply %block, %scale : tensor<2x3xf32>
      stablehlo.return %more : tensor<2x3xf32>
    }
    sdy.return %2 : tensor<2x3xf32>
  } : (tensor<8x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
