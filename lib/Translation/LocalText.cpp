//===- LocalText.cpp - The local program as StableHLO ---------------------===//
//
// Ops are taken over one by one into a new module. What is static StableHLO is
// cloned; index arithmetic, which only says what differs by rank, is left out;
// communication becomes StableHLO's where that has an op for it; all else is a
// custom call that shows its name and attributes.
//
//===----------------------------------------------------------------------===//

#include "shardc/Translation/LocalText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Layout/Exchange.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace shardc;

/// A constant of more elements is not printed.
static constexpr int64_t kMostElements = 64;

namespace {
class LocalText {
public:
  explicit LocalText(ModuleOp local)
      : local(local), main(local.lookupSymbol<func::FuncOp>("main")),
        mesh((*local.getOps<spmd::MeshOp>().begin()).getMesh()),
        builder(local.getContext()) {}

  std::string print(bool lines);
  ProgramWork work; ///< of the module that was printed

private:
  OwningOpRef<ModuleOp> build(bool isWhole);
  RankedTensorType staticType(RankedTensorType type, ArrayRef<int64_t> sizes);
  Type shardType(Type type, DictionaryAttr attributes);
  RankedTensorType typeOf(Value value);
  /// The largest value of an index; nullopt where that cannot be told.
  std::optional<int64_t> mostOf(OpFoldResult index);

  void take(Block &from, Block &to);
  void take(Operation &op);
  /// Adds what `op`, which has been taken, computes.
  void count(Operation &op);
  bool takeStatic(Operation &op);
  bool takeConjugate(Operation &op);
  bool takeSlice(Operation &op);
  bool takeReduction(Operation &op);
  bool takeExchange(Operation &op);
  void takeAsCall(Operation &op);
  void call(Location loc, const Twine &target, ValueRange operands,
            TypeRange types, const Twine &config, ValueRange results);

  DenseIntElementsAttr groupsAlong(ArrayRef<StringAttr> axes);
  stablehlo::ChannelHandleAttr nextChannel() {
    return stablehlo::ChannelHandleAttr::get(builder.getContext(), ++channels,
                                             /*type=*/1);
  }
  void addReducer(Region &region, spmd::ReductionKind kind, Type elementType);

  ModuleOp local;
  func::FuncOp main;
  spmd::MeshAttr mesh;
  OpBuilder builder;
  IRMapping mapping;
  DenseMap<Value, RankedTensorType> returned; ///< by value of the local view
  int64_t channels = 0;
  bool counts = true; ///< not within a reducer
};
} // namespace

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

RankedTensorType LocalText::staticType(RankedTensorType type,
                                       ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, most] : llvm::zip_equal(shape, sizes))
    if (ShapedType::isDynamic(size))
      size = most;
  return RankedTensorType::get(shape, type.getElementType());
}

/// The shard of an argument or result: the largest of each dim.
Type LocalText::shardType(Type type, DictionaryAttr attributes) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  SmallVector<int64_t> sizes(tensor.getRank(), 1);
  TypeAttr global = spmd::contract::GlobalType::in(attributes);
  spmd::ShardingAttr sharding = spmd::contract::Sharding::in(attributes);
  if (global && sharding)
    for (auto [size, dim, whole] : llvm::zip_equal(
             sizes, sharding.getDims(),
             cast<RankedTensorType>(global.getValue()).getShape())) {
      Boundaries boundaries = dim.getBoundaries(mesh, whole);
      for (int64_t shard = 0; shard < dim.getNumShards(mesh); ++shard)
        size = std::max(size, boundaries.shard(shard).size());
    }
  return staticType(tensor, sizes);
}

std::optional<int64_t> LocalText::mostOf(OpFoldResult index) {
  if (std::optional<int64_t> known = getConstantIntValue(index))
    return known;
  auto value = dyn_cast<Value>(index);
  auto lookup = value ? value.getDefiningOp<spmd::LookupOp>() : nullptr;
  if (!lookup || lookup.getTable().empty())
    return std::nullopt;
  return *llvm::max_element(lookup.getTable());
}

