// RUN: shard-run %s --seed=678429 --check --rtol=0 --atol=0
// RUN: %npz write %t.npz 'in0=<i4:1:-7' 'out0=<i4:11:5,5,-7,5,5,5,5,5,5,5,5'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz
// MLIR folds a pad into the fill below it without a look at the interior padding.
spmd.mesh @mesh = <["B"=2]>
func.func @main(%arg0: tensor<1xi32>)
    -> (tensor<11xi32> {spmd.sharding = #spmd.sharding<@mesh, [{"B", ?}]>}) {
  %z_0 = stablehlo.constant dense<5> : tensor<i32>
  %0 = stablehlo.pad %arg0, %z_0, low = [2], high = [4], interior = [0] : (tensor<1xi32>, tensor<i32>) -> tensor<7xi32>
  %z_1 = stablehlo.constant dense<5> : tensor<i32>
  %1 = stablehlo.pad %0, %z_1, low = [-2], high = [0], interior = [1] : (tensor<7xi32>, tensor<i32>) -> tensor<11xi32>
  return %1 : tensor<11xi32>
}
