//===- LocalAttributes.cpp - Exchanges ----------------------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Spmd/IR/AxisText.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Local/IR/LocalAttributes.cpp.inc"

#include "shardc/Dialect/Local/IR/LocalInterfaces.cpp.inc"

void LocalDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardc/Dialect/Local/IR/LocalAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// DimExchangeAttr
//===----------------------------------------------------------------------===//

static ParseResult parseIntervals(AsmParser &parser,
                                  SmallVectorImpl<int64_t> &bounds) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        return failure(parser.parseInteger(bounds.emplace_back()) ||
                       parser.parseColon() ||
                       parser.parseInteger(bounds.emplace_back()));
      });
}

Attribute DimExchangeAttr::parse(AsmParser &parser, Type) {
  int64_t dim;
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> owned, needed;
  if (parser.parseLess() || parser.parseKeyword("dim") ||
      parser.parseInteger(dim) || parser.parseKeyword("along") ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parseAxisName(parser, axes.emplace_back()); }) ||
      parser.parseColon() || parseIntervals(parser, owned) ||
      parser.parseArrow() || parseIntervals(parser, needed))
    return {};
  FormulaAttr ownedFormula, neededFormula;
  if (succeeded(parser.parseOptionalKeyword("by")) &&
      (parser.parseAttribute(ownedFormula) || parser.parseArrow() ||
       parser.parseAttribute(neededFormula)))
    return {};
  Padding padding = Padding::Constant;
  if (failed(parser.parseOptionalGreater())) {
    StringRef word;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return {};
    std::optional<PaddingMode> mode = symbolizePaddingMode(word);
    if (!mode) {
      parser.emitError(place)
          << "expected wrap, edge, reflect or symmetric, got '" << word << '\'';
      return {};
    }
    if (parser.parseGreater())
      return {};
    padding = static_cast<Padding>(*mode);
  }
  return parser.getChecked<DimExchangeAttr>(parser.getContext(), dim, axes,
                                            owned, needed, padding,
                                            ownedFormula, neededFormula);
}

static void printIntervals(AsmPrinter &printer, ArrayRef<int64_t> bounds) {
  printer << '[';
  for (size_t i = 0; i < bounds.size(); i += 2)
    printer << (i ? ", " : "") << bounds[i] << ':' << bounds[i + 1];
  printer << ']';
}

void DimExchangeAttr::print(AsmPrinter &printer) const {
  printer << "<dim " << getDim() << " along [";
  printAxes(printer, getAxes());
  printer << "] : ";
  printIntervals(printer, getOwned());
  printer << " -> ";
  printIntervals(printer, getNeeded());
  if (getOwnedFormula())
    printer << " by " << getOwnedFormula() << " -> " << getNeededFormula();
  if (getPadding() != Padding::Constant)
    printer << ' '
            << stringifyPaddingMode(static_cast<PaddingMode>(getPadding()));
  printer << '>';
}

LogicalResult
DimExchangeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                        int64_t dim, ArrayRef<StringAttr> axes,
                        ArrayRef<int64_t> owned, ArrayRef<int64_t> needed,
                        Padding, FormulaAttr ownedFormula,
                        FormulaAttr neededFormula) {
  if (!ownedFormula != !neededFormula)
    return emitError() << "exchange of dim " << dim
                       << " has one formula, expected two or none";
  if (dim < 0)
    return emitError() << "exchange has negative dim " << dim;
  if (owned.size() != needed.size() || owned.size() % 2 != 0)
    return emitError() << "exchange of dim " << dim << " owns "
                       << owned.size() / 2 << " intervals and needs "
                       << needed.size() / 2
                       << ", expected as many: one for each coordinate";
  return success();
}

static void appendIntervals(ArrayRef<Interval> intervals,
                            SmallVectorImpl<int64_t> &bounds) {
  for (Interval interval : intervals) {
    bounds.push_back(interval.begin);
    bounds.push_back(interval.end);
  }
}

DimExchangeAttr DimExchangeAttr::get(MLIRContext *context, MeshAttr mesh,
                                     const DimExchange &exchange) {
  SmallVector<StringAttr> axes;
  for (int64_t axis : exchange.axes)
    axes.push_back(mesh.getAxisNames()[axis]);
  SmallVector<int64_t> owned, needed;
  appendIntervals(exchange.owned, owned);
  appendIntervals(exchange.needed, needed);
  return get(context, exchange.dim, axes, owned, needed, exchange.padding,
             FormulaAttr::get(context, exchange.ownedFormula),
             FormulaAttr::get(context, exchange.neededFormula));
}

int64_t DimExchangeAttr::getSize() const {
  int64_t size = 0;
  for (size_t i = 1; i < getOwned().size(); i += 2)
    size = std::max(size, getOwned()[i]);
  return size;
}

DimExchange DimExchangeAttr::getExchange(MeshAttr mesh) const {
  DimExchange exchange;
  exchange.dim = getDim();
  exchange.padding = getPadding();
  for (StringAttr axis : getAxes())
    exchange.axes.push_back(mesh.getAxisIndex(axis.getValue()));
  for (size_t i = 0; i + 1 < getOwned().size(); i += 2) {
    exchange.owned.push_back({getOwned()[i], getOwned()[i + 1]});
    exchange.needed.push_back({getNeeded()[i], getNeeded()[i + 1]});
  }
  if (getOwnedFormula()) {
    exchange.ownedFormula = getOwnedFormula().getFormula();
    exchange.neededFormula = getNeededFormula().getFormula();
  }
  return exchange;
}

//===----------------------------------------------------------------------===//
// ExchangePartAttr
//===----------------------------------------------------------------------===//

Attribute ExchangePartAttr::parse(AsmParser &parser, Type) {
  SmallVector<DenseI64ArrayAttr> dims;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
            SmallVector<int64_t> bounds;
            if (parseIntervals(parser, bounds))
              return failure();
            dims.push_back(parser.getBuilder().getDenseI64ArrayAttr(bounds));
            return success();
          }))
    return {};
  return get(parser.getContext(), dims);
}

void ExchangePartAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getDims(), printer, [&](DenseI64ArrayAttr dim) {
    printIntervals(printer, dim);
  });
  printer << '>';
}

ExchangePartAttr ExchangePartAttr::get(MLIRContext *context,
                                       ArrayRef<std::vector<Interval>> tables) {
  SmallVector<DenseI64ArrayAttr> dims;
  for (const std::vector<Interval> &table : tables) {
    SmallVector<int64_t> bounds;
    appendIntervals(table, bounds);
    dims.push_back(DenseI64ArrayAttr::get(context, bounds));
  }
  return get(context, ArrayRef<DenseI64ArrayAttr>(dims));
}

std::vector<std::vector<Interval>> ExchangePartAttr::getTables() const {
  std::vector<std::vector<Interval>> tables;
  for (DenseI64ArrayAttr dim : getDims()) {
    std::vector<Interval> &table = tables.emplace_back();
    for (int64_t i = 0; i + 1 < dim.size(); i += 2)
      table.push_back({dim[i], dim[i + 1]});
  }
  return tables;
}
