//===- Passes.td - Communication of the local view ---------*- tablegen -*-===//
#ifndef SHARDC_COMMUNICATION_PASSES_TD
#define SHARDC_COMMUNICATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyCommunicationPass : Pass<"spmd-verify-communication", "::mlir::ModuleOp"> {
  let summary = "Prove that all ranks of each group reach the same communication in the same order.";
  let description = [{
    Changes nothing. Every rank runs the same program, so ranks part ways only at a loop or a branch.
    If each condition around a communication op is the same on all ranks of its group, then each
    rank runs through its communication in program order and no two wait for one another. Calls
    count as the communication of what they call.

    Refuses, with an error on the op:
    - a condition of a loop or branch around it that may differ along an axis of its group, and
      communication in regions that it cannot see through (several blocks, loops in no order);
    - exchange tables that are no exchange: owned boxes that overlap or leave a gap;
    - an exchange that reaches outside the domain without a fill value, or with one of another type;
    - a static size of source or result that is not what every rank owns or needs;
    - a group whose ranks bring sources of different sizes to a dim that does not move;
    - a reduce_scatter whose group does not hold the same box, or keeps more than it;
    - two meshes with different numbers of ranks;
    - an exchange_start without exactly one exchange_wait on the same value, later in the same block.

    Not checked here, where sizes are only known when the program runs: the runtime compares them.

    ```mlir
    // Refused: each rank stops when its own residual is small.
    %r = stablehlo.while(%x = %shard) : tensor<8xf32> cond {
      %go = ... // from %x alone, which is sharded over "x"
      stablehlo.return %go : tensor<i1>
    } do {
      %h = spmd.halo_exchange %x [<dim 0 along ["x"] : [0:8, 8:16] -> [-1:9, 7:17]>] ...
    ```
  }];
}

def SplitExchangesPass : Pass<"spmd-split-exchanges", "::mlir::func::FuncOp"> {
  let summary = "Start exchanges early and wait for them late, where work stands between.";
  let description = [{
    Before: exchanges as one op. After: an exchange whose source is there, or whose result is read, other work
    away from it is an `spmd.exchange_start` right behind its source and an `spmd.exchange_wait` right before its
    first reader, in the same block. Others stay as they are: with nothing between, two halves are only more calls.
    Starts and waits keep one order on all ranks, since all run the same block. At most four are under way at once.

    ```mlir
    // before
    %h = spmd.halo_exchange %x [...] fill %z : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
    %y = stablehlo.dot_general %x, %w ...
    %c = stablehlo.convolution(%h, %k) ...
    // after
    %t = spmd.exchange_start %x : tensor<8x4xf32>
    %y = stablehlo.dot_general %x, %w ...
    %h = spmd.exchange_wait %t of %x "halo_exchange" [...] fill %z : tensor<f32> on @mesh : tensor<8x4xf32> -> tensor<10x4xf32>
    %c = stablehlo.convolution(%h, %k) ...
    ```
  }];
  let dependentDialects = ["::shardc::spmd::SpmdDialect"];
}

def CombineExchangesPass : Pass<"spmd-combine-exchanges", "::mlir::func::FuncOp"> {
  let summary = "Move communication out of loops, and do the same communication once.";
  let description = [{
    After: no communication op stands in a loop whose every iteration would move the same values
    (carried values that the loop passes on unchanged are seen through), and no two stand where one
    would do: the same op on the same value, one dominating the other. Their reasons are
    joined. Which conditions a rank meets on the way only become fewer, so what the verifier
    proved still holds. A loop that runs no iteration communicates once for nothing.

    ```mlir
    // before
    %r:2 = stablehlo.while(%i = %zero, %c = %coefficients) ... do {
      %w = spmd.all_gather %c [...] on @mesh : tensor<4xf32> -> tensor<8xf32>
      ...
      stablehlo.return %next, %c : tensor<i32>, tensor<4xf32>
    }
    // after
    %w = spmd.all_gather %coefficients [...] on @mesh : tensor<4xf32> -> tensor<8xf32>
    %r:2 = stablehlo.while(%i = %zero, %c = %coefficients) ... do {
    ```
  }];
  let dependentDialects = ["::shardc::spmd::SpmdDialect"];
}

#endif // SHARDC_COMMUNICATION_PASSES_TD
