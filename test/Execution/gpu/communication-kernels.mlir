// All-reduces of parts that differ in size: the kernels that programs hold for them give the bits of the
// host's functions, whether they read four buffers in place or, of ten ranks, copies of them.
// RUN: shard-run %s --seed=3 --device=emulated-cuda --transport=host --outputs=@%t.host.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --transport=direct --check-kernels --outputs=@%t.direct.npz
// RUN: cmp %t.host.npz %t.direct.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --transport=direct --check-kernels --kernel-schedule=run-ahead --outputs=@%t.direct.npz
// RUN: cmp %t.host.npz %t.direct.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --transport=direct --check-kernels --kernel-schedule=random=7 --outputs=@%t.direct.npz
// RUN: cmp %t.host.npz %t.direct.npz
// RUN: shard-run %s --seed=3 --mesh=x=10 --device=emulated-cuda --transport=host --outputs=@%t.host.npz
// RUN: shard-run %s --seed=3 --mesh=x=10 --device=emulated-cuda --transport=direct --outputs=@%t.direct.npz
// RUN: cmp %t.host.npz %t.direct.npz
// RUN: shard-translate %s --target=cuda --emit=ptx -o - | FileCheck %s
// CHECK-DAG: .entry shardrt_combine_f32_sum(
// CHECK-DAG: ld.global.v4.b32
spmd.mesh @mesh = <["x"=4]>
#rows = #spmd.sharding<@mesh, [{"x"}, {}]>
func.func @main(%a0: tensor<23x3001xi8> {spmd.sharding = #rows},
                %a1: tensor<23x3001xf32> {spmd.sharding = #rows},
                %a2: tensor<23x301xf64> {spmd.sharding = #rows},
                %a3: tensor<23x301xcomplex<f32>> {spmd.sharding = #rows})
    -> (tensor<3001xi8>, tensor<3001xi8>, tensor<3001xf32>, tensor<3001xf32>, tensor<301xf64>,
        tensor<301xcomplex<f32>>) {
  %z0 = stablehlo.constant dense<0> : tensor<i8>
  %0 = stablehlo.reduce(%a0 init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<23x3001xi8>, tensor<i8>) -> tensor<3001xi8>
  %z1 = stablehlo.constant dense<0> : tensor<i8>
  %1 = stablehlo.reduce(%a0 init: %z1) applies stablehlo.minimum across dimensions = [0] : (tensor<23x3001xi8>, tensor<i8>) -> tensor<3001xi8>
  %z2 = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%a1 init: %z2) applies stablehlo.add across dimensions = [0] : (tensor<23x3001xf32>, tensor<f32>) -> tensor<3001xf32>
  %z3 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%a1 init: %z3) applies stablehlo.maximum across dimensions = [0] : (tensor<23x3001xf32>, tensor<f32>) -> tensor<3001xf32>
  %z4 = stablehlo.constant dense<0.0> : tensor<f64>
  %4 = stablehlo.reduce(%a2 init: %z4) applies stablehlo.add across dimensions = [0] : (tensor<23x301xf64>, tensor<f64>) -> tensor<301xf64>
  %z5 = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %5 = stablehlo.reduce(%a3 init: %z5) applies stablehlo.add across dimensions = [0] : (tensor<23x301xcomplex<f32>>, tensor<complex<f32>>) -> tensor<301xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5
      : tensor<3001xi8>, tensor<3001xi8>, tensor<3001xf32>, tensor<3001xf32>, tensor<301xf64>,
        tensor<301xcomplex<f32>>
}
