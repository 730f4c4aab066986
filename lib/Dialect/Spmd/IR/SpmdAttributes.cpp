//===- SpmdAttributes.cpp - Meshes, shardings, exchanges ------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Layout/ExtentWords.h"
#include "shardc/Layout/Limits.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#include "shardc/Dialect/Spmd/IR/SpmdEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Spmd/IR/SpmdAttributes.cpp.inc"

#include "shardc/Dialect/Spmd/IR/SpmdInterfaces.cpp.inc"

void SpmdDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardc/Dialect/Spmd/IR/SpmdAttributes.cpp.inc"
      >();
}

static ParseResult parseAxisName(AsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseString(&text))
    return failure();
  name = StringAttr::get(parser.getContext(), text);
  return success();
}

static void printAxes(AsmPrinter &printer, ArrayRef<StringAttr> axes) {
  llvm::interleaveComma(axes, printer, [&](StringAttr axis) {
    printer << '"' << axis.getValue() << '"';
  });
}

//===----------------------------------------------------------------------===//
// ExtentsAttr
//===----------------------------------------------------------------------===//

ExtentsAttr ExtentsAttr::get(MLIRContext *context, const Extents &extents) {
  return extents.empty() ? ExtentsAttr() : get(context, extents.words());
}

Extents ExtentsAttr::getExtents() const {
  Extents extents;
  if (!*this)
    return extents;
  std::span<const int64_t> words(getWords().data(), getWords().size());
  if (!extents.read(words).empty())
    llvm_unreachable("an attribute has extents that were read");
  return extents;
}

Attribute ExtentsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> words = {0};
  auto parseExtent = [&]() -> ParseResult {
    StringRef word;
    SmallVector<int64_t> operands;
    int64_t placeholder;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&word) ||
        parser.parseCommaSeparatedList(
            AsmParser::Delimiter::Square,
            [&] { return parser.parseInteger(operands.emplace_back()); }) ||
        parser.parseEqual() || parser.parseInteger(placeholder))
      return failure();
    std::optional<ExtentKind> kind = extentKind(word);
    if (!kind)
      return parser.emitError(place) << "'" << word << "' is no extent";
    llvm::append_values(words, static_cast<int64_t>(*kind), placeholder,
                        static_cast<int64_t>(operands.size()));
    llvm::append_range(words, operands);
    ++words.front();
    return success();
  };
  // `requires 5 "text" [0, 1]`: extent 5 is not 0.
  int64_t count = 0;
  SmallVector<int64_t> conditions;
  auto parseCondition = [&]() -> ParseResult {
    int64_t extent;
    std::string text;
    SmallVector<int64_t> shown;
    if (parser.parseInteger(extent) || parser.parseString(&text) ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          return parser.parseInteger(shown.emplace_back());
        }))
      return failure();
    llvm::append_values(conditions, extent, static_cast<int64_t>(shown.size()),
                        static_cast<int64_t>(text.size()));
    llvm::append_range(conditions, shown);
    for (char letter : text)
      conditions.push_back(static_cast<unsigned char>(letter));
    ++count;
    return success();
  };
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseExtent) ||
      (succeeded(parser.parseOptionalKeyword("requires")) &&
       parser.parseCommaSeparatedList(parseCondition)) ||
      parser.parseGreater())
    return {};
  words.push_back(count);
  llvm::append_range(words, conditions);
  Extents extents;
  std::span<const int64_t> rest(words.data(), words.size());
  if (std::string error = extents.read(rest); !error.empty()) {
    parser.emitError(place) << "the list " << error;
    return {};
  }
  return get(parser.getContext(), words);
}

void ExtentsAttr::print(AsmPrinter &printer) const {
  Extents extents = getExtents();
  printer << "<[";
  for (int64_t i = 0; i < extents.size(); ++i) {
    printer << (i ? ", " : "") << extentName(extents[i].kind) << " [";
    llvm::interleaveComma(extents[i].operands, printer);
    printer << "] = " << extents[i].placeholder;
  }
  printer << ']';
  for (auto [i, condition] : llvm::enumerate(extents.conditions)) {
    printer << (i ? ", " : " requires ") << condition.extent << ' ';
    printer.printString(condition.message);
    printer << " [";
    llvm::interleaveComma(condition.shown, printer);
    printer << ']';
  }
  printer << '>';
}

