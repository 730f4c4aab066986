// RUN: %npz write %t.npz 'in0=<f4:3x9:0,-0,nan,1,nan,-inf,inf,inf,2,5,5,5,5,5,5,5,5,5,-1,-0,0,-2,-inf,-3,-4,-5,-6' 'in1=<f4:9:1,7,7,8,7,8,0,0,0'
// RUN: shard-run %s --check --rtol=0 --atol=0 --inputs=@%t.npz
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=2,y=2 --inputs=@%t.npz
// RUN: shard-run %s --check --rtol=0 --atol=0 --mesh=x=5,y=1 --inputs=@%t.npz --sizes=0:1=1,0,5,0,3 --sizes=1:0=0,0,2,2,5
// RUN: shard-run %s --check --rtol=0 --atol=0 --seed=3
// top_k, argmax, and a body that nobody knows, along a cut dim: NaN, ties, zeros of
// both signs, blocks shorter than k, and an initial value that counts once.
sdy.mesh @mesh = <["x"=4, "y"=1]>
func.func @main(%a: tensor<3x9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
                %b: tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<3x4xf32>, tensor<3x4xi32>, tensor<3x1xf32>, tensor<3x1xi32>, tensor<3xf32>, tensor<3xi32>, tensor<f32>, tensor<i32>, tensor<complex<f32>>) {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<3x9xf32> -> (tensor<3x4xf32>, tensor<3x4xi32>)
  %1:2 = chlo.top_k(%a, k = 1) : tensor<3x9xf32> -> (tensor<3x1xf32>, tensor<3x1xi32>)
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %places = stablehlo.iota dim = 1 : tensor<3x9xi32>
  %2:2 = stablehlo.reduce(%a init: %least), (%places init: %first) across dimensions = [1] : (tensor<3x9xf32>, tensor<3x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
    reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %gt = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %value = stablehlo.or %gt, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %eq, %lt : tensor<i1>
    %place = stablehlo.or %value, %tie : tensor<i1>
    %v = stablehlo.select %value, %x, %y : tensor<i1>, tensor<f32>
    %w = stablehlo.select %place, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  %seven = stablehlo.constant dense<7.0> : tensor<f32>
  %minus = stablehlo.constant dense<-1> : tensor<i32>
  %line = stablehlo.iota dim = 0 : tensor<9xi32>
  // The last of those that equal the initial value, else what came before.
  %3:2 = stablehlo.reduce(%b init: %seven), (%line init: %minus) across dimensions = [0] : (tensor<9xf32>, tensor<9xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %ge = stablehlo.compare GE, %y, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %ge, %y, %x : tensor<i1>, tensor<f32>
    %w = stablehlo.select %ge, %q, %p : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  %z = stablehlo.constant dense<(2.0, 0.0)> : tensor<complex<f32>>
  %ones = stablehlo.constant dense<1.0> : tensor<9xf32>
  %c = stablehlo.complex %ones, %ones : tensor<9xcomplex<f32>>
  %4 = stablehlo.reduce(%c init: %z) applies stablehlo.multiply across dimensions = [0] : (tensor<9xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %0#0, %0#1, %1#0, %1#1, %2#0, %2#1, %3#0, %3#1, %4 : tensor<3x4xf32>, tensor<3x4xi32>, tensor<3x1xf32>, tensor<3x1xi32>, tensor<3xf32>, tensor<3xi32>, tensor<f32>, tensor<i32>, tensor<complex<f32>>
}
