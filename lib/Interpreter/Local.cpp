//===- Local.cpp - Ops of the local view, on all ranks in lock step -------===//
//
// What each op means is taken from its description in the dialect; intervals
// are read off attributes as they stand there. Elements that an op leaves
// undefined are poison (NaN, or a number that nobody expects), so that a rank
// that reads them is found.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "Mesh.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

namespace {

/// A mesh of the local view.
struct RankMesh : Mesh {
  explicit RankMesh(spmd::MeshAttr attr) {
    sizes = Shape(attr.getAxisSizes());
    for (StringAttr name : attr.getAxisNames())
      names.push_back(name.getValue());
  }
  static std::optional<RankMesh> of(Evaluator &evaluator, Operation *op, FlatSymbolRefAttr name) {
    auto found = evaluator.lookup<spmd::MeshOp>(op, name);
    return found ? std::optional<RankMesh>(RankMesh(found.getMesh())) : std::nullopt;
  }
  /// The row-major number of the rank's coordinates along `axes`.
  int64_t place(int64_t rank, ArrayRef<StringRef> axes) const {
    int64_t number = 0;
    for (StringRef axis : axes)
      number = number * sizes[indexOf(axis)] + coordinate(rank, indexOf(axis));
    return number;
  }
  /// Whether two ranks differ along `axes` alone.
  bool areGroup(int64_t a, int64_t b, ArrayRef<StringRef> axes) const {
    for (size_t axis = 0; axis < sizes.size(); ++axis)
      if (!llvm::is_contained(axes, names[axis]) && coordinate(a, axis) != coordinate(b, axis))
        return false;
    return true;
  }
  int64_t groupSize(ArrayRef<StringRef> axes) const {
    int64_t size = 1;
    for (size_t axis = 0; axis < sizes.size(); ++axis)
      size *= llvm::is_contained(axes, names[axis]) ? sizes[axis] : 1;
    return size;
  }
};

/// Half-open.
struct Extent {
  int64_t begin, end;
  int64_t size() const { return std::max<int64_t>(end - begin, 0); }
};

/// One dim of an exchange, as its attribute says it.
struct Dim {
  int64_t dim;
  SmallVector<StringRef> axes;
  ArrayRef<int64_t> ownedTable, neededTable;
  Padding padding;

  explicit Dim(spmd::DimExchangeAttr attr)
      : dim(attr.getDim()), ownedTable(attr.getOwned()), neededTable(attr.getNeeded()), padding(attr.getPadding()) {
    for (StringAttr axis : attr.getAxes())
      axes.push_back(axis.getValue());
  }
  Extent owned(const RankMesh &mesh, int64_t rank) const {
    int64_t place = mesh.place(rank, axes);
    return {ownedTable[2 * place], ownedTable[2 * place + 1]};
  }
  Extent needed(const RankMesh &mesh, int64_t rank) const {
    int64_t place = mesh.place(rank, axes);
    return {neededTable[2 * place], neededTable[2 * place + 1]};
  }
  /// Of the whole dim.
  int64_t size() const {
    int64_t end = 0;
    for (size_t i = 1; i < ownedTable.size(); i += 2)
      end = std::max(end, ownedTable[i]);
    return end;
  }
};

} // namespace

static SmallVector<Dim> dimsOf(ArrayAttr attr) {
  SmallVector<Dim> dims;
  for (auto dim : attr.getAsRange<spmd::DimExchangeAttr>())
    dims.push_back(Dim(dim));
  return dims;
}

static SmallVector<StringRef> namesOf(ArrayAttr attr) {
  SmallVector<StringRef> names;
  for (auto name : attr.getAsRange<StringAttr>())
    names.push_back(name.getValue());
  return names;
}

static Element poison(const Format &format) {
  if (format.isInteger())
    return Element::of(format.wrap(0x5a5a5a5a5a5a5a5b));
  double nan = std::numeric_limits<double>::quiet_NaN();
  return Element::of(std::complex<double>(nan, nan));
}

