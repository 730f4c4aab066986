// Ops on small tensors, each with its sharding rule. Read by two tests: the brute
// force of test/Unit/Rules, and test/Execution/rules, which runs them on ranks.
// The last op of each function is the one under test. Arguments of i32 are
// indices, of which some are out of range.

// FAMILY elementwise

// CASE add
// RULE ([a, b], [a, b]) -> ([a, b]) {a=5, b=3}
func.func @main(%a: tensor<5x3xi64>, %b: tensor<5x3xi64>) -> tensor<5x3xi64> {
  %0 = stablehlo.add %a, %b : tensor<5x3xi64>
  return %0 : tensor<5x3xi64>
}

// CASE scalar_add
// RULE ([], []) -> ([]) {}
func.func @main(%a: tensor<i64>, %b: tensor<i64>) -> tensor<i64> {
  %0 = stablehlo.add %a, %b : tensor<i64>
  return %0 : tensor<i64>
}

// CASE exponential
// RULE ([a, b]) -> ([a, b]) {a=4, b=1}
func.func @main(%a: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = stablehlo.exponential %a : tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// CASE compare
// RULE ([a], [a]) -> ([a]) {a=7}
func.func @main(%a: tensor<7xi64>, %b: tensor<7xi64>) -> tensor<7xi1> {
  %0 = stablehlo.compare GT, %a, %b, SIGNED : (tensor<7xi64>, tensor<7xi64>) -> tensor<7xi1>
  return %0 : tensor<7xi1>
}

// CASE select
// RULE ([a, b], [a, b], [a, b]) -> ([a, b]) {a=5, b=2}
func.func @main(%p: tensor<5x2xi1>, %a: tensor<5x2xi64>, %b: tensor<5x2xi64>) -> tensor<5x2xi64> {
  %0 = stablehlo.select %p, %a, %b : tensor<5x2xi1>, tensor<5x2xi64>
  return %0 : tensor<5x2xi64>
}

// CASE select_by_scalar
// RULE ([], [a, b], [a, b]) -> ([a, b]) {a=5, b=2}
func.func @main(%p: tensor<i1>, %a: tensor<5x2xi64>, %b: tensor<5x2xi64>) -> tensor<5x2xi64> {
  %0 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<5x2xi64>
  return %0 : tensor<5x2xi64>
}

// CASE clamp_to_scalars
// RULE ([], [a], []) -> ([a]) {a=6}
func.func @main(%l: tensor<i64>, %a: tensor<6xi64>, %h: tensor<i64>) -> tensor<6xi64> {
  %0 = stablehlo.clamp %l, %a, %h : (tensor<i64>, tensor<6xi64>, tensor<i64>) -> tensor<6xi64>
  return %0 : tensor<6xi64>
}

// CASE clamp
// RULE ([a], [a], [a]) -> ([a]) {a=6}
func.func @main(%l: tensor<6xi64>, %a: tensor<6xi64>, %h: tensor<6xi64>) -> tensor<6xi64> {
  %0 = stablehlo.clamp %l, %a, %h : tensor<6xi64>
  return %0 : tensor<6xi64>
}

// CASE convert
// RULE ([a]) -> ([a]) {a=5}
func.func @main(%a: tensor<5xi64>) -> tensor<5xf32> {
  %0 = stablehlo.convert %a : (tensor<5xi64>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CASE complex
// RULE ([a], [a]) -> ([a]) {a=5}
func.func @main(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<5xcomplex<f32>> {
  %0 = stablehlo.complex %a, %b : tensor<5xcomplex<f32>>
  return %0 : tensor<5xcomplex<f32>>
}

// CASE real
// RULE ([a]) -> ([a]) {a=5}
func.func @main(%a: tensor<5xcomplex<f32>>) -> tensor<5xf32> {
  %0 = stablehlo.real %a : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CASE reduce_precision
// RULE ([a]) -> ([a]) {a=5}
func.func @main(%a: tensor<5xf32>) -> tensor<5xf32> {
  %0 = stablehlo.reduce_precision %a, format = e8m7 : tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CASE empty_dim
// RULE ([a, b], [a, b]) -> ([a, b]) {a=0, b=3}
func.func @main(%a: tensor<0x3xi64>, %b: tensor<0x3xi64>) -> tensor<0x3xi64> {
  %0 = stablehlo.add %a, %b : tensor<0x3xi64>
  return %0 : tensor<0x3xi64>
}

// CASE chlo_erf
// RULE ([a, b]) -> ([a, b]) {a=5, b=2}
func.func @main(%a: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %0 = chlo.erf %a : tensor<5x2xf32> -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// CASE bitcast_same_width
// RULE ([a, b]) -> ([a, b]) {a=5, b=2}
func.func @main(%a: tensor<5x2xui32>) -> tensor<5x2xf32> {
  %0 = stablehlo.bitcast_convert %a : (tensor<5x2xui32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// CASE bitcast_narrower
// RULE ([a]) -> ([a, b]) {a=5, b=2 whole}
func.func @main(%a: tensor<5xf64>) -> tensor<5x2xui32> {
  %0 = stablehlo.bitcast_convert %a : (tensor<5xf64>) -> tensor<5x2xui32>
  return %0 : tensor<5x2xui32>
}

// CASE bitcast_wider
// RULE ([a, b]) -> ([a]) {a=5, b=2 whole}
func.func @main(%a: tensor<5x2xui32>) -> tensor<5xf64> {
  %0 = stablehlo.bitcast_convert %a : (tensor<5x2xui32>) -> tensor<5xf64>
  return %0 : tensor<5xf64>
}

// CASE optimization_barrier
// RULE ([a, b], [c]) -> ([a, b], [c]) {a=5, b=2, c=3}
func.func @main(%a: tensor<5x2xi64>, %b: tensor<3xi64>) -> (tensor<5x2xi64>, tensor<3xi64>) {
  %0:2 = stablehlo.optimization_barrier %a, %b : tensor<5x2xi64>, tensor<3xi64>
  return %0#0, %0#1 : tensor<5x2xi64>, tensor<3xi64>
}

// FAMILY sources

// CASE splat
// RULE () -> ([a, b]) {a=5, b=2}
func.func @main() -> tensor<5x2xi64> {
  %0 = stablehlo.constant dense<7> : tensor<5x2xi64>
  return %0 : tensor<5x2xi64>
}

// CASE scalar_constant
// RULE () -> ([]) {}
func.func @main() -> tensor<i64> {
  %0 = stablehlo.constant dense<7> : tensor<i64>
  return %0 : tensor<i64>
}

// CASE constant
// RULE () -> ([a, b]) {a=5, b=2}
func.func @main() -> tensor<5x2xi64> {
  %0 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]> : tensor<5x2xi64>
  return %0 : tensor<5x2xi64>
}

// CASE iota_rows
// RULE () -> ([a, b]) {a=5, b=3}
func.func @main() -> tensor<5x3xi64> {
  %0 = stablehlo.iota dim = 0 : tensor<5x3xi64>
  return %0 : tensor<5x3xi64>
}

// CASE iota_columns
// RULE () -> ([a, b]) {a=5, b=3}
func.func @main() -> tensor<5x3xi64> {
  %0 = stablehlo.iota dim = 1 : tensor<5x3xi64>
  return %0 : tensor<5x3xi64>
}

// CASE iota_float
// RULE () -> ([a]) {a=7}
func.func @main() -> tensor<7xbf16> {
  %0 = stablehlo.iota dim = 0 : tensor<7xbf16>
  return %0 : tensor<7xbf16>
}

// CASE iota_unsigned
// RULE () -> ([a]) {a=7}
func.func @main() -> tensor<7xui32> {
  %0 = stablehlo.iota dim = 0 : tensor<7xui32>
  return %0 : tensor<7xui32>
}

// FAMILY shapes

// CASE broadcast_rows
// RULE ([b]) -> ([a, b]) {a=5, b=3}
func.func @main(%a: tensor<3xi64>) -> tensor<5x3xi64> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xi64>) -> tensor<5x3xi64>
  return %0 : tensor<5x3xi64>
}

// CASE broadcast_scalar
// RULE ([]) -> ([a, b]) {a=5, b=3}
func.func @main(%a: tensor<i64>) -> tensor<5x3xi64> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<i64>) -> tensor<5x3xi64>
  return %0 : tensor<5x3xi64>
}

// CASE broadcast_expanding
// RULE ([a, 0]) -> ([a, b, c]) {a=5, b=2, c=4}
func.func @main(%a: tensor<5x1xi64>) -> tensor<5x2x4xi64> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<5x1xi64>) -> tensor<5x2x4xi64>
  return %0 : tensor<5x2x4xi64>
}

// CASE broadcast_unit_kept
// RULE ([a, b]) -> ([a, b]) {a=1, b=4}
func.func @main(%a: tensor<1x4xi64>) -> tensor<1x4xi64> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<1x4xi64>) -> tensor<1x4xi64>
  return %0 : tensor<1x4xi64>
}

