// RUN: shard-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'builtin.module' op 'tune.tile' is an attribute of 'linalg.generic'}}
module attributes {tune.tile = #tune.tile<rows = 2>} {}

// -----

#id = affine_map<(i) -> (i)>
func.func @no_tile(%x: memref<4xf32>) {
  // expected-error @below {{'linalg.generic' op 'tune.tile' is 3 : i64, expected a #tune.tile}}
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : memref<4xf32>) attrs = {tune.tile = 3 : i64} {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  return
}

// -----

// expected-error @below {{unknown attribute "tune.til", expected 'tune.tile', 'tune.tiles' or 'tune.tiled'}}
module attributes {tune.til = 1 : i64} {}

// -----

// expected-error @below {{'func.func' op 'tune.tiles' is an attribute of modules}}
func.func private @of_modules() attributes {tune.tiles = {}}

// -----

// expected-error @below {{'tune.tiles' is {x = 1 : i64}, expected a dictionary of #tune.tile}}
module attributes {tune.tiles = {x = 1 : i64}} {}

// -----

// expected-error @below {{'tune.tiled' is [1], expected a list of #tune.tiled_kernel}}
module attributes {tune.tiled = [1]} {}

// -----

// expected-error @below {{a tile has from 1 to 16 rows, columns and vectors, got 17}}
module attributes {tune.tiles = {x = #tune.tile<rows = 17>}} {}

// -----

// expected-error @below {{expected a row's dim, or -1, got -2}}
module attributes {tune.tiles = {x = #tune.tile<row = -2>}} {}

// -----

// expected-error @below {{expected a block of at least 1 where dims are hoisted, and none elsewhere}}
module attributes {tune.tiles = {x = #tune.tile<hoisted = 1>}} {}
