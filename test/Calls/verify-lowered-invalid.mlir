// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-verify-lowered

// expected-error@+1 {{is left after lowering, expected 'llvm.func'}}
func.func @main(%x: memref<8xf32>) {
  return
}

// -----

llvm.func @main(%x: f32) -> f32 {
  // expected-error@+1 {{is left after lowering, expected an op of LLVM's dialect}}
  %0 = math.exp %x : f32
  llvm.return %0 : f32
}

// -----

gpu.module @shardc_kernels {
  llvm.func @kernel() {
    // NVVM's own are lowered as well.
    nvvm.barrier0
    // expected-error@+1 {{is left after lowering, expected an op of LLVM's dialect}}
    %0 = gpu.thread_id x
    llvm.return
  }
}
