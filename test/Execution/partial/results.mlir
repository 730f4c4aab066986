// Values and results that are asked to stay unreduced are summed where they are
// made: whoever reads a result gets the value.
// RUN: shard-run %s --check --seed=1
// RUN: shard-run %s --check --seed=2 --mesh=x=3
// RUN: shard-run %s --check --seed=3 --sizes=0:1=0,8
sdy.mesh @mesh = <["x"=2]>
func.func @main(
    %a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}, tensor<6x4xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}], unreduced={"x"}> : tensor<6x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<6x4xf32>
  return %1, %2 : tensor<6x4xf32>, tensor<6x4xf32>
}
