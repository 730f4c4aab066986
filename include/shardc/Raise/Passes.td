//===- Passes.td - Patterns to ops on all pairs ------------*- tablegen -*-===//
#ifndef SHARDC_RAISE_PASSES_TD
#define SHARDC_RAISE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitPairsPass : Pass<"spmd-split-pairs", "::mlir::func::FuncOp"> {
  let summary = "Write sums of pairs in parts that are one op each.";
  let description = [{
    Before: sums over both points of pairs, and sums of pairs that hold a product, as gradients of kernels have. After: two sums, and a sum
    with values that is contracted afterwards. `--spmd-raise-all-pairs` makes an op of each.

    ```mlir
    // before
    func.func @main(%x: tensor<4x2xf32>, %y: tensor<5x2xf32>) -> tensor<f32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %a = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<4x2xf32>) -> tensor<4x5x2xf32>
      %b = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<5x2xf32>) -> tensor<4x5x2xf32>
      %d = stablehlo.subtract %a, %b : tensor<4x5x2xf32>
      %d2 = stablehlo.multiply %d, %d : tensor<4x5x2xf32>
      %r = stablehlo.reduce(%d2 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x5x2xf32>, tensor<f32>) -> tensor<4x5xf32>
      %e = stablehlo.exponential %r : tensor<4x5xf32>
      %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<f32>
      return %sum : tensor<f32>
    }
    // after
    func.func @main(%arg0: tensor<4x2xf32>, %arg1: tensor<5x2xf32>) -> tensor<f32> {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x2xf32>) -> tensor<4x5x2xf32>
      %1 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<5x2xf32>) -> tensor<4x5x2xf32>
      %2 = stablehlo.subtract %0, %1 : tensor<4x5x2xf32>
      %3 = stablehlo.multiply %2, %2 : tensor<4x5x2xf32>
      %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x5x2xf32>, tensor<f32>) -> tensor<4x5xf32>
      %5 = stablehlo.exponential %4 : tensor<4x5xf32>
      %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
      %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      return %7 : tensor<f32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def AddOutputsPass : Pass<"spmd-add-outputs", "::mlir::func::FuncOp"> {
  let summary = "Add the output of attention where a program has its gradient alone.";
  let description = [{
    Before: the gradient of attention without its output, as JAX writes it of a loss that is linear in the output. After: the product of
    probabilities and values as well, which nobody uses: `--spmd-raise-all-pairs` raises a gradient with its attention. What is not raised goes
    with the next clean-up.

    ```mlir
    // before
    func.func @main(%s: tensor<8x6xf32>, %v: tensor<6x3xf32>, %dout: tensor<8x3xf32>) -> (tensor<6x3xf32>, tensor<8x6xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %e = stablehlo.exponential %s : tensor<8x6xf32>
      %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
      %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
      %p = stablehlo.divide %e, %b : tensor<8x6xf32>
      %dv = stablehlo.dot_general %p, %dout, contracting_dims = [0] x [0] : (tensor<8x6xf32>, tensor<8x3xf32>) -> tensor<6x3xf32>
      %dp = stablehlo.dot_general %dout, %v, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<6x3xf32>) -> tensor<8x6xf32>
      return %dv, %dp : tensor<6x3xf32>, tensor<8x6xf32>
    }
    // after
    func.func @main(%arg0: tensor<8x6xf32>, %arg1: tensor<6x3xf32>, %arg2: tensor<8x3xf32>) -> (tensor<6x3xf32>, tensor<8x6xf32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %0 = stablehlo.exponential %arg0 : tensor<8x6xf32>
      %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
      %3 = stablehlo.divide %0, %2 : tensor<8x6xf32>
      %4 = stablehlo.dot_general %3, %arg1, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
      %5 = stablehlo.dot_general %3, %arg2, contracting_dims = [0] x [0] : (tensor<8x6xf32>, tensor<8x3xf32>) -> tensor<6x3xf32>
      %6 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<6x3xf32>) -> tensor<8x6xf32>
      return %5, %6 : tensor<6x3xf32>, tensor<8x6xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def RaiseAllPairsPass : Pass<"spmd-raise-all-pairs", "::mlir::func::FuncOp"> {
  let summary = "Find attention, forward and backward, however it is written.";
  let description = [{
    Before: contractions, softmax and masks in StableHLO. After: `pairs.all_pairs softmax` and
    `pairs.attention_backward` where no score would be left over, also of one block of keys among others. Never looks at shardings.
    `--spmd-split-pairs` and `--spmd-add-outputs` find it more; `--spmd-raise-open-rows` tries again where sums hold more than scores.

    ```mlir
    // before
    func.func @main(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>) -> tensor<8x3xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
      %e = stablehlo.exponential %s : tensor<8x6xf32>
      %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
      %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
      %p = stablehlo.divide %e, %b : tensor<8x6xf32>
      %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
      return %o : tensor<8x3xf32>
    }
    // after
    #map = affine_map<(d0, d1, d2, d3) -> (d0, d2)>
    #map1 = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
    #map2 = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
    #map3 = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
    #map4 = affine_map<(d0, d1, d2, d3) -> (d0)>
    func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<6x4xf32>, %arg2: tensor<6x3xf32>) -> tensor<8x3xf32> {
      %0:3 = pairs.all_pairs softmax %arg0, %arg1, %arg2 maps [#map, #map1, #map2, #map3, #map4, #map4] score {
      ^bb0(%arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
        pairs.yield %arg3 : tensor<f32>
      } : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x3xf32>) -> (tensor<8x3xf32>, tensor<8xf32>, tensor<8xf32>)
      return %0#0 : tensor<8x3xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::spmd::PairsDialect", "::shardc::stablehlo::StablehloDialect"];
}

def SplitColumnsPass : Pass<"spmd-split-columns", "::mlir::func::FuncOp"> {
  let summary = "Write scores apart from columns that are joined to them.";
  let description = [{
    Before: scores beside columns of others, as a sink is written, in elementwise ops and reductions of rows. After: each on its part by itself. Part
    of what `--spmd-raise-open-rows` tries.

    ```mlir
    // before
    func.func @main(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %sink: tensor<8x1xf32>) -> (tensor<8x6xf32>, tensor<8xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
      %both = stablehlo.concatenate %s, %sink, dim = 1 : (tensor<8x6xf32>, tensor<8x1xf32>) -> tensor<8x7xf32>
      %e = stablehlo.exponential %both : tensor<8x7xf32>
      %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x7xf32>, tensor<f32>) -> tensor<8xf32>
      %cut = stablehlo.slice %e [0:8, 0:6] : (tensor<8x7xf32>) -> tensor<8x6xf32>
      return %cut, %l : tensor<8x6xf32>, tensor<8xf32>
    }
    // after
    func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<6x4xf32>, %arg2: tensor<8x1xf32>) -> (tensor<8x6xf32>, tensor<8xf32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
      %1 = stablehlo.exponential %0 : tensor<8x6xf32>
      %2 = stablehlo.exponential %arg2 : tensor<8x1xf32>
      %3 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
      %4 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x1xf32>, tensor<f32>) -> tensor<8xf32>
      %5 = stablehlo.add %3, %4 : tensor<8xf32>
      return %1, %5 : tensor<8x6xf32>, tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def RaiseOpenRowsPass : Pass<"spmd-raise-open-rows", "::mlir::func::FuncOp"> {
  let summary = "Find attention whose sums hold more than scores.";
  let description = [{
    Before: softmax with a sink, or another column, in its sums, which `--spmd-raise-all-pairs` leaves. After: `pairs.all_pairs softmax unnormalized`, and
    the sums made whole by ops on rows. Tried on a copy of the function, which takes its place if no score that was touched is left there.

    ```mlir
    // before
    func.func @main(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>, %sink: tensor<8xf32>) -> tensor<8x3xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
      %e = stablehlo.exponential %s : tensor<8x6xf32>
      %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
      %se = stablehlo.exponential %sink : tensor<8xf32>
      %z = stablehlo.add %l, %se : tensor<8xf32>
      %b = stablehlo.broadcast_in_dim %z, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
      %p = stablehlo.divide %e, %b : tensor<8x6xf32>
      %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
      return %o : tensor<8x3xf32>
    }
    // after
    #map = affine_map<(d0, d1, d2, d3) -> (d0, d2)>
    #map1 = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
    #map2 = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
    #map3 = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
    #map4 = affine_map<(d0, d1, d2, d3) -> (d0)>
    func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<6x4xf32>, %arg2: tensor<6x3xf32>, %arg3: tensor<8xf32>) -> tensor<8x3xf32> {
      %0:3 = pairs.all_pairs softmax unnormalized %arg0, %arg1, %arg2 maps [#map, #map1, #map2, #map3, #map4, #map4] score {
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<i32>, %arg6: tensor<i32>):
        pairs.yield %arg4 : tensor<f32>
      } : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x3xf32>) -> (tensor<8x3xf32>, tensor<8xf32>, tensor<8xf32>)
      %1 = stablehlo.exponential %0#1 : tensor<8xf32>
      %2 = stablehlo.multiply %0#2, %1 : tensor<8xf32>
      %3 = stablehlo.exponential %arg3 : tensor<8xf32>
      %4 = stablehlo.add %2, %3 : tensor<8xf32>
      %5 = stablehlo.exponential %0#1 : tensor<8xf32>
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
      %6 = stablehlo.divide %cst, %4 : tensor<8xf32>
      %7 = stablehlo.multiply %5, %6 : tensor<8xf32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<8xf32>) -> tensor<8x3xf32>
      %9 = stablehlo.multiply %0#0, %8 : tensor<8x3xf32>
      return %9 : tensor<8x3xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::spmd::PairsDialect", "::shardc::stablehlo::StablehloDialect"];
}

def ExplainMissesPass : Pass<"spmd-explain-misses", "::mlir::func::FuncOp"> {
  let summary = "Say why what looks like attention is none.";
  let description = [{
    Before: what is left once attention is raised. After: the same; a remark for each thing that looks like attention says which op makes it none, at
    that op's place. Pipelines run it where `explain` is asked for.

    ```mlir
    // before
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    // after
    func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
      return %arg0 : tensor<4xf32>
    }
    ```
  }];
}

def ExpandOpenDepthsPass : Pass<"spmd-expand-open-depths", "::mlir::func::FuncOp"> {
  let summary = "Say in plain StableHLO what ops on all pairs of an open depth compute.";
  let description = [{
    Before: ops on all pairs whose depth or feature is an extent that is said when the program is bound (a placeholder of the mesh's `extents`). After:
    contractions and elementwise ops in their place: kernels of pairs have rows of scratch of known lengths. Leaves lists of the best.

    ```mlir
    // before
    #q = affine_map<(q, k, d, e) -> (q, d)>
    #k = affine_map<(q, k, d, e) -> (k, d)>
    #v = affine_map<(q, k, d, e) -> (k, e)>
    #row = affine_map<(q, k, d, e) -> (q)>
    #out = affine_map<(q, k, d, e) -> (q, e)>
    spmd.mesh @mesh = <["x"=1], #spmd.extents<[dim [0, 1] = 246713]>>
    func.func @main(%q: tensor<8x246713xf32>, %k: tensor<6x246713xf32>, %v: tensor<6x3xf32>) -> tensor<8x3xf32> {
      %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
      ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
        pairs.yield %raw : tensor<f32>
      } : (tensor<8x246713xf32>, tensor<6x246713xf32>, tensor<6x3xf32>) -> (tensor<8x3xf32>, tensor<8xf32>, tensor<8xf32>)
      return %0#0 : tensor<8x3xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=1], #spmd.extents<[dim [0, 1] = 246713]>>
    func.func @main(%arg0: tensor<8x246713xf32>, %arg1: tensor<6x246713xf32>, %arg2: tensor<6x3xf32>) -> tensor<8x3xf32> {
      %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<8x246713xf32>, tensor<6x246713xf32>) -> tensor<8x6xf32>
      %1 = stablehlo.iota dim = 0 : tensor<8x6xi32>
      %2 = stablehlo.iota dim = 1 : tensor<8x6xi32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %3 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
      %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<8xf32>
      %4 = stablehlo.compare EQ, %3, %cst_0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
      %5 = stablehlo.select %4, %cst_1, %3 : tensor<8xi1>, tensor<8xf32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
      %7 = stablehlo.subtract %0, %6 : tensor<8x6xf32>
      %8 = stablehlo.exponential %7 : tensor<8x6xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.reduce(%8 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
      %11 = stablehlo.divide %8, %10 : tensor<8x6xf32>
      %12 = stablehlo.dot_general %11, %arg2, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
      return %12 : tensor<8x3xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect", "::shardc::chlo::ChloDialect"];
}

def SinkMasksPass : Pass<"spmd-sink-masks", "::mlir::func::FuncOp"> {
  let summary = "Make masks that a loop carries where they are used.";
  let description = [{
    Before: `stablehlo.while` with operands that it yields unchanged and that follow from `iota` and single numbers alone, by comparing,
    selecting and moving elements, as JAX makes masks of a scan over layers. After: its regions make these themselves, and it does not carry them. So a
    mask is seen to be one, and no tensor of tokens times tokens lives as long as the loop. Leaves what is dear to make, and values of fewer
    than two dims.

    ```mlir
    // before
    func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %rows = stablehlo.iota dim = 0 : tensor<8x8xi32>
      %columns = stablehlo.iota dim = 1 : tensor<8x8xi32>
      %mask = stablehlo.compare GE, %rows, %columns : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
      %0:2 = stablehlo.while(%a = %x, %m = %mask) : tensor<8x8xf32>, tensor<8x8xi1>
      cond {
        %p = stablehlo.constant dense<false> : tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %s = stablehlo.select %m, %a, %y : tensor<8x8xi1>, tensor<8x8xf32>
        stablehlo.return %s, %m : tensor<8x8xf32>, tensor<8x8xi1>
      }
      return %0#0 : tensor<8x8xf32>
    }
    // after
    func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = stablehlo.iota dim = 0 : tensor<8x8xi32>
      %1 = stablehlo.iota dim = 1 : tensor<8x8xi32>
      %2 = stablehlo.compare GE, %0, %1 : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
      %3 = stablehlo.while(%iterArg = %arg0) : tensor<8x8xf32>
      cond {
        %4 = stablehlo.iota dim = 0 : tensor<8x8xi32>
        %5 = stablehlo.iota dim = 1 : tensor<8x8xi32>
        %6 = stablehlo.compare GE, %4, %5 : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
        %c = stablehlo.constant dense<false> : tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %4 = stablehlo.iota dim = 0 : tensor<8x8xi32>
        %5 = stablehlo.iota dim = 1 : tensor<8x8xi32>
        %6 = stablehlo.compare GE, %4, %5 : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
        %7 = stablehlo.select %6, %iterArg, %arg1 : tensor<8x8xi1>, tensor<8x8xf32>
        stablehlo.return %7 : tensor<8x8xf32>
      }
      return %3 : tensor<8x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def RecomputeScoresPass : Pass<"spmd-recompute-scores", "::mlir::func::FuncOp"> {
  let summary = "Compute scores that one loop keeps for another anew.";
  let description = [{
    Before: a loop that writes, in each iteration, exponentials of scores of queries and keys (and maxima and sums of them) into tensors that another loop reads
    in each of its iterations, as JAX keeps them for the gradient of a scan over layers, beside the queries and keys. After: the other loop computes
    them from these, and nobody keeps them. So the gradient is that of attention in each iteration, and no tensor of tokens times tokens is there
    for each layer. Leaves what follows from more than what is kept, and what is kept of other products.

    ```mlir
    // before
    func.func @main(%x: tensor<16x4xf32>, %w: tensor<3x4x4xf32>) -> tensor<16x4xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %end = stablehlo.constant dense<3> : tensor<i32>
      %none = stablehlo.constant dense<0.0> : tensor<3x16x4xf32>
      %scores = stablehlo.constant dense<0.0> : tensor<3x16x16xf32>
      %f:5 = stablehlo.while(%y = %x, %i = %zero, %qs = %none, %xs = %none, %es = %scores)
          : tensor<16x4xf32>, tensor<i32>, tensor<3x16x4xf32>, tensor<3x16x4xf32>, tensor<3x16x16xf32>
      cond {
        %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %ws = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 4, 4] : (tensor<3x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
        %wi = stablehlo.reshape %ws : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
        %q = stablehlo.dot_general %y, %wi, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
        %s = stablehlo.dot_general %q, %y, contracting_dims = [1] x [1] : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x16xf32>
        %e = stablehlo.exponential %s : tensor<16x16xf32>
        %o = stablehlo.dot_general %e, %y, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
        %q1 = stablehlo.reshape %q : (tensor<16x4xf32>) -> tensor<1x16x4xf32>
        %nq = stablehlo.dynamic_update_slice %qs, %q1, %i, %zero, %zero : (tensor<3x16x4xf32>, tensor<1x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x4xf32>
        %x1 = stablehlo.reshape %y : (tensor<16x4xf32>) -> tensor<1x16x4xf32>
        %nx = stablehlo.dynamic_update_slice %xs, %x1, %i, %zero, %zero : (tensor<3x16x4xf32>, tensor<1x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x4xf32>
        %e1 = stablehlo.broadcast_in_dim %e, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
        %ne = stablehlo.dynamic_update_slice %es, %e1, %i, %zero, %zero : (tensor<3x16x16xf32>, tensor<1x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x16xf32>
        %n = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %o, %n, %nq, %nx, %ne : tensor<16x4xf32>, tensor<i32>, tensor<3x16x4xf32>, tensor<3x16x4xf32>, tensor<3x16x16xf32>
      }
      %g:5 = stablehlo.while(%y = %f#0, %i = %zero, %qs = %f#2, %xs = %f#3, %es = %f#4)
          : tensor<16x4xf32>, tensor<i32>, tensor<3x16x4xf32>, tensor<3x16x4xf32>, tensor<3x16x16xf32>
      cond {
        %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %j = stablehlo.subtract %two, %i : tensor<i32>
        %es1 = stablehlo.dynamic_slice %es, %j, %zero, %zero, sizes = [1, 16, 16] : (tensor<3x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
        %e = stablehlo.reshape %es1 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
        %o = stablehlo.dot_general %e, %y, contracting_dims = [0] x [0] : (tensor<16x16xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
        %n = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %o, %n, %qs, %xs, %es : tensor<16x4xf32>, tensor<i32>, tensor<3x16x4xf32>, tensor<3x16x4xf32>, tensor<3x16x16xf32>
      }
      return %g#0 : tensor<16x4xf32>
    }
    // after, among others
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_4 = %c, %iterArg_5 = %cst, %iterArg_6 = %cst) : tensor<16x4xf32>, tensor<i32>, tensor<3x16x4xf32>, tensor<3x16x4xf32>
    ...
    %1:4 = stablehlo.while(%iterArg = %0#0, %iterArg_4 = %c, %iterArg_5 = %0#2, %iterArg_6 = %0#3) : tensor<16x4xf32>, tensor<i32>, tensor<3x16x4xf32>, tensor<3x16x4xf32>
    ...
    %3 = stablehlo.dynamic_slice %iterArg_5, %2, %c_7, %c_8, sizes = [1, 16, 4] : (tensor<3x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x4xf32>
    ...
    %5 = stablehlo.dynamic_slice %iterArg_6, %2, %c_9, %c_10, sizes = [1, 16, 4] : (tensor<3x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x4xf32>
    ...
    %7 = stablehlo.dot_general %4, %6, contracting_dims = [1] x [1] : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x16xf32>
    %8 = stablehlo.exponential %7 : tensor<16x16xf32>
    ...
    return %1#0 : tensor<16x4xf32>
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def RaiseRingsPass : Pass<"spmd-raise-rings", "::mlir::func::FuncOp"> {
  let summary = "Write attention that goes round a ring of its own as attention of whole tensors.";
  let description = [{
    Before: manual regions in which blocks of keys and values travel past an online softmax, in a loop or written out, and the regions
    of their gradient. After: softmax attention of the whole tensors, and its gradient, in plain StableHLO, laid out as the
    regions had them; `--spmd-raise-all-pairs` makes ops on all pairs of it. Only where what the regions compute is the same
    as an expression; `--explain` says where it is not, and which op it was. Runs where all mesh axes are manual.

    ```mlir
    // before
    #rows = #spmd.sharding<@mesh, [{"x"}, {} ]>
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x3xf32>) -> tensor<8x3xf32> {
      %out = spmd.manual(%q, %k, %v) in [#rows, #rows, #rows] out [#rows] along ["x"] {
      ^bb0(%queries: tensor<4x4xf32>, %keys: tensor<4x4xf32>, %values: tensor<4x3xf32>):
        %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %s0 = stablehlo.dot_general %queries, %keys, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
        %e0 = stablehlo.exponential %s0 : tensor<4x4xf32>
        %l0 = stablehlo.reduce(%e0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
        %o0 = stablehlo.dot_general %e0, %values, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
        %keys1 = "stablehlo.collective_permute"(%keys) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
        %values1 = "stablehlo.collective_permute"(%values) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
        %s1 = stablehlo.dot_general %queries, %keys1, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
        %e1 = stablehlo.exponential %s1 : tensor<4x4xf32>
        %l1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
        %o1 = stablehlo.dot_general %e1, %values1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
        %o = stablehlo.add %o0, %o1 : tensor<4x3xf32>
        %l = stablehlo.add %l0, %l1 : tensor<4xf32>
        %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
        %result = stablehlo.divide %o, %b : tensor<4x3xf32>
        spmd.return %result : tensor<4x3xf32>
      } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
      return %out : tensor<8x3xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<8x3xf32>) -> tensor<8x3xf32> {
      %0 = spmd.constrain %arg0 <@mesh, [{"x"}, {} ]> : tensor<8x4xf32>
      %1 = spmd.constrain %arg1 <@mesh, [{"x"}, {} ]> : tensor<8x4xf32>
      %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
      %3 = stablehlo.iota dim = 0 : tensor<8x8xi32>
      %4 = stablehlo.iota dim = 1 : tensor<8x8xi32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %5 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
      %7 = stablehlo.subtract %2, %6 : tensor<8x8xf32>
      %8 = stablehlo.exponential %7 : tensor<8x8xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.reduce(%8 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
      %11 = stablehlo.divide %8, %10 : tensor<8x8xf32>
      %12 = spmd.constrain %arg2 <@mesh, [{"x"}, {} ]> : tensor<8x3xf32>
      %13 = stablehlo.dot_general %11, %12, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
      %14 = spmd.constrain %13 <@mesh, [{"x"}, {} ]> : tensor<8x3xf32>
      return %14 : tensor<8x3xf32>
    }
    ```
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "A remark for each ring that is left as it is.">];
  let dependentDialects = ["::shardc::spmd::PairsDialect", "::shardc::stablehlo::StablehloDialect"];
}

def ExpandAllPairsPass : Pass<"spmd-expand-all-pairs", "::mlir::ModuleOp"> {
  let summary = "Say in plain StableHLO what ops on all pairs compute.";
  let description = [{
    Before: `pairs.all_pairs softmax`, `pairs.attention_backward`, sums and extremes. After: contractions and elementwise ops
    on whole score tensors. Those marked `spmd.whole_sum` stay. Refuses: tensors of unknown size.

    ```mlir
    // before
    #q = affine_map<(q, k, d, e) -> (q, d)>
    #k = affine_map<(q, k, d, e) -> (k, d)>
    #v = affine_map<(q, k, d, e) -> (k, e)>
    #row = affine_map<(q, k, d, e) -> (q)>
    #out = affine_map<(q, k, d, e) -> (q, e)>
    func.func @main(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>) -> tensor<8x3xf32> {
      %0:3 = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #out, #row, #row] score {
      ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
        pairs.yield %raw : tensor<f32>
      } : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x3xf32>) -> (tensor<8x3xf32>, tensor<8xf32>, tensor<8xf32>)
      return %0#0 : tensor<8x3xf32>
    }
    // after
    func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<6x4xf32>, %arg2: tensor<6x3xf32>) -> tensor<8x3xf32> {
      %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
      %1 = stablehlo.iota dim = 0 : tensor<8x6xi32>
      %2 = stablehlo.iota dim = 1 : tensor<8x6xi32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %3 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
      %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<8xf32>
      %4 = stablehlo.compare EQ, %3, %cst_0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
      %5 = stablehlo.select %4, %cst_1, %3 : tensor<8xi1>, tensor<8xf32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
      %7 = stablehlo.subtract %0, %6 : tensor<8x6xf32>
      %8 = stablehlo.exponential %7 : tensor<8x6xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.reduce(%8 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
      %11 = stablehlo.divide %8, %10 : tensor<8x6xf32>
      %12 = stablehlo.dot_general %11, %arg2, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
      return %12 : tensor<8x3xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect", "::shardc::chlo::ChloDialect"];
}

def CutHeadsPass : Pass<"spmd-cut-heads", "::mlir::func::FuncOp"> {
  let summary = "Let ranks have whole heads of attention whose sums would be cut.";
  let description = [{
    Before: attention of f32 and narrower, and its gradient, in the global view, whose summed keys (of gradients queries too) may be cut by an axis,
    with a batch dim of queries, keys and values (heads) that no annotation cuts. After: this axis cuts the heads of its operands and
    results, which is asked for by constraints, and around them all is cut as before. Then no rank has a part of a sum. For
    `--reproducible`; says nothing where there are no heads.
    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%q: tensor<4x8x2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {} ]>}, %v: tensor<4x8x2xf32>) -> tensor<4x8x2xf32> {
      %0:3 = pairs.all_pairs softmax %q, %q, %v
          maps [affine_map<(h, q, k, d, e) -> (h, q, d)>, affine_map<(h, q, k, d, e) -> (h, k, d)>, affine_map<(h, q, k, d, e) -> (h, k, e)>,
                affine_map<(h, q, k, d, e) -> (h, q, e)>, affine_map<(h, q, k, d, e) -> (h, q)>, affine_map<(h, q, k, d, e) -> (h, q)>]
          score {
          ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
            pairs.yield %raw : tensor<f32>
          } : (tensor<4x8x2xf32>, tensor<4x8x2xf32>, tensor<4x8x2xf32>) -> (tensor<4x8x2xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      return %0#0 : tensor<4x8x2xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%q: tensor<4x8x2xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {} ]>}, %v: tensor<4x8x2xf32>) -> tensor<4x8x2xf32> {
      %q0 = spmd.constrain %q <@mesh, [{}, {"x", ?}, {?} ]> : tensor<4x8x2xf32>
      %q1 = spmd.constrain %q0 <@mesh, [{"x"}, {}, {?} ]> : tensor<4x8x2xf32>
      %k0 = spmd.constrain %q <@mesh, [{}, {"x", ?}, {?} ]> : tensor<4x8x2xf32>
      %k1 = spmd.constrain %k0 <@mesh, [{"x"}, {}, {?} ]> : tensor<4x8x2xf32>
      %v0 = spmd.constrain %v <@mesh, [{}, {"x", ?}, {?} ]> : tensor<4x8x2xf32>
      %v1 = spmd.constrain %v0 <@mesh, [{"x"}, {}, {?} ]> : tensor<4x8x2xf32>
      %0:3 = pairs.all_pairs softmax %q1, %k1, %v1
          maps [affine_map<(h, q, k, d, e) -> (h, q, d)>, affine_map<(h, q, k, d, e) -> (h, k, d)>, affine_map<(h, q, k, d, e) -> (h, k, e)>,
                affine_map<(h, q, k, d, e) -> (h, q, e)>, affine_map<(h, q, k, d, e) -> (h, q)>, affine_map<(h, q, k, d, e) -> (h, q)>]
          score {
          ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
            pairs.yield %raw : tensor<f32>
          } : (tensor<4x8x2xf32>, tensor<4x8x2xf32>, tensor<4x8x2xf32>) -> (tensor<4x8x2xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      %o0 = spmd.constrain %0#0 <@mesh, [{"x"}, {}, {?} ]> : tensor<4x8x2xf32>
      %o1 = spmd.constrain %o0 <@mesh, [{}, {"x", ?}, {?} ]> : tensor<4x8x2xf32>
      return %o1 : tensor<4x8x2xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::spmd::SpmdDialect"];
}

def MarkWholeSumsPass : Pass<"spmd-mark-whole-sums", "::mlir::func::FuncOp"> {
  let summary = "Mark the sums of floats over dims that no annotation cuts.";
  let description = [{
    Before: the global view. After: `spmd.whole_sum` on reductions, products, convolutions and ops on all pairs, of up to 32
    bits, whose summed dims do not follow from any dim that an annotation cuts. Their rules keep these dims whole, so that they
    are summed in one order on every mesh. Marked too: ops on all pairs that choose and do not sum.
    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {} ]>}, %b: tensor<4x8xf32>) -> tensor<8x8xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {} ]>}, %b: tensor<4x8xf32>) -> tensor<8x8xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {spmd.whole_sum} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }
    ```
  }];
}

def RaiseMapsPass : Pass<"spmd-raise-maps", "::mlir::func::FuncOp"> {
  let summary = "Make loops whose iterations have nothing in common ops on all of them.";
  let description = [{
    Before: a loop that counts, carries nothing, takes rows at its counter, and fills all rows of its results, as `lax.map` and scans without a state are. Its
    body is elementwise ops, sums of one operand, and ops that move elements. After: the same ops with all iterations as a first dim, which fuse, are vectors,
    and are cut where their tensors are. Left alone: loops whose ops would make a larger tensor than those that they read or fill.
    ```mlir
    // before
    func.func @main(%x: tensor<5x3xf32>, %empty: tensor<5x3xf32>) -> tensor<5x3xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %five = stablehlo.constant dense<5> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %y = %empty) : tensor<i32>, tensor<5x3xf32>
      cond {
        %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %row = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 3] : (tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
        %sine = stablehlo.sine %row : tensor<1x3xf32>
        %set = stablehlo.dynamic_update_slice %y, %sine, %i, %zero : (tensor<5x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x3xf32>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %set : tensor<i32>, tensor<5x3xf32>
      }
      return %r#1 : tensor<5x3xf32>
    }
    // after
    func.func @main(%x: tensor<5x3xf32>, %empty: tensor<5x3xf32>) -> tensor<5x3xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %five = stablehlo.constant dense<5> : tensor<i32>
      %0 = stablehlo.slice %x [0:5, 0:3] : (tensor<5x3xf32>) -> tensor<5x3xf32>
      %1 = stablehlo.reshape %0 : (tensor<5x3xf32>) -> tensor<5x1x3xf32>
      %2 = stablehlo.sine %1 : tensor<5x1x3xf32>
      %last = stablehlo.constant dense<5> : tensor<i32>
      %3 = stablehlo.reshape %2 : (tensor<5x1x3xf32>) -> tensor<5x3xf32>
      return %3 : tensor<5x3xf32>
    }
    ```
  }];
}

def UnrollLoopsPass : Pass<"spmd-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Write out short loops of elementwise ops.";
  let description = [{
    Before: a loop that counts, of few iterations, whose body is elementwise ops (and any ops on small values), such as the five in which JAX makes random
    bits. Each of them reads and writes what is carried. After: its iterations, one behind the other, which fuse to one pass over memory. Left alone: loops
    that carry small values only, whose code would grow for nothing.
    ```mlir
    // before
    func.func @main(%x: tensor<4096xi32>) -> tensor<4096xi32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<4096xi32>
      cond {
        %c = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %y = stablehlo.multiply %a, %a : tensor<4096xi32>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %y : tensor<i32>, tensor<4096xi32>
      }
      return %r#1 : tensor<4096xi32>
    }
    // after
    func.func @main(%x: tensor<4096xi32>) -> tensor<4096xi32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %0 = stablehlo.multiply %x, %x : tensor<4096xi32>
      %1 = stablehlo.add %zero, %one : tensor<i32>
      %2 = stablehlo.multiply %0, %0 : tensor<4096xi32>
      %3 = stablehlo.add %1, %one : tensor<i32>
      return %2 : tensor<4096xi32>
    }
    ```
  }];
  let options = [
    Option<"maxTripCount", "max-trip-count", "int64_t", /*default=*/"8",
           "Longest loop that is written out.">,
    Option<"maxOps", "max-ops", "int64_t", /*default=*/"512",
           "Most ops that come of one loop.">];
}

def SumAfterLoopsPass : Pass<"spmd-sum-after-loops", "::mlir::func::FuncOp"> {
  let summary = "Make sums that a loop adds up in each iteration once, after it.";
  let description = [{
    Before: a loop that counts from 0 and adds, to what it carries, a product or a sum that is not marked `spmd.whole_sum`, moved and reshaped at most: gradients
    of weights in the gradient of a scan. After: the loop keeps the factors, one slot an iteration, those that it reads from slots where
    they are, and one product sums over iterations as well. For `--reproducible`, whose sums cannot be left
    partial until the loop's end. Leaves what would need more new slots than the loop has elements in slots already (a loop over small
    batches keeps its memory).
    ```mlir
    // before
    func.func @main(%x: tensor<5x8x4xf32>, %h: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %five = stablehlo.constant dense<5> : tensor<i32>
      %r:4 = stablehlo.while(%i = %zero, %xs = %x, %a = %h, %g = %w) : tensor<i32>, tensor<5x8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>
      cond {
        %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %s = stablehlo.dynamic_slice %xs, %i, %zero, %zero, sizes = [1, 8, 4] : (tensor<5x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
        %now = stablehlo.reshape %s : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
        %y = stablehlo.tanh %a : tensor<8x4xf32>
        %p = stablehlo.dot_general %now, %y, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
        %sum = stablehlo.add %g, %p : tensor<4x4xf32>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %xs, %y, %sum : tensor<i32>, tensor<5x8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>
      }
      return %r#3 : tensor<4x4xf32>
    }
    // after
    func.func @main(%x: tensor<5x8x4xf32>, %h: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %five = stablehlo.constant dense<5> : tensor<i32>
      %none = stablehlo.constant dense<0.000000e+00> : tensor<5x8x4xf32>
      %r:4 = stablehlo.while(%i = %zero, %xs = %x, %a = %h, %ys = %none) : tensor<i32>, tensor<5x8x4xf32>, tensor<8x4xf32>, tensor<5x8x4xf32>
      cond {
        %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %y = stablehlo.tanh %a : tensor<8x4xf32>
        %next = stablehlo.add %i, %one : tensor<i32>
        %slot = stablehlo.reshape %y : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
        %0 = stablehlo.constant dense<0> : tensor<i32>
        %all = stablehlo.dynamic_update_slice %ys, %slot, %i, %0, %0 : (tensor<5x8x4xf32>, tensor<1x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x8x4xf32>
        stablehlo.return %next, %xs, %y, %all : tensor<i32>, tensor<5x8x4xf32>, tensor<8x4xf32>, tensor<5x8x4xf32>
      }
      %p = stablehlo.dot_general %r#1, %r#3, contracting_dims = [0, 1] x [0, 1] : (tensor<5x8x4xf32>, tensor<5x8x4xf32>) -> tensor<4x4xf32>
      %sum = stablehlo.add %w, %p : tensor<4x4xf32>
      return %sum : tensor<4x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def RaiseGathersPass : Pass<"spmd-raise-gathers", "::mlir::func::FuncOp"> {
  let summary = "Gathers by indices that are known become slices and repetitions.";
  let description = [{
    A gather along one dim whose indices follow from constants and sizes alone, as of resizing by the nearest element, becomes a slice where it takes every so many elements of the dim, with a reverse
    where it takes them backwards, and a broadcast and a reshape where it takes each as often. Leaves other indices, those outside of the dim aside, which a gather takes as its first or last element; and extents that are open.

    ```mlir
    // before: --pass-pipeline=builtin.module(func.func(spmd-raise-gathers))
    func.func @main(%x: tensor<5x3xf32>) -> tensor<4x3xf32> {
      %i = stablehlo.constant dense<[1, 1, 3, 3]> : tensor<4xi32>
      %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf32>, tensor<4xi32>) -> tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
    // after
    func.func @main(%arg0: tensor<5x3xf32>) -> tensor<4x3xf32> {
      %c = stablehlo.constant dense<[1, 1, 3, 3]> : tensor<4xi32>
      %0 = stablehlo.slice %arg0 [1:4:2, 0:3] : (tensor<5x3xf32>) -> tensor<2x3xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x2x3xf32>
      %2 = stablehlo.reshape %1 : (tensor<2x2x3xf32>) -> tensor<4x3xf32>
      return %2 : tensor<4x3xf32>
    }
    ```
  }];
}

def RaisePaddingPass : Pass<"spmd-raise-padding", "::mlir::func::FuncOp"> {
  let summary = "Recognise rolls and paddings that read the tensor itself.";
  let description = [{
    A roll arrives as two slices and a concatenation, a periodic, edge or mirrored padding as more of
    them. Wherever a concatenation holds elements of one tensor in the order of such a padding, it
    becomes `spmd.pad`. Slices of a padding become smaller paddings of what is padded: each reads its
    own neighbourhood of the tensor, and there is no padded copy between. A slice of one piece of a concatenation is a slice
    of that piece. An update of nearly all of a
    constant, the gradient of such a slice, is a slice of what is written with the constant around.
    ```mlir
    %a = stablehlo.slice %x [1:8] : (tensor<8xf32>) -> tensor<7xf32>
    %b = stablehlo.slice %x [0:1] : (tensor<8xf32>) -> tensor<1xf32>
    %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<7xf32>, tensor<1xf32>) -> tensor<8xf32>
    // becomes
    %r = spmd.pad wrap %x low = [-1] high = [1] : tensor<8xf32> -> tensor<8xf32>
    ```

    ```mlir
    // before: --pass-pipeline=builtin.module(func.func(spmd-raise-padding))
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %a = stablehlo.slice %x [7:8] : (tensor<8xf32>) -> tensor<1xf32>
      %b = stablehlo.slice %x [0:7] : (tensor<8xf32>) -> tensor<7xf32>
      %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1xf32>, tensor<7xf32>) -> tensor<8xf32>
      return %r : tensor<8xf32>
    }
    // after
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = spmd.pad wrap %x low = [1] high = [-1] : tensor<8xf32> -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::spmd::SpmdDialect"];
}

def DropUnitSumsPass : Pass<"spmd-drop-unit-sums", "::mlir::func::FuncOp"> {
  let summary = "Leave out sums of one element each that are sums already.";
  let description = [{
    The gradient of a broadcast sums the dims that it added, one after the other: behind a sum over rows comes one over a dim of one element. A sum of floats from +0, over dims of one element, of what
    such a sum gave (perhaps in another shape) becomes a reshape: the same bits, for a sum that starts from +0 is never -0.

    ```mlir
    // before: --pass-pipeline=builtin.module(func.func(spmd-drop-unit-sums))
    func.func @main(%x: tensor<8x4xf32>) -> tensor<4xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %a = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
      %b = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<1x4xf32>
      %c = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
      return %c : tensor<4xf32>
    }
    // after
    func.func @main(%x: tensor<8x4xf32>) -> tensor<4xf32> {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def ShowBandsPass : Pass<"spmd-show-bands", "::mlir::func::FuncOp"> {
  let summary = "Select zeros where constant matrices are zero.";
  let description = [{
    Interpolation multiplies by a matrix that follows from sizes alone, and reads a few rows for each of its results. Such a matrix is computed here, and zeros are selected
    outside of the rows that each column reads: a band that the rule of the product sees. Then ranks that have rows send those at their borders, and no sums of all of them. Leaves
    bands so wide that a transposition moves less, products over several dims, extents that are open, matrices of more than two million elements, and those that are computed in 16-bit floats, or compare what a function such as exp made: their zeros may be elsewhere where the program runs.

    ```mlir
    // before: --pass-pipeline=builtin.module(func.func(spmd-show-bands))
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %one = stablehlo.constant dense<1.0> : tensor<4x4xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<4x4xf32>
      %i = stablehlo.iota dim = 0 : tensor<4x4xi32>
      %j = stablehlo.iota dim = 1 : tensor<4x4xi32>
      %equal = stablehlo.compare EQ, %i, %j, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
      %matrix = stablehlo.select %equal, %one, %zero : tensor<4x4xi1>, tensor<4x4xf32>
      %y = stablehlo.dot_general %matrix, %x, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    }
    // after
    func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<4x4xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<4x4xf32>
      %0 = stablehlo.iota dim = 0 : tensor<4x4xi32>
      %1 = stablehlo.iota dim = 1 : tensor<4x4xi32>
      %2 = stablehlo.compare EQ, %0, %1, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
      %3 = stablehlo.select %2, %cst, %cst_0 : tensor<4x4xi1>, tensor<4x4xf32>
      %4 = stablehlo.iota dim = 0 : tensor<4x4xi32>
      %c = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
      %5 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<4xi32>) -> tensor<4x4xi32>
      %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
      %c_1 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
      %7 = stablehlo.broadcast_in_dim %c_1, dims = [1] : (tensor<4xi32>) -> tensor<4x4xi32>
      %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
      %9 = stablehlo.and %6, %8 : tensor<4x4xi1>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<4x4xf32>
      %10 = stablehlo.select %9, %3, %cst_2 : tensor<4x4xi1>, tensor<4x4xf32>
      %11 = stablehlo.dot_general %10, %arg0, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      return %11 : tensor<4x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

#endif // SHARDC_RAISE_PASSES_TD
