func.func @main(%x: tensor<3xui8>) -> tensor<3xui8> {
  return %x : tensor<3xui8>
}
