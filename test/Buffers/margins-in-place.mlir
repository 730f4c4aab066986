// RUN: shard-opt %s --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate --spmd-lower-cpu \
// RUN:   --mlir-disable-threading --mlir-print-ir-after=spmd-margins-in-place 2>&1 | FileCheck %s

// A step of two stencils: what the first computes lies in the buffer with
// margins that the second reads; the argument is copied into its own.
// CHECK: func.func @main(%[[X:[a-z0-9]+]]: memref<8x16xf32>
// CHECK: %[[G:.*]] = memref.alloc() {{.*}}: memref<10x16xf32>
// CHECK: kernel.run_site 0 ins(%[[X]] : {{.*}}) outs(%[[G]] : {{.*}})
// CHECK: %[[H:.*]] = memref.alloc() {{.*}}: memref<10x16xf32>
// CHECK: %[[OWN:.*]] = memref.subview %[[H]][1, 0] [8, 16] [1, 1]
// CHECK: linalg.generic {{.*}} outs(%[[OWN]] :
// CHECK: kernel.run_site 1 ins(%[[H]] : {{.*}}) outs(%[[H]] : {{.*}})
// CHECK-NOT: memref.copy
// CHECK: llvm.func
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<32x16xf32> {
    %a = stablehlo.slice %x [31:32, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
    %b = stablehlo.slice %x [0:31, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
    %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x16xf32>, tensor<31x16xf32>) -> tensor<32x16xf32>
    %c = stablehlo.slice %x [1:32, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
    %d = stablehlo.slice %x [0:1, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
    %s = stablehlo.concatenate %c, %d, dim = 0 : (tensor<31x16xf32>, tensor<1x16xf32>) -> tensor<32x16xf32>
    %t = stablehlo.add %r, %s : tensor<32x16xf32>
    %e = stablehlo.slice %t [31:32, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
    %f = stablehlo.slice %t [0:31, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
    %u = stablehlo.concatenate %e, %f, dim = 0 : (tensor<1x16xf32>, tensor<31x16xf32>) -> tensor<32x16xf32>
    %g = stablehlo.slice %t [1:32, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
    %h = stablehlo.slice %t [0:1, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
    %v = stablehlo.concatenate %g, %h, dim = 0 : (tensor<31x16xf32>, tensor<1x16xf32>) -> tensor<32x16xf32>
    %w = stablehlo.subtract %u, %v : tensor<32x16xf32>
    return %w : tensor<32x16xf32>
  }
}
