//===- Pairs.cpp - Every query with every key -----------------------------===//
//
// By the definitions of AllPairs.td and PairSteps.td: scores of all pairs of
// a batch are computed as one vector, then rows one by one. Sums are taken in
// f64 and rounded once.
//
//===----------------------------------------------------------------------===//
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "Ranks.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;
using spmd::PairCombine;

namespace {

/// A tensor and which of the iteration dims its dims are.
struct View {
  Array array;
  SmallVector<int64_t> dims;

  View() = default;
  View(const Array &array, AffineMap map) : array(array) {
    for (AffineExpr expr : map.getResults())
      dims.push_back(cast<AffineDimExpr>(expr).getPosition());
  }
  int64_t place(ArrayRef<int64_t> at) const {
    int64_t number = 0;
    for (auto [i, dim] : llvm::enumerate(dims))
      number = number * array.dim(i) + at[dim];
    return number;
  }
  bool has(int64_t dim) const { return llvm::is_contained(dims, dim); }
  double at(ArrayRef<int64_t> index) const { return array[place(index)].real; }
  void add(ArrayRef<int64_t> index, double term) {
    int64_t number = place(index);
    array.put(number, array[number].real + term);
  }
  void set(ArrayRef<int64_t> index, double value) {
    array.put(place(index), value);
  }
};

/// One step of the pairs of one batch.
class Step {
public:
  Step(Evaluator &evaluator, spmd::PairStepOp op, ArrayRef<Array> in);
  FailureOr<Values> run();

private:
  LogicalResult combine();
  void softmax();
  void sum();
  void extreme(bool isMax);
  void topK();
  LogicalResult backward();
  /// A vector of all pairs, of what `element` gives of (query, key).
  Array column(const Format &format,
               llvm::function_ref<Element(int64_t, int64_t)> element);
  /// The same, of a tensor's elements.
  Array column(const View &view);
  /// What regions are given behind their own arguments.
  void appendContext(Values &arguments);
  FailureOr<Array> weigh(const Array &p);
  bool isInBand(int64_t q, int64_t k);
  int64_t pair(int64_t q, int64_t k) const { return q * extents[key] + k; }
  ArrayRef<int64_t> at(int64_t q, int64_t k, int64_t d = 0, int64_t e = 0) {
    index[query] = q, index[key] = k, index[depth] = d, index[feature] = e;
    return index;
  }

  Evaluator &evaluator;
  spmd::PairStepOp op;
  Format accumulator;
  View queries, keys;
  std::optional<View> values;
  SmallVector<View> rows, extras, state;
  Shape begins;     ///< of batch dims, queries and keys
  Shape extents;    ///< of the iteration dims
  bool fits = true; ///< all views of a dim have as many elements along it
  int64_t query, key, depth, feature;
  Shape index;
  Array raw, score; ///< of all pairs of the batch at hand
};

} // namespace

Step::Step(Evaluator &evaluator, spmd::PairStepOp op, ArrayRef<Array> in)
    : evaluator(evaluator), op(op) {
  int64_t count = op.getMap(0).getNumDims(), number = 0;
  query = count - 4, key = count - 3, depth = count - 2, feature = count - 1;
  auto next = [&] {
    View view(in[number], op.getMap(number));
    ++number;
    return view;
  };
  queries = next();
  keys = next();
  if (op.getValue())
    values = next();
  for (size_t i = 0; i < op.getRows().size(); ++i)
    rows.push_back(next());
  for (size_t i = 0; i < op.getExtras().size(); ++i)
    extras.push_back(next());
  // After these operands comes where the blocks begin.
  ArrayRef<Array> rest = in.drop_front(number);
  for (size_t i = 0; i < op.getAt().size(); ++i)
    begins.push_back(rest[i].integer());
  for (auto [i, array] : llvm::enumerate(rest.drop_front(op.getAt().size())))
    state.push_back(View(array, op.getInitMap(i)));
  extents.assign(count, 1);
  SmallVector<bool> isMeasured(count, false);
  auto measure = [&](const View &view) {
    for (auto [i, dim] : llvm::enumerate(view.dims)) {
      fits &= !isMeasured[dim] || extents[dim] == view.array.dim(i);
      isMeasured[dim] = true;
      extents[dim] = view.array.dim(i);
    }
  };
  measure(queries);
  measure(keys);
  if (values)
    measure(*values);
  for (const View &view : llvm::concat<View>(rows, extras, state))
    measure(view);
  accumulator = *Format::of(queries.array.format().bits == 64
                                ? Type(Float64Type::get(op.getContext()))
                                : Type(Float32Type::get(op.getContext())));
  index.assign(count, 0);
}

