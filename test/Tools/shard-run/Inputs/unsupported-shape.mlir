func.func @main(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  return %x : tensor<?x6xf32>
}
