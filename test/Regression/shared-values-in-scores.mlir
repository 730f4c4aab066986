// RUN: shard-run %s --seed=3 --check=interpreter
// RUN: shard-run %s --seed=3 --check=interpreter --device=emulated-cuda
// Scores that read each value twice, 45 times, and a mask of 32 such steps (powers of positions): what is written once is walked once. It took
// 2^45 steps. Found by a mutant (attn_dpa with integer powers in its scores, --seed=6001, number 30103).
spmd.mesh @mesh = <["x"=3]>
func.func @main(%q: tensor<2x16x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}, %k: tensor<2x16x8xf32>, %v: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x16x16xf32>
  %w0 = stablehlo.minimum %s, %s : tensor<2x16x16xf32>
  %w1 = stablehlo.maximum %w0, %w0 : tensor<2x16x16xf32>
  %w2 = stablehlo.minimum %w1, %w1 : tensor<2x16x16xf32>
  %w3 = stablehlo.maximum %w2, %w2 : tensor<2x16x16xf32>
  %w4 = stablehlo.minimum %w3, %w3 : tensor<2x16x16xf32>
  %w5 = stablehlo.maximum %w4, %w4 : tensor<2x16x16xf32>
  %w6 = stablehlo.minimum %w5, %w5 : tensor<2x16x16xf32>
  %w7 = stablehlo.maximum %w6, %w6 : tensor<2x16x16xf32>
  %w8 = stablehlo.minimum %w7, %w7 : tensor<2x16x16xf32>
  %w9 = stablehlo.maximum %w8, %w8 : tensor<2x16x16xf32>
  %w10 = stablehlo.minimum %w9, %w9 : tensor<2x16x16xf32>
  %w11 = stablehlo.maximum %w10, %w10 : tensor<2x16x16xf32>
  %w12 = stablehlo.minimum %w11, %w11 : tensor<2x16x16xf32>
  %w13 = stablehlo.maximum %w12, %w12 : tensor<2x16x16xf32>
  %w14 = stablehlo.minimum %w13, %w13 : tensor<2x16x16xf32>
  %w15 = stablehlo.maximum %w14, %w14 : tensor<2x16x16xf32>
  %w16 = stablehlo.minimum %w15, %w15 : tensor<2x16x16xf32>
  %w17 = stablehlo.maximum %w16, %w16 : tensor<2x16x16xf32>
  %w18 = stablehlo.minimum %w17, %w17 : tensor<2x16x16xf32>
  %w19 = stablehlo.maximum %w18, %w18 : tensor<2x16x16xf32>
  %w20 = stablehlo.minimum %w19, %w19 : tensor<2x16x16xf32>
  %w21 = stablehlo.maximum %w20, %w20 : tensor<2x16x16xf32>
  %w22 = stablehlo.minimum %w21, %w21 : tensor<2x16x16xf32>
  %w23 = stablehlo.maximum %w22, %w22 : tensor<2x16x16xf32>
  %w24 = stablehlo.minimum %w23, %w23 : tensor<2x16x16xf32>
  %w25 = stablehlo.maximum %w24, %w24 : tensor<2x16x16xf32>
  %w26 = stablehlo.minimum %w25, %w25 : tensor<2x16x16xf32>
  %w27 = stablehlo.maximum %w26, %w26 : tensor<2x16x16xf32>
  %w28 = stablehlo.minimum %w27, %w27 : tensor<2x16x16xf32>
  %w29 = stablehlo.maximum %w28, %w28 : tensor<2x16x16xf32>
  %w30 = stablehlo.minimum %w29, %w29 : tensor<2x16x16xf32>
  %w31 = stablehlo.maximum %w30, %w30 : tensor<2x16x16xf32>
  %w32 = stablehlo.minimum %w31, %w31 : tensor<2x16x16xf32>
  %w33 = stablehlo.maximum %w32, %w32 : tensor<2x16x16xf32>
  %w34 = stablehlo.minimum %w33, %w33 : tensor<2x16x16xf32>
  %w35 = stablehlo.maximum %w34, %w34 : tensor<2x16x16xf32>
  %w36 = stablehlo.minimum %w35, %w35 : tensor<2x16x16xf32>
  %w37 = stablehlo.maximum %w36, %w36 : tensor<2x16x16xf32>
  %w38 = stablehlo.minimum %w37, %w37 : tensor<2x16x16xf32>
  %w39 = stablehlo.maximum %w38, %w38 : tensor<2x16x16xf32>
  %w40 = stablehlo.minimum %w39, %w39 : tensor<2x16x16xf32>
  %w41 = stablehlo.maximum %w40, %w40 : tensor<2x16x16xf32>
  %w42 = stablehlo.minimum %w41, %w41 : tensor<2x16x16xf32>
  %w43 = stablehlo.maximum %w42, %w42 : tensor<2x16x16xf32>
  %w44 = stablehlo.minimum %w43, %w43 : tensor<2x16x16xf32>
  %io = stablehlo.iota dim = 1 : tensor<16x16xi32>
  %jo = stablehlo.iota dim = 0 : tensor<16x16xi32>
  %pw = stablehlo.power %io, %jo : tensor<16x16xi32>
  %c5 = stablehlo.constant dense<5> : tensor<16x16xi32>
  %m = stablehlo.compare LT, %pw, %c5 : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
  %mb = stablehlo.broadcast_in_dim %m, dims = [1, 2] : (tensor<16x16xi1>) -> tensor<2x16x16xi1>
  %low = stablehlo.constant dense<0xFF800000> : tensor<2x16x16xf32>
  %sm = stablehlo.select %mb, %w44, %low : tensor<2x16x16xi1>, tensor<2x16x16xf32>
  %ni = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%sm init: %ni) applies stablehlo.maximum across dimensions = [2] : (tensor<2x16x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %mxb = stablehlo.broadcast_in_dim %mx, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x16xf32>
  %d = stablehlo.subtract %sm, %mxb : tensor<2x16x16xf32>
  %e = stablehlo.exponential %d : tensor<2x16x16xf32>
  %su = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x16x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %sub = stablehlo.broadcast_in_dim %su, dims = [0, 1] : (tensor<2x16xf32>) -> tensor<2x16x16xf32>
  %pr = stablehlo.divide %e, %sub : tensor<2x16x16xf32>
  %o = stablehlo.dot_general %pr, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x16x16xf32>, tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  return %o : tensor<2x16x8xf32>
}
