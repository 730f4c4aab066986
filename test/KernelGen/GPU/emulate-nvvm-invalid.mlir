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

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @init(%p: !llvm.ptr<3>, %n: i32, %on: i1) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{no predicate}}
      nvvm.mbarrier.init %p, %n, predicate = %on : !llvm.ptr<3>, i32, i1
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @arrive(%p: !llvm.ptr<3>, %n: i32) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{one arrival, that is not relaxed}}
      %s = nvvm.mbarrier.arrive %p, %n : !llvm.ptr<3> -> i64
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @expect(%p: !llvm.ptr<3>, %n: i32, %on: i1) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{no predicate, and not relaxed}}
      nvvm.mbarrier.arrive.expect_tx %p, %n, predicate = %on : !llvm.ptr<3>, i32, i1
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @wait(%p: !llvm.ptr<3>, %s: i64) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{a parity, and not relaxed}}
      %d = nvvm.mbarrier.try_wait %p, %s : !llvm.ptr<3>, i64 -> i1
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @commit(%p: !llvm.ptr<3>, %blocks: i16) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{an mbarrier of this block, or those of a pair}}
      nvvm.tcgen05.commit %p, multicast_mask = %blocks : !llvm.ptr<3>, i16
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @product(%d: !llvm.ptr<6>, %a: i64, %b: i64, %i: i32, %on: i1) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{kind::f16 or kind::tf32 of two matrices}}
      nvvm.tcgen05.mma %d, %a, %b, %i, %on {kind = #nvvm.tcgen05_mma_kind<i8>, ctaGroup = #nvvm.cta_group<cta_1>} : (!llvm.ptr<6>, i64, i64, i32, i1)
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @store(%t: !llvm.ptr<6>, %v: i32) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{several words of 32x32b}}
      nvvm.tcgen05.st %t, %v {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : i32
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @box(%p: !llvm.ptr<7>, %bar: !llvm.ptr<3>, %map: !llvm.ptr, %i: i32, %on: i1) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{a box or windows, for blocks that are known, without predicate}}
      nvvm.cp.async.bulk.tensor.shared.cluster.global %p, %map, %bar, box[%i] predicate = %on : !llvm.ptr<7>, !llvm.ptr
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @chooses(%a: i64, %b: i64, %on: i1) attributes {gpu.kernel, nvvm.kernel} {
      %zero = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
      %sum = nvvm.wgmma.mma_async %a, %b, %zero, #nvvm.shape<m = 64, n = 8, k = 16>,
          D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>], B [<f16>, #nvvm.wgmma_scale_in<one>, <col>]
          : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
      // expected-error @below {{sums that come of zeros, numbers and products alone}}
      %one = llvm.select %on, %sum, %zero : i1, !llvm.struct<(f32, f32, f32, f32)>
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @shardc_kernels {
    llvm.func @inserts(%a: i64, %b: i64, %x: f32) attributes {gpu.kernel, nvvm.kernel} {
      %zero = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
      %sum = nvvm.wgmma.mma_async %a, %b, %zero, #nvvm.shape<m = 64, n = 8, k = 16>,
          D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>], B [<f16>, #nvvm.wgmma_scale_in<one>, <col>]
          : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
      // expected-error @below {{sums that are put together in one place}}
      %one = llvm.insertvalue %x, %sum[0] : !llvm.struct<(f32, f32, f32, f32)>
      %two = llvm.insertvalue %x, %sum[1] : !llvm.struct<(f32, f32, f32, f32)>
      llvm.return
    }
  }
}
