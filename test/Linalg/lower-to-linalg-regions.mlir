// RUN: shard-opt %s --spmd-lower-to-linalg --split-input-file | FileCheck %s
// Ops with regions: the body is inlined on elements.

// Two results, one loop nest.
// CHECK-LABEL: func @argmax(
//       CHECK:   linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
//  CHECK-SAME:     outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>)
//       CHECK:     arith.cmpf oge
//       CHECK:     linalg.yield %{{.*}}, %{{.*}} : f32, i32
func.func @argmax(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>, %x0: tensor<f32>, %i0: tensor<i32>)
    -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = stablehlo.reduce(%x init: %x0), (%i init: %i0) across dimensions = [1]
      : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
      %1 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
      %3 = stablehlo.select %1, %p, %q : tensor<i1>, tensor<i32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

// -----

// CHECK-LABEL: func @window(
//       CHECK:   %[[WINDOW:.*]] = tensor.empty() : tensor<3xf32>
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %[[WINDOW]] : tensor<10xf32>, tensor<3xf32>)
//       CHECK:     arith.maximumf
func.func @window(%x: tensor<8xf32>) -> tensor<8xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 3>,
      padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A window as long as the axis is a running sum: one step an element.
// CHECK-LABEL: func @cumulative_sum(
//       CHECK:   scf.for
//       CHECK:     scf.for
//       CHECK:       tensor.extract
//       CHECK:       arith.addf
//       CHECK:       tensor.insert
//   CHECK-NOT:   linalg.generic
func.func @cumulative_sum(%x: tensor<4x512xf32>) -> tensor<4x512xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 512>,
      padding = dense<[[0, 0], [511, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x512xf32>, tensor<f32>) -> tensor<4x512xf32>
  return %0 : tensor<4x512xf32>
}

// -----

// So it is of complex elements, whose identity is zero in both parts. A start
// that is not the identity is added once a place of padding: a window it stays.
// CHECK-LABEL: func @complex_cumulative_sum(
//       CHECK:   scf.for
//       CHECK:     tensor.extract
// CHECK-COUNT-2:     arith.addf
//       CHECK:     tensor.insert
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
// CHECK-LABEL: func @complex_windows_from_i(
//       CHECK:   linalg.generic {{.*}}"reduction"
func.func @complex_cumulative_sum(%x: tensor<512xcomplex<f32>>) -> tensor<512xcomplex<f32>> {
  %z = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 512>,
      padding = dense<[[511, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %1 = stablehlo.add %a, %b : tensor<complex<f32>>
    stablehlo.return %1 : tensor<complex<f32>>
  }) : (tensor<512xcomplex<f32>>, tensor<complex<f32>>) -> tensor<512xcomplex<f32>>
  return %0 : tensor<512xcomplex<f32>>
}
func.func @complex_windows_from_i(%x: tensor<512xcomplex<f32>>) -> tensor<512xcomplex<f32>> {
  %i = stablehlo.constant dense<(0.0, 1.0)> : tensor<complex<f32>>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 512>,
      padding = dense<[[511, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %1 = stablehlo.add %a, %b : tensor<complex<f32>>
    stablehlo.return %1 : tensor<complex<f32>>
  }) : (tensor<512xcomplex<f32>>, tensor<complex<f32>>) -> tensor<512xcomplex<f32>>
  return %0 : tensor<512xcomplex<f32>>
}

// -----

