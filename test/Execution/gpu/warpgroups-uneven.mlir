// Shards of sizes that differ, of which one is empty: rows, or the depth, are known when the program runs, and so are tiles and the
// tensors that are described to TMA copies.
// RUN: shard-run %s --seed=4 --mesh=x=1 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --check-kernels --expect=@%t.npz --atol=1e-3
// RUN: shard-run %s --seed=4 --mesh=x=3 --sizes=0:0=130,0,207 --sizes=2:0=130,0,207 --device=emulated-cuda --kernel-schedule=random=8 --check-kernels --expect=@%t.npz --atol=1e-3
// RUN: shard-translate %s --target=cuda --arch=sm_90a --emit=ptx -o - | FileCheck %s
// CHECK-COUNT-8: wgmma.mma_async
spmd.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<337x72xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<72x136xbf16>,
                %g: tensor<337x136xbf16> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<337x136xf32>, tensor<72x136xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<337x72xbf16>, tensor<72x136xbf16>) -> tensor<337x136xf32>
  %2 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<337x72xbf16>, tensor<337x136xbf16>) -> tensor<72x136xf32>
  return %0, %2 : tensor<337x136xf32>, tensor<72x136xf32>
}
