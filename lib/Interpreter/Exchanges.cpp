//===- Exchanges.cpp - Ops of the local view that communicate -------------===//
//
// What each op means is taken from its description in the dialect; intervals
// are read off attributes as they are there. What an op leaves undefined is
// poison.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "Ranks.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

namespace {
/// Along one dim of an exchange: where each element that a rank needs is in
/// the whole, and which members of its group own it.
struct Sources {
  std::vector<int64_t> places;  ///< -1: the fill
  std::vector<uint64_t> owners; ///< for each place a bit a member
};
} // namespace

static Sources sourcesOf(const Dim &dim, Extent needed,
                         ArrayRef<Extent> owned) {
  Sources sources;
  size_t words = (owned.size() + 63) / 64;
  int64_t size = dim.size();
  for (int64_t at = needed.begin; at < needed.end; ++at) {
    int64_t from = sourceOf(at, size, dim.padding);
    sources.places.push_back(from);
    sources.owners.resize(sources.owners.size() + words);
    uint64_t *bits = sources.owners.data() + sources.owners.size() - words;
    for (size_t member = 0; member < owned.size(); ++member)
      if (owned[member].contains(from))
        bits[member / 64] |= uint64_t(1) << (member % 64);
  }
  return sources;
}

/// What `rank` is given of `input` (each rank's own, by its value).
static FailureOr<Array> receive(Operation *op, const RankMesh &mesh,
                                ArrayRef<Dim> dims, Value input, Lanes group,
                                int64_t rank, Element fill, ArrayAttr parts) {
  auto mine =
      llvm::find_if(group, [&](Lane *lane) { return lane->device == rank; });
  const Array own = (*mine)->values.lookup(input);
  Shape shape(own.shape()), begins(own.rank(), 0);
  if (failed(verifyHeld(op, mesh, dims, input, group, **mine)))
    return failure();
  std::vector<Array> held;
  for (Lane *lane : group)
    held.push_back(lane->values.lookup(input));
  size_t words = (group.size() + 63) / 64;
  std::vector<Sources> sources;
  std::vector<SmallVector<Extent>> owned; // of each dim, by member
  for (const Dim &dim : dims) {
    SmallVector<Extent> &extents = owned.emplace_back();
    for (Lane *lane : group)
      extents.push_back(dim.owned(mesh, lane->device));
    Extent needed = dim.needed(mesh, rank);
    shape[dim.dim] = needed.size();
    begins[dim.dim] = needed.begin;
    sources.push_back(sourcesOf(dim, needed, extents));
  }
  // Only the parts arrive, if there are any.
  auto arrives = [&](ArrayRef<int64_t> index) {
    return llvm::any_of(
        parts.getAsRange<spmd::ExchangePartAttr>(),
        [&](spmd::ExchangePartAttr part) {
          return llvm::all_of(
              llvm::zip_equal(dims, part.getDims()), [&](auto it) {
                auto [dim, table] = it;
                int64_t at = begins[dim.dim] + index[dim.dim],
                        place = mesh.place(rank, dim.axes);
                return table[2 * place] <= at && at < table[2 * place + 1];
              });
        });
  };
  Array result(own.format(), shape);
  bool isFailed = false;
  int64_t next = 0;
  Shape from;
  SmallVector<uint64_t> owners(words);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t place = next++;
    if (isFailed)
      return;
    if (parts && !parts.empty() && !arrives(index)) {
      result.set(place) = poison(own.format());
      return;
    }
    from.assign(index.begin(), index.end());
    owners.assign(words, ~uint64_t(0));
    if (group.size() % 64 != 0)
      owners.back() = (uint64_t(1) << (group.size() % 64)) - 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t at = index[dims[i].dim];
      from[dims[i].dim] = sources[i].places[at];
      if (from[dims[i].dim] < 0) {
        result.set(place) = fill;
        return;
      }
      for (size_t word = 0; word < words; ++word)
        owners[word] &= sources[i].owners[at * words + word];
    }
    // The lowest of several has what the others have.
    size_t word = 0;
    while (word < words && owners[word] == 0)
      ++word;
    if ((isFailed = word == words)) {
      op->emitError() << "gives rank " << rank
                      << " an element that nobody owns";
      return;
    }
    size_t member = word * 64 + llvm::countr_zero(owners[word]);
    for (size_t i = 0; i < dims.size(); ++i)
      from[dims[i].dim] -= owned[i][member].begin;
    result.set(place) = held[member].at(from);
  });
  if (isFailed)
    return failure();
  return result;
}

