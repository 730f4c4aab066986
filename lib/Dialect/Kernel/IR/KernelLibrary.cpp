//===- KernelLibrary.cpp - Operators done by a vendor's library -----------===//
#include "shardc/Dialect/Kernel/IR/KernelSites.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// Most dims and operands that the runtime takes (shardrt/LibraryCall.h).
static constexpr size_t kMostDims = 6, kMostOperands = 6, kMostNumbers = 12;

SmallVector<Value> LibraryCallOp::getShapedOperands() {
  SmallVector<Value> operands(getInputs());
  llvm::append_range(operands, getInits());
  return operands;
}

SmallVector<SmallVector<int64_t>> LibraryCallOp::getGroups(unsigned number) {
  SmallVector<SmallVector<int64_t>> groups;
  for (Attribute group : cast<ArrayAttr>(getDims()[number])) {
    groups.emplace_back();
    for (Attribute dim : cast<ArrayAttr>(group))
      groups.back().push_back(cast<IntegerAttr>(dim).getInt());
  }
  return groups;
}

int64_t LibraryCallOp::getKindCode() {
  constexpr StringLiteral kinds[] = {"product", "convolution", "transform",
                                     "attention"};
  auto found = llvm::find(kinds, getKind());
  return found == std::end(kinds) ? 0 : found - std::begin(kinds) + 1;
}

int64_t LibraryCallOp::getEpilogueCode() {
  constexpr StringLiteral steps[] = {"bias", "relu", "gelu"};
  int64_t code = 0;
  if (std::optional<ArrayAttr> epilogue = getEpilogue())
    for (StringAttr step : epilogue->getAsRange<StringAttr>()) {
      auto found = llvm::find(steps, step.getValue());
      if (found == std::end(steps))
        return -1;
      code |= int64_t(1) << (found - std::begin(steps));
    }
  return code;
}

void LibraryCallOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    bool isInit = operand.getOperandNumber() >= getInputs().size();
    if (!isInit || (getKind() == "product" && !getNumbers().empty() &&
                    getNumbers()[0] != 0))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (isInit)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

LogicalResult LibraryCallOp::verify() {
  if (getKindCode() == 0)
    return emitOpError() << "is of kind \"" << getKind()
                         << "\", expected \"product\", \"convolution\", "
                            "\"transform\" or \"attention\"";
  if (getEpilogueCode() < 0)
    return emitOpError() << "has epilogue " << *getEpilogue()
                         << ", expected \"bias\", \"relu\" and \"gelu\"";
  if (getEpilogueCode() != 0 && getKind() != "product")
    return emitOpError() << "has an epilogue, which only products have";
  if (getRequired() && getTcgen05())
    return emitOpError() << "is \"required\", but asked for on GPUs with "
                            "\"tcgen05\" alone; expected one of the two";
  SmallVector<Value> operands = getShapedOperands();
  bool isAttention = getKind() == "attention";
  size_t numInputs = getKind() == "transform"               ? 1
                     : getEpilogueCode() & 1 || isAttention ? 3
                                                            : 2;
  if (getInputs().size() != numInputs || operands.size() > kMostOperands)
    return emitOpError() << "has " << getInputs().size() << " inputs, expected "
                         << numInputs;
  size_t numInits = isAttention ? 3 : 1;
  if (getInits().size() != numInits)
    return emitOpError() << "has " << getInits().size() << " inits, expected "
                         << numInits;
  size_t numNumbers = getNumbers().size() + getAt().size();
  if (numNumbers > kMostNumbers)
    return emitOpError() << "has " << numNumbers << " numbers, at most "
                         << kMostNumbers << " are known";
  Type init = getInits().front().getType();
  bool onTensors =
      llvm::any_of(getInits().getTypes(), llvm::IsaPred<TensorType>);
  if (bool(getResult()) != onTensors ||
      (getResult() && (numInits != 1 || getResult().getType() != init)))
    return emitOpError()
           << "has init of type " << init
           << ", expected a result of that type if it is a tensor";
  if (getDims().size() != operands.size())
    return emitOpError() << "has dims of " << getDims().size()
                         << " operands, expected " << operands.size();
  for (auto [number, operand] : llvm::enumerate(operands)) {
    auto groups = dyn_cast<ArrayAttr>(getDims()[number]);
    bool isList =
        groups && groups.size() <= kMostDims &&
        llvm::all_of(groups, [](Attribute group) {
          auto list = dyn_cast<ArrayAttr>(group);
          return list && llvm::all_of(list, llvm::IsaPred<IntegerAttr>);
        });
    if (!isList)
      return emitOpError() << "has dims " << getDims()[number] << " of operand "
                           << number << ", expected at most " << kMostDims
                           << " lists of numbers";
    auto type = cast<ShapedType>(operand.getType());
    SmallVector<bool> seen(type.getRank());
    for (ArrayRef<int64_t> group : getGroups(number))
      for (int64_t dim : group) {
        if (dim < 0 || dim >= type.getRank() || seen[dim])
          return emitOpError() << "names dim " << dim << " of operand "
                               << number << ", which has " << type.getRank()
                               << " dims, each named once";
        seen[dim] = true;
      }
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (!seen[dim] && size != 1)
        return emitOpError() << "leaves out dim " << dim << " of operand "
                             << number << ", of " << size << " elements";
  }
  return success();
}
