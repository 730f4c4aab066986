// RUN: shard-opt %s --spmd-import --spmd-propagate | FileCheck %s
// An axis that cuts a transformed dim cuts another one on the other side of the
// transform, so that what follows stays cut and there is one exchange, not two.

sdy.mesh @mesh = <["x"=4]>

// Rows are cut; the spectrum is cut along channels (8 of them, where the batch of 2
// is too short), and back again. The products between are local.
// CHECK-LABEL: func.func @main(
// CHECK: %[[CHANNELS:.*]] = spmd.reshard %{{.*}} <@mesh, [{}, {}, {"x"}, {}]> -> <@mesh, [{}, {"x"}, {}, {}]> reason "operand 0 of 'stablehlo.fft'
// CHECK: %[[SPECTRUM:.*]] = stablehlo.fft %[[CHANNELS]]
// CHECK: %[[PRODUCT:.*]] = stablehlo.multiply %[[SPECTRUM]], %[[SPECTRUM]]
// CHECK: stablehlo.fft %[[PRODUCT]]
func.func @main(%a: tensor<2x8x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>},
                %b: tensor<16x12xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<2x8x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>}, tensor<16x12xcomplex<f32>>) {
  %0 = stablehlo.fft %a, type = RFFT, length = [16, 16] : (tensor<2x8x16x16xf32>) -> tensor<2x8x16x9xcomplex<f32>>
  %1 = stablehlo.multiply %0, %0 : tensor<2x8x16x9xcomplex<f32>>
  %2 = stablehlo.fft %1, type = IRFFT, length = [16, 16] : (tensor<2x8x16x9xcomplex<f32>>) -> tensor<2x8x16x16xf32>
  // No dim beside the transformed ones: the result is cut along the other of them.
  // CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [16, 12] {{.*}}spmd.shardings = [#spmd.sharding<@mesh, [{}, {"x"}]>]
  %3 = stablehlo.fft %b, type = FFT, length = [16, 12] : (tensor<16x12xcomplex<f32>>) -> tensor<16x12xcomplex<f32>>
  return %2, %3 : tensor<2x8x16x16xf32>, tensor<16x12xcomplex<f32>>
}
