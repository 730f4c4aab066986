//===- ConformancePasses.td - Conformance files ------------*- tablegen -*-===//
#ifndef SHARDC_IMPORT_CONFORMANCEPASSES_TD
#define SHARDC_IMPORT_CONFORMANCEPASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandChecksPass : Pass<"spmd-expand-checks", "::mlir::ModuleOp"> {
  let summary = "Read the checks of a conformance file, in all their forms.";
  let description = [{
    Before: `check.*` as ops or as custom calls, which have tolerances of their own, and a module of one function of any name.
    After: ops of the check dialect but `check.eq`, which is comparisons; a function without arguments that checks is
    @main. Refuses: custom calls with other operands than a check has.

    ```mlir
    // before
    func.func @main() {
      %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
      stablehlo.custom_call @check.expect_almost_eq(%0, %0) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
      return
    }
    // after
    func.func @main() {
      %cst = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
      check.expect_almost_eq %cst, %cst, tolerance = 1.000000e-03 : tensor<2xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::shardc::check::CheckDialect", "::shardc::stablehlo::StablehloDialect"];
}

def ExpandParallelPass : Pass<"spmd-expand-parallel", "::mlir::ModuleOp"> {
  let summary = "Let ranks run the programs that a conformance file runs side by side.";
  let description = [{
    Before: `interpreter.run_parallel`, `print` and `probe`; the programs' calls are inlined. After: a mesh of
    replicas by partitions and one `sdy.manual_computation`, in which each rank is a process; `send` and `recv` are
    permutations, `infeed` the ops of the function that feeds it. `check.expect_serialized_eq` is a check of what the
    probe saw. Refuses: programs that wait for one another for ever, communication in regions of programs that not
    all processes run, several grids of different sizes.

    ```mlir
    // before: --spmd-inline-calls --spmd-expand-parallel
    func.func @twice(%x: tensor<2xi32>) -> tensor<2xi32> {
      %0 = stablehlo.add %x, %x : tensor<2xi32>
      return %0 : tensor<2xi32>
    }
    func.func @main() -> (tensor<2xi32>, tensor<2xi32>) {
      %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
      %y = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
      %0:2 = "interpreter.run_parallel"(%x, %y) {programs = [[@twice, @twice]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
      return %0#0, %0#1 : tensor<2xi32>, tensor<2xi32>
    }
    // after
    sdy.mesh @processes = <["replica"=1, "partition"=2]>
    func.func @main() -> (tensor<2xi32>, tensor<2xi32>) {
      %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
      %c_0 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
      %0 = stablehlo.reshape %c : (tensor<2xi32>) -> tensor<1x2xi32>
      %1 = stablehlo.reshape %c_0 : (tensor<2xi32>) -> tensor<1x2xi32>
      %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
      %3 = sdy.manual_computation(%2) in_shardings=[<@processes, [{"replica", "partition"}, {} ]>] out_shardings=[<@processes, [{"replica", "partition"}, {} ]>] manual_axes={"replica", "partition"} (%arg0: tensor<1x2xi32>) {
        %8 = stablehlo.reshape %arg0 : (tensor<1x2xi32>) -> tensor<2xi32>
        %9 = stablehlo.add %8, %8 : tensor<2xi32>
        %10 = stablehlo.reshape %9 : (tensor<2xi32>) -> tensor<1x2xi32>
        sdy.return %10 : tensor<1x2xi32>
      } : (tensor<2x2xi32>) -> tensor<2x2xi32>
      %4 = stablehlo.slice %3 [0:1, 0:2] : (tensor<2x2xi32>) -> tensor<1x2xi32>
      %5 = stablehlo.reshape %4 : (tensor<1x2xi32>) -> tensor<2xi32>
      %6 = stablehlo.slice %3 [1:2, 0:2] : (tensor<2x2xi32>) -> tensor<1x2xi32>
      %7 = stablehlo.reshape %6 : (tensor<1x2xi32>) -> tensor<2xi32>
      return %5, %7 : tensor<2xi32>, tensor<2xi32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::check::CheckDialect", "::shardc::sdy::SdyDialect",
                           "::shardc::stablehlo::StablehloDialect"];
}

def CollectChecksPass : Pass<"spmd-collect-checks", "::mlir::ModuleOp"> {
  let summary = "Turn expectations into results that the tool compares.";
  let description = [{
    Before: check ops in @main. After: none; for each of them two more results, got and expected, the first
    with `spmd.check`. A check in the body of a loop or in a branch becomes an
    i1 that is carried out and checked there. Refuses: checks in other regions; tolerances and distances below zero.

    ```mlir
    // before
    func.func @main() {
      %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %1 = stablehlo.add %0, %0 : tensor<2xf32>
      check.expect_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>
      return
    }
    // after
    func.func @main() -> (tensor<2xf32> {spmd.check = #spmd.check<kind = eq>, spmd.name = "check.expect_eq_const at <stdin>:4"}, tensor<2xf32> {spmd.check = #spmd.check<kind = expected>, spmd.name = "check.expect_eq_const at <stdin>:4"}) {
      %cst = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
      %0 = stablehlo.add %cst, %cst : tensor<2xf32>
      %cst_0 = stablehlo.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
      return %0, %cst_0 : tensor<2xf32>, tensor<2xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::spmd::SpmdDialect", "::shardc::stablehlo::StablehloDialect"];
}

#endif // SHARDC_IMPORT_CONFORMANCEPASSES_TD