/// The lanes that differ from `lane` along `axes` alone, by rank; an error if
/// some are not here.
static FailureOr<SmallVector<Lane *>> groupOf(Operation *op, const RankMesh &mesh, ArrayRef<StringRef> axes, Lanes lanes,
                                              int64_t rank) {
  SmallVector<Lane *> group;
  for (Lane *lane : lanes)
    if (mesh.areGroup(lane->device, rank, axes))
      group.push_back(lane);
  if (static_cast<int64_t>(group.size()) != mesh.groupSize(axes))
    return op->emitError() << "is reached by " << group.size() << " of the " << mesh.groupSize(axes)
                           << " ranks of a group";
  return group;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

/// The element of a dim of `size` elements that stands at `at`; -1: the fill.
static int64_t sourceOf(int64_t at, int64_t size, Padding padding) {
  if (at >= 0 && at < size)
    return at;
  if (size == 0)
    return -1;
  auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  switch (padding) {
  case Padding::Constant:
    break;
  case Padding::Wrap:
    return modulo(at, size);
  case Padding::Edge:
    return at < 0 ? 0 : size - 1;
  case Padding::Reflect: {
    if (size == 1)
      return 0;
    int64_t turn = modulo(at, 2 * size - 2);
    return turn < size ? turn : 2 * size - 2 - turn;
  }
  case Padding::Symmetric: {
    int64_t turn = modulo(at, 2 * size);
    return turn < size ? turn : 2 * size - 1 - turn;
  }
  }
  return -1;
}

/// What rank `lane` is given of `input` (each rank's own, by its value).
static FailureOr<Array> receive(Operation *op, const RankMesh &mesh, ArrayRef<Dim> dims, Value input, Lanes group,
                                int64_t rank, Element fill, ArrayAttr parts) {
  auto mine = llvm::find_if(group, [&](Lane *lane) { return lane->device == rank; });
  const Array &own = (*mine)->values.lookup(input);
  Shape shape(own.shape()), begins(own.rank(), 0);
  for (const Dim &dim : dims) {
    Extent needed = dim.needed(mesh, rank), owned = dim.owned(mesh, rank);
    if (owned.size() != own.dim(dim.dim))
      return op->emitError() << "says that rank " << rank << " owns " << owned.size() << " elements of dim " << dim.dim
                             << ", it has " << own.dim(dim.dim);
    shape[dim.dim] = needed.size();
    begins[dim.dim] = needed.begin;
  }
  Array result(own.format(), shape);
  bool isFailed = false;
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t place = next++;
    if (isFailed)
      return;
    // Only the parts arrive, if there are any.
    bool arrives = !parts || parts.empty();
    if (parts)
      for (auto part : parts.getAsRange<spmd::ExchangePartAttr>()) {
        bool isInside = true;
        for (auto [dim, table] : llvm::zip_equal(dims, part.getDims())) {
          int64_t at = begins[dim.dim] + index[dim.dim], which = mesh.place(rank, dim.axes);
          isInside &= table[2 * which] <= at && at < table[2 * which + 1];
        }
        arrives |= isInside;
      }
    if (!arrives) {
      result.set(place) = poison(own.format());
      return;
    }
    Shape global(index);
    for (const Dim &dim : dims) {
      global[dim.dim] = sourceOf(begins[dim.dim] + index[dim.dim], dim.size(), dim.padding);
      if (global[dim.dim] < 0) {
        result.set(place) = fill;
        return;
      }
    }
    for (Lane *lane : group) {
      Shape from(global);
      bool owns = true;
      for (const Dim &dim : dims) {
        Extent owned = dim.owned(mesh, lane->device);
        owns &= owned.begin <= global[dim.dim] && global[dim.dim] < owned.end;
        from[dim.dim] -= owned.begin;
      }
      if (!owns)
        continue;
      result.set(place) = lane->values.lookup(input).at(from);
      return;
    }
    op->emitError() << "gives rank " << rank << " an element that nobody owns";
    isFailed = true;
  });
  if (isFailed)
    return failure();
  return result;
}

static LogicalResult exchange(Evaluator &evaluator, Operation *op, FlatSymbolRefAttr on, ArrayAttr dimsAttr, Value input,
                              Value fill, ArrayAttr parts, Lanes lanes) {
  std::optional<RankMesh> mesh = RankMesh::of(evaluator, op, on);
  if (!mesh)
    return Evaluator::unknown(op, "an exchange on an unknown mesh");
  SmallVector<Dim> dims = dimsOf(dimsAttr);
  SmallVector<StringRef> axes;
  for (const Dim &dim : dims)
    axes.append(dim.axes);
  std::vector<Array> received;
  for (Lane *lane : lanes) {
    FailureOr<SmallVector<Lane *>> group = groupOf(op, *mesh, axes, lanes, lane->device);
    if (failed(group))
      return failure();
    // Without a fill what is there is nobody's business.
    Element outside = fill ? lane->values.lookup(fill)[0] : poison(lane->values.lookup(input).format());
    FailureOr<Array> array = receive(op, *mesh, dims, input, *group, lane->device, outside, parts);
    if (failed(array) || failed(evaluator.spend(op, array->size())))
      return failure();
    received.push_back(*array);
  }
  for (auto [lane, array] : llvm::zip_equal(lanes, received))
    Evaluator::bind(op->getResults(), *lane, array);
  return success();
}

template <typename OpT> static LogicalResult runExchange(Evaluator &evaluator, OpT op, Lanes lanes) {
  return exchange(evaluator, op, op.getMeshAttr(), op.getDimsAttr(), op.getInput(), op.getFill(),
                  op.getPartsAttr() ? op.getPartsAttr() : ArrayAttr(), lanes);
}

