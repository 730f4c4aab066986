// Arguments that arrive in parts, to be combined: the first rank along the axis
// gets the value, the others what changes nothing. Minus zero stays what it is.
// RUN: shard-run %s --check --seed=1
// RUN: shard-run %s --check --seed=2 --mesh=x=3,y=1
// RUN: shard-run %s --check --seed=3 --mesh=x=1,y=2
// RUN: shard-run %s --check --seed=4 --sizes=1:0=6,0 --sizes=2:1=1,3
// RUN: %npz write %t.in.npz "in0=<f4:6x4:-0.0,1,nan,inf,2" "in1=<f4:6x4:1" "in2=<f4:6x4:-3,4,5" "in3=<i4:6:5,-7"
// RUN: shard-run %s --inputs=@%t.in.npz --outputs=@%t.out.npz
// RUN: %npz show %t.out.npz | FileCheck %s
// CHECK: out0{{.*}} -0 1 nan inf 2
// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition | FileCheck %s --check-prefix=LOCAL
// LOCAL-DAG: local.all_reduce max
// LOCAL-DAG: local.all_reduce sum
// Nothing is cut where it is combined.
// LOCAL-NOT: local.reduce_scatter
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %whole: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x", "y"}>},
    %cut: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}], unreduced={"x"}>},
    %largest: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}], unreduced=max{"x"}>},
    %integers: tensor<6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>})
    -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6xi32>, tensor<6x4xf32>) {
  %0 = stablehlo.add %cut, %largest : tensor<6x4xf32>
  %1 = stablehlo.multiply %largest, %largest : tensor<6x4xf32>
  %2 = sdy.sharding_constraint %cut <@mesh, [{"x"}, {"y"}]> : tensor<6x4xf32>
  %3 = stablehlo.exponential %2 : tensor<6x4xf32>
  return %whole, %0, %1, %integers, %3
      : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6xi32>, tensor<6x4xf32>
}