//===----------------------------------------------------------------------===//
// MeshAttr
//===----------------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes, symbolic;
  auto parseAxis = [&]() -> ParseResult {
    StringAttr name;
    int64_t size;
    if (parseAxisName(parser, name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("symbolic")))
      symbolic.push_back(names.size());
    names.push_back(name);
    sizes.push_back(size);
    return success();
  };
  ExtentsAttr extents;
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis) ||
      (succeeded(parser.parseOptionalComma()) &&
       parser.parseAttribute(extents)) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<MeshAttr>(parser.getContext(), names, sizes,
                                     symbolic, extents);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::seq<int64_t>(0, getAxisNames().size()), printer,
                        [&](int64_t axis) {
                          printer << '"' << getAxisNames()[axis].getValue()
                                  << "\"=" << getAxisSizes()[axis];
                          if (isSymbolic(axis))
                            printer << " symbolic";
                        });
  printer << ']';
  if (getExtents())
    printer << ", " << getExtents();
  printer << '>';
}

LogicalResult
MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 ArrayRef<StringAttr> names, ArrayRef<int64_t> sizes,
                 ArrayRef<int64_t> symbolic, ExtentsAttr extents) {
  llvm::SmallSet<StringRef, 4> seen;
  for (int64_t axis : symbolic)
    // With one coordinate nothing would be cut.
    if (sizes[axis] < 2)
      return emitError() << "mesh axis \"" << names[axis].getValue()
                         << "\" is symbolic and has size " << sizes[axis]
                         << " for estimates, expected at least 2";
  int64_t ranks = 1;
  for (auto [name, size] : llvm::zip(names, sizes)) {
    if (!seen.insert(name.getValue()).second)
      return emitError() << "mesh has two axes named \"" << name.getValue()
                         << '"';
    if (size < 1)
      return emitError() << "mesh axis \"" << name.getValue() << "\" has size "
                         << size << ", expected at least 1";
    if (size > kMaxRanks || (ranks *= size) > kMaxRanks)
      return emitError() << "mesh has more than " << kMaxRanks << " ranks";
  }
  return success();
}

int64_t MeshAttr::getAxisIndex(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(getAxisNames()))
    if (axis.getValue() == name)
      return i;
  return -1;
}

int64_t MeshAttr::getAxisSize(StringRef name) const {
  int64_t index = getAxisIndex(name);
  return index < 0 ? 1 : getAxisSizes()[index];
}

bool MeshAttr::isOpen(int64_t size) const {
  if (!getExtents() || size < Extents::least / 2)
    return false;
  ArrayRef<int64_t> words = getExtents().getWords();
  return isOpenAmong({words.data(), words.size()}, size);
}

bool MeshAttr::isSymbolic(int64_t axis) const {
  return llvm::is_contained(getSymbolicAxes(), axis);
}

bool MeshAttr::isSymbolic(ArrayRef<int64_t> axes) const {
  return llvm::any_of(axes, [&](int64_t axis) { return isSymbolic(axis); });
}

ShardCount MeshAttr::countCoordinates(ArrayRef<int64_t> axes) const {
  int64_t number = 1, size = 1;
  std::vector<int64_t> symbolic;
  for (int64_t axis : axes) {
    (isSymbolic(axis) ? size : number) *= getAxisSizes()[axis];
    if (isSymbolic(axis))
      symbolic.push_back(axis);
  }
  return symbolic.empty()
             ? ShardCount(number)
             : ShardCount::along(number, std::move(symbolic), size);
}

int64_t MeshAttr::getNumRanks() const {
  int64_t ranks = 1;
  for (int64_t size : getAxisSizes())
    ranks *= size;
  return ranks;
}

//===----------------------------------------------------------------------===//
// FormulaAttr
//===----------------------------------------------------------------------===//

FormulaAttr FormulaAttr::get(MLIRContext *context, const Formula &formula) {
  if (!formula)
    return {};
  SmallVector<Attribute> operands;
  for (const Formula &operand : formula.operands())
    operands.push_back(get(context, operand));
  return get(context, formula.kind(), formula.numbers(), operands);
}

Formula FormulaAttr::getFormula() const {
  if (!*this)
    return {};
  std::vector<Formula> operands;
  for (Attribute operand : getOperands())
    operands.push_back(llvm::cast<FormulaAttr>(operand).getFormula());
  return Formula::make(getKind(), getNumbers().vec(), std::move(operands));
}

