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