/// The type that `value` gets; null for what is no tensor.
RankedTensorType LocalText::typeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.hasStaticShape())
    return type;
  if (RankedTensorType known = returned.lookup(value))
    return known;
  SmallVector<int64_t> sizes(type.getRank(), 1);
  Operation *op = value.getDefiningOp();
  if (auto exchange = dyn_cast_or_null<spmd::ExchangeOpInterface>(op)) {
    for (Attribute entry : exchange.getDims()) {
      DimExchange dim = cast<spmd::DimExchangeAttr>(entry).getExchange(mesh);
      for (const Interval &needed : dim.needed)
        sizes[dim.dim] = std::max(sizes[dim.dim], needed.size());
    }
  } else if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op)) {
    if (slice.getMixedSizes().size() == sizes.size())
      for (auto [size, given] : llvm::zip(sizes, slice.getMixedSizes()))
        size = mostOf(given).value_or(size);
  } else if (op) {
    // An elementwise op, or one that leaves most dims as they are.
    for (Value operand : op->getOperands()) {
      auto known = dyn_cast_or_null<RankedTensorType>(
          mapping.contains(operand) ? mapping.lookup(operand).getType()
                                    : Type());
      auto before = dyn_cast<RankedTensorType>(operand.getType());
      if (!known || !before || known.getRank() != type.getRank())
        continue;
      for (auto [size, from, most] :
           llvm::zip_equal(sizes, before.getShape(), known.getShape()))
        if (ShapedType::isDynamic(from))
          size = std::max(size, most);
    }
  }
  return staticType(type, sizes);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return isa<stablehlo::TokenType>(type) || (tensor && tensor.hasStaticShape());
}

static bool isStaticWithin(Block &block) {
  return llvm::all_of(block.getArgumentTypes(), isStatic);
}

/// Clones StableHLO of static shapes, and what is in its regions one by one.
bool LocalText::takeStatic(Operation &op) {
  if (!isa<stablehlo::StablehloDialect, chlo::ChloDialect>(op.getDialect()) ||
      !llvm::all_of(op.getOperandTypes(), isStatic) ||
      !llvm::all_of(op.getResultTypes(), isStatic))
    return false;
  for (Region &region : op.getRegions())
    if (!llvm::all_of(region, isStaticWithin))
      return false;
  DenseElementsAttr constant;
  if (matchPattern(&op, m_Constant(&constant)) && !constant.isSplat() &&
      constant.getNumElements() > kMostElements) {
    call(op.getLoc(), "shardc.constant", {}, op.getResultTypes(), "",
         op.getResults());
    return true;
  }
  Operation *clone = op.cloneWithoutRegions(mapping);
  builder.insert(clone);
  for (NamedAttribute attribute : llvm::to_vector(clone->getDiscardableAttrs()))
    clone->removeDiscardableAttr(attribute.getName());
  // A reducer's ops are counted with the op that it is of.
  llvm::SaveAndRestore<bool> isCounted(
      counts,
      counts &&
          isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op));
  for (auto [from, to] : llvm::zip_equal(op.getRegions(), clone->getRegions()))
    for (Block &block : from) {
      OpBuilder::InsertionGuard guard(builder);
      Block *inner = builder.createBlock(&to);
      take(block, *inner);
    }
  mapping.map(op.getResults(), clone->getResults());
  return true;
}

/// The one op of CHLO that XLA's reader knows no StableHLO for.
bool LocalText::takeConjugate(Operation &op) {
  auto conjugate = dyn_cast<chlo::ConjOp>(op);
  if (!conjugate || !isStatic(conjugate.getType()))
    return false;
  Location loc = op.getLoc();
  Value value = mapping.lookup(conjugate.getOperand());
  auto type = cast<RankedTensorType>(conjugate.getType());
  if (auto element = dyn_cast<ComplexType>(type.getElementType())) {
    auto part = type.clone(element.getElementType());
    Value real = stablehlo::RealOp::create(builder, loc, part, value);
    Value imaginary = stablehlo::ImagOp::create(builder, loc, part, value);
    imaginary = stablehlo::NegOp::create(builder, loc, part, imaginary);
    value = stablehlo::ComplexOp::create(builder, loc, type, real, imaginary);
  }
  mapping.map(conjugate.getResult(), value);
  return true;
}

