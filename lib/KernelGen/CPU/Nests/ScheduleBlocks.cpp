//===- ScheduleBlocks.cpp - What is packed, and blocks of sums -----------===//
//
// Panels of an operand whose lines are far apart, and blocks of long sums that
// stay in the second-level cache while all outputs are added to.
//
//===----------------------------------------------------------------------===//
#include "Schedule.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

int64_t ScheduleChooser::sweeps(const Schedule &s, const Access &input) const {
  int64_t count = 1;
  for (int dim : llvm::seq<int>(nest.dims.size())) {
    if (nest.dims[dim].reduces || input.usesDim(dim))
      continue;
    int64_t extent = dim == s.row      ? s.rows
                     : dim == s.column ? s.columns
                     : dim == s.vec    ? s.vectors * s.lanes
                                       : 1;
    count *= llvm::divideCeil(size(dim), extent);
  }
  return count;
}

void ScheduleChooser::orderReductions(Schedule &s) const {
  if (!contraction ||
      (exact && !spmd::contract::AnyOrder::has(combinerOf(nest.main, 0))))
    return;
  auto stride = [&](int dim) {
    int64_t total = 0;
    for (const Access &input : nest.inputs)
      total += std::abs(input.coef[dim].guess());
    return total;
  };
  llvm::stable_sort(s.reductions,
                    [&](int x, int y) { return stride(x) > stride(y); });
  // Rows that overlap from one iteration of the last loop to the next are not
  // for that loop: LLVM would carry elements along, and run out of registers.
  size_t count = s.reductions.size();
  if (count < 2 || s.row < 0 || s.vecReduces)
    return;
  const Access &reader = nest.inputs[nest.inputs[0].usesDim(s.row) ? 0 : 1];
  const Quantity &row = reader.coef[s.row],
                 &last = reader.coef[s.reductions[count - 1]];
  if (row.fixed && last.fixed && *last.fixed != 0 &&
      *row.fixed % *last.fixed == 0 &&
      std::abs(*row.fixed / *last.fixed) < size(s.reductions[count - 1]))
    std::swap(s.reductions[count - 1], s.reductions[count - 2]);
}

void ScheduleChooser::choosePacking(Schedule &s) const {
  if (!contraction || s.vecReduces)
    return;
  for (auto [i, input] : llvm::enumerate(nest.inputs)) {
    // A panel has what one row of the tile reads, for all of them alike.
    if (!input.usesDim(s.vec) || (s.row >= 0 && input.usesDim(s.row)))
      continue;
    int64_t tiles = reuse(input) / std::max<int64_t>(1, s.rows);
    if (!input.coef[s.vec].is(1)) {
      if (reuse(input) >= 8)
        s.packed = i;
      continue;
    }
    // Laid out well, but rows far apart: pages and cache sets run out.
    int64_t footprint = 1, panel = s.vectors * s.lanes * 4;
    for (auto [d, dim] : llvm::enumerate(nest.dims)) {
      if (!input.usesDim(d))
        continue;
      if (dim.reduces)
        panel *= size(d);
      if (dim.reduces || int(d) == s.vec)
        footprint *= size(d);
    }
    unsigned used =
        llvm::count_if(input.coef, [](const Quantity &q) { return !q.is(0); });
    linalg::GenericOp op = nest.main;
    unsigned memoryDims =
        cast<MemRefType>(op.getDpsInputs()[i].getType()).getRank();
    Machine machine = machineOf(nest.main);
    if (used <= memoryDims && footprint * 4 > machine.cacheBytes / 4 &&
        tiles >= 4 && panel <= machine.sharedCacheBytes / 2)
      s.packed = i;
  }
  chooseWidening(s);
}

int64_t ScheduleChooser::panelElementBytes(const Schedule &s) const {
  const Access &input = nest.inputs[s.packed];
  if (s.pairs)
    return 2;
  return elementBytes(
      s.widens ? widening(nest.main, s.packed)->getResult(0).getType()
               : input.element);
}

void ScheduleChooser::chooseWidening(Schedule &s) const {
  // A tile of a product reads an element of one row for all rows alike.
  auto isOfProduct = [&](size_t i) {
    const Access &input = nest.inputs[i];
    linalg::GenericOp op = nest.main;
    return input.usesDim(s.vec) && (s.row < 0 || !input.usesDim(s.row)) &&
           op.getMatchingIndexingMap(op.getDpsInputOperand(i))
               .isProjectedPermutation() &&
           reuse(input) >= kReadOften;
  };
  for (auto [i, input] : llvm::enumerate(nest.inputs)) {
    bool isNarrow =
        input.element.isF16() || (input.element.isBF16() && !dotBf16);
    if (!isNarrow || input.part >= 0 || !isOfProduct(i) ||
        (s.packed >= 0 && s.packed != int(i)) || !widening(nest.main, i))
      continue;
    s.packed = i;
    s.widens = true;
  }
}

