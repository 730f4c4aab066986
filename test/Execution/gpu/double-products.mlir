// Products of f64 on tensor cores (DoubleTiles.cpp): lines that run along the depth and across it on either side, pieces of 16 bytes and of 8, sizes
// that fill no tile, whole tiles, a long depth that several blocks share, a batch with what is before and behind it. No digit is lost, whatever the
// precision; the host's kernels must agree; every access is looked at.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// DEFINE: %{check} = shard-run %s --seed=4 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=1e-12 --atol=1e-12
// RUN: %{check} --arch=sm_80
// RUN: %{check} --precision=highest --kernel-schedule=run-ahead
// RUN: %{check} --kernel-schedule=random=5
// RUN: shard-translate %s --target=cuda --arch=sm_80 --kernels=generated --emit=ptx -o - | FileCheck %s
// CHECK-NOT: fma.rn.f64
// CHECK-DAG: cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16, %
// CHECK-DAG: cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16;
// CHECK-DAG: cp.async.ca.shared.global [%{{.*}}], [%{{.*}}], 8, %
// CHECK-DAG: ld.shared.v2.b64
// CHECK-DAG: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// CHECK-NOT: fma.rn.f64
func.func @main(%a: tensor<70x48xf64>, %b: tensor<48x40xf64>, %c: tensor<37x33xf64>, %d: tensor<37x19xf64>, %e: tensor<40x1000xf64>, %f: tensor<24x1000xf64>,
                %g: tensor<3x64x128xf64>, %h: tensor<3x64x128xf64>, %i: tensor<128xf64>)
    -> (tensor<70x40xf64>, tensor<33x19xf64>, tensor<40x24xf64>, tensor<3x128x128xf64>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<70x48xf64>, tensor<48x40xf64>) -> tensor<70x40xf64>
  %1 = stablehlo.dot_general %c, %d, contracting_dims = [0] x [0] : (tensor<37x33xf64>, tensor<37x19xf64>) -> tensor<33x19xf64>
  %2 = stablehlo.dot_general %e, %f, contracting_dims = [1] x [1] : (tensor<40x1000xf64>, tensor<24x1000xf64>) -> tensor<40x24xf64>
  %3 = stablehlo.dot_general %g, %h, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x64x128xf64>, tensor<3x64x128xf64>) -> tensor<3x128x128xf64>
  %4 = stablehlo.broadcast_in_dim %i, dims = [2] : (tensor<128xf64>) -> tensor<3x128x128xf64>
  %5 = stablehlo.add %3, %4 : tensor<3x128x128xf64>
  return %0, %1, %2, %5 : tensor<70x40xf64>, tensor<33x19xf64>, tensor<40x24xf64>, tensor<3x128x128xf64>
}
