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

func.func @broadcast(%x: tensor<2xi64>, %root: tensor<1xi32>) {
  // expected-error @below {{'stablehlo.collective_broadcast' op requires a single operand}}
  %0 = "stablehlo.collective_broadcast"(%x, %root) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<2xi64>, tensor<1xi32>) -> tensor<2xi64>
  return
}
