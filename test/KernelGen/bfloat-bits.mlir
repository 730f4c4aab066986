// RUN: shard-opt %s --spmd-bfloat-bits | FileCheck %s
// What moves bf16 moves words. What reads its numbers reads f32, of which a bf16 is the upper half: its bits, 16 places up.

// CHECK-LABEL: llvm.func @choose
// CHECK-SAME: (%[[C:.*]]: i1, %[[FROM:.*]]: !llvm.ptr, %[[TO:.*]]: !llvm.ptr)
// CHECK: %[[LOADED:.*]] = llvm.load %[[FROM]] : !llvm.ptr -> i16
// 1.5 is 0x3FC0.
// CHECK-DAG: %[[NUMBER:.*]] = llvm.mlir.constant(16320 : i16) : i16
// CHECK: %[[CHOSEN:.*]] = llvm.select %[[C]], %[[LOADED]], %[[NUMBER]] : i1, i16
// CHECK: llvm.store %[[CHOSEN]], %[[TO]] : i16, !llvm.ptr
// CHECK-NOT: bf16
// CHECK: llvm.return
llvm.func @choose(%c: i1, %from: !llvm.ptr, %to: !llvm.ptr) {
  %0 = llvm.load %from : !llvm.ptr -> bf16
  %1 = llvm.mlir.constant(1.5 : bf16) : bf16
  %2 = llvm.select %c, %0, %1 : i1, bf16
  llvm.store %2, %to : bf16, !llvm.ptr
  llvm.return
}

// Vectors, and a value that comes to a block from two others.
// CHECK-LABEL: llvm.func @blocks
// CHECK: %[[LOADED:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<4xi16>
// CHECK: llvm.cond_br %{{.*}}, ^[[END:.*]](%[[LOADED]] : vector<4xi16>), ^[[OTHER:.*]]
// CHECK: ^[[END]](%[[CAME:.*]]: vector<4xi16>):
// CHECK: llvm.store %[[CAME]], %{{.*}} : vector<4xi16>, !llvm.ptr
llvm.func @blocks(%c: i1, %from: !llvm.ptr, %to: !llvm.ptr) {
  %0 = llvm.load %from : !llvm.ptr -> vector<4xbf16>
  llvm.cond_br %c, ^end(%0 : vector<4xbf16>), ^other
^other:
  %1 = llvm.mlir.zero : vector<4xbf16>
  llvm.br ^end(%1 : vector<4xbf16>)
^end(%came: vector<4xbf16>):
  llvm.store %came, %to : vector<4xbf16>, !llvm.ptr
  llvm.return
}

// A comparison reads both of its numbers; NaN and signed zeros are those of f32.
// CHECK-LABEL: llvm.func @compare
// CHECK-COUNT-2: llvm.shl %{{.*}}, %{{.*}} : i32
// CHECK: llvm.fcmp "olt" %{{.*}}, %{{.*}} : f32
llvm.func @compare(%x: bf16, %y: bf16) -> i1 {
  %0 = llvm.fcmp "olt" %x, %y : bf16
  llvm.return %0 : i1
}

// What computes with bf16 keeps it, and f16 is nobody's business here.
// CHECK-LABEL: llvm.func @others
// CHECK: llvm.fadd %{{.*}}, %{{.*}} : bf16
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> f16
llvm.func @others(%x: bf16, %from: !llvm.ptr, %to: !llvm.ptr) -> bf16 {
  %0 = llvm.fadd %x, %x : bf16
  %1 = llvm.load %from : !llvm.ptr -> f16
  llvm.store %1, %to : f16, !llvm.ptr
  llvm.return %0 : bf16
}
