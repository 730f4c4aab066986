// RUN: shard-opt %s --pass-pipeline='builtin.module(gpu.module(spmd-expand-fragment-products))' | FileCheck %s
// A product of warpgroups whose left matrix is in registers has a name until here. Assembly takes single sums, each as input and
// as output: eight of m64n16, after them four words of fragments and the descriptor of the right matrix.

gpu.module @shardc_kernels {
  // CHECK-LABEL: llvm.func @product
  // CHECK-COUNT-8: llvm.extractvalue %arg0[{{[0-7]}}]
  // CHECK: %[[SUMS:.*]] = llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7}, {$16, $17, $18, $19}, $20, p, 1, 1, 1; }"
  // CHECK-SAME: "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,r,r,r,r,l"
  // CHECK-NEXT: llvm.return %[[SUMS]] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  llvm.func @product(%sums: !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>, %a: i32, %b: i32, %c: i32, %d: i32, %right: i64)
      -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)> {
    %0 = llvm.inline_asm has_side_effects "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16", "" %sums, %a, %b, %c, %d, %right : (!llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>, i32, i32, i32, i32, i64) -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    llvm.return %0 : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
  }

  // Nothing else says that words of tensor memory are there after the wait, not before: they pass through assembly behind it.
  // CHECK-LABEL: llvm.func @wait
  // CHECK: %[[LOADED:.*]] = nvvm.tcgen05.ld
  // CHECK: nvvm.tcgen05.wait <load>
  // CHECK: %[[TIED:.*]] = llvm.inline_asm has_side_effects "", "=r,=r,0,1" %{{.*}}, %{{.*}} : (i32, i32) -> !llvm.struct<(i32, i32)>
  // CHECK: %[[WORD:.*]] = llvm.extractvalue %[[TIED]][1]
  // CHECK: llvm.return %[[WORD]] : i32
  llvm.func @wait(%at: !llvm.ptr<6>) -> i32 {
    %one = llvm.mlir.constant(1 : i32) : i32
    %0 = nvvm.tcgen05.ld %at {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<2xi32>
    nvvm.tcgen05.wait <load>
    %1 = llvm.extractelement %0[%one : i32] : vector<2xi32>
    llvm.return %1 : i32
  }

  // Other assembly stays.
  // CHECK-LABEL: llvm.func @other
  // CHECK-NEXT: llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", ""
  // CHECK-NEXT: llvm.return
  llvm.func @other() {
    llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "" : () -> ()
    llvm.return
  }
}
