// RUN: shard-run %s --ranks=3 --seed=1 --check
// A branch makes a block, hands it on and exchanges it: the block has no place among the margins, since what the branch
// yields is a buffer of its own type. It was refused ("'scf.if' op … should match successor input type").
sdy.mesh @mesh = <["x"=3]>
func.func @main(%x: tensor<9x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<9x4xf32>, tensor<9x4xf32>) {
  %first = stablehlo.slice %x [0:1, 0:1] : (tensor<9x4xf32>) -> tensor<1x1xf32>
  %scalar = stablehlo.reshape %first : (tensor<1x1xf32>) -> tensor<f32>
  %low = stablehlo.constant dense<-2.0> : tensor<f32>
  %p = stablehlo.compare GT, %scalar, %low : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = "stablehlo.if"(%p) ({
    %1 = stablehlo.add %x, %x : tensor<9x4xf32>
    %2 = "stablehlo.reduce_window"(%1, %zero) <{padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<9x4xf32>, tensor<f32>) -> tensor<9x4xf32>
    stablehlo.return %1, %2 : tensor<9x4xf32>, tensor<9x4xf32>
  }, {
    stablehlo.return %x, %x : tensor<9x4xf32>, tensor<9x4xf32>
  }) : (tensor<i1>) -> (tensor<9x4xf32>, tensor<9x4xf32>)
  return %0#0, %0#1 : tensor<9x4xf32>, tensor<9x4xf32>
}
