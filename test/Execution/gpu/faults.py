"""Plant faults in generated kernels, one at a time, and see that the emulated device finds each.

    faults.py --shard-run PATH [--scratch DIR] [--only TEXT] [--sample] [--verbose]

A fault is found where the emulator reports it, or results differ, in one schedule at least. Exits 1 where one is not found, or
where a kernel without faults fails. Programs are below, faults are those of test/lib/KernelFaults.cpp. --sample: some of the faults, each
kind and each program among them.
"""

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Inputs"))
from samples import cover

SCHEDULES = ["round-robin", "run-ahead", "random=3"]

# Name: flags, program, and the places of each kind of fault.
PRODUCT = """func.func @main(%a: tensor<{0}x{1}x{3}>, %b: tensor<{1}x{2}x{3}>) -> tensor<{0}x{2}xf32> {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<{0}x{1}x{3}>, tensor<{1}x{2}x{3}>) -> tensor<{0}x{2}xf32>
  return %0 : tensor<{0}x{2}xf32>
}}
"""
# Lines run along the depth on the left, where a TMA copy loads; on the right threads load and transpose.
NARROW = PRODUCT.format(70, 1040, 80, "f8E4M3FN")
# Numbers that need more than tf32's bits; they are results as well, so that they are in memory.
PARTS = """func.func @main(%a: tensor<70x200xf32>, %b: tensor<200x72xf32>) -> (tensor<70x72xf32>, tensor<70x200xf32>, tensor<200x72xf32>) {
  %c = stablehlo.constant dense<3.0> : tensor<70x200xf32>
  %d = stablehlo.constant dense<3.0> : tensor<200x72xf32>
  %x = stablehlo.divide %a, %c : tensor<70x200xf32>
  %y = stablehlo.divide %b, %d : tensor<200x72xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [HIGH, HIGH] : (tensor<70x200xf32>, tensor<200x72xf32>) -> tensor<70x72xf32>
  return %0, %x, %y : tensor<70x72xf32>, tensor<70x200xf32>, tensor<200x72xf32>
}
"""
REDUCTION = """func.func @main(%a: tensor<3x1000xf32>, %b: tensor<1000x40xf32>) -> (tensor<3xf32>, tensor<40xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1] : (tensor<3x1000xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.reduce(%b init: %c) applies stablehlo.add across dimensions = [0] : (tensor<1000x40xf32>, tensor<f32>) -> tensor<40xf32>
  return %0, %1 : tensor<3xf32>, tensor<40xf32>
}
"""
TRANSPOSE = """func.func @main(%a: tensor<70x50xf32>) -> tensor<50x70xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<70x50xf32>) -> tensor<50x70xf32>
  return %0 : tensor<50x70xf32>
}
"""
SORT = """func.func @main(%a: tensor<1500xf32>, %b: tensor<3x90xi32>) -> (tensor<1500xf32>, tensor<3x90xi32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<1500xf32>) -> tensor<1500xf32>
  %1 = "stablehlo.sort"(%b) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %c = stablehlo.compare GT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<3x90xi32>) -> tensor<3x90xi32>
  return %0, %1 : tensor<1500xf32>, tensor<3x90xi32>
}
"""
SCAN = """func.func @main(%a: tensor<5000xf32>, %b: tensor<3x90xf32>) -> (tensor<5000xf32>, tensor<3x90xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 5000>, padding = dense<[[4999, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5000xf32>, tensor<f32>) -> tensor<5000xf32>
  %1 = "stablehlo.reduce_window"(%b, %z) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[2, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x90xf32>, tensor<f32>) -> tensor<3x90xf32>
  return %0, %1 : tensor<5000xf32>, tensor<3x90xf32>
}
"""
SCAN_PARTS = """func.func @main(%a: tensor<8000x3xf32>) -> tensor<8000x3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 8000, 1>, padding = dense<[[7999, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8000x3xf32>, tensor<f32>) -> tensor<8000x3xf32>
  return %0 : tensor<8000x3xf32>
}
"""
# Updates that are atomic; some go outside.
HISTOGRAM = """func.func @main(%p: tensor<1500x1xf32>, %b: tensor<7xi32>) -> tensor<7xi32> {
  %c = stablehlo.constant dense<8.0> : tensor<1500x1xf32>
  %f = stablehlo.multiply %p, %c : tensor<1500x1xf32>
  %i = stablehlo.convert %f : (tensor<1500x1xf32>) -> tensor<1500x1xi32>
  %one = stablehlo.constant dense<1> : tensor<1500xi32>
  %0 = "stablehlo.scatter"(%b, %i, %one) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<7xi32>, tensor<1500x1xi32>, tensor<1500xi32>) -> tensor<7xi32>
  return %0 : tensor<7xi32>
}
"""
TRANSFORM = """func.func @main(%a: tensor<5x240xcomplex<f32>>) -> tensor<5x240xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = FFT, length = [240] : (tensor<5x240xcomplex<f32>>) -> tensor<5x240xcomplex<f32>>
  return %0 : tensor<5x240xcomplex<f32>>
}
"""
ROWS = """func.func @main(%x: tensor<130x300xf32>) -> tensor<130x300xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<130x300xf32>, tensor<f32>) -> tensor<130xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<130xf32>) -> tensor<130x300xf32>
  %0 = stablehlo.subtract %x, %b : tensor<130x300xf32>
  return %0 : tensor<130x300xf32>
}
"""
POOLING = """func.func @main(%x: tensor<2x15x13xf32>, %u: tensor<2x8x7xf32>) -> tensor<2x15x13xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %u, %z) <{window_dimensions = array<i64: 1, 3, 3>, window_strides = array<i64: 1, 2, 2>,
      padding = dense<[[0, 0], [1, 1], [1, 1]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x15x13xf32>, tensor<2x8x7xf32>, tensor<f32>) -> tensor<2x15x13xf32>
  return %0 : tensor<2x15x13xf32>
}
"""
# Windows of few channels, which threads load, and filters that TMA copies load.
WINDOWS = """func.func @main(%a: tensor<1x{0}x{1}x{2}xbf16>, %b: tensor<3x3x{2}x72xbf16>) -> tensor<1x20x19x72xf32> {{
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{{3}}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<1x{0}x{1}x{2}xbf16>, tensor<3x3x{2}x72xbf16>) -> tensor<1x20x19x72xf32>
  return %0 : tensor<1x20x19x72xf32>
}}
"""
# Windows that are TMA copies, which find the zeros around an image themselves.
BORDERS = WINDOWS.format(20, 19, 64, "pad = [[1, 1], [1, 1]]")
ATTENTION = """func.func @main(%q: tensor<150x64xbf16>, %k: tensor<500x64xbf16>, %v: tensor<500x40xbf16>) -> (tensor<150x40xf32>, tensor<150xf32>, tensor<150xf32>) {
  %0:3 = pairs.all_pairs softmax %q, %k, %v maps [affine_map<(q, k, d, e) -> (q, d)>, affine_map<(q, k, d, e) -> (k, d)>,
      affine_map<(q, k, d, e) -> (k, e)>, affine_map<(q, k, d, e) -> (q, e)>, affine_map<(q, k, d, e) -> (q)>, affine_map<(q, k, d, e) -> (q)>] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (tensor<150x64xbf16>, tensor<500x64xbf16>, tensor<500x40xbf16>) -> (tensor<150x40xf32>, tensor<150xf32>, tensor<150xf32>)
  return %0#0, %0#1, %0#2 : tensor<150x40xf32>, tensor<150xf32>, tensor<150xf32>
}
"""
# The largest score of a row grows by far, and tiles are more than stages.
STEEP = ATTENTION.replace("500", "600").replace("    pairs.yield %raw", "    %four = stablehlo.constant dense<4.0> : tensor<f32>\n    %s = stablehlo.multiply %raw, %four : tensor<f32>\n    pairs.yield %s")
# More features than two tiles of rows have sums of, and three tiles of columns.
WIDE = STEEP.replace("150", "70").replace("600", "300").replace("x64x", "x136x").replace("x40x", "x136x")
# Rows of a block do not fit into shared memory twice: two groups have the same, and some of the features each.
GRADIENT = """func.func @main(%q: tensor<70x72xbf16>, %k: tensor<150x72xbf16>, %v: tensor<150x256xbf16>, %m: tensor<70xf32>, %c: tensor<70xf32>,
    %g: tensor<70x256xf32>) -> (tensor<70x72xbf16>, tensor<150x72xbf16>, tensor<150x256xbf16>) {
  %0:3 = pairs.attention_backward %q, %k, %v, %m, %c, %g maps [affine_map<(q, k, d, e) -> (q, d)>, affine_map<(q, k, d, e) -> (k, d)>,
      affine_map<(q, k, d, e) -> (k, e)>, affine_map<(q, k, d, e) -> (q)>, affine_map<(q, k, d, e) -> (q)>, affine_map<(q, k, d, e) -> (q, e)>,
      affine_map<(q, k, d, e) -> (q, d)>, affine_map<(q, k, d, e) -> (k, d)>, affine_map<(q, k, d, e) -> (k, e)>] score {
  ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.05> : tensor<f32>
    %1 = stablehlo.multiply %raw, %scale : tensor<f32>
    pairs.yield %1 : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %scale = stablehlo.constant dense<0.05> : tensor<f32>
    %1 = stablehlo.multiply %ds, %scale : tensor<f32>
    pairs.yield %1 : tensor<f32>
  } : (tensor<70x72xbf16>, tensor<150x72xbf16>, tensor<150x256xbf16>, tensor<70xf32>, tensor<70xf32>, tensor<70x256xf32>)
      -> (tensor<70x72xbf16>, tensor<150x72xbf16>, tensor<150x256xbf16>)
  return %0#0, %0#1, %0#2 : tensor<70x72xbf16>, tensor<150x72xbf16>, tensor<150x256xbf16>
}
"""
# The first shuffle of a kernel of warpgroups says what all lanes of a warp have: from which of them it comes is no fault.
CASES: dict[str, tuple[list[str], str, dict[str, list[int]]]] = {
    "warpgroups": ([], PRODUCT.format(150, 456, 200, "bf16"), {
        "barrier": [0], "mbarrier-wait": [0, 1], "mbarrier-phase": [0, 1], "mbarrier-arrive": [0, 1],
        "mbarrier-count": [0, 1], "mbarrier-fewer": [0], "mbarrier-bytes": [0], "mbarrier-fence": [0],
        "bulk-copy": [0, 1, 2], "bulk-copy-place": [0, 2], "product-fence": [0], "product-commit": [0],
        "product-wait": [0, 1], "product-wait-late": [0, 1], "product-direction": [0, 3], "product-descriptor": [1],
        "product-stride": [2], "shuffle-distance": [1, 8], "store-place": [1]}),
    # Two blocks, a tile below the other, that load half of the right operand's each for both.
    "warpgroup-pairs": (["--machine=generic,multiprocessors=2"], PRODUCT.format(200, 136, 304, "bf16"), {
        "cluster-barrier": [0, 1], "cluster-block": [0, 1], "bulk-copy-blocks": [0, 1], "mbarrier-wait": [0, 1], "mbarrier-phase": [0, 1],
        "mbarrier-arrive": [0, 1], "mbarrier-count": [0, 1], "mbarrier-bytes": [0], "bulk-copy": [0, 1], "store-place": [1]}),
    "windows": ([], WINDOWS.format(22, 21, 56, ""), {
        "copy": [0], "copy-commit": [0], "copy-wait": [0, 1], "copy-wait-late": [0], "store-fence": [0, 1], "swizzle": [0],
        "mbarrier-wait": [0, 1], "mbarrier-phase": [0], "mbarrier-arrive": [0, 1, 2], "mbarrier-count": [0, 1],
        "mbarrier-fewer": [0], "mbarrier-bytes": [0], "product-fence": [0], "product-wait-late": [1]}),
    "window-copies": ([], BORDERS, {
        "bulk-copy": [0], "bulk-copy-place": [0], "windows-offset": [0], "mbarrier-bytes": [0], "mbarrier-wait": [0, 1], "product-descriptor": [1]}),
    # Sums in tensor memory. Blocks have several tiles, so that each place of sums is used again; barrier 1 comes before it is given back.
    "tensor-memory": (["--arch=sm_100a"], PRODUCT.format(300, 200, 400, "bf16"), {
        "barrier": [0, 1], "mbarrier-wait": [0, 1, 2, 3], "mbarrier-phase": [0, 1, 2, 3], "mbarrier-arrive": [0], "mbarrier-count": [0, 1, 12, 13],
        "mbarrier-fewer": [0], "mbarrier-bytes": [0], "bulk-copy": [0, 1], "warp-barrier": [0], "tensor-wait": [0], "tensor-commit": [0, 1],
        "tensor-fence": [2, 3, 4], "tensor-release": [0], "tensor-columns": [0], "tensor-lane": [0], "tensor-adds": [0, 1], "tensor-direction": [0, 3],
        "tensor-type": [1], "tensor-descriptor": [1], "tensor-stride": [2], "store-place": [0]}),
    # The same of pairs of blocks: what each brings, tells and waits for.
    "tensor-pairs": (["--arch=sm_100a", "--machine=generic,multiprocessors=4"], PRODUCT.format(300, 136, 776, "bf16"), {
        "cluster-barrier": [0, 1], "cluster-block": [0, 1], "bulk-copy-alone": [0, 1], "commit-alone": [0, 1],
        "mbarrier-wait": [0, 1, 2, 3], "mbarrier-phase": [0, 1, 2, 3], "mbarrier-arrive": [0], "mbarrier-count": [0, 1, 12, 13],
        "mbarrier-fewer": [0], "mbarrier-bytes": [0], "mbarrier-fence": [0], "bulk-copy": [0, 1], "bulk-copy-place": [0], "warp-barrier": [0],
        "tensor-wait": [0], "tensor-commit": [0, 1], "tensor-fence": [2, 3, 4], "tensor-release": [0], "tensor-columns": [0], "tensor-lane": [0],
        "tensor-adds": [0], "tensor-direction": [0], "tensor-descriptor": [1], "tensor-stride": [2], "store-place": [0]}),
    "attention": ([], ATTENTION, {
        "barrier": [0], "bulk-copy": [0, 1, 2], "bulk-copy-place": [0, 1, 2], "mbarrier-bytes": [0, 1], "mbarrier-fence": [0],
        "mbarrier-wait": [0, 1, 2], "mbarrier-phase": [0, 1, 2], "mbarrier-arrive": [0], "mbarrier-count": [0, 1], "mbarrier-fewer": [0],
        "product-fence": [0, 1], "product-commit": [0, 1], "product-wait": [0, 1], "product-wait-late": [0, 1],
        "product-descriptor": [0], "product-stride": [1], "product-fragment": [0, 4], "shuffle-distance": [1], "edge": [0]}),
    # Scores, weights and sums in tensor memory. Waits: of the producer for both parts of a stage; of who multiplies for rows, values, weights, keys, weights of
    # the other tile; of rows' threads for scores. Stores: of sums' begin two, of sums that are rescaled, of weights.
    "tensor-attention": (["--arch=sm_100a", "--precision=tf32", "--atol=2e-2", "--rtol=4e-3"], STEEP, {
        "barrier": [1], "bulk-copy": [2], "mbarrier-wait": [0, 1, 2, 3, 4, 5, 10, 11], "mbarrier-phase": [4], "mbarrier-count": [18],
        "warp-barrier": [0], "tensor-wait": [2, 3], "tensor-store": [2, 3], "tensor-commit": [1, 3], "tensor-fence": [2, 6, 7, 9]}),
    # The same of one tile of rows, in turns. Waits: of the loads of both for a stage (three panels each), of who multiplies for rows, keys, weights, values (behind
    # the loop again); of a turn's threads for scores, for the base, for what was multiplied before it is rescaled, for the last products, for the other's sums.
    "wide-attention": (["--arch=sm_100a", "--precision=tf32", "--atol=2e-2", "--rtol=4e-3"], WIDE, {
        "mbarrier-wait": [0, 3, 6, 7, 10, 18, 19, 20, 22], "warp-barrier": [1]}),
    "copied-attention": (["--arch=sm_80"], ATTENTION, {
        "copy": [0], "copy-commit": [1, 2], "copy-wait": [0], "barrier": [0], "matrix-direction": [0, 2], "fragment": [0], "shuffle-distance": [0]}),
    # Of 128 rows and features: a tile's copies are started when all have read the one before.
    "copied-gradient": (["--arch=sm_80", "--machine=generic,multiprocessors=1", "--precision=tf32", "--atol=1e-1", "--rtol=2e-2"],
                        GRADIENT.replace("70", "160").replace("150", "192").replace("x72x", "x128x").replace("256", "128").replace("] score", "] {band_upper = 90 : i64} score"), {
        "copy": [0, 40], "copy-wait": [0], "barrier": [0, 1], "swizzle": [0, 9], "matrix-direction": [0], "fragment": [0]}),
    # All gradients by one kernel: blocks add to gradients of queries in turn. It counts how many have begun, and how many have added.
    "ordered-gradient": (["--arch=sm_80", "--machine=generic,multiprocessors=1", "--precision=tf32", "--atol=1e-1", "--rtol=2e-2"],
                         GRADIENT.replace("70", "130").replace("150", "192").replace("x72x", "x64x").replace("256", "64"), {
        "ticket": [0], "flag": [0], "flag-release": [0], "flag-wait": [0], "flag-fence": [0], "barrier": [1, 2, 3, 4], "copy": [0, 20],
        "copy-wait": [0], "matrix-direction": [0, 9, 30], "fragment": [0, 30], "shared-store": [0, 9], "store-place": [3]}),
    # The same of 128 features, in parts of rows and of features.
    "ordered-parts": (["--arch=sm_80", "--machine=generic,multiprocessors=1", "--precision=tf32", "--atol=1e-1", "--rtol=2e-2"],
                      GRADIENT.replace("70", "130").replace("150", "192").replace("x72x", "x128x").replace("256", "128"), {
        "ticket": [0], "flag-wait": [0], "barrier": [1, 2, 3, 4], "copy": [0, 40], "copy-wait": [0], "matrix-direction": [0, 9], "fragment": [0, 9],
        "shared-store": [0, 3], "store-place": [3]}),
    # Keys in three parts, a block each, and a kernel that combines what they found.
    "split-attention": (["--arch=sm_80", "--precision=tf32", "--atol=2e-2", "--rtol=4e-3"], STEEP.replace("150", "5").replace("600", "1000"), {
        "copy": [0], "copy-wait": [0], "barrier": [0], "fragment": [0], "store-place": [36, 37, 38]}),
    # Of queries and of keys: what stands there in 16 bits comes by bulk copies, gradients of outputs through threads.
    # Of keys and of values in one kernel, the second: scores, gradients of weights, values' sums and keys' are a group each.
    "keys": (["--precision=tf32", "--atol=5e-2", "--rtol=2e-2"], GRADIENT.replace("256", "40"), {
        "bulk-copy": [7], "product-fence": [2, 4], "product-commit": [2, 4], "product-wait": [2, 3, 4], "product-wait-late": [3]}),
    "gradient": ([], GRADIENT, {
        "bulk-copy": [2], "bulk-copy-place": [1], "mbarrier-bytes": [0, 1], "mbarrier-wait": [0, 1], "mbarrier-arrive": [0],
        "mbarrier-fewer": [0], "store-fence": [0], "shared-store": [0]}),
    "tensor-cores": (["--arch=sm_80"], PRODUCT.format(70, 200, 72, "bf16"), {
        "barrier": [0], "copy": [0], "copy-commit": [0, 3], "copy-wait": [0], "copy-wait-late": [0],
        "swizzle": [0, 7], "matrix-direction": [0, 3], "fragment": [0], "edge": [9]}),
    # Tiles of 96 x 96; of two slices of the depth, which meet twice behind the loop.
    "tensor-core-tiles": (["--arch=sm_80", "--machine=generic,multiprocessors=4"], PRODUCT.format(132, 72, 136, "bf16"), {
        "barrier": [0], "copy": [0], "copy-wait": [0], "swizzle": [0, 9], "matrix-direction": [0, 3], "fragment": [0], "edge": [9]}),
    "tensor-core-slices": (["--arch=sm_80", "--machine=generic,multiprocessors=4"], PRODUCT.format(100, 400, 72, "bf16"), {
        "barrier": [0, 1, 2], "copy-wait": [0], "swizzle": [0], "matrix-direction": [0], "shared-store": [0, 31]}),
    "tensor-floats": (["--precision=tf32", "--arch=sm_80"], PRODUCT.format(70, 200, 72, "f32"), {
        "barrier": [0], "copy-wait": [0], "swizzle": [0], "fragment": [0]}),
    "warpgroup-floats": (["--precision=tf32"], PRODUCT.format(70, 200, 72, "f32"), {
        "shared-store": [0, 1, 2, 3], "swizzle": [0], "store-fence": [0], "product-fence": [0], "product-descriptor": [0], "mbarrier-arrive": [0]}),
    # Three products for one: a TMA copy loads the left operand, threads the right one; all split them.
    "warpgroup-parts": (["--precision=tf32", "--atol=2e-5"], PARTS, {
        "shared-store": [0, 1, 2, 3], "store-fence": [0], "mbarrier-wait": [1, 2],
        "mbarrier-phase": [1], "mbarrier-arrive": [0], "mbarrier-bytes": [0], "product-descriptor": [0, 1, 2]}),
    # The first of 16 lines is where it would be without a swizzle.
    "warpgroup-narrow": (["--precision=default", "--machine=generic,multiprocessors=1"], NARROW, {
        "bulk-copy": [0], "bulk-copy-place": [0], "mbarrier-bytes": [0], "store-fence": [0], "swizzle": [1, 7], "shared-store": [0, 15], "mbarrier-wait": [0, 1],
        "product-fence": [0], "product-wait": [0], "product-type": [0, 3], "product-descriptor": [1], "product-stride": [2]}),
    "registers": ([], PRODUCT.format(70, 100, 72, "f32"), {
        "barrier": [0], "copy-wait": [0], "copy-commit": [2], "edge": [4]}),
    # Products of f64 are of tensor cores as well.
    "doubles": (["--arch=sm_80"], PRODUCT.format(70, 100, 72, "f64").replace("xf32", "xf64"), {
        "barrier": [0], "copy": [0], "copy-wait": [0], "copy-commit": [2], "swizzle": [0], "fragment": [0], "edge": [4]}),
    "reductions": ([], REDUCTION, {"barrier": [0, 1], "shared-store": [0, 1], "shuffle-distance": [0, 4], "edge": [0]}),
    "transposes": ([], TRANSPOSE, {"barrier": [0], "shared-store": [0], "edge": [0, 1]}),
    "sorts": ([], SORT, {"barrier": [0, 3, 5, 7], "edge": [0, 7, 9], "shared-store": [0, 2, 6]}),
    "scans": ([], SCAN, {"barrier": [0, 2, 4], "shared-store": [0, 2], "edge": [0, 8], "shuffle-distance": [1, 6]}),
    # Blocks that wait for flags of others: in one group of parts, and from group to group.
    "scan-parts": ([], SCAN_PARTS, {
        "ticket": [0], "flag": [0, 1], "flag-release": [0, 1], "flag-wait": [0, 1], "flag-fence": [0, 1], "barrier": [0, 1, 2, 3, 4],
        "shared-store": [0, 1, 2], "store-place": [1], "edge": [0, 2]}),
    # Edge 2 is always inside: PTX has five conditional branches, of the other five.
    "histograms": ([], HISTOGRAM, {"edge": [0, 1, 3, 4, 5]}),
    "transforms": ([], TRANSFORM, {"barrier": [0, 4], "shared-store": [0, 3], "edge": [0, 6]}),
    "rows": ([], ROWS, {"barrier": [0, 1], "shuffle-distance": [0, 7]}),
    "pooling": ([], POOLING, {"edge": [0, 1, 2]}),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shard-run", default="shard-run-planted")
    parser.add_argument("--scratch", type=Path, default=Path())
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    planted = found = 0
    broken = False
    points = {f"{name} {kind}:{place}": {name, kind} for name, (_, _, faults) in CASES.items() if options.only in name
              for kind, places in faults.items() for place in places}
    chosen = cover(points) if options.sample else list(points)
    for name, (flags, program, _) in CASES.items():
        faults = [point.removeprefix(f"{name} ") for point in chosen if point.startswith(f"{name} ")]
        if not faults:
            continue
        model, expected = options.scratch / f"{name}.mlir", options.scratch / f"{name}.npz"
        model.write_text(program)

        def run(*more: str, model: Path = model) -> subprocess.CompletedProcess[str]:
            return subprocess.run([options.shard_run, str(model), "--seed=4", *more], capture_output=True, text=True,
                                  check=False)

        run(f"--outputs=@{expected}")
        precision = [] if any(flag.startswith("--precision") for flag in flags) else ["--precision=highest"]
        emulated = ["--device=emulated-cuda", "--check-kernels", f"--expect=@{expected}", "--atol=1e-3", *precision, *flags]
        if (right := run(*emulated)).returncode:
            print(f"{name}: fails without a fault: {right.stderr.strip()}")
            broken = True
            continue
        for fault in faults:
            planted += 1
            seen = ""
            for schedule in SCHEDULES:
                result = run(*emulated, f"--kernel-schedule={schedule}", f"--plant-fault={fault}")
                said = (result.stderr.strip().splitlines() or [""])[-1]
                if "no place for fault" in said or "unknown fault" in said or result.returncode < 0:
                    seen = ""
                    print(f"{name} {fault}: {said or result.returncode}")
                    break
                if result.returncode:
                    seen = f"{schedule}: {said}"
                    break
            found += bool(seen)
            if not seen:
                print(f"{name} {fault}: NOT FOUND")
            elif options.verbose:
                print(f"{name} {fault}: {seen}")
    print(f"{planted} planted, {found} found")
    return 1 if broken or found < planted else 0


if __name__ == "__main__":
    sys.exit(main())
