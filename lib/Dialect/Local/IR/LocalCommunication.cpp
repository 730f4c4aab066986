//===- LocalCommunication.cpp - Communication -----------------------------===//
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "MeshUses.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// `[<dim 0 along ["x"] : ...>, ...]`, without repeating the attribute's name.
static ParseResult parseDimExchanges(OpAsmParser &parser, ArrayAttr &dims) {
  SmallVector<Attribute> list;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            return failure(
                !list.emplace_back(DimExchangeAttr::parse(parser, {})));
          }))
    return failure();
  dims = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printDimExchanges(OpAsmPrinter &printer, Operation *,
                              ArrayAttr dims) {
  printer << '[';
  llvm::interleaveComma(dims, printer, [&](Attribute dim) {
    cast<DimExchangeAttr>(dim).print(printer);
  });
  printer << ']';
}

#define GET_OP_CLASSES
#include "shardc/Dialect/Local/IR/LocalCommunication.cpp.inc"

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

shardc::Exchange ExchangeOpInterface::getExchange() {
  Operation *op = getOperation();
  auto communication = cast<CommunicationOpInterface>(op);
  MeshAttr mesh = lookupMesh(op, communication.getMeshName());
  Exchange exchange;
  exchange.meshShape.assign(mesh.getAxisSizes().begin(),
                            mesh.getAxisSizes().end());
  auto type = cast<RankedTensorType>(communication.getSource().getType());
  exchange.globalShape.assign(type.getShape().begin(), type.getShape().end());
  for (Attribute attr : getDims()) {
    DimExchange dim = cast<DimExchangeAttr>(attr).getExchange(mesh);
    exchange.globalShape[dim.dim] = dim.size();
    exchange.dims.push_back(std::move(dim));
  }
  if (ArrayAttr parts = getArriving())
    for (auto part : parts.getAsRange<ExchangePartAttr>())
      exchange.parts.push_back(part.getTables());
  return exchange;
}

static SmallVector<StringAttr> groupAxesOf(ArrayAttr dims) {
  SmallVector<StringAttr> axes;
  for (Attribute attr : dims)
    for (StringAttr axis : cast<DimExchangeAttr>(attr).getAxes())
      if (!llvm::is_contained(axes, axis))
        axes.push_back(axis);
  return axes;
}

static LogicalResult verifyDimExchanges(Operation *op, ArrayAttr dims,
                                        FlatSymbolRefAttr meshName,
                                        RankedTensorType input,
                                        RankedTensorType result,
                                        SymbolTableCollection &symbols) {
  if (input.getRank() != result.getRank() ||
      input.getElementType() != result.getElementType())
    return op->emitOpError()
           << "has input " << input << " and result " << result
           << ", expected the same element type and number of dims";
  llvm::SmallBitVector seen(input.getRank());
  for (Attribute attr : dims) {
    auto dim = cast<DimExchangeAttr>(attr);
    MeshAttr mesh;
    if (failed(verifyAxes(op, meshName, dim.getAxes(), symbols, mesh)))
      return failure();
    if (dim.getDim() >= input.getRank())
      return op->emitOpError()
             << "has dim " << dim.getDim() << ", but the tensor has "
             << input.getRank() << " dims";
    if (seen.test(dim.getDim()))
      return op->emitOpError() << "has dim " << dim.getDim() << " twice";
    seen.set(dim.getDim());
    int64_t coordinates = countCoordinates(mesh, dim.getAxes());
    if (static_cast<int64_t>(dim.getOwned().size()) != 2 * coordinates)
      return op->emitOpError()
             << "has " << dim.getOwned().size() / 2 << " intervals for dim "
             << dim.getDim() << ", but there are " << coordinates
             << " coordinates along its axes";
  }
  for (int64_t i = 0; i < input.getRank(); ++i)
    if (!seen.test(i) && input.getDimSize(i) != result.getDimSize(i))
      return op->emitOpError() << "changes dim " << i << " from " << input
                               << " to " << result << ", but does not list it";
  return success();
}