// CASE broadcast_transposing
// RULE ([b, a]) -> ([a, b]) {a=3, b=5}
func.func @main(%a: tensor<5x3xi64>) -> tensor<3x5xi64> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 0] : (tensor<5x3xi64>) -> tensor<3x5xi64>
  return %0 : tensor<3x5xi64>
}

// CASE broadcast_leading
// RULE ([c]) -> ([a, b, c]) {a=4, b=2, c=3}
func.func @main(%a: tensor<3xi64>) -> tensor<4x2x3xi64> {
  %0 = stablehlo.broadcast %a, sizes = [4, 2] : (tensor<3xi64>) -> tensor<4x2x3xi64>
  return %0 : tensor<4x2x3xi64>
}

// CASE transpose
// RULE ([a, b, c]) -> ([c, a, b]) {a=5, b=3, c=2}
func.func @main(%a: tensor<5x3x2xi64>) -> tensor<2x5x3xi64> {
  %0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<5x3x2xi64>) -> tensor<2x5x3xi64>
  return %0 : tensor<2x5x3xi64>
}

// CASE reverse
// RULE ([-a + 6, b]) -> ([a, b]) {a=7, b=3}
func.func @main(%a: tensor<7x3xi64>) -> tensor<7x3xi64> {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<7x3xi64>
  return %0 : tensor<7x3xi64>
}

// CASE reverse_all
// RULE ([-a + 6, -b + 2]) -> ([a, b]) {a=7, b=3}
func.func @main(%a: tensor<7x3xi64>) -> tensor<7x3xi64> {
  %0 = stablehlo.reverse %a, dims = [0, 1] : tensor<7x3xi64>
  return %0 : tensor<7x3xi64>
}

// CASE reshape_split
// RULE ([4*a + b]) -> ([a, b]) {a=3, b=4}
func.func @main(%a: tensor<12xi64>) -> tensor<3x4xi64> {
  %0 = stablehlo.reshape %a : (tensor<12xi64>) -> tensor<3x4xi64>
  return %0 : tensor<3x4xi64>
}

// CASE reshape_split_three
// RULE ([a, 6*b + 2*c + d]) -> ([a, b, c, d]) {a=2, b=4, c=3, d=2}
func.func @main(%a: tensor<2x24xi64>) -> tensor<2x4x3x2xi64> {
  %0 = stablehlo.reshape %a : (tensor<2x24xi64>) -> tensor<2x4x3x2xi64>
  return %0 : tensor<2x4x3x2xi64>
}

// CASE reshape_merge
// RULE ([a, b]) -> ([4*a + b]) {a=5, b=4 whole}
func.func @main(%a: tensor<5x4xi64>) -> tensor<20xi64> {
  %0 = stablehlo.reshape %a : (tensor<5x4xi64>) -> tensor<20xi64>
  return %0 : tensor<20xi64>
}

// CASE reshape_regroup
// RULE ([a, 3*b + c]) -> ([2*a + b, c]) {a=4, b=2 whole, c=3}
func.func @main(%a: tensor<4x6xi64>) -> tensor<8x3xi64> {
  %0 = stablehlo.reshape %a : (tensor<4x6xi64>) -> tensor<8x3xi64>
  return %0 : tensor<8x3xi64>
}

// CASE reshape_common_major
// RULE ([3*a + b, e]) -> ([2*a + c, d]) {a=2, b=3 whole, c=2 whole, d=6 whole, e=4 whole}
func.func @main(%a: tensor<6x4xi64>) -> tensor<4x6xi64> {
  %0 = stablehlo.reshape %a : (tensor<6x4xi64>) -> tensor<4x6xi64>
  return %0 : tensor<4x6xi64>
}

// CASE reshape_unrelated
// RULE ([a, c, e]) -> ([b, d, e]) {a=2 whole, b=3 whole, c=3 whole, d=2 whole, e=5}
func.func @main(%a: tensor<2x3x5xi64>) -> tensor<3x2x5xi64> {
  %0 = stablehlo.reshape %a : (tensor<2x3x5xi64>) -> tensor<3x2x5xi64>
  return %0 : tensor<3x2x5xi64>
}

// CASE reshape_units
// RULE ([0, a, 0, b]) -> ([a, b, 0]) {a=5, b=3}
func.func @main(%a: tensor<1x5x1x3xi64>) -> tensor<5x3x1xi64> {
  %0 = stablehlo.reshape %a : (tensor<1x5x1x3xi64>) -> tensor<5x3x1xi64>
  return %0 : tensor<5x3x1xi64>
}

// CASE reshape_to_scalar
// RULE ([0, 0]) -> ([]) {}
func.func @main(%a: tensor<1x1xi64>) -> tensor<i64> {
  %0 = stablehlo.reshape %a : (tensor<1x1xi64>) -> tensor<i64>
  return %0 : tensor<i64>
}

// CASE reshape_empty
// RULE ([a, b]) -> ([c, d]) {a=0 whole, b=3 whole, c=5 whole, d=0 whole}
func.func @main(%a: tensor<0x3xi64>) -> tensor<5x0xi64> {
  %0 = stablehlo.reshape %a : (tensor<0x3xi64>) -> tensor<5x0xi64>
  return %0 : tensor<5x0xi64>
}

// CASE reshape_batch_merge
// RULE ([a, b, c]) -> ([a, 4*b + c]) {a=2, b=3, c=4 whole}
func.func @main(%a: tensor<2x3x4xi64>) -> tensor<2x12xi64> {
  %0 = stablehlo.reshape %a : (tensor<2x3x4xi64>) -> tensor<2x12xi64>
  return %0 : tensor<2x12xi64>
}

// FAMILY parts

// CASE slice
// RULE ([a + 2, b]) -> ([a, b]) {a=6, b=6}
func.func @main(%a: tensor<9x6xi64>) -> tensor<6x6xi64> {
  %0 = stablehlo.slice %a [2:8, 0:6] : (tensor<9x6xi64>) -> tensor<6x6xi64>
  return %0 : tensor<6x6xi64>
}

// CASE slice_strided
// RULE ([3*a + 1, 2*b]) -> ([a, b]) {a=3, b=3}
func.func @main(%a: tensor<11x6xi64>) -> tensor<3x3xi64> {
  %0 = stablehlo.slice %a [1:10:3, 0:6:2] : (tensor<11x6xi64>) -> tensor<3x3xi64>
  return %0 : tensor<3x3xi64>
}

// CASE pad
// RULE ([a - 2, b], []) -> ([a, b]) {a=8, b=6}
func.func @main(%a: tensor<5x3xi64>, %v: tensor<i64>) -> tensor<8x6xi64> {
  %0 = stablehlo.pad %a, %v, low = [2, 0], high = [1, 3], interior = [0, 0] : (tensor<5x3xi64>, tensor<i64>) -> tensor<8x6xi64>
  return %0 : tensor<8x6xi64>
}

// CASE pad_interior
// RULE ([(a - 1)/3], []) -> ([a]) {a=16}
func.func @main(%a: tensor<5xi64>, %v: tensor<i64>) -> tensor<16xi64> {
  %0 = stablehlo.pad %a, %v, low = [1], high = [2], interior = [2] : (tensor<5xi64>, tensor<i64>) -> tensor<16xi64>
  return %0 : tensor<16xi64>
}

// CASE pad_negative
// RULE ([a + 2], []) -> ([a]) {a=6}
func.func @main(%a: tensor<9xi64>, %v: tensor<i64>) -> tensor<6xi64> {
  %0 = stablehlo.pad %a, %v, low = [-2], high = [-1], interior = [0] : (tensor<9xi64>, tensor<i64>) -> tensor<6xi64>
  return %0 : tensor<6xi64>
}

