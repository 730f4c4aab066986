// RUN: shard-opt %s --verify-diagnostics --spmd-partition-to-local
// Propagation leaves keys whole where scores are made of what is of keys and has a gradient; others may not.

spmd.mesh @mesh = <["x"=2]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#out = affine_map<(h, q, k, d, e) -> (h, q, e)>
#row = affine_map<(h, q, k, d, e) -> (h, q)>
#col = affine_map<(h, q, k, d, e) -> (k)>
func.func @gradient_of_a_bias_of_keys(%q: tensor<2x16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}]>},
    %k: tensor<2x16x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>},
    %row: tensor<2x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>},
    %bias: tensor<16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  // expected-error @below {{'pairs.attention_backward' op asks for the gradient of what scores are made of (result 3), with keys cut; leave its keys whole}}
  %dq, %dk, %dv, %db = pairs.attention_backward %q, %k, %k, %row, %row, %q extras(%bias)
      maps [#q, #k, #v, #row, #row, #out, #col, #q, #k, #v, #col]
      {spmd.factors = [#spmd<dim_sharding{}>, #spmd<dim_sharding{}>, #spmd<dim_sharding{"x"}>, #spmd<dim_sharding{}>, #spmd<dim_sharding{}>],
       spmd.shardings = [#spmd.sharding<@mesh, [{}, {}, {}]>, #spmd.sharding<@mesh, [{}, {"x"}, {}]>, #spmd.sharding<@mesh, [{}, {"x"}, {}]>, #spmd.sharding<@mesh, [{"x"}]>]} score {
  ^bb0(%raw: tensor<f32>, %add: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %s = stablehlo.add %raw, %add : tensor<f32>
    pairs.yield %s : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %add: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %ds, %ds : tensor<f32>, tensor<f32>
  } : (tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16x4xf32>, tensor<16xf32>)
      -> (tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<16xf32>)
  return
}
