// Transposes of short elements, in tiles of 32 by 32 and with what these leave over: even, uneven and empty shards.
// RUN: shard-run %s --seed=1 --check=interpreter --rtol=0 --atol=0
// RUN: shard-run %s --seed=2 --check=interpreter --rtol=0 --atol=0 --mesh=x=1 --threads=3
// RUN: shard-run %s --seed=3 --check=interpreter --rtol=0 --atol=0 --mesh=x=3 --sizes=0:0=70,0,122 --sizes=1:0=513,3,29
// RUN: shard-run %s --seed=4 --check=interpreter --rtol=0 --atol=0 --dynamic=all --sizes=0:0=33,159
// RUN: shard-run %s --seed=5 --check=interpreter --rtol=0 --atol=0 --machine=generic,shared_cache=64B
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<192x160xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<545x1031xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %c: tensor<6x64x96xf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
                %d: tensor<64x33x256xui16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>})
    -> (tensor<160x192xbf16>, tensor<1031x545xi8>, tensor<6x96x64xf16>, tensor<256x64x33xui16>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<192x160xbf16>) -> tensor<160x192xbf16>
  %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<545x1031xi8>) -> tensor<1031x545xi8>
  %2 = stablehlo.transpose %c, dims = [0, 2, 1] : (tensor<6x64x96xf16>) -> tensor<6x96x64xf16>
  %3 = stablehlo.transpose %d, dims = [2, 0, 1] : (tensor<64x33x256xui16>) -> tensor<256x64x33xui16>
  return %0, %1, %2, %3 : tensor<160x192xbf16>, tensor<1031x545xi8>, tensor<6x96x64xf16>, tensor<256x64x33xui16>
}
