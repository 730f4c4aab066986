//===- FakeCudnnGraphs.cpp - Graphs of products, points and reductions ----===//
//
// Nothing is recognised: each op is checked and done by itself, on numbers that
// are rounded to the types of the tensors between.
//
//===----------------------------------------------------------------------===//

#include "FakeCudnn.h"
#include <algorithm>
#include <array>
#include <cmath>

using namespace fake;

namespace {
using Sizes = std::array<int64_t, 4>;

Sizes sizesOf(const Descriptor &tensor, int attribute) {
  Sizes sizes;
  for (int64_t i = 0; i < 4; ++i)
    sizes[i] = tensor.at(attribute).get<int64_t>(i);
  return sizes;
}
Sizes dimsOf(const Descriptor &tensor) {
  return sizesOf(tensor, dnn::TensorDimensions);
}

bool hasFlag(const Descriptor &tensor, int attribute) {
  return tensor.has(attribute) && tensor.at(attribute).get<char>() != 0;
}

int typeOf(const Descriptor &tensor) {
  return tensor.at(dnn::TensorDataType).get<int>();
}

int64_t idOf(const Descriptor &tensor) {
  return tensor.at(dnn::TensorId).get<int64_t>();
}

/// An op's tensors by what they are for it.
struct Operation {
  int kind = 0;
  const Descriptor *how = nullptr;
  std::vector<const Descriptor *> reads;
  const Descriptor *writes = nullptr;

  explicit Operation(const Descriptor &op) : kind(op.kind) {
    if (kind == dnn::OperationMatmul) {
      how = op.other(dnn::OperationMatmulKind);
      reads = {op.other(dnn::OperationMatmulA),
               op.other(dnn::OperationMatmulB)};
      writes = op.other(dnn::OperationMatmulC);
    } else if (kind == dnn::OperationReduction) {
      how = op.other(dnn::OperationReductionKind);
      reads = {op.other(dnn::OperationReductionX)};
      writes = op.other(dnn::OperationReductionY);
    } else {
      how = op.other(dnn::OperationPointwiseKind);
      writes = op.other(dnn::OperationPointwiseY);
      for (int name : {dnn::OperationPointwiseX, dnn::OperationPointwiseB,
                       dnn::OperationPointwiseT})
        if (op.has(name))
          reads.push_back(op.other(name));
    }
  }
  int mode() const {
    return kind == dnn::OperationPointwise
               ? how->at(dnn::PointwiseMode).get<int>()
           : kind == dnn::OperationReduction
               ? how->at(dnn::ReductionOperator).get<int>()
               : 0;
  }
  std::string name() const {
    if (kind == dnn::OperationMatmul)
      return "product";
    if (kind == dnn::OperationReduction)
      return mode() == dnn::ReduceMax ? "most" : "sum";
    switch (mode()) {
    case dnn::PointwiseAdd:
      return "add";
    case dnn::PointwiseMul:
      return "mul";
    case dnn::PointwiseDiv:
      return "div";
    case dnn::PointwiseSub:
      return "sub";
    case dnn::PointwiseExp:
      return "exp";
    case dnn::PointwiseGreaterEqual:
      return "ge";
    case dnn::PointwiseIndex:
      return "index";
    case dnn::PointwiseSelect:
      return "select";
    default:
      return "";
    }
  }
  std::string problem() const;
};

std::string Operation::problem() const {
  if (name().empty())
    return "is of mode " + std::to_string(mode());
  for (const Descriptor *tensor : reads)
    if (tensor->at(dnn::TensorDimensions).count != 4)
      return "has a tensor of other than 4 dims";
  Sizes y = dimsOf(*writes), x = dimsOf(*reads[0]);
  if (kind == dnn::OperationMatmul) {
    Sizes b = dimsOf(*reads[1]);
    if (typeOf(*reads[0]) != typeOf(*reads[1]))
      return "multiplies different types";
    if (how->at(dnn::MatmulCompute).get<int>() != dnn::Float)
      return "adds products up in fewer than 32 bits";
    // Heads may be shared, and nothing else.
    if (x[0] != y[0] || b[0] != y[0] || x[1] != y[1] || y[1] % b[1] != 0 ||
        x[2] != y[2] || b[3] != y[3] || x[3] != b[2])
      return "multiplies matrices that do not fit";
    return {};
  }
  if (kind == dnn::OperationReduction) {
    for (int i = 0; i < 4; ++i)
      if (y[i] != x[i] && y[i] != 1)
        return "reduces to something of another shape";
    return {};
  }
  int64_t expected =
      mode() == dnn::PointwiseSelect                                 ? 3
      : mode() == dnn::PointwiseExp || mode() == dnn::PointwiseIndex ? 1
                                                                     : 2;
  if (static_cast<int64_t>(reads.size()) != expected)
    return "has " + std::to_string(reads.size()) + " inputs";
  if (mode() == dnn::PointwiseIndex &&
      (!how->has(dnn::PointwiseAxis) || typeOf(*writes) != dnn::Int32))
    return "makes indices without an axis, or of another type";
  if (mode() == dnn::PointwiseSelect && typeOf(*reads[2]) != dnn::Boolean)
    return "selects by what is no boolean";
  for (const Descriptor *tensor : reads) {
    Sizes sizes = dimsOf(*tensor);
    for (int i = 0; i < 4; ++i)
      if (sizes[i] != y[i] && sizes[i] != 1)
        return "has an input of another shape";
  }
  return {};
}

/// A tensor's numbers, dense.
struct Numbers {
  Sizes sizes{};
  std::vector<double> values;

