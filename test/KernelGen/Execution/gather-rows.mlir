// RUN: kernel-check %s | FileCheck %s
// RUN: kernel-check %s --vector-bits=128 | FileCheck %s
// RUN: kernel-check %s --vector-bits=512 --emit=mlir | FileCheck %s --check-prefix=IR
// CHECK: EQUAL

// Rows that an index chooses are read as vectors.
// IR: vector.load %{{.*}} : memref<40x48xf32>, vector<16xf32>
#row = affine_map<(a, b) -> (a)>
#id = affine_map<(a, b) -> (a, b)>
func.func @main(%x: tensor<40x48xf32>, %i: tensor<20xi32>) -> tensor<20x48xf32> {
  %e = tensor.empty() : tensor<20x48xf32>
  %g = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<20xi32>) outs(%e : tensor<20x48xf32>) {
  ^bb0(%a: i32, %o: f32):
    %zero = arith.constant 0 : index
    %last = arith.constant 39 : index
    %0 = arith.index_cast %a : i32 to index
    %1 = arith.maxsi %0, %zero : index
    %2 = arith.minsi %1, %last : index
    %c = linalg.index 1 : index
    %v = tensor.extract %x[%2, %c] : tensor<40x48xf32>
    linalg.yield %v : f32
  } -> tensor<20x48xf32>
  return %g : tensor<20x48xf32>
}
