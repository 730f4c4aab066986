//===- SdyText.cpp - Text of Shardy's attributes --------------------------===//
#include "SdyText.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::sdy;

using Delimiter = AsmParser::Delimiter;

/// Attributes of one class, each by its own parser, in brackets.
template <typename AttrT>
static ParseResult parseAttrs(AsmParser &parser, Delimiter delimiter,
                              SmallVectorImpl<AttrT> &attrs) {
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    auto attr = llvm::dyn_cast_or_null<AttrT>(AttrT::parse(parser, Type()));
    if (!attr)
      return failure();
    attrs.push_back(attr);
    return success();
  });
}

template <typename AttrT>
static void printAttrs(AsmPrinter &printer, StringRef brackets,
                       ArrayRef<AttrT> attrs) {
  printer << brackets[0];
  llvm::interleaveComma(attrs, printer,
                        [&](AttrT attr) { attr.print(printer); });
  printer << brackets[1];
}

static ParseResult parseIntegers(AsmParser &parser,
                                 SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t size;
  if (parser.parseString(&name) || parser.parseEqual() ||
      parser.parseInteger(size))
    return {};
  return get(parser.getContext(), name, size);
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  printer << '=' << getSize();
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> ids;
  if (parser.parseLess() || parseAttrs(parser, Delimiter::Square, axes))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() ||
       parseIntegers(parser, ids)))
    return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), axes, ids);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAttrs(printer, "[]", getAxes());
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=[";
    llvm::interleaveComma(getDeviceIds(), printer);
    printer << ']';
  }
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

Attribute SubAxisInfoAttr::parse(AsmParser &parser, Type) {
  int64_t preSize, size;
  if (parser.parseLParen() || parser.parseInteger(preSize) ||
      parser.parseRParen() || parser.parseInteger(size))
    return {};
  return get(parser.getContext(), preSize, size);
}

void SubAxisInfoAttr::print(AsmPrinter &printer) const {
  printer << '(' << getPreSize() << ')' << getSize();
}

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  std::string name;
  if (parser.parseString(&name))
    return {};
  SubAxisInfoAttr part;
  if (succeeded(parser.parseOptionalColon())) {
    part = dyn_cast_or_null<SubAxisInfoAttr>(
        SubAxisInfoAttr::parse(parser, Type()));
    if (!part)
      return {};
  }
  return get(parser.getContext(), name, part);
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  if (getSubAxisInfo()) {
    printer << ':';
    getSubAxisInfo().print(printer);
  }
}

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool isOpen = false;
  if (parser.parseCommaSeparatedList(Delimiter::Braces, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        if (isOpen)
          return parser.emitError(loc) << "'?' must come last in a dim's axes";
        if (succeeded(parser.parseOptionalQuestion())) {
          isOpen = true;
          return success();
        }
        auto axis =
            dyn_cast_or_null<AxisRefAttr>(AxisRefAttr::parse(parser, Type()));
        if (!axis)
          return failure();
        axes.push_back(axis);
        return success();
      }))
    return {};
  std::optional<int64_t> priority;
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    int64_t number;
    StringRef digits = word;
    if (!digits.consume_front("p") || digits.getAsInteger(10, number)) {
      parser.emitError(loc)
          << "expected a priority such as p1, got '" << word << "'";
      return {};
    }
    priority = number;
  }
  return get(parser.getContext(), axes, !isOpen, priority);
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printer << '{';
  llvm::interleaveComma(getAxes(), printer,
                        [&](AxisRefAttr axis) { axis.print(printer); });
  if (!getIsClosed())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << '}';
  if (getPriority())
    printer << 'p' << *getPriority();
}

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  Attribute mesh;
  StringAttr symbol;
  if (succeeded(parser.parseOptionalSymbolName(symbol))) {
    mesh = FlatSymbolRefAttr::get(symbol);
  } else {
    if (parser.parseKeyword("mesh", " or the symbol of a mesh"))
      return {};
    mesh = MeshAttr::parse(parser, Type());
    if (!mesh)
      return {};
  }
  SmallVector<DimensionShardingAttr> dims;
  SmallVector<AxisRefAttr> replicated, unreduced;
  ReductionKind kind = ReductionKind::Sum;
  if (parser.parseComma() || parseAttrs(parser, Delimiter::Square, dims))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word) || parser.parseEqual())
      return {};
    if (word == "replicated" && replicated.empty()) {
      if (parseAttrs(parser, Delimiter::Braces, replicated))
        return {};
    } else if (word == "unreduced" && unreduced.empty()) {
      ReductionKindAttr kindAttr;
      if (parseOptionalReduction(parser, kindAttr) ||
          parseAttrs(parser, Delimiter::Braces, unreduced))
        return {};
      kind = kindAttr.getValue();
    } else {
      parser.emitError(loc)
          << "expected 'replicated' or 'unreduced', each at most once, got '"
          << word << "'";
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), mesh, dims, replicated, unreduced, kind);
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    mesh.print(printer);
  } else {
    printer << getMeshOrRef();
  }
  printer << ", ";
  printAttrs(printer, "[]", getDimShardings());
  if (!getReplicatedAxes().empty()) {
    printer << ", replicated=";
    printAttrs(printer, "{}", getReplicatedAxes());
  }
  if (!getUnreducedAxes().empty()) {
    printer << ", unreduced=";
    if (getUnreducedKind() != ReductionKind::Sum)
      printer << stringifyReductionKind(getUnreducedKind());
    printAttrs(printer, "{}", getUnreducedAxes());
  }
  printer << '>';
}

