//===- InterpreterOps.td - The interpreter dialect ------------------------===//
//
// Ops by which conformance files run programs side by side and look at values in
// between. Import maps the programs to ranks.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_INTERPRETER_IR_INTERPRETEROPS_TD
#define SHARDC_DIALECT_INTERPRETER_IR_INTERPRETEROPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Interpreter_Dialect : Dialect {
  let name = "interpreter";
  let cppNamespace = "::shardc::interpreter";
  let summary = "What conformance files run.";
}

class Interpreter_Op<string mnemonic, list<Trait> traits = []>
    : Op<Interpreter_Dialect, mnemonic, traits>;

def Interpreter_RunParallelOp : Interpreter_Op<"run_parallel"> {
  let summary = "Programs of this module, each in a process, in a grid of replicas and partitions.";
  let description = [{
    A row of `programs` is a replica, its entries are its partitions. Operands and results are those of
    the first process, then of the second, and so on. `infeed`: functions without arguments; their
    results are what `stablehlo.infeed` gives in turn.
    ```mlir
    %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@f], [@f]]}
        : (tensor<4xi64>, tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>)
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, OptionalAttr<ArrayAttr>:$infeed,
                       ArrayAttr:$programs);
  let results = (outs Variadic<AnyType>:$results);
  let hasVerifier = 1;
}

def Interpreter_PrintOp : Interpreter_Op<"print", [SameOperandsAndResultType]> {
  let summary = "The operand; its value is to be shown.";
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Interpreter_ProbeOp : Interpreter_Op<"probe", [SameOperandsAndResultType]> {
  let summary = "The operand; `check.expect_serialized_eq` names the value.";
  let arguments = (ins AnyRankedTensor:$operand, StrAttr:$probe_id);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand `,` `probe_id` `=` $probe_id attr-dict `:` type($result)";
}

#endif // SHARDC_DIALECT_INTERPRETER_IR_INTERPRETEROPS_TD
