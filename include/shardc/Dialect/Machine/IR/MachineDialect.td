//===- MachineDialect.td - The machine in the IR --------------------------===//
#ifndef SHARDC_DIALECT_MACHINE_IR_MACHINEDIALECT_TD
#define SHARDC_DIALECT_MACHINE_IR_MACHINEDIALECT_TD

include "mlir/IR/OpBase.td"

def Machine_Dialect : Dialect {
  let name = "machine";
  let cppNamespace = "::shardc::machine";
  let summary = "The machine that a module is compiled for.";
  let description = [{
    One attribute, on the module: `machine.target`. A module without it is compiled for the preset `generic`. Figures are in SI
    units; docs/Reference/machine.md lists them.
    ```mlir
    module attributes {machine.target = #machine.figures<"h100", {link.bandwidth = 5.0e10 : f64}>} {}
    ```
  }];
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Machine_FiguresAttr : AttrDef<Machine_Dialect, "Figures"> {
  let mnemonic = "figures";
  let summary = "A preset, and the figures by which a machine differs from it.";
  let parameters = (ins StringRefParameter<"name of a preset">:$preset,
                        OptionalParameter<"::mlir::DictionaryAttr">:$changed);
  let assemblyFormat = "`<` $preset (`,` $changed^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The machine as the room Machine has it, and back.
    ::shardc::Machine getMachine() const;
    static FiguresAttr get(::mlir::MLIRContext *context, const ::shardc::Machine &machine);
  }];
}

#endif // SHARDC_DIALECT_MACHINE_IR_MACHINEDIALECT_TD
