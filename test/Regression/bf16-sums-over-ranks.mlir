// RUN: shard-run %s --check --seed=3 --rtol=0.004 --atol=0
// Sums of bf16 that are cut over ranks are combined in f32 and rounded once.
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<4x512xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x" sizes [100, 0, 300, 112]}]>},
                %b: tensor<512x8xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [100, 0, 300, 112]}, {}]>})
    -> (tensor<4x8xbf16>, tensor<4xbf16>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x512xbf16>, tensor<512x8xbf16>) -> tensor<4x8xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %square = stablehlo.multiply %a, %a : tensor<4x512xbf16>
  %1 = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x512xbf16>, tensor<bf16>) -> tensor<4xbf16>
  return %0, %1 : tensor<4x8xbf16>, tensor<4xbf16>
}
