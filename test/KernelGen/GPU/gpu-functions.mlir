// RUN: shard-opt %s --spmd-use-gpu-functions --canonicalize --split-input-file | FileCheck %s

// log of f32 is a polynomial, without the unit, whose error near one is absolute; subnormal numbers are scaled first.
// CHECK-LABEL: func.func @log(
//   CHECK-NOT:   math.log
//   CHECK-NOT:   llvm.intr.log2
//       CHECK:   arith.mulf %{{.*}}, %{{.*}} : f32
//       CHECK:   arith.subi
//CHECK-COUNT-10: math.fma
func.func @log(%x: f32, %y: memref<f32>, %one: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one) threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
    %0 = math.log %x : f32
    memref.store %0, %y[] : memref<f32>
    gpu.terminator
  }
  return
}

// -----

// tanh: a power of two by the unit and its reciprocal, a polynomial below 5/4; of bf16 the same, rounded once more.
// CHECK-LABEL: func.func @tanh(
//   CHECK-NOT:   math.tanh
//CHECK-COUNT-8:  math.fma
//       CHECK:   llvm.intr.exp2({{.*}}) {fastmathFlags = #llvm.fastmath<afn>}
//       CHECK:   arith.divf %{{.*}}, %{{.*}} fastmath<afn>
//       CHECK:   math.copysign
//       CHECK:   llvm.intr.exp2({{.*}}) {fastmathFlags = #llvm.fastmath<afn>}
//       CHECK:   arith.truncf %{{.*}} : f32 to bf16
func.func @tanh(%x: f32, %h: bf16, %y: memref<f32>, %z: memref<bf16>, %one: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one) threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
    %0 = math.tanh %x : f32
    memref.store %0, %y[] : memref<f32>
    %1 = math.tanh %h : bf16
    memref.store %1, %z[] : memref<bf16>
    gpu.terminator
  }
  return
}
