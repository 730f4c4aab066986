// RUN: shard-opt %s --split-input-file --verify-diagnostics

func.func @accuracy(%x: tensor<4xf32>) {
  // expected-error @below {{expected DEFAULT, HIGHEST or TOLERANCE, got 'BEST'}}
  %0 = stablehlo.cbrt %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<BEST>>} : tensor<4xf32>
  return
}

// -----

func.func @tuple(%x: tensor<i32>) {
  // expected-error @below {{expected a tuple type, got 'tensor<i32>'}}
  %0 = stablehlo.tuple %x : tensor<i32>
  return
}

// -----

func.func @reduce(%x: tensor<4xi32>) {
  // expected-error @below {{has results of types}}
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4xi32>) -> tensor<5xi32>
  return
}

// -----

func.func @scan_dim(%x: tensor<4xi32>, %c: tensor<i32>) {
  // expected-error @below {{goes along dim 1, but 'tensor<4xi32>' has 1 dims}}
  %0:2 = chlo.scan(%x) inits(%c) dimension=1 {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a, %b : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  return
}

// -----

func.func @scan_sizes(%x: tensor<4xi32>, %c: tensor<i32>) {
  // expected-error @below {{goes along 5 elements of 'tensor<5xi32>', but along 4 of others}}
  %0:2 = chlo.scan(%x) inits(%c) dimension=0 {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a, %b : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> (tensor<5xi32>, tensor<i32>)
  return
}

// -----

func.func @scan_body(%x: tensor<4xi32>, %c: tensor<i64>) {
  // expected-error @below {{has a body that returns 'tensor<i32>', 'tensor<i32>', expected 'tensor<i32>', 'tensor<i64>'}}
  %0:2 = chlo.scan(%x) inits(%c) dimension=0 {
  ^bb0(%a: tensor<i32>, %b: tensor<i64>):
    stablehlo.return %a, %a : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<i64>) -> (tensor<4xi32>, tensor<i64>)
  return
}

// -----

func.func @scan_carries(%c: tensor<i32>) {
  // expected-error @below {{has neither inputs nor outputs nor scan_dim_size}}
  %0 = chlo.scan() inits(%c) dimension=0 {
  ^bb0(%b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  } : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @broadcast(%x: tensor<2xi64>, %root: tensor<2xi32>) {
  // expected-error @below {{has has_dynamic_root: expected that the last operand is a list of integers, one for each of the others}}
  %0 = "stablehlo.collective_broadcast"(%x, %root) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<2xi64>, tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @broadcast_types(%x: tensor<2xi64>) {
  // expected-error @below {{has results of types 'tensor<3xi64>', expected those of what it sends, 'tensor<2xi64>'}}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<3xi64>
  return
}

// -----

func.func @axis(%x: tensor<2xi64>) {
  // expected-error @below {{axis 'b' is none of mesh #stablehlo.mesh<axes=[<name = "a", size = 2>]>}}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>]>, axes = [#stablehlo.axis_ref<name = "b">]>} : (tensor<2xi64>) -> tensor<2xi64>
  return
}

// -----

// expected-error @below {{a future holds ranked tensors, got 'tuple<>'}}
func.func private @future() -> !stablehlo.future<tuple<>>

// -----

func.func @start(%x: tensor<2xf32>) {
  // expected-error @below {{body has stablehlo.add, expected a collective or a slice}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<2xf32>):
    %1 = stablehlo.add %y, %y : tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}

// -----

func.func @start_ops(%x: tensor<2xf32>) {
  // expected-error @below {{body has 2 ops, expected one, and its return}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<2xf32>):
    %1 = stablehlo.slice %y [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %2 = stablehlo.slice %1 [0:1] : (tensor<1xf32>) -> tensor<1xf32>
    stablehlo.return %2 : tensor<1xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<1xf32>>
  return
}

// -----

func.func @start_arguments(%x: tensor<2xf32>) {
  // expected-error @below {{body has arguments of types 'tensor<3xf32>', expected those of its operands, 'tensor<2xf32>'}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<3xf32>):
    %1 = stablehlo.slice %y [0:1] : (tensor<3xf32>) -> tensor<1xf32>
    stablehlo.return %1 : tensor<1xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<1xf32>>
  return
}

// -----

func.func @done(%f: !stablehlo.future<tensor<2xf32>>) {
  // expected-error @below {{has results of types 'tensor<3xf32>', expected those of '!stablehlo.future<tensor<2xf32>>'}}
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<3xf32>
  return
}

// -----

func.func @accuracy(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected atol, rtol, ulps or mode, got 'digits'}}
  %0 = stablehlo.cbrt %x {result_accuracy = #stablehlo.result_accuracy<digits = 3>} : tensor<4xf32>
  return
}

// -----

func.func @axes(%x: tensor<2xi64>) {
  // expected-error @+1 {{expected #stablehlo.axis_ref, got "a"}}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>]>, axes = ["a"]>} : (tensor<2xi64>) -> tensor<2xi64>
  return
}

// -----

func.func @scan_types(%x: tensor<4x3xf32>, %c: tensor<4xf32>) {
  %0:2 = chlo.scan(%x) inits(%c) dimension=1 {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    stablehlo.return %b, %b : tensor<4xf32>, tensor<4xf32>
  // expected-error @+1 {{expected types of 1 inputs and 1 values that are carried, got '(tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4xf32>)'}}
  } : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4xf32>)
  return
}

// -----

func.func @scan_end(%x: tensor<4x3xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{has a body without stablehlo.return}}
  %0:2 = chlo.scan(%x) inits(%c) dimension=1 {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    func.return %b, %b : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<4xf32>)
  return
}

// -----

func.func @mesh(%x: tensor<2xi64>) {
  // expected-error @below {{expected a mesh or the symbol of one, got "a"}}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = #stablehlo.replica_group_mesh_axes<mesh = "a", axes = [#stablehlo.axis_ref<name = "a">]>} : (tensor<2xi64>) -> tensor<2xi64>
  return
}

// -----

func.func @bounds(%a: tensor<f32>, %b: tensor<f64>, %s: tensor<1xi64>) {
  // expected-error @below {{'stablehlo.rng' op has a bound of type 'tensor<f64>', expected 'tensor<f32>'}}
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f64>, tensor<1xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @shape(%a: tensor<f32>, %s: tensor<2xi64>) {
  // expected-error @below {{'stablehlo.rng' op shape operand has type 'tensor<2xi64>', expected shape [1]}}
  %0 = stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @complex_bits(%s: tensor<2xui64>) {
  // expected-error @below {{'stablehlo.rng_bit_generator' op result has type 'tensor<4xcomplex<f32>>', expected integers or floats}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xcomplex<f32>>)
  return
}

// -----

func.func @selected_dim(%x: tensor<4x5xf32>, %i: tensor<3xi32>) {
  // expected-error @below {{'stablehlo.torch_index_select' op selects along dim 2 behind 0 batching dims of 'tensor<4x5xf32>' by 'tensor<3xi32>'}}
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 2 : i64, batch_dims = 0 : i64}> : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @selected_batch(%x: tensor<4x5xf32>, %i: tensor<3x2xi32>) {
  // expected-error @below {{'stablehlo.torch_index_select' op batching dim 0 has size 4 in the operand and 3 in the index}}
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<4x5xf32>, tensor<3x2xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @selected_shape(%x: tensor<4x5xf32>, %i: tensor<3xi32>) {
  // expected-error @below {{'stablehlo.torch_index_select' op result has type 'tensor<4x5xf32>', expected shape [4, 3]}}
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 0 : i64}> : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @gathered_sizes(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %s: tensor<1xi32>) {
  // expected-error @below {{'stablehlo.dynamic_gather' op slice_sizes has type 'tensor<1xi32>', expected shape [2]}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<1xi32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @mapped_types(%x: tensor<4xi32>) {
  // expected-error @below {{'stablehlo.map' op computation's argument 0 has type 'tensor<f32>', expected one element of 'tensor<4xi32>'}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @mapped_dims(%x: tensor<4x5xf32>) {
  // expected-error @below {{'stablehlo.map' op dimensions are [1, 0], expected all dims of 'tensor<4x5xf32>' in order}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 1, 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @updates_of_another_kind(%x: tensor<8xf32>, %i: tensor<4x1xi32>, %u: tensor<4xui8>) {
  // expected-error @below {{'stablehlo.scatter' op update 0 has type 'tensor<4xui8>', expected elements for 'tensor<8xf32>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<8xf32>, tensor<4x1xi32>, tensor<4xui8>) -> tensor<8xf32>
  return
}

// -----

func.func @sent_from_the_host(%x: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @below {{'stablehlo.send' op has a channel of type 2, expected 1, since no host takes part}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>}> : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @received_from_the_host(%t: !stablehlo.token) {
  // expected-error @below {{'stablehlo.recv' op has a channel of type 2, expected 3, since the host takes part}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
  return
}

// -----

func.func @received_no_token(%t: !stablehlo.token) {
  // expected-error @below {{'stablehlo.recv' op has results of types 'tensor<2xi32>', expected tensors, then a token}}
  %0 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (!stablehlo.token) -> tensor<2xi32>
  return
}

// -----

func.func @fed_two_tokens(%t: !stablehlo.token) {
  // expected-error @below {{'stablehlo.infeed' op has results of types '!stablehlo.token', '!stablehlo.token', expected tensors, then a token}}
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @tuple_of_others(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  // expected-error @below {{'stablehlo.tuple' op result has type 'tuple<tensor<4xf32>, tensor<4xf32>>', expected a tuple of 'tensor<4xf32>', 'tensor<1xf32>'}}
  %0 = "stablehlo.tuple"(%x, %y) : (tensor<4xf32>, tensor<1xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  return
}

// -----

func.func @fed_in_more_layouts_than_tensors(%t: !stablehlo.token) {
  // expected-error @below {{'stablehlo.infeed' op layout has 1 entries, expected 0, one for each tensor}}
  %0 = "stablehlo.infeed"(%t) <{layout = [[0]]}> : (!stablehlo.token) -> !stablehlo.token
  return
}
