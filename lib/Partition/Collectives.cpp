//===- Collectives.cpp - StableHLO's own communication, local -------------===//
//
// A collective of a manual region is an exchange of a tensor that nobody wrote
// down: the blocks of all members, one behind the other along some dim. Each
// member owns its own block of it and needs all (all_gather), a part of all
// (all_to_all), or another's (collective_permute). Groups that are the ranks
// along some mesh axes have tables along these; other groups, and orders that
// differ from group to group, have tables along all axes, where the blocks of
// each group follow those of the one before.
//
// Where blocks are one behind the other follows from numbers. Those of a size
// that only a binding knows are one behind the other along a dim of their own:
//
//     all_gather of ?x4 among 3:       1x?x4 -> 3x?x4, together 3?x4
//     reduce_scatter of ?x4 among 3:   3x(?/3)x4 -> 1x(?/3)x4
//
//===----------------------------------------------------------------------===//
#include "Collectives.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/StableHLO/IR/Reducers.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {

/// Which ranks communicate, and in which order they count.
struct Groups {
  SmallVector<int64_t>
      axes; ///< mesh axis numbers, ascending; tables are over these
  /// For each coordinate along `axes`: the place of its block, that of its
  /// group's first block, and its place in the group.
  SmallVector<int64_t> block, first, place;
  /// The same for its group's members, where groups differ in size.
  SmallVector<int64_t> sizes;
  int64_t size = 1;    ///< members of a group, or of the largest
  bool isAxes = false; ///< a group is the ranks along `axes`
};

class CollectiveBuilder {
public:
  CollectiveBuilder(Operation *op, Localization &localization,
                    RankTables &tables)
      : op(op), localization(localization), tables(tables),
        builder(localization.builder()), loc(op->getLoc()),
        mesh(tables.getMesh()), sizes(mesh.getAxisSizes()),
        numRanks(mesh.getNumRanks()) {}

  FailureOr<SmallVector<Value>> build();

private:
  FailureOr<Groups> readGroups();
  /// Blocks along a dim that change ranks: the coordinates along `axes` own
  /// block `owned` and need blocks [`needed`, `needed` + `count`). Of another
  /// dim, `cutDim`, if any, each needs part `place` of `parts`.
  struct Blocks {
    ArrayRef<int64_t> axes, owned, needed;
    int64_t count = 1;
    int64_t cutDim = -1;
    ArrayRef<int64_t> place = {};
    int64_t parts = 1;
  };
  /// A dim of a value: how many elements there are, and which a rank has.
  struct Dim {
    int64_t size;
    IntervalTable own;
  };
  SmallVector<Dim> dimsOf(int64_t operand);
  /// `local`, whose dims are `dims`, with `blocks` exchanged along `dim`.
  FailureOr<Value> exchange(Value local, ArrayRef<Dim> dims, int64_t dim,
                            const Blocks &blocks);
  /// The same along a dim of their own, which is then joined with `dim`.
  FailureOr<Value> exchangeApart(Value local, ArrayRef<Dim> dims, int64_t dim,
                                 Blocks blocks);
  /// Dim `dim` as one of `parts` and one of what is in a part.
  Value splitDim(Value local, SmallVectorImpl<Dim> &dims, int64_t dim,
                 int64_t parts);
  /// The blocks of all members of a group.
  static Blocks ofGroup(const Groups &groups) {
    return {groups.axes, groups.block, groups.first, groups.size, -1, {}, 1};
  }
  /// Takes the value of rank `sources[r]` to rank r; zeros where it is -1.
  FailureOr<Value> permute(Value local, ArrayRef<Dim> dims,
                           ArrayRef<int64_t> sources);
  FailureOr<Value> allGather(Value local, ArrayRef<Dim> dims, int64_t dim,
                             const Groups &groups);
  FailureOr<Value> allToAll(stablehlo::AllToAllOp op, Value local,
                            SmallVector<Dim> dims, const Groups &groups);
  FailureOr<Value> reduce(Region &body, Value local, ArrayRef<Dim> dims,
                          const Groups &groups);
  FailureOr<Value> reduceScatter(stablehlo::ReduceScatterOp op, Value local,
                                 SmallVector<Dim> dims, const Groups &groups);
  Value withLeadingDim(Value local, SmallVectorImpl<Dim> &dims);

