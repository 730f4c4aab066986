// Maxima and minima forgot the sign of zero, and those over all pairs what was NaN. Zeros are shown as their inverses.
// RUN: %npz write %t.npz 'in0=<f4:3x11:-0,-0,-0,-0,-0,-0,-0,-0,-0,-0,-0,-0,-0,-0,0,-0,-0,-0,-0,-0,-0,-0,nan,-0,0,0,0,0,0,0,0,0,0' \
// RUN:   'in1=<f4:3x1:0,1,2' 'in2=<f4:4x1:1,nan,3,4' \
// RUN:   'out0=<f4:3:-inf,inf,nan' 'out1=<f4:3:-inf,-inf,nan' 'out2=<f2:3:-inf,inf,nan' 'out3=<f4:11:nan,-inf,inf,inf,inf,inf,inf,inf,inf,inf,inf' \
// RUN:   'out4=<f4:3x11:-inf,-inf,-inf,-inf,-inf,-inf,-inf,-inf,-inf,-inf,-inf,-inf,-inf,-inf,inf,-inf,-inf,-inf,-inf,-inf,-inf,-inf,nan,-inf,inf,inf,inf,inf,inf,inf,inf,inf,inf' \
// RUN:   'out5=<f4:3:nan,nan,nan' 'out6=<f4:3:nan,nan,nan'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --sizes=0:1=2,0,9
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --mesh=x=1
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --device=emulated-cuda
spmd.mesh @mesh = <["x"=3]>
func.func @main(%x: tensor<3x11xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>},
                %p: tensor<3x1xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
                %q: tensor<4x1xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf16>, tensor<11xf32>, tensor<3x11xf32>, tensor<3xf32>, tensor<3xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %high = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %low16 = stablehlo.constant dense<0xFC00> : tensor<f16>
  %most = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<3x11xf32>, tensor<f32>) -> tensor<3xf32>
  %least = stablehlo.reduce(%x init: %high) applies stablehlo.minimum across dimensions = [1] : (tensor<3x11xf32>, tensor<f32>) -> tensor<3xf32>
  %narrow = stablehlo.convert %x : (tensor<3x11xf32>) -> tensor<3x11xf16>
  %most16 = stablehlo.reduce(%narrow init: %low16) applies stablehlo.maximum across dimensions = [1] : (tensor<3x11xf16>, tensor<f16>) -> tensor<3xf16>
  %columns = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<3x11xf32>, tensor<f32>) -> tensor<11xf32>
  %minus = stablehlo.constant dense<-0.0> : tensor<3x11xf32>
  %each = stablehlo.maximum %minus, %x : tensor<3x11xf32>
  // The farthest and the nearest of points, one of which is nowhere.
  %a = stablehlo.broadcast_in_dim %p, dims = [0, 2] : (tensor<3x1xf32>) -> tensor<3x4x1xf32>
  %b = stablehlo.broadcast_in_dim %q, dims = [1, 2] : (tensor<4x1xf32>) -> tensor<3x4x1xf32>
  %difference = stablehlo.subtract %a, %b : tensor<3x4x1xf32>
  %square = stablehlo.multiply %difference, %difference : tensor<3x4x1xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %distance = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x4x1xf32>, tensor<f32>) -> tensor<3x4xf32>
  %far = stablehlo.reduce(%distance init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %near = stablehlo.reduce(%distance init: %high) applies stablehlo.minimum across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %unit = stablehlo.constant dense<1.0> : tensor<3xf32>
  %unit16 = stablehlo.constant dense<1.0> : tensor<3xf16>
  %unit11 = stablehlo.constant dense<1.0> : tensor<11xf32>
  %unitEach = stablehlo.constant dense<1.0> : tensor<3x11xf32>
  %r0 = stablehlo.divide %unit, %most : tensor<3xf32>
  %r1 = stablehlo.divide %unit, %least : tensor<3xf32>
  %r2 = stablehlo.divide %unit16, %most16 : tensor<3xf16>
  %r3 = stablehlo.divide %unit11, %columns : tensor<11xf32>
  %r4 = stablehlo.divide %unitEach, %each : tensor<3x11xf32>
  return %r0, %r1, %r2, %r3, %r4, %far, %near
      : tensor<3xf32>, tensor<3xf32>, tensor<3xf16>, tensor<11xf32>, tensor<3x11xf32>, tensor<3xf32>, tensor<3xf32>
}
