// RUN: shard-run %s --check --seed=1
// RUN: shard-run %s --check --seed=2 --mesh=x=4,y=1
// RUN: shard-run %s --check --seed=3 --mesh=x=5,y=1
// RUN: shard-run %s --check --seed=4 --sizes=0:0=64,64,64,64,64,63,65,64
// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s
// A single line in equal blocks on many ranks: three transpositions, each of what every rank holds, and no gather. Blocks
// of other sizes, and a few ranks, hold the line whole for a while.
// CHECK-NOT: all_gather
// CHECK-COUNT-3: all_to_all{{.*}} reason "'stablehlo.fft' transforms a line in blocks
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<512xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>},
                %b: tensor<1x128xcomplex<f64>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<512xcomplex<f32>>, tensor<512xcomplex<f32>>, tensor<1x128xcomplex<f64>>) {
  %0 = stablehlo.fft %a, type = FFT, length = [512] : (tensor<512xcomplex<f32>>) -> tensor<512xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IFFT, length = [512] : (tensor<512xcomplex<f32>>) -> tensor<512xcomplex<f32>>
  %2 = stablehlo.fft %b, type = IFFT, length = [128] : (tensor<1x128xcomplex<f64>>) -> tensor<1x128xcomplex<f64>>
  return %0, %1, %2 : tensor<512xcomplex<f32>>, tensor<512xcomplex<f32>>, tensor<1x128xcomplex<f64>>
}
