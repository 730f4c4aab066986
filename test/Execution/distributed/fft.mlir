// RUN: shard-run %s --check --seed=1
// RUN: shard-run %s --check --mesh=x=3,y=1,z=2 --seed=2
// RUN: shard-run %s --check --mesh=x=1,y=5,z=1 --seed=3
// RUN: shard-run %s --check --seed=4 --sizes=0:2=9,3 --sizes=1:1=1,7 --sizes=2:0=0,10
// Transforms along cut dims, over meshes of three axes: another dim is cut meanwhile.
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<2x3x12x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {"y"}]>},
                %b: tensor<6x8x5xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {"z"}]>},
                %c: tensor<10x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %d: tensor<2x9xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "x"}]>},
                %e: tensor<12xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<2x3x12x6xcomplex<f32>>, tensor<2x3x12x10xf32>, tensor<6x8x5xcomplex<f32>>, tensor<10x3xcomplex<f32>>,
        tensor<2x16xf32>, tensor<2x17xf32>, tensor<12xcomplex<f32>>) {
  %0 = stablehlo.fft %a, type = RFFT, length = [12, 10] : (tensor<2x3x12x10xf32>) -> tensor<2x3x12x6xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [12, 10] : (tensor<2x3x12x6xcomplex<f32>>) -> tensor<2x3x12x10xf32>
  %2 = stablehlo.fft %b, type = FFT, length = [6, 8, 5] : (tensor<6x8x5xcomplex<f32>>) -> tensor<6x8x5xcomplex<f32>>
  %3 = stablehlo.fft %2, type = IFFT, length = [8, 5] : (tensor<6x8x5xcomplex<f32>>) -> tensor<6x8x5xcomplex<f32>>
  %4 = stablehlo.fft %c, type = RFFT, length = [10, 4] : (tensor<10x4xf32>) -> tensor<10x3xcomplex<f32>>
  %5 = stablehlo.fft %d, type = IRFFT, length = [16] : (tensor<2x9xcomplex<f32>>) -> tensor<2x16xf32>
  %6 = stablehlo.fft %d, type = IRFFT, length = [17] : (tensor<2x9xcomplex<f32>>) -> tensor<2x17xf32>
  %7 = stablehlo.fft %e, type = FFT, length = [12] : (tensor<12xcomplex<f32>>) -> tensor<12xcomplex<f32>>
  return %0, %1, %3, %4, %5, %6, %7 : tensor<2x3x12x6xcomplex<f32>>, tensor<2x3x12x10xf32>, tensor<6x8x5xcomplex<f32>>, tensor<10x3xcomplex<f32>>, tensor<2x16xf32>, tensor<2x17xf32>, tensor<12xcomplex<f32>>
}
