//===- CudnnAttention.cpp - Attention by cuDNN ----------------------------===//
//
// The graph that cuDNN's fused engines know: scores as a product, times a
// number, masked by indices that are made up and compared, a softmax whose
// largest scores and sums are stored, and a second product. What is between
// is virtual. Weights are rounded to the operands' type before they are
// multiplied, as all such engines do it.
//
//===----------------------------------------------------------------------===//

#include "Device/Cuda/CudnnGraph.h"
#include <bit>
#include <limits>

using namespace shardrt;
using namespace shardrt::libraries;
using namespace shardrt::libraries::dnn;

namespace {
/// Names of a graph's tensors.
enum Id : int64_t {
  Query = 1,
  Key,
  Value,
  Out,
  Most,
  Sum,
  Scale,    ///< f32, by value
  Excluded, ///< the same: the score of what does not count
  Offset,   ///< i32, by value: a row's last column less the row
  FirstVirtual
};

using Four = std::array<int64_t, 4>;

/// Puts a graph of tensors with four dims together; all that it makes goes to
/// the plan's parts.
class GraphBuilder {
public:
  GraphBuilder(const Cudnn &library, GraphPlan &plan)
      : library(library), plan(plan) {}

  void *tensor(int type, const Four &sizes, const Four &strides, int64_t id,
               int64_t alignment, bool isVirtual = false,
               bool isByValue = false);
  void *dense(int type, const Four &sizes, int64_t id, int64_t alignment,
              bool isVirtual = false) {
    Four strides{sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3],
                 1};
    return tensor(type, sizes, strides, id, alignment, isVirtual);
  }
  void *between(int type, const Four &sizes) {
    return dense(type, sizes, nextVirtual++, 16, /*isVirtual=*/true);
  }
  void *number(int type, int64_t id) {
    return tensor(type, {1, 1, 1, 1}, {1, 1, 1, 1}, id, 16, false,
                  /*isByValue=*/true);
  }
  void product(void *a, void *b, void *c);
  /// y of x, and of b and t where these are there; `axis` is that of an index.
  void pointwise(int mode, int compute, void *x, void *b, void *t, void *y,
                 int64_t axis = -1);
  void reduce(int how, void *x, void *y);

  std::vector<void *> operations;

private:
  void *keep(Descriptor &&descriptor) {
    plan.parts.push_back(std::move(descriptor));
    return plan.parts.back().handle;
  }
  const Cudnn &library;
  GraphPlan &plan;
  int64_t nextVirtual = FirstVirtual;
};

class Attention final : public GraphProvider {
public:
  using GraphProvider::GraphProvider;
  Outcome run(const Call &call, std::string &why) override;

private:
  void prepare(const Call &call, GraphPlan &plan);
};
} // namespace

void *GraphBuilder::tensor(int type, const Four &sizes, const Four &strides,
                           int64_t id, int64_t alignment, bool isVirtual,
                           bool isByValue) {
  Descriptor made(library, Tensor);
  made.set(TensorDataType, TypeDataType, type)
      .set(TensorDimensions, TypeInt64, 4, sizes.data())
      .set(TensorStrides, TypeInt64, 4, strides.data())
      .set(TensorId, TypeInt64, id)
      .set(TensorAlignment, TypeInt64, alignment)
      .set(TensorIsVirtual, TypeBoolean, isVirtual)
      .set(TensorIsByValue, TypeBoolean, isByValue)
      .finalize();
  return keep(std::move(made));
}

void GraphBuilder::product(void *a, void *b, void *c) {
  Descriptor kind(library, Matmul), op(library, OperationMatmul);
  kind.set(MatmulCompute, TypeDataType, int(Float)).finalize();
  op.set(OperationMatmulKind, kind)
      .set(OperationMatmulA, TypeDescriptor, a)
      .set(OperationMatmulB, TypeDescriptor, b)
      .set(OperationMatmulC, TypeDescriptor, c)
      .finalize();
  keep(std::move(kind));
  operations.push_back(keep(std::move(op)));
}

