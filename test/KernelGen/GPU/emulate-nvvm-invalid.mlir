// RUN: shard-opt %s --spmd-emulate-nvvm --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @clock() attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{'nvvm.read.ptx.sreg.clock' op is not known to the emulator}}
      %t = nvvm.read.ptx.sreg.clock : i32
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @unknown(f32) -> f32
    llvm.func @calls(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{'llvm.call' op calls 'unknown', which the emulator does not know; expected a function of libdevice that libm has as well}}
      %y = llvm.call @unknown(%x) : (f32) -> f32
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    // expected-error @below {{'llvm.mlir.global' op is in memory space 4; the emulator knows shared variables alone}}
    llvm.mlir.global internal @constants() {addr_space = 4 : i32} : !llvm.array<64 x i32>
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @multiplies(%a: i32, %b: i32, %c: i32) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{expected m16n8k16 of f16 or bf16, or m16n8k8 of tf32, with f32 sums, or m8n8k4 of f64}}
      %d = nvvm.mma.sync A[%a] B[%b] C[%c, %c] {intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, layoutA = #nvvm.mma_layout<row>,
          layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<s8>,
          shape = #nvvm.shape<m = 8, n = 8, k = 16>} : (i32, i32, i32) -> !llvm.struct<(i32, i32)>
      llvm.return
    }
  }
}