Attribute FormulaAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  SMLoc place = parser.getCurrentLocation();
  SmallVector<int64_t> numbers;
  SmallVector<Attribute> operands;
  std::vector<Formula> made;
  if (parser.parseLess() || parser.parseKeyword(&word) ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::OptionalSquare,
          [&] { return parser.parseInteger(numbers.emplace_back()); }) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen,
                                     [&]() -> ParseResult {
                                       FormulaAttr operand;
                                       if (parser.parseAttribute(operand))
                                         return failure();
                                       operands.push_back(operand);
                                       made.push_back(operand.getFormula());
                                       return success();
                                     }) ||
      parser.parseGreater())
    return {};
  std::optional<FormulaKind> kind = formulaKind(word);
  if (!kind || !Formula::make(*kind, {numbers.begin(), numbers.end()}, made)) {
    parser.emitError(place)
        << "'" << word << "' with " << numbers.size() << " numbers and "
        << operands.size() << " operands is no formula";
    return {};
  }
  return get(parser.getContext(), *kind, numbers, operands);
}

void FormulaAttr::print(AsmPrinter &printer) const {
  printer << '<' << formulaName(getKind());
  if (!getNumbers().empty()) {
    printer << " [";
    llvm::interleaveComma(getNumbers(), printer);
    printer << ']';
  }
  if (!getOperands().empty()) {
    printer << " (";
    llvm::interleaveComma(getOperands(), printer);
    printer << ')';
  }
  printer << '>';
}

//===----------------------------------------------------------------------===//
// DimShardingAttr
//===----------------------------------------------------------------------===//

/// `{"x", "y" sizes [1, 2] order zigzag, ?}p0`; sizes and order follow the last
/// axis.
Attribute DimShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  DenseI64ArrayAttr sizes;
  FormulaAttr formula;
  bool dynamic = false, open = false, zigzag = false;
  int64_t priority = -1;
  if (parser.parseLBrace())
    return {};
  while (failed(parser.parseOptionalRBrace())) {
    if (succeeded(parser.parseOptionalQuestion())) {
      open = true;
      if (parser.parseRBrace())
        return {};
      break;
    }
    StringAttr axis;
    if (parseAxisName(parser, axis))
      return {};
    axes.push_back(axis);
    if (succeeded(parser.parseOptionalKeyword("sizes"))) {
      if (succeeded(parser.parseOptionalKeyword("dynamic"))) {
        dynamic = true;
      } else {
        SmallVector<int64_t> values;
        if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
              return parser.parseInteger(values.emplace_back());
            }))
          return {};
        sizes = DenseI64ArrayAttr::get(parser.getContext(), values);
        if (succeeded(parser.parseOptionalKeyword("by")) &&
            parser.parseAttribute(formula))
          return {};
      }
    }
    if (succeeded(parser.parseOptionalKeyword("order"))) {
      if (failed(parser.parseOptionalKeyword("zigzag"))) {
        parser.emitError(parser.getCurrentLocation(),
                         "expected the order 'zigzag'; leave 'order' out where "
                         "blocks are in order");
        return {};
      }
      zigzag = true;
    }
    if (failed(parser.parseOptionalComma())) {
      if (parser.parseRBrace())
        return {};
      break;
    }
  }
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    if (!keyword.consume_front("p") || keyword.getAsInteger(10, priority) ||
        priority < 0) {
      parser.emitError(loc, "expected a priority such as p0");
      return {};
    }
  }
  return DimShardingAttr::get(parser.getContext(), axes, sizes, dynamic, open,
                              priority, zigzag, formula);
}

void DimShardingAttr::print(AsmPrinter &printer) const {
  printer << '{';
  printAxes(printer, getAxes());
  if (getDynamicSizes()) {
    printer << " sizes dynamic";
  } else if (getSizes()) {
    printer << " sizes [";
    llvm::interleaveComma(getSizes().asArrayRef(), printer);
    printer << ']';
    if (getFormula())
      printer << " by " << getFormula();
  }
  if (getZigzag())
    printer << " order zigzag";
  if (getOpen())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << '}';
  if (getPriority() >= 0)
    printer << 'p' << getPriority();
}

DimShardingAttr DimShardingAttr::get(MLIRContext *context,
                                     ArrayRef<StringAttr> axes,
                                     const Boundaries &bounds) {
  DenseI64ArrayAttr sizes;
  // Balanced shards of an open extent, or as many as an axis of open size has
  // ranks, need not be said either.
  bool isBalanced =
      bounds.isBalanced() ||
      (bounds.formula() &&
       bounds.formula() == Formula::refine(Formula::whole(bounds.size()),
                                           bounds.countShards()));
  if (!axes.empty() && !isBalanced)
    sizes = DenseI64ArrayAttr::get(context, bounds.sizes());
  FormulaAttr formula;
  if (sizes)
    formula = FormulaAttr::get(context, bounds.formula());
  return get(context, axes, sizes, false, false, -1, false, formula);
}

