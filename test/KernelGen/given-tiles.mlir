// RUN: shard-opt %s --spmd-generate-cpu-kernels="vector-bits=512 list-tiles" --split-input-file --verify-diagnostics | FileCheck %s
// A product is cut as it is told, whatever the estimates say.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// Three rows of two vectors; a panel of the second operand, 1,000 rows of two vectors.
// CHECK-LABEL: func.func @told(
//       CHECK:   memref.alloc() {{.*}} : memref<128000xi8>
//       CHECK:   %{{.*}}:6 = scf.for %{{.*}} to %c1000
func.func @told(%a: memref<1008x1000xf32>, %b: memref<1000x1024xf32>, %c: memref<1008x1024xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1008x1000xf32>, memref<1000x1024xf32>) outs(%c : memref<1008x1024xf32>)
      attrs = {tune.tile = #tune.tile<row = 0, rows = 3, vectors = 2, panel = true>} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// The sum in blocks of 100, outermost.
// CHECK-LABEL: func.func @blocks(
//       CHECK:   scf.for %{{.*}} = %c0{{.*}} to %c1000{{.*}} step %c100
//       CHECK:     %{{.*}}:4 = scf.for %{{.*}} to %c100
func.func @blocks(%a: memref<1008x1000xf32>, %b: memref<1000x1024xf32>, %c: memref<1008x1024xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1008x1000xf32>, memref<1000x1024xf32>) outs(%c : memref<1008x1024xf32>)
      attrs = {tune.tile = #tune.tile<row = 0, rows = 4, hoisted = 1, block = 100>} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

// Lanes run along the sum: another number of vectors would add up in another order.
// CHECK-LABEL: func.func @other_sums(
func.func @other_sums(%a: memref<8x1000xf32>, %b: memref<8x1000xf32>, %c: memref<8x8xf32>) {
  // expected-remark @below {{this kernel cannot be cut as #tune.tile<row = 0, rows = 2, columns = 2, vectors = 2> says: an estimate decides}}
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x1000xf32>, memref<8x1000xf32>) outs(%c : memref<8x8xf32>)
      attrs = {tune.tile = #tune.tile<row = 0, rows = 2, columns = 2, vectors = 2>} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// No product.
func.func @no_product(%a: memref<1000xf32>, %b: memref<1000xf32>) {
  // expected-remark @below {{this kernel cannot be cut as #tune.tile<rows = 2> says}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<1000xf32>) outs(%b : memref<1000xf32>) attrs = {tune.tile = #tune.tile<rows = 2>} {
  ^bb0(%x: f32, %o: f32):
    %n = arith.negf %x : f32
    linalg.yield %n : f32
  }
  return
}
