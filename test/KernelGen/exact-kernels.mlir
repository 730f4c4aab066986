// RUN: shard-opt %s --spmd-generate-cpu-kernels="vector-bits=256 exact" | FileCheck %s
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=256 | FileCheck %s --check-prefix=DEFAULT
// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=128 | FileCheck %s --check-prefix=SHORT

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m) -> (m)>

// A product and a sum are rounded one after the other, in vectors and in what is left over.
// CHECK-LABEL: func.func @elementwise(
//   CHECK-NOT:   fastmath<contract>
// DEFAULT-LABEL: func.func @elementwise(
//   DEFAULT-NOT:   fastmath<contract>
func.func @elementwise(%a: memref<21xf32>, %b: memref<21xf32>, %out: memref<21xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : memref<21xf32>, memref<21xf32>) outs(%out : memref<21xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %x : f32
    linalg.yield %s : f32
  }
  return
}

// Terms of a total are rounded once where the lowering said so: by one op, or with short vectors by LLVM, if the processor can. Others round by themselves.
// CHECK-LABEL: func.func @totals(
//   CHECK-NOT:   fastmath<contract>
//       CHECK:   vector.fma
//   CHECK-NOT:   fastmath<contract>
//       CHECK: func.func @plain_totals(
//   CHECK-NOT:   vector.fma
//   CHECK-NOT:   fastmath<contract>
// DEFAULT-LABEL: func.func @totals(
//   DEFAULT-NOT:   fastmath<contract>
//       DEFAULT:   vector.fma
//   DEFAULT-NOT:   fastmath<contract>
//         SHORT:   arith.mulf {{.*}} fastmath<contract> : vector<4xf32>
//         SHORT:   arith.addf {{.*}} fastmath<contract> {{.*}}: vector<4xf32>
// DEFAULT-LABEL: func.func @plain_totals(
//   DEFAULT-NOT:   fastmath<contract>
func.func @totals(%a: memref<12x16xf32>, %b: memref<16x16xf32>, %out: memref<12x16xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<12x16xf32>, memref<16x16xf32>) outs(%out : memref<12x16xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p {kernel.rounded_once} : f32
    linalg.yield %s : f32
  }
  return
}
func.func @plain_totals(%a: memref<12x16xf32>, %b: memref<16x16xf32>, %out: memref<12x16xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<12x16xf32>, memref<16x16xf32>) outs(%out : memref<12x16xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// The product of two f32 in f64 is exact: once or twice is the same.
// CHECK-LABEL: func.func @exact_products(
// DEFAULT-LABEL: func.func @exact_products(
//       CHECK:   arith.mulf {{.*}} fastmath<contract> : vector<4xf64>
//       CHECK:   arith.addf {{.*}} fastmath<contract> {{.*}}: vector<4xf64>
func.func @exact_products(%a: memref<12x16xf32>, %b: memref<16x16xf32>, %out: memref<12x16xf64>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<12x16xf32>, memref<16x16xf32>) outs(%out : memref<12x16xf64>) {
  ^bb0(%x: f32, %y: f32, %o: f64):
    %wx = arith.extf %x : f32 to f64
    %wy = arith.extf %y : f32 to f64
    %p = arith.mulf %wx, %wy : f64
    %s = arith.addf %o, %p {kernel.any_order} : f64
    linalg.yield %s : f64
  }
  return
}

#row = affine_map<(k) -> (k)>
#none = affine_map<(k) -> ()>

// A sum is added up lane by lane where it has no order, else one after another.
// CHECK-LABEL: func.func @sums(
//       CHECK:   vector.reduction <add>
//   CHECK-NOT:   vector.reduction
//       CHECK:   return
func.func @sums(%a: memref<64xf64>, %any: memref<f64>, %ordered: memref<f64>) {
  linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction"]}
      ins(%a : memref<64xf64>) outs(%any : memref<f64>) {
  ^bb0(%x: f64, %o: f64):
    %s = arith.addf %o, %x {kernel.any_order} : f64
    linalg.yield %s : f64
  }
  linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction"]}
      ins(%a : memref<64xf64>) outs(%ordered : memref<f64>) {
  ^bb0(%x: f64, %o: f64):
    %s = arith.addf %o, %x : f64
    linalg.yield %s : f64
  }
  return
}