  ArrayAttr axisNames(ArrayRef<int64_t> axes) {
    SmallVector<StringRef> names;
    for (int64_t axis : axes)
      names.push_back(mesh.getAxisNames()[axis].getValue());
    return builder.getStrArrayAttr(names);
  }
  std::string reason() {
    return ("'" + op->getName().getStringRef() + "' of the program").str();
  }

  Operation *op;
  Localization &localization;
  RankTables &tables;
  OpBuilder &builder;
  Location loc;
  MeshAttr mesh;
  ArrayRef<int64_t> sizes;
  int64_t numRanks;
};

} // namespace

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The coordinate of `rank` along each mesh axis.
static SmallVector<int64_t> coordinatesOf(ArrayRef<int64_t> sizes,
                                          int64_t rank) {
  SmallVector<int64_t> coordinates(sizes.size());
  for (int64_t axis = sizes.size() - 1; axis >= 0; --axis) {
    coordinates[axis] = rank % sizes[axis];
    rank /= sizes[axis];
  }
  return coordinates;
}

/// Axes along which `a` and `b` have different coordinates.
static SmallVector<bool> differingAxes(ArrayRef<int64_t> sizes, int64_t a,
                                       int64_t b) {
  SmallVector<bool> result;
  for (auto [left, right] :
       llvm::zip(coordinatesOf(sizes, a), coordinatesOf(sizes, b)))
    result.push_back(left != right);
  return result;
}

/// `value` of each rank as a table over `axes`; nullopt if ranks of the same
/// coordinate along them differ.
static std::optional<SmallVector<int64_t>> tableOver(ArrayRef<int64_t> sizes,
                                                     ArrayRef<int64_t> axes,
                                                     ArrayRef<int64_t> values) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= sizes[axis];
  SmallVector<std::optional<int64_t>> known(count);
  for (auto [rank, value] : llvm::enumerate(values)) {
    std::optional<int64_t> &entry = known[coordinateAlong(sizes, axes, rank)];
    if (entry && *entry != value)
      return std::nullopt;
    entry = value;
  }
  SmallVector<int64_t> table;
  for (std::optional<int64_t> entry : known)
    table.push_back(*entry);
  return table;
}

/// The axes that `which` marks.
static SmallVector<int64_t> axesWhere(ArrayRef<bool> which) {
  SmallVector<int64_t> axes;
  for (auto [axis, is] : llvm::enumerate(which))
    if (is)
      axes.push_back(axis);
  return axes;
}