int64_t DimShardingAttr::getNumShards(MeshAttr mesh) const {
  return countShards(mesh);
}

ShardCount DimShardingAttr::countShards(MeshAttr mesh) const {
  SmallVector<int64_t> axes;
  for (StringAttr axis : getAxes())
    if (int64_t number = mesh.getAxisIndex(axis.getValue()); number >= 0)
      axes.push_back(number);
  return mesh.countCoordinates(axes);
}

Boundaries DimShardingAttr::getBoundaries(MeshAttr mesh, int64_t size) const {
  // Numbers say nothing about an extent that differs by binding.
  if (getSizes() && (getFormula() || !mesh.isOpen(size)))
    if (auto bounds = Boundaries::fromSizes(getSizes().asArrayRef()))
      return getFormula() ? bounds->with(getFormula().getFormula()) : *bounds;
  return balancedOver(mesh, size, countShards(mesh));
}

Boundaries DimShardingAttr::balancedOver(MeshAttr mesh, int64_t size,
                                         const ShardCount &shards) {
  Boundaries whole = Boundaries::whole(size);
  if (mesh.isOpen(size))
    whole = whole.with(Formula::whole(size));
  return whole.refine(shards);
}

//===----------------------------------------------------------------------===//
// ShardingAttr
//===----------------------------------------------------------------------===//

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  MLIRContext *context = parser.getContext();
  FlatSymbolRefAttr mesh;
  SmallVector<DimShardingAttr> dims;
  SmallVector<StringAttr> replicated;
  SmallVector<PartialAxisAttr> partial;
  auto parseDim = [&]() -> ParseResult {
    auto dim = llvm::dyn_cast_or_null<DimShardingAttr>(
        DimShardingAttr::parse(parser, {}));
    if (!dim)
      return failure();
    dims.push_back(dim);
    return success();
  };
  auto parsePartial = [&]() -> ParseResult {
    StringAttr axis;
    StringRef keyword;
    if (parseAxisName(parser, axis) || parser.parseEqual())
      return failure();
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<ReductionKind> kind = symbolizeReductionKind(keyword);
    if (!kind)
      return parser.emitError(loc, "unknown reduction '")
             << keyword << "', expected sum, product, min, max, and, or, xor";
    partial.push_back(PartialAxisAttr::get(context, axis, *kind));
    return success();
  };
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("replicated"))) {
      if (parser.parseEqual() ||
          parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] {
            return parseAxisName(parser, replicated.emplace_back());
          }))
        return {};
      continue;
    }
    if (parser.parseKeyword("partial") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                       parsePartial))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return ShardingAttr::get(context, mesh, dims, replicated, partial);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printAttribute(getMesh());
  printer << ", [";
  llvm::interleaveComma(getDims(), printer,
                        [&](DimShardingAttr dim) { dim.print(printer); });
  printer << ']';
  if (!getReplicated().empty()) {
    printer << ", replicated = {";
    printAxes(printer, getReplicated());
    printer << '}';
  }
  if (!getPartial().empty()) {
    printer << ", partial = {";
    llvm::interleaveComma(getPartial(), printer, [&](PartialAxisAttr partial) {
      printer << '"' << partial.getAxis().getValue()
              << "\" = " << stringifyReductionKind(partial.getKind());
    });
    printer << '}';
  }
  printer << '>';
}

ShardingAttr ShardingAttr::getReplicated(FlatSymbolRefAttr mesh,
                                         int64_t numDims) {
  MLIRContext *context = mesh.getContext();
  return get(
      context, mesh,
      SmallVector<DimShardingAttr>(numDims, DimShardingAttr::get(context)));
}

bool ShardingAttr::isFullyReplicated() const {
  return getPartial().empty() &&
         llvm::all_of(getDims(),
                      [](DimShardingAttr dim) { return dim.isWhole(); });
}

int64_t ShardingAttr::getDimOfAxis(StringRef axis) const {
  for (auto [i, dim] : llvm::enumerate(getDims()))
    for (StringAttr used : dim.getAxes())
      if (used.getValue() == axis)
        return i;
  return -1;
}

