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

// -----

func.func @letters(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error @below {{'stablehlo.unary_einsum' op has config "aa->a", expected a letter for each dim, those of an operand and of the result once, and the result's among them, for example "ab,bc->ac"}}
  %0 = "stablehlo.unary_einsum"(%x) <{einsum_config = "aa->a"}> : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @batches(%x: tensor<2x3xf32>, %i: tensor<2x4xi32>) -> tensor<2x4xf32> {
  // expected-error @below {{'stablehlo.torch_index_select' op selects along dim 0 behind 1 batching dims of 'tensor<2x3xf32>' by 'tensor<2x4xi32>'}}
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 1 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @root(%x: tensor<?xf32>, %r: tensor<1xi64>) -> tensor<?xf32> {
  // expected-error @below {{'stablehlo.collective_broadcast' op unsupported: reads its root from an operand; give groups as a matrix of numbers and tensors of known shape}}
  %0 = "stablehlo.collective_broadcast"(%x, %r) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
