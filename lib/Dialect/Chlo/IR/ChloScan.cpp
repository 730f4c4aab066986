//===- ChloScan.cpp - chlo.scan -------------------------------------------===//
#include "shardc/Dialect/Chlo/IR/Chlo.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::chlo;

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  int64_t dimension;
  FunctionType type;
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("dimension") || parser.parseEqual() ||
      parser.parseInteger(dimension) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion()) || parser.parseColon())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(type))
    return failure();
  if (type.getNumInputs() != inputs.size() + inits.size() ||
      type.getNumResults() < inits.size())
    return parser.emitError(loc)
           << "expected types of " << inputs.size() << " inputs and "
           << inits.size() << " values that are carried, got " << type;
  if (parser.resolveOperands(inputs, type.getInputs().take_front(inputs.size()),
                             loc, result.operands) ||
      parser.resolveOperands(inits, type.getInputs().take_back(inits.size()),
                             loc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  Builder &builder = parser.getBuilder();
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.setDimension(builder.getI64IntegerAttr(dimension));
  llvm::copy(ArrayRef<int32_t>{static_cast<int32_t>(inputs.size()),
                               static_cast<int32_t>(inits.size())},
             properties.operandSegmentSizes.begin());
  llvm::copy(ArrayRef<int32_t>{static_cast<int32_t>(type.getNumResults() -
                                                    inits.size()),
                               static_cast<int32_t>(inits.size())},
             properties.resultSegmentSizes.begin());
  return success();
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << '(' << getInputs() << ") inits(" << getInits()
          << ") dimension=" << getDimension();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {"dimension", "operandSegmentSizes", "resultSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(getOperandTypes(), getResultTypes());
}

LogicalResult ScanOp::verify() {
  auto dim = static_cast<int64_t>(getDimension());
  auto sizeOf = [&](Value value) -> FailureOr<int64_t> {
    auto type = cast<RankedTensorType>(value.getType());
    if (dim < 0 || dim >= type.getRank())
      return emitOpError("goes along dim ")
             << dim << ", but " << type << " has " << type.getRank() << " dims";
    return type.getDimSize(dim);
  };
  int64_t size = getScanDimSize().value_or(ShapedType::kDynamic);
  SmallVector<Value> scanned(getInputs());
  llvm::append_range(scanned, getOutputs());
  for (Value value : scanned) {
    FailureOr<int64_t> own = sizeOf(value);
    if (failed(own))
      return failure();
    if (ShapedType::isDynamic(*own))
      continue;
    if (!ShapedType::isDynamic(size) && size != *own)
      return emitOpError("goes along ")
             << *own << " elements of " << value.getType() << ", but along "
             << size << " of others";
    size = *own;
  }
  if (scanned.empty() && !getScanDimSize())
    return emitOpError("has neither inputs nor outputs nor scan_dim_size, "
                       "which say how far it goes");
  if (!areCompatibleTypes(getInits().getTypes(), getCarries().getTypes()))
    return emitOpError("carries ")
           << getCarries().getTypes() << ", expected " << getInits().getTypes();
  auto slices = [&](ValueRange whole, ValueRange carried) {
    SmallVector<Type> types;
    for (Value value : whole) {
      auto type = cast<RankedTensorType>(value.getType());
      SmallVector<int64_t> shape(type.getShape());
      shape.erase(shape.begin() + dim);
      types.push_back(RankedTensorType::get(shape, type.getElementType()));
    }
    llvm::append_range(types, carried.getTypes());
    return types;
  };
  SmallVector<Type> taken = slices(getInputs(), getInits()),
                    given = slices(getOutputs(), getCarries());
  Block &body = getBody().front();
  if (!areCompatibleTypes(body.getArgumentTypes(), taken))
    return emitOpError("has a body that takes ")
           << body.getArgumentTypes() << ", expected " << taken;
  Operation *end = body.empty() ? nullptr : &body.back();
  if (!end || end->getName().getStringRef() != "stablehlo.return")
    return emitOpError("has a body without stablehlo.return");
  if (!areCompatibleTypes(end->getOperandTypes(), given))
    return emitOpError("has a body that returns ")
           << end->getOperandTypes() << ", expected " << given;
  return success();
}
