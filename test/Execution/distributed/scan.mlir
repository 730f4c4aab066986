// RUN: shard-run %s --check --seed=1
// RUN: shard-run %s --check --mesh=x=5,y=1 --seed=2
// RUN: shard-run %s --check --mesh=x=2,y=3 --seed=3
// RUN: shard-run %s --check --seed=4 --sizes=0:0=0,10,2,1 --sizes=1:1=0,7,0,0 --sizes=2:0=11,1,0,1
// Running reductions along a cut dim, forwards and backwards: one total a rank
// travels. bf16 sums are rounded once.
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<13x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %b: tensor<2x7xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %c: tensor<13xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %d: tensor<6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>})
    -> (tensor<13x3xf32>, tensor<13x3xf32>, tensor<2x7xi32>, tensor<2x7xi32>, tensor<13xbf16>, tensor<6x5xf32>, tensor<6x5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zi = stablehlo.constant dense<0> : tensor<i32>
  %li = stablehlo.constant dense<-2147483648> : tensor<i32>
  %zb = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = "stablehlo.reduce_window"(%a, %zero) <{padding = dense<[[12, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 13, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<13x3xf32>, tensor<f32>) -> tensor<13x3xf32>
  %1 = "stablehlo.reduce_window"(%a, %one) <{padding = dense<[[0, 12], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 13, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.multiply %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<13x3xf32>, tensor<f32>) -> tensor<13x3xf32>
  %2 = "stablehlo.reduce_window"(%b, %li) <{padding = dense<[[0, 0], [6, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 7>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.maximum %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2x7xi32>, tensor<i32>) -> tensor<2x7xi32>
  %3 = "stablehlo.reduce_window"(%b, %zi) <{padding = dense<[[0, 0], [0, 6]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 7>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2x7xi32>, tensor<i32>) -> tensor<2x7xi32>
  %4 = "stablehlo.reduce_window"(%c, %zb) <{padding = dense<[[12, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 13>}> ({
  ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
    %s = stablehlo.add %x, %y : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) : (tensor<13xbf16>, tensor<bf16>) -> tensor<13xbf16>
  // cumlogsumexp, forwards, and over both axes.
  %5 = "stablehlo.reduce_window"(%d, %least) <{padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 5>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.maximum %x, %y : tensor<f32>
    %u = stablehlo.subtract %x, %y : tensor<f32>
    %n = stablehlo.compare NE, %u, %u, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %t = stablehlo.add %x, %y : tensor<f32>
    %v = stablehlo.abs %u : tensor<f32>
    %w = stablehlo.negate %v : tensor<f32>
    %e = stablehlo.exponential %w : tensor<f32>
    %l = stablehlo.log_plus_one %e : tensor<f32>
    %k = stablehlo.add %m, %l : tensor<f32>
    %r = stablehlo.select %n, %t, %k : tensor<i1>, tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<6x5xf32>, tensor<f32>) -> tensor<6x5xf32>
  %6 = "stablehlo.reduce_window"(%d, %least) <{padding = dense<[[0, 0], [0, 4]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 5>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<6x5xf32>, tensor<f32>) -> tensor<6x5xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<13x3xf32>, tensor<13x3xf32>, tensor<2x7xi32>, tensor<2x7xi32>, tensor<13xbf16>, tensor<6x5xf32>, tensor<6x5xf32>
}
