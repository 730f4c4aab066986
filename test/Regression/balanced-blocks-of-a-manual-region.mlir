// RUN: shard-run %s --seed=3 --check --rtol=0 --atol=0
// RUN: shard-run %s --seed=3 --check=interpreter --rtol=0 --atol=0
// Of six elements "z" makes two blocks of three, and each is cut in two and one
// along "b": balanced inside, unbalanced outside. Found with a tensor of no
// elements: the layout had a second spelling inside, and was refused.
spmd.mesh @mesh = <["z"=2, "b"=2, "i"=2]>
func.func @main(%x: tensor<4x2x6xf64> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"i" sizes [2, 0]}, {}]>})
    -> (tensor<4x2x3xf64>, tensor<4x2x6xf64>) {
  %0 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{?}, {?}, {"z", ?}]>] out [#spmd.sharding<@mesh, [{?}, {"z", ?}, {?}]>] along ["z"] {
  ^bb0(%b: tensor<4x2x3xf64>):
    %r = "stablehlo.reduce_scatter"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
    ^bb0(%p: tensor<f64>, %q: tensor<f64>):
      %s = stablehlo.add %p, %q : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) : (tensor<4x2x3xf64>) -> tensor<4x1x3xf64>
    spmd.return %r : tensor<4x1x3xf64>
  } : (tensor<4x2x6xf64>) -> tensor<4x2x3xf64>
  %1 = spmd.constrain %0 <@mesh, [{"z", ?}, {?}, {"b"}]> : tensor<4x2x3xf64>
  %2 = spmd.manual(%x) in [#spmd.sharding<@mesh, [{?}, {?}, {"z", "b" sizes [2, 1, 2, 1]}]>] out [#spmd.sharding<@mesh, [{?}, {?}, {"z"}]>] along ["z"] {
  ^bb0(%b: tensor<4x2x3xf64>):
    %n = stablehlo.reverse %b, dims = [2] : tensor<4x2x3xf64>
    spmd.return %n : tensor<4x2x3xf64>
  } : (tensor<4x2x6xf64>) -> tensor<4x2x6xf64>
  return %1, %2 : tensor<4x2x3xf64>, tensor<4x2x6xf64>
}
