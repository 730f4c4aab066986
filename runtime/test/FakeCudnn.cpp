//===- FakeCudnn.cpp - A stand-in for cuDNN -------------------------------===//

#include "FakeCudnn.h"
#include <algorithm>

using namespace fake;

std::optional<Number> fake::dnnNumber(int type) {
  switch (type) {
  case dnn::Half:
    return Number::F16;
  case dnn::BFloat16:
    return Number::BF16;
  case dnn::Float:
    return Number::F32;
  case dnn::Double:
    return Number::F64;
  default:
    return std::nullopt;
  }
}

namespace {
struct DnnHandle {
  bool hasStream = false;
};

constexpr Status badParameter = 2000, notFinal = 2004, unsupported = 3000,
                 failedToRun = 5000;
constexpr int64_t convolutionRoom = 8192;
/// Engine 0 rounds factors, 1 changes from run to run, 2 is fine.
constexpr int numEngines = 4;
/// Of f32 the first that may be used is on tensor cores, the second is not.
constexpr int onTensorCores = 2;

int64_t sizeOfType(int type) {
  switch (type) {
  case dnn::TypeFloat:
  case dnn::TypeDataType:
  case dnn::TypeConvolutionMode:
  case dnn::TypeHeuristicsMode:
  case dnn::TypeNote:
  case dnn::TypePointwiseMode:
  case dnn::TypeReduction:
    return 4;
  case dnn::TypeBoolean:
    return 1;
  default:
    return 8;
  }
}

/// The attributes that must be set.
std::vector<int> neededBy(int kind) {
  switch (kind) {
  case dnn::Tensor:
    return {dnn::TensorDataType, dnn::TensorDimensions, dnn::TensorStrides,
            dnn::TensorId, dnn::TensorAlignment};
  case dnn::Convolution:
    return {dnn::ConvolutionCompute,     dnn::ConvolutionMode,
            dnn::ConvolutionSpatialDims, dnn::ConvolutionStrides,
            dnn::ConvolutionDilations,   dnn::ConvolutionPrePaddings,
            dnn::ConvolutionPostPaddings};
  case dnn::OperationForward:
    return {700, 701, 702, 703, 704, 705};
  case dnn::OperationFilter:
    return {712, 713, 714, 715, 716, 717};
  case dnn::Pointwise:
    return {dnn::PointwiseMode, dnn::PointwiseCompute};
  case dnn::Matmul:
    return {dnn::MatmulCompute};
  case dnn::Reduction:
    return {dnn::ReductionOperator, dnn::ReductionCompute};
  case dnn::OperationPointwise:
    return {dnn::OperationPointwiseKind, dnn::OperationPointwiseX,
            dnn::OperationPointwiseY};
  case dnn::OperationMatmul:
    return {dnn::OperationMatmulKind, dnn::OperationMatmulA,
            dnn::OperationMatmulB, dnn::OperationMatmulC};
  case dnn::OperationReduction:
    return {dnn::OperationReductionKind, dnn::OperationReductionX,
            dnn::OperationReductionY};
  case dnn::Graph:
    return {dnn::GraphHandle, dnn::GraphOperations};
  case dnn::Heuristics:
    return {dnn::HeuristicsGraph, dnn::HeuristicsMode};
  case dnn::Plan:
    return {dnn::PlanHandle, dnn::PlanConfig};
  case dnn::VariantPack:
    return {dnn::PackIds, dnn::PackPointers, dnn::PackWorkspace};
  default:
    return {};
  }
}

/// One op of a graph, read out of its descriptors.
struct ConvolutionOp {
  int kind = 0, first = 0;
  const Descriptor *convolution = nullptr, *x = nullptr, *w = nullptr,
                   *y = nullptr;
  int64_t dims = 0;

  explicit ConvolutionOp(const Descriptor &op) : kind(op.kind) {
    first = kind == dnn::OperationForward ? 700 : 712;
    convolution = op.other(first + 2);
    w = op.other(first + 3);
    x = op.other(first + 4);
    y = op.other(first + 5);
    dims = convolution->at(dnn::ConvolutionSpatialDims).get<int64_t>();
  }
  int64_t number(int name, int64_t i) const {
    return convolution->at(name).get<int64_t>(i);
  }
  static int64_t size(const Descriptor &tensor, int64_t i) {
    return tensor.at(dnn::TensorDimensions).get<int64_t>(i);
  }
  static int64_t stride(const Descriptor &tensor, int64_t i) {
    return tensor.at(dnn::TensorStrides).get<int64_t>(i);
  }