static FailureOr<Values> startExchange(Evaluator &, spmd::ExchangeStartOp op, ArrayRef<Array>) {
  return Values{Array::scalar({Format::Integer, 64, true, nullptr}, Element::of(int64_t(0)))};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static StringRef opOfKind(spmd::ReductionKind kind) {
  switch (kind) {
  case spmd::ReductionKind::Sum: return "stablehlo.add";
  case spmd::ReductionKind::Product: return "stablehlo.multiply";
  case spmd::ReductionKind::Min: return "stablehlo.minimum";
  case spmd::ReductionKind::Max: return "stablehlo.maximum";
  case spmd::ReductionKind::And: return "stablehlo.and";
  case spmd::ReductionKind::Or: return "stablehlo.or";
  case spmd::ReductionKind::Xor: return "stablehlo.xor";
  }
  return "";
}

/// All partial values of the group as one; sums of floats rounded at the end.
static FailureOr<Array> combineGroup(Evaluator &evaluator, Operation *op, spmd::ReductionKind kind, Value input,
                                     Lanes group) {
  Binary function = evaluator.table.binary.lookup(opOfKind(kind));
  Array result = group.front()->values.lookup(input);
  Format format = result.format();
  if (kind == spmd::ReductionKind::Sum && !format.isInteger())
    format.semantics = &llvm::APFloat::IEEEdouble();
  for (Lane *lane : group.drop_front()) {
    const Array &other = lane->values.lookup(input);
    if (other.shape() != result.shape())
      return op->emitError() << "combines values of different shapes";
    for (int64_t i = 0; i < result.size(); ++i)
      result.set(i) = function(format, result[i], other[i]);
  }
  for (int64_t i = 0; i < result.size(); ++i)
    if (result.format().isFloat())
      result.put(i, result[i].real);
    else if (result.format().isComplex())
      result.put(i, result[i].complex());
  return result;
}

static LogicalResult runAllReduce(Evaluator &evaluator, spmd::AllReduceOp op, Lanes lanes) {
  std::optional<RankMesh> mesh = RankMesh::of(evaluator, op, op.getMeshAttr());
  SmallVector<StringRef> axes = namesOf(op.getAxes());
  std::vector<Array> results;
  for (Lane *lane : lanes) {
    FailureOr<SmallVector<Lane *>> group = groupOf(op, *mesh, axes, lanes, lane->device);
    if (failed(group))
      return failure();
    FailureOr<Array> result = combineGroup(evaluator, op, op.getKind(), op.getInput(), *group);
    if (failed(result) || failed(evaluator.spend(op, result->size())))
      return failure();
    results.push_back(*result);
  }
  for (auto [lane, result] : llvm::zip_equal(lanes, results))
    Evaluator::bind(op->getResults(), *lane, result);
  return success();
}

static LogicalResult runReduceScatter(Evaluator &evaluator, spmd::ReduceScatterOp op, Lanes lanes) {
  std::optional<RankMesh> mesh = RankMesh::of(evaluator, op, op.getMeshAttr());
  SmallVector<StringRef> axes = namesOf(op.getAxes());
  SmallVector<Dim> dims = dimsOf(op.getDims());
  std::vector<Array> results;
  for (Lane *lane : lanes) {
    FailureOr<SmallVector<Lane *>> group = groupOf(op, *mesh, axes, lanes, lane->device);
    if (failed(group))
      return failure();
    FailureOr<Array> whole = combineGroup(evaluator, op, op.getKind(), op.getInput(), *group);
    if (failed(whole) || failed(evaluator.spend(op, whole->size())))
      return failure();
    Shape starts(whole->rank(), 0), box(whole->shape());
    for (const Dim &dim : dims) {
      Extent owned = dim.owned(*mesh, lane->device), needed = dim.needed(*mesh, lane->device);
      starts[dim.dim] = needed.begin - owned.begin;
      box[dim.dim] = needed.size();
      if (box[dim.dim] != 0 && (starts[dim.dim] < 0 || needed.end > owned.end))
        return op->emitError() << "keeps what it has not combined";
    }
    results.push_back(whole->slice(starts, box));
  }
  for (auto [lane, result] : llvm::zip_equal(lanes, results))
    Evaluator::bind(op->getResults(), *lane, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Rows by index
//===----------------------------------------------------------------------===//

namespace {
/// The plan of the lanes' indices: for each of a rank's positions, the global
/// starts of its slice along the addressed dims.
struct RowPlan {
  spmd::RowPlanOp op;
  RankMesh mesh;
  SmallVector<Dim> rows, batch;
};
} // namespace

static FailureOr<Values> planRows(Evaluator &, spmd::RowPlanOp op, ArrayRef<Array>) {
  return Values{Array::scalar({Format::Integer, 64, true, nullptr}, Element::of(int64_t(0)))};
}

/// The global index along addressed dim `d` of the element that batch position
/// `batch` (local to `lane`) and `offset` in its slice name; unclamped start.
static int64_t startOf(const RowPlan &plan, const Lane &lane, size_t d, ArrayRef<int64_t> batch) {
  spmd::RowPlanOp op = plan.op;
  const Array &indices = lane.values.lookup(op.getIndices());
  int64_t component = op.getComponents()[d], vector = op.getVectorDim();
  if (component < 0) {
    // The position along a batch dim itself: its global one.
    int64_t dim = -1 - component, position = batch[dim];
    for (const Dim &cut : plan.batch)
      if (cut.dim == dim)
        position += cut.owned(plan.mesh, lane.device).begin;
    return position;
  }
  Shape at;
  size_t next = 0;
  for (int64_t dim = 0; dim < indices.rank(); ++dim)
    at.push_back(dim == vector ? component : batch[next++]);
  int64_t value = indices.at(at).integer;
  return !indices.format().isSigned && value < 0 ? std::numeric_limits<int64_t>::max() / 2 : value;
}

static Shape batchShapeOf(const RowPlan &plan, const Lane &lane) {
  spmd::RowPlanOp op = plan.op;
  const Array &indices = lane.values.lookup(op.getIndices());
  Shape shape;
  for (int64_t dim = 0; dim < indices.rank(); ++dim)
    if (dim != op.getVectorDim())
      shape.push_back(indices.dim(dim));
  return shape;
}

/// Dims of slices that stay in gathered rows and in updates.
static SmallVector<size_t> keptSlices(spmd::RowPlanOp op) {
  SmallVector<size_t> kept;
  for (auto [d, size] : llvm::enumerate(op.getSlices()))
    if (size != 1)
      kept.push_back(d);
  return kept;
}

static FailureOr<RowPlan> planOf(Evaluator &evaluator, Operation *op, Value plan) {
  auto made = plan.getDefiningOp<spmd::RowPlanOp>();
  std::optional<RankMesh> mesh = made ? RankMesh::of(evaluator, made, made.getMeshAttr()) : std::nullopt;
  if (!mesh)
    return Evaluator::unknown(op, "rows by a plan that was handed on");
  return RowPlan{made, *mesh, dimsOf(made.getRows()), dimsOf(made.getDims())};
}

static LogicalResult runGatherRows(Evaluator &evaluator, spmd::GatherRowsOp op, Lanes lanes) {
  FailureOr<RowPlan> plan = planOf(evaluator, op, op.getPlan());
  if (failed(plan))
    return failure();
  SmallVector<Dim> dims = dimsOf(op.getDims());
  SmallVector<StringRef> axes;
  for (const Dim &dim : dims)
    axes.append(dim.axes);
  size_t addressed = plan->op.getComponents().size(), first = op.getFirst();
  SmallVector<size_t> kept = keptSlices(plan->op);
  std::vector<Array> results;
  for (Lane *lane : lanes) {
    FailureOr<SmallVector<Lane *>> group = groupOf(op, plan->mesh, axes, lanes, lane->device);
    if (failed(group))
      return failure();
    const Array &own = lane->values.lookup(op.getOperand());
    Shape batch = batchShapeOf(*plan, *lane), shape(own.shape().take_front(first));
    shape.append(batch.begin(), batch.end());
    Shape partBegin(addressed, 0);
    for (size_t d = 0; d < addressed; ++d) {
      for (const Dim &row : plan->rows)
        if (row.dim == static_cast<int64_t>(d))
          partBegin[d] = row.needed(plan->mesh, lane->device).begin;
    }
    for (size_t d : kept) {
      int64_t size = plan->op.getSlices()[d];
      for (const Dim &row : plan->rows)
        if (row.dim == static_cast<int64_t>(d))
          size = row.needed(plan->mesh, lane->device).size();
      shape.push_back(size);
    }
    llvm::append_range(shape, own.shape().drop_front(first + addressed));
    Array result(own.format(), shape);
    bool isFailed = false;
    int64_t next = 0;
    forEachIndex(shape, [&](ArrayRef<int64_t> index) {
      int64_t place = next++;
      Shape global(own.rank());
      for (size_t d = 0; d < first; ++d)
        global[d] = index[d];
      ArrayRef<int64_t> position = index.slice(first, batch.size());
      for (size_t d = 0; d < addressed; ++d) {
        int64_t whole = own.dim(first + d);
        for (const Dim &row : plan->rows)
          if (row.dim == static_cast<int64_t>(d))
            whole = row.size();
        int64_t start = std::clamp<int64_t>(startOf(*plan, *lane, d, position), 0, whole - plan->op.getSlices()[d]);
        global[first + d] = start + partBegin[d];
      }
      for (auto [k, d] : llvm::enumerate(kept))
        global[first + d] += index[first + batch.size() + k];
      size_t rest = first + batch.size() + kept.size();
      for (int64_t d = first + addressed; d < own.rank(); ++d)
        global[d] = index[rest++];
      for (const Dim &dim : dims)
        // Dims that are not addressed are the rank's own.
        if (dim.dim < static_cast<int64_t>(first) || dim.dim >= static_cast<int64_t>(first + addressed))
          global[dim.dim] += dim.owned(plan->mesh, lane->device).begin;
      for (Lane *owner : *group) {
        Shape from(global);
        bool owns = true;
        for (const Dim &dim : dims) {
          Extent owned = dim.owned(plan->mesh, owner->device);
          owns &= owned.begin <= global[dim.dim] && global[dim.dim] < owned.end;
          from[dim.dim] -= owned.begin;
        }
        if (!owns)
          continue;
        result.set(place) = owner->values.lookup(op.getOperand()).at(from);
        return;
      }
      isFailed = true;
    });
    if (isFailed)
      return op->emitError() << "asks for a row that nobody owns";
    if (failed(evaluator.spend(op, result.size())))
      return failure();
    results.push_back(result);
  }
  for (auto [lane, result] : llvm::zip_equal(lanes, results))
    Evaluator::bind(op->getResults(), *lane, result);
  return success();
}

//===----------------------------------------------------------------------===//
// On one rank
//===----------------------------------------------------------------------===//

static Format indexFormat() { return {Format::Integer, 64, true, nullptr}; }

static FailureOr<Values> lookUp(Evaluator &evaluator, spmd::LookupOp op, ArrayRef<Array>) {
  std::optional<RankMesh> mesh = RankMesh::of(evaluator, op, op.getMeshAttr());
  int64_t place = mesh->place(evaluator.current->device, namesOf(op.getAxes()));
  return Values{Array::scalar(indexFormat(), Element::of(op.getTable()[place]))};
}

static FailureOr<Values> dilate(Evaluator &, spmd::DilateOp op, ArrayRef<Array> in) {
  int64_t dim = op.getDim(), factor = op.getFactor(), first = in[1].integer(), size = in[2].integer();
  Shape shape(in[0].shape());
  shape[dim] = size;
  Array result(in[0].format(), shape);
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Shape from(index);
    int64_t offset = index[dim] - first;
    bool isElement = offset >= 0 && offset % factor == 0 && offset / factor < in[0].dim(dim);
    from[dim] = isElement ? offset / factor : 0;
    result.set(next++) = isElement ? in[0].at(from) : in[3][0];
  });
  return Values{result};
}

static FailureOr<Values> padWhole(Evaluator &, spmd::PadOp op, ArrayRef<Array> in) {
  Shape shape;
  for (int64_t d = 0; d < in[0].rank(); ++d)
    shape.push_back(in[0].dim(d) + op.getLow()[d] + op.getHigh()[d]);
  auto padding = static_cast<Padding>(op.getMode());
  Array result(in[0].format(), shape);
  int64_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Shape from(index);
    for (int64_t d = 0; d < in[0].rank(); ++d)
      from[d] = sourceOf(index[d] - op.getLow()[d], in[0].dim(d), padding);
    result.set(next++) = in[0].at(from);
  });
  return Values{result};
}

