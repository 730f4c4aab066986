// RUN: shard-run %s
// argmax and argmin by two passes: the first NaN, of equals the lowest place, the initial value among them. Expected values by hand.
func.func @main() {
  %a = stablehlo.constant dense<[[0x7FC00000, 1.0, 0x7FC00000, 2.0], [-0.0, 0.0, -1.0, 0.0], [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [3.0, 0x7F800000, 0x7F800000, 0x7FC00000], [5.0, 5.0, 4.0, 5.0], [-1.0, -2.0, -2.0, -1.0]]> : tensor<6x4xf32>
  %n = stablehlo.constant dense<[[1, 7, 7, -3], [-8, -8, -9, -9]]> : tensor<2x4xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %most = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %lowest = stablehlo.constant dense<-2147483648> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %places = stablehlo.iota dim = 1 : tensor<6x4xi32>
  %few = stablehlo.iota dim = 1 : tensor<2x4xi32>
  %ten = stablehlo.constant dense<10> : tensor<6x4xi32>
  %later = stablehlo.add %places, %ten : tensor<6x4xi32>
  %max:2 = stablehlo.reduce(%a init: %least), (%places init: %z) across dimensions = [1] : (tensor<6x4xf32>, tensor<6x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<6xf32>, tensor<6xi32>)
   reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %gt = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %m = stablehlo.or %gt, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = stablehlo.and %eq, %lt : tensor<i1>
    %w = stablehlo.or %m, %t : tensor<i1>
    %v = stablehlo.select %m, %x, %y : tensor<i1>, tensor<f32>
    %pl = stablehlo.select %w, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %v, %pl : tensor<f32>, tensor<i32>
  }
  %min:2 = stablehlo.reduce(%a init: %most), (%places init: %z) across dimensions = [1] : (tensor<6x4xf32>, tensor<6x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<6xf32>, tensor<6xi32>)
   reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %gt = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %m = stablehlo.or %gt, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = stablehlo.and %eq, %lt : tensor<i1>
    %w = stablehlo.or %m, %t : tensor<i1>
    %v = stablehlo.select %m, %x, %y : tensor<i1>, tensor<f32>
    %pl = stablehlo.select %w, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %v, %pl : tensor<f32>, tensor<i32>
  }
  %from:2 = stablehlo.reduce(%a init: %least), (%later init: %z) across dimensions = [1] : (tensor<6x4xf32>, tensor<6x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<6xf32>, tensor<6xi32>)
   reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %gt = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %m = stablehlo.or %gt, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = stablehlo.and %eq, %lt : tensor<i1>
    %w = stablehlo.or %m, %t : tensor<i1>
    %v = stablehlo.select %m, %x, %y : tensor<i1>, tensor<f32>
    %pl = stablehlo.select %w, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %v, %pl : tensor<f32>, tensor<i32>
  }
  %whole:2 = stablehlo.reduce(%n init: %lowest), (%few init: %z) across dimensions = [1] : (tensor<2x4xi32>, tensor<2x4xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
   reducer(%x: tensor<i32>, %y: tensor<i32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %gt = stablehlo.compare GT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %x, %x, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %m = stablehlo.or %gt, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = stablehlo.and %eq, %lt : tensor<i1>
    %w = stablehlo.or %m, %t : tensor<i1>
    %v = stablehlo.select %m, %x, %y : tensor<i1>, tensor<i32>
    %pl = stablehlo.select %w, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %v, %pl : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %max#1, dense<[0, 0, 0, 3, 0, 0]> : tensor<6xi32>
  check.expect_eq_const %min#1, dense<[0, 2, 0, 3, 2, 1]> : tensor<6xi32>
  check.expect_eq_const %from#1, dense<[10, 10, 0, 13, 10, 10]> : tensor<6xi32>
  check.expect_eq_const %whole#1, dense<[1, 0]> : tensor<2xi32>
  check.expect_eq_const %whole#0, dense<[7, -8]> : tensor<2xi32>
  check.expect_almost_eq_const %from#0, dense<[0x7FC00000, 0.0, 0xFF800000, 0x7FC00000, 5.0, -1.0]> : tensor<6xf32>
  return
}