  std::string problem() const {
    for (const Descriptor *tensor : {x, w, y})
      if (tensor->at(dnn::TensorDimensions).count != dims + 2 ||
          tensor->at(dnn::TensorStrides).count != dims + 2)
        return "tensors have other dims";
    if (size(*x, 0) != size(*y, 0) || size(*w, 0) != size(*y, 1) ||
        size(*x, 1) % size(*w, 1) != 0 ||
        size(*w, 0) % (size(*x, 1) / size(*w, 1)) != 0)
      return "channels do not agree";
    for (int64_t i = 0; i < dims; ++i) {
      int64_t reach =
          (size(*w, 2 + i) - 1) * number(dnn::ConvolutionDilations, i) + 1;
      int64_t padded = size(*x, 2 + i) +
                       number(dnn::ConvolutionPrePaddings, i) +
                       number(dnn::ConvolutionPostPaddings, i);
      if (padded < reach ||
          (padded - reach) / number(dnn::ConvolutionStrides, i) + 1 !=
              size(*y, 2 + i))
        return "sizes do not agree along dim " + std::to_string(i);
    }
    return {};
  }
};
} // namespace

FAKE_EXPORT size_t cudnnGetVersion() {
  return versionOf("FAKE_CUDNN_VERSION", 91900);
}
FAKE_EXPORT const char *cudnnGetErrorString(Status status) {
  return status == failedToRun ? "CUDNN_STATUS_EXECUTION_FAILED"
                               : "CUDNN_STATUS_BAD_PARAM";
}
FAKE_EXPORT Status cudnnCreate(void **handle) {
  *handle = live.add(new DnnHandle);
  return 0;
}
FAKE_EXPORT Status cudnnDestroy(void *handle) {
  return destroyObject<DnnHandle>(handle, "a handle of cuDNN");
}
FAKE_EXPORT Status cudnnSetStream(void *handle, Stream) {
  if (!live.has(handle))
    return broken(badParameter, "gives no handle a stream");
  static_cast<DnnHandle *>(handle)->hasStream = true;
  return 0;
}
FAKE_EXPORT Status cudnnBackendCreateDescriptor(int kind, void **descriptor) {
  auto *made = new Descriptor;
  made->kind = kind;
  *descriptor = live.add(made);
  return 0;
}
FAKE_EXPORT Status cudnnBackendDestroyDescriptor(void *descriptor) {
  return destroyObject<Descriptor>(descriptor, "a descriptor");
}
FAKE_EXPORT Status cudnnBackendSetAttribute(void *object, int name, int type,
                                            int64_t count, const void *values) {
  if (!live.has(object))
    return broken(badParameter, "sets an attribute of no descriptor");
  auto *descriptor = static_cast<Descriptor *>(object);
  if (descriptor->isFinal)
    return broken(badParameter, "sets attribute " + std::to_string(name) +
                                    " of what is final");
  if (type == dnn::TypeDescriptor)
    for (int64_t i = 0; i < count; ++i) {
      auto *other = static_cast<void *const *>(values)[i];
      // Configurations come out of heuristics, final.
      if (!live.has(other) || !static_cast<Descriptor *>(other)->isFinal)
        return broken(notFinal, "attribute " + std::to_string(name) +
                                    " is a descriptor that is not final");
    }
  Attribute attribute;
  attribute.type = type;
  attribute.count = count;
  auto *bytes = static_cast<const char *>(values);
  attribute.bytes.assign(bytes, bytes + count * sizeOfType(type));
  descriptor->attributes[name] = attribute;
  return 0;
}
FAKE_EXPORT Status cudnnBackendFinalize(void *object) {
  if (!live.has(object))
    return broken(badParameter, "makes no descriptor final");
  auto *descriptor = static_cast<Descriptor *>(object);
  for (int name : neededBy(descriptor->kind))
    if (!descriptor->has(name))
      return broken(badParameter,
                    "descriptor " + std::to_string(descriptor->kind) +
                        " lacks attribute " + std::to_string(name));
  if (descriptor->kind == dnn::Tensor) {
    int64_t alignment = descriptor->at(dnn::TensorAlignment).get<int64_t>();
    int type = descriptor->at(dnn::TensorDataType).get<int>();
    if (alignment < 1 ||
        (!dnnNumber(type) && type != dnn::Int32 && type != dnn::Boolean))
      return broken(badParameter,
                    "a tensor without alignment, or of another type");
    const Attribute &strides = descriptor->at(dnn::TensorStrides);
    for (int64_t i = 0; i < strides.count; ++i)
      if (strides.get<int64_t>(i) < 1)
        return broken(badParameter,
                      "a tensor of stride " +
                          std::to_string(strides.get<int64_t>(i)));
  }
  if (descriptor->kind == dnn::OperationForward ||
      descriptor->kind == dnn::OperationFilter)
    if (std::string problem = ConvolutionOp(*descriptor).problem();
        !problem.empty())
      return broken(badParameter, "a convolution whose " + problem);
  if (descriptor->kind == dnn::Graph && isSet("FAKE_LIBRARY_REFUSE"))
    return unsupported;
  if (descriptor->kind == dnn::Graph &&
      isOperation(descriptor->other(dnn::GraphOperations)->kind))
    if (std::string problem = problemOf(*descriptor); !problem.empty())
      return broken(badParameter, "a graph whose " + problem);
  if (descriptor->kind == dnn::Plan)
    descriptor->engine = descriptor->other(dnn::PlanConfig)->engine;
  descriptor->isFinal = true;
  return 0;
}
FAKE_EXPORT Status cudnnBackendGetAttribute(void *object, int name, int type,
                                            int64_t asked, int64_t *count,
                                            void *values) {
  if (!live.has(object))
    return broken(badParameter, "asks no descriptor");
  auto *descriptor = static_cast<Descriptor *>(object);
  if (descriptor->kind == dnn::Heuristics && name == dnn::HeuristicsResults &&
      type == dnn::TypeDescriptor) {
    if (!descriptor->isFinal)
      return broken(notFinal, "asks heuristics that are not final");
    *count = std::min<int64_t>(asked, numEngines);
    for (int64_t i = 0; i < *count; ++i) {
      void *result = static_cast<void **>(values)[i];
      if (!live.has(result) ||
          static_cast<Descriptor *>(result)->kind != dnn::EngineConfig)
        return broken(
            badParameter,
            "gives heuristics something to fill that is no configuration");
      auto *config = static_cast<Descriptor *>(result);
      config->engine = static_cast<int>(i);
      config->attributes[dnn::HeuristicsGraph] =
          descriptor->at(dnn::HeuristicsGraph);
      config->isFinal = true;
    }
    return 0;
  }
  if (descriptor->kind == dnn::EngineConfig && name == dnn::ConfigEngine) {
    void *result = *static_cast<void **>(values);
    if (!live.has(result) ||
        static_cast<Descriptor *>(result)->kind != dnn::Engine)
      return broken(
          badParameter,
          "gives a configuration something to fill that is no engine");
    static_cast<Descriptor *>(result)->engine = descriptor->engine;
    static_cast<Descriptor *>(result)->isFinal = true;
    *count = 1;
    return 0;
  }
  if (descriptor->kind == dnn::Engine && name == dnn::EngineNotes &&
      asked >= 1) {
    constexpr int notes[] = {dnn::NoteDownConvert, dnn::NoteNondeterministic,
                             dnn::NoteTensorCore};
    *count = descriptor->engine < 3;
    if (descriptor->engine < 3)
      *static_cast<int *>(values) = notes[descriptor->engine];
    return 0;
  }
  if (descriptor->kind == dnn::Plan && name == dnn::PlanWorkspace &&
      type == dnn::TypeInt64) {
    *static_cast<int64_t *>(values) = convolutionRoom;
    *count = 1;
    return 0;
  }
  return broken(badParameter, "asks descriptor " +
                                  std::to_string(descriptor->kind) +
                                  " for attribute " + std::to_string(name));
}