static FailureOr<Values> accumulate(Evaluator &evaluator, spmd::AccumulateOp op, ArrayRef<Array> in) {
  Binary add = evaluator.table.binary.lookup("stablehlo.add");
  Array result(in[0].format(), in[0].shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.set(i) = add(result.format(), in[0][i], in[1][i]);
  return Values{result};
}

/// The number of each of `mixed`, of which operands are the next of `in`.
static Shape numbersOf(ArrayRef<int64_t> mixed, ArrayRef<Array> in, size_t &next) {
  Shape numbers;
  for (int64_t number : mixed)
    numbers.push_back(ShapedType::isDynamic(number) ? in[next++].integer() : number);
  return numbers;
}

/// The shape that `type` says, its open sizes taken in order from the dims of `actual` that are not dropped.
static Shape reducedShape(RankedTensorType type, ArrayRef<int64_t> actual) {
  Shape shape;
  size_t from = 0;
  for (int64_t size : type.getShape()) {
    int64_t left = type.getRank() - shape.size();
    // Dims of one are dropped where the type has fewer.
    while (from + left < actual.size() && actual[from] == 1 && size != 1)
      ++from;
    shape.push_back(actual[from++]);
  }
  return shape;
}

static FailureOr<Values> extractSlice(Evaluator &, tensor::ExtractSliceOp op, ArrayRef<Array> in) {
  size_t next = 1;
  Shape offsets = numbersOf(op.getStaticOffsets(), in, next), sizes = numbersOf(op.getStaticSizes(), in, next),
        strides = numbersOf(op.getStaticStrides(), in, next);
  for (int64_t d = 0; d < in[0].rank(); ++d)
    if (sizes[d] > 0 && (offsets[d] < 0 || offsets[d] + (sizes[d] - 1) * strides[d] >= in[0].dim(d)))
      return op.emitError() << "reads outside of its operand in dim " << d << ": " << sizes[d] << " from " << offsets[d]
                            << " on, of " << in[0].dim(d);
  Array part = in[0].slice(offsets, sizes, strides);
  return Values{part.reshaped(reducedShape(op.getType(), sizes))};
}

static FailureOr<Values> insertSlice(Evaluator &, tensor::InsertSliceOp op, ArrayRef<Array> in) {
  size_t next = 2;
  Shape offsets = numbersOf(op.getStaticOffsets(), in, next), sizes = numbersOf(op.getStaticSizes(), in, next),
        strides = numbersOf(op.getStaticStrides(), in, next);
  if (llvm::any_of(strides, [](int64_t stride) { return stride != 1; }))
    return Evaluator::unknown(op, "a slice with strides that is put in");
  for (int64_t d = 0; d < in[1].rank(); ++d)
    if (sizes[d] > 0 && (offsets[d] < 0 || offsets[d] + sizes[d] > in[1].dim(d)))
      return op.emitError() << "writes outside of its operand in dim " << d;
  Array result = in[1];
  result.write(in[0].reshaped(sizes), offsets);
  return Values{result};
}

static FailureOr<Values> padTensor(Evaluator &evaluator, tensor::PadOp op, ArrayRef<Array> in) {
  size_t next = 1;
  Shape low = numbersOf(op.getStaticLow(), in, next), high = numbersOf(op.getStaticHigh(), in, next), shape;
  Values zeros(in[0].rank(), Array::scalar(indexFormat(), Element::of(int64_t(0))));
  FailureOr<Values> value = evaluator.apply(op.getRegion(), zeros);
  if (failed(value))
    return failure();
  for (int64_t d = 0; d < in[0].rank(); ++d) {
    if (low[d] < 0 || high[d] < 0)
      return op.emitError() << "pads by a negative amount";
    shape.push_back(low[d] + in[0].dim(d) + high[d]);
  }
  Array result(in[0].format(), shape);
  result.fill((*value)[0][0]);
  result.write(in[0], low);
  return Values{result};
}

static FailureOr<Values> concatenate(Evaluator &, tensor::ConcatOp op, ArrayRef<Array> in) {
  return Values{Array::joined(in, op.getDim())};
}

static FailureOr<Values> expandShape(Evaluator &, tensor::ExpandShapeOp op, ArrayRef<Array> in) {
  size_t next = 1;
  return Values{in[0].reshaped(numbersOf(op.getStaticOutputShape(), in, next))};
}

static FailureOr<Values> collapseShape(Evaluator &, tensor::CollapseShapeOp op, ArrayRef<Array> in) {
  Shape shape;
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    int64_t size = 1;
    for (int64_t dim : group)
      size *= in[0].dim(dim);
    shape.push_back(size);
  }
  return Values{in[0].reshaped(shape)};
}

