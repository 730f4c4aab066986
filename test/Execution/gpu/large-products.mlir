// Products large enough for tiles of 128 x 128 results.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --kernel-schedule=run-ahead --expect=@%t.npz --atol=1e-4
func.func @main(%a: tensor<1000x24xbf16>, %b: tensor<24x1000xbf16>, %x: tensor<1000x20xf32>, %y: tensor<20x1000xf32>)
    -> (tensor<1000x1000xf32>, tensor<1000x1000xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1000x24xbf16>, tensor<24x1000xbf16>) -> tensor<1000x1000xf32>
  %1 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<1000x20xf32>, tensor<20x1000xf32>) -> tensor<1000x1000xf32>
  return %0, %1 : tensor<1000x1000xf32>, tensor<1000x1000xf32>
}
