// Gradients of attention on sm_90a with 256 features: of 128 rows, queries and the f32 gradients of outputs in three terms are 256 KiB, more than a block
// has; so two warpgroups have the same 64 rows, and 128 features of the sums each. Rows and columns that no tile fills, in three schedules.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --expect=@%t.npz --rtol=1e-2 --atol=1e-3 --device=emulated-cuda --precision=highest --check-kernels
// RUN: shard-run %s --seed=4 --expect=@%t.npz --rtol=1e-2 --atol=1e-3 --device=emulated-cuda --precision=highest --check-kernels --kernel-schedule=run-ahead
// RUN: shard-run %s --seed=4 --expect=@%t.npz --rtol=1e-2 --atol=1e-3 --device=emulated-cuda --precision=highest --check-kernels --kernel-schedule=random=3
func.func @main(%q: tensor<70x256xbf16>, %k: tensor<80x256xbf16>, %v: tensor<80x256xbf16>, %m: tensor<70xf32>, %c: tensor<70xf32>,
    %g: tensor<70x256xf32>) -> (tensor<70x256xbf16>, tensor<80x256xbf16>, tensor<80x256xbf16>) {
  %0:3 = pairs.attention_backward %q, %k, %v, %m, %c, %g maps [affine_map<(q, k, d, e) -> (q, d)>, affine_map<(q, k, d, e) -> (k, d)>,
      affine_map<(q, k, d, e) -> (k, e)>, affine_map<(q, k, d, e) -> (q)>, affine_map<(q, k, d, e) -> (q)>, affine_map<(q, k, d, e) -> (q, e)>,
      affine_map<(q, k, d, e) -> (q, d)>, affine_map<(q, k, d, e) -> (k, d)>, affine_map<(q, k, d, e) -> (k, e)>] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.06> : tensor<f32>
    %1 = stablehlo.multiply %raw, %scale : tensor<f32>
    pairs.yield %1 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.06> : tensor<f32>
    %1 = stablehlo.multiply %ds, %scale : tensor<f32>
    pairs.yield %1 : tensor<f32>
  } : (tensor<70x256xbf16>, tensor<80x256xbf16>, tensor<80x256xbf16>, tensor<70xf32>, tensor<70xf32>, tensor<70x256xf32>)
      -> (tensor<70x256xbf16>, tensor<80x256xbf16>, tensor<80x256xbf16>)
  return %0#0, %0#1, %0#2 : tensor<70x256xbf16>, tensor<80x256xbf16>, tensor<80x256xbf16>
}
