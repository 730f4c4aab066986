// RUN: shard-opt %s --spmd-exact-extrema | FileCheck %s
// CHECK-LABEL: func @wide(
//       CHECK:   llvm.intr.maximum(%{{.*}}) : (f32, f32) -> f32
//       CHECK:   llvm.intr.minimum(%{{.*}}) : (vector<4xf64>, vector<4xf64>) -> vector<4xf64>
func.func @wide(%x: f32, %y: f32, %v: vector<4xf64>, %w: vector<4xf64>) -> (f32, vector<4xf64>) {
  %0 = arith.maximumf %x, %y : f32
  %1 = arith.minimumf %v, %w : vector<4xf64>
  return %0, %1 : f32, vector<4xf64>
}
// Equal ones have the bits that both have: 0 but for -0 twice.
// CHECK-LABEL: func @narrow(
//   CHECK-NOT:   maximum
//       CHECK:   arith.andi %{{.*}} : i16
//       CHECK:   arith.ori %{{.*}} : vector<2x2xi32>
func.func @narrow(%x: bf16, %y: bf16, %v: vector<2x2xf32>, %w: vector<2x2xf32>) -> (bf16, vector<2x2xf32>) {
  %0 = arith.maximumf %x, %y : bf16
  %1 = arith.minimumf %v, %w : vector<2x2xf32>
  return %0, %1 : bf16, vector<2x2xf32>
}
// CHECK-LABEL: func @long(
//       CHECK:   %[[MORE:.*]] = arith.cmpf ogt, %[[X:.*]], %[[Y:.*]] : vector<16xf32>
//       CHECK:   arith.select %[[MORE]], %[[X]], %[[Y]]
//       CHECK:   arith.cmpf ogt, %[[Y]], %[[X]] : vector<16xf32>
//       CHECK:   arith.constant dense<2147483647>
func.func @long(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %0 = arith.maximumf %x, %y : vector<16xf32>
  return %0 : vector<16xf32>
}