static FailureOr<Values> fromElements(Evaluator &, tensor::FromElementsOp op, ArrayRef<Array> in) {
  Array result(formatOf(op.getResult()), op.getType().getShape());
  for (auto [i, element] : llvm::enumerate(in))
    result.set(i) = element[0];
  return Values{result};
}

/// Whoever reads it before it is written is found.
static FailureOr<Values> empty(Evaluator &, tensor::EmptyOp op, ArrayRef<Array> in) {
  size_t next = 0;
  Array result(formatOf(op.getResult()), numbersOf(op.getType().getShape(), in, next));
  result.fill(poison(result.format()));
  return Values{result};
}

static FailureOr<Values> extractElement(Evaluator &, tensor::ExtractOp op, ArrayRef<Array> in) {
  Shape at;
  for (auto [d, index] : llvm::enumerate(in.drop_front())) {
    at.push_back(index.integer());
    if (at.back() < 0 || at.back() >= in[0].dim(d))
      return op.emitError() << "reads element " << at.back() << " of " << in[0].dim(d);
  }
  return Values{Array::scalar(in[0].format(), in[0].at(at))};
}

static FailureOr<Values> dimOf(Evaluator &, tensor::DimOp op, ArrayRef<Array> in) {
  return Values{Array::scalar(indexFormat(), Element::of(in[0].dim(in[1].integer())))};
}

