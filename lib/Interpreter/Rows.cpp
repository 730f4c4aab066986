//===- Rows.cpp - Rows of other ranks, by index ---------------------------===//
#include "Evaluator.h"
#include "Ranks.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include <algorithm>
#include <limits>
#include <tuple>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

namespace {
/// The plan of the lanes' indices: for each of a rank's positions, the global
/// starts of its slice along the addressed dims.
struct RowPlan {
  spmd::RowPlanOp op;
  RankMesh mesh;
  SmallVector<Dim> rows, batch;
};
} // namespace

static FailureOr<Values> planRows(Evaluator &, spmd::RowPlanOp op,
                                  ArrayRef<Array>) {
  return Values{Array::scalar({Format::Integer, 64, true, nullptr},
                              Element::of(int64_t(0)))};
}

/// The global index along addressed dim `d` of the element that batch position
/// `batch` (local to `lane`) and `offset` in its slice name; unclamped start.
static int64_t startOf(const RowPlan &plan, const Lane &lane, size_t d,
                       ArrayRef<int64_t> batch) {
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
  return !indices.format().isSigned && value < 0
             ? std::numeric_limits<int64_t>::max() / 2
             : value;
}

static Shape batchShapeOf(const RowPlan &plan, const Lane &lane) {
  spmd::RowPlanOp op = plan.op;
  const Array &indices = lane.values.lookup(op.getIndices());
  int64_t vector = op.getVectorDim();
  Shape shape;
  for (int64_t dim = 0; dim < indices.rank(); ++dim)
    if (dim != vector)
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

/// The shape of the rows that `plan` gives `lane`, of a tensor of shape `whole`
/// whose addressed dims begin with `first`.
static Shape shapeOfRows(const RowPlan &plan, const Lane &lane,
                         ArrayRef<int64_t> whole, size_t first) {
  spmd::RowPlanOp op = plan.op;
  Shape shape(whole.take_front(first));
  llvm::append_range(shape, batchShapeOf(plan, lane));
  for (size_t d : keptSlices(op)) {
    int64_t size = op.getSlices()[d];
    for (const Dim &row : plan.rows)
      if (row.dim == static_cast<int64_t>(d))
        size = row.needed(plan.mesh, lane.device).size();
    shape.push_back(size);
  }
  llvm::append_range(shape,
                     whole.drop_front(first + op.getComponents().size()));
  return shape;
}

/// Whether an array of this shape has an element at `index`.
static bool isWithin(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip_equal(index, shape), [](auto it) {
    auto [at, size] = it;
    return 0 <= at && at < size;
  });
}

/// Of `dims`, those that are not addressed: the rank's own.
static SmallVector<Dim> othersOf(ArrayRef<Dim> dims, size_t first,
                                 size_t addressed) {
  SmallVector<Dim> others;
  for (const Dim &dim : dims)
    if (dim.dim < static_cast<int64_t>(first) ||
        dim.dim >= static_cast<int64_t>(first + addressed))
      others.push_back(dim);
  return others;
}

/// Turns global indices along the addressed dims into those of `owner`, as the
/// plan says what it owns; false where it has not this row. Who is asked, and
/// for which of its rows, is the plan's to say, whatever else lists.
static bool findRow(const RowPlan &plan, const Lane &owner, Shape &index,
                    size_t first) {
  for (const Dim &row : plan.rows) {
    Extent owned = row.owned(plan.mesh, owner.device);
    int64_t &at = index[first + row.dim];
    if (!owned.contains(at))
      return false;
    at -= owned.begin;
  }
  return true;
}

static FailureOr<RowPlan> planOf(Evaluator &evaluator, Operation *op,
                                 Value plan) {
  auto made = plan.getDefiningOp<spmd::RowPlanOp>();
  std::optional<RankMesh> mesh =
      made ? RankMesh::of(evaluator, made, made.getMeshAttr()) : std::nullopt;
  if (!mesh)
    return Evaluator::unknown(op, "rows by a plan that was handed on");
  return RowPlan{made, *mesh, dimsOf(made.getRows()), dimsOf(made.getDims())};
}

