func.func @main(%x0: tensor<3xf8E3M4>, %x1: tensor<3xf8E4M3>, %x2: tensor<3xf8E4M3B11FNUZ>, %x3: tensor<3xf8E4M3FN>, %x4: tensor<3xf8E4M3FNUZ>, %x5: tensor<3xf8E5M2>, %x6: tensor<3xf8E5M2FNUZ>, %x7: tensor<3xf8E8M0FNU>, %x8: tensor<3xi4>, %x9: tensor<3xui4>) -> (tensor<3xf8E3M4>, tensor<3xf8E4M3>, tensor<3xf8E4M3B11FNUZ>, tensor<3xf8E4M3FN>, tensor<3xf8E4M3FNUZ>, tensor<3xf8E5M2>, tensor<3xf8E5M2FNUZ>, tensor<3xf8E8M0FNU>, tensor<3xi4>, tensor<3xui4>) {
  %r0 = stablehlo.reverse %x0, dims = [0] : tensor<3xf8E3M4>
  %r1 = stablehlo.reverse %x1, dims = [0] : tensor<3xf8E4M3>
  %r2 = stablehlo.reverse %x2, dims = [0] : tensor<3xf8E4M3B11FNUZ>
  %r3 = stablehlo.reverse %x3, dims = [0] : tensor<3xf8E4M3FN>
  %r4 = stablehlo.reverse %x4, dims = [0] : tensor<3xf8E4M3FNUZ>
  %r5 = stablehlo.reverse %x5, dims = [0] : tensor<3xf8E5M2>
  %r6 = stablehlo.reverse %x6, dims = [0] : tensor<3xf8E5M2FNUZ>
  %r7 = stablehlo.reverse %x7, dims = [0] : tensor<3xf8E8M0FNU>
  %r8 = stablehlo.reverse %x8, dims = [0] : tensor<3xi4>
  %r9 = stablehlo.reverse %x9, dims = [0] : tensor<3xui4>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9 : tensor<3xf8E3M4>, tensor<3xf8E4M3>, tensor<3xf8E4M3B11FNUZ>, tensor<3xf8E4M3FN>, tensor<3xf8E4M3FNUZ>, tensor<3xf8E5M2>, tensor<3xf8E5M2FNUZ>, tensor<3xf8E8M0FNU>, tensor<3xi4>, tensor<3xui4>
}
