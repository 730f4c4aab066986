// RUN: shard-run %s --check --seed=3 --rtol=0 --atol=0
// Four ranks sum 16-bit floats in f32 and round once, and so does the one rank that does what all of them do.
sdy.mesh @mesh = <["d"=4]>
func.func @main(%arg0: tensor<8x64xbf16>) -> (tensor<8x64xf32>, tensor<8x16xf16>) {
  %0:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"d"}, {}]>]
      out_shardings=[<@mesh, [{"d"}, {}]>, <@mesh, [{"d"}, {}]>] manual_axes={"d"} (%raw: tensor<2x64xbf16>) {
    %scale = stablehlo.constant dense<0.7> : tensor<2x64xbf16>
    %x = stablehlo.multiply %raw, %scale : tensor<2x64xbf16>
    %sum = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %s = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %s : tensor<bf16>
    }) : (tensor<2x64xbf16>) -> tensor<2x64xbf16>
    %wide = stablehlo.convert %sum : (tensor<2x64xbf16>) -> tensor<2x64xf32>
    %h = stablehlo.convert %x : (tensor<2x64xbf16>) -> tensor<2x64xf16>
    %part = "stablehlo.reduce_scatter"(%h) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
    ^bb0(%a: tensor<f16>, %b: tensor<f16>):
      %s = stablehlo.add %a, %b : tensor<f16>
      stablehlo.return %s : tensor<f16>
    }) : (tensor<2x64xf16>) -> tensor<2x16xf16>
    sdy.return %wide, %part : tensor<2x64xf32>, tensor<2x16xf16>
  } : (tensor<8x64xbf16>) -> (tensor<8x64xf32>, tensor<8x16xf16>)
  return %0#0, %0#1 : tensor<8x64xf32>, tensor<8x16xf16>
}