FAKE_EXPORT Status cudnnBackendExecute(void *handle, void *planObject,
                                       void *packObject) {
  for (void *object : {handle, planObject, packObject})
    if (!live.has(object))
      return broken(badParameter, "runs something that is destroyed");
  auto &plan = *static_cast<Descriptor *>(planObject),
       &pack = *static_cast<Descriptor *>(packObject);
  if (!plan.isFinal || !pack.isFinal)
    return broken(notFinal, "runs something that is not final");
  if (!static_cast<DnnHandle *>(handle)->hasStream ||
      plan.at(dnn::PlanHandle).get<void *>() != handle)
    return broken(badParameter,
                  "the handle has no stream, or is not the plan's");
  if (plan.engine < onTensorCores)
    return broken(
        badParameter,
        "uses an engine that rounds factors, or changes from run to run");
  void *room = pack.at(dnn::PackWorkspace).get<void *>();
  if (!room || !isAligned(room, 256))
    return broken(badParameter, "there is no room, or it is not aligned");
  std::memset(toHost(room), 0x5a, convolutionRoom);
  if (isSet("FAKE_LIBRARY_FAIL"))
    return failedToRun;
  Descriptor *config = plan.other(dnn::PlanConfig);
  if (!live.has(config))
    return broken(badParameter, "the plan's configuration is destroyed");
  Descriptor *graph = config->other(dnn::HeuristicsGraph);
  if (!live.has(graph) || !live.has(graph->other(dnn::GraphOperations)))
    return broken(badParameter, "the plan's graph is destroyed");
  auto addressOf = [&](const Descriptor &tensor) -> char * {
    int64_t id = tensor.at(dnn::TensorId).get<int64_t>();
    for (int64_t i = 0; i < pack.at(dnn::PackIds).count; ++i)
      if (pack.at(dnn::PackIds).get<int64_t>(i) == id) {
        auto *address =
            static_cast<char *>(pack.at(dnn::PackPointers).get<void *>(i));
        if (isAligned(address, tensor.at(dnn::TensorAlignment).get<int64_t>()))
          return toHost(address);
      }
    return nullptr;
  };
  const Descriptor &first = *graph->other(dnn::GraphOperations);
  if (isOperation(first.kind)) {
    std::string done = runOperations(*graph, addressOf);
    if (done.empty())
      return broken(badParameter, "a tensor has no address, or one that is not "
                                  "aligned as was promised");
    logCall(done);
    return 0;
  }
  ConvolutionOp op(first);
  char *x = addressOf(*op.x), *w = addressOf(*op.w), *y = addressOf(*op.y);
  if (!x || !w || !y)
    return broken(
        badParameter,
        "a tensor has no address, or one that is not aligned as was promised");
  auto typeOf = [](const Descriptor &tensor) {
    return *dnnNumber(tensor.at(dnn::TensorDataType).get<int>());
  };
  Number xType = typeOf(*op.x), wType = typeOf(*op.w), yType = typeOf(*op.y);
  const Descriptor &target = op.kind == dnn::OperationForward ? *op.y : *op.w;
  int64_t batch = op.size(*op.x, 0), channels = op.size(*op.w, 1),
          filters = op.size(*op.w, 0);
  int64_t groups = op.size(*op.x, 1) / channels, perGroup = filters / groups;
  // Sums by the place of their result.
  std::map<int64_t, double> sums;
  std::vector<int64_t> points(op.dims), window(op.dims);
  auto count = [&](const Descriptor &tensor) {
    int64_t total = 1;
    for (int64_t i = 0; i < op.dims; ++i)
      total *= op.size(tensor, 2 + i);
    return total;
  };
  int64_t numPoints = count(*op.y), numWindow = count(*op.w);
  for (int64_t point = 0; point < numPoints; ++point)
    for (int64_t element = 0; element < numWindow; ++element) {
      int64_t restPoint = point, restElement = element, xAt = 0, wAt = 0,
              yAt = 0;
      bool inside = true;
      for (int64_t i = op.dims; i-- > 0;) {
        int64_t p = restPoint % op.size(*op.y, 2 + i),
                r = restElement % op.size(*op.w, 2 + i);
        restPoint /= op.size(*op.y, 2 + i);
        restElement /= op.size(*op.w, 2 + i);
        int64_t place = p * op.number(dnn::ConvolutionStrides, i) +
                        r * op.number(dnn::ConvolutionDilations, i) -
                        op.number(dnn::ConvolutionPrePaddings, i);
        inside &= place >= 0 && place < op.size(*op.x, 2 + i);
        xAt += place * op.stride(*op.x, 2 + i);
        wAt += r * op.stride(*op.w, 2 + i);
        yAt += p * op.stride(*op.y, 2 + i);
      }
      if (!inside)
        continue;
      for (int64_t n = 0; n < batch; ++n)
        for (int64_t k = 0; k < filters; ++k)
          for (int64_t c = 0; c < channels; ++c) {
            int64_t xPlace =
                xAt + n * op.stride(*op.x, 0) +
                (k / perGroup * channels + c) * op.stride(*op.x, 1);
            int64_t wPlace =
                wAt + k * op.stride(*op.w, 0) + c * op.stride(*op.w, 1);
            int64_t yPlace =
                yAt + n * op.stride(*op.y, 0) + k * op.stride(*op.y, 1);
            if (&target == op.y)
              sums[yPlace] += load(xType, x, xPlace) * load(wType, w, wPlace);
            else
              sums[wPlace] += load(xType, x, xPlace) * load(yType, y, yPlace);
          }
    }
  char *to = addressOf(target);
  Number type = typeOf(target);
  for (auto [place, sum] : sums)
    store(type, to, place, sum);
  logCall(
      "convolution " +
      std::string(op.kind == dnn::OperationForward ? "forward" : "filter") +
      " of " + std::to_string(op.dims) + " dims, " + std::to_string(filters) +
      " filters of " + std::to_string(channels) + " channels, groups " +
      std::to_string(groups) + ", " + nameOf(xType) + " to " + nameOf(type) +
      (xType == Number::F32 && plan.engine == onTensorCores ? " tf32" : ""));
  return 0;
}