// CASE pad_negative_interior
// RULE ([(a + 1)/2], []) -> ([a]) {a=8}
func.func @main(%a: tensor<6xi64>, %v: tensor<i64>) -> tensor<8xi64> {
  %0 = stablehlo.pad %a, %v, low = [-1], high = [-2], interior = [1] : (tensor<6xi64>, tensor<i64>) -> tensor<8xi64>
  return %0 : tensor<8xi64>
}

// CASE concatenate
// RULE ([a, b], [a - 3, b], [a - 7, b]) -> ([a, b]) {a=8, b=2}
func.func @main(%a: tensor<3x2xi64>, %b: tensor<4x2xi64>, %c: tensor<1x2xi64>) -> tensor<8x2xi64> {
  %0 = stablehlo.concatenate %a, %b, %c, dim = 0 : (tensor<3x2xi64>, tensor<4x2xi64>, tensor<1x2xi64>) -> tensor<8x2xi64>
  return %0 : tensor<8x2xi64>
}

// CASE concatenate_empty
// RULE ([a, b], [a, b]) -> ([a, b]) {a=4, b=2}
func.func @main(%a: tensor<0x2xi64>, %b: tensor<4x2xi64>) -> tensor<4x2xi64> {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<0x2xi64>, tensor<4x2xi64>) -> tensor<4x2xi64>
  return %0 : tensor<4x2xi64>
}

