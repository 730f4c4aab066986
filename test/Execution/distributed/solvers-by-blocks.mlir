// RUN: shard-run %s --check=interpreter --seed=1
// RUN: shard-run %s --check=interpreter --seed=2 --mesh=x=2 --threads=2
// RUN: shard-run %s --check=interpreter --seed=3 --sizes=0:0=0,1,2 --sizes=1:0=3,0,0
// RUN: shard-run %s --check --seed=4 --reproducible --threads=2
// Systems and factors of two full blocks of rows and one that is not, of each side, triangle and transpose, real and complex.
// Nothing of the other triangle, which holds NaN, is read, nor a diagonal that is all ones.
sdy.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<3x70x70xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
                %b: tensor<3x70x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
                %c: tensor<3x70x70xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>})
    -> (tensor<3x70x5xf32>, tensor<3x70x5xf32>, tensor<3x70x5xf32>, tensor<3x5x70xf32>, tensor<3x5x70xf32>, tensor<3x70x1xf32>, tensor<3x70x70xf32>, tensor<3x70x70xf32>, tensor<3x70x70xcomplex<f32>>, tensor<3x70x70xcomplex<f32>>) {
  %i = stablehlo.iota dim = 1 : tensor<3x70x70xi32>
  %j = stablehlo.iota dim = 2 : tensor<3x70x70xi32>
  %eq = stablehlo.compare EQ, %i, %j, SIGNED : (tensor<3x70x70xi32>, tensor<3x70x70xi32>) -> tensor<3x70x70xi1>
  %above = stablehlo.compare LT, %i, %j, SIGNED : (tensor<3x70x70xi32>, tensor<3x70x70xi32>) -> tensor<3x70x70xi1>
  %below = stablehlo.compare GT, %i, %j, SIGNED : (tensor<3x70x70xi32>, tensor<3x70x70xi32>) -> tensor<3x70x70xi1>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<3x70x70xf32>
  %two = stablehlo.constant dense<2.0> : tensor<3x70x70xf32>
  %tenth = stablehlo.constant dense<0.1> : tensor<3x70x70xf32>
  %small = stablehlo.multiply %a, %tenth : tensor<3x70x70xf32>
  %full = stablehlo.select %eq, %two, %small : tensor<3x70x70xi1>, tensor<3x70x70xf32>
  %lower = stablehlo.select %above, %nan, %full : tensor<3x70x70xi1>, tensor<3x70x70xf32>
  %upper = stablehlo.select %below, %nan, %full : tensor<3x70x70xi1>, tensor<3x70x70xf32>
  %strict = stablehlo.select %eq, %nan, %lower : tensor<3x70x70xi1>, tensor<3x70x70xf32>
  %turned = stablehlo.transpose %b, dims = [0, 2, 1] : (tensor<3x70x5xf32>) -> tensor<3x5x70xf32>
  %one = stablehlo.slice %b [0:3, 0:70, 0:1] : (tensor<3x70x5xf32>) -> tensor<3x70x1xf32>
  %0 = "stablehlo.triangular_solve"(%lower, %b) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x70x70xf32>, tensor<3x70x5xf32>) -> tensor<3x70x5xf32>
  %1 = "stablehlo.triangular_solve"(%upper, %b) <{left_side = true, lower = false, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x70x70xf32>, tensor<3x70x5xf32>) -> tensor<3x70x5xf32>
  %2 = "stablehlo.triangular_solve"(%strict, %b) <{left_side = true, lower = true, unit_diagonal = true,
      transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x70x70xf32>, tensor<3x70x5xf32>) -> tensor<3x70x5xf32>
  %3 = "stablehlo.triangular_solve"(%upper, %turned) <{left_side = false, lower = false, unit_diagonal = false,
      transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x70x70xf32>, tensor<3x5x70xf32>) -> tensor<3x5x70xf32>
  %4 = "stablehlo.triangular_solve"(%lower, %turned) <{left_side = false, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x70x70xf32>, tensor<3x5x70xf32>) -> tensor<3x5x70xf32>
  %5 = "stablehlo.triangular_solve"(%lower, %one) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x70x70xf32>, tensor<3x70x1xf32>) -> tensor<3x70x1xf32>
  %p = stablehlo.dot_general %small, %small, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x70x70xf32>, tensor<3x70x70xf32>) -> tensor<3x70x70xf32>
  %q = stablehlo.select %eq, %two, %p : tensor<3x70x70xi1>, tensor<3x70x70xf32>
  %ql = stablehlo.select %above, %nan, %q : tensor<3x70x70xi1>, tensor<3x70x70xf32>
  %6 = stablehlo.cholesky %ql, lower = true : tensor<3x70x70xf32>
  %qu = stablehlo.select %below, %nan, %q : tensor<3x70x70xi1>, tensor<3x70x70xf32>
  %7 = stablehlo.cholesky %qu, lower = false : tensor<3x70x70xf32>
  %re = stablehlo.real %c : (tensor<3x70x70xcomplex<f32>>) -> tensor<3x70x70xf32>
  %im = stablehlo.imag %c : (tensor<3x70x70xcomplex<f32>>) -> tensor<3x70x70xf32>
  %re1 = stablehlo.multiply %re, %tenth : tensor<3x70x70xf32>
  %im1 = stablehlo.multiply %im, %tenth : tensor<3x70x70xf32>
  %re2 = stablehlo.select %eq, %two, %re1 : tensor<3x70x70xi1>, tensor<3x70x70xf32>
  %t = stablehlo.complex %re2, %im1 : tensor<3x70x70xcomplex<f32>>
  %8 = "stablehlo.triangular_solve"(%t, %c) <{left_side = true, lower = false, unit_diagonal = false,
      transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x70x70xcomplex<f32>>, tensor<3x70x70xcomplex<f32>>) -> tensor<3x70x70xcomplex<f32>>
  %none = stablehlo.constant dense<0.0> : tensor<3x70x70xf32>
  %im2 = stablehlo.select %eq, %none, %im1 : tensor<3x70x70xi1>, tensor<3x70x70xf32>
  %nine = stablehlo.constant dense<9.0> : tensor<3x70x70xf32>
  %re3 = stablehlo.select %eq, %nine, %re1 : tensor<3x70x70xi1>, tensor<3x70x70xf32>
  %h = stablehlo.complex %re3, %im2 : tensor<3x70x70xcomplex<f32>>
  %9 = stablehlo.cholesky %h, lower = true : tensor<3x70x70xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<3x70x5xf32>, tensor<3x70x5xf32>, tensor<3x70x5xf32>, tensor<3x5x70xf32>, tensor<3x5x70xf32>, tensor<3x70x1xf32>, tensor<3x70x70xf32>, tensor<3x70x70xf32>, tensor<3x70x70xcomplex<f32>>, tensor<3x70x70xcomplex<f32>>
}
