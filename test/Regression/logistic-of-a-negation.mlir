// RUN: shard-run %s --seed=782750 --check --rtol=0 --atol=0
// RUN: shard-run %s --seed=782750 --check=interpreter --rtol=1.2e-7 --atol=0
// On one rank the negation that is the function's own went against the one before it, and the function was no
// longer seen: a sum and a quotient that each round, where two ranks had the function to an ulp.
// Found by shard-fuzz --quick --seed=16200, program 621.
spmd.mesh @mesh = <["B"=2]>
func.func @main(%arg0: tensor<10xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"B"}]>})
    -> (tensor<10xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"B" sizes [3, 7], ?}]>},
        tensor<6xf32>) {
  %0 = stablehlo.negate %arg0 : tensor<10xf32>
  %1 = stablehlo.logistic %0 : tensor<10xf32>
  %2 = stablehlo.slice %1 [3:9] : (tensor<10xf32>) -> tensor<6xf32>
  return %0, %2 : tensor<10xf32>, tensor<6xf32>
}
