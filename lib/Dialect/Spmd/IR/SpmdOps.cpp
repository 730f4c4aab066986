//===- SpmdOps.cpp - Ops of both views ------------------------------------===//
#include "mlir/IR/Builders.h"
#include "shardc/Dialect/Spmd/IR/SpmdTables.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#include "shardc/Dialect/Spmd/IR/SpmdInterfaces.cpp.inc"

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
#include "shardc/Dialect/Spmd/IR/SpmdOps.cpp.inc"

static SmallVector<StringAttr> axisNames(ArrayAttr axes) {
  return llvm::map_to_vector(
      axes, [](Attribute axis) { return cast<StringAttr>(axis); });
}

/// Checks that the mesh exists and has `axes`, each once.
static LogicalResult verifyAxes(Operation *op, FlatSymbolRefAttr meshName,
                                ArrayRef<StringAttr> axes,
                                SymbolTableCollection &symbols,
                                MeshAttr &mesh) {
  auto meshOp = symbols.lookupNearestSymbolFrom<MeshOp>(op, meshName);
  if (!meshOp)
    return op->emitOpError() << "names unknown mesh " << meshName;
  mesh = meshOp.getMesh();
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (mesh.getAxisIndex(axis.getValue()) < 0)
      return op->emitOpError() << "names axis \"" << axis.getValue()
                               << "\", but mesh " << meshName << " is " << mesh;
    if (llvm::is_contained(axes.take_front(i), axis))
      return op->emitOpError()
             << "names axis \"" << axis.getValue() << "\" twice";
  }
  return success();
}

static int64_t countCoordinates(MeshAttr mesh, ArrayRef<StringAttr> axes) {
  int64_t count = 1;
  for (StringAttr axis : axes)
    count *= mesh.getAxisSize(axis.getValue());
  return count;
}

//===----------------------------------------------------------------------===//
// LookupOp
//===----------------------------------------------------------------------===//

LogicalResult LookupOp::verifySymbolUses(SymbolTableCollection &symbols) {
  MeshAttr mesh;
  SmallVector<StringAttr> axes = axisNames(getAxes());
  if (failed(verifyAxes(*this, getMeshAttr(), axes, symbols, mesh)))
    return failure();
  int64_t coordinates = countCoordinates(mesh, axes);
  if (static_cast<int64_t>(getTable().size()) != coordinates)
    return emitOpError() << "has a table of " << getTable().size()
                         << " entries, but there are " << coordinates
                         << " coordinates along its axes";
  return success();
}

OpFoldResult LookupOp::fold(FoldAdaptor) {
  ArrayRef<int64_t> table = getTable();
  if (!getFormula() && !table.empty() && llvm::all_equal(table))
    return IntegerAttr::get(getType(), table.front());
  return {};
}

void LookupOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                 SetIntRangeFn setResultRanges) {
  if (getFormulaAttr()) {
    auto [least, greatest] = rangeOf(*this);
    return setResultRanges(
        getResult(), ConstantIntRanges::fromSigned(APInt(64, least, true),
                                                   APInt(64, greatest, true)));
  }
  if (ArrayRef<int64_t> table = getTable(); !table.empty())
    setResultRanges(getResult(),
                    ConstantIntRanges::fromSigned(
                        APInt(64, *llvm::min_element(table), true),
                        APInt(64, *llvm::max_element(table), true)));
}

//===----------------------------------------------------------------------===//
// DilateOp
//===----------------------------------------------------------------------===//

LogicalResult DilateOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (input.getRank() != result.getRank() ||
      input.getElementType() != result.getElementType())
    return emitOpError()
           << "has input " << input << " and result " << result
           << ", expected the same element type and number of dims";
  if (static_cast<int64_t>(getDim()) >= input.getRank())
    return emitOpError() << "has dim " << getDim() << ", but the tensor has "
                         << input.getRank() << " dims";
  if (static_cast<int64_t>(getFactor()) < 1)
    return emitOpError() << "has factor " << getFactor()
                         << ", expected at least 1";
  return success();
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

LogicalResult PadOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()),
       result = cast<RankedTensorType>(getType());
  if (input.getRank() != result.getRank() ||
      input.getElementType() != result.getElementType())
    return emitOpError()
           << "has input " << input << " and result " << result
           << ", expected the same element type and number of dims";
  if (static_cast<int64_t>(getLow().size()) != input.getRank() ||
      getHigh().size() != getLow().size())
    return emitOpError() << "has " << getLow().size() << " low and "
                         << getHigh().size() << " high amounts for "
                         << input.getRank() << " dims";
  for (int64_t i = 0; i < input.getRank(); ++i) {
    int64_t size = input.getDimSize(i),
            padded = size + getLow()[i] + getHigh()[i];
    if (padded != result.getDimSize(i))
      return emitOpError() << "makes " << padded << " elements of the " << size
                           << " in dim " << i << ", but its result has "
                           << result.getDimSize(i);
    if (size == 0 && padded != 0)
      return emitOpError() << "pads dim " << i
                           << ", which has no elements to read";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// DealOp, DealtIotaOp
//===----------------------------------------------------------------------===//

/// Checks that shards of `sizes` are all of a dim of `extent`.
static LogicalResult verifyDealt(Operation *op, ArrayRef<int64_t> sizes,
                                 int64_t extent) {
  std::optional<Boundaries> shards =
      Boundaries::fromSizes({sizes.data(), sizes.size()});
  if (!shards)
    return op->emitOpError()
           << "has sizes " << DenseI64ArrayAttr::get(op->getContext(), sizes)
           << ", expected one of at least 0 for each shard";
  if (shards->size() != extent)
    return op->emitOpError() << "has sizes that add up to " << shards->size()
                             << ", but the dim has " << extent << " elements";
  return success();
}

LogicalResult DealOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (static_cast<int64_t>(getDim()) < 0 ||
      static_cast<int64_t>(getDim()) >= type.getRank())
    return emitOpError() << "has dim " << getDim() << ", but the tensor has "
                         << type.getRank() << " dims";
  return verifyDealt(*this, getSizes(), type.getDimSize(getDim()));
}

LogicalResult DealtIotaOp::verify() {
  return verifyDealt(*this, getSizes(),
                     cast<RankedTensorType>(getType()).getDimSize(0));
}

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
  for (Attribute attr : getDimExchanges()) {
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
  ArrayAttr Op::getDimExchanges() { return getDims(); }                        \
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

//===----------------------------------------------------------------------===//
// RunSiteOp
//===----------------------------------------------------------------------===//

void RunSiteOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // Peers take part: never dropped, never moved across one another.
  effects.emplace_back(MemoryEffects::Write::get());
  for (OpOperand &operand : getInputsMutable())
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpOperand &operand : getInitsMutable())
    if (isa<BaseMemRefType>(operand.get().getType())) {
      if (getAccumulates())
        effects.emplace_back(MemoryEffects::Read::get(), &operand);
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
}