static std::string listOf(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(values, os);
  os << ']';
  return text;
}

/// `"x"` or `"x", "y"`, for diagnostics.
static std::string nameAxes(ArrayRef<StringAttr> axes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(
      axes, os, [&](StringAttr axis) { os << '"' << axis.getValue() << '"'; });
  return text;
}

LogicalResult ShardingAttr::verifyFor(
    MeshAttr mesh, ArrayRef<int64_t> shape,
    llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (getDims().size() != shape.size())
    return emitError() << "sharding has " << getDims().size()
                       << " dims, but the tensor has " << shape.size();
  llvm::SmallSet<StringRef, 4> used;
  auto use = [&](StringAttr axis) -> LogicalResult {
    if (mesh.getAxisIndex(axis.getValue()) < 0) {
      InFlightDiagnostic diag = emitError();
      diag << "sharding names axis \"" << axis.getValue() << "\", but mesh "
           << getMesh() << " has ";
      if (mesh.getAxisNames().empty())
        return diag << "no axes";
      return diag << nameAxes(mesh.getAxisNames());
    }
    if (!used.insert(axis.getValue()).second)
      return emitError() << "sharding uses axis \"" << axis.getValue()
                         << "\" twice; an axis cuts at most one dim";
    return success();
  };
  for (auto [i, dim] : llvm::enumerate(getDims())) {
    for (StringAttr axis : dim.getAxes())
      if (failed(use(axis)))
        return failure();
    if (!dim.getSizes())
      continue;
    ArrayRef<int64_t> sizes = dim.getSizes().asArrayRef();
    int64_t shards = dim.getNumShards(mesh);
    if (static_cast<int64_t>(sizes.size()) != shards)
      return emitError() << "sharding gives " << sizes.size()
                         << " sizes for dim " << i << ", but "
                         << nameAxes(dim.getAxes()) << " has " << shards
                         << " shards";
    if (ShapedType::isDynamic(shape[i]))
      continue;
    int64_t sum = 0;
    for (int64_t size : sizes) {
      if (size < 0)
        return emitError() << "sharding gives a negative size for dim " << i
                           << ": " << listOf(sizes);
      if (llvm::AddOverflow(sum, size, sum))
        return emitError() << "sizes along " << nameAxes(dim.getAxes())
                           << " overflow: " << listOf(sizes);
    }
    if (sum != shape[i]) {
      InFlightDiagnostic diag = emitError();
      diag << "sizes along " << nameAxes(dim.getAxes()) << " add up to " << sum
           << ", but dim " << i << " has " << shape[i] << " elements";
      diag.attachNote() << "sizes given here: " << listOf(sizes);
      return diag;
    }
  }
  for (StringAttr axis : getReplicated())
    if (failed(use(axis)))
      return failure();
  for (PartialAxisAttr partial : getPartial())
    if (failed(use(partial.getAxis())))
      return failure();
  return success();
}

RankedTensorType ShardingAttr::getLocalType(MeshAttr mesh,
                                            RankedTensorType type) const {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, size] : llvm::zip(getDims(), shape))
    if (!ShapedType::isDynamic(size))
      size = dim.getBoundaries(mesh, size)
                 .uniformShardSize()
                 .value_or(ShapedType::kDynamic);
  return type.clone(shape);
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

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

template <typename Element> static bool isListOf(ArrayAttr list) {
  return !list || llvm::all_of(list, llvm::IsaPred<Element>);
}

LogicalResult
SiteRowsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     int64_t, int64_t, bool, bool, DenseI64ArrayAttr components,
                     DenseI64ArrayAttr slices, ArrayAttr dims) {
  if (!isListOf<DimExchangeAttr>(dims))
    return emitError() << "'dims' of the rows of a site expects a list of "
                          "#spmd.dim_exchange";
  size_t count = dims ? dims.size() : 0;
  size_t numComponents = components ? components.size() : 0;
  size_t numSlices = slices ? slices.size() : 0;
  if (numComponents != count || numSlices != count)
    return emitError() << "rows of a site have " << numComponents
                       << " components, " << numSlices << " slices and "
                       << count << " dims, expected as many of each";
  return success();
}

