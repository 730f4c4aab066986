// RUN: shard-run %s --check --seed=3
// RUN: shard-run %s --input=8xf32=1,2,3,4,5,6,7,8 | FileCheck %s
// Devices stand in another order than positions in the mesh. Position 0 is device 2, whose value goes to device 0, at
// position 2; each block gets ten times the number of its device.
// CHECK: output 0: f32 [8] 20 20 13 14 1 2 35 36
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[2, 1, 0, 3]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x", "y"}]>] manual_axes={"x", "y"} (%y: tensor<2xf32>) {
    %1 = "stablehlo.collective_permute"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[2, 0], [1, 1], [0, 3]]> : tensor<3x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    %2 = stablehlo.partition_id : tensor<ui32>
    %3 = stablehlo.convert %2 : (tensor<ui32>) -> tensor<f32>
    %ten = stablehlo.constant dense<10.0> : tensor<f32>
    %4 = stablehlo.multiply %3, %ten : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %6 = stablehlo.add %1, %5 : tensor<2xf32>
    sdy.return %6 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
