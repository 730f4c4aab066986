// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-verify-buffers

// expected-error@+1 {{has argument 1 of type 'tensor<8xf32>', expected a buffer}}
func.func @argument(%x: memref<8xf32>, %y: tensor<8xf32>) {
  return
}

// -----

// expected-error@+1 {{has a result that is a tensor, expected a buffer among its arguments}}
func.func private @result(%x: memref<8xf32>) -> tensor<8xf32>

// -----

func.func @value(%x: memref<8xf32>) {
  // expected-error@+1 {{is of type 'tensor<8xf32>', but expected on buffers}}
  %0 = bufferization.to_tensor %x : memref<8xf32> to tensor<8xf32>
  return
}

// -----

func.func @nested(%x: memref<8xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    // expected-error@+1 {{is of type 'tensor<2xf32>', but expected on buffers}}
    %0 = tensor.empty() : tensor<2xf32>
  }
  return
}

// -----

// A look-up is legal on buffers; other ops of the local view are not.
spmd.mesh @mesh = <["x"=2]>
func.func @level(%x: memref<8xf32>) {
  %0 = local.lookup [4, 3] along ["x"] on @mesh
  // expected-error @+1 {{'local.call_host' op is left after bufferization, expected only 'kernel', 'pairs', 'local.lookup'}}
  local.call_host 0() as [] along [] on @mesh : () -> ()
  return
}
