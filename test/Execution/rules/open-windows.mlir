// What is left open may be the source of a max pooling's gradient alone: its operand and result lie in shards of their own.
// RUN: shard-run %s --seed=3 --check --dynamic=all
// RUN: shard-run %s --seed=3 --check --dynamic=all --sizes=0:0=0,3,0,0
// RUN: shard-run %s --seed=3 --check --dynamic=all --sizes=0:0=1,0,0,2
sdy.mesh @mesh = <["x"=4]>
func.func @main(%y: tensor<3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %x: tensor<10x2xf32>, %z: tensor<f32>) -> tensor<10x2xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %y, %z) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 3, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10x2xf32>, tensor<3x2xf32>, tensor<f32>) -> tensor<10x2xf32>
  return %0 : tensor<10x2xf32>
}