static LogicalResult exchange(Evaluator &evaluator, Operation *op,
                              FlatSymbolRefAttr on, ArrayAttr dimsAttr,
                              Value input, Value fill, ArrayAttr parts,
                              Lanes lanes) {
  std::optional<RankMesh> mesh = RankMesh::of(evaluator, op, on);
  SmallVector<Dim> dims = dimsOf(dimsAttr);
  SmallVector<StringRef> axes;
  for (const Dim &dim : dims)
    axes.append(dim.axes);
  std::vector<Array> received;
  for (Lane *lane : lanes) {
    FailureOr<SmallVector<Lane *>> group =
        groupOf(op, *mesh, axes, lanes, lane->device);
    if (failed(group))
      return failure();
    // Without a fill what is there is nobody's business.
    Element outside = fill ? lane->values.lookup(fill)[0]
                           : poison(lane->values.lookup(input).format());
    FailureOr<Array> array =
        receive(op, *mesh, dims, input, *group, lane->device, outside, parts);
    if (failed(array) || failed(evaluator.spend(op, array->size())))
      return failure();
    received.push_back(*array);
  }
  for (auto [lane, array] : llvm::zip_equal(lanes, received))
    Evaluator::bind(op->getResults(), *lane, array);
  return success();
}

template <typename OpT>
static LogicalResult runExchange(Evaluator &evaluator, OpT op, Lanes lanes) {
  return exchange(evaluator, op, op.getMeshAttr(), op.getDimsAttr(),
                  op.getInput(), op.getFill(),
                  op.getPartsAttr() ? op.getPartsAttr() : ArrayAttr(), lanes);
}

static FailureOr<Values> startExchange(Evaluator &, spmd::ExchangeStartOp op,
                                       ArrayRef<Array>) {
  return Values{Array::scalar({Format::Integer, 64, true, nullptr},
                              Element::of(int64_t(0)))};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// All partial values of the group as one; sums of floats rounded at the end.
static FailureOr<Array> combineGroup(Evaluator &evaluator, Operation *op,
                                     spmd::ReductionKind kind, Value input,
                                     Lanes group) {
  Binary function = evaluator.table.binary.lookup(combinerOf(kind));
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

static LogicalResult runAllReduce(Evaluator &evaluator, spmd::AllReduceOp op,
                                  Lanes lanes) {
  std::optional<RankMesh> mesh = RankMesh::of(evaluator, op, op.getMeshAttr());
  SmallVector<StringRef> axes = namesOf(op.getAxes());
  std::vector<Array> results;
  for (Lane *lane : lanes) {
    FailureOr<SmallVector<Lane *>> group =
        groupOf(op, *mesh, axes, lanes, lane->device);
    if (failed(group))
      return failure();
    FailureOr<Array> result =
        combineGroup(evaluator, op, op.getKind(), op.getInput(), *group);
    if (failed(result) || failed(evaluator.spend(op, result->size())))
      return failure();
    results.push_back(*result);
  }
  for (auto [lane, result] : llvm::zip_equal(lanes, results))
    Evaluator::bind(op->getResults(), *lane, result);
  return success();
}

static LogicalResult runReduceScatter(Evaluator &evaluator,
                                      spmd::ReduceScatterOp op, Lanes lanes) {
  std::optional<RankMesh> mesh = RankMesh::of(evaluator, op, op.getMeshAttr());
  SmallVector<StringRef> axes = namesOf(op.getAxes());
  SmallVector<Dim> dims = dimsOf(op.getDims());
  std::vector<Array> results;
  for (Lane *lane : lanes) {
    FailureOr<SmallVector<Lane *>> group =
        groupOf(op, *mesh, axes, lanes, lane->device);
    if (failed(group))
      return failure();
    FailureOr<Array> whole =
        combineGroup(evaluator, op, op.getKind(), op.getInput(), *group);
    if (failed(whole) || failed(evaluator.spend(op, whole->size())))
      return failure();
    Shape starts(whole->rank(), 0), box(whole->shape());
    for (const Dim &dim : dims) {
      Extent owned = dim.owned(*mesh, lane->device),
             needed = dim.needed(*mesh, lane->device);
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

void shardc::interpreter::addExchanges(Table &table) {
  table.addLockstep<spmd::HaloExchangeOp>(runExchange<spmd::HaloExchangeOp>);
  table.addLockstep<spmd::RebalanceOp>(runExchange<spmd::RebalanceOp>);
  table.addLockstep<spmd::AllGatherOp>(runExchange<spmd::AllGatherOp>);
  table.addLockstep<spmd::AllToAllOp>(runExchange<spmd::AllToAllOp>);
  table.addLockstep<spmd::ExchangeWaitOp>(runExchange<spmd::ExchangeWaitOp>);
  table.add<spmd::ExchangeStartOp>(startExchange);
  table.addLockstep<spmd::AllReduceOp>(runAllReduce);
  table.addLockstep<spmd::ReduceScatterOp>(runReduceScatter);
}
