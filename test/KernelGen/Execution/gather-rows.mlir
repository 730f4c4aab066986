// RUN: kernel-check %s | FileCheck %s
// RUN: kernel-check %s --vector-bits=128 | FileCheck %s
// RUN: kernel-check %s --vector-bits=512 | FileCheck %s
// RUN: kernel-check %s --vector-bits=512 --emit=mlir | FileCheck %s --check-prefix=IR
// CHECK: EQUAL

// Rows that an index chooses are read as vectors; what whole vectors leave of a row, with a mask.
// IR-LABEL: func.func @main(
//      IR: vector.load %{{.*}} : memref<40x48xf32>, vector<16xf32>
//  IR-NOT: memref.load
//      IR: vector.maskedload %{{.*}} : memref<40x67xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
//  IR-NOT: memref.load
//      IR: vector.maskedload %{{.*}} : memref<40x5xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
//  IR-NOT: memref.load
#row = affine_map<(a, b) -> (a)>
#id = affine_map<(a, b) -> (a, b)>
func.func @main(%x0: tensor<40x48xf32>, %x1: tensor<40x67xf32>, %x2: tensor<40x5xf32>, %x3: tensor<40x37xbf16>, %x4: tensor<40x23xi8>, %x5: tensor<40x9xf64>,
                %i: tensor<20xi32>)
    -> (tensor<20x48xf32>, tensor<20x67xf32>, tensor<20x5xf32>, tensor<20x37xbf16>, tensor<20x23xi8>, tensor<20x9xf64>) {
  %e0 = tensor.empty() : tensor<20x48xf32>
  %g0 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<20xi32>) outs(%e0 : tensor<20x48xf32>) {
  ^bb0(%a: i32, %o: f32):
    %zero = arith.constant 0 : index
    %last = arith.constant 39 : index
    %0 = arith.index_cast %a : i32 to index
    %1 = arith.maxsi %0, %zero : index
    %2 = arith.minsi %1, %last : index
    %c = linalg.index 1 : index
    %v = tensor.extract %x0[%2, %c] : tensor<40x48xf32>
    linalg.yield %v : f32
  } -> tensor<20x48xf32>
  %e1 = tensor.empty() : tensor<20x67xf32>
  %g1 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<20xi32>) outs(%e1 : tensor<20x67xf32>) {
  ^bb0(%a: i32, %o: f32):
    %zero = arith.constant 0 : index
    %last = arith.constant 39 : index
    %0 = arith.index_cast %a : i32 to index
    %1 = arith.maxsi %0, %zero : index
    %2 = arith.minsi %1, %last : index
    %c = linalg.index 1 : index
    %v = tensor.extract %x1[%2, %c] : tensor<40x67xf32>
    linalg.yield %v : f32
  } -> tensor<20x67xf32>
  %e2 = tensor.empty() : tensor<20x5xf32>
  %g2 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<20xi32>) outs(%e2 : tensor<20x5xf32>) {
  ^bb0(%a: i32, %o: f32):
    %zero = arith.constant 0 : index
    %last = arith.constant 39 : index
    %0 = arith.index_cast %a : i32 to index
    %1 = arith.maxsi %0, %zero : index
    %2 = arith.minsi %1, %last : index
    %c = linalg.index 1 : index
    %v = tensor.extract %x2[%2, %c] : tensor<40x5xf32>
    linalg.yield %v : f32
  } -> tensor<20x5xf32>
  %e3 = tensor.empty() : tensor<20x37xbf16>
  %g3 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<20xi32>) outs(%e3 : tensor<20x37xbf16>) {
  ^bb0(%a: i32, %o: bf16):
    %zero = arith.constant 0 : index
    %last = arith.constant 39 : index
    %0 = arith.index_cast %a : i32 to index
    %1 = arith.maxsi %0, %zero : index
    %2 = arith.minsi %1, %last : index
    %c = linalg.index 1 : index
    %v = tensor.extract %x3[%2, %c] : tensor<40x37xbf16>
    linalg.yield %v : bf16
  } -> tensor<20x37xbf16>
  %e4 = tensor.empty() : tensor<20x23xi8>
  %g4 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<20xi32>) outs(%e4 : tensor<20x23xi8>) {
  ^bb0(%a: i32, %o: i8):
    %zero = arith.constant 0 : index
    %last = arith.constant 39 : index
    %0 = arith.index_cast %a : i32 to index
    %1 = arith.maxsi %0, %zero : index
    %2 = arith.minsi %1, %last : index
    %c = linalg.index 1 : index
    %v = tensor.extract %x4[%2, %c] : tensor<40x23xi8>
    linalg.yield %v : i8
  } -> tensor<20x23xi8>
  %e5 = tensor.empty() : tensor<20x9xf64>
  %g5 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<20xi32>) outs(%e5 : tensor<20x9xf64>) {
  ^bb0(%a: i32, %o: f64):
    %zero = arith.constant 0 : index
    %last = arith.constant 39 : index
    %0 = arith.index_cast %a : i32 to index
    %1 = arith.maxsi %0, %zero : index
    %2 = arith.minsi %1, %last : index
    %c = linalg.index 1 : index
    %v = tensor.extract %x5[%2, %c] : tensor<40x9xf64>
    linalg.yield %v : f64
  } -> tensor<20x9xf64>
  return %g0, %g1, %g2, %g3, %g4, %g5 : tensor<20x48xf32>, tensor<20x67xf32>, tensor<20x5xf32>, tensor<20x37xbf16>, tensor<20x23xi8>, tensor<20x9xf64>
}
