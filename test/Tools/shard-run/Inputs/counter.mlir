// Integers, so that every mesh gives the same bits. The state is cut along "x";
// its second result is cut the other way, so that carrying it moves blocks.
sdy.mesh @mesh = <["x"=4]>

func.func public @main(
    %state: tensor<10x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("state"),
    %turned: tensor<6x5xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("turned"),
    %key: tensor<2xui32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("key"),
    %batch: tensor<10x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("batch"),
    %step: tensor<i32> loc("step"))
    -> (tensor<10x3xi32> {jax.result_info = "state", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<6x5xi32> {jax.result_info = "turned", sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
        tensor<2xui32> {jax.result_info = "key"},
        tensor<i32> {jax.result_info = "total"}) {
  %three = stablehlo.constant dense<3> : tensor<10x3xi32>
  %grown = stablehlo.multiply %state, %three : tensor<10x3xi32>
  %steps = stablehlo.broadcast_in_dim %step, dims = [] : (tensor<i32>) -> tensor<10x3xi32>
  %moved = stablehlo.add %grown, %batch : tensor<10x3xi32>
  %next = stablehlo.add %moved, %steps : tensor<10x3xi32>
  %seven = stablehlo.constant dense<7> : tensor<6x5xi32>
  %other = stablehlo.multiply %turned, %seven : tensor<6x5xi32>
  %five = stablehlo.constant dense<5> : tensor<2xui32>
  %drawn = stablehlo.multiply %key, %five : tensor<2xui32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %total = stablehlo.reduce(%next init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<10x3xi32>, tensor<i32>) -> tensor<i32>
  return %next, %other, %drawn, %total : tensor<10x3xi32>, tensor<6x5xi32>, tensor<2xui32>, tensor<i32>
}
