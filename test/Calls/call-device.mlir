// RUN: shard-opt %s --spmd-call-device | FileCheck %s

// A launch is a call with arguments of 8 bytes: an address, and a size that is known when the program runs. The view
// is made again in the kernel. The load on the host reads one element back.
// CHECK-LABEL: func.func private @shardc_step(
//  CHECK-SAME:   %[[CTX:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: memref<?xf32>
//       CHECK:   %[[AREA:.*]] = llvm.alloca
//       CHECK:   call @shardrt_launch(%[[CTX]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[AREA]], %{{.*}})
//       CHECK:   call @shardrt_read(%[[CTX]], %{{.*}}, %[[AREA]], %{{.*}})
// CHECK-LABEL: func.func @shardc_main(
//       CHECK:   call @shardrt_stage_output
//       CHECK:   %[[STATUS:.*]] = call @shardc_step
//       CHECK:   %[[DONE:.*]] = call @shardrt_stage_results(%{{.*}}, %[[STATUS]])
//       CHECK:   return %[[DONE]]
//       CHECK: gpu.module @shardc_kernels
//       CHECK:   gpu.func @points_0(%{{.*}}: !llvm.ptr, %{{.*}}: i64{{.*}}) kernel attributes {known_block_size = array<i32: 32, 1, 1>}
//       CHECK:     memref.subview
module attributes {kernel.entry_inputs = [], kernel.entry_outputs = [{}]} {
  func.func private @shardc_step(%ctx: !llvm.ptr, %x: memref<?xf32>) -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %ok = arith.constant 0 : i32
    %v = memref.subview %x[4] [8] [1] : memref<?xf32> to memref<8xf32, strided<[1], offset: 4>>
    gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%t, %u, %w) in (%g = %c32, %h = %c1, %i = %c1) {
      %one = arith.constant 1.0 : f32
      memref.store %one, %v[%t] : memref<8xf32, strided<[1], offset: 4>>
      gpu.terminator
    }
    %s = memref.load %x[%c0] : memref<?xf32>
    %n = arith.fptosi %s : f32 to i32
    %r = arith.subi %n, %n : i32
    return %r : i32
  }
  func.func @shardc_main(%ctx: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %x = builtin.unrealized_conversion_cast %outputs : !llvm.ptr to memref<?xf32>
    %s = call @shardc_step(%ctx, %x) : (!llvm.ptr, memref<?xf32>) -> i32
    return %s : i32
  }
}
