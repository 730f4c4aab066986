// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 | FileCheck %s

// Windows of one channel each, channels last. Rows of the image overlap from one row of the result to the next, so the window's
// rows are written out: 12 rows of elements for 8 of the result, each loaded once, of two vectors, and 5 rows of factors.
#image = affine_map<(n, y, x, c, h, w) -> (n, y + h, x + w, c)>
#window = affine_map<(n, y, x, c, h, w) -> (h, w, c)>
#sums = affine_map<(n, y, x, c, h, w) -> (n, y, x, c)>
// CHECK-LABEL: func.func @window_of_one_channel(
//       CHECK:   %{{.*}}:16 = scf.for %{{.*}} to %c5
// CHECK-COUNT-34:    llvm.load
//   CHECK-NOT:     llvm.load
//   CHECK-NOT:     scf.for
//       CHECK:     scf.yield
func.func @window_of_one_channel(%a: memref<8x12x116x96xf32>, %b: memref<5x5x96xf32>, %c: memref<8x8x112x96xf32>) {
  linalg.generic {indexing_maps = [#image, #window, #sums],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<8x12x116x96xf32>, memref<5x5x96xf32>) outs(%c : memref<8x8x112x96xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Every second row of the image: rows of the result share one of three.
#second = affine_map<(n, y, x, c, h, w) -> (n, y * 2 + h, x * 2 + w, c)>
// CHECK-LABEL: func.func @every_second_row(
//       CHECK:   %{{.*}}:16 = scf.for %{{.*}} to %c3
// CHECK-COUNT-40:    llvm.load
//   CHECK-NOT:     llvm.load
//       CHECK:     scf.yield
func.func @every_second_row(%a: memref<8x17x113x96xf32>, %b: memref<3x3x96xf32>, %c: memref<8x8x56x96xf32>) {
  linalg.generic {indexing_maps = [#second, #window, #sums],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<8x17x113x96xf32>, memref<3x3x96xf32>) outs(%c : memref<8x8x56x96xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Every third row of the image: no element belongs to two rows, and the window's rows stay a loop.
#third = affine_map<(n, y, x, c, h, w) -> (n, y * 3 + h, x * 3 + w, c)>
// CHECK-LABEL: func.func @nothing_shared(
//       CHECK:   scf.for %{{.*}} to %c3
//       CHECK:     scf.for %{{.*}} to %c3
//       CHECK:       scf.yield
func.func @nothing_shared(%a: memref<8x24x112x96xf32>, %b: memref<3x3x96xf32>, %c: memref<8x8x37x96xf32>) {
  linalg.generic {indexing_maps = [#third, #window, #sums],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<8x24x112x96xf32>, memref<3x3x96xf32>) outs(%c : memref<8x8x37x96xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
