// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=256 | FileCheck %s --check-prefixes=CHECK,SHORT
#id = affine_map<(i) -> (i)>
#two = affine_map<(i, j) -> (i, j)>

// A function becomes a long formula, which waits for itself: it is written for
// four registers side by side, with one mask for what is left over.
// CHECK-LABEL: func @formula(
//        WIDE:   math.exp {{.*}} : vector<64xf32>
//    WIDE-NOT:   math.exp
//        WIDE:   vector.create_mask {{.*}} : vector<64xi1>
//        WIDE:   math.exp {{.*}} : vector<64xf32>
//    WIDE-NOT:   math.exp
//       SHORT:   math.exp {{.*}} : vector<32xf32>
func.func @formula(%x: memref<5000xf32>, %y: memref<5000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<5000xf32>) outs(%y : memref<5000xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Of f64 half as many lanes are four registers.
// CHECK-LABEL: func @double(
//        WIDE:   math.exp {{.*}} : vector<32xf64>
//       SHORT:   math.exp {{.*}} : vector<16xf64>
func.func @double(%x: memref<4096xf64>, %y: memref<4096xf64>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<4096xf64>) outs(%y : memref<4096xf64>) {
  ^bb0(%a: f64, %out: f64):
    %0 = math.exp %a : f64
    linalg.yield %0 : f64
  }
  return
}

// A root is an instruction.
// CHECK-LABEL: func @instruction(
//   CHECK-NOT:   vector<64xf32>
//   CHECK-NOT:   vector<32xf32>
//       CHECK:   return
func.func @instruction(%x: memref<5000xf32>, %y: memref<5000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<5000xf32>) outs(%y : memref<5000xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.sqrt %a : f32
    linalg.yield %0 : f32
  }
  return
}

// For few numbers the code is not worth it, unless they are some of many.
// CHECK-LABEL: func @few(
//        WIDE:   math.exp {{.*}} : vector<16xf32>
//        WIDE:   scf.for
//        WIDE:   math.exp {{.*}} : vector<64xf32>
func.func @few(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: memref<1024xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 100 : index
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  scf.for %i = %zero to %many step %one {
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<1024xf32>) outs(%z : memref<1024xf32>) {
    ^bb0(%a: f32, %out: f32):
      %0 = math.exp %a : f32
      linalg.yield %0 : f32
    }
  }
  return
}

// Rows of 64 are written as four registers each, if a loop comes by often; rows of 32 are not.
// CHECK-LABEL: func @rows(
//        WIDE:   math.exp {{.*}} : vector<64xf32>
//        WIDE:   math.exp {{.*}} : vector<16xf32>
func.func @rows(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<32xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 100 : index
  %half = memref.subview %x[0] [32] [1] : memref<64xf32> to memref<32xf32>
  scf.for %i = %zero to %many step %one {
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%a: f32, %out: f32):
      %0 = math.exp %a : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%half : memref<32xf32>) outs(%z : memref<32xf32>) {
    ^bb0(%a: f32, %out: f32):
      %0 = math.exp %a : f32
      linalg.yield %0 : f32
    }
  }
  return
}