ParseResult sdy::parseShardings(AsmParser &parser,
                                TensorShardingPerValueAttr &shardings) {
  SmallVector<TensorShardingAttr> list;
  if (parseAttrs(parser, Delimiter::Square, list))
    return failure();
  shardings = TensorShardingPerValueAttr::get(parser.getContext(), list);
  return success();
}

void sdy::printShardings(AsmPrinter &printer,
                         TensorShardingPerValueAttr shardings) {
  printAttrs(printer, "[]", shardings.getShardings());
}

void sdy::printShardings(OpAsmPrinter &printer, Operation *,
                         TensorShardingPerValueAttr shardings) {
  printShardings(printer, shardings);
}

Attribute TensorShardingPerValueAttr::parse(AsmParser &parser, Type) {
  TensorShardingPerValueAttr shardings;
  if (parser.parseLess() || parseShardings(parser, shardings) ||
      parser.parseGreater())
    return {};
  return shardings;
}

void TensorShardingPerValueAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printShardings(printer, *this);
  printer << '>';
}

Attribute ManualAxesAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  if (parser.parseCommaSeparatedList(Delimiter::Braces, [&]() -> ParseResult {
        std::string name;
        if (parser.parseString(&name))
          return failure();
        axes.push_back(parser.getBuilder().getStringAttr(name));
        return success();
      }))
    return {};
  return get(parser.getContext(), axes);
}

void ManualAxesAttr::print(AsmPrinter &printer) const {
  printer << '{';
  llvm::interleaveComma(getAxes(), printer, [&](StringAttr axis) {
    printer.printString(axis.getValue());
  });
  printer << '}';
}

//===----------------------------------------------------------------------===//
// Axis lists
//===----------------------------------------------------------------------===//

Attribute AxisRefListAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  if (parseAttrs(parser, Delimiter::Braces, axes))
    return {};
  return get(parser.getContext(), axes);
}

void AxisRefListAttr::print(AsmPrinter &printer) const {
  printAttrs(printer, "{}", getValue());
}

Attribute ListOfAxisRefListsAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefListAttr> lists;
  if (parseAttrs(parser, Delimiter::Square, lists))
    return {};
  return get(parser.getContext(), lists);
}

void ListOfAxisRefListsAttr::print(AsmPrinter &printer) const {
  printAttrs(printer, "[]", getValue());
}

Attribute AllToAllParamAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  int64_t source, target;
  if (parseAttrs(parser, Delimiter::Braces, axes) || parser.parseColon() ||
      parser.parseInteger(source) || parser.parseArrow() ||
      parser.parseInteger(target))
    return {};
  return get(parser.getContext(), axes, source, target);
}

void AllToAllParamAttr::print(AsmPrinter &printer) const {
  printAttrs(printer, "{}", getAxes());
  printer << ": " << getSrcDim() << "->" << getTgtDim();
}

Attribute AllToAllParamListAttr::parse(AsmParser &parser, Type) {
  SmallVector<AllToAllParamAttr> params;
  if (parseAttrs(parser, Delimiter::Square, params))
    return {};
  return get(parser.getContext(), params);
}

void AllToAllParamListAttr::print(AsmPrinter &printer) const {
  printAttrs(printer, "[]", getValue());
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Factors 0 to 17 are i to z, then come z_1, z_2 and so on.
static constexpr int64_t kLetters = 'z' - 'i' + 1;
static constexpr int64_t kMaxFactors = 4096;

static std::string factorName(int64_t factor) {
  if (factor < kLetters)
    return std::string(1, static_cast<char>('i' + factor));
  return "z_" + std::to_string(factor - kLetters + 1);
}

/// Takes one factor's name off the front of `text`; nothing if there is none.
static std::optional<int64_t> consumeFactor(StringRef &text) {
  if (text.empty() || text.front() < 'i' || text.front() > 'z')
    return std::nullopt;
  int64_t factor = text.front() - 'i';
  text = text.drop_front();
  if (!text.consume_front("_"))
    return factor;
  int64_t number;
  if (factor != kLetters - 1 || text.consumeInteger(10, number) || number < 1 ||
      number > kMaxFactors)
    return std::nullopt;
  return factor + number;
}

/// One or more factor names written together, `ij` or `iz_1`.
static ParseResult parseFactors(AsmParser &parser,
                                SmallVectorImpl<int64_t> &factors) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  for (StringRef rest = word; !rest.empty();) {
    std::optional<int64_t> factor = consumeFactor(rest);
    if (!factor)
      return parser.emitError(loc)
             << "expected factors named i to z or z_1, z_2, ..., got '" << word
             << "'";
    factors.push_back(*factor);
  }
  return success();
}