/// `index` in words: a number, or one for each coordinate along mesh axes.
static void printIndex(OpFoldResult index, llvm::raw_ostream &out) {
  auto value = dyn_cast<Value>(index);
  auto lookup = value ? value.getDefiningOp<spmd::LookupOp>() : nullptr;
  if (std::optional<int64_t> known = getConstantIntValue(index)) {
    out << *known;
  } else if (lookup) {
    out << "{";
    llvm::interleaveComma(lookup.getTable(), out);
    out << "} along " << lookup.getAxes();
  } else {
    out << "?";
  }
}

static void printIndices(StringRef name, ArrayRef<OpFoldResult> indices,
                         llvm::raw_ostream &out) {
  out << name << " = [";
  llvm::interleaveComma(indices, out,
                        [&](OpFoldResult index) { printIndex(index, out); });
  out << "]";
}

/// StableHLO's slice where all ranks take the same part, else a call that says
/// what each takes.
bool LocalText::takeSlice(Operation &op) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice || slice.getType().getRank() != slice.getSourceType().getRank())
    return false;
  if (!isStatic(slice.getSourceType()) || !isStatic(slice.getType()) ||
      llvm::any_of(slice.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(slice.getStaticStrides(), ShapedType::isDynamic)) {
    std::string config;
    llvm::raw_string_ostream out(config);
    printIndices("offsets", slice.getMixedOffsets(), out);
    printIndices(", sizes", slice.getMixedSizes(), out);
    printIndices(", strides", slice.getMixedStrides(), out);
    call(op.getLoc(), "shardc.slice", mapping.lookup(slice.getSource()),
         typeOf(slice.getResult()), config, slice.getResult());
    return true;
  }
  SmallVector<int64_t> limits;
  for (auto [offset, size, stride] :
       llvm::zip_equal(slice.getStaticOffsets(), slice.getStaticSizes(),
                       slice.getStaticStrides()))
    limits.push_back(offset + (size > 0 ? (size - 1) * stride + 1 : 0));
  auto taken = stablehlo::SliceOp::create(
      builder, op.getLoc(), slice.getType(), mapping.lookup(slice.getSource()),
      slice.getStaticOffsets(), limits, slice.getStaticStrides());
  mapping.map(slice.getResult(), taken.getResult());
  return true;
}

void LocalText::call(Location loc, const Twine &target, ValueRange operands,
                     TypeRange types, const Twine &config, ValueRange results) {
  OperationState state(loc, stablehlo::CustomCallOp::getOperationName());
  state.addOperands(operands);
  state.addTypes(types);
  state.addAttribute("call_target_name", builder.getStringAttr(target));
  std::string text = config.str();
  if (!text.empty())
    state.addAttribute("backend_config", builder.getStringAttr(text));
  Operation *made = builder.create(state);
  mapping.map(results, made->getResults());
}

/// Shows the op's name and attributes; operands that are no tensors are left
/// out.
void LocalText::takeAsCall(Operation &op) {
  SmallVector<Value> operands, results;
  for (Value operand : op.getOperands())
    if (isa<RankedTensorType>(operand.getType()) && mapping.contains(operand))
      operands.push_back(mapping.lookup(operand));
  SmallVector<Type> types;
  for (Value result : op.getResults())
    if (RankedTensorType type = typeOf(result)) {
      types.push_back(type);
      results.push_back(result);
    }
  // Index arithmetic; and what only ends or releases something.
  if (results.empty() && !isa<spmd::CommunicationOpInterface>(op))
    return;
  std::string config;
  llvm::raw_string_ostream out(config);
  SmallVector<NamedAttribute> shown;
  for (NamedAttribute attribute : op.getAttrs())
    if (!isa<ElementsAttr, FlatSymbolRefAttr>(attribute.getValue()) &&
        attribute.getName() != "operandSegmentSizes")
      shown.push_back(attribute);
  if (!shown.empty())
    out << builder.getDictionaryAttr(shown);
  StringRef name = op.getName().getStringRef();
  if (auto wait = dyn_cast<spmd::ExchangeWaitOp>(op))
    call(op.getLoc(), "shardc." + wait.getKind(), operands, types, config,
         results);
  else if (spmd::isOfLevel(&op))
    call(op.getLoc(), "shardc." + op.getName().stripDialect(), operands, types,
         config, results);
  else
    call(op.getLoc(), name, operands, types, config, results);
}

