// RUN: shard-run %s 2>&1 | FileCheck %s
// Forms of conformance files beside JAX's own, each with what it must give.
// CHECK: 11 of 11 modules passed

func.func @scan_along_the_second_dim() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %c = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %0:2 = chlo.scan(%x) inits(%c) dimension=1 attributes {is_reverse = true} {
  ^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):
    %1 = stablehlo.add %a, %b : tensor<2xi32>
    %2 = stablehlo.multiply %1, %1 : tensor<2xi32>
    stablehlo.return %2, %1 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[[256, 225, 169], [1225, 961, 676]]> : tensor<2x3xi32>
  check.expect_eq_const %0#1, dense<[16, 35]> : tensor<2xi32>
  return
}

// -----

func.func @scan_of_no_slices() {
  %x = stablehlo.constant dense<> : tensor<2x0xi32>
  %c = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %0:2 = chlo.scan(%x) inits(%c) dimension=1 {
  ^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):
    %1 = stablehlo.add %a, %b : tensor<2xi32>
    stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x0xi32>, tensor<2xi32>) -> (tensor<2x0xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<> : tensor<2x0xi32>
  check.expect_eq_const %0#1, dense<[10, 20]> : tensor<2xi32>
  return
}

// -----

func.func @scan_of_nothing_but_carries() {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0:2 = chlo.scan() inits(%c) dimension=0 {
  ^bb0(%b: tensor<f32>):
    %1 = stablehlo.add %b, %b : tensor<f32>
    stablehlo.return %b, %1 : tensor<f32>, tensor<f32>
  } : (tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  check.expect_eq_const %0#0, dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  check.expect_eq_const %0#1, dense<16.0> : tensor<f32>
  return
}

// -----

func.func @products_by_letters() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %y = stablehlo.constant dense<[[1, 10], [100, 1000], [10000, 100000]]> : tensor<3x2xi32>
  %0 = stablehlo.einsum %x, %y, config = "ab,bc->ca" : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[30201, 60504], [302010, 605040]]> : tensor<2x2xi32>
  %1 = stablehlo.einsum %x, %x, config = "ab,ab->a" : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2xi32>
  check.expect_eq_const %1, dense<[14, 77]> : tensor<2xi32>
  %2 = stablehlo.einsum %x, %y, config = "ab,cd->ad" : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %2, dense<[[60606, 606060], [151515, 1515150]]> : tensor<2x2xi32>
  %3 = stablehlo.unary_einsum %x, config = "ab->b" : (tensor<2x3xi32>) -> tensor<3xi32>
  check.expect_eq_const %3, dense<[5, 7, 9]> : tensor<3xi32>
  return
}

// -----

func.func @rows_by_index() {
  %x = stablehlo.constant dense<[[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]> : tensor<2x3x2xi32>
  %i = stablehlo.constant dense<[2, 0]> : tensor<2xi64>
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<2x3x2xi32>, tensor<2xi64>) -> tensor<2x2x2xi32>
  check.expect_eq_const %0, dense<[[[5, 6], [1, 2]], [[11, 12], [7, 8]]]> : tensor<2x2x2xi32>
  %j = stablehlo.constant dense<[[2], [1]]> : tensor<2x1xi64>
  %1 = "stablehlo.torch_index_select"(%x, %j) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3x2xi32>, tensor<2x1xi64>) -> tensor<2x1x2xi32>
  check.expect_eq_const %1, dense<[[[5, 6]], [[9, 10]]]> : tensor<2x1x2xi32>
  return
}

// -----

// By real parts, then by imaginary ones.
func.func @less_and_greater_of_complex() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (1.0, -2.0), (3.0, 0.0)]> : tensor<3xcomplex<f64>>
  %b = stablehlo.constant dense<[(1.0, 1.0), (2.0, -5.0), (-3.0, 7.0)]> : tensor<3xcomplex<f64>>
  %0 = stablehlo.minimum %a, %b : tensor<3xcomplex<f64>>
  check.expect_eq_const %0, dense<[(1.0, 1.0), (1.0, -2.0), (-3.0, 7.0)]> : tensor<3xcomplex<f64>>
  %1 = stablehlo.maximum %a, %b : tensor<3xcomplex<f64>>
  check.expect_eq_const %1, dense<[(1.0, 2.0), (2.0, -5.0), (3.0, 0.0)]> : tensor<3xcomplex<f64>>
  return
}

// -----

