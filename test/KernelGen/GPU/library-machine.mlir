// RUN: shard-opt %s --split-input-file --spmd-form-gpu-kernels=libraries=auto | FileCheck %s
// What a library is asked for by choice follows from figures of the machine: 5 % of the time of 256 x 512 x 256 is 33 us of the
// generic one (100 GFLOP/s), where a launch takes 1.5 us.
// CHECK-LABEL: func.func @generic
// CHECK: kernel.library_call "product"
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
func.func @generic(%a: memref<256x512xf32>, %b: memref<512x256xf32>, %c: memref<256x256xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<256x512xf32>, memref<512x256xf32>) outs(%c : memref<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Launches that take longer.
// CHECK-LABEL: func.func @slow_launches
// CHECK-NOT: kernel.library_call
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
module attributes {machine.target = #machine.figures<"generic", {launch = 4.0e-5 : f64}>} {
  func.func @slow_launches(%a: memref<256x512xf32>, %b: memref<512x256xf32>, %c: memref<256x256xf32>) {
    linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<256x512xf32>, memref<512x256xf32>) outs(%c : memref<256x256xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.mulf %x, %y : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
    return
  }
}

// -----

// Work behind the product that is no epilogue reads and writes the result again: 26 us of the generic machine, beside a launch
// of 10 us.
// CHECK-LABEL: func.func @work_behind
// CHECK-NOT: kernel.library_call
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
module attributes {machine.target = #machine.figures<"generic", {launch = 1.0e-5 : f64}>} {
  func.func @work_behind(%a: memref<256x512xf32>, %b: memref<512x256xf32>, %d: memref<256x256xf32>) {
    %zero = arith.constant 0.0 : f32
    %c = memref.alloc() : memref<256x256xf32>
    linalg.generic {indexing_maps = [affine_map<(m, n) -> ()>, #id], iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%c : memref<256x256xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
    }
    linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<256x512xf32>, memref<512x256xf32>) outs(%c : memref<256x256xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.mulf %x, %y : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : memref<256x256xf32>) outs(%d : memref<256x256xf32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = math.sqrt %x : f32
      linalg.yield %0 : f32
    }
    memref.dealloc %c : memref<256x256xf32>
    return
  }
}

// -----

// The same where memory is faster.
// CHECK-LABEL: func.func @fast_memory
// CHECK: kernel.library_call "product"
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
module attributes {machine.target = #machine.figures<"generic", {launch = 1.0e-5 : f64, memory_bandwidth = 1.0e11 : f64}>} {
  func.func @fast_memory(%a: memref<256x512xf32>, %b: memref<512x256xf32>, %d: memref<256x256xf32>) {
    %zero = arith.constant 0.0 : f32
    %c = memref.alloc() : memref<256x256xf32>
    linalg.generic {indexing_maps = [affine_map<(m, n) -> ()>, #id], iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%c : memref<256x256xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
    }
    linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<256x512xf32>, memref<512x256xf32>) outs(%c : memref<256x256xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.mulf %x, %y : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : memref<256x256xf32>) outs(%d : memref<256x256xf32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = math.sqrt %x : f32
      linalg.yield %0 : f32
    }
    memref.dealloc %c : memref<256x256xf32>
    return
  }
}