void LocalText::take(Operation &op) {
  if (!takeConjugate(op) && !takeStatic(op) && !takeSlice(op) &&
      !takeReduction(op) && !takeExchange(op))
    takeAsCall(op);
  if (counts)
    count(op);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// What the op does to each element of its result, where that is all it does.
enum class ElementWork { None, Operation, Transcendental };

static ElementWork elementWork(Operation &op) {
  if (isa<stablehlo::ExpOp, stablehlo::Expm1Op, stablehlo::LogOp,
          stablehlo::Log1pOp, stablehlo::SineOp, stablehlo::CosineOp,
          stablehlo::TanOp, stablehlo::TanhOp, stablehlo::LogisticOp,
          stablehlo::PowOp, stablehlo::SqrtOp, stablehlo::RsqrtOp,
          stablehlo::CbrtOp, stablehlo::Atan2Op>(op) ||
      isa<chlo::ChloDialect>(op.getDialect()))
    return ElementWork::Transcendental;
  if (op.hasTrait<stablehlo::ElementwiseTrait>() &&
      !isa<stablehlo::ConvertOp, stablehlo::BitcastConvertOp>(op))
    return ElementWork::Operation;
  return ElementWork::None;
}

void LocalText::count(Operation &op) {
  auto typeNow = [&](Value value) {
    return mapping.contains(value)
               ? dyn_cast<RankedTensorType>(mapping.lookup(value).getType())
               : RankedTensorType();
  };
  auto elements = [&](Value value) {
    RankedTensorType type = typeNow(value);
    return type ? type.getNumElements() : 0;
  };
  if (op.getNumResults() == 0 || matchPattern(&op, m_Constant()) ||
      isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp,
          stablehlo::ReshapeOp>(op))
    return;
  for (ValueRange values :
       {ValueRange(op.getOperands()), ValueRange(op.getResults())})
    for (Value value : values)
      if (RankedTensorType type = typeNow(value))
        if (Type element = type.getElementType(); element.isIntOrFloat())
          work.bytes += type.getNumElements() *
                        llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  int64_t results = elements(op.getResult(0));
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    int64_t contracted = 1;
    for (int64_t dim :
         dot.getDotDimensionNumbers().getLhsContractingDimensions())
      if (RankedTensorType type = typeNow(dot.getLhs()))
        contracted *= type.getDimSize(dim);
    work.operations += 2 * results * contracted;
  } else if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
    auto features =
        convolution.getDimensionNumbers().getKernelOutputFeatureDimension();
    if (RankedTensorType kernel = typeNow(convolution.getRhs()))
      work.operations += 2 * results * kernel.getNumElements() /
                         std::max<int64_t>(kernel.getDimSize(features), 1);
  } else if (auto pairs = dyn_cast<spmd::AllPairsOpInterface>(op)) {
    // Scores, and what is made of them: one product each.
    int64_t size = 4;
    for (int64_t dim : ArrayRef(pairs.getDimSizes()).drop_back())
      size *= ShapedType::isDynamic(dim) ? 1 : dim;
    work.operations += size;
  } else if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op)) {
    int64_t size = 1;
    for (int64_t extent : window.getWindowDimensions())
      size *= extent;
    work.operations += results * size;
  } else if (isa<stablehlo::ReduceOp, stablehlo::AllReduceOp,
                 stablehlo::ReduceScatterOp, stablehlo::ScatterOp>(op) ||
             isa<spmd::AllReduceOp, spmd::ReduceScatterOp>(op)) {
    work.operations += elements(
        op.getOperand(op.getNumOperands() > 2 && isa<stablehlo::ScatterOp>(op)
                          ? op.getNumOperands() - 1
                          : 0));
  } else if (ElementWork each = elementWork(op); each != ElementWork::None) {
    (each == ElementWork::Operation ? work.operations : work.transcendentals) +=
        results;
  }
}

