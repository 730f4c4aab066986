// RUN: shard-opt %s --split-input-file --verify-diagnostics

func.func @index(%x: tensor<4xf32>) {
  // expected-error @below {{calls function -1, expected 0 or more}}
  spmd.host_call -1(%x) effects : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @shards(%x: tensor<4xf32>) {
  // expected-error @below {{is made on shards, but has 1 results, expected none}}
  %0 = spmd.host_call 0(%x) shards : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @types(%x: tensor<?xf32>) {
  // expected-error @below {{lists 1 types, expected 2: those of its operands and results}}
  %0 = local.call_host 0(%x) as [tensor<4xf32>] along ["x"] on @mesh : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error @below {{lists type tensor<?xf32>, expected tensors of static shapes}}
  local.call_host 0(%x) as [tensor<?xf32>] along ["x"] on @mesh : (tensor<?xf32>) -> ()
  return
}
