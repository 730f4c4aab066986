// RUN: shard-opt %s --spmd-check-supported --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @below {{unsupported: 'stablehlo.custom_call' at {{.*}}: no custom call of target @my_kernel is known}}
  %0 = stablehlo.custom_call @my_kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

module attributes {mhlo.num_replicas = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xf32>) {
      // expected-error-re @below {{unsupported: 'stablehlo.replica_id' at {{.*}}: the program has 2 replicas; expected one}}
      %1 = stablehlo.replica_id : tensor<ui32>
      sdy.return %y : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @below {{unsupported: 'stablehlo.collective_permute' at {{.*}}: the program already communicates by itself, outside a manual region}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

module attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error-re @below {{unsupported: 'stablehlo.all_reduce' at {{.*}}: the program runs as 2 replicas, each with arguments and results of its own, but is given one set of them; use shard_map, whose partitions are ranks}}
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// expected-error @below {{unsupported: argument 0 of @main has dynamic shape 'tensor<?xf32>'; export with constant shapes}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{unsupported: argument 0 of @main has type '!stablehlo.token'; only ranked tensors are known}}
func.func @main(%x: !stablehlo.token) {
  return
}

// -----

// A token of ordered effects: it is the effect that is refused.
func.func @main(%t: !stablehlo.token, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @below {{unsupported: 'stablehlo.custom_call' at {{.*}}: no custom call of target @xla_ffi_python_cpu_callback is known}}
  %0:2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%t, %x) : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @below {{unsupported: 'arith.negf' at {{.*}}: expected ops of stablehlo, chlo, sdy and spmd}}
  %0 = arith.negf %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @below {{unsupported: argument 0 of @main has 'mhlo.sharding', the form of an older partitioner}}
func.func @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{unsupported: argument 0 of @main has 'xla.sdy.sharding', Shardy's serialized form}}
func.func @main(%x: tensor<4xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{}]>"}}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{unsupported: argument 0 of @main has element type 'i128'; expected i1 to i64, ui2 to ui64, f16 to f64, bf16, floats of 8 bits and less, or complex numbers of f32 or f64}}
func.func @main(%x: tensor<4xi128>) -> tensor<4xi128> {
  return %x : tensor<4xi128>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @below {{unsupported: result 0 of 'stablehlo.convert' at {{.*}} has element type 'tf32'; expected i1 to i64}}
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xtf32>
  %1 = stablehlo.convert %0 : (tensor<4xtf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{unsupported: 'stablehlo.cross-replica-sum': it is of older versions; export with a newer one}}
  %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{unsupported: 'stablehlo.collective_reduce': it is known between the programs of a conformance file alone; give all_reduce}}
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @below {{unsupported: 'func.constant' at {{.*}}: only calls by name are known}}
  %f = func.constant @f : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{unsupported: argument 0 of @main has 'xla.sdy.sharding', Shardy's serialized form; print the module before it is serialized}}
func.func @main(%x: tensor<4xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{}]>"}}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error-re @below {{unsupported: 'builtin.module' at {{.*}}: expected functions and meshes in a module}}
module @inner {
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// A batch may be open, rows and columns may not.
module attributes {spmd.extents = #spmd.extents<[dim [0, 0] = 225383]>} {
  func.func @main(%x: tensor<225383x4x4xf32>, %y: tensor<2x225383x225383xf32>) -> (tensor<225383x4xf32>, tensor<2x225383xf32>) {
    %vectors, %values = solver.eigh %x, lower = true : (tensor<225383x4x4xf32>) -> (tensor<225383x4x4xf32>, tensor<225383x4xf32>)
    // expected-error-re @below {{unsupported: 'solver.eigh' at {{.*}}: it factors matrices of known sizes alone, and these have an open extent; give shapes of the arguments (--shapes)}}
    %others, %numbers = solver.eigh %y, lower = true : (tensor<2x225383x225383xf32>) -> (tensor<2x225383x225383xf32>, tensor<2x225383xf32>)
    return %values, %numbers : tensor<225383x4xf32>, tensor<2x225383xf32>
  }
}
