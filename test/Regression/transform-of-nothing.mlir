// RUN: shard-run %s --seed=1 --check=interpreter
// RUN: shard-run %s --seed=1 --check --mesh=x=1
// Lines of no elements have transforms of none; their length was divided by (program 17 of `--empty`, seed 81002).
spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x0xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<4x0xcomplex<f32>>, %c: tensor<0x6xf32>)
    -> (tensor<4x0xcomplex<f32>>, tensor<4x0xf32>, tensor<4x0xcomplex<f32>>, tensor<0x4xcomplex<f32>>, tensor<4xf32>) {
  %0 = stablehlo.fft %a, type = RFFT, length = [0] : (tensor<4x0xf32>) -> tensor<4x0xcomplex<f32>>
  %1 = stablehlo.fft %b, type = IRFFT, length = [0] : (tensor<4x0xcomplex<f32>>) -> tensor<4x0xf32>
  %2 = stablehlo.fft %b, type = FFT, length = [4, 0] : (tensor<4x0xcomplex<f32>>) -> tensor<4x0xcomplex<f32>>
  %3 = stablehlo.fft %c, type = RFFT, length = [0, 6] : (tensor<0x6xf32>) -> tensor<0x4xcomplex<f32>>
  %start = stablehlo.constant dense<3.0> : tensor<f32>
  %sum = stablehlo.reduce(%1 init: %start) applies stablehlo.add across dimensions = [1] : (tensor<4x0xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %sum : tensor<4x0xcomplex<f32>>, tensor<4x0xf32>, tensor<4x0xcomplex<f32>>, tensor<0x4xcomplex<f32>>, tensor<4xf32>
}
