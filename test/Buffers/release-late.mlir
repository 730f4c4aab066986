// RUN: shard-opt %s --split-input-file --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate --spmd-lower-cpu \
// RUN:   --mlir-disable-threading --mlir-print-ir-after=spmd-release-late -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --split-input-file --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate --spmd-lower-cpu | FileCheck %s --check-prefix=CALLS

// An argument is never written to: whoever reads it may do so until the end. What
// the first step gives is shown with its margins, and read until the second is done.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME: %[[X:[a-z0-9]+]]: memref<8x16xf32>
//       CHECK: kernel.run_site 0 ins(%[[X]] :
//   CHECK-NOT: kernel.release_site
//       CHECK: kernel.run_site 1 ins(%[[H:.*]] : memref<9x16xf32>) outs(%[[H]] :
//   CHECK-NOT: kernel.release_site
//       CHECK: linalg.generic
//   CHECK-DAG: kernel.release_site 0 of %[[X]]
//   CHECK-DAG: kernel.release_site 1 of %[[H]]
//       CHECK: return
//       CALLS: llvm.call @shardrt_exchange(
//       CALLS: llvm.call @shardrt_exchange(
// CALLS-COUNT-2: llvm.call @shardrt_exchange_release(
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<32x16xf32> {
    %a = stablehlo.slice %x [31:32, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
    %b = stablehlo.slice %x [0:31, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
    %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x16xf32>, tensor<31x16xf32>) -> tensor<32x16xf32>
    %s = stablehlo.multiply %r, %x : tensor<32x16xf32>
    %c = stablehlo.slice %s [1:32, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
    %d = stablehlo.slice %s [0:1, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
    %t = stablehlo.concatenate %c, %d, dim = 0 : (tensor<31x16xf32>, tensor<1x16xf32>) -> tensor<32x16xf32>
    %u = stablehlo.add %t, %s : tensor<32x16xf32>
    return %u : tensor<32x16xf32>
  }
}

// -----

// Two buffers in turns: the one that is shown is not written to in this iteration, and in the next one it is.
// CHECK-LABEL: func.func @main(
//       CHECK: scf.for {{.*}} iter_args(%[[OLD:.*]] = %{{.*}}, %[[NEW:.*]] = %{{.*}})
//       CHECK:   kernel.run_site 0 ins(%[[OLD]] :
//   CHECK-NOT:   kernel.release_site
//       CHECK:   linalg.generic
//       CHECK:   kernel.release_site 0 of %[[OLD]]
//       CHECK:   scf.yield %[[NEW]], %[[OLD]]
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<32x16xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %count = stablehlo.constant dense<5> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %f = %x) : tensor<i32>, tensor<32x16xf32>
    cond {
      %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %a = stablehlo.slice %f [31:32, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
      %b = stablehlo.slice %f [0:31, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
      %c = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x16xf32>, tensor<31x16xf32>) -> tensor<32x16xf32>
      %g = stablehlo.add %c, %f : tensor<32x16xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %g : tensor<i32>, tensor<32x16xf32>
    }
    return %r#1 : tensor<32x16xf32>
  }
}

// -----

// A loop's body shows a block and writes over it before it ends: it waits before that.
// CHECK-LABEL: func.func @main(
//       CHECK: %[[BLOCK:.*]] = memref.subview %[[WHOLE:.*]][%{{.*}}] [32] [1] : memref<128xf32>
//       CHECK: scf.for
//       CHECK:   kernel.run_site 0 ins(%[[WHOLE]] : {{.*}}) outs(%[[WHOLE]] :
//   CHECK-NOT:   kernel.release_site
//       CHECK:   linalg.generic {{.*}} ins({{.*}}%[[WHOLE]] :
//  CHECK-SAME:   outs(%[[SUM:[a-z0-9_]+]] :
//       CHECK:   kernel.release_site 0 of %[[WHOLE]]
//       CHECK:   linalg.generic {{.*}} ins(%[[SUM]], %[[BLOCK]] : {{.*}} outs(%[[BLOCK]] :
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%w: tensor<128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %x: tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<128xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %count = stablehlo.constant dense<5> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %f = %x) : tensor<i32>, tensor<128xf32>
    cond {
      %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %g = stablehlo.dot_general %w, %f, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128xf32>
      %h = stablehlo.add %g, %f : tensor<128xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %h : tensor<i32>, tensor<128xf32>
    }
    return %r#1 : tensor<128xf32>
  }
}
