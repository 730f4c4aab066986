// RUN: shard-opt %s --spmd-form-gpu-kernels --canonicalize --cse --split-input-file | FileCheck %s

// Sixteen lines of at most 8 elements share a block of 64 threads, which meets after each round of a network of three stages.
// CHECK-LABEL: func.func @short_lines(
//  CHECK-SAME:   %[[X:[^:]*]]: memref<10x6xf32>, %[[Y:[^:]*]]: memref<10x6xf32>
//   CHECK-DAG:   %[[STAGES:.*]] = arith.constant 3 : index
//   CHECK-DAG:   %[[THREADS:.*]] = arith.constant 64 : index
//       CHECK:   gpu.launch {{.*}} threads({{.*}}) in ({{.*}} = %[[THREADS]],
//  CHECK-SAME:     workgroup(%[[KEYS:[^ ]*]] : memref<128xf32, #gpu.address_space<workgroup>>, %[[PLACES:[^ ]*]] : memref<128xi32,
//       CHECK:     %[[E:.*]] = memref.load %[[X]]
//       CHECK:     memref.store %[[E]], %[[KEYS]]
//       CHECK:     gpu.barrier
//       CHECK:     scf.for %[[STAGE:.*]] = %{{.*}} to %[[STAGES]]
//       CHECK:       arith.cmpf olt
//       CHECK:       gpu.barrier
//       CHECK:       scf.for %{{.*}} = %{{.*}} to %[[STAGE]]
//       CHECK:         arith.cmpf olt
//       CHECK:         gpu.barrier
//       CHECK:     %[[R:.*]] = memref.load %[[KEYS]]
//       CHECK:     memref.store %[[R]], %[[Y]]
//   CHECK-NOT:   gpu.launch
func.func @short_lines(%x: memref<10x6xf32>, %y: memref<10x6xf32>) {
  kernel.lines sort dim 1 ins(%x : memref<10x6xf32>) outs(%y : memref<10x6xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf olt, %a, %b : f32
    kernel.yield %l : i1
  }
  return
}

// -----

// Five tiles of 1024 and three rounds of merges between two buffers. What the order does not look at (%v) is read once, in the end.
// CHECK-LABEL: func.func @long_line(
//  CHECK-SAME:   %[[K:[^:]*]]: memref<5000xf32>, %[[V:[^:]*]]: memref<5000xf64>
//   CHECK-DAG:   %[[K0:.*]] = memref.alloc() : memref<5000xf32>
//   CHECK-DAG:   %[[P0:.*]] = memref.alloc() : memref<5000xi32>
//       CHECK:   gpu.launch
//       CHECK:     memref.load %[[K]]
//   CHECK-DAG:   %[[K1:.*]] = memref.alloc() : memref<5000xf32>
//       CHECK:   gpu.launch
//       CHECK:     scf.while
//       CHECK:     gpu.barrier
//       CHECK:     memref.store %{{.*}}, %[[K1]]
//       CHECK:   gpu.launch
//       CHECK:     memref.store %{{.*}}, %[[K0]]
//       CHECK:   gpu.launch
//       CHECK:     memref.store %{{.*}}, %[[K1]]
//       CHECK:   gpu.launch
//       CHECK:     memref.load %[[V]]
//   CHECK-NOT:   gpu.launch
func.func @long_line(%k: memref<5000xf32>, %v: memref<5000xf64>, %x: memref<5000xf32>, %y: memref<5000xf64>) {
  kernel.lines sort dim 0 ins(%k, %v : memref<5000xf32>, memref<5000xf64>) outs(%x, %y : memref<5000xf32>, memref<5000xf64>) body {
  ^bb0(%a: f32, %b: f32, %c: f64, %d: f64):
    %l = arith.cmpf ogt, %a, %b : f32
    kernel.yield %l : i1
  }
  return
}

// -----

// Of nothing there is nothing to sort.
// CHECK-LABEL: func.func @none(
//   CHECK-NOT:   gpu.launch
//       CHECK:   return
func.func @none(%x: memref<5000xf32>, %y: memref<0xf32>, %z: memref<0xi32>) {
  kernel.lines sort dim 0 positions ins(%x : memref<5000xf32>) outs(%y, %z : memref<0xf32>, memref<0xi32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf ogt, %a, %b : f32
    kernel.yield %l : i1
  }
  return
}

// -----

// Ten of 5000: ten of each tile, 50 candidates, which are one tile.
// CHECK-LABEL: func.func @few(
//   CHECK-DAG:   memref.alloc() : memref<50xf32>
//   CHECK-DAG:   memref.alloc() : memref<50xi32>
//       CHECK:   gpu.launch
//       CHECK:   gpu.launch
//  CHECK-SAME:     memref<64xf32, #gpu.address_space<workgroup>>
//   CHECK-NOT:   gpu.launch
func.func @few(%x: memref<5000xf32>, %y: memref<10xf32>, %z: memref<10xi32>) {
  kernel.lines sort dim 0 positions ins(%x : memref<5000xf32>) outs(%y, %z : memref<10xf32>, memref<10xi32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf ogt, %a, %b : f32
    kernel.yield %l : i1
  }
  return
}

// -----