void LocalText::take(Block &from, Block &to) {
  for (BlockArgument argument : from.getArguments())
    mapping.map(argument,
                to.addArgument(argument.getType(), argument.getLoc()));
  for (Operation &op : from)
    take(op);
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

/// The ranks that differ along `axes` only, by their coordinate there.
DenseIntElementsAttr LocalText::groupsAlong(ArrayRef<StringAttr> axes) {
  SmallVector<int64_t> numbers, ranks;
  for (StringAttr axis : axes)
    numbers.push_back(mesh.getAxisIndex(axis));
  ArrayRef<int64_t> shape = mesh.getAxisSizes();
  int64_t size = 1;
  for (int64_t axis : numbers)
    size *= shape[axis];
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    if (firstAlong(shape, numbers, rank) != rank)
      continue;
    std::vector<int64_t> group = groupAlong(shape, numbers, rank);
    llvm::sort(group, [&](int64_t a, int64_t b) {
      return coordinateAlong(shape, numbers, a) <
             coordinateAlong(shape, numbers, b);
    });
    llvm::append_range(ranks, group);
  }
  auto type = RankedTensorType::get(
      {static_cast<int64_t>(ranks.size()) / size, size}, builder.getI64Type());
  return DenseIntElementsAttr::get(type, ranks);
}

void LocalText::addReducer(Region &region, spmd::ReductionKind kind,
                           Type elementType) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = builder.getUnknownLoc();
  auto scalar = RankedTensorType::get({}, elementType);
  Block *block = builder.createBlock(&region);
  Value a = block->addArgument(scalar, loc),
        b = block->addArgument(scalar, loc);
  auto name = [&]() -> StringRef {
    switch (kind) {
    case spmd::ReductionKind::Sum:
      return stablehlo::AddOp::getOperationName();
    case spmd::ReductionKind::Product:
      return stablehlo::MulOp::getOperationName();
    case spmd::ReductionKind::Min:
      return stablehlo::MinOp::getOperationName();
    case spmd::ReductionKind::Max:
      return stablehlo::MaxOp::getOperationName();
    case spmd::ReductionKind::And:
      return stablehlo::AndOp::getOperationName();
    case spmd::ReductionKind::Or:
      return stablehlo::OrOp::getOperationName();
    case spmd::ReductionKind::Xor:
      return stablehlo::XorOp::getOperationName();
    }
    llvm_unreachable("a reduction of another kind");
  }();
  OperationState state(loc, name);
  state.addOperands({a, b});
  state.addTypes(scalar);
  Value combined = builder.create(state)->getResult(0);
  stablehlo::ReturnOp::create(builder, loc, combined);
}

static SmallVector<StringAttr> axesOf(ArrayAttr axes) {
  return llvm::to_vector(axes.getAsRange<StringAttr>());
}

