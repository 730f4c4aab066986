// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s
// A sum along the lanes gives a scalar: a function of it is computed in a loop
// of its own, in whole vectors, unless the sum takes much longer.
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func @short_rows(
//       CHECK:   memref.alloc
//   CHECK-NOT:   math.exp
//       CHECK:   vector.reduction <add>
//   CHECK-NOT:   math.exp
//       CHECK:   math.exp {{.*}} : vector<64xf32>
func.func @short_rows(%x: memref<4096x100xf32>, %y: memref<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<4096xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%sums : memref<4096xf32>) {
  ^bb0(%out: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4096x100xf32>) outs(%sums : memref<4096xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%sums : memref<4096xf32>) outs(%y : memref<4096xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %0 = math.exp %sum : f32
    linalg.yield %0 : f32
  }
  return
}

// A few instructions a sum are no loop.
// CHECK-LABEL: func @short_rows_scaled(
//   CHECK-NOT:   memref.alloc
//       CHECK:   vector.reduction <add>
//       CHECK:   arith.mulf {{.*}} : f32
func.func @short_rows_scaled(%x: memref<4096x100xf32>, %y: memref<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %sums = memref.alloc() : memref<4096xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%sums : memref<4096xf32>) {
  ^bb0(%out: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4096x100xf32>) outs(%sums : memref<4096xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%sums : memref<4096xf32>) outs(%y : memref<4096xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %0 = arith.mulf %sum, %half : f32
    linalg.yield %0 : f32
  }
  return
}

// Beside a long sum a function is little.
// CHECK-LABEL: func @long_rows(
//   CHECK-NOT:   memref.alloc
//       CHECK:   vector.reduction <add>
//       CHECK:   math.exp {{.*}} : f32
func.func @long_rows(%x: memref<64x16384xf32>, %y: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%sums : memref<64xf32>) {
  ^bb0(%out: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : memref<64x16384xf32>) outs(%sums : memref<64xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%sums : memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %0 = math.exp %sum : f32
    linalg.yield %0 : f32
  }
  return
}
