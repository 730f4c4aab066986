// RUN: shard-run %s --check=interpreter
// RUN: shard-run %s --threads=3 --arch=x86-64-v3 --check=interpreter
// RUN: %if avx512 %{ shard-run %s --threads=3 --arch=x86-64-v4 --check=interpreter %}

// Elements a short step apart: sums, maxima and their places in rows of 2 to 12,
// columns of points, one column of a result at a time; whole vectors and what is
// left of them; the last rows end where the argument ends.
func.func @main(%two: tensor<37x2xf32>, %three: tensor<1003x3xf32>, %other: tensor<1003x3xf32>, %five: tensor<101x5xf64>,
                %six: tensor<64x6xi32>, %seven: tensor<48x7xf32>, %ten: tensor<331x10xf32>, %twelve: tensor<33x12xf32>, %long: tensor<129xf64>, %more: tensor<129xf64>)
    -> (tensor<37xf32>, tensor<1003xf32>, tensor<1003x3xf32>, tensor<101xf64>, tensor<64xi32>, tensor<48xf32>, tensor<331xf32>, tensor<331xi32>, tensor<33xf32>,
        tensor<129x2xf64>, tensor<1003x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %wide = stablehlo.constant dense<0.0> : tensor<f64>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %s2 = stablehlo.reduce(%two init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<37x2xf32>, tensor<f32>) -> tensor<37xf32>
  %s3 = stablehlo.reduce(%three init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1003x3xf32>, tensor<f32>) -> tensor<1003xf32>
  %s5 = stablehlo.reduce(%five init: %wide) applies stablehlo.add across dimensions = [1] : (tensor<101x5xf64>, tensor<f64>) -> tensor<101xf64>
  %s6 = stablehlo.reduce(%six init: %none) applies stablehlo.add across dimensions = [1] : (tensor<64x6xi32>, tensor<i32>) -> tensor<64xi32>
  %m7 = stablehlo.reduce(%seven init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<48x7xf32>, tensor<f32>) -> tensor<48xf32>
  %s12 = stablehlo.reduce(%twelve init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<33x12xf32>, tensor<f32>) -> tensor<33xf32>
  %place = stablehlo.iota dim = 1 : tensor<331x10xi32>
  %largest:2 = stablehlo.reduce(%ten init: %low), (%place init: %none) across dimensions = [1] : (tensor<331x10xf32>, tensor<331x10xi32>, tensor<f32>, tensor<i32>) -> (tensor<331xf32>, tensor<331xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
    %isMore = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %same = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %isBefore = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %isFirst = stablehlo.and %same, %isBefore : tensor<i1>
    %isOurs = stablehlo.or %isMore, %isFirst : tensor<i1>
    %number = stablehlo.select %isMore, %a, %b : tensor<i1>, tensor<f32>
    %at = stablehlo.select %isOurs, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %number, %at : tensor<f32>, tensor<i32>
  }
  // A cross product, as JAX writes it.
  %x0 = stablehlo.slice %three [0:1003, 0:1] : (tensor<1003x3xf32>) -> tensor<1003x1xf32>
  %x1 = stablehlo.slice %three [0:1003, 1:2] : (tensor<1003x3xf32>) -> tensor<1003x1xf32>
  %x2 = stablehlo.slice %three [0:1003, 2:3] : (tensor<1003x3xf32>) -> tensor<1003x1xf32>
  %y0 = stablehlo.slice %other [0:1003, 0:1] : (tensor<1003x3xf32>) -> tensor<1003x1xf32>
  %y1 = stablehlo.slice %other [0:1003, 1:2] : (tensor<1003x3xf32>) -> tensor<1003x1xf32>
  %y2 = stablehlo.slice %other [0:1003, 2:3] : (tensor<1003x3xf32>) -> tensor<1003x1xf32>
  %a0 = stablehlo.multiply %x1, %y2 : tensor<1003x1xf32>
  %b0 = stablehlo.multiply %x2, %y1 : tensor<1003x1xf32>
  %c0 = stablehlo.subtract %a0, %b0 : tensor<1003x1xf32>
  %a1 = stablehlo.multiply %x2, %y0 : tensor<1003x1xf32>
  %b1 = stablehlo.multiply %x0, %y2 : tensor<1003x1xf32>
  %c1 = stablehlo.subtract %a1, %b1 : tensor<1003x1xf32>
  %a2 = stablehlo.multiply %x0, %y1 : tensor<1003x1xf32>
  %b2 = stablehlo.multiply %x1, %y0 : tensor<1003x1xf32>
  %c2 = stablehlo.subtract %a2, %b2 : tensor<1003x1xf32>
  %cross = stablehlo.concatenate %c0, %c1, %c2, dim = 1 : (tensor<1003x1xf32>, tensor<1003x1xf32>, tensor<1003x1xf32>) -> tensor<1003x3xf32>
  %l0 = stablehlo.reshape %long : (tensor<129xf64>) -> tensor<129x1xf64>
  %l1 = stablehlo.reshape %more : (tensor<129xf64>) -> tensor<129x1xf64>
  %stack = stablehlo.concatenate %l0, %l1, dim = 1 : (tensor<129x1xf64>, tensor<129x1xf64>) -> tensor<129x2xf64>
  %four = stablehlo.concatenate %three, %c1, dim = 1 : (tensor<1003x3xf32>, tensor<1003x1xf32>) -> tensor<1003x4xf32>
  return %s2, %s3, %cross, %s5, %s6, %m7, %largest#0, %largest#1, %s12, %stack, %four
      : tensor<37xf32>, tensor<1003xf32>, tensor<1003x3xf32>, tensor<101xf64>, tensor<64xi32>, tensor<48xf32>, tensor<331xf32>, tensor<331xi32>, tensor<33xf32>,
        tensor<129x2xf64>, tensor<1003x4xf32>
}
