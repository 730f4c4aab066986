// RUN: shard-run %s --check --even-borders --ranks=3 2>&1 | FileCheck %s --check-prefix=SUMMARY
// RUN: shard-run %s --check --even-borders --mesh=x=4 --sizes=0:0=5,0,1,2
// RUN: shard-translate %s --even-borders --ranks=3 --emit=header -o - | FileCheck %s
// Eight rows come whole on three ranks, and five leave so; six leave as two each.
// SUMMARY: {{^}}the program on 3 ranks of mesh
// CHECK-NOT: output0_dim0
// CHECK:     output1_dim0_boundaries[4] = {0, 2, 4, 6};
sdy.mesh @mesh = <["x"=3]>
func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<5x4xf32>, tensor<6x4xf32>) {
  %0 = stablehlo.slice %x [0:5, 0:4] : (tensor<8x4xf32>) -> tensor<5x4xf32>
  %1 = stablehlo.slice %x [1:7, 0:4] : (tensor<8x4xf32>) -> tensor<6x4xf32>
  %2 = stablehlo.sine %1 : tensor<6x4xf32>
  return %0, %2 : tensor<5x4xf32>, tensor<6x4xf32>
}
