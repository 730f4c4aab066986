// One function, cut along its rows or along the dim that is summed. What no annotation
// cuts is summed in order under --reproducible; with --exact-sums the bytes do not
// depend on that.
// RUN: sed -e 's/ROWS/x/' -e 's/, {"SUMMED"}/, {}/' %s > %t.rows.mlir
// RUN: sed -e 's/{"ROWS"}/{}/' -e 's/SUMMED/x/' %s > %t.summed.mlir
// RUN: shard-run %t.rows.mlir --seed=3 --reproducible --exact-sums --outputs=@%t.rows.npz
// RUN: shard-run %t.summed.mlir --seed=3 --reproducible --exact-sums --outputs=@%t.summed.npz
// RUN: cmp %t.rows.npz %t.summed.npz
// RUN: not shard-run %t.rows.mlir --seed=3 --exact-sums 2>&1 | FileCheck %s
// CHECK: error: --exact-sums says how --reproducible sums: it goes with --reproducible
sdy.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<6x1000xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"ROWS"}, {"SUMMED"}]>}, %b: tensor<1000x5xf32>) -> tensor<6x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<6x1000xf32>, tensor<1000x5xf32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}
