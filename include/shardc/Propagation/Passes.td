//===- Passes.td - Every value gets a sharding -------------*- tablegen -*-===//
#ifndef SHARDC_PROPAGATION_PASSES_TD
#define SHARDC_PROPAGATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PropagateShardingsPass : Pass<"spmd-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "Give every value a sharding, and every op a way to run.";
  let description = [{
    Before: `spmd.sharding` on some arguments and results, `spmd.constrain`. After: `spmd.sharding` on
    all of them, `spmd.shardings` on every op with tensor results, `spmd.factors` on those with a rule;
    no `spmd.constrain`. Refuses: sizes that are dynamic, results that are partial. Adds:
    `spmd.reshard`, with its reason, where a value must arrive otherwise than it is.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) -> tensor<8xf32> {
      %0 = stablehlo.negate %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) {
      %0 = stablehlo.negate %x {spmd.factors = [#spmd<dim_sharding{"x"}>], spmd.shardings = [#spmd.sharding<@mesh, [{"x"} ]>]} : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
  }];
  let options = [
    Option<"noFallback", "no-fallback", "bool", /*default=*/"false",
           "Refuse an op without a sharding rule where it would be gathered.">,
    Option<"explain", "explain", "bool", /*default=*/"false",
           "A remark for each reshard and each derived argument: bytes, and where the sharding came from.">,
    Option<"partialResults", "partial-results", "bool", /*default=*/"false",
           "Results that are asked for unreduced leave in parts.">,
    Option<"origins", "origins", "bool", /*default=*/"false",
           "Note on each value, as `spmd.origins`, which annotation its axes and sizes came from.">];
  let dependentDialects = ["::shardc::spmd::SpmdDialect"];
}

def DealBlocksPass : Pass<"spmd-deal-blocks", "::mlir::ModuleOp"> {
  let summary = "Put dims whose sharding says `order zigzag`, and those that go with them, in zigzag order.";
  let description = [{
    Before: `order zigzag` in shardings of arguments, results and constraints. After: none; `spmd.deal` where a value comes or is
    wanted in the other order, `spmd.dealt_iota` for indices, `query_order` and `key_order` on ops on all pairs. An order goes
    wherever elements of a dim are treated alike; arguments and results of the function stay in order. What reads a dim in
    order gets it so, with a remark. Where nobody asks for an order, and with `choose`, ops on all pairs under a causal mask,
    and as much of the program as that takes, are put in zigzag order where that costs less than each for itself. Refuses:
    orders in manual regions.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" order zigzag} ]>}) -> tensor<8xf32> {
      %0 = stablehlo.negate %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) -> tensor<8xf32> {
      %0 = spmd.deal %x dim 0 sizes [4, 4] reason "for 'stablehlo.negate' at <stdin>:3" : tensor<8xf32>
      %1 = stablehlo.negate %0 : tensor<8xf32>
      %2 = spmd.deal %1 dim 0 sizes [4, 4] back reason "as a result of the program" : tensor<8xf32>
      return %2 : tensor<8xf32>
    }
    ```
  }];
  let options = [
    Option<"choose", "choose", "bool", /*default=*/"false",
           "Take zigzag order where nobody asked for it and it costs less.">];
  let dependentDialects = ["::shardc::spmd::SpmdDialect"];
}

def EvenBordersPass : Pass<"spmd-even-borders", "::mlir::ModuleOp"> {
  let summary = "Let arguments and results of a program be cut in equal shards.";
  let description = [{
    Before: every value has a sharding. After: arguments and results of functions are cut evenly, or whole along a dim
    that the number of its shards does not divide, and there is an `spmd.reshard` between these and what is uneven inside.
    Refuses: nothing. Adds: reshards.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{} ]>}) -> (tensor<7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) {
      %0 = stablehlo.negate %x {spmd.factors = [#spmd<dim_sharding{"x"}>], spmd.shardings = [#spmd.sharding<@mesh, [{"x"} ]>]} : tensor<7xf32>
      return %0 : tensor<7xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{} ]>}) -> (tensor<7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{} ]>}) {
      %0 = stablehlo.negate %x {spmd.factors = [#spmd<dim_sharding{"x"}>], spmd.shardings = [#spmd.sharding<@mesh, [{"x"} ]>]} : tensor<7xf32>
      %1 = spmd.reshard %0 <@mesh, [{"x"} ]> -> <@mesh, [{} ]> reason "result 0 leaves in equal shards" {spmd.shardings = [#spmd.sharding<@mesh, [{} ]>]} : tensor<7xf32>
      return %1 : tensor<7xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::spmd::SpmdDialect"];
}

def VerifyPropagatedPass : Pass<"spmd-verify-propagated", "::mlir::ModuleOp"> {
  let summary = "Check what Partition relies on.";
  let description = [{
    Each op with `spmd.factors` gets its operands, and makes its results, cut as the factors imply (the
    boundaries of operands that are read through windows are free); all other ops have whole operands
    and results; control flow passes values on unchanged; every argument, result and op has a
    sharding; no `spmd.constrain` is left.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>})
        -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) {
      return %x : tensor<8xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) {
      return %x : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::spmd::SpmdDialect"];
}

#endif // SHARDC_PROPAGATION_PASSES_TD
