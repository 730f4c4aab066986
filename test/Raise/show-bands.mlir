// RUN: shard-opt %s -pass-pipeline='builtin.module(func.func(spmd-show-bands))' | FileCheck %s

// Column j of the matrix max(0, 2 - |i - j|) has its numbers in rows j - 1 to j + 1.

// CHECK-LABEL: func.func @near
//  CHECK-SAME:     %[[X:.*]]: tensor<8x3xf32>
//       CHECK:   %[[MATRIX:.*]] = stablehlo.maximum
//       CHECK:   %[[ROWS:.*]] = stablehlo.iota dim = 0 : tensor<8x8xi32>
//       CHECK:   %[[B:.*]] = stablehlo.constant dense<[0, 0, 1, 2, 3, 4, 5, 6]> : tensor<8xi32>
//       CHECK:   %[[BEGINS:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [1]
//       CHECK:   %[[BEHIND:.*]] = stablehlo.compare GE, %[[ROWS]], %[[BEGINS]], SIGNED
//       CHECK:   %[[E:.*]] = stablehlo.constant dense<[2, 3, 4, 5, 6, 7, 8, 8]> : tensor<8xi32>
//       CHECK:   %[[ENDS:.*]] = stablehlo.broadcast_in_dim %[[E]], dims = [1]
//       CHECK:   %[[BEFORE:.*]] = stablehlo.compare LT, %[[ROWS]], %[[ENDS]], SIGNED
//       CHECK:   %[[INSIDE:.*]] = stablehlo.and %{{.*}}, %{{.*}} : tensor<8x8xi1>
//       CHECK:   %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8x8xf32>
//       CHECK:   %[[BAND:.*]] = stablehlo.select %[[INSIDE]], %[[MATRIX]], %[[ZERO]]
//       CHECK:   stablehlo.dot_general %[[BAND]], %[[X]], contracting_dims = [0] x [0]
func.func @near(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %rows = stablehlo.iota dim = 0 : tensor<8x8xf32>
  %columns = stablehlo.iota dim = 1 : tensor<8x8xf32>
  %two = stablehlo.constant dense<2.0> : tensor<8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %apart = stablehlo.subtract %rows, %columns : tensor<8x8xf32>
  %distance = stablehlo.abs %apart : tensor<8x8xf32>
  %nearness = stablehlo.subtract %two, %distance : tensor<8x8xf32>
  %matrix = stablehlo.maximum %zero, %nearness : tensor<8x8xf32>
  %0 = stablehlo.dot_general %matrix, %x, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// A matrix that is made in f32 may be multiplied in bf16.

// CHECK-LABEL: func.func @shortened
//       CHECK:   dense<[0, 0, 1, 2, 3, 4, 5, 6]> : tensor<8xi32>
//       CHECK:   %[[BAND:.*]] = stablehlo.select %{{.*}} : tensor<8x8xi1>, tensor<8x8xbf16>
//       CHECK:   stablehlo.dot_general %[[BAND]]
func.func @shortened(%x: tensor<8x3xbf16>) -> tensor<8x3xbf16> {
  %rows = stablehlo.iota dim = 0 : tensor<8x8xf32>
  %columns = stablehlo.iota dim = 1 : tensor<8x8xf32>
  %two = stablehlo.constant dense<2.0> : tensor<8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %apart = stablehlo.subtract %rows, %columns : tensor<8x8xf32>
  %distance = stablehlo.abs %apart : tensor<8x8xf32>
  %nearness = stablehlo.subtract %two, %distance : tensor<8x8xf32>
  %matrix = stablehlo.maximum %zero, %nearness : tensor<8x8xf32>
  %short = stablehlo.convert %matrix : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %0 = stablehlo.dot_general %short, %x, contracting_dims = [0] x [0] : (tensor<8x8xbf16>, tensor<8x3xbf16>) -> tensor<8x3xbf16>
  return %0 : tensor<8x3xbf16>
}

// One that is made in bf16 has other zeros where a kernel keeps what is between its ops in f32.

// CHECK-LABEL: func.func @made_short
//   CHECK-NOT:   stablehlo.select
//       CHECK:   stablehlo.dot_general
func.func @made_short(%x: tensor<8x3xbf16>) -> tensor<8x3xbf16> {
  %rows = stablehlo.iota dim = 0 : tensor<8x8xbf16>
  %columns = stablehlo.iota dim = 1 : tensor<8x8xbf16>
  %two = stablehlo.constant dense<2.0> : tensor<8x8xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xbf16>
  %apart = stablehlo.subtract %rows, %columns : tensor<8x8xbf16>
  %distance = stablehlo.abs %apart : tensor<8x8xbf16>
  %nearness = stablehlo.subtract %two, %distance : tensor<8x8xbf16>
  %matrix = stablehlo.maximum %zero, %nearness : tensor<8x8xbf16>
  %0 = stablehlo.dot_general %matrix, %x, contracting_dims = [0] x [0] : (tensor<8x8xbf16>, tensor<8x3xbf16>) -> tensor<8x3xbf16>
  return %0 : tensor<8x3xbf16>
}

// Whether exp(i - j) is 1 may have another answer where the program runs.

// CHECK-LABEL: func.func @compared
//   CHECK-NOT:   stablehlo.iota dim = 0 : tensor<8x8xi32>
//       CHECK:   stablehlo.dot_general
func.func @compared(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %rows = stablehlo.iota dim = 0 : tensor<8x8xf32>
  %columns = stablehlo.iota dim = 1 : tensor<8x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %apart = stablehlo.subtract %rows, %columns : tensor<8x8xf32>
  %grown = stablehlo.exponential %apart : tensor<8x8xf32>
  %same = stablehlo.compare EQ, %grown, %one, FLOAT : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xi1>
  %matrix = stablehlo.select %same, %one, %zero : tensor<8x8xi1>, tensor<8x8xf32>
  %0 = stablehlo.dot_general %matrix, %x, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// The matrix on the other side, columns first, made of lists as JAX makes weights of an
// interpolation: each of four results reads the two of eight that it lies between.

// CHECK-LABEL: func.func @halved
//       CHECK:   stablehlo.iota dim = 1 : tensor<4x8xi32>
//       CHECK:   dense<[0, 2, 4, 6]> : tensor<4xi32>
//       CHECK:   dims = [0]
//       CHECK:   dense<[2, 4, 6, 8]> : tensor<4xi32>
//       CHECK:   %[[BAND:.*]] = stablehlo.select %{{.*}} : tensor<4x8xi1>, tensor<4x8xf32>
//       CHECK:   stablehlo.dot_general %{{.*}}, %[[BAND]], contracting_dims = [1] x [1]
func.func @halved(%x: tensor<3x8xf32>) -> tensor<3x4xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %none = stablehlo.constant dense<0.0> : tensor<4x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %list = stablehlo.iota dim = 0 : tensor<4xf32>
  %scale = stablehlo.constant dense<2.0> : tensor<4xf32>
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  %scaled = stablehlo.multiply %list, %scale : tensor<4xf32>
  %middle = stablehlo.add %scaled, %half : tensor<4xf32>
  %middles = stablehlo.broadcast_in_dim %middle, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %rows = stablehlo.iota dim = 1 : tensor<4x8xf32>
  %apart = stablehlo.subtract %rows, %middles : tensor<4x8xf32>
  %distance = stablehlo.abs %apart : tensor<4x8xf32>
  %isNear = stablehlo.compare LT, %distance, %one, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %weight = stablehlo.select %isNear, %one, %none : tensor<4x8xi1>, tensor<4x8xf32>
  %sum = stablehlo.reduce(%weight init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %matrix = stablehlo.divide %weight, %sums : tensor<4x8xf32>
  %0 = stablehlo.dot_general %x, %matrix, contracting_dims = [1] x [1] : (tensor<3x8xf32>, tensor<4x8xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// No band: all rows are read, or what is read depends on an argument.

// CHECK-LABEL: func.func @dense
//   CHECK-NOT:   stablehlo.select
func.func @dense(%x: tensor<8x3xf32>, %w: tensor<8x8xf32>) -> (tensor<8x3xf32>, tensor<8x3xf32>) {
  %rows = stablehlo.iota dim = 0 : tensor<8x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %matrix = stablehlo.add %rows, %one : tensor<8x8xf32>
  %other = stablehlo.multiply %rows, %w : tensor<8x8xf32>
  %0 = stablehlo.dot_general %matrix, %x, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  %1 = stablehlo.dot_general %other, %x, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %0, %1 : tensor<8x3xf32>, tensor<8x3xf32>
}

// A matrix that puts rows in the opposite order: each reads one, on the other side.

// CHECK-LABEL: func.func @reversed
//   CHECK-NOT:   stablehlo.and
func.func @reversed(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %rows = stablehlo.iota dim = 0 : tensor<8x8xi32>
  %columns = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %last = stablehlo.constant dense<7> : tensor<8x8xi32>
  %one = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %sum = stablehlo.add %rows, %columns : tensor<8x8xi32>
  %equal = stablehlo.compare EQ, %sum, %last, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %matrix = stablehlo.select %equal, %one, %zero : tensor<8x8xi1>, tensor<8x8xf32>
  %0 = stablehlo.dot_general %matrix, %x, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