static FailureOr<Values> forward(Evaluator &, Operation *op, ArrayRef<Array> in) { return Values{in[0]}; }

static FailureOr<Values> constant(Evaluator &, arith::ConstantOp op, ArrayRef<Array>) {
  if (auto elements = dyn_cast<ElementsAttr>(op.getValue()))
    if (std::optional<Array> array = Array::read(elements))
      return Values{*array};
  Format format = formatOf(op.getResult());
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    return Values{Array::scalar(format, Element::of(format.wrap(integer.getValue().getSExtValue())))};
  if (auto real = dyn_cast<FloatAttr>(op.getValue()))
    return Values{Array::scalar(format, Element::of(real.getValueAsDouble()))};
  return Evaluator::unknown(op, "a constant of this kind");
}

/// Between integers of any width, and indices.
static FailureOr<Values> castInteger(Evaluator &, Operation *op, ArrayRef<Array> in) {
  Format format = formatOf(op->getResult(0));
  Array result(format, in[0].shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.put(i, in[0][i].integer);
  return Values{result};
}

template <int64_t (*function)(int64_t, int64_t)>
static FailureOr<Values> onIntegers(Evaluator &, Operation *op, ArrayRef<Array> in) {
  Format format = formatOf(op->getResult(0));
  Array result(format, in[0].shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.put(i, function(in[0][i].integer, in[1][i].integer));
  return Values{result};
}

static int64_t plus(int64_t a, int64_t b) { return a + b; }
static int64_t minus(int64_t a, int64_t b) { return a - b; }
static int64_t times(int64_t a, int64_t b) { return a * b; }
static int64_t over(int64_t a, int64_t b) { return b == 0 ? 0 : a / b; }
static int64_t modulo(int64_t a, int64_t b) { return b == 0 ? 0 : a % b; }
static int64_t least(int64_t a, int64_t b) { return std::min(a, b); }
static int64_t most(int64_t a, int64_t b) { return std::max(a, b); }
static int64_t bothBits(int64_t a, int64_t b) { return a & b; }
static int64_t anyBits(int64_t a, int64_t b) { return a | b; }
static int64_t ceilOver(int64_t a, int64_t b) { return b == 0 ? 0 : a / b + (a % b != 0 && (a < 0) == (b < 0)); }
static int64_t floorOver(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static FailureOr<Values> compareIntegers(Evaluator &, arith::CmpIOp op, ArrayRef<Array> in) {
  int64_t a = in[0].integer(), b = in[1].integer();
  uint64_t x = a, y = b;
  bool holds = false;
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::eq: holds = a == b; break;
  case arith::CmpIPredicate::ne: holds = a != b; break;
  case arith::CmpIPredicate::slt: holds = a < b; break;
  case arith::CmpIPredicate::sle: holds = a <= b; break;
  case arith::CmpIPredicate::sgt: holds = a > b; break;
  case arith::CmpIPredicate::sge: holds = a >= b; break;
  case arith::CmpIPredicate::ult: holds = x < y; break;
  case arith::CmpIPredicate::ule: holds = x <= y; break;
  case arith::CmpIPredicate::ugt: holds = x > y; break;
  case arith::CmpIPredicate::uge: holds = x >= y; break;
  }
  return Values{Array::scalar(Format::boolean(), Element::of(int64_t(holds)))};
}

static FailureOr<Values> selectOne(Evaluator &, arith::SelectOp op, ArrayRef<Array> in) {
  if (in[0].rank() != 0)
    return Evaluator::unknown(op, "a choice element by element");
  return Values{in[0].integer() != 0 ? in[1] : in[2]};
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The part of a dim of `size` elements that `rank` owns.
static Extent partOf(const RankMesh &mesh, spmd::DimShardingAttr dim, int64_t size, int64_t rank) {
  SmallVector<StringRef> axes;
  for (StringAttr axis : dim.getAxes())
    axes.push_back(axis.getValue());
  int64_t place = mesh.place(rank, axes), count = mesh.groupSize(axes), begin = 0;
  if (axes.empty())
    return {0, size};
  auto sizeOf = [&](int64_t i) {
    if (DenseI64ArrayAttr sizes = dim.getSizes())
      return sizes.asArrayRef()[i];
    // Balanced: the first ones have one more.
    return size / count + (i < size % count ? 1 : 0);
  };
  for (int64_t i = 0; i < place; ++i)
    begin += sizeOf(i);
  return {begin, begin + sizeOf(place)};
}

namespace {
/// Where a whole value lies.
struct Placement {
  const RankMesh &mesh;
  spmd::ShardingAttr sharding;
  RankedTensorType type;

  void boxOf(int64_t rank, Shape &starts, Shape &box) const {
    starts.clear();
    box.clear();
    for (auto [dim, size] : llvm::zip_equal(sharding.getDims(), type.getShape())) {
      Extent part = partOf(mesh, dim, size, rank);
      starts.push_back(part.begin);
      box.push_back(part.size());
    }
  }
};
} // namespace

FailureOr<Outcome> shardc::interpreter::interpretLocal(ModuleOp module, ArrayRef<Array> arguments,
                                                       const Options &options) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  auto meshes = module.getOps<spmd::MeshOp>();
  if (!main || meshes.empty() || !main->hasAttr("spmd.local_view"))
    return module.emitError() << "is no local view: it has no function @main with 'spmd.local_view', or no mesh";
  RankMesh mesh((*meshes.begin()).getMesh());
  auto placementOf = [&](DictionaryAttr attrs) -> std::optional<Placement> {
    auto type = attrs ? attrs.getAs<TypeAttr>("spmd.global_type") : TypeAttr();
    auto sharding = attrs ? attrs.getAs<spmd::ShardingAttr>("spmd.sharding") : spmd::ShardingAttr();
    if (!type || !sharding || !isa<RankedTensorType>(type.getValue()))
      return std::nullopt;
    return Placement{mesh, sharding, cast<RankedTensorType>(type.getValue())};
  };
  if (main.getNumArguments() != arguments.size())
    return main.emitError() << "has " << main.getNumArguments() << " arguments, but " << arguments.size()
                            << " arrays are given";
  Evaluator evaluator(module, options);
  std::vector<std::unique_ptr<Lane>> made;
  SmallVector<Lane *> lanes;
  std::vector<Values> values, yielded;
  Shape starts, box;
  for (int64_t rank = 0, e = countElements(mesh.sizes); rank < e; ++rank) {
    made.push_back(std::make_unique<Lane>());
    lanes.push_back(made.back().get());
    lanes.back()->device = rank;
    Values &mine = values.emplace_back();
    for (auto [i, whole] : llvm::enumerate(arguments)) {
      std::optional<Placement> placement = placementOf(main.getArgAttrDict(i));
      if (!placement || placement->type.getShape() != whole.shape())
        return main.emitError() << "does not say where argument " << i << " lies, or it has another shape";
      placement->boxOf(rank, starts, box);
      Array part = whole.slice(starts, box);
      // What is to be combined the first along the axes has, the others what
      // changes nothing.
      for (spmd::PartialAxisAttr partial : placement->sharding.getPartial())
        if (mesh.coordinate(rank, mesh.indexOf(partial.getAxis().getValue())) != 0) {
          if (partial.getKind() == spmd::ReductionKind::Sum)
            part = Array(part.format(), part.shape());
          else if (partial.getKind() != spmd::ReductionKind::Max && partial.getKind() != spmd::ReductionKind::Min)
            return Evaluator::unknown(main, "an argument that is partial by such a kind");
        }
      mine.push_back(part);
    }
  }
  if (failed(evaluator.run(main.getBody(), lanes, values, yielded)))
    return failure();
  for (unsigned r = 0; r < main.getNumResults(); ++r) {
    std::optional<Placement> placement = placementOf(main.getResultAttrDict(r));
    if (!placement)
      return main.emitError() << "does not say where result " << r << " lies";
    std::optional<Format> format = Format::of(placement->type.getElementType());
    Array whole(*format, placement->type.getShape());
    std::vector<char> isThere(whole.size(), 0);
    for (size_t rank = 0; rank < lanes.size(); ++rank) {
      const Array &part = yielded[rank][r];
      placement->boxOf(rank, starts, box);
      if (part.shape() != ArrayRef<int64_t>(box))
        return main.emitError() << "has another shape of result " << r << " on rank " << rank << " than its sharding says";
      int64_t next = 0;
      bool disagrees = false;
      forEachIndex(box, [&](ArrayRef<int64_t> index) {
        Shape at(index);
        for (size_t d = 0; d < at.size(); ++d)
          at[d] += starts[d];
        int64_t place = whole.flat(at);
        const Element &element = part[next++];
        if (isThere[place]) {
          const Element &other = whole[place];
          bool isSame = format->isInteger() ? other.integer == element.integer
                                            : (other.real == element.real && other.imag == element.imag) ||
                                                  (std::isnan(other.real) && std::isnan(element.real));
          disagrees |= !isSame;
          return;
        }
        isThere[place] = 1;
        whole.set(place) = element;
      });
      if (disagrees)
        return main.emitError() << "gives rank " << rank << " other elements of result " << r
                                << " than a rank with the same box";
    }
    evaluator.outcome.results.push_back(whole);
    evaluator.outcome.resultTypes.push_back(placement->type);
  }
  return std::move(evaluator.outcome);
}

void shardc::interpreter::addLocal(Table &table) {
  table.addLockstep<spmd::HaloExchangeOp>(runExchange<spmd::HaloExchangeOp>);
  table.addLockstep<spmd::RebalanceOp>(runExchange<spmd::RebalanceOp>);
  table.addLockstep<spmd::AllGatherOp>(runExchange<spmd::AllGatherOp>);
  table.addLockstep<spmd::AllToAllOp>(runExchange<spmd::AllToAllOp>);
  table.addLockstep<spmd::ExchangeWaitOp>(runExchange<spmd::ExchangeWaitOp>);
  table.add<spmd::ExchangeStartOp>(startExchange);
  table.addLockstep<spmd::AllReduceOp>(runAllReduce);
  table.addLockstep<spmd::ReduceScatterOp>(runReduceScatter);
  table.add<spmd::RowPlanOp>(planRows);
  table.addLockstep<spmd::GatherRowsOp>(runGatherRows);
  table.add<spmd::LookupOp>(lookUp);
  table.add<spmd::DilateOp>(dilate);
  table.add<spmd::PadOp>(padWhole);
  table.add<spmd::AccumulateOp>(accumulate);
  table.add<tensor::ExtractSliceOp>(extractSlice);
  table.add<tensor::InsertSliceOp>(insertSlice);
  table.add<tensor::PadOp>(padTensor);
  table.add<tensor::ConcatOp>(concatenate);
  table.add<tensor::ExpandShapeOp>(expandShape);
  table.add<tensor::CollapseShapeOp>(collapseShape);
  table.add<tensor::FromElementsOp>(fromElements);
  table.add<tensor::ExtractOp>(extractElement);
  table.add<tensor::DimOp>(dimOf);
  table.add<tensor::EmptyOp>(empty);
  table.handlers["tensor.cast"] = forward;
  table.add<arith::ConstantOp>(constant);
  table.add<arith::CmpIOp>(compareIntegers);
  table.add<arith::SelectOp>(selectOne);
  table.handlers["arith.index_cast"] = table.handlers["arith.extsi"] = table.handlers["arith.trunci"] = castInteger;
  table.handlers["arith.addi"] = onIntegers<plus>;
  table.handlers["arith.subi"] = onIntegers<minus>;
  table.handlers["arith.muli"] = onIntegers<times>;
  table.handlers["arith.divsi"] = table.handlers["arith.divui"] = onIntegers<over>;
  table.handlers["arith.ceildivsi"] = table.handlers["arith.ceildivui"] = onIntegers<ceilOver>;
  table.handlers["arith.floordivsi"] = onIntegers<floorOver>;
  table.handlers["arith.remsi"] = table.handlers["arith.remui"] = onIntegers<modulo>;
  table.handlers["arith.minsi"] = table.handlers["arith.minui"] = onIntegers<least>;
  table.handlers["arith.maxsi"] = table.handlers["arith.maxui"] = onIntegers<most>;
  table.handlers["arith.andi"] = onIntegers<bothBits>;
  table.handlers["arith.ori"] = onIntegers<anyBits>;
}