// Rows of 70, apart from one another, would be five registers of eight.
// CHECK-LABEL: func @idle(
//        WIDE:   math.exp {{.*}} : vector<16xf32>
func.func @idle(%x: memref<100x70xf32, strided<[128, 1]>>, %y: memref<100x70xf32, strided<[128, 1]>>) {
  linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]} ins(%x : memref<100x70xf32, strided<[128, 1]>>) outs(%y : memref<100x70xf32, strided<[128, 1]>>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Of what is stored past the caches memory is what an exponential waits for, and
// not a power.
// CHECK-LABEL: func @far(
//        WIDE:   math.exp {{.*}} : vector<16xf32>
//        WIDE:   math.powf {{.*}} : vector<64xf32>
func.func @far(%x: memref<16777216xf32>, %y: memref<16777216xf32>, %z: memref<16777216xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<16777216xf32>) outs(%y : memref<16777216xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<16777216xf32>) outs(%z : memref<16777216xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.powf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// A chain of plain ops waits for itself as a formula does.
// CHECK-LABEL: func @chain(
//        WIDE:   arith.mulf {{.*}} : vector<64xf32>
//       SHORT:   arith.mulf {{.*}} : vector<32xf32>
func.func @chain(%x0: memref<5000xf32>, %x1: memref<5000xf32>, %x2: memref<5000xf32>, %y: memref<5000xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x0, %x1, %x2 : memref<5000xf32>, memref<5000xf32>, memref<5000xf32>) outs(%y : memref<5000xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %out: f32):
    %0 = arith.mulf %a0, %a1 : f32
    %1 = arith.addf %0, %a2 : f32
    %2 = arith.mulf %1, %a1 : f32
    %3 = arith.addf %2, %a2 : f32
    %4 = arith.mulf %3, %a1 : f32
    %5 = arith.addf %4, %a2 : f32
    %6 = arith.mulf %5, %a1 : f32
    %7 = arith.addf %6, %a2 : f32
    %8 = arith.mulf %7, %a1 : f32
    %9 = arith.addf %8, %a2 : f32
    %10 = arith.mulf %9, %a1 : f32
    %11 = arith.addf %10, %a2 : f32
    linalg.yield %11 : f32
  }
  return
}

// Of a short one a core has several under way.
// CHECK-LABEL: func @short_chain(
//        WIDE:   arith.mulf {{.*}} : vector<16xf32>
//       SHORT:   arith.mulf {{.*}} : vector<8xf32>
func.func @short_chain(%x0: memref<5000xf32>, %x1: memref<5000xf32>, %x2: memref<5000xf32>, %y: memref<5000xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x0, %x1, %x2 : memref<5000xf32>, memref<5000xf32>, memref<5000xf32>) outs(%y : memref<5000xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %out: f32):
    %0 = arith.mulf %a0, %a1 : f32
    %1 = arith.addf %0, %a2 : f32
    %2 = arith.mulf %1, %a1 : f32
    %3 = arith.addf %2, %a2 : f32
    %4 = arith.mulf %3, %a1 : f32
    %5 = arith.addf %4, %a2 : f32
    linalg.yield %5 : f32
  }
  return
}

// Of a chain that has nine values at a time, the registers hold two side by side, or one.
// CHECK-LABEL: func @many_values(
//        WIDE:   arith.mulf {{.*}} : vector<32xf32>
//       SHORT:   arith.mulf {{.*}} : vector<8xf32>
func.func @many_values(%x0: memref<5000xf32>, %x1: memref<5000xf32>, %x2: memref<5000xf32>, %x3: memref<5000xf32>, %x4: memref<5000xf32>, %x5: memref<5000xf32>, %x6: memref<5000xf32>, %x7: memref<5000xf32>, %x8: memref<5000xf32>, %y: memref<5000xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8 : memref<5000xf32>, memref<5000xf32>, memref<5000xf32>, memref<5000xf32>, memref<5000xf32>, memref<5000xf32>, memref<5000xf32>, memref<5000xf32>, memref<5000xf32>) outs(%y : memref<5000xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32, %a7: f32, %a8: f32, %out: f32):
    %0 = arith.mulf %a0, %a1 : f32
    %1 = arith.addf %0, %a2 : f32
    %2 = arith.mulf %1, %a3 : f32
    %3 = arith.addf %2, %a4 : f32
    %4 = arith.mulf %3, %a5 : f32
    %5 = arith.addf %4, %a6 : f32
    %6 = arith.mulf %5, %a7 : f32
    %7 = arith.addf %6, %a8 : f32
    %8 = arith.mulf %7, %a1 : f32
    %9 = arith.addf %8, %a2 : f32
    %10 = arith.mulf %9, %a3 : f32
    %11 = arith.addf %10, %a4 : f32
    %12 = arith.mulf %11, %a5 : f32
    %13 = arith.addf %12, %a6 : f32
    %14 = arith.mulf %13, %a7 : f32
    %15 = arith.addf %14, %a8 : f32
    %16 = arith.mulf %15, %a1 : f32
    %17 = arith.addf %16, %a2 : f32
    linalg.yield %17 : f32
  }
  return
}
