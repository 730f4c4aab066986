// Rings along two axes, in one order and in two; queries cut along more axes than keys; keys along an axis of their own, whose states
// are merged: causal attention and its gradient, uneven blocks, in natural and in zigzag order.
// RUN: shard-opt %s --spmd-expand-all-pairs -o %t.mlir
// RUN: shard-run %t.mlir --mesh=x=1,y=1 --seed=1 --outputs=@%t.npz
// RUN: shard-run %s --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6
// RUN: sed 's/band_upper = 0/band_upper = 0, pairs.way = #pairs.way<zigzag>/' %s > %t.zigzag.mlir
// RUN: shard-run %t.zigzag.mlir --seed=1 --expect=@%t.npz --rtol=2e-5 --atol=2e-6
spmd.mesh @mesh = <["x"=2, "y"=2]>
#q = affine_map<(q, k, d, e) -> (q, d)>
#k = affine_map<(q, k, d, e) -> (k, d)>
#v = affine_map<(q, k, d, e) -> (k, e)>
#o = affine_map<(q, k, d, e) -> (q, e)>
#r = affine_map<(q, k, d, e) -> (q)>
!q = tensor<37x8xf32>
!v = tensor<37x4xf32>
!r = tensor<37xf32>
func.func @main(%q0: !q {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>}, %k0: !q {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>},
                %v0: !v {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>}, %g0: !v {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>},
                %q1: !q {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>}, %k1: !q {spmd.sharding = #spmd.sharding<@mesh, [{"y", "x"}, {}]>},
                %v1: !v {spmd.sharding = #spmd.sharding<@mesh, [{"y", "x"}, {}]>}, %g1: !v {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>},
                %q2: !q {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>}, %k2: !q {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %v2: !v {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %g2: !v {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>},
                %q3: !q {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %k3: !q {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>},
                %v3: !v {spmd.sharding = #spmd.sharding<@mesh, [{"x", "y"}, {}]>}, %g3: !v {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (!v, !q, !q, !v, !v, !q, !q, !v, !v, !q, !q, !v, !v, !q, !q, !v) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %o0, %m0, %l0 = pairs.all_pairs softmax %q0, %k0, %v0 maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %2 : tensor<f32>
  } : (!q, !q, !v) -> (!v, !r, !r)
  %og0 = stablehlo.multiply %o0, %g0 : !v
  %s0 = stablehlo.reduce(%og0 init: %zero) applies stablehlo.add across dimensions = [1] : (!v, tensor<f32>) -> !r
  %d0 = stablehlo.divide %s0, %l0 : !r
  %w0 = stablehlo.broadcast_in_dim %l0, dims = [0] : (!r) -> !v
  %p0 = stablehlo.divide %g0, %w0 : !v
  %dq0, %dk0, %dv0 = pairs.attention_backward %q0, %k0, %v0, %m0, %d0, %p0 maps [#q, #k, #v, #r, #r, #o, #q, #k, #v]
      {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %2 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %ds : tensor<f32>
  } : (!q, !q, !v, !r, !r, !v) -> (!q, !q, !v)
  %o1, %m1, %l1 = pairs.all_pairs softmax %q1, %k1, %v1 maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %2 : tensor<f32>
  } : (!q, !q, !v) -> (!v, !r, !r)
  %og1 = stablehlo.multiply %o1, %g1 : !v
  %s1 = stablehlo.reduce(%og1 init: %zero) applies stablehlo.add across dimensions = [1] : (!v, tensor<f32>) -> !r
  %d1 = stablehlo.divide %s1, %l1 : !r
  %w1 = stablehlo.broadcast_in_dim %l1, dims = [0] : (!r) -> !v
  %p1 = stablehlo.divide %g1, %w1 : !v
  %dq1, %dk1, %dv1 = pairs.attention_backward %q1, %k1, %v1, %m1, %d1, %p1 maps [#q, #k, #v, #r, #r, #o, #q, #k, #v]
      {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %2 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %ds : tensor<f32>
  } : (!q, !q, !v, !r, !r, !v) -> (!q, !q, !v)
  %o2, %m2, %l2 = pairs.all_pairs softmax %q2, %k2, %v2 maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %2 : tensor<f32>
  } : (!q, !q, !v) -> (!v, !r, !r)
  %og2 = stablehlo.multiply %o2, %g2 : !v
  %s2 = stablehlo.reduce(%og2 init: %zero) applies stablehlo.add across dimensions = [1] : (!v, tensor<f32>) -> !r
  %d2 = stablehlo.divide %s2, %l2 : !r
  %w2 = stablehlo.broadcast_in_dim %l2, dims = [0] : (!r) -> !v
  %p2 = stablehlo.divide %g2, %w2 : !v
  %dq2, %dk2, %dv2 = pairs.attention_backward %q2, %k2, %v2, %m2, %d2, %p2 maps [#q, #k, #v, #r, #r, #o, #q, #k, #v]
      {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %2 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %ds : tensor<f32>
  } : (!q, !q, !v, !r, !r, !v) -> (!q, !q, !v)
  %o3, %m3, %l3 = pairs.all_pairs softmax %q3, %k3, %v3 maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %2 : tensor<f32>
  } : (!q, !q, !v) -> (!v, !r, !r)
  %og3 = stablehlo.multiply %o3, %g3 : !v
  %s3 = stablehlo.reduce(%og3 init: %zero) applies stablehlo.add across dimensions = [1] : (!v, tensor<f32>) -> !r
  %d3 = stablehlo.divide %s3, %l3 : !r
  %w3 = stablehlo.broadcast_in_dim %l3, dims = [0] : (!r) -> !v
  %p3 = stablehlo.divide %g3, %w3 : !v
  %dq3, %dk3, %dv3 = pairs.attention_backward %q3, %k3, %v3, %m3, %d3, %p3 maps [#q, #k, #v, #r, #r, #o, #q, #k, #v]
      {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %2 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %ds : tensor<f32>
  } : (!q, !q, !v, !r, !r, !v) -> (!q, !q, !v)
  return %o0, %dq0, %dk0, %dv0, %o1, %dq1, %dk1, %dv1, %o2, %dq2, %dk2, %dv2, %o3, %dq3, %dk3, %dv3
      : !v, !q, !q, !v, !v, !q, !q, !v, !v, !q, !q, !v, !v, !q, !q, !v
}
