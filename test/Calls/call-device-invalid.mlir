// RUN: shard-opt %s --spmd-call-device --split-input-file --verify-diagnostics

// expected-error @below {{has no @shardc_step; run --spmd-call-runtime first}}
module {}

// -----

module attributes {kernel.entry_inputs = [], kernel.entry_outputs = []} {
  func.func private @shardc_step(%ctx: !llvm.ptr, %n: index) -> i32 {
    %c1 = arith.constant 1 : index
    %ok = arith.constant 0 : i32
    // expected-error @below {{'gpu.launch' op has a block whose size is not constant}}
    gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%t, %u, %w) in (%g = %n, %h = %c1, %i = %c1) {
      gpu.terminator
    }
    return %ok : i32
  }
  func.func @shardc_main(%ctx: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %s = call @shardc_step(%ctx, %c0) : (!llvm.ptr, index) -> i32
    return %s : i32
  }
}

// -----

module attributes {kernel.entry_inputs = [], kernel.entry_outputs = [{}, {}]} {
  func.func private @shardc_step(%ctx: !llvm.ptr, %x: memref<?xf32>) -> i32 {
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
  func.func @shardc_main(%ctx: !llvm.ptr, %x: memref<?xf32>) -> i32 {
    // expected-error @below {{'func.call' op expected a context and memrefs of 0 inputs and 2 outputs, as the module's attributes name them}}
    %s = call @shardc_step(%ctx, %x) : (!llvm.ptr, memref<?xf32>) -> i32
    return %s : i32
  }
}

// -----

module {
  func.func private @shardc_step(%ctx: !llvm.ptr) -> i32 {
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
  // expected-error @below {{does not call @shardc_step}}
  func.func @shardc_main(%ctx: !llvm.ptr) -> i32 {
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}
