// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate --spmd-lower-cpu \
// RUN:   --mlir-disable-threading --mlir-print-ir-after=spmd-margins-in-place 2>&1 | FileCheck %s
// RUN: shard-opt %s --spmd-import=sizes=0:0=9,7,8,8 --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate --spmd-lower-cpu \
// RUN:   --mlir-disable-threading --mlir-print-ir-after=spmd-margins-in-place 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: shard-run %s --check
// RUN: shard-run %s --check --sizes=0:0=0,7,24,1

// A loop that writes over the block that it exchanges: two buffers with margins in turns, and only the last one is copied.
//       CHECK: func.func @main(%[[X:[a-z0-9]+]]: memref<8x16xf32> {{.*}}, %[[OUT:[a-z0-9]+]]: memref<8x16xf32>)
//   CHECK-DAG: %[[A:.*]] = memref.alloc() {{.*}}: memref<10x16xf32>
//   CHECK-DAG: %[[B:.*]] = memref.alloc() {{.*}}: memref<10x16xf32>
//   CHECK-DAG: %[[BEGIN:.*]] = memref.subview %[[A]][1, 0] [8, 16] [1, 1]
//       CHECK: memref.copy %[[X]], %[[BEGIN]]
//       CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[OLD:.*]] = %[[A]], %[[NEW:.*]] = %[[B]])
//   CHECK-DAG:   %[[OWN:.*]] = memref.subview %[[NEW]][1, 0] [8, 16] [1, 1]
//   CHECK-DAG:   kernel.run_site 0 ins(%[[OLD]] : {{.*}}) outs(%[[OLD]] : {{.*}})
//   CHECK-NOT:   memref.copy
//       CHECK:   linalg.generic {{.*}} outs(%[[OWN]] :
//   CHECK-NOT:   memref.copy
//       CHECK:   scf.yield %[[NEW]], %[[OLD]]
//       CHECK: %[[END:.*]] = memref.subview %[[LOOP]]#0[1, 0] [8, 16] [1, 1]
//       CHECK: memref.copy %[[END]], %[[OUT]]
//  CHECK-NEXT: return

// So too where shards differ in size.
//       UNEVEN: func.func @main(%[[X:[a-z0-9]+]]: memref<?x16xf32> {{.*}}, %[[OUT:[a-z0-9]+]]: memref<?x16xf32>)
//   UNEVEN-DAG: %[[ROWS:.*]] = memref.dim %[[OUT]]
//   UNEVEN-DAG: %[[MORE:.*]] = local.lookup [11, 9, 10, 10]
//   UNEVEN-DAG: %[[A:.*]] = memref.alloc(%[[MORE]]) {{.*}}: memref<?x16xf32>
//   UNEVEN-DAG: %[[B:.*]] = memref.alloc(%[[MORE]]) {{.*}}: memref<?x16xf32>
//   UNEVEN-DAG: %[[BEGIN:.*]] = memref.subview %[[A]][1, 0] [%[[ROWS]], 16] [1, 1]
//       UNEVEN: memref.copy %[[X]], %[[BEGIN]]
//       UNEVEN: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[OLD:.*]] = %[[A]], %[[NEW:.*]] = %[[B]])
//   UNEVEN-NOT:   memref.copy
//       UNEVEN:   scf.yield %[[NEW]], %[[OLD]]
//       UNEVEN: %[[END:.*]] = memref.subview %[[LOOP]]#0[1, 0] [%[[ROWS]], 16] [1, 1]
//       UNEVEN: memref.copy %[[END]], %[[OUT]]
//  UNEVEN-NEXT: return
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<32x16xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %turns = stablehlo.constant dense<5> : tensor<i32>
    %half = stablehlo.constant dense<0.5> : tensor<32x16xf32>
    %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<32x16xf32>
    cond {
      %more = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %a = stablehlo.slice %y [31:32, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
      %b = stablehlo.slice %y [0:31, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
      %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x16xf32>, tensor<31x16xf32>) -> tensor<32x16xf32>
      %c = stablehlo.slice %y [1:32, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
      %d = stablehlo.slice %y [0:1, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
      %s = stablehlo.concatenate %c, %d, dim = 0 : (tensor<31x16xf32>, tensor<1x16xf32>) -> tensor<32x16xf32>
      %t = stablehlo.add %r, %s : tensor<32x16xf32>
      %u = stablehlo.multiply %t, %half : tensor<32x16xf32>
      %v = stablehlo.subtract %u, %y : tensor<32x16xf32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %v : tensor<i32>, tensor<32x16xf32>
    }
    return %0#1 : tensor<32x16xf32>
  }
}
