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
