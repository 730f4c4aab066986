// Every turn of the loop holds, and the branch that is taken; the other would not.
func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %half = stablehlo.constant dense<[0.5, -0.0]> : tensor<2xf32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32> cond {
    %go = stablehlo.compare LT, %i, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %back = stablehlo.subtract %next, %one : tensor<i32>
    check.expect_eq %back, %i : tensor<i32>
    check.expect_close %half, %half, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
    "stablehlo.case"(%zero) ({
      check.expect_almost_eq %half, %half {tolerance = 0.0 : f64} : tensor<2xf32>
      stablehlo.return
    }, {
      check.expect_eq %zero, %one : tensor<i32>
      stablehlo.return
    }) : (tensor<i32>) -> ()
    stablehlo.return %next : tensor<i32>
  }
  check.expect_eq %0, %ten : tensor<i32>
  return
}
// -----
// The seventh turn does not.
func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32> cond {
    %go = stablehlo.compare LT, %i, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %least = stablehlo.minimum %i, %six : tensor<i32>
    check.expect_eq %least, %i : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next : tensor<i32>
  }
  check.expect_eq %0, %ten : tensor<i32>
  return
}
