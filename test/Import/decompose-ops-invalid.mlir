// RUN: shard-opt %s --split-input-file --spmd-decompose-ops --verify-diagnostics

func.func @state(%s: tensor<3xui64>) -> tensor<6xui32> {
  // expected-error @below {{has a state of type 'tensor<3xui64>', expected tensor<2xui64>}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<6xui32>)
  return %0#1 : tensor<6xui32>
}

// -----

func.func @tuple(%x: tuple<tensor<4xf32>>) -> tensor<4xf32> {
  // expected-error-re @below {{unsupported: 'stablehlo.get_tuple_element' at {{.*}} takes a value out of a tuple that is not made beside it}}
  %0 = stablehlo.get_tuple_element %x[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
