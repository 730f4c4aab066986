// RUN: shard-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{mesh has two axes named "x"}}
spmd.mesh @mesh = <["x"=4, "x"=2]>

// -----

// expected-error@+1 {{mesh axis "x" has size 0, expected at least 1}}
spmd.mesh @mesh = <["x"=0]>

// -----

// expected-error@+1 {{mesh has more than 65536 ranks}}
spmd.mesh @mesh = <["x"=4096, "y"=4096]>

// -----

spmd.mesh @mesh = <["x"=4]>
// expected-error@+2 {{argument 0: sizes along "x" add up to 1020, but dim 0 has 1024 elements}}
// expected-note@+1 {{sizes given here: [300, 200, 100, 420]}}
func.func @sizes(%a: tensor<1024xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [300, 200, 100, 420]}]>}) {
  return
}

// -----

spmd.mesh @mesh = <["x"=4]>
// expected-error@+1 {{argument 0: sharding gives 3 sizes for dim 0, but "x" has 4 shards}}
func.func @count(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [3, 2, 3]}]>}) {
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
// expected-error@+1 {{argument 0: sharding gives a negative size for dim 0: [9, -1]}}
func.func @negative(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [9, -1]}]>}) {
  return
}

// -----

spmd.mesh @mesh = <["x"=4, "y"=2]>
// expected-error@+1 {{argument 0: sharding names axis "z", but mesh @mesh has "x", "y"}}
func.func @axis(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"z"}]>}) {
  return
}

// -----

spmd.mesh @mesh = <["x"=4]>
// expected-error@+1 {{argument 0: sharding uses axis "x" twice; an axis cuts at most one dim}}
func.func @twice(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"x"}]>}) {
  return
}

// -----

spmd.mesh @mesh = <["x"=4]>
// expected-error@+1 {{argument 0: sharding has 1 dims, but the tensor has 2}}
func.func @dims(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

// expected-error@+1 {{argument 0 has a sharding over unknown mesh @mesh}}
func.func @mesh(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

spmd.mesh @mesh = <["x"=4]>
func.func @lookup() {
  // expected-error@+1 {{has a table of 3 entries, but there are 4 coordinates along its axes}}
  %0 = local.lookup [1, 2, 3] along ["x"] on @mesh
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @exchange(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{has dim 2, but the tensor has 2 dims}}
  %0 = local.all_gather %a [<dim 2 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>] on @mesh : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @unlisted(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{changes dim 1 from 'tensor<4x4xf32>' to 'tensor<8x8xf32>', but does not list it}}
  %0 = local.all_gather %a [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>] on @mesh : tensor<4x4xf32> -> tensor<8x8xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @tables(%a: tensor<4xf32>) {
  // expected-error@+1 {{exchange of dim 0 owns 2 intervals and needs 1, expected as many: one for each coordinate}}
  %0 = local.all_gather %a [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8]>] on @mesh : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @part_outside(%a: tensor<8x4xf32>) -> tensor<10x4xf32> {
  // expected-error@+1 {{has part 0 with -2:8 of dim 0, of which only -1:9 is needed}}
  %0 = local.halo_exchange %a [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17] wrap>] parts [#local.part<[-2:8, 7:15]>]
      on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @part_of_two_dims(%a: tensor<8x4xf32>) -> tensor<10x4xf32> {
  // expected-error@+1 {{has part 0 with 2 dims, but 1 are exchanged}}
  %0 = local.halo_exchange %a [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17] wrap>] parts [#local.part<[-1:8, 7:15], [0:4]>]
      on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @part_of_one_rank(%a: tensor<8x4xf32>) -> tensor<10x4xf32> {
  // expected-error@+1 {{has part 0 with 1 intervals of dim 0, expected 2}}
  %0 = local.halo_exchange %a [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17] wrap>] parts [#local.part<[-1:8]>]
      on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}

// -----

func.func @dealt_elements(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{has sizes that add up to 7, but the dim has 8 elements}}
  %0 = spmd.deal %a dim 0 sizes [4, 3] : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @dealt_dim(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{has dim 2, but the tensor has 2 dims}}
  %0 = spmd.deal %a dim 2 sizes [4, 4] : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @dealt_by_intervals(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{has 'formula' #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>, expected a formula of boundaries}}
  %0 = spmd.deal %a dim 0 by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)> sizes [4, 4] : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @numbers_by_intervals() -> tensor<8xi32> {
  // expected-error@+1 {{has 'formula' #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)>, expected a formula of boundaries}}
  %0 = spmd.dealt_iota by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)> sizes [4, 4] : tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

func.func @dealt_by_a_number() -> tensor<8xi32> {
  // expected-error@+1 {{Invalid attribute `formula` in property conversion: 3 : i64}}
  %0 = "spmd.dealt_iota"() <{sizes = array<i64: 4, 4>, formula = 3 : i64}> : () -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

func.func @dealt_negative() -> tensor<8xi32> {
  // expected-error@+1 {{expected one of at least 0 for each shard}}
  %0 = spmd.dealt_iota sizes [9, -1] : tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

// expected-error@+1 {{expected the order 'zigzag'; leave 'order' out where blocks are in order}}
func.func @order(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" order snake}]>}) {
  return
}

// -----

func.func @amounts(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{has 1 low and 2 high amounts for 2 dims}}
  %0 = spmd.pad edge %x low = [0] high = [0, 0] : tensor<4x3xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @nothing_to_read(%x: tensor<0xf32>) {
  // expected-error@+1 {{which has no elements to read}}
  %0 = spmd.pad edge %x low = [1] high = [0] : tensor<0xf32> -> tensor<1xf32>
  return
}

// -----

// expected-error @+1 {{'sum' with 2 numbers and 0 operands is no formula}}
func.func @formula() attributes {f = #spmd.formula<sum[1, 2]>} {
  return
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @no_parts(%a: tensor<8x4xf32>) -> tensor<10x4xf32> {
  // expected-error@+1 {{has an empty list of parts; leave it out where all of what is needed arrives}}
  %0 = local.halo_exchange %a [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17] wrap>] parts []
      on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}
