//===- Passes.td - Communication of the local view ---------*- tablegen -*-===//
#ifndef SHARDC_COMMUNICATION_PASSES_TD
#define SHARDC_COMMUNICATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyControlFlowPass : Pass<"spmd-verify-control-flow", "::mlir::ModuleOp"> {
  let summary = "Prove that all ranks of each group reach the same communication in the same order.";
  let description = [{
    Changes nothing. Every rank runs the same program, so ranks part ways only at a loop or a branch.
    If each condition around a communication op is the same on all ranks of its group, then each
    rank runs through its communication in program order and no two wait for one another. Calls
    count as the communication of what they call.

    Refuses a condition of a loop or branch around a communication op that may differ along an axis
    of its group, and communication in regions that it cannot see through (several blocks, loops in
    no order).

    It stands before values travel together: in one bucket, a condition that is the same everywhere
    may lie beside rows that are not. Passes behind it move communication within its block alone.

    ```mlir
    // Refused: each rank stops when its own residual is small.
    %r = stablehlo.while(%x = %shard) : tensor<8xf32> cond {
      %go = ... // from %x alone, which is sharded over "x"
      stablehlo.return %go : tensor<i1>
    } do {
      %h = local.halo_exchange %x [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] ...
    ```

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%go: tensor<i1> {spmd.sharding = #spmd.sharding<@mesh, []>}, %a: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
      %0 = "stablehlo.if"(%go) ({
        %1 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
        stablehlo.return %1 : tensor<4xf32>
      }, {
        stablehlo.return %a : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%go: tensor<i1> {spmd.sharding = #spmd.sharding<@mesh, []>}, %a: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
      %0 = "stablehlo.if"(%go) ({
        %1 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
        stablehlo.return %1 : tensor<4xf32>
      }, {
        stablehlo.return %a : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

def VerifyCommunicationPass : Pass<"spmd-verify-communication", "::mlir::ModuleOp"> {
  let summary = "Check that what ranks do together fits.";
  let description = [{
    Changes nothing. Refuses, with an error on the op:
    - exchange tables that are no exchange: owned boxes that overlap or leave a gap;
    - an exchange that reaches outside the domain without a fill value, or with one of another type;
    - a static size of source or result that is not what every rank owns or needs;
    - a group whose ranks have sources of different sizes along a dim that does not move;
    - a reduce_scatter whose group does not hold the same box, or keeps more than it;
    - two meshes with different numbers of ranks;
    - an exchange_start without exactly one exchange_wait on the same value, later in the same block.

    Not checked here, where sizes are only known when the program runs: the runtime compares them.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
      %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
      %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

def SplitExchangesPass : Pass<"spmd-split-exchanges", "::mlir::func::FuncOp"> {
  let summary = "Start exchanges early and wait for them late, where there is work between.";
  let description = [{
    Before: exchanges as one op. After: an exchange whose source is there, or whose result is read, other work
    away from it is an `local.exchange_start` right behind its source and an `local.exchange_wait` right before its
    first reader, in the same block. Ops without regions that make nothing but its source move ahead with the start. Others stay as they are: with nothing between, two halves are only more calls.
    Starts and waits keep one order on all ranks, since all run the same block. At most four are under way at once.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8x4xf32>, %zero: tensor<f32>) -> (tensor<8x4xf32>, tensor<10x4xf32>)
        attributes {spmd.local_view} {
      %h = local.halo_exchange %x [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh
          : tensor<8x4xf32> -> tensor<10x4xf32>
      %y = stablehlo.tanh %x : tensor<8x4xf32>
      %n = stablehlo.negate %h : tensor<10x4xf32>
      return %y, %n : tensor<8x4xf32>, tensor<10x4xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8x4xf32>, %zero: tensor<f32>) -> (tensor<8x4xf32>, tensor<10x4xf32>) attributes {spmd.local_view} {
      %0 = local.exchange_start %x : tensor<8x4xf32>
      %1 = stablehlo.tanh %x : tensor<8x4xf32>
      %2 = local.exchange_wait %0 of %x "halo_exchange" [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %zero : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
      %3 = stablehlo.negate %2 : tensor<10x4xf32>
      return %1, %3 : tensor<8x4xf32>, tensor<10x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::spmd::LocalDialect"];
}

def MergeHalosPass : Pass<"spmd-merge-halos", "::mlir::func::FuncOp"> {
  let summary = "One halo exchange for all that read neighbours of a value.";
  let description = [{
    After: halo exchanges of one value in one block, whatever their directions and widths, are one exchange of the
    hull of what they need, and slices of it, unless the hull is much larger than what one of them needs, or they
    want different things outside the domain. A hull holds the own block.

    ```mlir
    // before: --pass-pipeline=builtin.module(func.func(spmd-merge-halos))
    spmd.mesh @mesh = <["i"=2]>
    func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %n = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [1:9, 9:17] wrap>] on @mesh : tensor<8xf32> -> tensor<8xf32>
      %s = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:7, 7:15] wrap>] on @mesh : tensor<8xf32> -> tensor<8xf32>
      return %n, %s : tensor<8xf32>, tensor<8xf32>
    }
    // after
    spmd.mesh @mesh = <["i"=2]>
    func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %0 = local.halo_exchange %x [<dim 0 along ["i"] : [0:8, 8:16] -> [-1:9, 7:17] wrap>] on @mesh : tensor<8xf32> -> tensor<10xf32>
      %extracted_slice = tensor.extract_slice %0[2] [8] [1] : tensor<10xf32> to tensor<8xf32>
      %extracted_slice_0 = tensor.extract_slice %0[0] [8] [1] : tensor<10xf32> to tensor<8xf32>
      return %extracted_slice, %extracted_slice_0 : tensor<8xf32>, tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def CombineExchangesPass : Pass<"spmd-combine-exchanges", "::mlir::func::FuncOp"> {
  let summary = "Move communication out of loops, and do the same communication once.";
  let description = [{
    After: no communication op is in a loop whose every iteration would move the same values
    (carried values that the loop passes on unchanged are seen through), and there are no two where one
    would do: the same op on the same value, one dominating the other. Their reasons are
    joined. The conditions on a rank's path only become fewer, so what the verifier
    proved still holds. A loop that runs no iteration communicates once for nothing.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {spmd.local_view} {
      %0 = local.all_gather %x [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>] on @mesh : tensor<4xf32> -> tensor<8xf32>
      %1 = local.all_gather %x [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>] on @mesh : tensor<4xf32> -> tensor<8xf32>
      return %0, %1 : tensor<8xf32>, tensor<8xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {spmd.local_view} {
      %0 = local.all_gather %x [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>] on @mesh : tensor<4xf32> -> tensor<8xf32>
      return %0, %0 : tensor<8xf32>, tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::spmd::LocalDialect"];
}

def DetachSumsPass : Pass<"spmd-detach-sums", "::mlir::func::FuncOp"> {
  let summary = "Take what other ranks have to say out of sums of many elements.";
  let description = [{
    Before: a sum of more bytes than a core's cache holds half of, of elements that were multiplied with, or had subtracted, what an
    `local.all_reduce` gave, the same for all that are added to one another: a mean, a norm, a scale. After: that is behind
    the sum as a factor, and the mean of all ranks is replaced by that of the rank's own elements, with what the difference
    of both makes, so the sum waits for nobody, and what it reads is read once for all such sums. Sums have another order
    of rounding: not with `--reproducible`. Differences from anything but their own mean stay as they are, since they may be
    small beside what they are of. Refuses: factors along dims whose sizes differ by rank.

    ```mlir
    // before
    module attributes {machine.target = #machine.figures<"generic", {cache = 64.0 : f64}>} {
      spmd.mesh @mesh = <["x"=2]>
      func.func @main(%x: tensor<4x64xf32>, %g: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %k = local.all_reduce sum %g along ["x"] on @mesh : tensor<4xf32>
        %w = stablehlo.broadcast_in_dim %k, dims = [0] : (tensor<4xf32>) -> tensor<4x64xf32>
        %p = stablehlo.multiply %x, %w : tensor<4x64xf32>
        %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x64xf32>, tensor<f32>) -> tensor<4xf32>
        return %s : tensor<4xf32>
      }
    }
    // after
    module attributes {machine.target = #machine.figures<"generic", {cache = 6.400000e+01 : f64}>} {
      spmd.mesh @mesh = <["x"=2]>
      func.func @main(%x: tensor<4x64xf32>, %g: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
        %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %0 = local.all_reduce sum %g along ["x"] on @mesh : tensor<4xf32>
        %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x64xf32>
        %2 = stablehlo.multiply %x, %1 : tensor<4x64xf32>
        %3 = stablehlo.reduce(%x init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x64xf32>, tensor<f32>) -> tensor<4xf32>
        %4 = stablehlo.multiply %0, %3 : tensor<4xf32>
        return %4 : tensor<4xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def SinkReductionsPass : Pass<"spmd-sink-reductions", "::mlir::func::FuncOp"> {
  let summary = "Combine partial values late, where less is to be combined.";
  let description = [{
    Before: an `local.all_reduce` right behind each op that reduces a cut dim. After: it is behind the ops that are linear
    in its result (transposes, reshapes, slices, sums over whole dims, factors that are the same on all ranks of the group)
    where that costs less:
    - two partial values are added: one combination of the sum;
    - a loop adds a partial value to an accumulator in every iteration: one combination behind the loop;
    - another all_reduce of the same kind: one along all axes;
    - every reader keeps the same part, which differs by rank: an `local.reduce_scatter`, and an all_reduce of the part along
      axes of the group along which it does not differ. Slices are taken of the operands of elementwise ops to get there;
    - what is combined has become smaller.
    What is the same on all ranks of the group is not combined at all. Moves no communication into a loop or a branch.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
      %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
      %1 = local.all_reduce sum %b along ["x"] on @mesh : tensor<4xf32>
      %2 = stablehlo.add %0, %1 : tensor<4xf32>
      return %2 : tensor<4xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
      %0 = stablehlo.add %a, %b : tensor<4xf32>
      %1 = local.all_reduce sum %0 along ["x"] on @mesh : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"keepSums", "keep-sums", "bool", /*default=*/"false",
           "Combine sums before any arithmetic on them: they are exact, what follows from them is not.">];
  let dependentDialects = ["::shardc::spmd::LocalDialect", "::shardc::stablehlo::StablehloDialect"];
}

def WidenReductionsPass : Pass<"spmd-widen-reductions", "::mlir::func::FuncOp"> {
  let summary = "Combine floats of eight bits as f32.";
  let description = [{
    Before: an `local.all_reduce` or `local.reduce_scatter` of any elements. After: what has floats of less than 16 bits, which
    ranks do not combine, works on f32; its result is rounded once.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> attributes {spmd.local_view} {
      %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf8E4M3FN>
      return %0 : tensor<4xf8E4M3FN>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> attributes {spmd.local_view} {
      %0 = stablehlo.convert %a : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
      %1 = local.all_reduce sum %0 along ["x"] on @mesh : tensor<4xf32>
      %2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
      return %2 : tensor<4xf8E4M3FN>
    }
    ```
  }];
  let dependentDialects = ["::shardc::spmd::LocalDialect", "::shardc::stablehlo::StablehloDialect"];
}

def SplitProductsPass : Pass<"spmd-split-products", "::mlir::func::FuncOp"> {
  let summary = "Multiply block by block what is gathered or scattered, while the next block travels.";
  let description = [{
    A `stablehlo.dot_general` with an operand that is gathered for it alone is multiplied block by block, in the shards of
    their owners: products are added up (a contracted dim) or set side by side (a free one). The whole operand is nowhere. One whose
    partial sums are scattered computes the block of one rank after another, its own last. Only where blocks are large, and synchronisations and sums round by
    round cost at most 5 % more than hiding them gains. Of narrow floats the sums are f32, rounded once.

    ```mlir
    // before: --pass-pipeline=builtin.module(func.func(spmd-split-products{least-block=0}))
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4x6xf32>, %b: tensor<3x5xf32>) -> tensor<4x5xf32> attributes {spmd.local_view} {
      %0 = local.all_gather %b [<dim 0 along ["x"] : [0:3, 3:6] -> [0:6, 0:6]>] on @mesh : tensor<3x5xf32> -> tensor<6x5xf32>
      %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
      return %1 : tensor<4x5xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4x6xf32>, %b: tensor<3x5xf32>) -> tensor<4x5xf32> attributes {spmd.local_view} {
      %0 = local.lookup [0, 3] along ["x"] on @mesh
      %extracted_slice = tensor.extract_slice %a[0, %0] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
      %1 = stablehlo.dot_general %extracted_slice, %b, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
      %2 = local.rebalance %b [<dim 0 along ["x"] : [0:3, 3:6] -> [3:6, 0:3]>] reason "meets block 1 of 2 while the one before is multiplied" on @mesh : tensor<3x5xf32> -> tensor<3x5xf32>
      %3 = local.lookup [3, 0] along ["x"] on @mesh
      %extracted_slice_0 = tensor.extract_slice %a[0, %3] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
      %4 = stablehlo.dot_general %extracted_slice_0, %2, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
      %5 = local.accumulate %4 into %1 : tensor<4x5xf32>
      return %5 : tensor<4x5xf32>
    }
    ```
  }];
  let options = [
    Option<"leastBlock", "least-block", "int64_t", /*default=*/"400000",
           "Bytes of a block that are worth a synchronisation of their own; 0: split whatever can be.">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::shardc::spmd::LocalDialect", "::shardc::stablehlo::StablehloDialect", "::mlir::tensor::TensorDialect"];
}

def BucketReductionsPass : Pass<"spmd-bucket-reductions", "::mlir::func::FuncOp"> {
  let summary = "Combine several small partial values in one reduction.";
  let description = [{
    After: all_reduces of one kind, element type and group in one block that do not need one another are one, of the values
    side by side, where the last of them was; what needs the first ones' results moves behind it. So a training step
    reduces its gradients in a few synchronisations. Only what is small, in the binding by which costs are estimated, travels so: copies of more cost more than a synchronisation.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4xf32>, %b: tensor<6xf32>) -> (tensor<4xf32>, tensor<6xf32>) attributes {spmd.local_view} {
      %0 = local.all_reduce sum %a along ["x"] on @mesh : tensor<4xf32>
      %1 = local.all_reduce sum %b along ["x"] on @mesh : tensor<6xf32>
      return %0, %1 : tensor<4xf32>, tensor<6xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4xf32>, %b: tensor<6xf32>) -> (tensor<4xf32>, tensor<6xf32>) attributes {spmd.local_view} {
      %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<4xf32>, tensor<6xf32>) -> tensor<10xf32>
      %1 = local.all_reduce sum %0 along ["x"] on @mesh : tensor<10xf32>
      %2 = stablehlo.slice %1 [0:4] : (tensor<10xf32>) -> tensor<4xf32>
      %3 = stablehlo.slice %1 [4:10] : (tensor<10xf32>) -> tensor<6xf32>
      return %2, %3 : tensor<4xf32>, tensor<6xf32>
    }
    ```
  }];
  let options = [
    Option<"memberLimit", "member-limit", "int64_t", /*default=*/"65536", "Most bytes of a value that travels with others.">,
    Option<"bucketLimit", "bucket-limit", "int64_t", /*default=*/"1048576", "Most bytes that travel together.">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::shardc::spmd::LocalDialect", "::shardc::stablehlo::StablehloDialect"];
}

def BucketExchangesPass : Pass<"spmd-bucket-exchanges", "::mlir::func::FuncOp"> {
  let summary = "Move several small values in one exchange.";
  let description = [{
    After: exchanges of one block that do not need one another are one, where the last of them was, if ranks exchange
    values of one shape alike (one behind the other in a new dim), or gather or reduce-scatter equal shards of any shape along
    the first dim (side by side in each rank's row). Only what is small travels so: the block itself is copied once more.
    Shards that are bound later and the same for the sizes of the estimate are made the same: a `local.rebalance` before, and one behind.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%u: tensor<8xf32>, %v: tensor<8xf32>, %z: tensor<f32>) -> (tensor<10xf32>, tensor<10xf32>)
        attributes {spmd.local_view} {
      %0 = local.halo_exchange %u [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %z : tensor<f32> on @mesh
          : tensor<8xf32> -> tensor<10xf32>
      %1 = local.halo_exchange %v [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %z : tensor<f32> on @mesh
          : tensor<8xf32> -> tensor<10xf32>
      return %0, %1 : tensor<10xf32>, tensor<10xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%u: tensor<8xf32>, %v: tensor<8xf32>, %z: tensor<f32>) -> (tensor<10xf32>, tensor<10xf32>) attributes {spmd.local_view} {
      %0 = stablehlo.reshape %u : (tensor<8xf32>) -> tensor<1x8xf32>
      %1 = stablehlo.reshape %v : (tensor<8xf32>) -> tensor<1x8xf32>
      %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
      %3 = local.halo_exchange %2 [<dim 1 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] fill %z : tensor<f32> on @mesh : tensor<2x8xf32> -> tensor<2x10xf32>
      %4 = stablehlo.slice %3 [0:1, 0:10] : (tensor<2x10xf32>) -> tensor<1x10xf32>
      %5 = stablehlo.reshape %4 : (tensor<1x10xf32>) -> tensor<10xf32>
      %6 = stablehlo.slice %3 [1:2, 0:10] : (tensor<2x10xf32>) -> tensor<1x10xf32>
      %7 = stablehlo.reshape %6 : (tensor<1x10xf32>) -> tensor<10xf32>
      return %5, %7 : tensor<10xf32>, tensor<10xf32>
    }
    ```
  }];
  let options = [
    Option<"memberLimit", "member-limit", "int64_t", /*default=*/"16384", "Most bytes of a value that travels with others.">,
    Option<"bucketLimit", "bucket-limit", "int64_t", /*default=*/"1048576", "Most bytes that travel together.">];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::shardc::spmd::LocalDialect", "::shardc::stablehlo::StablehloDialect"];
}

#endif // SHARDC_COMMUNICATION_PASSES_TD
