// RUN: shard-opt %s --split-input-file --spmd-form-gpu-kernels | FileCheck %s
// Updates of one array are shared among as many threads as the GPU's multiprocessors have lanes, 128 each, in blocks of 256.
// CHECK-LABEL: func.func @generic
// CHECK: %[[THREADS:.*]] = arith.constant 16384 : index
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[THREADS]], %{{.*}} : index
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %[[BLOCKS]],
func.func @generic(%x: memref<100000xf32>, %places: memref<300xi32>, %updates: memref<300xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 300 : index
  scf.for %i = %zero to %end step %one {
    %word = memref.load %places[%i] : memref<300xi32>
    %place = arith.index_cast %word : i32 to index
    %before = memref.load %x[%place] : memref<100000xf32>
    %update = memref.load %updates[%i] : memref<300xf32>
    %after = arith.addf %before, %update : f32
    memref.store %after, %x[%place] : memref<100000xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @half
// CHECK: %[[THREADS:.*]] = arith.constant 8192 : index
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[THREADS]], %{{.*}} : index
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %[[BLOCKS]],
module attributes {machine.target = #machine.figures<"generic", {multiprocessors = 64.0 : f64}>} {
  func.func @half(%x: memref<100000xf32>, %places: memref<300xi32>, %updates: memref<300xf32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %end = arith.constant 300 : index
    scf.for %i = %zero to %end step %one {
      %word = memref.load %places[%i] : memref<300xi32>
      %place = arith.index_cast %word : i32 to index
      %before = memref.load %x[%place] : memref<100000xf32>
      %update = memref.load %updates[%i] : memref<300xf32>
      %after = arith.addf %before, %update : f32
      memref.store %after, %x[%place] : memref<100000xf32>
    }
    return
  }
}