// CASE dynamic_slice
// RULE ([a, c], [], []) -> ([b, c]) {a=6 travels, b=2, c=5}
func.func @main(%a: tensor<6x5xi64>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<2x5xi64> {
  %0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [2, 5] : (tensor<6x5xi64>, tensor<i32>, tensor<i32>) -> tensor<2x5xi64>
  return %0 : tensor<2x5xi64>
}

// CASE dynamic_slice_of_all_but_one
// RULE ([a + b, c], [], []) -> ([a, c]) {a=8, b=2 whole, c=5}
func.func @main(%a: tensor<9x5xi64>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<8x5xi64> {
  %0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [8, 5] : (tensor<9x5xi64>, tensor<i32>, tensor<i32>) -> tensor<8x5xi64>
  return %0 : tensor<8x5xi64>
}

// CASE dynamic_update_slice
// RULE ([a, c], [b, c], [], []) -> ([a, c]) {a=6 distributed, b=2 travels, c=5}
func.func @main(%a: tensor<6x5xi64>, %u: tensor<2x5xi64>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<6x5xi64> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %j : (tensor<6x5xi64>, tensor<2x5xi64>, tensor<i32>, tensor<i32>) -> tensor<6x5xi64>
  return %0 : tensor<6x5xi64>
}

// FAMILY reductions

// CASE reduce_add
// RULE ([a, b], []) -> ([b]) {a=5 sum, b=3}
func.func @main(%a: tensor<5x3xi64>) -> tensor<3xi64> {
  %z = stablehlo.constant dense<0> : tensor<i64>
%0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<5x3xi64>, tensor<i64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// CASE reduce_add_from
// RULE ([a, b], []) -> ([b]) {a=5 sum, b=3}
func.func @main(%a: tensor<5x3xi64>, %z: tensor<i64>) -> tensor<3xi64> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<5x3xi64>, tensor<i64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// CASE reduce_multiply_from
// RULE ([a, b], []) -> ([b]) {a=5 product, b=3}
func.func @main(%a: tensor<5x3xi64>, %z: tensor<i64>) -> tensor<3xi64> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.multiply across dimensions = [0] : (tensor<5x3xi64>, tensor<i64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// CASE reduce_max
// RULE ([a, b], []) -> ([b]) {a=5 max, b=3}
func.func @main(%a: tensor<5x3xi64>) -> tensor<3xi64> {
  %z = stablehlo.constant dense<-100> : tensor<i64>
%0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<5x3xi64>, tensor<i64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// CASE reduce_min_from
// RULE ([a, b], []) -> ([b]) {a=5 min, b=3}
func.func @main(%a: tensor<5x3xi64>, %z: tensor<i64>) -> tensor<3xi64> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.minimum across dimensions = [0] : (tensor<5x3xi64>, tensor<i64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// CASE reduce_and
// RULE ([a, b], []) -> ([b]) {a=5 and, b=3}
func.func @main(%a: tensor<5x3xi1>) -> tensor<3xi1> {
  %z = stablehlo.constant dense<true> : tensor<i1>
%0 = stablehlo.reduce(%a init: %z) applies stablehlo.and across dimensions = [0] : (tensor<5x3xi1>, tensor<i1>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// CASE reduce_or_from
// RULE ([a, b], []) -> ([b]) {a=5 or, b=3}
func.func @main(%a: tensor<5x3xi1>, %z: tensor<i1>) -> tensor<3xi1> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.or across dimensions = [0] : (tensor<5x3xi1>, tensor<i1>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// CASE reduce_xor_from
// RULE ([a, b], []) -> ([b]) {a=5 xor, b=3}
func.func @main(%a: tensor<5x3xi64>, %z: tensor<i64>) -> tensor<3xi64> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.xor across dimensions = [0] : (tensor<5x3xi64>, tensor<i64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// CASE reduce_add_of_bools
// RULE ([a, b], []) -> ([b]) {a=5 or, b=3}
func.func @main(%a: tensor<5x3xi1>) -> tensor<3xi1> {
  %z = stablehlo.constant dense<false> : tensor<i1>
%0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<5x3xi1>, tensor<i1>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// CASE reduce_all
// RULE ([a, b], []) -> ([]) {a=5 sum, b=3 sum}
func.func @main(%a: tensor<5x3xi64>) -> tensor<i64> {
  %z = stablehlo.constant dense<0> : tensor<i64>
%0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xi64>, tensor<i64>) -> tensor<i64>
  return %0 : tensor<i64>
}

// CASE reduce_unknown_body
// RULE ([a, b], []) -> ([a]) {a=5, b=3 distributed}
func.func @main(%a: tensor<5x3xi64>, %z: tensor<i64>) -> tensor<5xi64> {
  %0 = stablehlo.reduce(%a init: %z) across dimensions = [1] : (tensor<5x3xi64>, tensor<i64>) -> tensor<5xi64>
     reducer(%x: tensor<i64>, %y: tensor<i64>) {
      %n = stablehlo.constant dense<0> : tensor<i64>
      %g = stablehlo.compare GT, %y, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %s = stablehlo.select %g, %y, %x : tensor<i1>, tensor<i64>
      stablehlo.return %s : tensor<i64>
    }
  return %0 : tensor<5xi64>
}

// CASE reduce_unknown_body_two_dims
// RULE ([a, b], []) -> ([]) {a=5 distributed, b=3 whole}
func.func @main(%a: tensor<5x3xi64>, %z: tensor<i64>) -> tensor<i64> {
  %0 = stablehlo.reduce(%a init: %z) across dimensions = [0, 1] : (tensor<5x3xi64>, tensor<i64>) -> tensor<i64>
     reducer(%x: tensor<i64>, %y: tensor<i64>) {
      %n = stablehlo.constant dense<0> : tensor<i64>
      %g = stablehlo.compare GT, %y, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %s = stablehlo.select %g, %y, %x : tensor<i1>, tensor<i64>
      stablehlo.return %s : tensor<i64>
    }
  return %0 : tensor<i64>
}

// CASE argmax
// RULE ([a, b], [a, b], [], []) -> ([a], [a]) {a=5, b=3 distributed}
func.func @main(%a: tensor<5x3xi64>, %i: tensor<5x3xi64>, %z: tensor<i64>, %k: tensor<i64>) -> (tensor<5xi64>, tensor<5xi64>) {
  %0:2 = stablehlo.reduce(%a init: %z), (%i init: %k) across dimensions = [1] : (tensor<5x3xi64>, tensor<5x3xi64>, tensor<i64>, tensor<i64>) -> (tensor<5xi64>, tensor<5xi64>)
     reducer(%x: tensor<i64>, %y: tensor<i64>) (%p: tensor<i64>, %q: tensor<i64>) {
      %g = stablehlo.compare GE, %x, %y, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %v = stablehlo.select %g, %x, %y : tensor<i1>, tensor<i64>
      %w = stablehlo.select %g, %p, %q : tensor<i1>, tensor<i64>
      stablehlo.return %v, %w : tensor<i64>, tensor<i64>
    }
  return %0#0, %0#1 : tensor<5xi64>, tensor<5xi64>
}

// CASE reduce_two_sums
// RULE ([a, b], [a, b], [], []) -> ([b], [b]) {a=5 sum, b=3}
func.func @main(%a: tensor<5x3xi64>, %b: tensor<5x3xi64>, %y: tensor<i64>, %z: tensor<i64>) -> (tensor<3xi64>, tensor<3xi64>) {
  %0:2 = stablehlo.reduce(%a init: %y), (%b init: %z) across dimensions = [0] : (tensor<5x3xi64>, tensor<5x3xi64>, tensor<i64>, tensor<i64>) -> (tensor<3xi64>, tensor<3xi64>)
     reducer(%p: tensor<i64>, %r: tensor<i64>) (%q: tensor<i64>, %s: tensor<i64>) {
      %v = stablehlo.add %p, %r : tensor<i64>
      %w = stablehlo.add %s, %q : tensor<i64>
      stablehlo.return %v, %w : tensor<i64>, tensor<i64>
    }
  return %0#0, %0#1 : tensor<3xi64>, tensor<3xi64>
}

// FAMILY contractions

// CASE matmul
// RULE ([b, a], [a, c]) -> ([b, c]) {a=4 sum, b=5, c=3}
func.func @main(%a: tensor<5x4xi64>, %b: tensor<4x3xi64>) -> tensor<5x3xi64> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x4xi64>, tensor<4x3xi64>) -> tensor<5x3xi64>
  return %0 : tensor<5x3xi64>
}

// CASE batched_matmul
// RULE ([a, d, b, c], [b, c, a, e]) -> ([a, b, d, e]) {a=2, b=3, c=4 sum, d=5, e=2}
func.func @main(%a: tensor<2x5x3x4xi64>, %b: tensor<3x4x2x2xi64>) -> tensor<2x3x5x2xi64> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0, 2] x [2, 0], contracting_dims = [3] x [1] : (tensor<2x5x3x4xi64>, tensor<3x4x2x2xi64>) -> tensor<2x3x5x2xi64>
  return %0 : tensor<2x3x5x2xi64>
}

// CASE outer_product
// RULE ([a], [b]) -> ([a, b]) {a=5, b=3}
func.func @main(%a: tensor<5xi64>, %b: tensor<3xi64>) -> tensor<5x3xi64> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (tensor<5xi64>, tensor<3xi64>) -> tensor<5x3xi64>
  return %0 : tensor<5x3xi64>
}

// CASE two_contracted_dims
// RULE ([c, b, a], [a, b, d]) -> ([c, d]) {a=2 sum, b=4 sum, c=5, d=3}
func.func @main(%a: tensor<5x4x2xi64>, %b: tensor<2x4x3xi64>) -> tensor<5x3xi64> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [2, 1] x [0, 1] : (tensor<5x4x2xi64>, tensor<2x4x3xi64>) -> tensor<5x3xi64>
  return %0 : tensor<5x3xi64>
}

// CASE dot_of_bools
// RULE ([b, a], [a, c]) -> ([b, c]) {a=4 or, b=5, c=3}
func.func @main(%a: tensor<5x4xi1>, %b: tensor<4x3xi1>) -> tensor<5x3xi1> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x4xi1>, tensor<4x3xi1>) -> tensor<5x3xi1>
  return %0 : tensor<5x3xi1>
}

// CASE dot_of_vectors
// RULE ([a], [a]) -> ([]) {a=5 sum}
func.func @main(%a: tensor<5xi64>, %b: tensor<5xi64>) -> tensor<i64> {
  %0 = stablehlo.dot %a, %b : (tensor<5xi64>, tensor<5xi64>) -> tensor<i64>
  return %0 : tensor<i64>
}

// CASE dot_of_a_band
// RULE ([a, b], [c, d]) -> ([b, d]) {a=6 whole, b=5, c=6 travels, d=3}
func.func @main(%w: tensor<6x5xi64>, %x: tensor<6x3xi64>) -> tensor<5x3xi64> {
  %zero = stablehlo.constant dense<0> : tensor<6x5xi64>
  %begins = stablehlo.constant dense<[0, 1, 2, 4, 4]> : tensor<5xi32>
  %ends = stablehlo.constant dense<[2, 3, 2, 5, 6]> : tensor<5xi32>
  %rows = stablehlo.iota dim = 0 : tensor<6x5xi32>
  %begin = stablehlo.broadcast_in_dim %begins, dims = [1] : (tensor<5xi32>) -> tensor<6x5xi32>
  %end = stablehlo.broadcast_in_dim %ends, dims = [1] : (tensor<5xi32>) -> tensor<6x5xi32>
  %behind = stablehlo.compare GE, %rows, %begin, SIGNED : (tensor<6x5xi32>, tensor<6x5xi32>) -> tensor<6x5xi1>
  %before = stablehlo.compare LT, %rows, %end, SIGNED : (tensor<6x5xi32>, tensor<6x5xi32>) -> tensor<6x5xi1>
  %inside = stablehlo.and %behind, %before : tensor<6x5xi1>
  %band = stablehlo.select %inside, %w, %zero : tensor<6x5xi1>, tensor<6x5xi64>
  %0 = stablehlo.dot_general %band, %x, contracting_dims = [0] x [0] : (tensor<6x5xi64>, tensor<6x3xi64>) -> tensor<5x3xi64>
  return %0 : tensor<5x3xi64>
}

// CASE dot_with_a_band
// RULE ([d, c], [b, a]) -> ([d, b]) {a=6 whole, b=7, c=6 travels, d=3}
func.func @main(%w: tensor<7x6xi64>, %x: tensor<3x6xi64>) -> tensor<3x7xi64> {
  %zero = stablehlo.constant dense<0> : tensor<7x6xi64>
  %begins = stablehlo.constant dense<[0, 0, 1, 2, 3, 4, 4]> : tensor<7xi32>
  %ends = stablehlo.constant dense<[1, 2, 3, 4, 5, 6, 6]> : tensor<7xi32>
  %rows = stablehlo.iota dim = 1 : tensor<7x6xi32>
  %begin = stablehlo.broadcast_in_dim %begins, dims = [0] : (tensor<7xi32>) -> tensor<7x6xi32>
  %end = stablehlo.broadcast_in_dim %ends, dims = [0] : (tensor<7xi32>) -> tensor<7x6xi32>
  %behind = stablehlo.compare GE, %rows, %begin, SIGNED : (tensor<7x6xi32>, tensor<7x6xi32>) -> tensor<7x6xi1>
  %before = stablehlo.compare LT, %rows, %end, SIGNED : (tensor<7x6xi32>, tensor<7x6xi32>) -> tensor<7x6xi1>
  %inside = stablehlo.and %behind, %before : tensor<7x6xi1>
  %band = stablehlo.select %inside, %w, %zero : tensor<7x6xi1>, tensor<7x6xi64>
  %0 = stablehlo.dot_general %x, %band, contracting_dims = [1] x [1] : (tensor<3x6xi64>, tensor<7x6xi64>) -> tensor<3x7xi64>
  return %0 : tensor<3x7xi64>
}

// CASE convolution
// RULE ([a, d + e - 1, b], [e, b, c]) -> ([a, d, c]) {a=2, b=2 sum, c=3, d=7, e=3 sum}
func.func @main(%a: tensor<2x7x2xi64>, %w: tensor<3x2x3xi64>) -> tensor<2x7x3xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x7x2xi64>, tensor<3x2x3xi64>) -> tensor<2x7x3xi64>
  return %0 : tensor<2x7x3xi64>
}

// CASE convolution_no_window
// RULE ([a, d + e, b], [e, b, c]) -> ([a, d, c]) {a=1, b=1 sum, c=1, d=5, e=3 sum}
func.func @main(%a: tensor<1x7x1xi64>, %w: tensor<3x1x1xi64>) -> tensor<1x5x1xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x7x1xi64>, tensor<3x1x1xi64>) -> tensor<1x5x1xi64>
  return %0 : tensor<1x5x1xi64>
}

// CASE convolution_strided
// RULE ([a, 2*d + e, b], [e, b, c]) -> ([a, d, c]) {a=1, b=1 sum, c=2, d=4, e=3 sum}
func.func @main(%a: tensor<1x9x1xi64>, %w: tensor<3x1x2xi64>) -> tensor<1x4x2xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x1xi64>, tensor<3x1x2xi64>) -> tensor<1x4x2xi64>
  return %0 : tensor<1x4x2xi64>
}