bool Step::isInBand(int64_t q, int64_t k) {
  int64_t apart = (begins[key] + k) - (begins[query] + q);
  return (!op.getBandLower() ||
          apart >= static_cast<int64_t>(*op.getBandLower())) &&
         (!op.getBandUpper() ||
          apart <= static_cast<int64_t>(*op.getBandUpper()));
}

Array Step::column(const Format &format,
                   llvm::function_ref<Element(int64_t, int64_t)> element) {
  Array result(format, extents[query] * extents[key]);
  for (int64_t q = 0; q < extents[query]; ++q)
    for (int64_t k = 0; k < extents[key]; ++k)
      result.set(pair(q, k)) = element(q, k);
  return result;
}

Array Step::column(const View &view) {
  return column(view.array.format(), [&](int64_t q, int64_t k) {
    return view.array[view.place(at(q, k))];
  });
}

void Step::appendContext(Values &arguments) {
  for (const View &extra : extras)
    arguments.push_back(column(extra));
  for (int64_t dim = 0; dim <= key; ++dim)
    arguments.push_back(column(Format::int32(), [&](int64_t q, int64_t k) {
      return Element::of(begins[dim] + (dim == query ? q
                                        : dim == key ? k
                                                     : index[dim]));
    }));
}

FailureOr<Array> Step::weigh(const Array &p) {
  if (op.getWeight().empty())
    return p;
  Values arguments = {p};
  appendContext(arguments);
  FailureOr<Values> made =
      evaluator.applyToEach(op.getWeight(), arguments, p.size());
  if (failed(made))
    return failure();
  return (*made)[0];
}

LogicalResult Step::combine() {
  int64_t pairs = extents[query] * extents[key];
  std::vector<double> sums(pairs);
  auto forAll = [&](llvm::function_ref<void(int64_t, double, double)> visit) {
    for (int64_t q = 0; q < extents[query]; ++q)
      for (int64_t k = 0; k < extents[key]; ++k)
        for (int64_t d = 0; d < extents[depth]; ++d) {
          ArrayRef<int64_t> here = at(q, k, d);
          visit(pair(q, k), queries.at(here), keys.at(here));
        }
  };
  if (op.getPair().empty()) {
    forAll([&](int64_t place, double a, double b) { sums[place] += a * b; });
  } else {
    Array a(accumulator, pairs * extents[depth]), b = a;
    int64_t next = 0;
    forAll([&](int64_t, double x, double y) {
      a.put(next, x);
      b.put(next++, y);
    });
    FailureOr<Values> made =
        evaluator.applyToEach(op.getPair(), {a, b}, a.size());
    if (failed(made))
      return failure();
    next = 0;
    forAll([&](int64_t place, double, double) {
      sums[place] += (*made)[0][next++].real;
    });
  }
  raw = Array(accumulator, pairs);
  for (int64_t i = 0; i < pairs; ++i)
    raw.put(i, sums[i]);
  Values arguments = {raw};
  appendContext(arguments);
  FailureOr<Values> made =
      evaluator.applyToEach(op.getScore(), arguments, pairs);
  if (failed(made))
    return failure();
  score = (*made)[0];
  return evaluator.spend(op, pairs * (extents[depth] + extents[feature]));
}

