// Products with tiles enough for pairs of blocks on a GPU of four multiprocessors: both directions of both operands, a batch, edges.
func.func @main(%a: tensor<300x136xbf16>, %b: tensor<136x520xbf16>, %c: tensor<136x304xbf16>, %d: tensor<2x264x72xbf16>, %e: tensor<2x280x72xbf16>)
    -> (tensor<300x520xf32>, tensor<304x520xf32>, tensor<2x264x280xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<300x136xbf16>, tensor<136x520xbf16>) -> tensor<300x520xf32>
  %1 = stablehlo.dot_general %c, %b, contracting_dims = [0] x [0] : (tensor<136x304xbf16>, tensor<136x520xbf16>) -> tensor<304x520xf32>
  %2 = stablehlo.dot_general %d, %e, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x264x72xbf16>, tensor<2x280x72xbf16>) -> tensor<2x264x280xf32>
  return %0, %1, %2 : tensor<300x520xf32>, tensor<304x520xf32>, tensor<2x264x280xf32>
}
