// RUN: shard-opt %s --pass-pipeline='builtin.module(gpu.module(spmd-convert-gpu-kernels))' | FileCheck %s
// A kernel is a function of LLVM and NVVM. Functions that GPUs have instructions for are intrinsics; others are libdevice's,
// declared in the kernels' module.

// CHECK-LABEL: gpu.module @shardc_kernels
gpu.module @shardc_kernels {
  // CHECK: llvm.func @instructions
  // CHECK-SAME: nvvm.kernel, nvvm.minctasm = 1 : i32
  // CHECK: %[[X:.*]] = llvm.load %arg0 : !llvm.ptr -> f32
  // CHECK: %[[ROOT:.*]] = llvm.intr.sqrt(%[[X]]) : (f32) -> f32
  // CHECK: %[[FLOOR:.*]] = llvm.intr.floor(%[[ROOT]]) : (f32) -> f32
  // CHECK: llvm.intr.fma(%[[FLOOR]], %[[X]], %[[ROOT]]) : (f32, f32, f32) -> f32
  gpu.func @instructions(%p: !llvm.ptr) kernel {
    %x = llvm.load %p : !llvm.ptr -> f32
    %0 = math.sqrt %x : f32
    %1 = math.floor %0 : f32
    %2 = math.fma %1, %x, %0 : f32
    llvm.store %2, %p : f32, !llvm.ptr
    gpu.return
  }

  // CHECK-DAG: llvm.func @__nv_sinf(f32) -> f32
  // CHECK-DAG: llvm.func @__nv_sin(f64) -> f64
  // CHECK: llvm.func @calls
  // CHECK: llvm.call @__nv_sinf(%{{.*}}) : (f32) -> f32
  // CHECK: llvm.call @__nv_sin(%{{.*}}) : (f64) -> f64
  gpu.func @calls(%p: !llvm.ptr, %x: f32, %y: f64) kernel {
    %0 = math.sin %x : f32
    llvm.store %0, %p : f32, !llvm.ptr
    %1 = math.sin %y : f64
    llvm.store %1, %p : f64, !llvm.ptr
    gpu.return
  }

  // Places are computed in 64 bits: an array may have more than 2^31 elements.
  // CHECK: llvm.func @places
  // CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
  // CHECK: %[[WIDE:.*]] = llvm.sext %[[BLOCK]] : i32 to i64
  // CHECK: %[[TIMES:.*]] = llvm.mul %[[WIDE]], %{{.*}} : i64
  // CHECK: llvm.getelementptr {{.*}}[%[[TIMES]]]{{.*}} : (!llvm.ptr, i64) -> !llvm.ptr, f32
  // CHECK: nvvm.barrier
  gpu.func @places(%p: !llvm.ptr) kernel {
    %block = gpu.block_id x
    %c = arith.constant 3000000000 : index
    %0 = arith.muli %block, %c : index
    %1 = arith.index_cast %0 : index to i64
    %2 = llvm.getelementptr %p[%1] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %2 : !llvm.ptr -> f32
    gpu.barrier
    llvm.store %x, %p : f32, !llvm.ptr
    gpu.return
  }

  // What was said of a loop stays with the branch that goes back.
  // CHECK: llvm.func @loop
  // CHECK: llvm.br ^{{.*}} {loop_annotation = #{{.*}}}
  gpu.func @loop(%p: !llvm.ptr, %n: i64) kernel {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    cf.br ^head(%zero : i64)
  ^head(%i: i64):
    %more = arith.cmpi slt, %i, %n : i64
    cf.cond_br %more, ^body, ^end
  ^body:
    llvm.store %i, %p : i64, !llvm.ptr
    %next = arith.addi %i, %one : i64
    cf.br ^head(%next : i64) {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
  ^end:
    gpu.return
  }
}