LogicalResult
SiteAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 SiteKind kind, StringAttr report, Type,
                 std::optional<ReductionKind> reduction, StringAttr, StringAttr,
                 bool inPlace, bool releasedLater, ArrayAttr group,
                 DenseI64ArrayAttr shape, ArrayAttr dims, ArrayAttr parts,
                 SiteRowsAttr rows) {
  auto fail = [&](const Twine &what) {
    return emitError() << "site '" << report.getValue() << "' " << what;
  };
  bool reduces = kind == SiteKind::AllReduce || kind == SiteKind::ReduceScatter;
  if (kind != SiteKind::ScatterRows && reduction.has_value() != reduces)
    return fail(reduces ? "of kind " + stringifySiteKind(kind) +
                              " lacks a 'reduction'"
                        : "of kind " + stringifySiteKind(kind) +
                              " has a 'reduction', which it does not do");
  if ((inPlace || releasedLater) && kind != SiteKind::Exchange)
    return fail("is no exchange, and cannot be in place or released later");
  if (bool(rows) != (kind >= SiteKind::RowPlan))
    return fail(rows ? "does not address rows, but says how"
                     : "addresses rows, but lacks 'rows'");
  if (!isListOf<StringAttr>(group))
    return fail("expects 'group' to be a list of mesh axes");
  if (!isListOf<DimExchangeAttr>(dims))
    return fail("expects 'dims' to be a list of #spmd.dim_exchange");
  if (!isListOf<ExchangePartAttr>(parts))
    return fail("expects 'parts' to be a list of #spmd.part");
  if (parts && kind != SiteKind::Exchange)
    return fail("is no exchange, and cannot have parts");
  int64_t numDims = shape ? shape.size() : 0;
  for (Attribute dim : dims ? dims.getValue() : ArrayRef<Attribute>())
    if (cast<DimExchangeAttr>(dim).getDim() >= numDims)
      return fail("exchanges dim " +
                  Twine(cast<DimExchangeAttr>(dim).getDim()) +
                  " of a tensor of " + Twine(numDims) + " dims");
  return success();
}

LogicalResult
CheckAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  CheckKind kind, FloatAttr tolerance, uint64_t minUlps,
                  uint64_t maxUlps) {
  StringRef name = stringifyCheckKind(kind);
  if (bool(tolerance) != (kind == CheckKind::AlmostEqual))
    return emitError() << "check of kind " << name << " has "
                       << (tolerance ? "a" : "no")
                       << " tolerance, which is of almost_eq alone";
  if (tolerance &&
      (!tolerance.getType().isF64() || !(tolerance.getValueAsDouble() >= 0)))
    return emitError() << "check of kind " << name << " has tolerance "
                       << tolerance << ", expected an f64 of at least 0";
  if ((minUlps || maxUlps) && kind != CheckKind::Close)
    return emitError() << "check of kind " << name
                       << " has distances in ulps, which are of close alone";
  if (minUlps > maxUlps)
    return emitError() << "check of kind " << name << " has distances from "
                       << minUlps << " to " << maxUlps
                       << " ulps, expected min_ulps <= max_ulps";
  return success();
}

LogicalResult
SiteTableAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                      MeshAttr mesh, ArrayAttr sites) {
  for (auto [i, attr] : llvm::enumerate(sites)) {
    auto site = dyn_cast<SiteAttr>(attr);
    if (!site)
      return emitError() << "entry " << i << " of the sites is " << attr
                         << ", expected a #spmd.site";
    auto unknown = [&](StringAttr axis) {
      return emitError() << "site " << i << " is along " << axis
                         << ", which the mesh does not have";
    };
    if (ArrayAttr group = site.getGroup())
      for (auto axis : group.getAsRange<StringAttr>())
        if (mesh.getAxisIndex(axis) < 0)
          return unknown(axis);
    SmallVector<Attribute> dims;
    if (site.getDims())
      llvm::append_range(dims, site.getDims());
    if (site.getRows() && site.getRows().getDims())
      llvm::append_range(dims, site.getRows().getDims());
    for (Attribute attr : dims) {
      auto dim = cast<DimExchangeAttr>(attr);
      int64_t coordinates = 1;
      for (StringAttr axis : dim.getAxes()) {
        if (mesh.getAxisIndex(axis) < 0)
          return unknown(axis);
        coordinates *= mesh.getAxisSize(axis);
      }
      if (int64_t entries = dim.getOwned().size() / 2; entries != coordinates)
        return emitError() << "site " << i << " has " << entries
                           << " intervals along dim " << dim.getDim()
                           << ", expected " << coordinates
                           << ": one for each coordinate along its axes";
    }
  }
  return success();
}