// CASE convolution_asymmetric
// RULE ([a, 3*d + e - 3, b], [e, b, c]) -> ([a, d, c]) {a=1, b=1 sum, c=1, d=4, e=4 sum}
func.func @main(%a: tensor<1x8x1xi64>, %w: tensor<4x1x1xi64>) -> tensor<1x4x1xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [3], pad = [[3, 2]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x1xi64>, tensor<4x1x1xi64>) -> tensor<1x4x1xi64>
  return %0 : tensor<1x4x1xi64>
}

// CASE convolution_window_dilated
// RULE ([a, d + 2*e - 2, b], [e, b, c]) -> ([a, d, c]) {a=1, b=1 sum, c=1, d=9, e=3 sum}
func.func @main(%a: tensor<1x9x1xi64>, %w: tensor<3x1x1xi64>) -> tensor<1x9x1xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[2, 2]], lhs_dilate = [1], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x1xi64>, tensor<3x1x1xi64>) -> tensor<1x9x1xi64>
  return %0 : tensor<1x9x1xi64>
}

// CASE convolution_base_dilated
// RULE ([a, (d + e - 1)/2, b], [e, b, c]) -> ([a, d, c]) {a=1, b=1 sum, c=1, d=9, e=3 sum}
func.func @main(%a: tensor<1x5x1xi64>, %w: tensor<3x1x1xi64>) -> tensor<1x9x1xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [2], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x1xi64>, tensor<3x1x1xi64>) -> tensor<1x9x1xi64>
  return %0 : tensor<1x9x1xi64>
}

// CASE convolution_all_dilated
// RULE ([a, (2*d + 2*e - 2)/3, b], [e, b, c]) -> ([a, d, c]) {a=1, b=1 sum, c=1, d=6, e=3 sum}
func.func @main(%a: tensor<1x5x1xi64>, %w: tensor<3x1x1xi64>) -> tensor<1x6x1xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[2, 1]], lhs_dilate = [3], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x1xi64>, tensor<3x1x1xi64>) -> tensor<1x6x1xi64>
  return %0 : tensor<1x6x1xi64>
}

// CASE convolution_negative_padding
// RULE ([a, d + e + 1, b], [e, b, c]) -> ([a, d, c]) {a=1, b=1 sum, c=1, d=4, e=3 sum}
func.func @main(%a: tensor<1x9x1xi64>, %w: tensor<3x1x1xi64>) -> tensor<1x4x1xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[-1, -2]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x1xi64>, tensor<3x1x1xi64>) -> tensor<1x4x1xi64>
  return %0 : tensor<1x4x1xi64>
}

// CASE convolution_negative_base_dilated
// RULE ([a, (d + e + 1)/2, b], [e, b, c]) -> ([a, d, c]) {a=1, b=1 sum, c=1, d=6, e=2 sum}
func.func @main(%a: tensor<1x5x1xi64>, %w: tensor<2x1x1xi64>) -> tensor<1x6x1xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[-1, -1]], lhs_dilate = [2], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x1xi64>, tensor<2x1x1xi64>) -> tensor<1x6x1xi64>
  return %0 : tensor<1x6x1xi64>
}

// CASE convolution_reversed
// RULE ([a, d - e + 2, b], [e, b, c]) -> ([a, d, c]) {a=1, b=1 sum, c=1, d=6, e=3 sum}
func.func @main(%a: tensor<1x7x1xi64>, %w: tensor<3x1x1xi64>) -> tensor<1x6x1xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x7x1xi64>, tensor<3x1x1xi64>) -> tensor<1x6x1xi64>
  return %0 : tensor<1x6x1xi64>
}

// CASE convolution_reversed_dilated
// RULE ([a, (2*d - 2*e + 2)/3, b], [e, b, c]) -> ([a, d, c]) {a=1, b=1 sum, c=1, d=6, e=3 sum}
func.func @main(%a: tensor<1x5x1xi64>, %w: tensor<3x1x1xi64>) -> tensor<1x6x1xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[2, 1]], lhs_dilate = [3], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x1xi64>, tensor<3x1x1xi64>) -> tensor<1x6x1xi64>
  return %0 : tensor<1x6x1xi64>
}

// CASE convolution_wide_window
// RULE ([a, d + e - 3, b], [e, b, c]) -> ([a, d, c]) {a=1, b=1 sum, c=1, d=4, e=7 sum}
func.func @main(%a: tensor<1x4x1xi64>, %w: tensor<7x1x1xi64>) -> tensor<1x4x1xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[3, 3]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xi64>, tensor<7x1x1xi64>) -> tensor<1x4x1xi64>
  return %0 : tensor<1x4x1xi64>
}

// CASE convolution_filter_gradient
// RULE ([a, d + e - 1, b], [b, e, c]) -> ([d, a, c]) {a=2, b=3 sum, c=2, d=3, e=8 sum}
func.func @main(%a: tensor<2x8x3xi64>, %w: tensor<3x8x2xi64>) -> tensor<3x2x2xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[i, 0, o]->[0, b, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xi64>, tensor<3x8x2xi64>) -> tensor<3x2x2xi64>
  return %0 : tensor<3x2x2xi64>
}

// CASE convolution_2d
// RULE ([a, d + e - 1, f + g, b], [e, g, b, c]) -> ([a, d, f, c]) {a=1, b=1 sum, c=2, d=5, e=3 sum, f=4, g=2 sum}
func.func @main(%a: tensor<1x5x4x1xi64>, %w: tensor<3x2x1x2xi64>) -> tensor<1x5x4x2xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x4x1xi64>, tensor<3x2x1x2xi64>) -> tensor<1x5x4x2xi64>
  return %0 : tensor<1x5x4x2xi64>
}

// CASE convolution_channels_first
// RULE ([a, b, d + e - 1, f + g - 1], [c, b, e, g]) -> ([a, c, d, f]) {a=1, b=2 sum, c=2, d=5, e=3 sum, f=4, g=3 sum}
func.func @main(%a: tensor<1x2x5x4xi64>, %w: tensor<2x2x3x3xi64>) -> tensor<1x2x5x4xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x4xi64>, tensor<2x2x3x3xi64>) -> tensor<1x2x5x4xi64>
  return %0 : tensor<1x2x5x4xi64>
}

// CASE convolution_pointwise
// RULE ([a, b], [b, c]) -> ([a, c]) {a=2, b=3 sum, c=4}
func.func @main(%a: tensor<2x3xi64>, %w: tensor<3x4xi64>) -> tensor<2x4xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xi64>, tensor<3x4xi64>) -> tensor<2x4xi64>
  return %0 : tensor<2x4xi64>
}

// CASE convolution_feature_groups
// RULE ([a, e + f - 1, 2*d + b], [f, b, 3*d + c]) -> ([a, e, 3*d + c]) {a=1, b=2 whole, c=3 whole, d=4, e=5, f=3 sum}
func.func @main(%a: tensor<1x5x8xi64>, %w: tensor<3x2x12xi64>) -> tensor<1x5x12xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x5x8xi64>, tensor<3x2x12xi64>) -> tensor<1x5x12xi64>
  return %0 : tensor<1x5x12xi64>
}

// CASE convolution_depthwise
// RULE ([a, e + f - 1, d + b], [f, b, d + c]) -> ([a, e, d + c]) {a=1, b=1 sum, c=1, d=4, e=5, f=3 sum}
func.func @main(%a: tensor<1x5x4xi64>, %w: tensor<3x1x4xi64>) -> tensor<1x5x4xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x5x4xi64>, tensor<3x1x4xi64>) -> tensor<1x5x4xi64>
  return %0 : tensor<1x5x4xi64>
}

// CASE convolution_batch_groups
// RULE ([2*d + a, e + f - 1, b], [f, b, 3*d + c]) -> ([a, e, 3*d + c]) {a=2 whole, b=2 sum, c=3 whole, d=4, e=5, f=3 sum}
func.func @main(%a: tensor<8x5x2xi64>, %w: tensor<3x2x12xi64>) -> tensor<2x5x12xi64> {
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<8x5x2xi64>, tensor<3x2x12xi64>) -> tensor<2x5x12xi64>
  return %0 : tensor<2x5x12xi64>
}

// FAMILY windows