Attribute DimMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> factors;
  if (failed(parser.parseOptionalStar()) && parseFactors(parser, factors))
    return {};
  return get(parser.getContext(), factors);
}

void DimMappingAttr::print(AsmPrinter &printer) const {
  if (getFactorIndices().empty())
    printer << '*';
  for (int64_t factor : getFactorIndices())
    printer << factorName(factor);
}

Attribute TensorMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimMappingAttr> dims;
  if (parseAttrs(parser, Delimiter::Square, dims))
    return {};
  return get(parser.getContext(), dims);
}

void TensorMappingAttr::print(AsmPrinter &printer) const {
  printAttrs(printer, "[]", getDimMappings());
}

/// `{i=4, j=6}`, factors in order.
static ParseResult parseFactorSizes(AsmParser &parser,
                                    SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(
      Delimiter::OptionalBraces, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        SmallVector<int64_t> factors;
        if (parseFactors(parser, factors))
          return failure();
        if (factors.size() != 1 ||
            factors.front() != static_cast<int64_t>(sizes.size()))
          return parser.emitError(loc) << "expected the size of factor '"
                                       << factorName(sizes.size()) << "'";
        return failure(parser.parseEqual() ||
                       parser.parseInteger(sizes.emplace_back()));
      });
}

Attribute OpShardingRuleAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> sizes;
  SmallVector<TensorMappingAttr> operands, results;
  if (parser.parseLess() || parseAttrs(parser, Delimiter::Paren, operands) ||
      parser.parseArrow() || parseAttrs(parser, Delimiter::Paren, results) ||
      parseFactorSizes(parser, sizes))
    return {};
  StringRef names[] = {"reduction", "need_replication", "permutation",
                       "blocked_propagation"};
  SmallVector<int64_t> lists[4];
  for (auto [name, list] : llvm::zip(names, lists)) {
    if (failed(parser.parseOptionalKeyword(name)))
      continue;
    if (parser.parseEqual() ||
        parser.parseCommaSeparatedList(Delimiter::Braces, [&, &l = list] {
          return parseFactors(parser, l);
        }))
      return {};
  }
  bool isCustom = succeeded(parser.parseOptionalComma());
  if ((isCustom && parser.parseKeyword("custom")) || parser.parseGreater())
    return {};
  return get(parser.getContext(), sizes, operands, results, lists[0], lists[1],
             lists[2], lists[3], isCustom);
}

void OpShardingRuleAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAttrs(printer, "()", getOperandMappings());
  printer << "->";
  printAttrs(printer, "()", getResultMappings());
  if (!getFactorSizes().empty()) {
    printer << " {";
    llvm::interleaveComma(
        llvm::enumerate(getFactorSizes()), printer, [&](auto entry) {
          printer << factorName(entry.index()) << '=' << entry.value();
        });
    printer << '}';
  }
  auto printList = [&](StringRef name, ArrayRef<int64_t> factors) {
    if (factors.empty())
      return;
    printer << ' ' << name << "={";
    llvm::interleaveComma(factors, printer, [&](int64_t factor) {
      printer << factorName(factor);
    });
    printer << '}';
  };
  printList("reduction", getReductionFactors());
  printList("need_replication", getNeedReplicationFactors());
  printList("permutation", getPermutationFactors());
  printList("blocked_propagation", getBlockedPropagationFactors());
  printer << (getIsCustom() ? ", custom>" : ">");
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

ParseResult sdy::parseRegionWithArguments(OpAsmParser &parser, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parser.parseArgumentList(arguments,
                                          OpAsmParser::Delimiter::Paren,
                                          /*allowType=*/true) ||
                 parser.parseRegion(region, arguments));
}

void sdy::printRegionWithArguments(OpAsmPrinter &printer, Operation *,
                                   Region &region) {
  printer << '(';
  llvm::interleaveComma(
      region.getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

ParseResult sdy::parseDirection(OpAsmParser &parser,
                                PropagationDirectionAttr &direction) {
  FailureOr<PropagationDirection> value =
      FieldParser<PropagationDirection>::parse(parser);
  if (failed(value))
    return failure();
  direction = PropagationDirectionAttr::get(parser.getContext(), *value);
  return success();
}

void sdy::printDirection(OpAsmPrinter &printer, Operation *,
                         PropagationDirectionAttr direction) {
  printer << stringifyPropagationDirection(direction.getValue());
}

ParseResult sdy::parseOptionalReduction(AsmParser &parser,
                                        ReductionKindAttr &kind) {
  ReductionKind value = ReductionKind::Sum;
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    std::optional<ReductionKind> named = symbolizeReductionKind(word);
    if (!named)
      return parser.emitError(loc)
             << "expected sum, max or min, got '" << word << "'";
    value = *named;
  }
  kind = ReductionKindAttr::get(parser.getContext(), value);
  return success();
}

void sdy::printOptionalReduction(OpAsmPrinter &printer, Operation *,
                                 ReductionKindAttr kind) {
  if (kind.getValue() != ReductionKind::Sum)
    printer << stringifyReductionKind(kind.getValue());
}
