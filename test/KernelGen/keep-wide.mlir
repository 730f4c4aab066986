// RUN: shard-opt %s --spmd-fuse-elementwise | FileCheck %s
// A rounding between two ops that become one vanishes if both conversions have
// the flag `contract`.
#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func @between(
//       CHECK:   %[[SUM:.*]] = arith.addf
//  CHECK-NEXT:   %[[PRODUCT:.*]] = arith.mulf %[[SUM]], %[[SUM]] : f32
//  CHECK-NEXT:   %[[RESULT:.*]] = arith.truncf %[[PRODUCT]] : f32 to bf16
//  CHECK-NEXT:   linalg.yield %[[RESULT]] : bf16
func.func @between(%x: tensor<8xbf16>, %y: tensor<8xbf16>) -> tensor<8xbf16> {
  %e = tensor.empty() : tensor<8xbf16>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xbf16>, tensor<8xbf16>) outs(%e : tensor<8xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %out: bf16):
    %1 = arith.extf %a fastmath<contract> : bf16 to f32
    %2 = arith.extf %b fastmath<contract> : bf16 to f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.truncf %3 fastmath<contract> : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<8xbf16>
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xbf16>) outs(%e : tensor<8xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %1 = arith.extf %a fastmath<contract> : bf16 to f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.truncf %2 fastmath<contract> : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<8xbf16>
  return %5 : tensor<8xbf16>
}

// What is stored is rounded; what reads it in the same kernel need not be, if
// it is not compared. A choice hands on what it chooses.
// CHECK-LABEL: func @readers(
//       CHECK:   %[[SUM:.*]] = arith.addf
//  CHECK-NEXT:   %[[STORED:.*]] = arith.truncf %[[SUM]] : f32 to bf16
//  CHECK-NEXT:   %[[SEEN:.*]] = arith.extf %[[STORED]] : bf16 to f32
//  CHECK-NEXT:   %[[IS:.*]] = arith.cmpf ogt, %[[SEEN]],
//       CHECK:   %[[OTHER:.*]] = arith.extf %{{.*}} : bf16 to f32
//  CHECK-NEXT:   %[[CHOSEN:.*]] = arith.select %[[IS]], %[[SUM]], %[[OTHER]] : f32
//  CHECK-NEXT:   %[[PRODUCT:.*]] = arith.mulf %[[CHOSEN]], %[[SUM]] : f32
//  CHECK-NEXT:   %[[RESULT:.*]] = arith.truncf %[[PRODUCT]] : f32 to bf16
//  CHECK-NEXT:   linalg.yield %[[STORED]], %[[RESULT]] : bf16, bf16
func.func @readers(%x: tensor<8xbf16>, %y: tensor<8xbf16>) -> (tensor<8xbf16>, tensor<8xbf16>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xbf16>
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xbf16>, tensor<8xbf16>) outs(%e, %e : tensor<8xbf16>, tensor<8xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %out: bf16, %out_0: bf16):
    %1 = arith.extf %a fastmath<contract> : bf16 to f32
    %2 = arith.addf %1, %1 : f32
    %3 = arith.truncf %2 fastmath<contract> : f32 to bf16
    %4 = arith.extf %3 : bf16 to f32
    %5 = arith.cmpf ogt, %4, %zero : f32
    %6 = arith.select %5, %3, %b : bf16
    %7 = arith.extf %6 fastmath<contract> : bf16 to f32
    %8 = arith.extf %3 fastmath<contract> : bf16 to f32
    %9 = arith.mulf %7, %8 : f32
    %10 = arith.truncf %9 fastmath<contract> : f32 to bf16
    linalg.yield %3, %10 : bf16, bf16
  } -> (tensor<8xbf16>, tensor<8xbf16>)
  return %0#0, %0#1 : tensor<8xbf16>, tensor<8xbf16>
}

// A rounding that the program writes down stays.
// CHECK-LABEL: func @written(
//       CHECK:   arith.truncf %{{.*}} : f32 to bf16
//  CHECK-NEXT:   arith.extf %{{.*}} : bf16 to f32
func.func @written(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.truncf %a : f32 to bf16
    %2 = arith.extf %1 fastmath<contract> : bf16 to f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