/// NaN if one of them is.
static double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b);
}

static const double kInfinity = std::numeric_limits<double>::infinity();

FailureOr<Values> Step::run() {
  if (!fits)
    return op.emitError() << "has operands of different shapes when it runs";
  bool isFailed = false;
  forEachIndex(
      Shape(ArrayRef(extents).take_front(query)), [&](ArrayRef<int64_t> batch) {
        if (isFailed)
          return;
        std::copy(batch.begin(), batch.end(), index.begin());
        if ((isFailed = failed(combine())))
          return;
        if (op.getBackward()) {
          isFailed = failed(backward());
          return;
        }
        switch (op.getCombine()) {
        case PairCombine::Softmax: {
          // p of each pair, and what weighs the values.
          SmallVector<double> largest(extents[query]);
          Array p(accumulator, score.size());
          for (int64_t q = 0; q < extents[query]; ++q) {
            double before = state[0].at(at(q, 0)), now = before;
            for (int64_t k = 0; k < extents[key]; ++k)
              if (isInBand(q, k))
                now = larger(now, score[pair(q, k)].real);
            double scale = now == -kInfinity ? 1 : std::exp(before - now),
                   sum = state[1].at(at(q, 0)) * scale;
            for (int64_t k = 0; k < extents[key]; ++k) {
              double value = isInBand(q, k) && now != -kInfinity
                                 ? std::exp(score[pair(q, k)].real - now)
                                 : 0;
              p.put(pair(q, k), value);
              sum += value;
            }
            state[0].set(at(q, 0), now);
            state[1].set(at(q, 0), sum);
            for (int64_t e = 0; e < extents[feature]; ++e)
              state[2].set(at(q, 0, 0, e), state[2].at(at(q, 0, 0, e)) * scale);
          }
          FailureOr<Array> weights = weigh(p);
          if ((isFailed = failed(weights)))
            return;
          for (int64_t q = 0; q < extents[query]; ++q)
            for (int64_t e = 0; e < extents[feature]; ++e) {
              double sum = 0;
              for (int64_t k = 0; k < extents[key]; ++k)
                if (isInBand(q, k))
                  sum +=
                      (*weights)[pair(q, k)].real * values->at(at(q, k, 0, e));
              state[2].add(at(q, 0, 0, e), sum);
            }
          break;
        }
        case PairCombine::Sum:
          sum();
          break;
        case PairCombine::Max:
        case PairCombine::Min:
          extreme(op.getCombine() == PairCombine::Max);
          break;
        case PairCombine::TopK:
          topK();
          break;
        }
      });
  if (isFailed)
    return failure();
  Values results;
  for (const View &view : state)
    results.push_back(view.array);
  return results;
}

void Step::sum() {
  for (int64_t q = 0; q < extents[query]; ++q)
    for (int64_t e = 0; e < extents[feature]; ++e) {
      double sum = 0;
      for (int64_t k = 0; k < extents[key]; ++k)
        if (isInBand(q, k))
          sum += score[pair(q, k)].real *
                 (values ? values->at(at(q, k, 0, e)) : 1);
      state[0].add(at(q, 0, 0, e), sum);
    }
}

void Step::extreme(bool isMax) {
  for (int64_t q = 0; q < extents[query]; ++q) {
    double found = state[0].at(at(q, 0));
    for (int64_t k = 0; k < extents[key]; ++k)
      if (isInBand(q, k))
        found = isMax ? larger(found, score[pair(q, k)].real)
                      : -larger(-found, -score[pair(q, k)].real);
    state[0].set(at(q, 0), found);
  }
}

