//===- Cudnn.cpp - Convolutions by cuDNN ----------------------------------===//

#include "Device/Cuda/CudnnGraph.h"

using namespace shardrt;
using namespace shardrt::libraries;
using namespace shardrt::libraries::dnn;

namespace {
class Convolutions final : public GraphProvider {
public:
  using GraphProvider::GraphProvider;
  Outcome run(const Call &call, std::string &why) override;

private:
  void prepare(const Call &call, GraphPlan &plan);
};
} // namespace

/// Operands of a call by what they are: x, w and y.
static std::array<const Operand *, 3> byRole(const Call &call) {
  const Operand *first = &call.operands[0], *second = &call.operands[1],
                *result = &call.result();
  if (call.numbers[0] == SHARDRT_CALL_FILTER)
    return {first, result, second};
  return {first, second, result};
}

/// Whether cuDNN finds as many points as the result, or y, has.
static bool sizesAgree(const Call &call) {
  auto [x, w, y] = byRole(call);
  for (int64_t i = 0; i < call.numbers[1]; ++i) {
    int64_t stride = call.numbers[3 + i], dilation = call.numbers[6 + i];
    int64_t rest = x->sizes[2 + i] + 2 * call.numbers[9 + i] -
                   (w->sizes[2 + i] - 1) * dilation - 1;
    if (stride < 1 || dilation < 1 || rest < 0 ||
        rest / stride + 1 != y->sizes[2 + i])
      return false;
  }
  int64_t groups = call.numbers[2];
  return groups >= 1 && x->sizes[0] == y->sizes[0] &&
         x->sizes[1] == groups * w->sizes[1] && w->sizes[0] == y->sizes[1] &&
         w->sizes[0] % groups == 0;
}

/// A tensor of (n, channels, spatial...) as cuDNN describes one.
static Descriptor tensorOf(const Cudnn &library, const Operand &operand,
                           int64_t id) {
  Descriptor tensor(library, Tensor);
  int64_t strides[SHARDRT_CALL_DIMS];
  for (int64_t dim = 0; dim < operand.rank; ++dim)
    strides[dim] = operand.strides[dim];
  // A dim of one element still says where the next would be.
  for (int64_t dim = operand.rank; dim-- > 0;)
    if (operand.sizes[dim] == 1 && strides[dim] < 1)
      strides[dim] = 1;
  tensor.set(TensorDataType, TypeDataType, typeOf(operand.type))
      .set(TensorDimensions, TypeInt64, operand.rank, operand.sizes.data())
      .set(TensorStrides, TypeInt64, operand.rank, strides)
      .set(TensorId, TypeInt64, id)
      .set(TensorAlignment, TypeInt64, alignmentOf(operand.address))
      .finalize();
  return tensor;
}

void Convolutions::prepare(const Call &call, GraphPlan &plan) {
  int64_t what = call.numbers[0], dims = call.numbers[1];
  std::array<const Operand *, 3> operands = byRole(call);
  bool isDouble = call.result().type == ElementType::F64;
  Descriptor convolution(library, Convolution);
  convolution
      .set(ConvolutionCompute, TypeDataType, int(isDouble ? Double : Float))
      .set(ConvolutionMode, TypeConvolutionMode, int(CrossCorrelation))
      .set(ConvolutionSpatialDims, TypeInt64, dims)
      .set(ConvolutionStrides, TypeInt64, dims, &call.numbers[3])
      .set(ConvolutionDilations, TypeInt64, dims, &call.numbers[6])
      .set(ConvolutionPrePaddings, TypeInt64, dims, &call.numbers[9])
      .set(ConvolutionPostPaddings, TypeInt64, dims, &call.numbers[9])
      .finalize();
  Descriptor x = tensorOf(library, *operands[0], 1),
             w = tensorOf(library, *operands[1], 2),
             y = tensorOf(library, *operands[2], 3);
  bool isFilter = what == SHARDRT_CALL_FILTER;
  int first = isFilter ? FilterAlpha : ForwardAlpha;
  Descriptor op(library, isFilter ? OperationFilter : OperationForward);
  float one32 = 1, zero32 = 0;
  double one64 = 1, zero64 = 0;
  if (isDouble)
    op.set(first, TypeDouble, one64).set(first + 1, TypeDouble, zero64);
  else
    op.set(first, TypeFloat, one32).set(first + 1, TypeFloat, zero32);
  // Both ops name w, x and y in this order.
  op.set(first + 2, convolution)
      .set(first + 3, w)
      .set(first + 4, x)
      .set(first + 5, y)
      .finalize();
  std::vector<void *> operations{op.handle};
  for (Descriptor *each : {&convolution, &x, &w, &y, &op})
    plan.parts.push_back(std::move(*each));
  choose(operations, call.tf32 || call.operands[0].type != ElementType::F32,
         plan);
}

Outcome Convolutions::run(const Call &call, std::string &why) {
  int64_t dims = call.numbers[1];
  if (call.numOperands != 3 || call.epilogue != 0 || dims < 1 || dims > 3)
    return Outcome::NotOffered;
  for (int64_t i = 0; i < 3; ++i)
    if (call.operands[i].rank != dims + 2 || typeOf(call.operands[i].type) < 0)
      return Outcome::NotOffered;
  if (!sizesAgree(call))
    return Outcome::NotOffered;
  const GraphPlan *plan =
      planFor(call.key, why, [&](GraphPlan &made) { prepare(call, made); });
  if (!plan)
    return why.empty() ? Outcome::NotOffered : Outcome::Failed;
  std::array<const Operand *, 3> operands = byRole(call);
  return execute(
      *plan, {1, 2, 3},
      {operands[0]->address, operands[1]->address, operands[2]->address},
      "a convolution", why);
}

std::unique_ptr<Provider> libraries::makeConvolutions(const Cudnn &library,
                                                      Device &device,
                                                      Workspace &workspace) {
  return std::make_unique<Convolutions>(library, device, workspace);
}
