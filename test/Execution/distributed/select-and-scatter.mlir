// RUN: shard-run %s --check --rtol=1e-6 --atol=1e-6 --seed=1
// RUN: shard-run %s --check --rtol=1e-6 --atol=1e-6 --mesh=x=3,y=2 --seed=2
// RUN: shard-run %s --check --rtol=1e-6 --atol=1e-6 --mesh=x=7,y=1 --seed=3
// RUN: shard-run %s --check --rtol=1e-6 --atol=1e-6 --seed=4 --sizes=0:1=0,1,13,0 --sizes=0:2=9,0
// The gradient of a max-pool of 3x3 with stride 2, cut in both spatial dims: windows
// reach over the cuts. Rounded inputs have ties.
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<2x14x9x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>},
                %s: tensor<2x7x5x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>}) -> tensor<2x14x9x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.round_nearest_even %a : tensor<2x14x9x3xf32>
  %0 = "stablehlo.select_and_scatter"(%r, %s, %zero) <{padding = dense<[[0, 0], [0, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %g = stablehlo.compare GE, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %g : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %t = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<2x14x9x3xf32>, tensor<2x7x5x3xf32>, tensor<f32>) -> tensor<2x14x9x3xf32>
  return %0 : tensor<2x14x9x3xf32>
}
