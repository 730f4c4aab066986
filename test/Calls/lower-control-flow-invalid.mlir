// RUN: shard-opt %s --spmd-lower-control-flow --verify-diagnostics

// Tensors have become memory before.
func.func @main(%x: tensor<4xf32>, %v: tensor<1xf32>) -> tensor<4xf32> {
  // expected-error @below {{has no form of branches}}
  %0 = scf.forall (%i) in (4) shared_outs(%o = %x) -> (tensor<4xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %0 : tensor<4xf32>
}