  double &at(const Sizes &place) {
    int64_t index = 0;
    for (int i = 0; i < 4; ++i)
      index = index * sizes[i] + (sizes[i] == 1 ? 0 : place[i]);
    return values[index];
  }
};

void forEach(const Sizes &sizes,
             const std::function<void(const Sizes &)> &body) {
  Sizes at;
  for (at[0] = 0; at[0] < sizes[0]; ++at[0])
    for (at[1] = 0; at[1] < sizes[1]; ++at[1])
      for (at[2] = 0; at[2] < sizes[2]; ++at[2])
        for (at[3] = 0; at[3] < sizes[3]; ++at[3])
          body(at);
}

double rounded(int type, double value) {
  std::optional<Number> number = dnnNumber(type);
  if (!number)
    return value;
  char bytes[8];
  store(*number, bytes, 0, value);
  return load(*number, bytes, 0);
}

double applied(int mode, double x, double b, double t) {
  switch (mode) {
  case dnn::PointwiseAdd:
    return x + b;
  case dnn::PointwiseMul:
    return x * b;
  case dnn::PointwiseDiv:
    return x / b;
  case dnn::PointwiseSub:
    return x - b;
  case dnn::PointwiseExp:
    return std::exp(x);
  case dnn::PointwiseGreaterEqual:
    return x >= b;
  default:
    return t != 0 ? x : b;
  }
}

class Interpreter {
public:
  explicit Interpreter(
      const std::function<char *(const Descriptor &)> &addressOf)
      : addressOf(addressOf) {}
  void run(const Operation &op);

private:
  Numbers &read(const Descriptor &tensor);
  const std::function<char *(const Descriptor &)> &addressOf;
  std::map<int64_t, Numbers> known;
};

int64_t placeIn(const Descriptor &tensor, const Sizes &at) {
  Sizes strides = sizesOf(tensor, dnn::TensorStrides);
  int64_t place = 0;
  for (int i = 0; i < 4; ++i)
    place += at[i] * strides[i];
  return place;
}

Numbers &Interpreter::read(const Descriptor &tensor) {
  auto [found, isNew] = known.try_emplace(idOf(tensor));
  Numbers &numbers = found->second;
  if (!isNew)
    return numbers;
  numbers.sizes = dimsOf(tensor);
  const char *base = addressOf(tensor);
  forEach(numbers.sizes, [&](const Sizes &at) {
    int64_t place = placeIn(tensor, at);
    if (typeOf(tensor) == dnn::Int32)
      numbers.values.push_back(reinterpret_cast<const int32_t *>(base)[place]);
    else
      numbers.values.push_back(load(*dnnNumber(typeOf(tensor)), base, place));
  });
  return numbers;
}

void Interpreter::run(const Operation &op) {
  std::vector<Numbers *> reads;
  for (const Descriptor *tensor : op.reads)
    // What an index is made for is asked for its shape alone.
    reads.push_back(op.name() == "index" ? nullptr : &read(*tensor));
  Numbers result;
  result.sizes = dimsOf(*op.writes);
  Sizes of = dimsOf(*op.reads[0]);
  if (op.kind == dnn::OperationReduction) {
    bool isMost = op.mode() == dnn::ReduceMax;
    int64_t count =
        result.sizes[0] * result.sizes[1] * result.sizes[2] * result.sizes[3];
    result.values.assign(count, isMost ? -INFINITY : 0.0);
    forEach(of, [&](const Sizes &at) {
      double &sum = result.at(at), value = reads[0]->at(at);
      sum = isMost ? std::max(sum, value) : sum + value;
    });
  } else {
    forEach(result.sizes, [&](const Sizes &at) {
      double value = 0;
      if (op.kind == dnn::OperationMatmul) {
        Sizes b = dimsOf(*op.reads[1]);
        for (int64_t i = 0; i < of[3]; ++i)
          value += reads[0]->at({at[0], at[1], at[2], i}) *
                   reads[1]->at({at[0], at[1] / (of[1] / b[1]), i, at[3]});
      } else if (op.name() == "index") {
        value = static_cast<double>(
            at[op.how->at(dnn::PointwiseAxis).get<int64_t>()]);
      } else {
        auto one = [&](size_t i) {
          return i < reads.size() ? reads[i]->at(at) : 0.0;
        };
        value = applied(op.mode(), one(0), one(1), one(2));
      }
      result.values.push_back(value);
    });
  }
  int type = typeOf(*op.writes);
  for (double &value : result.values)
    value = rounded(type, value);
  Numbers &kept = known[idOf(*op.writes)] = std::move(result);
  if (hasFlag(*op.writes, dnn::TensorIsVirtual))
    return;
  char *base = addressOf(*op.writes);
  forEach(kept.sizes, [&](const Sizes &at) {
    store(*dnnNumber(type), base, placeIn(*op.writes, at), kept.at(at));
  });
}
} // namespace

