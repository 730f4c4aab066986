// A product with enough tiles for those of 128 x 256 on sm_90a, the last ones cut off at the edges.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=1e-4
func.func @main(%a: tensor<1480x72xbf16>, %b: tensor<72x2760xbf16>) -> tensor<1480x2760xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1480x72xbf16>, tensor<72x2760xbf16>) -> tensor<1480x2760xf32>
  return %0 : tensor<1480x2760xf32>
}
