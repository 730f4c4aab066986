// RUN: shard-opt %s --split-input-file --spmd-generate-cpu-kernels="vector-bits=256 share-from=2" | FileCheck %s
// RUN: shard-opt %s --split-input-file --spmd-generate-cpu-kernels="vector-bits=256 share-from=9" | FileCheck %s --check-prefix=APART
// RUN: shard-opt %s --split-input-file --spmd-generate-cpu-kernels="vector-bits=256" | FileCheck %s --check-prefix=APART
// APART-NOT: func.call
// APART-NOT: func.func private

// Two sums, with their fills, of rows of two buffers, one of them 64 bytes from where its buffer begins; and two elementwise ops with a
// number each. Each kind is one function, of addresses and numbers. What has no like stays.
// CHECK-LABEL: func.func private @__shardc_kernel_0(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: index, %[[Y:[a-z0-9]+]]: index) attributes {{.*}}passthrough = ["noinline"]
//   CHECK-DAG:   arith.index_cast %[[X]] : index to i64
//   CHECK-DAG:   arith.index_cast %[[Y]] : index to i64
//       CHECK:   llvm.store
//   CHECK-NOT:   linalg
// CHECK-LABEL: func.func private @__shardc_kernel_1(
//  CHECK-SAME:   index, %[[BY:[a-z0-9]+]]: f32
//       CHECK:   vector.broadcast %[[BY]]
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[A:[a-z0-9]+]]: memref<16x8xf32>, %{{.*}}: memref<16x8xf32>, %[[C:[a-z0-9]+]]: memref<32xf32>, %[[P:[a-z0-9]+]]: f32, %[[Q:[a-z0-9]+]]: f32
//       CHECK:   %[[PART:.*]] = memref.subview %[[C]][16]
//       CHECK:   memref.extract_aligned_pointer_as_index %[[A]]
//       CHECK:   call @__shardc_kernel_0(
//       CHECK:   memref.extract_aligned_pointer_as_index %[[PART]]
//       CHECK:   %[[BYTES:.*]] = arith.constant 64 : index
//       CHECK:   %[[THERE:.*]] = arith.addi %{{.*}}, %[[BYTES]]
//       CHECK:   call @__shardc_kernel_0({{.*}}%[[THERE]]
//       CHECK:   call @__shardc_kernel_1(%{{.*}}, %[[P]])
//       CHECK:   call @__shardc_kernel_1(%{{.*}}, %[[Q]])
//   CHECK-NOT:   call
//       CHECK:   math.exp
//       CHECK:   return
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
func.func @main(%a: memref<16x8xf32>, %b: memref<16x8xf32>, %c: memref<32xf32>, %p: f32, %q: f32, %r: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %part = memref.subview %c[16] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1], offset: 16>>
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%r : memref<16xf32>) {
  ^bb0(%out: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%a : memref<16x8xf32>) outs(%r : memref<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%part : memref<16xf32, strided<[1], offset: 16>>) {
  ^bb0(%out: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%b : memref<16x8xf32>) outs(%part : memref<16xf32, strided<[1], offset: 16>>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%a : memref<16x8xf32>) {
  ^bb0(%out: f32):
    %0 = arith.mulf %out, %p : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%b : memref<16x8xf32>) {
  ^bb0(%out: f32):
    %0 = arith.mulf %out, %q : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%b : memref<16x8xf32>) {
  ^bb0(%out: f32):
    %0 = math.exp %out : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A function takes its arguments for buffers that do not overlap, so these two stay: sums of rows go to the first column.
// CHECK-NOT: func.func private
//     CHECK: func.func @main(
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%a: memref<16x8xf32>, %b: memref<16x8xf32>) {
  %0 = memref.subview %a[0, 0] [16, 1] [1, 1] : memref<16x8xf32> to memref<16xf32, strided<[8]>>
  %1 = memref.subview %b[0, 0] [16, 1] [1, 1] : memref<16x8xf32> to memref<16xf32, strided<[8]>>
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%a : memref<16x8xf32>) outs(%0 : memref<16xf32, strided<[8]>>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %in, %out : f32
    linalg.yield %2 : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%b : memref<16x8xf32>) outs(%1 : memref<16xf32, strided<[8]>>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %in, %out : f32
    linalg.yield %2 : f32
  }
  return
}
