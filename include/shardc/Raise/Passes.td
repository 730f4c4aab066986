//===- Passes.td - Patterns to ops on all pairs ------------*- tablegen -*-===//
#ifndef SHARDC_RAISE_PASSES_TD
#define SHARDC_RAISE_PASSES_TD

include "mlir/Pass/PassBase.td"

def RaiseAllPairsPass : Pass<"spmd-raise-all-pairs", "::mlir::ModuleOp"> {
  let summary = "Find attention, forward and backward, however it is written.";
  let description = [{
    Before: contractions, softmax and masks in StableHLO. After: `spmd.all_pairs softmax` and
    `spmd.attention_backward` where no score would be left over, also of one block of keys among others. A remark says why something that
    looks like attention is none. Never looks at shardings.

    ```mlir
    // before
    %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %e = stablehlo.exponential %s : tensor<8x6xf32>
    %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    %p = stablehlo.divide %e, %b : tensor<8x6xf32>
    %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
    // after
    %o, %max, %sum = spmd.all_pairs softmax %q, %k, %v maps [...] score {...} : (...) -> (tensor<8x3xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "A remark for each thing that looks like attention and is none.">];
  let dependentDialects = ["::shardc::spmd::SpmdDialect", "::shardc::stablehlo::StablehloDialect"];
}

def SinkMasksPass : Pass<"spmd-sink-masks", "::mlir::func::FuncOp"> {
  let summary = "Make masks that a loop carries where they are used.";
  let description = [{
    Before: `stablehlo.while` with operands that it yields unchanged and that follow from `iota` and single numbers alone, by comparing,
    selecting and moving elements, as JAX makes masks of a scan over layers. After: its regions make these themselves, and it does not carry them. So a
    mask is seen to be one, and no tensor of tokens times tokens lives as long as the loop. Leaves what is dear to make, and values of fewer
    than two dims.
    ```mlir
    %mask = stablehlo.compare GE, %rows, %columns : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %0:2 = stablehlo.while(%x = %init, %m = %mask) : tensor<8x8xf32>, tensor<8x8xi1>
    // becomes, with the comparison in the loop
    %0 = stablehlo.while(%x = %init) : tensor<8x8xf32>
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def RecomputeScoresPass : Pass<"spmd-recompute-scores", "::mlir::func::FuncOp"> {
  let summary = "Compute scores that one loop keeps for another anew.";
  let description = [{
    Before: a loop that writes, turn by turn, exponentials of scores of queries and keys (and maxima and sums of them) into tensors that another loop reads
    turn by turn, as JAX keeps them for the gradient of a scan over layers, beside the queries and keys. After: the other loop computes
    them from these, and nobody keeps them. So the gradient is that of attention in each iteration, and no tensor of tokens times tokens is there
    for each layer. Leaves what follows from more than what is kept, and what is kept of other products.
    ```mlir
    // in one loop, q and k being kept as well; then in another: %p = dynamic_slice %kept, %j, ...
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    %e = stablehlo.exponential %s
    %next = stablehlo.dynamic_update_slice %kept, %e, %i, %zero, %zero, %zero
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
    // before, k and v after three more steps like this one
    %o = spmd.manual(%q, %k, %v) in [#rows, #rows, #rows] out [#rows] along ["x"] {
      ...
      %next = "stablehlo.collective_permute"(%key) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    // after
    %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    ```
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "A remark for each ring that is left as it is.">];
  let dependentDialects = ["::shardc::spmd::SpmdDialect", "::shardc::stablehlo::StablehloDialect"];
}

def ExpandAllPairsPass : Pass<"spmd-expand-all-pairs", "::mlir::ModuleOp"> {
  let summary = "Say in plain StableHLO what ops on all pairs compute.";
  let description = [{
    Before: `spmd.all_pairs softmax`, `spmd.attention_backward`, sums and extremes. After: contractions and elementwise ops
    on whole score tensors. Those marked `spmd.whole_sum` stay. Refuses: tensors of unknown size.
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect", "::shardc::chlo::ChloDialect"];
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

def RaisePaddingPass : Pass<"spmd-raise-padding", "::mlir::func::FuncOp"> {
  let summary = "Recognise rolls and paddings that read the tensor itself.";
  let description = [{
    A roll arrives as two slices and a concatenation, a periodic, edge or mirrored padding as more of
    them. Wherever a concatenation holds elements of one tensor in the order of such a padding, it
    becomes `spmd.pad`. Slices of a padding become smaller paddings of what is padded: each reads its
    own neighbourhood of the tensor, and no padded copy stands between.
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

#endif // SHARDC_RAISE_PASSES_TD