FailureOr<Groups> CollectiveBuilder::readGroups() {
  FailureOr<SmallVector<SmallVector<int64_t>>> read =
      readReplicaGroups(op, mesh);
  if (failed(read))
    return failure();
  ArrayRef<SmallVector<int64_t>> members = *read;
  Groups groups;
  SmallVector<int64_t> place(numRanks), begin(numRanks), size(numRanks);
  int64_t next = 0;
  for (ArrayRef<int64_t> list : members) {
    int64_t count = list.size();
    groups.size = std::max(groups.size, count);
    for (auto [i, rank] : llvm::enumerate(list)) {
      place[rank] = i;
      begin[rank] = next;
      size[rank] = count;
    }
    next += count;
  }

  SmallVector<bool> differs(sizes.size(), false);
  for (int64_t rank : members.front())
    for (auto [axis, does] :
         llvm::enumerate(differingAxes(sizes, members.front().front(), rank)))
      differs[axis] |= does;
  SmallVector<int64_t> axes = axesWhere(differs);
  bool isAxes = true;
  for (const SmallVector<int64_t> &list : members) {
    std::vector<int64_t> along = groupAlong(sizes, axes, list.front());
    SmallVector<int64_t> sorted(list);
    llvm::sort(sorted);
    isAxes &= ArrayRef<int64_t>(along) == ArrayRef<int64_t>(sorted);
  }
  if (isAxes)
    if (auto table = tableOver(sizes, axes, place)) {
      groups.axes = axes;
      groups.block = groups.place = *table;
      groups.first.assign(table->size(), 0);
      groups.isAxes = true;
      return groups;
    }
  groups.axes = llvm::to_vector(llvm::seq<int64_t>(0, sizes.size()));
  groups.place = place;
  groups.first = begin;
  for (auto [first, at] : llvm::zip(begin, place))
    groups.block.push_back(first + at);
  if (!llvm::all_equal(size))
    groups.sizes = size;
  return groups;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

SmallVector<CollectiveBuilder::Dim> CollectiveBuilder::dimsOf(int64_t operand) {
  Value value = op->getOperand(operand);
  SmallVector<Dim> dims;
  for (auto [size, dim] :
       llvm::zip(cast<RankedTensorType>(value.getType()).getShape(),
                 getSharding(value).getDims()))
    dims.push_back({size, ownedTable(mesh, dim, size)});
  return dims;
}

FailureOr<Value> CollectiveBuilder::exchange(Value local, ArrayRef<Dim> dims,
                                             int64_t dim,
                                             const Blocks &blocks) {
  auto [axes, owned, needed, count, cutDim, place, parts] = blocks;
  auto type = cast<RankedTensorType>(local.getType());
  SmallVector<DimExchange> exchanges;
  for (auto [i, of] : llvm::enumerate(dims)) {
    auto &[size, own] = of;
    for (int64_t axis : own.axes)
      if (sizes[axis] > 1 && llvm::is_contained(axes, axis))
        return emitOpUnsupported(op)
               << ": communicates along free axis \""
               << mesh.getAxisNames()[axis].getValue()
               << "\", along which its operand is cut; constrain the operand "
                  "to be whole";
    auto number = static_cast<int64_t>(i);
    if (number != dim && number != cutDim) {
      exchanges.push_back(combineTables(tables, i, own, own));
      continue;
    }
    assert(!own.formula.isOpen() && "blocks follow from numbers");
    // Coordinates along `axes` first, then those along the free axes.
    IntervalTable from, to;
    from.axes.assign(axes.begin(), axes.end());
    from.axes.append(own.axes);
    to.axes = from.axes;
    for (size_t c = 0; c < owned.size(); ++c)
      for (Interval part : own.intervals) {
        if (number == cutDim) {
          from.intervals.push_back(part);
          int64_t member = place[c];
          to.intervals.push_back(
              {member * size / parts, (member + 1) * size / parts});
          continue;
        }
        from.intervals.push_back(
            {owned[c] * size + part.begin, owned[c] * size + part.end});
        // Several blocks only of dims that are whole along the free axes.
        to.intervals.push_back({needed[c] * size + part.begin,
                                (needed[c] + count - 1) * size + part.end});
      }
    exchanges.push_back(combineTables(tables, i, from, to));
  }
  Value zero = stablehlo::ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(Attribute(zeroScalar(type.getElementType()))));
  return emitExchange(builder, loc, tables, local, exchanges, zero, reason());
}

/// The same value with a dim of one element before the others.
Value CollectiveBuilder::withLeadingDim(Value local,
                                        SmallVectorImpl<Dim> &dims) {
  dims.insert(dims.begin(), Dim{1, {{}, {Interval{0, 1}}}});
  auto type = cast<RankedTensorType>(local.getType());
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, type.getShape());
  if (type.getRank() == 0)
    return stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), local)
        .getResult();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, local);
  sizes.insert(sizes.begin(), builder.getIndexAttr(1));
  SmallVector<ReassociationIndices> groups = {{0, 1}};
  for (int64_t i = 1; i < type.getRank(); ++i)
    groups.push_back({i + 1});
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), local,
                                       groups, sizes)
      .getResult();
}

