// RUN: %npz write %t.npz 'in0=<f4:1:0.25' in1='<i4::7' 'in2=<b1::0' 'out0=<f4:1:-8' 'out1=<f4:1:-0.25'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz
// A result of a branch is carried by a loop, of which another branch makes the first output, and is the second output itself: built
// in the first, it was read there after the loop's last value had been written over it (program 41 of seed 3015, --kinds=gather_boxes,
// scatter_others,cholesky,sort,branch).
func.func @main(%arg0: tensor<1xf32>,
                %arg1: tensor<i32>,
                %arg2: tensor<i1>)
    -> (tensor<1xf32>,
        tensor<1xf32>) {
  %low0 = stablehlo.constant dense<-1000.0> : tensor<f32>
  %0 = "stablehlo.case"(%arg1) ({
  %r0 = stablehlo.reduce(%arg0 init: %low0) applies stablehlo.maximum across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  %m0 = stablehlo.broadcast_in_dim %r0, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %h0 = stablehlo.subtract %arg0, %m0 : tensor<1xf32>
  stablehlo.return %h0 : tensor<1xf32>
  }, {
  %u0 = stablehlo.reverse %arg0, dims = [0] : tensor<1xf32>
  stablehlo.return %u0 : tensor<1xf32>
  }, {
  %k0 = stablehlo.negate %arg0 : tensor<1xf32>
  stablehlo.return %k0 : tensor<1xf32>
  }) : (tensor<i32>) -> tensor<1xf32>
  %zero1 = stablehlo.constant dense<0> : tensor<i32>
  %one1 = stablehlo.constant dense<1> : tensor<i32>
  %most1 = stablehlo.constant dense<5> : tensor<i32>
  %two1 = stablehlo.constant dense<2> : tensor<i32>
  %low1 = stablehlo.constant dense<-1000.0> : tensor<f32>
  %limit1 = stablehlo.constant dense<16.0> : tensor<f32>
  %w1:2 = stablehlo.while(%i1 = %zero1, %x1 = %0) : tensor<i32>, tensor<1xf32>
   cond {
  %m1 = stablehlo.reduce(%x1 init: %low1) applies stablehlo.maximum across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  %s1 = stablehlo.compare LT, %m1, %limit1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %l1 = stablehlo.compare LT, %i1, %most1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %c1 = stablehlo.and %s1, %l1 : tensor<i1>
  stablehlo.return %c1 : tensor<i1>
  } do {
  %v1:2 = stablehlo.while(%k1 = %zero1, %y1 = %x1) : tensor<i32>, tensor<1xf32>
   cond {
  %e1 = stablehlo.compare LT, %k1, %two1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %e1 : tensor<i1>
  } do {
  %o1 = stablehlo.reverse %y1, dims = [0] : tensor<1xf32>
  %q1 = stablehlo.add %k1, %one1 : tensor<i32>
  %g1 = stablehlo.minimum %o1, %y1 : tensor<1xf32>
  stablehlo.return %q1, %g1 : tensor<i32>, tensor<1xf32>
  }
  %d1 = stablehlo.add %v1#1, %v1#1 : tensor<1xf32>
  %j1 = stablehlo.add %i1, %one1 : tensor<i32>
  stablehlo.return %j1, %d1 : tensor<i32>, tensor<1xf32>
  }
  %1 = stablehlo.negate %w1#1 : tensor<1xf32>
  %low2 = stablehlo.constant dense<-1000.0> : tensor<f32>
  %2 = "stablehlo.if"(%arg2) ({
  %r2 = stablehlo.reduce(%1 init: %low2) applies stablehlo.maximum across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  %m2 = stablehlo.broadcast_in_dim %r2, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %h2 = stablehlo.subtract %1, %m2 : tensor<1xf32>
  stablehlo.return %h2 : tensor<1xf32>
  }, {
  %k2 = stablehlo.negate %1 : tensor<1xf32>
  stablehlo.return %k2 : tensor<1xf32>
  }) : (tensor<i1>) -> tensor<1xf32>
  %low3 = stablehlo.constant dense<-1000.0> : tensor<f32>
  %3 = "stablehlo.case"(%arg1) ({
  %r3 = stablehlo.reduce(%arg0 init: %low3) applies stablehlo.maximum across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  %m3 = stablehlo.broadcast_in_dim %r3, dims = [] : (tensor<f32>) -> tensor<1xf32>
  %h3 = stablehlo.subtract %arg0, %m3 : tensor<1xf32>
  stablehlo.return %h3 : tensor<1xf32>
  }, {
  %u3 = stablehlo.reverse %arg0, dims = [0] : tensor<1xf32>
  stablehlo.return %u3 : tensor<1xf32>
  }, {
  %k3 = stablehlo.negate %arg0 : tensor<1xf32>
  stablehlo.return %k3 : tensor<1xf32>
  }) : (tensor<i32>) -> tensor<1xf32>
  return %2, %3 : tensor<1xf32>, tensor<1xf32>
}