// CASE pooling
// RULE ([a, 2*b + c], []) -> ([a, b]) {a=2, b=4, c=2 whole}
func.func @main(%a0: tensor<2x8xi64>, %z0: tensor<i64>) -> tensor<2x4xi64> {
  %0 = "stablehlo.reduce_window"(%a0, %z0) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.maximum %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<2x8xi64>, tensor<i64>) -> tensor<2x4xi64>
  return %0 : tensor<2x4xi64>
}

// CASE pooling_overlapping
// RULE ([2*a + b - 1], []) -> ([a]) {a=5, b=3 whole}
func.func @main(%a0: tensor<9xi64>, %z0: tensor<i64>) -> tensor<5xi64> {
  %0 = "stablehlo.reduce_window"(%a0, %z0) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.maximum %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<9xi64>, tensor<i64>) -> tensor<5xi64>
  return %0 : tensor<5xi64>
}

// CASE pooling_dilated
// RULE ([(2*a + 2*b - 2)/2], []) -> ([a]) {a=4, b=3 whole}
func.func @main(%a0: tensor<5xi64>, %z0: tensor<i64>) -> tensor<4xi64> {
  %0 = "stablehlo.reduce_window"(%a0, %z0) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, base_dilations = array<i64: 2>, window_dilations = array<i64: 2>, padding = dense<[[2, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.maximum %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<5xi64>, tensor<i64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CASE pooling_sum_dilated
// RULE ([(a + b + 1)/2], []) -> ([a]) {a=7, b=2 whole}
func.func @main(%a0: tensor<5xi64>, %z0: tensor<i64>) -> tensor<7xi64> {
  %0 = "stablehlo.reduce_window"(%a0, %z0) <{window_dimensions = array<i64: 2>, base_dilations = array<i64: 2>, padding = dense<[[-1, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.add %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<5xi64>, tensor<i64>) -> tensor<7xi64>
  return %0 : tensor<7xi64>
}

// CASE cumulative_sum
// RULE ([a, b], []) -> ([a, b]) {a=6 distributed, b=2}
func.func @main(%a0: tensor<6x2xi64>) -> tensor<6x2xi64> {
  %z0 = stablehlo.constant dense<0> : tensor<i64>
  %0 = "stablehlo.reduce_window"(%a0, %z0) <{window_dimensions = array<i64: 6, 1>, padding = dense<[[5, 0], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.add %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<6x2xi64>, tensor<i64>) -> tensor<6x2xi64>
  return %0 : tensor<6x2xi64>
}

// CASE cumulative_max_backward
// RULE ([a, b], []) -> ([a, b]) {a=2, b=6 distributed}
func.func @main(%a0: tensor<2x6xi64>, %z0: tensor<i64>) -> tensor<2x6xi64> {
  %0 = "stablehlo.reduce_window"(%a0, %z0) <{window_dimensions = array<i64: 1, 6>, padding = dense<[[0, 0], [0, 5]]> : tensor<2x2xi64>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.maximum %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<2x6xi64>, tensor<i64>) -> tensor<2x6xi64>
  return %0 : tensor<2x6xi64>
}

// CASE pooling_of_two
// RULE ([a + b - 1], [a + b - 1], [], []) -> ([a], [a]) {a=7, b=3 whole}
func.func @main(%a0: tensor<7xi64>, %a1: tensor<7xi64>, %z0: tensor<i64>, %z1: tensor<i64>) -> (tensor<7xi64>, tensor<7xi64>) {
  %0:2 = "stablehlo.reduce_window"(%a0, %a1, %z0, %z1) <{window_dimensions = array<i64: 3>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>, %x2: tensor<i64>, %x3: tensor<i64>):
      %r0 = stablehlo.add %x0, %x2 : tensor<i64>
      %r1 = stablehlo.add %x1, %x3 : tensor<i64>
      stablehlo.return %r0, %r1 : tensor<i64>, tensor<i64>
    }) : (tensor<7xi64>, tensor<7xi64>, tensor<i64>, tensor<i64>) -> (tensor<7xi64>, tensor<7xi64>)
  return %0#0, %0#1 : tensor<7xi64>, tensor<7xi64>
}

// CASE select_and_scatter
// RULE ([a, 2*b + c], [a, b], []) -> ([a, 2*b + c]) {a=3, b=4, c=2 whole}
func.func @main(%a: tensor<3x8xi64>, %s: tensor<3x4xi64>, %z: tensor<i64>) -> tensor<3x8xi64> {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %z) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %g = stablehlo.compare GE, %x, %y, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %g : tensor<i1>
    }, {
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %t = stablehlo.add %x, %y : tensor<i64>
      stablehlo.return %t : tensor<i64>
    }) : (tensor<3x8xi64>, tensor<3x4xi64>, tensor<i64>) -> tensor<3x8xi64>
  return %0 : tensor<3x8xi64>
}

// CASE select_and_scatter_overlapping
// RULE ([a, b], [a, (b - c + 1)/2], []) -> ([a, b]) {a=3, b=8 distributed, c=3 whole}
func.func @main(%a: tensor<3x8xi64>, %s: tensor<3x4xi64>, %z: tensor<i64>) -> tensor<3x8xi64> {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %z) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %g = stablehlo.compare GE, %x, %y, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %g : tensor<i1>
    }, {
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %t = stablehlo.add %x, %y : tensor<i64>
      stablehlo.return %t : tensor<i64>
    }) : (tensor<3x8xi64>, tensor<3x4xi64>, tensor<i64>) -> tensor<3x8xi64>
  return %0 : tensor<3x8xi64>
}

// CASE select_and_scatter_with_gaps
// RULE ([a], [(a - b)/3], []) -> ([a]) {a=11 distributed, b=2 whole}
func.func @main(%a: tensor<11xi64>, %s: tensor<4xi64>, %z: tensor<i64>) -> tensor<11xi64> {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 3>}> ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %g = stablehlo.compare GE, %x, %y, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %g : tensor<i1>
    }, {
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %t = stablehlo.add %x, %y : tensor<i64>
      stablehlo.return %t : tensor<i64>
    }) : (tensor<11xi64>, tensor<4xi64>, tensor<i64>) -> tensor<11xi64>
  return %0 : tensor<11xi64>
}

// CASE select_and_scatter_wide_padding
// RULE ([a, c], [(a - b + 4)/2, c - d + 2], []) -> ([a, c]) {a=9 distributed, b=5 whole, c=6 distributed, d=3 whole}
func.func @main(%a: tensor<9x6xi64>, %s: tensor<6x7xi64>, %z: tensor<i64>) -> tensor<9x6xi64> {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %z) <{window_dimensions = array<i64: 5, 3>, window_strides = array<i64: 2, 1>, padding = dense<[[4, 3], [2, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %g = stablehlo.compare GE, %x, %y, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %g : tensor<i1>
    }, {
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %t = stablehlo.add %x, %y : tensor<i64>
      stablehlo.return %t : tensor<i64>
    }) : (tensor<9x6xi64>, tensor<6x7xi64>, tensor<i64>) -> tensor<9x6xi64>
  return %0 : tensor<9x6xi64>
}

// FAMILY addressing

// CASE gather_rows
// RULE ([b, c], [a, 0]) -> ([a, c]) {a=4, b=6 travels, c=5}
func.func @main(%a: tensor<6x5xi64>, %i: tensor<4x1xi32>) -> tensor<4x5xi64> {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<6x5xi64>, tensor<4x1xi32>) -> tensor<4x5xi64>
  return %0 : tensor<4x5xi64>
}

// CASE gather_scalar_indices
// RULE ([c, d], [a, b]) -> ([a, b, d]) {a=4, b=2, c=6 travels, d=5}
func.func @main(%a: tensor<6x5xi64>, %i: tensor<4x2xi32>) -> tensor<4x2x5xi64> {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 5>}> : (tensor<6x5xi64>, tensor<4x2xi32>) -> tensor<4x2x5xi64>
  return %0 : tensor<4x2x5xi64>
}

// CASE gather_windows
// RULE ([c, e], [a, b]) -> ([a, d, e]) {a=4, b=2 whole, c=6 travels, d=2 whole, e=5}
func.func @main(%a: tensor<6x5xi64>, %i: tensor<4x2xi32>) -> tensor<4x2x5xi64> {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 5>}> : (tensor<6x5xi64>, tensor<4x2xi32>) -> tensor<4x2x5xi64>
  return %0 : tensor<4x2x5xi64>
}

