// Factors and triangular systems of floats narrower than f32, whose numbers here they all hold:
// [[4, 2], [2, 5]] = L Lt with L = [[2, 0], [1, 2]], and L x = [2, 5] for x = [1, 2], the systems of two devices.
// RUN: %npz write %t.npz 'in0=<f4:2x2x2:4,2,2,5,4,2,2,5' 'in1=<f4:2x2x1:2,5,4,10' 'out0=<f4:2x2x2:2,0,1,2,2,0,1,2' 'out1=<f4:2x2x1:1,2,2,4' \
// RUN:   'out2=<f4:2x2x1:1,2,2,4' 'out3=<f4:2x2x1:1,2,2,4'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --check=interpreter
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --device=emulated-cuda
// RUN: shard-opt %s --spmd-decompose-ops | FileCheck %s
// CHECK: stablehlo.cholesky %{{.*}}, lower = true : tensor<2x2x2xf32>
// CHECK: stablehlo.convert %{{.*}} : (tensor<2x2x2xf32>) -> tensor<2x2x2xbf16>
// CHECK-NOT: stablehlo.triangular_solve{{.*}}(tensor<2x2x2x{{bf16|f16|f8}}
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<2x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %b: tensor<2x2x1xf32>)
    -> (tensor<2x2x2xf32>, tensor<2x2x1xf32>, tensor<2x2x1xf32>, tensor<2x2x1xf32>) {
  %a16 = stablehlo.convert %a : (tensor<2x2x2xf32>) -> tensor<2x2x2xbf16>
  %l16 = stablehlo.cholesky %a16, lower = true : tensor<2x2x2xbf16>
  %b16 = stablehlo.convert %b : (tensor<2x2x1xf32>) -> tensor<2x2x1xbf16>
  %x16 = "stablehlo.triangular_solve"(%l16, %b16) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2x2xbf16>, tensor<2x2x1xbf16>) -> tensor<2x2x1xbf16>
  %l = stablehlo.convert %l16 : (tensor<2x2x2xbf16>) -> tensor<2x2x2xf32>
  %x = stablehlo.convert %x16 : (tensor<2x2x1xbf16>) -> tensor<2x2x1xf32>
  %lh = stablehlo.convert %l16 : (tensor<2x2x2xbf16>) -> tensor<2x2x2xf16>
  %bh = stablehlo.convert %b : (tensor<2x2x1xf32>) -> tensor<2x2x1xf16>
  %xh = "stablehlo.triangular_solve"(%lh, %bh) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2x2xf16>, tensor<2x2x1xf16>) -> tensor<2x2x1xf16>
  %y = stablehlo.convert %xh : (tensor<2x2x1xf16>) -> tensor<2x2x1xf32>
  %l8 = stablehlo.convert %l16 : (tensor<2x2x2xbf16>) -> tensor<2x2x2xf8E4M3FN>
  %b8 = stablehlo.convert %b : (tensor<2x2x1xf32>) -> tensor<2x2x1xf8E4M3FN>
  %x8 = "stablehlo.triangular_solve"(%l8, %b8) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2x2xf8E4M3FN>, tensor<2x2x1xf8E4M3FN>) -> tensor<2x2x1xf8E4M3FN>
  %z = stablehlo.convert %x8 : (tensor<2x2x1xf8E4M3FN>) -> tensor<2x2x1xf32>
  return %l, %x, %y, %z : tensor<2x2x2xf32>, tensor<2x2x1xf32>, tensor<2x2x1xf32>, tensor<2x2x1xf32>
}
