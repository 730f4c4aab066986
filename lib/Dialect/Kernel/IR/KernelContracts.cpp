//===- KernelContracts.cpp - Verifies what is left for kernels ----------===//
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "shardc/Dialect/Spmd/IR/ContractRows.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static bool areKernels(Attribute value) {
  return isListOf<ArrayAttr>(value) &&
         llvm::all_of(cast<ArrayAttr>(value), [](Attribute entry) {
           return isListOf<StringAttr>(entry) &&
                  cast<ArrayAttr>(entry).size() == 2;
         });
}

/// True if `value` has an entry for each output of `op`: a number of its
/// elements' type, or unit.
static bool areStarts(Operation *op, Attribute value) {
  auto starts = cast<ArrayAttr>(value);
  auto target = dyn_cast<DestinationStyleOpInterface>(op);
  return target && int64_t(starts.size()) == target.getNumDpsInits() &&
         llvm::all_of(llvm::zip_equal(starts, target.getDpsInits()),
                      [](auto entry) {
                        auto [start, output] = entry;
                        if (isa<UnitAttr>(start))
                          return true;
                        return isa<FloatAttr, IntegerAttr>(start) &&
                               cast<TypedAttr>(start).getType() ==
                                   getElementTypeOrSelf(output.getType());
                      });
}

static const ContractRows &rows() {
  using namespace contract;
  // What an op's body computes with, before and after its lowering.
  const SmallVector<StringRef, 4> arithmetic = {"arith.", "math.", "complex.",
                                                "vector.", "llvm."};
  const SmallVector<StringRef, 4> kernels = {"gpu.launch", "gpu.func",
                                             "llvm.func"};
  constexpr StringLiteral ofArithmetic = "arithmetic", ofModules = "modules",
                          ofArguments = "functions' arguments",
                          ofKernels = "launches and kernels";
  static const ContractRows all(
      {{Sites::name(), OnModules, ofModules, "a #kernel.site_table",
        isOfType<Sites>},
       {EntryInputs::name(), OnModules, ofModules, "a list of dictionaries",
        isListOf<DictionaryAttr>},
       {EntryOutputs::name(), OnModules, ofModules, "a list of dictionaries",
        isListOf<DictionaryAttr>},
       mark<AnyOrder>(OnOps, ofArithmetic, arithmetic),
       mark<RoundedOnce>(OnOps, ofArithmetic, arithmetic),
       mark<Brief>(OnOps, ofArithmetic, arithmetic),
       mark<Logistic>(OnOps, ofArithmetic, arithmetic),
       mark<Rotated>(OnOps, "loops", {"scf.for", "scf.while"}),
       {Parts::name(),
        OnOps,
        "'scf.for'",
        "a number of at least 1",
        isAtLeast<1>,
        {"scf.for"}},
       {Kernels::name(), OnModules, ofModules,
        "a list of names and source lines", areKernels},
       mark<Arena>(OnArguments, ofArguments),
       {ArenaBytes::name(), OnModules, ofModules, "a number of at least 0",
        isAtLeast<0>},
       {ArenaLargest::name(), OnModules, ofModules, "a string",
        isOfType<ArenaLargest>},
       {ArenaPlan::name(), OnModules, ofModules,
        "a list of #kernel.arena_buffer", isListOf<ArenaBufferAttr>},
       {InPlace::name(), OnArguments, ofArguments, "the number of an argument",
        isAtLeast<0>},
       {WrittenInPlace::name(), OnModules, ofModules,
        "an array of numbers of arguments, or -1", isOfType<WrittenInPlace>},
       {LineOrder::name(),
        OnOps,
        "'kernel.lines'",
        "a #kernel.line_order",
        isOfType<LineOrder>,
        {"kernel.lines"}},
       {Starts::name(),
        OnOps,
        "'linalg.generic' and 'pairs.pair_step'",
        "for each output a number of its elements' type, or unit",
        isOfType<Starts>,
        {"linalg.generic", "pairs.pair_step"},
        areStarts},
       {ComplexPart::name(),
        OnOps,
        "casts",
        "0, 1 or -1",
        [](Attribute value) {
          return isAtLeast<-1>(value) &&
                 cast<IntegerAttr>(value).getValue().sle(1);
        },
        {"builtin.unrealized_conversion_cast"}},
       mark<LibraryCall>(OnOps, ofArithmetic, arithmetic),
       {Gpu::name(), OnOps, ofKernels, "a #kernel.gpu", isOfType<Gpu>, kernels},
       mark<Otherwise>(OnOps, ofKernels, kernels),
       mark<Persistent>(OnOps, ofKernels, kernels),
       mark<Paired>(OnOps, ofKernels, kernels),
       {TensorFloat::name(), OnOps, ofArithmetic, "a #kernel.tensor_float",
        isOfType<TensorFloat>, arithmetic},
       {TensorMap::name(),
        OnOps,
        "casts to pointers",
        "a list of arrays of dims",
        isListOf<DenseI64ArrayAttr>,
        {"builtin.unrealized_conversion_cast"}},
       {TensorBox::name(),
        OnOps,
        "casts to pointers",
        "an array of sizes",
        isOfType<TensorBox>,
        {"builtin.unrealized_conversion_cast"}},
       {TensorMaps::name(), OnOps, ofKernels, "a number of at least 0",
        isAtLeast<0>, kernels}},
      "KernelDialect.td");
  return all;
}

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute attr) {
  return rows().verify(op, attr);
}

LogicalResult KernelDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                      unsigned arg,
                                                      NamedAttribute attr) {
  return rows().verifyArgument(op, arg, attr);
}

LogicalResult KernelDialect::verifyRegionResultAttribute(Operation *op,
                                                         unsigned,
                                                         unsigned result,
                                                         NamedAttribute attr) {
  return rows().verifyResult(op, result, attr);
}
