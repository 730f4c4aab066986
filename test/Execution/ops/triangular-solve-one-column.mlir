// RUN: shard-run %s --seed=1 --check --rtol=0 --atol=0 --reproducible 2>&1 | FileCheck %s
// RUN: shard-run %s --seed=3 --check --rtol=0 --atol=0 --reproducible 2>&1 | FileCheck %s
// A rank with one column of right-hand sides finds it element by element, and
// one with several as vectors: both round a product and a sum once.
// CHECK: output 0: f32 [6, 2, 3] as unsharded: bitwise equal
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<6x3x3xf32>, %b: tensor<6x2x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>})
    -> (tensor<6x2x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %row = stablehlo.iota dim = 1 : tensor<6x3x3xi32>
  %column = stablehlo.iota dim = 2 : tensor<6x3x3xi32>
  %diagonal = stablehlo.compare EQ, %row, %column, SIGNED : (tensor<6x3x3xi32>, tensor<6x3x3xi32>) -> tensor<6x3x3xi1>
  %six = stablehlo.constant dense<6.0> : tensor<6x3x3xf32>
  %larger = stablehlo.add %a, %six : tensor<6x3x3xf32>
  %matrix = stablehlo.select %diagonal, %larger, %a : tensor<6x3x3xi1>, tensor<6x3x3xf32>
  %x = "stablehlo.triangular_solve"(%matrix, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<6x3x3xf32>, tensor<6x2x3xf32>) -> tensor<6x2x3xf32>
  return %x : tensor<6x2x3xf32>
}
