// Products with an operand that is gathered for them, along a contracted and a free dim, and one whose sums are scattered: weights travel
// block by block, in even and uneven blocks, some of them empty. Products of bf16 are added up in f32.
// RUN: shard-run %s --mesh=x=1 --seed=1 --outputs=@%t.npz
// RUN: shard-opt %s --spmd-propagate --spmd-partition --spmd-communicate | FileCheck %s
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=1e-2 --atol=1e-3
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=1e-2 --atol=1e-3 --mesh=x=3
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=1e-2 --atol=1e-3 --sizes=1:0=1600,0,2496,0 --sizes=2:1=0,700,648,700 --sizes=4:0=0,2000,2000,96
// CHECK-LABEL: func.func @main(
//   CHECK-NOT:   all_gather
//   CHECK-NOT:   reduce_scatter
//       CHECK:   meets block 1 of 4 while the one before is multiplied
//       CHECK:   local.accumulate
//       CHECK:   tensor.insert_slice
//       CHECK:   sends block 1 of 4 while the next one is multiplied
//       CHECK:   local.accumulate
//       CHECK:   return
spmd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1024x4096xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<4096x256xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %u: tensor<256x2048xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>},
                %h: tensor<1024x4096xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<4096x256xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %c: tensor<4096x1024xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %d: tensor<4096x1024xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<1024x256xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
        tensor<1024x2048xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
        tensor<1024x256xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
        tensor<1024x1024xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<1024x4096xf32>, tensor<4096x256xf32>) -> tensor<1024x256xf32>
  %1 = stablehlo.dot_general %0, %u, contracting_dims = [1] x [0] : (tensor<1024x256xf32>, tensor<256x2048xf32>) -> tensor<1024x2048xf32>
  %2 = stablehlo.dot_general %h, %b, contracting_dims = [1] x [0] : (tensor<1024x4096xbf16>, tensor<4096x256xbf16>) -> tensor<1024x256xbf16>
  %3 = stablehlo.dot_general %c, %d, contracting_dims = [0] x [0] : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<1024x1024xf32>
  return %0, %1, %2, %3 : tensor<1024x256xf32>, tensor<1024x2048xf32>, tensor<1024x256xbf16>, tensor<1024x1024xf32>
}
