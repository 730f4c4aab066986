// Corners of integer arithmetic; expected values from StableHLO's definitions, and
// where these leave a choice (division by zero) from XLA on CPUs.
// RUN: %npz write %t.npz 'in0=<i4:8:7,-7,-2147483648,5,-5,0,9,-9' 'in1=<i4:8:2,2,-1,0,0,0,-4,4' \
// RUN:   'out0=<i4:8:3,-3,-2147483648,-1,-1,-1,-2,-2' 'out1=<i4:8:1,-1,0,5,-5,0,1,-1' \
// RUN:   'out2=<u4:8:3,2147483644,0,4294967295,4294967295,4294967295,0,1073741821' \
// RUN:   'out3=<i4:8:28,-28,0,5,-5,0,0,-144' 'out4=<i4:8:1,-2,-1,5,-5,0,0,-1' \
// RUN:   'out5=<i4:8:1,1073741822,0,5,-5,0,0,268435455' 'out6=<i4:8:49,49,0,1,1,1,0,6561' \
// RUN:   'out7=<i4:8:3,30,1,2,31,0,2,31' 'out8=<i4:8:29,0,0,29,0,32,28,0'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz
func.func public @main(%a: tensor<8xi32>, %b: tensor<8xi32>)
    -> (tensor<8xi32>, tensor<8xi32>, tensor<8xui32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>,
        tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %quotient = stablehlo.divide %a, %b : tensor<8xi32>
  %rest = stablehlo.remainder %a, %b : tensor<8xi32>
  %ua = stablehlo.convert %a : (tensor<8xi32>) -> tensor<8xui32>
  %ub = stablehlo.convert %b : (tensor<8xi32>) -> tensor<8xui32>
  %unsigned = stablehlo.divide %ua, %ub : tensor<8xui32>
  // Negative amounts are large ones.
  %left = stablehlo.shift_left %a, %b : tensor<8xi32>
  %right = stablehlo.shift_right_arithmetic %a, %b : tensor<8xi32>
  %logical = stablehlo.shift_right_logical %a, %b : tensor<8xi32>
  %power = stablehlo.power %a, %b : tensor<8xi32>
  %bits = stablehlo.popcnt %a : tensor<8xi32>
  %zeros = stablehlo.count_leading_zeros %a : tensor<8xi32>
  return %quotient, %rest, %unsigned, %left, %right, %logical, %power, %bits, %zeros
      : tensor<8xi32>, tensor<8xi32>, tensor<8xui32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>,
        tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}