// CASE gather_elements
// RULE ([c, d], [a, b]) -> ([a]) {a=4, b=2 whole, c=6 travels, d=5 travels}
func.func @main(%a: tensor<6x5xi64>, %i: tensor<4x2xi32>) -> tensor<4xi64> {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<6x5xi64>, tensor<4x2xi32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CASE gather_batched
// RULE ([a, c, d], [a, b, 0]) -> ([a, b, d]) {a=3, b=4, c=6 travels, d=5}
func.func @main(%a: tensor<3x6x5xi64>, %i: tensor<3x4x1xi32>) -> tensor<3x4x5xi64> {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x6x5xi64>, tensor<3x4x1xi32>) -> tensor<3x4x5xi64>
  return %0 : tensor<3x4x5xi64>
}

// CASE gather_batched_index_first
// RULE ([b, c], [0, a, b]) -> ([a, b]) {a=4, b=3, c=6 travels}
func.func @main(%a: tensor<3x6xi64>, %i: tensor<1x4x3xi32>) -> tensor<4x3xi64> {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1]>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x6xi64>, tensor<1x4x3xi32>) -> tensor<4x3xi64>
  return %0 : tensor<4x3xi64>
}

// CASE gather_offset_first
// RULE ([b, c], [a, 0]) -> ([c, a]) {a=4, b=6 travels, c=5}
func.func @main(%a: tensor<6x5xi64>, %i: tensor<4x1xi32>) -> tensor<5x4xi64> {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<6x5xi64>, tensor<4x1xi32>) -> tensor<5x4xi64>
  return %0 : tensor<5x4xi64>
}

// CASE scatter_add_rows
// RULE ([b, c], [a, 0], [a, c]) -> ([b, c]) {a=4 sum, b=6 distributed, c=5}
func.func @main(%a0: tensor<6x5xi64>, %i: tensor<4x1xi32>, %u0: tensor<4x5xi64>) -> tensor<6x5xi64> {
  %0 = "stablehlo.scatter"(%a0, %i, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.add %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<6x5xi64>, tensor<4x1xi32>, tensor<4x5xi64>) -> tensor<6x5xi64>
  return %0 : tensor<6x5xi64>
}

// CASE scatter_max_rows
// RULE ([b, c], [a, 0], [a, c]) -> ([b, c]) {a=4 max, b=6 distributed, c=5}
func.func @main(%a0: tensor<6x5xi64>, %i: tensor<4x1xi32>, %u0: tensor<4x5xi64>) -> tensor<6x5xi64> {
  %0 = "stablehlo.scatter"(%a0, %i, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.maximum %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<6x5xi64>, tensor<4x1xi32>, tensor<4x5xi64>) -> tensor<6x5xi64>
  return %0 : tensor<6x5xi64>
}

// CASE scatter_multiply_rows
// RULE ([b, c], [a, 0], [a, c]) -> ([b, c]) {a=4 product, b=6 distributed, c=5}
func.func @main(%a0: tensor<6x5xi64>, %i: tensor<4x1xi32>, %u0: tensor<4x5xi64>) -> tensor<6x5xi64> {
  %0 = "stablehlo.scatter"(%a0, %i, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.multiply %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<6x5xi64>, tensor<4x1xi32>, tensor<4x5xi64>) -> tensor<6x5xi64>
  return %0 : tensor<6x5xi64>
}

// CASE scatter_set_rows
// RULE ([b, c], [a, 0], [a, c]) -> ([b, c]) {a=4 travels, b=6 distributed, c=5}
func.func @main(%a0: tensor<6x5xi64>, %i: tensor<4x1xi32>, %u0: tensor<4x5xi64>) -> tensor<6x5xi64> {
  %0 = "stablehlo.scatter"(%a0, %i, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      stablehlo.return %x1 : tensor<i64>
    }) : (tensor<6x5xi64>, tensor<4x1xi32>, tensor<4x5xi64>) -> tensor<6x5xi64>
  return %0 : tensor<6x5xi64>
}

// CASE scatter_add_moved_window
// RULE ([c, d], [a, b], [a, e]) -> ([c, d]) {a=4 sum, b=2 whole, c=6 distributed, d=5 distributed, e=5 sum}
func.func @main(%a0: tensor<6x5xi64>, %i: tensor<4x2xi32>, %u0: tensor<4x5xi64>) -> tensor<6x5xi64> {
  %0 = "stablehlo.scatter"(%a0, %i, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.add %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<6x5xi64>, tensor<4x2xi32>, tensor<4x5xi64>) -> tensor<6x5xi64>
  return %0 : tensor<6x5xi64>
}

// CASE scatter_add_small_window
// RULE ([b, c], [a, 0], [a, d]) -> ([b, c]) {a=4 sum, b=6 whole, c=5 whole, d=3 whole}
func.func @main(%a0: tensor<6x5xi64>, %i: tensor<4x1xi32>, %u0: tensor<4x3xi64>) -> tensor<6x5xi64> {
  %0 = "stablehlo.scatter"(%a0, %i, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.add %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<6x5xi64>, tensor<4x1xi32>, tensor<4x3xi64>) -> tensor<6x5xi64>
  return %0 : tensor<6x5xi64>
}

// CASE scatter_batched
// RULE ([a, c, d], [a, b, 0], [a, b, d]) -> ([a, c, d]) {a=3, b=4 sum, c=6 distributed, d=5}
func.func @main(%a0: tensor<3x6x5xi64>, %i: tensor<3x4x1xi32>, %u0: tensor<3x4x5xi64>) -> tensor<3x6x5xi64> {
  %0 = "stablehlo.scatter"(%a0, %i, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>):
      %r0 = stablehlo.add %x0, %x1 : tensor<i64>
      stablehlo.return %r0 : tensor<i64>
    }) : (tensor<3x6x5xi64>, tensor<3x4x1xi32>, tensor<3x4x5xi64>) -> tensor<3x6x5xi64>
  return %0 : tensor<3x6x5xi64>
}

// CASE scatter_of_two
// RULE ([b, c], [b, c], [a, 0], [a, c], [a, c]) -> ([b, c], [b, c]) {a=4 sum, b=6 distributed, c=5}
func.func @main(%a0: tensor<6x5xi64>, %a1: tensor<6x5xi64>, %i: tensor<4x1xi32>, %u0: tensor<4x5xi64>, %u1: tensor<4x5xi64>) -> (tensor<6x5xi64>, tensor<6x5xi64>) {
  %0:2 = "stablehlo.scatter"(%a0, %a1, %i, %u0, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x0: tensor<i64>, %x1: tensor<i64>, %x2: tensor<i64>, %x3: tensor<i64>):
      %r0 = stablehlo.add %x0, %x2 : tensor<i64>
      %r1 = stablehlo.add %x1, %x3 : tensor<i64>
      stablehlo.return %r0, %r1 : tensor<i64>, tensor<i64>
    }) : (tensor<6x5xi64>, tensor<6x5xi64>, tensor<4x1xi32>, tensor<4x5xi64>, tensor<4x5xi64>) -> (tensor<6x5xi64>, tensor<6x5xi64>)
  return %0#0, %0#1 : tensor<6x5xi64>, tensor<6x5xi64>
}

// FAMILY whole-dims

// CASE sort
// RULE ([a, b], [a, b]) -> ([a, b], [a, b]) {a=5 distributed, b=3}
func.func @main(%a: tensor<5x3xi64>, %b: tensor<5x3xi64>) -> (tensor<5x3xi64>, tensor<5x3xi64>) {
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>, %p: tensor<i64>, %q: tensor<i64>):
      %l = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) : (tensor<5x3xi64>, tensor<5x3xi64>) -> (tensor<5x3xi64>, tensor<5x3xi64>)
  return %0#0, %0#1 : tensor<5x3xi64>, tensor<5x3xi64>
}

// CASE sort_alone
// RULE ([a], [a]) -> ([a], [a]) {a=11 distributed}
func.func @main(%a: tensor<11xi64>, %b: tensor<11xi64>) -> (tensor<11xi64>, tensor<11xi64>) {
  %d = stablehlo.constant dense<3> : tensor<11xi64>
  %k = stablehlo.divide %a, %d : tensor<11xi64>
  %0:2 = "stablehlo.sort"(%k, %b) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>, %p: tensor<i64>, %q: tensor<i64>):
      %l = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) : (tensor<11xi64>, tensor<11xi64>) -> (tensor<11xi64>, tensor<11xi64>)
  return %0#0, %0#1 : tensor<11xi64>, tensor<11xi64>
}

