// RUN: shard-opt %s --spmd-lower-to-linalg | FileCheck %s --check-prefixes=CHECK,MAY
// RUN: shard-opt %s --spmd-lower-to-linalg=round-each-op | FileCheck %s --check-prefixes=CHECK,EACH
// Conversions around arithmetic in bf16 may vanish between ops of one kernel,
// unless each op is to round; those that a program writes down, or that a
// comparison or a function with steps looks through, may not.
// CHECK-LABEL: func @arithmetic(
//         MAY:   arith.extf %{{.*}} fastmath<contract> : bf16 to f32
//        EACH:   arith.extf %{{.*}} : bf16 to f32
//       CHECK:   math.exp
//         MAY:   arith.truncf %{{.*}} fastmath<contract> : f32 to bf16
//        EACH:   arith.truncf %{{.*}} : f32 to bf16
func.func @arithmetic(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  %0 = stablehlo.exponential %x : tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// CHECK-LABEL: func @written(
//       CHECK:   arith.truncf %{{.*}} : f32 to bf16
//       CHECK:   arith.extf %{{.*}} : bf16 to f32
func.func @written(%x: tensor<8xf32>, %y: tensor<8xbf16>) -> (tensor<8xbf16>, tensor<8xf32>) {
  %0 = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xbf16>
  %1 = stablehlo.convert %y : (tensor<8xbf16>) -> tensor<8xf32>
  return %0, %1 : tensor<8xbf16>, tensor<8xf32>
}

// CHECK-LABEL: func @steps(
//       CHECK:   arith.extf %{{.*}} : bf16 to f32
//       CHECK:   math.floor
//       CHECK:   arith.extf %{{.*}} : bf16 to f32
//       CHECK:   arith.cmpf
func.func @steps(%x: tensor<8xbf16>) -> (tensor<8xbf16>, tensor<8xi1>) {
  %zero = stablehlo.constant dense<0.0> : tensor<8xbf16>
  %0 = stablehlo.floor %x : tensor<8xbf16>
  %1 = stablehlo.compare GT, %x, %zero : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xi1>
  return %0, %1 : tensor<8xbf16>, tensor<8xi1>
}
