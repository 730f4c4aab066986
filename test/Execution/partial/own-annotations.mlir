// Parts as this project's own annotations say them: other kinds, two on one argument.
// RUN: shard-run %s --check --seed=1
// RUN: shard-run %s --check --seed=2 --mesh=x=3,y=3
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %factors: tensor<6x5xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"y"}], partial = {"x" = product}>},
    %bits: tensor<6xui8> {spmd.sharding = #spmd.sharding<@mesh, [{}], partial = {"x" = xor, "y" = or}>},
    %mixed: tensor<3xcomplex<f64>> {spmd.sharding = #spmd.sharding<@mesh, [{}], partial = {"x" = product, "y" = sum}>},
    %less: tensor<6x5xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}], partial = {"y" = min}>})
    -> (tensor<6x5xf32>, tensor<6xui8>, tensor<3xcomplex<f64>>, tensor<6x5xbf16>) {
  %0 = stablehlo.add %factors, %factors : tensor<6x5xf32>
  %1 = spmd.constrain %0 <@mesh, [{}, {}], partial = {"x" = sum}> : tensor<6x5xf32>
  return %1, %bits, %mixed, %less : tensor<6x5xf32>, tensor<6xui8>, tensor<3xcomplex<f64>>, tensor<6x5xbf16>
}