// Of a length that the program gets to know: rounds two by two until runs are that long.
// CHECK-LABEL: func.func @dynamic(
//       CHECK:   %[[N:.*]] = memref.dim
//       CHECK:   gpu.launch
//       CHECK:   scf.while (%[[WIDTH:.*]] = %{{.*}})
//       CHECK:     arith.cmpi ult, %[[WIDTH]], %[[N]]
//       CHECK:     gpu.launch
//       CHECK:     gpu.launch
//       CHECK:   gpu.launch
//   CHECK-NOT:   gpu.launch
func.func @dynamic(%x: memref<?xf32>, %y: memref<?xf32>) {
  kernel.lines sort dim 0 ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf olt, %a, %b : f32
    kernel.yield %l : i1
  }
  return
}

// -----

// A warp a line: shuffles, no shared memory.
// CHECK-LABEL: func.func @scan_by_warps(
//       CHECK:   gpu.launch
//   CHECK-NOT:     workgroup(
//       CHECK:     scf.for
// CHECK-COUNT-6:   gpu.shuffle up
//       CHECK:     gpu.shuffle idx
//   CHECK-NOT:   gpu.launch
func.func @scan_by_warps(%x: memref<10x200xf32>, %y: memref<10x200xf32>, %zero: f32) {
  kernel.lines scan dim 1 ins(%x : memref<10x200xf32>) starts(%zero : f32) outs(%y : memref<10x200xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    kernel.yield %sum : f32
  }
  return
}

// -----

// Few long lines: blocks share each, 3072 elements a block, which are read once.
// Flags of 33 parts and of the group that these are, and the counter, are zero at first.
// CHECK-LABEL: func.func @scan_by_blocks(
//  CHECK-SAME:   %[[X:[^:]*]]: memref<100000xf32>
//   CHECK-DAG:   %[[BLOCKS:.*]] = arith.constant 33 : index
//       CHECK:   %[[PARTS:.*]] = memref.alloc() : memref<34xf32>
//       CHECK:   %[[FLAGS:.*]] = memref.alloc() : memref<35xi32>
//       CHECK:   gpu.launch
//       CHECK:     memref.store %{{.*}}, %[[FLAGS]]
//       CHECK:   gpu.launch blocks({{.*}}) in (%{{[a-z0-9]+}} = %[[BLOCKS]],
//       CHECK:     llvm.atomicrmw add
//CHECK-COUNT-12:   memref.load %[[X]]
//   CHECK-NOT:     memref.load %[[X]]
//       CHECK:     memref.store %{{.*}}, %[[PARTS]]
//       CHECK:     llvm.store %{{.*}} atomic syncscope("device") release
//       CHECK:     scf.while
//       CHECK:       llvm.load %{{.*}} atomic syncscope("device") monotonic
//       CHECK:     llvm.fence syncscope("device") acquire
//       CHECK:     memref.load %[[PARTS]]
//   CHECK-NOT:   gpu.launch
func.func @scan_by_blocks(%x: memref<100000xf32>, %y: memref<100000xf32>, %zero: f32) {
  kernel.lines scan dim 0 ins(%x : memref<100000xf32>) starts(%zero : f32) outs(%y : memref<100000xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    kernel.yield %sum : f32
  }
  return
}

// -----

// Lines that lie side by side: a lane each, and warps share them.
// CHECK-LABEL: func.func @scan_across(
//       CHECK:   gpu.launch
//  CHECK-SAME:     workgroup(%[[SUMS:[^ ]*]] : memref<256xf32,
//   CHECK-NOT:     gpu.shuffle
//       CHECK:     memref.store %{{.*}}, %[[SUMS]]
//       CHECK:     gpu.barrier
//   CHECK-NOT:   gpu.launch
func.func @scan_across(%x: memref<100x33xf32>, %y: memref<100x33xf32>, %zero: f32) {
  kernel.lines scan dim 0 ins(%x : memref<100x33xf32>) starts(%zero : f32) outs(%y : memref<100x33xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    kernel.yield %sum : f32
  }
  return
}

// -----

// Stages 4, 4, 4, 4 of four lines in one block: read once, written once.
// CHECK-LABEL: func.func @transform(
//  CHECK-SAME:   %[[X:[^:]*]]: memref<7x256xf32>, %[[Y:[^:]*]]: memref<7x256xf32>
//       CHECK:   gpu.launch
//  CHECK-SAME:     workgroup(%[[RE:[^ ]*]] : memref<1024xf32, #gpu.address_space<workgroup>>, %[[IM:[^ ]*]] : memref<1024xf32,
//       CHECK:     memref.load %[[X]]
//   CHECK-NOT:     memref.load %[[RE]]
// CHECK-COUNT-5:   gpu.barrier
//   CHECK-NOT:     gpu.barrier
//       CHECK:     memref.store %{{.*}}, %[[Y]]
//   CHECK-NOT:   gpu.launch
func.func @transform(%x: memref<7x256xf32>, %y: memref<7x256xf32>, %t: memref<256xf32>) {
  kernel.lines fourier dim 1 ins(%x, %x, %t, %t : memref<7x256xf32>, memref<7x256xf32>, memref<256xf32>, memref<256xf32>)
      outs(%y, %y : memref<7x256xf32>, memref<7x256xf32>)
  return
}

// -----

// Nothing is launched for nothing.
// CHECK-LABEL: func.func @nothing(
//   CHECK-NOT:   gpu.launch
func.func @nothing(%x: memref<0x6xf32>, %y: memref<0x6xf32>) {
  kernel.lines sort dim 1 ins(%x : memref<0x6xf32>) outs(%y : memref<0x6xf32>) body {
  ^bb0(%a: f32, %b: f32):
    %l = arith.cmpf olt, %a, %b : f32
    kernel.yield %l : i1
  }
  return
}