static LogicalResult runGatherRows(Evaluator &evaluator, spmd::GatherRowsOp op,
                                   Lanes lanes) {
  FailureOr<RowPlan> plan = planOf(evaluator, op, op.getPlan());
  if (failed(plan))
    return failure();
  SmallVector<Dim> dims = dimsOf(op.getDims());
  SmallVector<StringRef> axes;
  for (ArrayRef<Dim> cut : {ArrayRef(dims), ArrayRef(plan->rows)})
    for (const Dim &dim : cut)
      for (StringRef axis : dim.axes)
        if (!llvm::is_contained(axes, axis))
          axes.push_back(axis);
  size_t addressed = plan->op.getComponents().size(), first = op.getFirst();
  SmallVector<Dim> others = othersOf(dims, first, addressed);
  SmallVector<size_t> kept = keptSlices(plan->op);
  std::vector<Array> results;
  for (Lane *lane : lanes) {
    FailureOr<SmallVector<Lane *>> group =
        groupOf(op, plan->mesh, axes, lanes, lane->device);
    if (failed(group))
      return failure();
    if (failed(
            verifyHeld(op, plan->mesh, dims, op.getOperand(), *group, *lane)))
      return failure();
    const Array own = lane->values.lookup(op.getOperand());
    Shape batch = batchShapeOf(*plan, *lane),
          shape = shapeOfRows(*plan, *lane, own.shape(), first);
    Shape partBegin(addressed, 0);
    for (size_t d = 0; d < addressed; ++d) {
      for (const Dim &row : plan->rows)
        if (row.dim == static_cast<int64_t>(d))
          partBegin[d] = row.needed(plan->mesh, lane->device).begin;
    }
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
        int64_t last = std::max<int64_t>(0, whole - plan->op.getSlices()[d]);
        int64_t start =
            std::clamp<int64_t>(startOf(*plan, *lane, d, position), 0, last);
        global[first + d] = start + partBegin[d];
      }
      for (auto [k, d] : llvm::enumerate(kept))
        global[first + d] += index[first + batch.size() + k];
      size_t rest = first + batch.size() + kept.size();
      for (int64_t d = first + addressed; d < own.rank(); ++d)
        global[d] = index[rest++];
      for (const Dim &dim : others)
        global[dim.dim] += dim.owned(plan->mesh, lane->device).begin;
      for (Lane *owner : *group) {
        Shape from(global);
        bool owns = true;
        for (const Dim &dim : others) {
          Extent owned = dim.owned(plan->mesh, owner->device);
          owns &= owned.contains(global[dim.dim]);
          from[dim.dim] -= owned.begin;
        }
        owns &= findRow(*plan, *owner, from, first);
        if (!owns)
          continue;
        const Array held = owner->values.lookup(op.getOperand());
        if (!isWithin(from, held.shape()))
          break;
        result.set(place) = held.at(from);
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

/// The part of each slice that the lane has, and the size of the whole dim, for
/// each addressed dim.
static void partsOf(const RowPlan &plan, const Lane &lane, Shape &begins,
                    Shape &wholes) {
  spmd::RowPlanOp op = plan.op;
  begins.assign(op.getComponents().size(), 0);
  wholes = begins;
  for (const Dim &row : plan.rows) {
    begins[row.dim] = row.needed(plan.mesh, lane.device).begin;
    wholes[row.dim] = row.size();
  }
}

/// The axes along which ranks have other updates: their positions or their
/// parts of slices differ.
static SmallVector<StringRef> axesOfUpdates(const RowPlan &plan) {
  SmallVector<StringRef> axes;
  auto varies = [&](auto extentOf, size_t axis) {
    int64_t step = plan.mesh.stepOf(axis);
    for (int64_t rank = 0, e = countElements(plan.mesh.sizes); rank < e;
         ++rank) {
      if (plan.mesh.coordinate(rank, axis) == 0)
        continue;
      Extent mine = extentOf(rank), other = extentOf(rank - step);
      if (mine.begin != other.begin || mine.end != other.end)
        return true;
    }
    return false;
  };
  for (auto [axis, name] : llvm::enumerate(plan.mesh.names)) {
    bool differs = llvm::any_of(plan.batch, [&](const Dim &dim) {
      return varies([&](int64_t rank) { return dim.owned(plan.mesh, rank); },
                    axis);
    });
    differs |= llvm::any_of(plan.rows, [&](const Dim &row) {
      return varies([&](int64_t rank) { return row.needed(plan.mesh, rank); },
                    axis);
    });
    if (differs)
      axes.push_back(name);
  }
  return axes;
}

namespace {
/// The updates of one index vector, which `lane` has.
struct RowUpdate {
  Shape
      number; ///< among all: its place along the batch dims of the whole tensor
  const Lane *lane;
  Shape position; ///< the same in the lane
};
} // namespace

/// All that the group sends, in the order in which it is applied.
static std::vector<RowUpdate> updatesOf(const RowPlan &plan, Lanes group) {
  spmd::RowPlanOp op = plan.op;
  int64_t vector = op.getVectorDim();
  std::vector<RowUpdate> updates;
  for (const Lane *lane : group)
    forEachIndex(batchShapeOf(plan, *lane), [&](ArrayRef<int64_t> position) {
      RowUpdate &update = updates.emplace_back(
          RowUpdate{Shape(position), lane, Shape(position)});
      for (const Dim &dim : plan.batch) {
        // Dims of positions are those of indices without their vectors'.
        int64_t place = dim.dim < vector ? dim.dim : dim.dim - 1;
        update.number[place] += dim.owned(plan.mesh, lane->device).begin;
      }
    });
  llvm::sort(updates, [](const RowUpdate &a, const RowUpdate &b) {
    return std::tie(a.number, a.lane->device) <
           std::tie(b.number, b.lane->device);
  });
  return updates;
}

static LogicalResult runScatterRows(Evaluator &evaluator,
                                    spmd::ScatterRowsOp op, Lanes lanes) {
  FailureOr<RowPlan> plan = planOf(evaluator, op, op.getPlan());
  if (failed(plan))
    return failure();
  SmallVector<Dim> dims = dimsOf(op.getDims());
  SmallVector<StringRef> axes = axesOfUpdates(*plan);
  Binary function =
      op.getKind() ? evaluator.table.binary.lookup(combinerOf(*op.getKind()))
                   : nullptr;
  size_t addressed = plan->op.getComponents().size(), first = op.getFirst();
  SmallVector<size_t> kept = keptSlices(plan->op);
  std::vector<Array> results;
  for (Lane *lane : lanes) {
    FailureOr<SmallVector<Lane *>> group =
        groupOf(op, plan->mesh, axes, lanes, lane->device);
    if (failed(group))
      return failure();
    if (failed(verifyHeld(op, plan->mesh, dims, op.getInto(), lane, *lane)))
      return failure();
    Array result = lane->values.lookup(op.getInto());
    int64_t work = 0;
    bool isOutside = false;
    for (const RowUpdate &update : updatesOf(*plan, *group)) {
      const Array rows = update.lane->values.lookup(op.getUpdates());
      const Array into = update.lane->values.lookup(op.getInto());
      if (rows.shape() != ArrayRef<int64_t>(shapeOfRows(*plan, *update.lane,
                                                        into.shape(), first)))
        return op->emitError()
               << "has other updates on rank " << update.lane->device
               << " than its plan has positions";
      Shape begins, wholes, starts;
      partsOf(*plan, *update.lane, begins, wholes);
      bool fits = true;
      for (size_t d = 0; d < addressed; ++d) {
        starts.push_back(startOf(*plan, *update.lane, d, update.position));
        fits &=
            starts[d] >= 0 && starts[d] + plan->op.getSlices()[d] <= wholes[d];
      }
      if (!fits)
        continue;
      // Of the rows' dims those around the positions are run through.
      Shape box(rows.shape());
      for (size_t d = 0; d < update.position.size(); ++d)
        box[first + d] = 1;
      work += countElements(box);
      forEachIndex(box, [&](ArrayRef<int64_t> index) {
        Shape from(index), to(index.take_front(first));
        for (size_t d = 0; d < update.position.size(); ++d)
          from[first + d] = update.position[d];
        for (size_t d = 0; d < addressed; ++d)
          to.push_back(starts[d] + begins[d]);
        for (auto [k, d] : llvm::enumerate(kept))
          to[first + d] += index[first + update.position.size() + k];
        llvm::append_range(
            to, index.drop_front(first + update.position.size() + kept.size()));
        if (!findRow(*plan, *lane, to, first))
          return;
        isOutside |= !isWithin(to, result.shape());
        if (isOutside)
          return;
        int64_t place = result.flat(to);
        result.set(place) =
            function ? function(result.format(), result[place], rows.at(from))
                     : rows.at(from);
      });
    }
    if (isOutside)
      return op->emitError()
             << "writes a row that rank " << lane->device << " does not have";
    if (failed(evaluator.spend(op, work)))
      return failure();
    results.push_back(result);
  }
  for (auto [lane, result] : llvm::zip_equal(lanes, results))
    Evaluator::bind(op->getResults(), *lane, result);
  return success();
}

void shardc::interpreter::addRows(Table &table) {
  table.add<spmd::RowPlanOp>(planRows);
  table.addLockstep<spmd::GatherRowsOp>(runGatherRows);
  table.addLockstep<spmd::ScatterRowsOp>(runScatterRows);
}