void GraphBuilder::pointwise(int mode, int compute, void *x, void *b, void *t,
                             void *y, int64_t axis) {
  Descriptor kind(library, Pointwise), op(library, OperationPointwise);
  kind.set(PointwiseMode, TypePointwiseMode, mode)
      .set(PointwiseCompute, TypeDataType, compute);
  if (axis >= 0)
    kind.set(PointwiseAxis, TypeInt64, axis);
  kind.finalize();
  op.set(OperationPointwiseKind, kind)
      .set(OperationPointwiseX, TypeDescriptor, x)
      .set(OperationPointwiseY, TypeDescriptor, y);
  if (b)
    op.set(OperationPointwiseB, TypeDescriptor, b);
  if (t)
    op.set(OperationPointwiseT, TypeDescriptor, t);
  op.finalize();
  keep(std::move(kind));
  operations.push_back(keep(std::move(op)));
}

void GraphBuilder::reduce(int how, void *x, void *y) {
  Descriptor kind(library, Reduction), op(library, OperationReduction);
  kind.set(ReductionCompute, TypeDataType, int(Float))
      .set(ReductionOperator, TypeReduction, how)
      .finalize();
  op.set(OperationReductionKind, kind)
      .set(OperationReductionX, TypeDescriptor, x)
      .set(OperationReductionY, TypeDescriptor, y)
      .finalize();
  keep(std::move(kind));
  operations.push_back(keep(std::move(op)));
}

void Attention::prepare(const Call &call, GraphPlan &plan) {
  const Operand &query = call.operands[0], &key = call.operands[1],
                &value = call.operands[2], &out = call.operands[3];
  GraphBuilder graph(library, plan);
  auto asItIs = [&](const Operand &operand, int64_t id,
                    bool isTransposed = false) {
    Four sizes, strides;
    for (int64_t dim = 0; dim < 4; ++dim) {
      int64_t from = isTransposed && dim >= 2 ? 5 - dim : dim;
      sizes[dim] = operand.sizes[from];
      // A dim of one element still says where the next would be.
      strides[dim] = std::max<int64_t>(operand.strides[from], 1);
    }
    return graph.tensor(typeOf(operand.type), sizes, strides, id,
                        alignmentOf(operand.address));
  };
  int type = typeOf(query.type);
  Four pairs{query.sizes[0], query.sizes[1], query.sizes[2], key.sizes[2]};
  Four rows{query.sizes[0], query.sizes[1], query.sizes[2], 1};
  void *scores = graph.between(Float, pairs);
  graph.product(asItIs(query, Query), asItIs(key, Key, /*isTransposed=*/true),
                scores);
  void *scaled = graph.between(Float, pairs);
  graph.pointwise(PointwiseMul, Float, scores, graph.number(Float, Scale),
                  nullptr, scaled);
  if (call.numbers[1] == SHARDRT_CALL_CAUSAL) {
    void *row = graph.between(Int32, pairs),
         *column = graph.between(Int32, pairs);
    graph.pointwise(PointwiseIndex, Float, scaled, nullptr, nullptr, row, 2);
    graph.pointwise(PointwiseIndex, Float, scaled, nullptr, nullptr, column, 3);
    if (call.numbers[2] != 0) {
      void *last = graph.between(Int32, pairs);
      graph.pointwise(PointwiseAdd, Int32, row, graph.number(Int32, Offset),
                      nullptr, last);
      row = last;
    }
    void *counts = graph.between(Boolean, pairs);
    graph.pointwise(PointwiseGreaterEqual, Boolean, row, column, nullptr,
                    counts);
    void *masked = graph.between(Float, pairs);
    graph.pointwise(PointwiseSelect, Float, scaled,
                    graph.number(Float, Excluded), counts, masked);
    scaled = masked;
  }
  void *most = graph.dense(Float, rows, Most,
                           alignmentOf(call.operands[4].address)),
       *sum =
           graph.dense(Float, rows, Sum, alignmentOf(call.operands[5].address));
  void *apart = graph.between(Float, pairs),
       *powers = graph.between(Float, pairs),
       *weights = graph.between(type, pairs);
  graph.reduce(ReduceMax, scaled, most);
  graph.pointwise(PointwiseSub, Float, scaled, most, nullptr, apart);
  graph.pointwise(PointwiseExp, Float, apart, nullptr, nullptr, powers);
  graph.reduce(ReduceAdd, powers, sum);
  graph.pointwise(PointwiseDiv, Float, powers, sum, nullptr, weights);
  graph.product(weights, asItIs(value, Value), asItIs(out, Out));
  choose(graph.operations, /*onTensorCores=*/true, plan);
}

