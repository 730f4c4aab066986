// A loop that yields one value as two of its results, one of which begins with an argument.
// RUN: shard-run %s --check=interpreter
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %first: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %most = stablehlo.maximum %n, %three : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4xf32>
  %w:5 = stablehlo.while(%i = %zero, %a = %x, %b = %y, %c = %first, %d = %zeros) : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %less = stablehlo.compare LT, %i, %most, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %least = stablehlo.minimum %a, %b : tensor<4xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %b, %a, %least, %least : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %w#3, %w#4 : tensor<4xf32>, tensor<4xf32>
}
