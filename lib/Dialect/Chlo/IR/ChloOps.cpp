//===- ChloOps.cpp - The chlo dialect -------------------------------------===//
#include "shardc/Dialect/Chlo/IR/Chlo.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::chlo;

#include "shardc/Dialect/Chlo/IR/ChloDialect.cpp.inc"
#include "shardc/Dialect/Chlo/IR/ChloEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Chlo/IR/ChloAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Chlo/IR/ChloOps.cpp.inc"

namespace {
/// Every op may move into a caller.
struct ChloInliner final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/Chlo/IR/ChloOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardc/Dialect/Chlo/IR/ChloAttrs.cpp.inc"
      >();
  addInterfaces<ChloInliner>();
}

Operation *ChloDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

/// The operand's shape with elements of i1.
static LogicalResult inferPredicate(MLIRContext *context, Value operand,
                                    SmallVectorImpl<Type> &types) {
  types.push_back(cast<RankedTensorType>(operand.getType())
                      .clone(IntegerType::get(context, 1)));
  return success();
}

LogicalResult IsInfOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  return inferPredicate(context, adaptor.getOperand(), types);
}

LogicalResult IsNegInfOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  return inferPredicate(context, adaptor.getOperand(), types);
}

LogicalResult IsPosInfOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  return inferPredicate(context, adaptor.getOperand(), types);
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t k = adaptor.getK();
  if (operand.getRank() == 0)
    return emitOptionalError(location, "'chlo.top_k' op operand has type ",
                             operand, ", expected at least one dim");
  SmallVector<int64_t> shape(operand.getShape());
  if (k < 0 || (!ShapedType::isDynamic(shape.back()) && k > shape.back()))
    return emitOptionalError(location, "'chlo.top_k' op asks for ", k,
                             " of the ", shape.back(),
                             " elements of the last dim");
  shape.back() = k;
  types.push_back(operand.clone(shape));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  return success();
}

//===----------------------------------------------------------------------===//
// RaggedDotOp
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kRaggedFields[] = {
    "lhs_batching_dimensions",    "rhs_batching_dimensions",
    "lhs_contracting_dimensions", "rhs_contracting_dimensions",
    "lhs_ragged_dimensions",      "rhs_group_dimensions"};

Attribute RaggedDotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lists[6];
  auto parseField = [&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    const auto *field = llvm::find(kRaggedFields, name);
    if (field == std::end(kRaggedFields))
      return parser.emitError(loc) << "unknown field '" << name << "'";
    SmallVector<int64_t> &list = lists[field - kRaggedFields];
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
      return parser.parseInteger(list.emplace_back());
    });
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseField))
    return {};
  return get(parser.getContext(), lists[0], lists[1], lists[2], lists[3],
             lists[4], lists[5]);
}

void RaggedDotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  ArrayRef<int64_t> lists[] = {
      getLhsBatchingDimensions(),    getRhsBatchingDimensions(),
      getLhsContractingDimensions(), getRhsContractingDimensions(),
      getLhsRaggedDimensions(),      getRhsGroupDimensions()};
  printer << '<';
  StringRef separator;
  for (auto [name, list] : llvm::zip(kRaggedFields, lists)) {
    if (list.empty())
      continue;
    printer << separator << name << " = [";
    llvm::interleaveComma(list, printer);
    printer << ']';
    separator = ", ";
  }
  printer << '>';
}

/// Dims of an operand are in range and named once, over all `lists`.
static bool areDistinctDims(int64_t rank, ArrayRef<ArrayRef<int64_t>> lists) {
  llvm::SmallDenseSet<int64_t> seen;
  for (ArrayRef<int64_t> list : lists)
    for (int64_t dim : list)
      if (dim < 0 || dim >= rank || !seen.insert(dim).second)
        return false;
  return true;
}

LogicalResult RaggedDotOp::verify() {
  auto dims = getRaggedDotDimensionNumbers();
  auto lhs = cast<RankedTensorType>(getLhs().getType()),
       rhs = cast<RankedTensorType>(getRhs().getType()),
       sizes = cast<RankedTensorType>(getGroupSizes().getType());
  if (!areDistinctDims(lhs.getRank(), {dims.getLhsBatchingDimensions(),
                                       dims.getLhsContractingDimensions()}) ||
      !areDistinctDims(rhs.getRank(), {dims.getRhsBatchingDimensions(),
                                       dims.getRhsContractingDimensions(),
                                       dims.getRhsGroupDimensions()}) ||
      dims.getLhsBatchingDimensions().size() !=
          dims.getRhsBatchingDimensions().size() ||
      dims.getLhsContractingDimensions().size() !=
          dims.getRhsContractingDimensions().size())
    return emitOpError("has dims ")
           << dims << ", expected dims of " << lhs << " and " << rhs
           << ", each once, as many on both sides";
  ArrayRef<int64_t> ragged = dims.getLhsRaggedDimensions();
  if (ragged.size() != 1 || !areDistinctDims(lhs.getRank(), {ragged}))
    return emitOpError("has ")
           << ragged.size() << " ragged dims, expected one, of " << lhs;
  bool isFree =
      !llvm::is_contained(dims.getLhsBatchingDimensions(), ragged[0]) &&
      !llvm::is_contained(dims.getLhsContractingDimensions(), ragged[0]);
  if (dims.getRhsGroupDimensions().size() != (isFree ? 1 : 0))
    return emitOpError("has ")
           << dims.getRhsGroupDimensions().size() << " group dims, expected "
           << (isFree ? "one of the second operand" : "none");
  if (sizes.getRank() < 1 ||
      (isFree && sizes.getShape().back() !=
                     rhs.getDimSize(dims.getRhsGroupDimensions()[0])))
    return emitOpError("has group sizes of type ")
           << sizes << ", expected one for each group of " << rhs;
  auto same = [&](ArrayRef<int64_t> of, ArrayRef<int64_t> with) {
    return llvm::all_of(llvm::zip(of, with), [&](auto pair) {
      return lhs.getDimSize(std::get<0>(pair)) ==
             rhs.getDimSize(std::get<1>(pair));
    });
  };
  if (!same(dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions()) ||
      !same(dims.getLhsContractingDimensions(),
            dims.getRhsContractingDimensions()))
    return emitOpError("multiplies ") << lhs << " by " << rhs
                                      << ", expected batching and contracting "
                                         "dims of equal sizes";
  return success();
}