int64_t ScheduleChooser::footprint(ArrayRef<int> except, int some,
                                   int64_t count) const {
  int64_t total = 0;
  for (const Access &input : nest.inputs)
    total += elementsOf(input, except, some, count);
  return total;
}

int64_t ScheduleChooser::elementsOf(const Access &input, ArrayRef<int> except,
                                    int some, int64_t count) const {
  int64_t elements = 1;
  // Windows overlap: dims of one stride, or of a small multiple of it.
  SmallVector<std::pair<int64_t, int64_t>> strides;
  for (int dim : llvm::seq<int>(nest.dims.size())) {
    if (!input.usesDim(dim) || (dim != some && llvm::is_contained(except, dim)))
      continue;
    int64_t extent = dim == some ? count : size(dim);
    const Quantity &coef = input.coef[dim];
    if (coef.fixed)
      strides.push_back({std::abs(*coef.fixed), extent});
    else
      elements *= extent;
  }
  llvm::sort(strides);
  int64_t unit = 1, places = 1;
  for (auto [stride, extent] : strides) {
    int64_t apart = stride / unit;
    if (stride % unit == 0 && apart < places) {
      places += (extent - 1) * apart;
      continue;
    }
    elements *= places;
    unit = stride;
    places = extent;
  }
  return elements * places;
}

bool ScheduleChooser::blockReductions(Schedule &s, size_t kept, int64_t most,
                                      Count elements) const {
  SmallVector<int> hoisted;
  for (int dim : ArrayRef(s.reductions).drop_back(kept)) {
    hoisted.push_back(dim);
    if (elements(hoisted, -1, 1) > most)
      continue;
    int64_t fits = 1, tooMany = size(dim) + 1;
    while (tooMany - fits > 1) {
      int64_t middle = fits + (tooMany - fits) / 2;
      (elements(hoisted, dim, middle) > most ? tooMany : fits) = middle;
    }
    s.block = fits;
    s.hoisted = hoisted;
    llvm::erase_if(s.reductions, [&](int dim) {
      return llvm::is_contained(hoisted, dim) &&
             !(s.block > 1 && dim == hoisted.back());
    });
    return true;
  }
  return false;
}

bool ScheduleChooser::blockLongSums(Schedule &s) const {
  if (s.packed < 0 || s.vecReduces || s.reductions.empty())
    return false;
  const Access &panel = nest.inputs[s.packed],
               &rows = nest.inputs[1 - s.packed];
  if (!panel.coef[s.vec].is(1) || rows.isContiguous(s.reductions.back()))
    return false;
  int64_t half = cacheElements() * 4 / 3, tile = s.vectors * s.lanes;
  auto sums = [&](ArrayRef<int> except, int some = -1, int64_t count = 1) {
    int64_t all = 1;
    for (int dim : s.reductions)
      if (dim == some)
        all *= count;
      else if (panel.usesDim(dim) && !llvm::is_contained(except, dim))
        all *= size(dim);
    return all;
  };
  // All panels of a block at once: each element of the rows is read once.
  int64_t width = size(s.vec);
  bool isRead = sweeps(s, rows) > 1 && elementsOf(rows, {}) > 16 * half &&
                llvm::all_of(s.outer, [&](int dim) { return size(dim) == 1; });
  if (isRead && half / width >= 256 &&
      blockReductions(s, 0, half,
                      [&](ArrayRef<int> except, int some, int64_t count) {
                        return sums(except, some, count) * width;
                      })) {
    s.packed = -1;
    return true;
  }
  // A quarter of that room: the lines of the other operand are 64 bytes for
  // the few elements of a tile that are in them.
  return sums({}) * tile > half &&
         blockReductions(s, 0, half / 4,
                         [&](ArrayRef<int> except, int some, int64_t count) {
                           return sums(except, some, count) * tile;
                         });
}

void ScheduleChooser::chooseBlocking(Schedule &s) const {
  if (!contraction || nest.epilogue ||
      (!s.vecReduces && !nest.outputs[0].coef[s.vec].is(1)))
    return;
  if (blockLongSums(s))
    return;
  int64_t outputs = outputCount(), cache = cacheElements();
  int64_t tile = s.rows * s.columns * (s.vecReduces ? 1 : s.vectors * s.lanes);
  if (outputs > cache || outputs < 2 * tile || footprint({}) < 2 * cache)
    return;
  // What is read once, or stays in the cache, is no reason.
  if (llvm::none_of(nest.inputs, [&](const Access &input) {
        return sweeps(s, input) > 1 && elementsOf(input, {}) > cache;
      }))
    return;
  if (!blockReductions(s, s.vecReduces ? 1 : 0, cache,
                       [&](ArrayRef<int> except, int some, int64_t count) {
                         return footprint(except, some, count);
                       }))
    return;
  if (s.packed >= 0 && nest.inputs[s.packed].coef[s.vec].is(1))
    s.packed = -1;
}