void Step::topK() {
  for (int64_t q = 0; q < extents[query]; ++q) {
    std::vector<std::pair<double, int64_t>> candidates;
    for (int64_t e = 0; e < extents[feature]; ++e)
      candidates.push_back(
          {state[0].at(at(q, 0, 0, e)),
           state[1].array[state[1].place(at(q, 0, 0, e))].integer});
    for (int64_t k = 0; k < extents[key]; ++k)
      candidates.push_back({score[pair(q, k)].real, begins[key] + k});
    llvm::sort(candidates, [](const auto &a, const auto &b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (int64_t e = 0; e < extents[feature]; ++e) {
      state[0].set(at(q, 0, 0, e), candidates[e].first);
      state[1].array.put(state[1].place(at(q, 0, 0, e)), candidates[e].second);
    }
  }
}

LogicalResult Step::backward() {
  if (!op.getPair().empty())
    return Evaluator::unknown(op,
                              "the gradient of pairs that are not multiplied");
  const View &largest = rows[0], &delta = rows[1], &dout = rows[2];
  Array p = column(accumulator, [&](int64_t q, int64_t k) {
    double value = isInBand(q, k)
                       ? std::exp(score[pair(q, k)].real - largest.at(at(q, k)))
                       : 0;
    return Element::of(accumulator.round(value));
  });
  Array dp = column(accumulator, [&](int64_t q, int64_t k) {
    double sum = 0;
    for (int64_t e = 0; e < extents[feature]; ++e)
      sum += dout.at(at(q, k, 0, e)) * values->at(at(q, k, 0, e));
    return Element::of(accumulator.round(sum));
  });
  FailureOr<Array> weights = weigh(p), slopes = weigh(dp);
  if (failed(weights) || failed(slopes))
    return failure();
  Array ds = column(accumulator, [&](int64_t q, int64_t k) {
    int64_t place = pair(q, k);
    return Element::of(accumulator.round(
        p[place].real * ((*slopes)[place].real - delta.at(at(q, k)))));
  });
  Values arguments = {ds, raw};
  appendContext(arguments);
  FailureOr<Values> made =
      evaluator.applyToEach(op.getSlope(), arguments, ds.size());
  if (failed(made))
    return failure();
  // Sums of this batch in f64: to each gradient one rounded term.
  auto addSums =
      [&](View &gradient,
          llvm::function_ref<double(int64_t, int64_t, int64_t, int64_t)> term) {
        std::vector<double> sums(gradient.array.size());
        int64_t depths = gradient.has(depth) ? extents[depth] : 1,
                features = gradient.has(feature) ? extents[feature] : 1;
        for (int64_t q = 0; q < extents[query]; ++q)
          for (int64_t k = 0; k < extents[key]; ++k)
            if (isInBand(q, k))
              for (int64_t d = 0; d < depths; ++d)
                for (int64_t e = 0; e < features; ++e) {
                  double value = term(q, k, d, e);
                  sums[gradient.place(at(q, k, d, e))] += value;
                }
        for (int64_t i = 0; i < gradient.array.size(); ++i)
          if (sums[i] != 0)
            gradient.array.put(i, gradient.array[i].real + sums[i]);
      };
  const Array &draw = (*made)[0];
  addSums(state[0], [&](int64_t q, int64_t k, int64_t d, int64_t) {
    return draw[pair(q, k)].real * keys.at(at(q, k, d));
  });
  addSums(state[1], [&](int64_t q, int64_t k, int64_t d, int64_t) {
    return draw[pair(q, k)].real * queries.at(at(q, k, d));
  });
  addSums(state[2], [&](int64_t q, int64_t k, int64_t, int64_t e) {
    return (*weights)[pair(q, k)].real * dout.at(at(q, k, 0, e));
  });
  for (size_t i = 3; i < state.size(); ++i)
    addSums(state[i], [&](int64_t q, int64_t k, int64_t, int64_t) {
      return (*made)[i - 2][pair(q, k)].real;
    });
  return success();
}

static FailureOr<Values> runStep(Evaluator &evaluator, spmd::PairStepOp op,
                                 ArrayRef<Array> in) {
  return Step(evaluator, op, in).run();
}

void shardc::interpreter::addPairs(Table &table) {
  table.add<spmd::PairStepOp>(runStep);
}
