// Products over more ranks than are written out: weights, and partial sums, are passed round in loops; even, uneven and empty blocks.
// RUN: shard-run %s --mesh=x=1 --seed=1 --outputs=@%t.npz
// RUN: shard-opt %s --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=1e-3 --atol=1e-3
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=1e-3 --atol=1e-3 --sizes=1:0=0,604,500,700,304,600,400,500,496
// CHECK-LABEL: func.func @main(
//   CHECK-NOT:   all_gather
//   CHECK-NOT:   reduce_scatter
//   CHECK-DAG:   passes blocks round a ring of 9 while they are multiplied
//   CHECK-DAG:   passes sums of blocks round a ring of 9 while the next ones are multiplied
//       CHECK:   return
spmd.mesh @mesh = <["x"=9]>
func.func @main(%a: tensor<4608x4104xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<4104x256xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %c: tensor<1152x4104xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>},
                %d: tensor<4104x1024xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4608x256xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
        tensor<1152x1024xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<4608x4104xf32>, tensor<4104x256xf32>) -> tensor<4608x256xf32>
  %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<1152x4104xf32>, tensor<4104x1024xf32>) -> tensor<1152x1024xf32>
  return %0, %1 : tensor<4608x256xf32>, tensor<1152x1024xf32>
}
