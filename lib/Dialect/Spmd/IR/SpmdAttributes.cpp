//===- SpmdAttributes.cpp - Meshes, shardings, exchanges ------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "shardc/Dialect/Spmd/IR/AxisText.h"
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

void SpmdDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardc/Dialect/Spmd/IR/SpmdAttributes.cpp.inc"
      >();
}

ParseResult spmd::parseAxisName(AsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseString(&text))
    return failure();
  name = StringAttr::get(parser.getContext(), text);
  return success();
}

void spmd::printAxes(AsmPrinter &printer, ArrayRef<StringAttr> axes) {
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
// CheckAttr
//===----------------------------------------------------------------------===//

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
