// NaN, signed zeros, rounding and order of floats, from StableHLO's definitions.
// RUN: %npz write %t.npz 'in0=<f4:8:nan,-0.0,0.0,2.5,-2.5,3.5,inf,-1.0' 'in1=<f4:8:1,0.0,-0.0,2.5,nan,-inf,inf,-2' \
// RUN:   'out0=<f4:8:nan,0.0,0.0,2.5,nan,3.5,inf,-1' 'out1=<f4:8:nan,-0.0,-0.0,2.5,nan,-inf,inf,-2' \
// RUN:   'out2=<f4:8:nan,-0.0,0.0,1,-1,1,1,-1' 'out3=<f4:8:nan,-0.0,0.0,2,-2,4,inf,-1' \
// RUN:   'out4=<f4:8:nan,-0.0,0.0,3,-3,4,inf,-1' 'out5=|b1:8:0,1,1,1,0,0,1,0' \
// RUN:   'out6=|b1:8:0,1,0,0,1,0,0,0' 'out7=|b1:8:0,1,1,1,1,1,0,1'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz
func.func public @main(%a: tensor<8xf32>, %b: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi1>,
        tensor<8xi1>, tensor<8xi1>) {
  %max = stablehlo.maximum %a, %b : tensor<8xf32>
  %min = stablehlo.minimum %a, %b : tensor<8xf32>
  %sign = stablehlo.sign %a : tensor<8xf32>
  %even = stablehlo.round_nearest_even %a : tensor<8xf32>
  %away = stablehlo.round_nearest_afz %a : tensor<8xf32>
  %equal = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  // In total order -0 is less than 0 and every number less than a positive NaN.
  %less = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %finite = stablehlo.is_finite %a : (tensor<8xf32>) -> tensor<8xi1>
  return %max, %min, %sign, %even, %away, %equal, %less, %finite
      : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi1>,
        tensor<8xi1>, tensor<8xi1>
}