bool LocalText::takeReduction(Operation &op) {
  if (auto reduce = dyn_cast<spmd::AllReduceOp>(op)) {
    if (!isStatic(reduce.getType()))
      return false;
    auto made = stablehlo::AllReduceOp::create(
        builder, op.getLoc(), TypeRange(reduce.getType()),
        mapping.lookup(reduce.getInput()),
        groupsAlong(axesOf(reduce.getAxes())), nextChannel(),
        /*use_global_device_ids=*/true);
    addReducer(made.getComputation(), reduce.getKind(),
               getElementTypeOrSelf(reduce.getType()));
    mapping.map(reduce.getResult(), made.getResult(0));
    return true;
  }
  auto scatter = dyn_cast<spmd::ReduceScatterOp>(op);
  if (!scatter || scatter.getDims().size() != 1 ||
      !isStatic(scatter.getInput().getType()) || !isStatic(scatter.getType()))
    return false;
  auto entry = cast<spmd::DimExchangeAttr>(scatter.getDims()[0]);
  DimExchange dim = entry.getExchange(mesh);
  int64_t size = dim.needed.front().size();
  bool isEven =
      llvm::ArrayRef(entry.getAxes()) == ArrayRef(axesOf(scatter.getAxes()));
  for (auto [place, needed] : llvm::enumerate(dim.needed))
    isEven &= needed == Interval{static_cast<int64_t>(place) * size,
                                 static_cast<int64_t>(place + 1) * size};
  if (!isEven || dim.size() != size * static_cast<int64_t>(dim.needed.size()))
    return false;
  auto made = stablehlo::ReduceScatterOp::create(
      builder, op.getLoc(), scatter.getType(),
      mapping.lookup(scatter.getInput()), dim.dim,
      groupsAlong(axesOf(scatter.getAxes())), nextChannel(),
      /*use_global_device_ids=*/true);
  addReducer(made.getComputation(), scatter.getKind(),
             getElementTypeOrSelf(scatter.getType()));
  mapping.map(scatter.getResult(), made.getResult());
  return true;
}

/// Whether `table` is equal blocks in order that cover the dim.
static bool isEvenlyCut(ArrayRef<Interval> table, int64_t size) {
  int64_t block = table.front().size();
  for (auto [place, interval] : llvm::enumerate(table))
    if (interval != Interval{static_cast<int64_t>(place) * block,
                             static_cast<int64_t>(place + 1) * block})
      return false;
  return block * static_cast<int64_t>(table.size()) == size;
}

static bool isWhole(ArrayRef<Interval> table, int64_t size) {
  return llvm::all_of(table, [&](const Interval &interval) {
    return interval == Interval{0, size};
  });
}

/// Who sends its whole block to whom, where each rank needs all of another's
/// block, or nothing but fill; nullopt where some rank needs anything else.
static std::optional<SmallVector<int64_t>>
findPairs(const Exchange &exchange, int64_t ranks, bool mayFill) {
  SmallVector<int64_t> pairs;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    std::vector<Transfer> transfers = receivesOf(exchange, rank);
    if (transfers.empty() && mayFill)
      continue;
    if (transfers.size() != 1 ||
        transfers[0].box != neededBox(exchange, rank) ||
        transfers[0].source != ownedBox(exchange, transfers[0].peer))
      return std::nullopt;
    pairs.append({transfers[0].peer, rank});
  }
  return pairs;
}