bool fake::isOperation(int kind) {
  return kind == dnn::OperationMatmul || kind == dnn::OperationPointwise ||
         kind == dnn::OperationReduction;
}

std::string fake::problemOf(const Descriptor &graph) {
  const Attribute &ops = graph.at(dnn::GraphOperations);
  std::map<int64_t, const Descriptor *> seen;
  std::set<int64_t> written;
  for (int64_t i = 0; i < ops.count; ++i) {
    const Descriptor &descriptor = *graph.other(dnn::GraphOperations, i);
    if (!isOperation(descriptor.kind))
      return "op " + std::to_string(i) + " is of another kind";
    Operation op(descriptor);
    std::string problem = op.problem();
    std::vector<const Descriptor *> all = op.reads;
    all.push_back(op.writes);
    for (const Descriptor *tensor : all)
      if (seen.try_emplace(idOf(*tensor), tensor).first->second != tensor)
        problem = "names a tensor as another one is named";
    for (const Descriptor *tensor : op.reads)
      if (hasFlag(*tensor, dnn::TensorIsVirtual) &&
          !written.count(idOf(*tensor)))
        problem = "reads what no op before it has made";
    if (!written.insert(idOf(*op.writes)).second ||
        hasFlag(*op.writes, dnn::TensorIsByValue))
      problem = "writes what another op writes, or a number";
    if (!problem.empty())
      return "op " + std::to_string(i) + " (" + op.name() + ") " + problem;
  }
  return {};
}

std::string fake::runOperations(
    const Descriptor &graph,
    const std::function<char *(const Descriptor &)> &addressOf) {
  Interpreter interpreter(addressOf);
  std::string names;
  const Descriptor *last = nullptr;
  for (int64_t i = 0; i < graph.at(dnn::GraphOperations).count; ++i) {
    Operation op(*graph.other(dnn::GraphOperations, i));
    op.reads.push_back(op.writes);
    for (const Descriptor *tensor : op.reads)
      if (!hasFlag(*tensor, dnn::TensorIsVirtual) && !addressOf(*tensor))
        return {};
  }
  for (int64_t i = 0; i < graph.at(dnn::GraphOperations).count; ++i) {
    Operation op(*graph.other(dnn::GraphOperations, i));
    interpreter.run(op);
    names += (i ? " " : "") + op.name();
    last = op.writes;
  }
  Sizes sizes = dimsOf(*last);
  names += " to ";
  for (int i = 0; i < 4; ++i)
    names += (i ? "x" : "") + std::to_string(sizes[i]);
  return names + " " + nameOf(*dnnNumber(typeOf(*last)));
}