/// Dims `dim` and the one behind it as one.
static Value joinDims(OpBuilder &builder, Location loc, Value value,
                      int64_t dim) {
  SmallVector<ReassociationIndices> joined;
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  for (int64_t i = 0; i < rank; ++i) {
    if (i == dim + 1)
      joined.back().push_back(i);
    else
      joined.push_back({i});
  }
  return tensor::CollapseShapeOp::create(builder, loc, value, joined);
}

Value CollectiveBuilder::splitDim(Value local, SmallVectorImpl<Dim> &dims,
                                  int64_t dim, int64_t parts) {
  if (!dims[dim].own.axes.empty())
    tables.refuse("the sizes of parts of a dim that is cut along free axes");
  int64_t size = dims[dim].size / parts;
  IntervalTable part = wholeTable(mesh, size);
  if (!part.formula)
    tables.refuse("extents that are known when the program is compiled");
  auto type = cast<RankedTensorType>(local.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, local);
  shape.insert(shape.begin() + dim, parts);
  sizes[dim] = part.formula ? tables.lookup(Formula::size(part.formula), {})
                            : OpFoldResult(builder.getIndexAttr(size));
  sizes.insert(sizes.begin() + dim, builder.getIndexAttr(parts));
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    groups.push_back({i > dim ? i + 1 : i});
    if (i == dim)
      groups.back().push_back(i + 1);
  }
  dims[dim] = {size, part};
  dims.insert(dims.begin() + dim, Dim{parts, {{}, {Interval{0, parts}}}});
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), local,
                                       groups, sizes);
}

FailureOr<Value> CollectiveBuilder::exchangeApart(Value local,
                                                  ArrayRef<Dim> dims,
                                                  int64_t dim, Blocks blocks) {
  SmallVector<Dim> raisedDims(dims);
  FailureOr<Value> raised = withLeadingDim(local, raisedDims);
  if (blocks.cutDim >= 0)
    ++blocks.cutDim;
  if (failed(raised = exchange(*raised, raisedDims, 0, blocks)))
    return failure();
  auto type = cast<RankedTensorType>(raised->getType());
  // (blocks, ..., dim, ...) to (..., blocks, dim, ...).
  SmallVector<int64_t> order, shape;
  for (int64_t i = 1; i < type.getRank(); ++i) {
    if (i == dim + 1)
      order.push_back(0);
    order.push_back(i);
  }
  for (int64_t i : order)
    shape.push_back(type.getDimSize(i));
  Value moved = *raised;
  if (dim > 0)
    moved = stablehlo::TransposeOp::create(builder, loc, type.clone(shape),
                                           moved, order);
  return joinDims(builder, loc, moved, dim);
}

FailureOr<Value> CollectiveBuilder::permute(Value local, ArrayRef<Dim> dims,
                                            ArrayRef<int64_t> sources) {
  SmallVector<bool> differs(sizes.size(), false);
  for (auto [rank, source] : llvm::enumerate(sources))
    if (source >= 0)
      for (auto [axis, does] :
           llvm::enumerate(differingAxes(sizes, rank, source)))
        differs[axis] |= does;
  // Values travel along these axes. Those along which ranks have another
  // source, or one and none, matter as well.
  SmallVector<int64_t> axes;
  std::optional<SmallVector<int64_t>> table;
  for (;;) {
    axes = axesWhere(differs);
    SmallVector<int64_t> from =
        llvm::map_to_vector(sources, [&](int64_t source) {
          return source < 0 ? int64_t(-1)
                            : coordinateAlong(sizes, axes, source);
        });
    table = tableOver(sizes, axes, from);
    if (table)
      break;
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      SmallVector<bool> others(sizes.size(), true);
      others[axis] = false;
      differs[axis] =
          differs[axis] || !tableOver(sizes, axesWhere(others), from);
    }
  }
  SmallVector<int64_t> needed, owned;
  for (auto [c, source] : llvm::enumerate(*table)) {
    owned.push_back(c);
    // Behind the last block: zeros.
    needed.push_back(source < 0 ? static_cast<int64_t>(table->size()) : source);
  }
  auto type = cast<RankedTensorType>(local.getType());
  Blocks blocks{axes, owned, needed};
  if (dims.empty()) {
    SmallVector<Dim> one;
    FailureOr<Value> moved = withLeadingDim(local, one);
    if (failed(moved = exchange(*moved, one, 0, blocks)))
      return failure();
    return stablehlo::ReshapeOp::create(builder, loc, type, *moved).getResult();
  }
  if (llvm::any_of(dims, [](const Dim &dim) { return dim.size == 0; }))
    return local;
  if (!dims.front().own.formula.isOpen())
    return exchange(local, dims, 0, blocks);
  FailureOr<Value> moved = exchangeApart(local, dims, 0, blocks);
  if (failed(moved))
    return failure();
  return moved->getType() == type
             ? *moved
             : tensor::CastOp::create(builder, loc, type, *moved).getResult();
}