/// Whether sizes, types and layouts are such that cuDNN may be asked.
static bool isKnown(const Call &call) {
  if (call.numOperands != 6 || call.epilogue != 0)
    return false;
  const Operand &query = call.operands[0], &key = call.operands[1],
                &value = call.operands[2], &out = call.operands[3];
  if (query.type != ElementType::F16 && query.type != ElementType::BF16)
    return false;
  for (const Operand *operand : {&query, &key, &value, &out})
    if (operand->rank != 4 || operand->type != query.type ||
        (operand->sizes[3] != 1 && operand->strides[3] != 1) ||
        operand->sizes[3] % 8 != 0)
      return false;
  for (const Operand *rows : {&call.operands[4], &call.operands[5]})
    if (rows->rank != 3 || rows->type != ElementType::F32 || !rows->isDense() ||
        !std::equal(rows->sizes.begin(), rows->sizes.begin() + 3,
                    query.sizes.begin()))
      return false;
  // (batch, heads, rows, features) of each as those of the query and the key.
  auto hasSizes = [](const Operand &operand, int64_t b, int64_t h, int64_t n,
                     int64_t d) {
    return operand.sizes[0] == b && operand.sizes[1] == h &&
           operand.sizes[2] == n && operand.sizes[3] == d;
  };
  const auto &q = query.sizes, &k = key.sizes, &v = value.sizes;
  return hasSizes(key, q[0], k[1], k[2], q[3]) &&
         hasSizes(value, q[0], k[1], k[2], v[3]) &&
         hasSizes(out, q[0], q[1], q[2], v[3]) && q[1] % k[1] == 0;
}

Outcome Attention::run(const Call &given, std::string &why) {
  if (!isKnown(given) || library.version < leastOfAttention)
    return Outcome::NotOffered;
  Call call = given;
  int64_t columns = call.operands[1].sizes[2], &mask = call.numbers[1],
          &offset = call.numbers[2];
  if (mask != SHARDRT_CALL_FULL && mask != SHARDRT_CALL_CAUSAL)
    return Outcome::NotOffered;
  if (mask == SHARDRT_CALL_FULL || offset >= columns - 1) {
    mask = SHARDRT_CALL_FULL;
    offset = 0;
  }
  // Rows without columns.
  if (offset < 0)
    return Outcome::NotOffered;
  // Numbers that are given by value belong to no plan.
  constexpr size_t first = SHARDRT_CALL_NUMBERS - SHARDRT_CALL_KIND;
  call.key[first] = 0;
  call.key[first + 1] = mask;
  call.key[first + 2] = offset != 0;
  const GraphPlan *plan =
      planFor(call.key, why, [&](GraphPlan &made) { prepare(call, made); });
  if (!plan)
    return why.empty() ? Outcome::NotOffered : Outcome::Failed;
  // As aligned as their tensors say.
  alignas(16) auto scale =
      static_cast<float>(std::bit_cast<double>(call.numbers[0]));
  alignas(16) float excluded = -std::numeric_limits<float>::infinity();
  alignas(16) auto last = static_cast<int32_t>(offset);
  std::vector<int64_t> ids{Query, Key, Value, Out, Most, Sum, Scale};
  std::vector<void *> addresses;
  for (int64_t i = 0; i < call.numOperands; ++i)
    addresses.push_back(call.operands[i].address);
  addresses.push_back(&scale);
  if (mask == SHARDRT_CALL_CAUSAL) {
    ids.push_back(Excluded);
    addresses.push_back(&excluded);
  }
  if (offset != 0) {
    ids.push_back(Offset);
    addresses.push_back(&last);
  }
  return execute(*plan, ids, addresses, "attention", why);
}

std::unique_ptr<Provider> libraries::makeAttention(const Cudnn &library,
                                                   Device &device,
                                                   Workspace &workspace) {
  return std::make_unique<Attention>(library, device, workspace);
}