bool LocalText::takeExchange(Operation &op) {
  auto exchange = dyn_cast<spmd::ExchangeOpInterface>(op);
  if (!exchange || isa<spmd::ReduceScatterOp>(op) ||
      !isStatic(exchange.getSource().getType()) ||
      !isStatic(op.getResult(0).getType()))
    return false;
  Value input = mapping.lookup(exchange.getSource());
  SmallVector<std::pair<spmd::DimExchangeAttr, DimExchange>> dims;
  for (Attribute entry : exchange.getDims()) {
    auto attribute = cast<spmd::DimExchangeAttr>(entry);
    dims.push_back({attribute, attribute.getExchange(mesh)});
  }
  auto finish = [&](Operation *made) {
    mapping.map(op.getResult(0), made->getResult(0));
    return true;
  };
  if (exchange.getArriving())
    return false;
  if (dims.size() == 1) {
    const auto &[attribute, dim] = dims[0];
    if (isEvenlyCut(dim.owned, dim.size()) && isWhole(dim.needed, dim.size()))
      return finish(stablehlo::AllGatherOp::create(
          builder, op.getLoc(), op.getResultTypes(), input, dim.dim,
          groupsAlong(attribute.getAxes()), nextChannel(),
          /*use_global_device_ids=*/true));
  }
  if (dims.size() == 2) {
    bool isFirstGathered =
        isWhole(dims[0].second.needed, dims[0].second.size());
    const auto &[joined, join] = dims[isFirstGathered ? 0 : 1];
    const auto &[cut, split] = dims[isFirstGathered ? 1 : 0];
    if (joined.getAxes() == cut.getAxes() &&
        isEvenlyCut(join.owned, join.size()) &&
        isWhole(join.needed, join.size()) &&
        isWhole(split.owned, split.size()) &&
        isEvenlyCut(split.needed, split.size()))
      return finish(stablehlo::AllToAllOp::create(
          builder, op.getLoc(), op.getResultTypes(), input, split.dim, join.dim,
          static_cast<int64_t>(join.owned.size()),
          groupsAlong(joined.getAxes()), nextChannel()));
  }
  if (op.getResult(0).getType() != exchange.getSource().getType())
    return false;
  Value fill = exchange.getFillValue();
  bool mayFill = !fill || matchPattern(fill, m_Zero()) ||
                 matchPattern(fill, m_AnyZeroFloat());
  auto pairs = findPairs(exchange.getExchange(), mesh.getNumRanks(), mayFill);
  if (!pairs)
    return false;
  auto type = RankedTensorType::get(
      {static_cast<int64_t>(pairs->size()) / 2, 2}, builder.getI64Type());
  return finish(stablehlo::CollectivePermuteOp::create(
      builder, op.getLoc(), op.getResultTypes(), input,
      DenseIntElementsAttr::get(type, ArrayRef<int64_t>(*pairs)),
      nextChannel()));
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// If not `isWhole`, the program is one call.
OwningOpRef<ModuleOp> LocalText::build(bool isWhole) {
  mapping.clear();
  channels = 0;
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(local.getLoc(), local.getName());
  (*module)->setAttr("mhlo.num_partitions",
                     builder.getI32IntegerAttr(mesh.getNumRanks()));
  (*module)->setAttr("mhlo.num_replicas", builder.getI32IntegerAttr(1));
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> arguments, results;
  for (BlockArgument argument : main.getArguments())
    arguments.push_back(shardType(
        argument.getType(), main.getArgAttrDict(argument.getArgNumber())));
  for (auto [number, type] : llvm::enumerate(main.getResultTypes()))
    results.push_back(shardType(type, main.getResultAttrDict(number)));
  auto function =
      func::FuncOp::create(builder, main.getLoc(), "main",
                           builder.getFunctionType(arguments, results));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  SmallVector<Value> values;
  if (isWhole) {
    for (auto [value, type] : llvm::zip_equal(
             main.getBody().front().getTerminator()->getOperands(), results))
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        returned[value] = tensor;
    mapping.map(main.getArguments(), body->getArguments());
    for (Operation &op : main.getBody().front().without_terminator())
      take(op);
    for (Value value : main.getBody().front().getTerminator()->getOperands())
      values.push_back(mapping.lookupOrNull(value));
  } else {
    OperationState state(main.getLoc(),
                         stablehlo::CustomCallOp::getOperationName());
    state.addOperands(body->getArguments());
    state.addTypes(results);
    state.addAttribute("call_target_name",
                       builder.getStringAttr("shardc.program"));
    llvm::append_range(values, builder.create(state)->getResults());
  }
  for (auto [value, type] : llvm::zip_equal(values, results))
    if (!value || value.getType() != type)
      return nullptr;
  func::ReturnOp::create(builder, main.getLoc(), values);
  return module;
}

std::string LocalText::print(bool lines) {
  OwningOpRef<ModuleOp> module;
  {
    // Where it cannot be written op by op, nobody has to know why.
    ScopedDiagnosticHandler quiet(local.getContext(),
                                  [](Diagnostic &) { return success(); });
    module = build(/*isWhole=*/true);
    if (!module || failed(verify(*module)))
      module = build(/*isWhole=*/false);
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  if (lines)
    module->walk(
        [](Operation *op) { op->setLoc(shortLocation(op->getLoc())); });
  module->print(out, OpPrintingFlags().enableDebugInfo(lines));
  return text;
}

std::string shardc::printLocalProgram(ModuleOp local, bool lines,
                                      ProgramWork *work) {
  LocalText program(local);
  std::string text = program.print(lines);
  if (work)
    *work = program.work;
  return text;
}