void ScheduleChooser::choosePartialSums(Schedule &s) const {
  // Sums of sizes that nobody knows are taken to be long. [guess]
  constexpr int64_t kUnknownTerms = 1 << 16;
  // Totals of partial sums are as many registers as accumulators are: those of
  // a large tile are written to memory and read again.
  bool isProduct =
      contraction && llvm::any_of(nest.inputs, [&](const Access &input) {
        return reuse(input) > 1;
      });
  const int64_t least = isProduct ? 512 : 128, leastFromMemory = 16;
  bool isRounded = false;
  for (unsigned i : llvm::seq<unsigned>(nest.outputs.size())) {
    Operation *combiner = combinerOf(nest.main, i);
    if (!combiner || !combiner->hasOneUse() || !spmd::neutralElement(combiner))
      return;
    isRounded |= isa<arith::AddFOp>(combiner);
  }
  SmallVector<int> order = sumOrder(s);
  if (exact || !isRounded || order.empty())
    return;
  // What is added to an accumulator at a time.
  auto unit = [&](int dim) -> int64_t {
    if (s.vecReduces && dim == s.vec)
      return s.vectors * s.lanes;
    return s.pairs && dim == order.back() ? 2 : 1;
  };
  auto steps = [&](int dim) {
    return llvm::divideCeil(
        nest.dims[dim].size.estimate().value_or(kUnknownTerms), unit(dim));
  };
  int64_t terms = 1;
  for (int dim : order)
    if (llvm::MulOverflow<int64_t>(terms, steps(dim), terms))
      terms = INT64_MAX;
  // As many partial sums as each has terms.
  int64_t wanted =
      std::max(least, int64_t(1) << (llvm::Log2_64(uint64_t(terms)) / 2));
  if (terms >= 2 * wanted) {
    int64_t inside = 1;
    for (int dim : llvm::reverse(order)) {
      int64_t count = steps(dim);
      if (count < 2 * wanted / inside) {
        inside *= count;
        continue;
      }
      int64_t sums = std::clamp<int64_t>(count * inside / wanted, 1, count);
      // Without a rest, if that is not far off.
      for (int64_t more = sums; more <= 2 * sums; ++more)
        if (count % more == 0) {
          sums = more;
          break;
        }
      s.partial = dim;
      s.partialSteps = llvm::divideCeil(count, sums) * unit(dim);
      break;
    }
  } else if (terms >= leastFromMemory && !isProduct && !s.vecReduces &&
             llvm::none_of(nest.initial, [](Value start) { return start; })) {
    // Memory may have what many others were added to before.
    s.partial = order.front();
    s.partialSteps = llvm::alignTo(size(s.partial), unit(s.partial));
  }
  if (s.hoisted.empty() || s.partial < 0)
    return;
  int last = s.hoisted.back();
  if (s.partial == last && s.block > s.partialSteps) {
    // As many in a block, of as many terms each.
    int64_t sums = s.block / s.partialSteps;
    s.partialSteps = s.block / sums;
    s.block = s.partialSteps * sums;
  }
  if (keepsPartialSums(s, order, s.hoisted.size(), s.block))
    return;
  // A block's share of a sum is one.
  int64_t ofBlock = s.block;
  for (int dim : order)
    if (!llvm::is_contained(s.hoisted, dim))
      ofBlock *= steps(dim);
  s.partial = ofBlock >= leastFromMemory ? last : -1;
  s.partialSteps = s.block;
}

bool ScheduleChooser::keepsPartialSums(const Schedule &s, ArrayRef<int> order,
                                       int64_t hoisted, int64_t block) {
  if (s.partial < 0 || hoisted == 0)
    return true;
  int64_t at = llvm::find(order, s.partial) - order.begin();
  return at >= hoisted || (at == hoisted - 1 && block % s.partialSteps == 0);
}

void ScheduleChooser::chooseTogether(Schedule &s) const {
  // A tile of fewer accumulators waits for them; so many at once do not.
  // [shape]
  constexpr int64_t kFew = 4, kTogether = 8;
  // Operations of a body that is written out as often. [limit]
  constexpr unsigned kMostWork = 8;
  auto isSlow = [&](unsigned output) {
    return isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp, arith::MulIOp>(
        combinerOf(nest.main, output));
  };
  int64_t accumulators =
      s.rows * s.columns * s.vectors * int64_t(nest.outputs.size());
  if (!s.vecReduces && !s.slides && !s.reductions.empty() &&
      accumulators < kFew && work() <= kMostWork &&
      size(s.reductions.back()) >= 2 * kTogether &&
      llvm::all_of(llvm::seq<unsigned>(nest.outputs.size()), isSlow))
    s.together = kTogether;
}
