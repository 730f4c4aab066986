// Ops on the same rows in one kernel: softmax, a residual and a layer's normalisation; a warp a row, a block a row, rows that do not fill the
// last block, 16-bit elements, rows as many as a rank knows when it runs (none on one rank). The host's kernels must agree.
// RUN: shard-run %s --seed=3 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-5
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-5
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=random=4 --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-5
// RUN: shard-run %s --seed=3 --mesh=x=3 --sizes=0:1=60,0,73 --sizes=1:0=100,0,31 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-5
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<2x133x65xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>},
                %h: tensor<131x600xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %g: tensor<65xf32>)
    -> (tensor<2x133x65xf32>, tensor<2x133x65xf32>, tensor<131x600xbf16>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %n = stablehlo.constant dense<65.0> : tensor<2x133xf32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<2x133x65xf32>, tensor<f32>) -> tensor<2x133xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x133xf32>) -> tensor<2x133x65xf32>
  %d = stablehlo.subtract %x, %mb : tensor<2x133x65xf32>
  %e = stablehlo.exponential %d : tensor<2x133x65xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x133x65xf32>, tensor<f32>) -> tensor<2x133xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<2x133xf32>) -> tensor<2x133x65xf32>
  %p = stablehlo.divide %e, %sb : tensor<2x133x65xf32>
  %res = stablehlo.add %p, %x : tensor<2x133x65xf32>
  %t = stablehlo.reduce(%res init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x133x65xf32>, tensor<f32>) -> tensor<2x133xf32>
  %mean = stablehlo.divide %t, %n : tensor<2x133xf32>
  %meanb = stablehlo.broadcast_in_dim %mean, dims = [0, 1] : (tensor<2x133xf32>) -> tensor<2x133x65xf32>
  %c = stablehlo.subtract %res, %meanb : tensor<2x133x65xf32>
  %cc = stablehlo.multiply %c, %c : tensor<2x133x65xf32>
  %v = stablehlo.reduce(%cc init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x133x65xf32>, tensor<f32>) -> tensor<2x133xf32>
  %var = stablehlo.divide %v, %n : tensor<2x133xf32>
  %r = stablehlo.rsqrt %var : tensor<2x133xf32>
  %rb = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<2x133xf32>) -> tensor<2x133x65xf32>
  %y = stablehlo.multiply %c, %rb : tensor<2x133x65xf32>
  %gb = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<65xf32>) -> tensor<2x133x65xf32>
  %yg = stablehlo.multiply %y, %gb : tensor<2x133x65xf32>
  // Largest elements of rows, which are maxima and no sums, so that 16 bits are the same bits.
  %hlow = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %hm = stablehlo.reduce(%h init: %hlow) applies stablehlo.maximum across dimensions = [1] : (tensor<131x600xbf16>, tensor<bf16>) -> tensor<131xbf16>
  %hb = stablehlo.broadcast_in_dim %hm, dims = [0] : (tensor<131xbf16>) -> tensor<131x600xbf16>
  %hs = stablehlo.subtract %h, %hb : tensor<131x600xbf16>
  return %p, %yg, %hs : tensor<2x133x65xf32>, tensor<2x133x65xf32>, tensor<131x600xbf16>
}
