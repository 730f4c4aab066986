// A product with enough tiles for those of 128 x 256 on sm_90a, the last ones cut off at the edges. Two blocks are a cluster: each loads half of the
// right operand's tile for both.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=1e-4
// Both directions of both operands, a batch, rows of tiles of which the lower one is cut off; several tiles a block, and one.
// RUN: sed 's/300/400/g; s/304/440/g; s/264/200/g' %S/Inputs/tensor-pairs.mlir > %t.mlir
// RUN: shard-run %t.mlir --seed=4 --outputs=@%t.npz
// RUN: shard-run %t.mlir --seed=4 --device=emulated-cuda --machine=generic,multiprocessors=4 --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %t.mlir --seed=4 --device=emulated-cuda --machine=generic,multiprocessors=2 --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-translate %t.mlir --target=cuda --arch=sm_90a --machine=generic,multiprocessors=4 --emit=ptx -o - | FileCheck %s
// CHECK-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
// CHECK: .m64n256k16.
// A row of tiles with none below it: no clusters.
// RUN: shard-translate %S/Inputs/tensor-pairs.mlir --target=cuda --arch=sm_90a --machine=generic,multiprocessors=4 --emit=ptx -o - | FileCheck %s --check-prefix=ALONE
// ALONE: .m64n256k16.
// ALONE-NOT: multicast
func.func @main(%a: tensor<1480x72xbf16>, %b: tensor<72x2760xbf16>) -> tensor<1480x2760xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1480x72xbf16>, tensor<72x2760xbf16>) -> tensor<1480x2760xf32>
  return %0 : tensor<1480x2760xf32>
}
