// Reductions whose sizes are known when the program runs: shards of uneven sizes, one of them empty. Blocks that share a result are as
// many as it is long; results of the host's kernels on one rank.
// RUN: shard-run %s --seed=3 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --mesh=x=3 --sizes=0:0=3500,0,2500 --sizes=1:1=20,1,0 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-3
// RUN: shard-run %s --seed=3 --mesh=x=3 --sizes=0:0=3500,0,2500 --sizes=1:1=20,1,0 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-3
// RUN: shard-run %s --seed=3 --mesh=x=3 --sizes=0:0=3500,0,2500 --sizes=1:1=20,1,0 --device=emulated-cuda --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-3
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<6000x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %y: tensor<700x21xf64> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<f32>, tensor<3xf32>, tensor<6000xf32>, tensor<21xf64>, tensor<700xf64>, tensor<f64>, tensor<6000xf64>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %dz = stablehlo.constant dense<0.0> : tensor<f64>
  %low = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<6000x3xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<6000x3xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<6000x3xf32>, tensor<f32>) -> tensor<6000xf32>
  %3 = stablehlo.reduce(%y init: %dz) applies stablehlo.add across dimensions = [0] : (tensor<700x21xf64>, tensor<f64>) -> tensor<21xf64>
  %4 = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<700x21xf64>, tensor<f64>) -> tensor<700xf64>
  %5 = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<700x21xf64>, tensor<f64>) -> tensor<f64>
  // Rows of a known length, of f64: a warp each.
  %b = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<6000x3xf32>) -> tensor<6000x3x20xf32>
  %w = stablehlo.convert %b : (tensor<6000x3x20xf32>) -> tensor<6000x3x20xf64>
  %6 = stablehlo.reduce(%w init: %dz) applies stablehlo.add across dimensions = [1, 2] : (tensor<6000x3x20xf64>, tensor<f64>) -> tensor<6000xf64>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<f32>, tensor<3xf32>, tensor<6000xf32>, tensor<21xf64>, tensor<700xf64>, tensor<f64>, tensor<6000xf64>
}
