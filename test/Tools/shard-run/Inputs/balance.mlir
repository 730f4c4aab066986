module @work {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%state: tensor<200000x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %w: tensor<200000xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<200000x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<8xf32>) {
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %wide = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<200000xf32>) -> tensor<200000x8xf32>
    %a = stablehlo.tanh %state : tensor<200000x8xf32>
    %b = stablehlo.exponential %a : tensor<200000x8xf32>
    %c = stablehlo.sine %b : tensor<200000x8xf32>
    %d = stablehlo.tanh %c : tensor<200000x8xf32>
    %next = stablehlo.add %d, %wide : tensor<200000x8xf32>
    %most = stablehlo.reduce(%next init: %least) applies stablehlo.maximum across dimensions = [0]
        : (tensor<200000x8xf32>, tensor<f32>) -> tensor<8xf32>
    return %next, %most : tensor<200000x8xf32>, tensor<8xf32>
  }
}