// CASE sort_with_iota
// RULE ([a], [a]) -> ([a], [a]) {a=9 distributed}
func.func @main(%a: tensor<9xi64>) -> (tensor<9xi64>, tensor<9xi64>) {
  %b = stablehlo.iota dim = 0 : tensor<9xi64>
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>, %p: tensor<i64>, %q: tensor<i64>):
      %l = stablehlo.compare GT, %x, %y, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) : (tensor<9xi64>, tensor<9xi64>) -> (tensor<9xi64>, tensor<9xi64>)
  return %0#0, %0#1 : tensor<9xi64>, tensor<9xi64>
}

// CASE top_k
// RULE ([a, b]) -> ([a, c], [a, c]) {a=5, b=6 distributed, c=2 whole}
func.func @main(%a: tensor<5x6xi64>) -> (tensor<5x2xi64>, tensor<5x2xi32>) {
  %0:2 = chlo.top_k(%a, k = 2) : tensor<5x6xi64> -> (tensor<5x2xi64>, tensor<5x2xi32>)
  return %0#0, %0#1 : tensor<5x2xi64>, tensor<5x2xi32>
}

// CASE top_k_of_most
// RULE ([a, b]) -> ([a, c], [a, c]) {a=3, b=6 distributed, c=4 whole}
func.func @main(%a: tensor<3x6xi64>) -> (tensor<3x4xi64>, tensor<3x4xi32>) {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<3x6xi64> -> (tensor<3x4xi64>, tensor<3x4xi32>)
  return %0#0, %0#1 : tensor<3x4xi64>, tensor<3x4xi32>
}

// CASE top_k_of_a_line
// RULE ([a]) -> ([b], [b]) {a=9 distributed, b=2 whole}
func.func @main(%a: tensor<9xi64>) -> (tensor<2xi64>, tensor<2xi32>) {
  %0:2 = chlo.top_k(%a, k = 2) : tensor<9xi64> -> (tensor<2xi64>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xi64>, tensor<2xi32>
}

// CASE fft
// RULE ([a, c]) -> ([a, b]) {a=3, b=5 travels, c=8 travels}
func.func @main(%a: tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = RFFT, length = [8] : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
  return %0 : tensor<3x5xcomplex<f32>>
}

// CASE cholesky
// RULE ([a, b, c]) -> ([a, b, c]) {a=5, b=2 distributed, c=2 distributed}
func.func @main(%a: tensor<5x2x2xf32>) -> tensor<5x2x2xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<5x2x2xf32>
  return %0 : tensor<5x2x2xf32>
}

// CASE triangular_solve_left
// RULE ([a, d, e], [a, b, c]) -> ([a, b, c]) {a=3, b=2 distributed, c=5, d=2 whole, e=2 whole}
func.func @main(%a: tensor<3x2x2xf32>, %b: tensor<3x2x5xf32>) -> tensor<3x2x5xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x2x2xf32>, tensor<3x2x5xf32>) -> tensor<3x2x5xf32>
  return %0 : tensor<3x2x5xf32>
}

// CASE triangular_solve_right
// RULE ([a, d, e], [a, b, c]) -> ([a, b, c]) {a=3, b=5, c=2 distributed, d=2 whole, e=2 whole}
func.func @main(%a: tensor<3x2x2xf32>, %b: tensor<3x5x2xf32>) -> tensor<3x5x2xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x2x2xf32>, tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
  return %0 : tensor<3x5x2xf32>
}

// FAMILY solvers

// CASE lu
// RULE ([a, b, c]) -> ([a, d, e], [a, f], [a, g], [a]) {a=4, b=3 whole, c=3 whole, d=3 whole, e=3 whole, f=3 whole, g=3 whole}
func.func @main(%a: tensor<4x3x3xf32>) -> tensor<4x3xi32> {
  %0:4 = solver.lu %a : (tensor<4x3x3xf32>) -> (tensor<4x3x3xf32>, tensor<4x3xi32>, tensor<4x3xi32>, tensor<4xi32>)
  return %0#2 : tensor<4x3xi32>
}

// CASE permutation
// RULE ([a, b]) -> ([a, c]) {a=4, b=3 whole, c=5 whole}
func.func @main(%a: tensor<4x5x3xf32>) -> tensor<4x5xi32> {
  %0:4 = solver.lu %a : (tensor<4x5x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x3xi32>, tensor<4x5xi32>, tensor<4xi32>)
  %1 = solver.permutation %0#1 : (tensor<4x3xi32>) -> tensor<4x5xi32>
  return %1 : tensor<4x5xi32>
}

// CASE qr
// RULE ([a, b, c]) -> ([a, d, e], [a, f]) {a=4, b=4 whole, c=2 whole, d=4 whole, e=2 whole, f=2 whole}
func.func @main(%a: tensor<4x4x2xf32>) -> tensor<4x2xf32> {
  %0:2 = solver.qr %a : (tensor<4x4x2xf32>) -> (tensor<4x4x2xf32>, tensor<4x2xf32>)
  return %0#1 : tensor<4x2xf32>
}

// CASE householder_product
// RULE ([a, b, c], [a, d]) -> ([a, e, f]) {a=4, b=4 whole, c=2 whole, d=2 whole, e=4 whole, f=2 whole}
func.func @main(%a: tensor<4x4x2xf32>, %t: tensor<4x2xf32>) -> tensor<4x4x2xf32> {
  %0 = solver.householder_product %a, %t : (tensor<4x4x2xf32>, tensor<4x2xf32>) -> tensor<4x4x2xf32>
  return %0 : tensor<4x4x2xf32>
}

// CASE eigh
// RULE ([a, b, c]) -> ([a, d, e], [a, f]) {a=5, b=3 whole, c=3 whole, d=3 whole, e=3 whole, f=3 whole}
func.func @main(%a: tensor<5x3x3xf32>) -> tensor<5x3xf32> {
  %0:2 = solver.eigh %a, lower = true : (tensor<5x3x3xf32>) -> (tensor<5x3x3xf32>, tensor<5x3xf32>)
  return %0#1 : tensor<5x3xf32>
}

// CASE orthogonalize
// RULE ([a, b, c]) -> ([a, d, e], [a, f], [a, g, h]) {a=4, b=4 whole, c=2 whole, d=4 whole, e=2 whole, f=2 whole, g=2 whole, h=2 whole}
func.func @main(%a: tensor<4x4x2xf32>) -> tensor<4x4x2xf32> {
  %0:3 = solver.orthogonalize %a : (tensor<4x4x2xf32>) -> (tensor<4x4x2xf32>, tensor<4x2xf32>, tensor<4x2x2xf32>)
  return %0#0 : tensor<4x4x2xf32>
}

// CASE tridiagonal_solve
// RULE ([a, c], [a, d], [a, e], [a, f, b]) -> ([a, g, b]) {a=3, b=6, c=4 whole, d=4 whole, e=4 whole, f=4 whole, g=4 whole}
func.func @main(%l: tensor<3x4xf32>, %d: tensor<3x4xf32>, %u: tensor<3x4xf32>, %b: tensor<3x4x6xf32>) -> tensor<3x4x6xf32> {
  %c = stablehlo.constant dense<20.0> : tensor<3x4xf32>
  %s = stablehlo.add %d, %c : tensor<3x4xf32>
  %0 = solver.tridiagonal_solve %l, %s, %u, %b : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  return %0 : tensor<3x4x6xf32>
}

// CASE deal
// RULE ([a, b]) -> ([a, b]) {a=3, b=7 distributed}
func.func @main(%a: tensor<3x7xf32>) -> tensor<3x7xf32> {
  %0 = spmd.deal %a dim 1 sizes [3, 4] : tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}

// CASE deal_back
// RULE ([a, b]) -> ([a, b]) {a=7 distributed, b=3}
func.func @main(%a: tensor<7x3xf32>) -> tensor<7x3xf32> {
  %0 = spmd.deal %a dim 0 sizes [1, 5, 0, 1] back : tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}

// CASE dealt_iota
// RULE () -> ([a]) {a=7}
func.func @main() -> tensor<7xi32> {
  %0 = spmd.dealt_iota sizes [3, 4] : tensor<7xi32>
  return %0 : tensor<7xi32>
}