// 0x3FF0000000000000 is 1.0, 0x40080000 is 2.125 and 0x40000000 2.0; little endian, real parts first.
func.func @bits_of_complex() {
  %a = stablehlo.constant dense<(1.0, -2.0)> : tensor<complex<f64>>
  %0 = stablehlo.bitcast_convert %a : (tensor<complex<f64>>) -> tensor<2xcomplex<f32>>
  check.expect_eq_const %0, dense<[(0.0, 1.875), (0.0, -2.0)]> : tensor<2xcomplex<f32>>
  %1 = stablehlo.bitcast_convert %a : (tensor<complex<f64>>) -> tensor<2xi64>
  check.expect_eq_const %1, dense<[0x3FF0000000000000, 0xC000000000000000]> : tensor<2xi64>
  %2 = stablehlo.bitcast_convert %a : (tensor<complex<f64>>) -> tensor<8xi16>
  check.expect_eq_const %2, dense<[0, 0, 0, 0x3FF0, 0, 0, 0, 0xC000]> : tensor<8xi16>
  %3 = stablehlo.bitcast_convert %2 : (tensor<8xi16>) -> tensor<complex<f64>>
  check.expect_eq %3, %a : tensor<complex<f64>>
  %4 = stablehlo.bitcast_convert %0 : (tensor<2xcomplex<f32>>) -> tensor<complex<f64>>
  check.expect_eq %4, %a : tensor<complex<f64>>
  %5 = stablehlo.bitcast_convert %0 : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  check.expect_eq %5, %0 : tensor<2xcomplex<f32>>
  return
}

// -----

// 5.1 lies between 4 and 6 in f4E2M1FN, 2.5 between 2 and 3: to even; 99 is more than the largest.
func.func @floats_of_four_and_six_bits() {
  %a = stablehlo.constant dense<[5.1, 2.5, 0.2, 99.0, -0.75]> : tensor<5xf32>
  %0 = stablehlo.convert %a : (tensor<5xf32>) -> tensor<5xf4E2M1FN>
  check.expect_eq_const %0, dense<[6.0, 2.0, 0.0, 6.0, -1.0]> : tensor<5xf4E2M1FN>
  %1 = stablehlo.convert %a : (tensor<5xf32>) -> tensor<5xf6E2M3FN>
  %2 = stablehlo.convert %1 : (tensor<5xf6E2M3FN>) -> tensor<5xf32>
  check.expect_eq_const %2, dense<[5.0, 2.5, 0.25, 7.5, -0.75]> : tensor<5xf32>
  %3 = stablehlo.convert %a : (tensor<5xf32>) -> tensor<5xf6E3M2FN>
  %4 = stablehlo.add %3, %3 : tensor<5xf6E3M2FN>
  %5 = stablehlo.reverse %4, dims = [0] : tensor<5xf6E3M2FN>
  check.expect_eq_const %5, dense<[-1.5, 28.0, 0.375, 5.0, 10.0]> : tensor<5xf6E3M2FN>
  return
}

// -----

func.func @probed() {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %0 = interpreter.probe %c4, probe_id = "outside" : tensor<i32>
  %1 = interpreter.print %0 : tensor<i32>
  check.expect_serialized_eq %1, probe_id = "outside" : tensor<i32>
  %2 = stablehlo.while(%i = %c0) : tensor<i32>
  cond {
    %3 = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = stablehlo.add %i, %c1 : tensor<i32>
    %4 = interpreter.probe %3, probe_id = "inside" : tensor<i32>
    stablehlo.return %4 : tensor<i32>
  }
  check.expect_serialized_eq %c1, probe_id = "inside" : tensor<i32>
  check.expect_serialized_eq %c3, probe_id = "inside", iter = 2 : tensor<i32>
  return
}

// -----

func.func @nested_tuples() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %b = stablehlo.constant dense<3> : tensor<i64>
  %0 = stablehlo.tuple %b : tuple<tensor<i64>>
  %1 = stablehlo.tuple %a, %0 : tuple<tensor<2xf64>, tuple<tensor<i64>>>
  %2 = stablehlo.get_tuple_element %1[1] : (tuple<tensor<2xf64>, tuple<tensor<i64>>>) -> tuple<tensor<i64>>
  %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<i64>>) -> tensor<i64>
  check.expect_eq_const %3, dense<3> : tensor<i64>
  return
}

// -----

// What is not finite is 2^64 - 1 numbers away from all else, and no number from itself.
func.func @distances_of_what_is_not_finite() {
  %a = stablehlo.constant dense<[0x7F800000, 0x7F800000, 0x7FC00000]> : tensor<3xf32>
  %b = stablehlo.constant dense<[0xFF800000, 0x7F7FFFFF, 1.0]> : tensor<3xf32>
  check.expect_close %a, %b, max_ulp_difference = 18446744073709551615, min_ulp_difference = 18446744073709551615 : tensor<3xf32>, tensor<3xf32>
  check.expect_close %a, %a, max_ulp_difference = 0, min_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  %2 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %3 = stablehlo.constant dense<[(1.0, 2.00005), (3.0, 4.5)]> : tensor<2xcomplex<f32>>
  %4 = check.eq %2, %3 : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  check.expect_eq_const %4, dense<[true, false]> : tensor<2xi1>
  return
}
