// RUN: shard-opt %s --pass-pipeline='builtin.module(gpu.module(spmd-select-gpu-instructions))' | FileCheck %s
// PTX's approximate instructions are right to two units in the last place: only f32 has them, and a constant divisor is an
// exact product for LLVM.

gpu.module @shardc_kernels {
  // CHECK-LABEL: llvm.func @quotients
  llvm.func @quotients(%x: f32, %y: f32) -> (f32) {
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %four = llvm.mlir.constant(4.0 : f32) : f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"(%arg0, %arg1) : (f32, f32) -> f32
    %0 = llvm.fdiv %x, %y : f32
    // A reciprocal that may not be brief is a quotient like others.
    // CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"(%{{.*}}, %arg1)
    %1 = llvm.fdiv %one, %y : f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%arg1) : (f32) -> f32
    %2 = llvm.fdiv %one, %y {fastmathFlags = #llvm.fastmath<afn>} : f32
    // CHECK: llvm.fdiv %arg0, %{{.*}} : f32
    %3 = llvm.fdiv %x, %four : f32
    %4 = llvm.fadd %0, %1 : f32
    %5 = llvm.fadd %2, %3 : f32
    %6 = llvm.fadd %4, %5 : f32
    llvm.return %6 : f32
  }

  // Of a square root, one instruction takes the reciprocal; another dividend is divided.
  // CHECK-LABEL: llvm.func @roots
  llvm.func @roots(%x: f32, %y: f32) -> f32 {
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %root = llvm.intr.sqrt(%y) : (f32) -> f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"(%arg1) : (f32) -> f32
    %0 = llvm.fdiv %one, %root : f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"(%arg0, %{{.*}}) : (f32, f32) -> f32
    %1 = llvm.fdiv %x, %root : f32
    %2 = llvm.fadd %0, %1 : f32
    llvm.return %2 : f32
  }

  // CHECK-LABEL: llvm.func @powers
  llvm.func @powers(%x: f32) -> f32 {
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%arg0) : (f32) -> f32
    %0 = llvm.intr.exp2(%x) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
    // CHECK: llvm.intr.exp2(%arg0) : (f32) -> f32
    %1 = llvm.intr.exp2(%x) : (f32) -> f32
    %2 = llvm.fadd %0, %1 : f32
    llvm.return %2 : f32
  }

  // CHECK-LABEL: llvm.func @doubles
  // CHECK-NOT: call_intrinsic
  // CHECK: llvm.fdiv %arg0, %arg1 : f64
  llvm.func @doubles(%x: f64, %y: f64) -> f64 {
    %0 = llvm.fdiv %x, %y : f64
    llvm.return %0 : f64
  }
}
