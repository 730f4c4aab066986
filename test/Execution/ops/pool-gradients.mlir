// RUN: shard-run %s --check=interpreter --threads=2
// RUN: shard-run %s --check=interpreter --arch=x86-64-v3
// Gradients of pooling, as elementwise work over cells of elements: windows side by side, over one another and with gaps, the last
// cell cut, padding, elements that no window has, and a start that is not zero. Rounded inputs have ties.
func.func @main(%x: tensor<2x11x70xf32>, %a: tensor<2x5x35xf32>, %b: tensor<2x5x34xf32>, %c: tensor<2x4x24xf32>,
                %y: tensor<5x37xbf16>, %d: tensor<1x9xbf16>, %e: tensor<3x33xf64>)
    -> (tensor<2x11x70xf32>, tensor<2x11x70xf32>, tensor<2x11x70xf32>, tensor<5x37xbf16>, tensor<6x99xf64>, tensor<7x67xf64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %start = stablehlo.constant dense<1.5> : tensor<f32>
  %r = stablehlo.round_nearest_even %x : tensor<2x11x70xf32>
  %0 = "stablehlo.select_and_scatter"(%r, %a, %start) <{window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %more = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %sum = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x11x70xf32>, tensor<2x5x35xf32>, tensor<f32>) -> tensor<2x11x70xf32>
  %1 = "stablehlo.select_and_scatter"(%r, %b, %start) <{window_dimensions = array<i64: 1, 3, 3>, window_strides = array<i64: 1, 2, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %more = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %sum = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x11x70xf32>, tensor<2x5x34xf32>, tensor<f32>) -> tensor<2x11x70xf32>
  %2 = "stablehlo.select_and_scatter"(%r, %c, %zero) <{padding = dense<[[0, 0], [1, 1], [2, 0]]> : tensor<3x2xi64>,
      window_dimensions = array<i64: 1, 4, 2>, window_strides = array<i64: 1, 3, 3>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %more = stablehlo.compare LE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %sum = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x11x70xf32>, tensor<2x4x24xf32>, tensor<f32>) -> tensor<2x11x70xf32>
  %short = stablehlo.constant dense<0.0> : tensor<bf16>
  %3 = "stablehlo.select_and_scatter"(%y, %d, %short) <{window_dimensions = array<i64: 3, 4>, window_strides = array<i64: 5, 4>}> ({
  ^bb0(%p: tensor<bf16>, %q: tensor<bf16>):
    %more = stablehlo.compare GE, %p, %q : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }, {
  ^bb0(%p: tensor<bf16>, %q: tensor<bf16>):
    %sum = stablehlo.add %p, %q : tensor<bf16>
    stablehlo.return %sum : tensor<bf16>
  }) : (tensor<5x37xbf16>, tensor<1x9xbf16>, tensor<bf16>) -> tensor<5x37xbf16>
  %none = stablehlo.constant dense<0.0> : tensor<f64>
  %4 = "stablehlo.reduce_window"(%e, %none) <{base_dilations = array<i64: 2, 3>, padding = dense<[[1, 1], [2, 2]]> : tensor<2x2xi64>,
      window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%p: tensor<f64>, %q: tensor<f64>):
    %sum = stablehlo.add %p, %q : tensor<f64>
    stablehlo.return %sum : tensor<f64>
  }) : (tensor<3x33xf64>, tensor<f64>) -> tensor<6x99xf64>
  %spread = stablehlo.pad %e, %none, low = [2, 2], high = [2, 2], interior = [1, 1] : (tensor<3x33xf64>, tensor<f64>) -> tensor<9x69xf64>
  %5 = "stablehlo.reduce_window"(%spread, %none) <{window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%p: tensor<f64>, %q: tensor<f64>):
    %sum = stablehlo.add %p, %q : tensor<f64>
    stablehlo.return %sum : tensor<f64>
  }) : (tensor<9x69xf64>, tensor<f64>) -> tensor<7x67xf64>
  return %0, %1, %2, %3, %4, %5 : tensor<2x11x70xf32>, tensor<2x11x70xf32>, tensor<2x11x70xf32>, tensor<5x37xbf16>, tensor<6x99xf64>, tensor<7x67xf64>
}