/// Parts have a table for each dim, and what they name is needed.
static LogicalResult verifyParts(Operation *op, ArrayAttr dims,
                                 ArrayAttr parts) {
  if (!parts)
    return success();
  if (parts.empty())
    return op->emitOpError() << "has an empty list of parts; leave it out "
                                "where all of what is needed arrives";
  for (auto [number, part] :
       llvm::enumerate(parts.getAsRange<ExchangePartAttr>())) {
    if (part.getDims().size() != dims.size())
      return op->emitOpError()
             << "has part " << number << " with " << part.getDims().size()
             << " dims, but " << dims.size() << " are exchanged";
    for (auto [attr, bounds] :
         llvm::zip_equal(dims.getAsRange<DimExchangeAttr>(), part.getDims())) {
      if (bounds.size() != static_cast<int64_t>(attr.getNeeded().size()))
        return op->emitOpError()
               << "has part " << number << " with " << bounds.size() / 2
               << " intervals of dim " << attr.getDim() << ", expected "
               << attr.getNeeded().size() / 2;
      for (size_t i = 0; i + 1 < attr.getNeeded().size(); i += 2) {
        Interval mine{bounds[i], bounds[i + 1]},
            whole{attr.getNeeded()[i], attr.getNeeded()[i + 1]};
        if (!whole.contains(mine))
          return op->emitOpError()
                 << "has part " << number << " with " << mine.begin << ':'
                 << mine.end << " of dim " << attr.getDim()
                 << ", of which only " << whole.begin << ':' << whole.end
                 << " is needed";
      }
    }
  }
  return success();
}

#define SHARDC_EXCHANGE_OP(Op)                                                 \
  FlatSymbolRefAttr Op::getMeshName() { return getMeshAttr(); }                \
  SmallVector<StringAttr> Op::getGroupAxes() {                                 \
    return groupAxesOf(getDims());                                             \
  }                                                                            \
  Value Op::getSource() { return getInput(); }                                 \
  Value Op::getFillValue() { return getFill(); }                               \
  ArrayAttr Op::getArriving() { return getPartsAttr(); }                       \
  LogicalResult Op::verifySymbolUses(SymbolTableCollection &symbols) {         \
    if (failed(                                                                \
            verifyDimExchanges(*this, getDims(), getMeshAttr(),                \
                               cast<RankedTensorType>(getInput().getType()),   \
                               cast<RankedTensorType>(getType()), symbols)))   \
      return failure();                                                        \
    return verifyParts(*this, getDims(), getPartsAttr());                      \
  }
SHARDC_EXCHANGE_OP(HaloExchangeOp)
SHARDC_EXCHANGE_OP(RebalanceOp)
SHARDC_EXCHANGE_OP(AllGatherOp)
SHARDC_EXCHANGE_OP(AllToAllOp)
SHARDC_EXCHANGE_OP(ExchangeWaitOp)
#undef SHARDC_EXCHANGE_OP

//===----------------------------------------------------------------------===//
// Reductions over ranks
//===----------------------------------------------------------------------===//

FlatSymbolRefAttr AllReduceOp::getMeshName() { return getMeshAttr(); }
SmallVector<StringAttr> AllReduceOp::getGroupAxes() {
  return axisNames(getAxes());
}
Value AllReduceOp::getSource() { return getInput(); }
LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  MeshAttr mesh;
  return verifyAxes(*this, getMeshAttr(), axisNames(getAxes()), symbols, mesh);
}

FlatSymbolRefAttr ReduceScatterOp::getMeshName() { return getMeshAttr(); }
SmallVector<StringAttr> ReduceScatterOp::getGroupAxes() {
  SmallVector<StringAttr> axes = axisNames(getAxes());
  for (StringAttr axis : groupAxesOf(getDims()))
    if (!llvm::is_contained(axes, axis))
      axes.push_back(axis);
  return axes;
}
Value ReduceScatterOp::getSource() { return getInput(); }
LogicalResult
ReduceScatterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  MeshAttr mesh;
  if (failed(verifyAxes(*this, getMeshAttr(), axisNames(getAxes()), symbols,
                        mesh)))
    return failure();
  return verifyDimExchanges(*this, getDims(), getMeshAttr(),
                            cast<RankedTensorType>(getInput().getType()),
                            cast<RankedTensorType>(getType()), symbols);
}