FailureOr<Value> CollectiveBuilder::allGather(Value local, ArrayRef<Dim> dims,
                                              int64_t dim,
                                              const Groups &groups) {
  Blocks blocks = ofGroup(groups);
  blocks.owned = groups.block;
  return dims[dim].own.formula.isOpen()
             ? exchangeApart(local, dims, dim, blocks)
             : exchange(local, dims, dim, blocks);
}

FailureOr<Value> CollectiveBuilder::allToAll(stablehlo::AllToAllOp all,
                                             Value local, SmallVector<Dim> dims,
                                             const Groups &groups) {
  int64_t split = all.getSplitDimension(), concat = all.getConcatDimension(),
          parts = all.getSplitCount();
  bool isOneDim = split == concat;
  if (parts != groups.size)
    return op->emitOpError() << "splits in " << parts << " parts for groups of "
                             << groups.size << " members, expected as many";
  auto type = cast<RankedTensorType>(local.getType());
  Blocks blocks = ofGroup(groups);
  blocks.cutDim = split;
  blocks.place = groups.place;
  blocks.parts = parts;
  bool isSplitOpen = dims[split].own.formula.isOpen();
  if (isSplitOpen) {
    local = splitDim(local, dims, split, parts);
    concat += concat >= split;
  }
  // Along one dim: the parts of all members, one behind the other, are a dim of
  // their own, of which each member keeps its own.
  FailureOr<Value> result = concat == split || dims[concat].own.formula.isOpen()
                                ? exchangeApart(local, dims, concat, blocks)
                                : exchange(local, dims, concat, blocks);
  if (failed(result))
    return failure();
  if (isSplitOpen)
    result = joinDims(builder, loc, *result, split);
  if (!isOneDim || result->getType() == type)
    return result;
  return tensor::CastOp::create(builder, loc, type, *result).getResult();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The kind that `body` combines its two arguments with, if it is known.
static std::optional<ReductionKind> recognise(Region &body) {
  Block &block = body.front();
  Operation *terminator = block.getTerminator();
  Operation *op = terminator->getOperand(0).getDefiningOp();
  if (!op || block.getOperations().size() != 2 || op->getNumOperands() != 2 ||
      block.getNumArguments() != 2)
    return std::nullopt;
  Value left = block.getArgument(0), right = block.getArgument(1);
  bool uses = (op->getOperand(0) == left && op->getOperand(1) == right) ||
              (op->getOperand(0) == right && op->getOperand(1) == left);
  if (!uses)
    return std::nullopt;
  Type element = getElementTypeOrSelf(left.getType());
  bool isPredicate = element.isInteger(1),
       isComplex = isa<ComplexType>(element);
  if (isa<stablehlo::AddOp>(op))
    return isPredicate ? ReductionKind::Or : ReductionKind::Sum;
  if (isa<stablehlo::OrOp>(op))
    return ReductionKind::Or;
  if (isa<stablehlo::AndOp>(op))
    return ReductionKind::And;
  if (isa<stablehlo::XorOp>(op))
    return ReductionKind::Xor;
  if (isComplex)
    return std::nullopt;
  if (isa<stablehlo::MulOp>(op))
    return isPredicate ? ReductionKind::And : ReductionKind::Product;
  if (isa<stablehlo::MaxOp>(op))
    return isPredicate ? ReductionKind::Or : ReductionKind::Max;
  if (isa<stablehlo::MinOp>(op))
    return isPredicate ? ReductionKind::And : ReductionKind::Min;
  return std::nullopt;
}

/// What is no known reduction along axes is gathered and combined here, member
/// by member in the order of the group.
FailureOr<Value> CollectiveBuilder::reduce(Region &body, Value local,
                                           ArrayRef<Dim> dims,
                                           const Groups &groups) {
  auto type = cast<RankedTensorType>(local.getType());
  if (groups.size == 1)
    return local;
  std::optional<ReductionKind> kind = recognise(body);
  if (kind && groups.isAxes) {
    Value result =
        AllReduceOp::create(builder, loc, type, local,
                            ReductionKindAttr::get(builder.getContext(), *kind),
                            axisNames(groups.axes), tables.getMeshName(),
                            builder.getStringAttr(reason()));
    return result;
  }
  SmallVector<Dim> raised(dims);
  FailureOr<Value> all = withLeadingDim(local, raised);
  if (failed(all = exchange(*all, raised, 0, ofGroup(groups))))
    return failure();
  // Members are cut alike along the free axes: their blocks have this one's
  // shape.
  SmallVector<OpFoldResult> shape = tensor::getMixedSizes(builder, loc, local),
                            lengths(shape);
  lengths.insert(lengths.begin(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> starts(lengths.size(), builder.getIndexAttr(0)),
      strides(lengths.size(), builder.getIndexAttr(1));
  auto member = [&](int64_t i) -> Value {
    starts[0] = builder.getIndexAttr(i);
    return tensor::ExtractSliceOp::create(builder, loc, type, *all, starts,
                                          lengths, strides);
  };
  auto broadcast = [&](Value scalar, RankedTensorType whole) -> Value {
    SmallVector<Value> extents;
    for (OpFoldResult size : shape)
      extents.push_back(arith::IndexCastOp::create(
          builder, loc, builder.getI64Type(),
          getValueOrCreateConstantIndexOp(builder, loc, size)));
    Value extent = tensor::FromElementsOp::create(builder, loc, extents);
    return stablehlo::DynamicBroadcastInDimOp::create(
        builder, loc, whole, scalar, extent, ArrayRef<int64_t>());
  };
  // What is behind the last member of a smaller group is another's.
  auto isMember = [&](int64_t i) -> Value {
    SmallVector<int64_t> table = llvm::map_to_vector(
        groups.sizes, [&](int64_t size) -> int64_t { return i < size; });
    Value is = getValueOrCreateConstantIndexOp(
        builder, loc, localization.lookup(table, groups.axes));
    Value bit = arith::TruncIOp::create(
        builder, loc, builder.getI1Type(),
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), is));
    return tensor::FromElementsOp::create(
        builder, loc, RankedTensorType::get({}, builder.getI1Type()), bit);
  };
  FailureOr<Value> result = member(0);
  for (int64_t i = 1; i < groups.size && succeeded(result); ++i) {
    Value before = *result;
    result = stablehlo::combineElementwise(builder, op, body, before, member(i),
                                           broadcast);
    if (succeeded(result) &&
        llvm::any_of(groups.sizes, [&](int64_t size) { return i >= size; }))
      result = stablehlo::SelectOp::create(builder, loc, type, isMember(i),
                                           *result, before)
                   .getResult();
  }
  return result;
}

FailureOr<Value>
CollectiveBuilder::reduceScatter(stablehlo::ReduceScatterOp scatter,
                                 Value local, SmallVector<Dim> dims,
                                 const Groups &groups) {
  int64_t cut = scatter.getScatterDimension();
  bool isOpen = dims[cut].own.formula.isOpen();
  if (isOpen)
    local = splitDim(local, dims, cut, groups.size);
  auto type = cast<RankedTensorType>(local.getType());
  SmallVector<DimExchange> exchanges;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    auto &[size, own] = dim;
    IntervalTable kept = own;
    if (static_cast<int64_t>(i) == cut) {
      kept.axes.assign(groups.axes.begin(), groups.axes.end());
      kept.intervals.clear();
      for (int64_t own : groups.place) {
        kept.intervals.push_back(
            {own * size / groups.size, (own + 1) * size / groups.size});
      }
    }
    exchanges.push_back(combineTables(tables, i, own, kept));
  }
  std::optional<ReductionKind> kind = recognise(scatter.getComputation());
  Value result;
  if (!kind || !groups.isAxes || groups.size == 1) {
    FailureOr<Value> whole =
        reduce(scatter.getComputation(), local, dims, groups);
    if (failed(whole))
      return failure();
    result =
        emitExchange(builder, loc, tables, *whole, exchanges, {}, reason());
  } else {
    SmallVector<Attribute> attrs;
    for (const DimExchange &dim : exchanges)
      if (dim.dim == cut || type.isDynamicDim(dim.dim))
        attrs.push_back(DimExchangeAttr::get(builder.getContext(), mesh, dim));
    SmallVector<int64_t> shape(type.getShape());
    shape[cut] = dims[cut].size / groups.size;
    result = spmd::ReduceScatterOp::create(
        builder, loc, type.clone(shape), local,
        ReductionKindAttr::get(builder.getContext(), *kind),
        axisNames(groups.axes), builder.getArrayAttr(attrs),
        tables.getMeshName(), builder.getStringAttr(reason()));
  }
  return isOpen ? joinDims(builder, loc, result, cut) : result;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> CollectiveBuilder::build() {
  SmallVector<Value> results;
  auto forEach = [&](auto &&make) -> FailureOr<SmallVector<Value>> {
    FailureOr<Groups> groups = readGroups();
    if (failed(groups))
      return failure();
    for (auto [i, local] : llvm::enumerate(localization.operands())) {
      FailureOr<Value> result = make(local, dimsOf(i), *groups);
      if (failed(result))
        return failure();
      results.push_back(*result);
    }
    return results;
  };
  if (auto gather = dyn_cast<stablehlo::AllGatherOp>(op))
    return forEach([&](Value local, ArrayRef<Dim> dims, const Groups &groups) {
      return allGather(local, dims, gather.getAllGatherDim(), groups);
    });
  if (auto reduction = dyn_cast<stablehlo::AllReduceOp>(op))
    return forEach([&](Value local, ArrayRef<Dim> dims, const Groups &groups) {
      return reduce(reduction.getComputation(), local, dims, groups);
    });
  if (auto scatter = dyn_cast<stablehlo::ReduceScatterOp>(op))
    return forEach([&](Value local, ArrayRef<Dim> dims, const Groups &groups) {
      return reduceScatter(scatter, local, SmallVector<Dim>(dims), groups);
    });
  if (auto all = dyn_cast<stablehlo::AllToAllOp>(op))
    return forEach([&](Value local, ArrayRef<Dim> dims, const Groups &groups) {
      return allToAll(all, local, SmallVector<Dim>(dims), groups);
    });

  FailureOr<SmallVector<int64_t>> sources = readSources(op, mesh);
  if (failed(sources))
    return failure();
  FailureOr<Value> result =
      permute(localization.operands().front(), dimsOf(0), *sources);
  if (failed(result))
    return failure();
  return SmallVector<Value>{*result};
}

FailureOr<SmallVector<Value>>
shardc::localizeCollective(Operation *op, Localization &localization,
                           RankTables &tables) {
  return CollectiveBuilder(op, localization, tables).build();
}