// A while that counts is a for; its counter is no tensor.
// CHECK-LABEL: func @counting_loop(
//       CHECK:   scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}}) -> (tensor<8xf32>) : i32
//       CHECK:     arith.sitofp %[[I]]
//   CHECK-NOT:   scf.while
func.func @counting_loop(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<10> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %4 = stablehlo.add %y, %3 : tensor<8xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %4 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func @other_loop(
//       CHECK:   scf.while
//       CHECK:     scf.condition
func.func @other_loop(%x: tensor<f32>) -> tensor<f32> {
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %0 = stablehlo.while(%y = %x) : tensor<f32>
  cond {
    %1 = stablehlo.compare GT, %y, %half, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.multiply %y, %half : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// Any index out of range is the last branch: the default.
// CHECK-LABEL: func @case(
//       CHECK:   scf.index_switch
//       CHECK:   case 0
//   CHECK-NOT:   case 1
//       CHECK:   default
func.func @case(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A start is clamped where the slice could leave the operand, and only there.
// CHECK-LABEL: func @gather_rows(
//       CHECK:   %[[LAST:.*]] = arith.constant 9 : index
//       CHECK:   linalg.generic
//       CHECK:     arith.maxsi
//       CHECK:     %[[ROW:.*]] = arith.minsi %{{.*}}, %[[LAST]]
//       CHECK:     %[[COLUMN:.*]] = linalg.index 1
//       CHECK:     tensor.extract %{{.*}}[%[[ROW]], %[[COLUMN]]]
func.func @gather_rows(%x: tensor<10x6xf32>, %i: tensor<4x1xi32>) -> tensor<4x6xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// Rows are combined whole, if inside.
// CHECK-LABEL: func @scatter_rows(
//       CHECK:   scf.for
//       CHECK:     arith.cmpi ult
//       CHECK:     scf.if
//       CHECK:       tensor.extract_slice {{.*}} : tensor<10x6xf32> to tensor<6xf32>
//       CHECK:       linalg.generic
//       CHECK:         arith.addf
//       CHECK:       tensor.insert_slice
func.func @scatter_rows(%x: tensor<10x6xf32>, %i: tensor<4x1xi32>, %u: tensor<4x6xf32>) -> tensor<10x6xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10x6xf32>, tensor<4x1xi32>, tensor<4x6xf32>) -> tensor<10x6xf32>
  return %0 : tensor<10x6xf32>
}

// -----

// argmax of many short rows goes through each row in its order.
// CHECK-LABEL: func @argmax_in_order(
//       CHECK:   linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
//  CHECK-SAME:     outs(%{{.*}}, %{{.*}} : tensor<4096xf32>, tensor<4096xi32>)
//       CHECK:     arith.cmpf ugt
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @argmax_in_order(%x: tensor<4096x5xf32>) -> (tensor<4096xf32>, tensor<4096xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<4096x5xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %least), (%i init: %zero) across dimensions = [1]
      : (tensor<4096x5xf32>, tensor<4096x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<4096xf32>, tensor<4096xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
      %gt = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %nan = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %keeps = stablehlo.or %gt, %nan : tensor<i1>
      %eq = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %tie = stablehlo.and %eq, %lt : tensor<i1>
      %first = stablehlo.or %keeps, %tie : tensor<i1>
      %v = stablehlo.select %keeps, %a, %b : tensor<i1>, tensor<f32>
      %w = stablehlo.select %first, %p, %q : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<4096xf32>, tensor<4096xi32>
}

// -----

// Of longer ones the value comes first, then its place, both in any order.
// CHECK-LABEL: func @argmax_of_long_rows(
//       CHECK:   arith.maximumf
//       CHECK:   arith.cmpf oeq
func.func @argmax_of_long_rows(%x: tensor<4096x13xf32>) -> (tensor<4096xf32>, tensor<4096xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<4096x13xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %least), (%i init: %zero) across dimensions = [1]
      : (tensor<4096x13xf32>, tensor<4096x13xi32>, tensor<f32>, tensor<i32>) -> (tensor<4096xf32>, tensor<4096xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
      %gt = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %nan = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %keeps = stablehlo.or %gt, %nan : tensor<i1>
      %eq = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %tie = stablehlo.and %eq, %lt : tensor<i1>
      %first = stablehlo.or %keeps, %tie : tensor<i1>
      %v = stablehlo.select %keeps, %a, %b : tensor<i1>, tensor<f32>
      %w = stablehlo.select %first, %p, %q : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<4096xf32>, tensor<4096xi32>
}

// -----

// Many complex numbers in a row: 64 products side by side, then these, then what is left.
// CHECK-DAG: #[[GROUPS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 64 + d2)>
// CHECK-LABEL: func @complex_rows(
//       CHECK:   linalg.generic {indexing_maps = [#[[GROUPS]], {{.*}}], iterator_types = ["parallel", "reduction", "parallel"]}
//  CHECK-SAME:     ins({{.*}} : tensor<3x1003xcomplex<f32>>, tensor<15xcomplex<f32>>) outs({{.*}} : tensor<3x64xcomplex<f32>>)
//       CHECK:   linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins({{.*}} : tensor<3x64xcomplex<f32>>)
//       CHECK:   tensor.extract_slice {{.*}}[0, 960] [3, 43] [1, 1]
//       CHECK:   linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins({{.*}} : tensor<3x43xcomplex<f32>>)
func.func @complex_rows(%x: tensor<3x1003xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [1] : (tensor<3x1003xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}

// Nothing is left of a whole number of groups.
// CHECK-LABEL: func @complex_all(
//       CHECK:   iterator_types = ["reduction", "parallel"]
//       CHECK:   iterator_types = ["reduction"]
//   CHECK-NOT:   linalg.generic
func.func @complex_all(%x: tensor<1024xcomplex<f64>>) -> tensor<complex<f64>> {
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f64>>
  %0 = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<1024xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
  return %0 : tensor<complex<f64>>
}

// A row whose length is not known may be long.
// CHECK-LABEL: func @complex_any(
//       CHECK:   iterator_types = ["reduction", "parallel"]
//       CHECK:   iterator_types = ["reduction"]
//       CHECK:   iterator_types = ["reduction"]
func.func @complex_any(%x: tensor<?xcomplex<f32>>) -> tensor<complex<f32>> {
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<?xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %0 : tensor<complex<f32>>
}

// Columns are side by side as they are, and a short row is one chain.
// CHECK-LABEL: func @complex_columns(
//       CHECK:   iterator_types = ["reduction", "parallel"]
//       CHECK:   iterator_types = ["reduction"]
//   CHECK-NOT:   linalg.generic
func.func @complex_columns(%x: tensor<1000x200xcomplex<f32>>) -> (tensor<200xcomplex<f32>>, tensor<complex<f32>>) {
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<1000x200xcomplex<f32>>, tensor<complex<f32>>) -> tensor<200xcomplex<f32>>
  %1 = stablehlo.reduce(%0 init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<200xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %0, %1 : tensor<200xcomplex<f32>>, tensor<complex<f32>>
}
