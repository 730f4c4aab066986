// Lines so long that groups of parts pass on the prefix of the next: an operation on pairs that does not commute, along a line (137 parts, in groups of 128)
// and across neighbouring lines, from the end (63 parts, in groups of 32). Blocks run in their order, from the last to the first and in any: parts are taken by a counter.
// RUN: shard-run %s --seed=3 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --expect=@%t.npz --rtol=1e-5 --atol=1e-5 --outputs=@%t.gpu.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=run-ahead --expect=@%t.gpu.npz --rtol=0 --atol=0
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=random=5 --check-kernels --expect=@%t.gpu.npz --rtol=0 --atol=0
// As long a line as a rank knows when the program runs, and none.
// RUN: shard-run %s --mesh=x=3 --sizes=0:0=138000,0,2000 --sizes=1:0=0,1000,7000 --seed=3 --device=emulated-cuda --kernel-schedule=random=7 --check-kernels --expect=@%t.npz --rtol=1e-5 --atol=1e-5
// RUN: shard-translate %s --target=cuda --arch=sm_80 --emit=ptx -o - | FileCheck %s
// CHECK: atom.global.add.u32
// CHECK: st.release.gpu.global
// CHECK: ld.relaxed.gpu.global
// CHECK: fence.acq_rel.gpu
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<140000xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %y: tensor<8000x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<140000xf64>, tensor<140000xf64>, tensor<8000x3xf32>) {
  %unit = stablehlo.constant dense<1.0> : tensor<f64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %fzero = stablehlo.constant dense<0.0> : tensor<f32>
  // x -> a x + b, one after another; a near 1: the first count to the last.
  %one = stablehlo.constant dense<1.0> : tensor<140000xf64>
  %many = stablehlo.constant dense<3.0e+4> : tensor<140000xf64>
  %shift = stablehlo.divide %x, %many : tensor<140000xf64>
  %scale = stablehlo.add %shift, %one : tensor<140000xf64>
  %0:2 = "stablehlo.reduce_window"(%scale, %shift, %unit, %zero) <{window_dimensions = array<i64: 140000>, padding = dense<[[139999, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %e: tensor<f64>):
    %p = stablehlo.multiply %a, %c : tensor<f64>
    %q = stablehlo.multiply %b, %c : tensor<f64>
    %r = stablehlo.add %q, %e : tensor<f64>
    stablehlo.return %p, %r : tensor<f64>, tensor<f64>
  }) : (tensor<140000xf64>, tensor<140000xf64>, tensor<f64>, tensor<f64>) -> (tensor<140000xf64>, tensor<140000xf64>)
  %three = stablehlo.constant dense<3.0e+3> : tensor<8000x3xf32>
  %small = stablehlo.divide %y, %three : tensor<8000x3xf32>
  %1 = "stablehlo.reduce_window"(%small, %fzero) <{window_dimensions = array<i64: 8000, 1>, padding = dense<[[0, 7999], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8000x3xf32>, tensor<f32>) -> tensor<8000x3xf32>
  return %0#0, %0#1, %1 : tensor<140000xf64>, tensor<140000xf64>, tensor<8000x3xf32>
}
