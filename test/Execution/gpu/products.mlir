// Products whose elements lie side by side in either direction: pieces of 16 bytes; f32 in registers, f64 on tensor cores; a long depth
// that several blocks share. Sizes are no multiples of a tile. The host's kernels must agree; every access is looked at.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --atol=1e-4
// RUN: shard-translate %s --target=cuda --precision=highest --emit=ptx -o - | FileCheck %s
// CHECK-DAG: cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16, %
// CHECK-DAG: cp.async.ca.shared.global [%{{.*}}], [%{{.*}}], 4, %
// CHECK-DAG: cp.async.ca.shared.global [%{{.*}}], [%{{.*}}], 8, %
// CHECK-DAG: cp.async.wait_group 2
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-DAG: ld.shared.v4.b32
// CHECK-DAG: fma.rn.f32
// CHECK-DAG: mma.sync.aligned.m8n8k4.row.col.f64
func.func @main(%x: tensor<2x70x48xf32>, %w: tensor<2x48x40xf32>, %u: tensor<24x33xf64>, %v: tensor<24x50xf64>,
                %a: tensor<72x64xbf16>, %b: tensor<64x80xbf16>, %c: tensor<40x88xf16>, %d: tensor<72x40xf16>,
                %p: tensor<24x2051xf32>, %q: tensor<2051x40xf32>)
    -> (tensor<2x70x40xf32>, tensor<33x50xf64>, tensor<72x80xf32>, tensor<88x72xf32>, tensor<24x40xf32>) {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x70x48xf32>, tensor<2x48x40xf32>) -> tensor<2x70x40xf32>
  %1 = stablehlo.dot_general %u, %v, contracting_dims = [0] x [0] : (tensor<24x33xf64>, tensor<24x50xf64>) -> tensor<33x50xf64>
  %2 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<72x64xbf16>, tensor<64x80xbf16>) -> tensor<72x80xf32>
  %3 = stablehlo.dot_general %c, %d, contracting_dims = [0] x [1] : (tensor<40x88xf16>, tensor<72x40xf16>) -> tensor<88x72xf32>
  %4 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<24x2051xf32>, tensor<2051x40xf32>) -> tensor<24x40xf32>
  return %0, %1, %2, %3, %4 : tensor<2x70x40xf32>, tensor<33x50xf64>, tensor<72x80xf32>, tensor<88x72xf32>, tensor<24x40xf32>
}
