//===- FakeLibraries.cpp - A stand-in for cuBLASLt, cuDNN and cuFFT -------===//
//
// The functions of these that shardrt opens, on the host. Addresses may be the
// emulated device's. It holds callers to the libraries' rules:
//
// - What is used was made, is whole, and was not destroyed.
// - Matrices do not overlap themselves; shapes, types and batches agree.
// - An algorithm, configuration or plan is used for what it was found for, with
//   the room it asked for and addresses as aligned as was promised.
// - Engines whose notes say that they round factors, or are different from run
//   to run, are not used; sums are not put together in 16 bits.
// - cuDNN and cuFFT were given a stream.
// - What is room is overwritten, and so are inputs that a library may
// overwrite.
//
// A rule that is broken is said on stderr, and the call fails. At the end of
// the process what was not destroyed is counted. Variables of the environment:
//   FAKE_LIBRARY_LOG=1      a line on stderr for each call that computes
//   FAKE_LIBRARY_REFUSE=1   products, convolutions, transforms: none is taken
//   FAKE_LIBRARY_FAIL=1     what computes fails
//   FAKE_CUBLASLT_VERSION, FAKE_CUDNN_VERSION, FAKE_CUFFT_VERSION
//
//===----------------------------------------------------------------------===//

#include "Device/Cuda/Libraries.h"
#include "shardrt/Emulated.h"
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace shardrt::libraries;

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

//===----------------------------------------------------------------------===//
// What all of them share
//===----------------------------------------------------------------------===//

static bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value && *value != '0';
}

static size_t versionOf(const char *variable, size_t usual) {
  const char *value = std::getenv(variable);
  return value && *value ? std::strtoul(value, nullptr, 10) : usual;
}

/// Says what rule is broken; `code` is what the call returns.
static Status broken(Status code, const std::string &rule) {
  std::fprintf(stderr, "fake library: %s\n", rule.c_str());
  return code;
}

static void logCall(const std::string &text) {
  if (isSet("FAKE_LIBRARY_LOG"))
    std::fprintf(stderr, "fake library: did %s\n", text.c_str());
}

namespace {
/// Objects that were made and not destroyed, of all kinds.
class Live {
public:
  ~Live() {
    if (!all.empty())
      std::fprintf(stderr, "fake library: %zu objects were not destroyed\n",
                   all.size());
  }
  void *add(void *object) {
    std::lock_guard lock(mutex);
    all.insert(object);
    return object;
  }
  bool has(const void *object) {
    std::lock_guard lock(mutex);
    return all.count(object) != 0;
  }
  bool remove(const void *object) {
    std::lock_guard lock(mutex);
    return all.erase(object) != 0;
  }

private:
  std::mutex mutex;
  std::set<const void *> all;
};
} // namespace

static Live live;

template <typename T> static T *toHost(T *address) {
  auto bits = static_cast<int64_t>(reinterpret_cast<uintptr_t>(address));
  if (bits & SHARDRT_EMULATED_TAG)
    bits ^= SHARDRT_EMULATED_TAG;
  return reinterpret_cast<T *>(static_cast<uintptr_t>(bits));
}

static bool isAligned(const void *address, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(toHost(address)) % bytes == 0;
}

/// Numbers of one type in memory.
enum class Number { F16, BF16, F32, F64 };

static int64_t bytesOf(Number type) {
  return type == Number::F64 ? 8 : type == Number::F32 ? 4 : 2;
}

static double load(Number type, const void *base, int64_t index) {
  const char *at = static_cast<const char *>(base) + index * bytesOf(type);
  if (type == Number::F64) {
    double value;
    std::memcpy(&value, at, 8);
    return value;
  }
  if (type == Number::F32) {
    float value;
    std::memcpy(&value, at, 4);
    return value;
  }
  if (type == Number::F16) {
    _Float16 value;
    std::memcpy(&value, at, 2);
    return static_cast<double>(value);
  }
  uint16_t half;
  std::memcpy(&half, at, 2);
  uint32_t bits = uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

static void store(Number type, void *base, int64_t index, double value) {
  char *at = static_cast<char *>(base) + index * bytesOf(type);
  if (type == Number::F64) {
    std::memcpy(at, &value, 8);
    return;
  }
  auto single = static_cast<float>(value);
  if (type == Number::F32) {
    std::memcpy(at, &single, 4);
    return;
  }
  if (type == Number::F16) {
    auto half = static_cast<_Float16>(single);
    std::memcpy(at, &half, 2);
    return;
  }
  uint32_t bits;
  std::memcpy(&bits, &single, 4);
  // To the nearest, ties to even.
  if (single == single)
    bits += 0x7fff + ((bits >> 16) & 1);
  auto half = static_cast<uint16_t>(bits >> 16);
  std::memcpy(at, &half, 2);
}

static const char *nameOf(Number type) {
  const char *const names[] = {"f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(type)];
}

//===----------------------------------------------------------------------===//
// cuBLASLt
//===----------------------------------------------------------------------===//

namespace {
struct MatmulDesc {
  int compute = 0, scale = 0;
  int32_t transA = 0, transB = 0, biasType = -1;
  uint32_t epilogue = lt::EpilogueDefault;
  const void *bias = nullptr;
};

struct MatrixLayout {
  int type = 0;
  int64_t rows = 0, columns = 0, leading = 0, batchStride = 0;
  int32_t batches = 1;
};

struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = 7, alignment[4] = {256, 256, 256, 256};
};

constexpr Status notInitialized = 1, invalidValue = 7, executionFailed = 13,
                 notSupported = 15;
/// What an algorithm of this library begins with, and the room it needs.
constexpr uint64_t algorithmMark = 0x5348415244ull;
constexpr size_t productRoom = 4096;

/// The numbers of a product, as far as an algorithm depends on them.
uint64_t fingerprint(const MatmulDesc &desc,
                     std::initializer_list<const MatrixLayout *> layouts) {
  uint64_t hash = 1469598103934665603ull;
  auto mix = [&](int64_t number) {
    hash = (hash ^ static_cast<uint64_t>(number)) * 1099511628211ull;
  };
  for (int64_t number : {int64_t(desc.compute), int64_t(desc.transA),
                         int64_t(desc.transB), int64_t(desc.epilogue)})
    mix(number);
  for (const MatrixLayout *layout : layouts)
    for (int64_t number :
         {int64_t(layout->type), layout->rows, layout->columns, layout->leading,
          layout->batchStride, int64_t(layout->batches)})
      mix(number);
  return hash;
}

std::optional<Number> ltNumber(int type) {
  switch (type) {
  case lt::R16F:
    return Number::F16;
  case lt::R16BF:
    return Number::BF16;
  case lt::R32F:
    return Number::F32;
  case lt::R64F:
    return Number::F64;
  default:
    return std::nullopt;
  }
}
} // namespace

FAKE_EXPORT size_t cublasLtGetVersion() {
  return versionOf("FAKE_CUBLASLT_VERSION", 130100);
}
FAKE_EXPORT const char *cublasLtGetStatusString(Status status) {
  return status == notSupported      ? "CUBLAS_STATUS_NOT_SUPPORTED"
         : status == executionFailed ? "CUBLAS_STATUS_EXECUTION_FAILED"
         : status == invalidValue    ? "CUBLAS_STATUS_INVALID_VALUE"
                                     : "CUBLAS_STATUS_NOT_INITIALIZED";
}
FAKE_EXPORT Status cublasLtCreate(void **handle) {
  *handle = live.add(new int(0));
  return 0;
}
FAKE_EXPORT Status cublasLtDestroy(void *handle) {
  if (!live.remove(handle))
    return broken(notInitialized, "cublasLtDestroy of no handle");
  delete static_cast<int *>(handle);
  return 0;
}

template <typename T>
static Status destroyObject(void *object, const char *what) {
  if (!live.remove(object))
    return broken(invalidValue,
                  std::string(what) + " was not made, or destroyed before");
  delete static_cast<T *>(object);
  return 0;
}

FAKE_EXPORT Status cublasLtMatmulDescCreate(void **desc, int compute,
                                            int scale) {
  bool fits = (compute == lt::Compute32F && scale == lt::R32F) ||
              (compute == lt::Compute64F && scale == lt::R64F);
  if (!fits)
    return broken(notSupported, "computes in " + std::to_string(compute) +
                                    ", scaled in " + std::to_string(scale));
  auto *made = new MatmulDesc;
  made->compute = compute;
  made->scale = scale;
  *desc = live.add(made);
  return 0;
}
FAKE_EXPORT Status cublasLtMatmulDescDestroy(void *desc) {
  return destroyObject<MatmulDesc>(desc, "a product");
}
FAKE_EXPORT Status cublasLtMatmulDescSetAttribute(void *object, int attribute,
                                                  const void *value,
                                                  size_t bytes) {
  if (!live.has(object))
    return broken(invalidValue, "sets an attribute of no product");
  auto *desc = static_cast<MatmulDesc *>(object);
  auto take = [&](auto &field) -> Status {
    if (bytes != sizeof(field))
      return broken(invalidValue, "attribute " + std::to_string(attribute) +
                                      " of a product is given in " +
                                      std::to_string(bytes) + " bytes");
    std::memcpy(&field, value, bytes);
    return 0;
  };
  switch (attribute) {
  case lt::DescTransA:
    return take(desc->transA);
  case lt::DescTransB:
    return take(desc->transB);
  case lt::DescEpilogue:
    return take(desc->epilogue);
  case lt::DescBiasPointer:
    return take(desc->bias);
  case lt::DescBiasType:
    return take(desc->biasType);
  default:
    return broken(invalidValue,
                  "a product has no attribute " + std::to_string(attribute));
  }
}
FAKE_EXPORT Status cublasLtMatrixLayoutCreate(void **layout, int type,
                                              uint64_t rows, uint64_t columns,
                                              int64_t leading) {
  if (!ltNumber(type) || rows == 0 || columns == 0 ||
      leading < static_cast<int64_t>(rows))
    return broken(invalidValue, "a matrix of " + std::to_string(rows) + "x" +
                                    std::to_string(columns) +
                                    ", of which columns are " +
                                    std::to_string(leading) + " apart");
  auto *made = new MatrixLayout;
  made->type = type;
  made->rows = static_cast<int64_t>(rows);
  made->columns = static_cast<int64_t>(columns);
  made->leading = leading;
  *layout = live.add(made);
  return 0;
}
FAKE_EXPORT Status cublasLtMatrixLayoutDestroy(void *layout) {
  return destroyObject<MatrixLayout>(layout, "a matrix");
}
FAKE_EXPORT Status cublasLtMatrixLayoutSetAttribute(void *object, int attribute,
                                                    const void *value,
                                                    size_t bytes) {
  if (!live.has(object))
    return broken(invalidValue, "sets an attribute of no matrix");
  auto *layout = static_cast<MatrixLayout *>(object);
  if (attribute == lt::LayoutBatchCount && bytes == 4)
    std::memcpy(&layout->batches, value, 4);
  else if (attribute == lt::LayoutBatchStride && bytes == 8)
    std::memcpy(&layout->batchStride, value, 8);
  else
    return broken(invalidValue, "a matrix has no attribute " +
                                    std::to_string(attribute) + " of " +
                                    std::to_string(bytes) + " bytes");
  return 0;
}
FAKE_EXPORT Status cublasLtMatmulPreferenceCreate(void **preference) {
  *preference = live.add(new Preference);
  return 0;
}
FAKE_EXPORT Status cublasLtMatmulPreferenceDestroy(void *preference) {
  return destroyObject<Preference>(preference, "a preference");
}
FAKE_EXPORT Status cublasLtMatmulPreferenceSetAttribute(void *object,
                                                        int attribute,
                                                        const void *value,
                                                        size_t bytes) {
  if (!live.has(object))
    return broken(invalidValue, "sets an attribute of no preference");
  auto *preference = static_cast<Preference *>(object);
  if (attribute == lt::PrefMaxWorkspace && bytes == 8)
    std::memcpy(&preference->workspace, value, 8);
  else if (attribute == lt::PrefReductions && bytes == 4)
    std::memcpy(&preference->reductions, value, 4);
  else if (attribute >= lt::PrefAlignmentA &&
           attribute < lt::PrefAlignmentA + 4 && bytes == 4)
    std::memcpy(&preference->alignment[attribute - lt::PrefAlignmentA], value,
                4);
  else
    return broken(invalidValue,
                  "preferences have no attribute " + std::to_string(attribute));
  return 0;
}

/// Rows and columns of a factor as it is multiplied.
static std::pair<int64_t, int64_t> shapeOf(const MatrixLayout &layout,
                                           int32_t trans) {
  if (trans == lt::OpN)
    return {layout.rows, layout.columns};
  return {layout.columns, layout.rows};
}

/// What is wrong with a product; empty if nothing is.
static std::string problemOf(const MatmulDesc &desc, const MatrixLayout &a,
                             const MatrixLayout &b, const MatrixLayout &d) {
  auto [m, k] = shapeOf(a, desc.transA);
  auto [k2, n] = shapeOf(b, desc.transB);
  if (k != k2 || m != d.rows || n != d.columns)
    return "shapes do not agree";
  if (a.batches != d.batches || b.batches != d.batches || d.batches < 1)
    return "batches do not agree";
  if (d.batches > 1 && d.batchStride < d.leading * (d.columns - 1) + d.rows &&
      d.leading < d.batchStride * (d.batches - 1) + d.rows)
    return "results of a batch overlap";
  Number in = *ltNumber(a.type), out = *ltNumber(d.type);
  bool types = a.type == b.type &&
               ((in == Number::F64) == (desc.compute == lt::Compute64F)) &&
               (out == in || (out == Number::F32 && bytesOf(in) == 2));
  if (!types)
    return "types do not agree";
  if ((desc.epilogue & lt::EpilogueBias) &&
      (desc.bias == nullptr || desc.biasType != d.type))
    return "there is no bias, or of another type than the result";
  return {};
}

FAKE_EXPORT Status cublasLtMatmulAlgoGetHeuristic(
    void *handle, void *desc, void *a, void *b, void *c, void *d,
    void *preference, int asked, lt::Heuristic *results, int *found) {
  *found = 0;
  for (void *object : {handle, desc, a, b, c, d, preference})
    if (!live.has(object))
      return broken(invalidValue,
                    "asks for an algorithm with something that is destroyed");
  if (isSet("FAKE_LIBRARY_REFUSE"))
    return notSupported;
  auto &matmul = *static_cast<MatmulDesc *>(desc);
  auto &first = *static_cast<MatrixLayout *>(a),
       &second = *static_cast<MatrixLayout *>(b),
       &result = *static_cast<MatrixLayout *>(d);
  auto &wish = *static_cast<Preference *>(preference);
  if (std::string problem = problemOf(matmul, first, second, result);
      !problem.empty())
    return broken(invalidValue, "a product whose " + problem);
  if (wish.reductions != lt::ReductionComputeType && wish.reductions != 0)
    return broken(
        invalidValue,
        "sums may be put together in the result's type, or in any order");
  if (wish.workspace < productRoom || asked < 2)
    return 0;
  // The first needs more room than it says it may have.
  results[0].state = notSupported;
  results[1].state = 0;
  results[1].workspaceBytes = productRoom;
  results[1].algorithm[0] = algorithmMark;
  results[1].algorithm[1] = fingerprint(matmul, {&first, &second, &result});
  for (int i = 0; i < 4; ++i)
    results[1].algorithm[2 + i] = wish.alignment[i];
  *found = 2;
  return 0;
}

FAKE_EXPORT Status cublasLtMatmul(void *handle, void *desc, const void *alpha,
                                  const void *a, void *aLayout, const void *b,
                                  void *bLayout, const void *beta,
                                  const void *c, void *cLayout, void *d,
                                  void *dLayout, const uint64_t *algorithm,
                                  void *room, size_t roomBytes, Stream) {
  for (void *object : {handle, desc, aLayout, bLayout, cLayout, dLayout})
    if (!live.has(object))
      return broken(invalidValue,
                    "multiplies with something that is destroyed");
  auto &matmul = *static_cast<MatmulDesc *>(desc);
  auto &first = *static_cast<MatrixLayout *>(aLayout),
       &second = *static_cast<MatrixLayout *>(bLayout),
       &result = *static_cast<MatrixLayout *>(dLayout);
  if (std::string problem = problemOf(matmul, first, second, result);
      !problem.empty())
    return broken(invalidValue, "a product whose " + problem);
  if (c != d || cLayout != dLayout)
    return broken(invalidValue, "adds what stands elsewhere");
  if (!algorithm || algorithm[0] != algorithmMark ||
      algorithm[1] != fingerprint(matmul, {&first, &second, &result}))
    return broken(invalidValue, "the algorithm was found for another product");
  const void *addresses[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (!isAligned(addresses[i], static_cast<int64_t>(algorithm[2 + i])))
      return broken(invalidValue, "operand " + std::to_string(i) +
                                      " is not aligned as was promised");
  if (!room || roomBytes < productRoom || !isAligned(room, 256))
    return broken(invalidValue,
                  "there is no room, too little, or it is not aligned");
  std::memset(toHost(room), 0x5a, roomBytes);
  if (isSet("FAKE_LIBRARY_FAIL"))
    return executionFailed;
  bool isDouble = matmul.scale == lt::R64F;
  double scale = isDouble ? *static_cast<const double *>(alpha)
                          : *static_cast<const float *>(alpha);
  double keep = isDouble ? *static_cast<const double *>(beta)
                         : *static_cast<const float *>(beta);
  Number in = *ltNumber(first.type), out = *ltNumber(result.type);
  int64_t depth = shapeOf(first, matmul.transA).second;
  auto at = [](const MatrixLayout &layout, int32_t trans, int64_t batch,
               int64_t row, int64_t column) {
    if (trans != lt::OpN)
      std::swap(row, column);
    return batch * layout.batchStride + row + column * layout.leading;
  };
  const void *left = toHost(a), *right = toHost(b), *bias = toHost(matmul.bias);
  void *to = toHost(d);
  for (int64_t batch = 0; batch < result.batches; ++batch)
    for (int64_t column = 0; column < result.columns; ++column)
      for (int64_t row = 0; row < result.rows; ++row) {
        double sum = 0;
        for (int64_t i = 0; i < depth; ++i)
          sum += load(in, left, at(first, matmul.transA, batch, row, i)) *
                 load(in, right, at(second, matmul.transB, batch, i, column));
        int64_t place = at(result, lt::OpN, batch, row, column);
        sum *= scale;
        if (keep != 0)
          sum += keep * load(out, to, place);
        if (matmul.epilogue & lt::EpilogueBias)
          sum += load(out, bias, row);
        if (matmul.epilogue & lt::EpilogueRelu)
          sum = std::max(sum, 0.0);
        if (matmul.epilogue & lt::EpilogueGelu)
          sum = 0.5 * sum *
                (1 + std::tanh(std::sqrt(2 / M_PI) *
                               (sum + 0.044715 * sum * sum * sum)));
        store(out, to, place, sum);
      }
  logCall("product " + std::to_string(result.rows) + "x" +
          std::to_string(result.columns) + "x" + std::to_string(depth) +
          " batch " + std::to_string(result.batches) + " " + nameOf(in) +
          " to " + nameOf(out) + " ops " + std::to_string(matmul.transA) +
          std::to_string(matmul.transB) + " epilogue " +
          std::to_string(matmul.epilogue) + (keep != 0 ? " added" : ""));
  return 0;
}

//===----------------------------------------------------------------------===//
// cuDNN
//===----------------------------------------------------------------------===//

namespace {
struct Attribute {
  int type = 0;
  int64_t count = 0;
  std::vector<char> bytes;

  template <typename T> T get(int64_t i = 0) const {
    T value{};
    if ((i + 1) * sizeof(T) <= bytes.size())
      std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  }
};

struct Descriptor {
  int kind = 0;
  bool isFinal = false;
  std::map<int, Attribute> attributes;
  int engine = -1; ///< of configurations and engines

  bool has(int name) const { return attributes.count(name) != 0; }
  const Attribute &at(int name) const { return attributes.at(name); }
  Descriptor *other(int name) const {
    return static_cast<Descriptor *>(at(name).get<void *>());
  }
};

struct DnnHandle {
  bool hasStream = false;
};

constexpr Status badParameter = 2000, notFinal = 2004, unsupported = 3000,
                 failedToRun = 5000;
constexpr int64_t convolutionRoom = 8192;
/// Engine 0 rounds factors, 1 changes from run to run, 2 is fine.
constexpr int numEngines = 3;

int64_t sizeOfType(int type) {
  switch (type) {
  case dnn::TypeFloat:
  case dnn::TypeDataType:
  case dnn::TypeConvolutionMode:
  case dnn::TypeHeuristicsMode:
  case dnn::TypeNote:
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
  case dnn::OperationData:
    return {706, 707, 708, 709, 710, 711};
  case dnn::OperationFilter:
    return {712, 713, 714, 715, 716, 717};
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

std::optional<Number> dnnNumber(int type) {
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

/// One op of a graph, read out of its descriptors.
struct ConvolutionOp {
  int kind = 0, first = 0;
  const Descriptor *convolution = nullptr, *x = nullptr, *w = nullptr,
                   *y = nullptr;
  int64_t dims = 0;

  explicit ConvolutionOp(const Descriptor &op) : kind(op.kind) {
    first = kind == dnn::OperationForward ? 700
            : kind == dnn::OperationData  ? 706
                                          : 712;
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
    if (alignment < 1 ||
        !dnnNumber(descriptor->at(dnn::TensorDataType).get<int>()))
      return broken(badParameter,
                    "a tensor without alignment, or of another type");
    const Attribute &strides = descriptor->at(dnn::TensorStrides);
    for (int64_t i = 0; i < strides.count; ++i)
      if (strides.get<int64_t>(i) < 1)
        return broken(badParameter,
                      "a tensor of stride " +
                          std::to_string(strides.get<int64_t>(i)));
  }
  if (descriptor->kind >= dnn::OperationForward &&
      descriptor->kind <= dnn::OperationData)
    if (std::string problem = ConvolutionOp(*descriptor).problem();
        !problem.empty())
      return broken(badParameter, "a convolution whose " + problem);
  if (descriptor->kind == dnn::Graph && isSet("FAKE_LIBRARY_REFUSE"))
    return unsupported;
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
    *count = descriptor->engine < 2;
    if (descriptor->engine < 2)
      *static_cast<int *>(values) = descriptor->engine == 0
                                        ? dnn::NoteDownConvert
                                        : dnn::NoteNondeterministic;
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
  if (plan.engine != 2)
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
  ConvolutionOp op(*graph->other(dnn::GraphOperations));
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
  char *x = addressOf(*op.x), *w = addressOf(*op.w), *y = addressOf(*op.y);
  if (!x || !w || !y)
    return broken(
        badParameter,
        "a tensor has no address, or one that is not aligned as was promised");
  auto typeOf = [](const Descriptor &tensor) {
    return *dnnNumber(tensor.at(dnn::TensorDataType).get<int>());
  };
  Number xType = typeOf(*op.x), wType = typeOf(*op.w), yType = typeOf(*op.y);
  const Descriptor &target = op.kind == dnn::OperationForward ? *op.y
                             : op.kind == dnn::OperationData  ? *op.x
                                                              : *op.w;
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
            else if (&target == op.x)
              sums[xPlace] += load(yType, y, yPlace) * load(wType, w, wPlace);
            else
              sums[wPlace] += load(xType, x, xPlace) * load(yType, y, yPlace);
          }
    }
  // What no point reaches is zero.
  char *to = addressOf(target);
  Number type = typeOf(target);
  if (&target == op.x) {
    int64_t total = 1, dims = op.dims + 2;
    for (int64_t i = 0; i < dims; ++i)
      total *= op.size(target, i);
    for (int64_t i = 0; i < total; ++i) {
      int64_t rest = i, place = 0;
      for (int64_t dim = dims; dim-- > 0; rest /= op.size(target, dim))
        place += rest % op.size(target, dim) * op.stride(target, dim);
      sums.try_emplace(place, 0.0);
    }
  }
  for (auto [place, sum] : sums)
    store(type, to, place, sum);
  logCall("convolution " +
          std::string(op.kind == dnn::OperationForward ? "forward"
                      : op.kind == dnn::OperationData  ? "data"
                                                       : "filter") +
          " of " + std::to_string(op.dims) + " dims, " +
          std::to_string(filters) + " filters of " + std::to_string(channels) +
          " channels, groups " + std::to_string(groups) + ", " + nameOf(xType) +
          " to " + nameOf(type));
  return 0;
}

//===----------------------------------------------------------------------===//
// cuFFT
//===----------------------------------------------------------------------===//

namespace {
struct FourierPlan {
  bool ownRoom = true, isMade = false, hasStream = false;
  void *room = nullptr;
  int type = 0;
  std::vector<int64_t> sizes;
  int64_t batch = 0;
};

constexpr Status invalidPlan = 1, invalidFftValue = 4, fftFailed = 6,
                 invalidSize = 8;
constexpr size_t transformRoom = 1024;
std::mutex plansMutex;
std::map<int, FourierPlan> fourierPlans;
int lastPlan = 0;

FourierPlan *planOf(int handle) {
  std::lock_guard lock(plansMutex);
  auto found = fourierPlans.find(handle);
  return found == fourierPlans.end() ? nullptr : &found->second;
}

/// Transforms `data` (batch, sizes...) along all dims but the first.
void transformAll(std::vector<std::complex<double>> &data,
                  const std::vector<int64_t> &sizes, int sign) {
  int64_t inner = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    int64_t n = sizes[dim];
    std::vector<std::complex<double>> line(n), turns(n);
    for (int64_t i = 0; i < n; ++i)
      turns[i] = std::polar(1.0, sign * 2 * M_PI * static_cast<double>(i) /
                                     static_cast<double>(n));
    for (int64_t start = 0; start < static_cast<int64_t>(data.size());
         ++start) {
      if (start / inner % n != 0)
        continue;
      for (int64_t k = 0; k < n; ++k) {
        line[k] = 0;
        for (int64_t j = 0; j < n; ++j)
          line[k] += data[start + j * inner] * turns[j * k % n];
      }
      for (int64_t k = 0; k < n; ++k)
        data[start + k * inner] = line[k];
    }
    inner *= n;
  }
}

Status runTransform(int handle, int type, const void *in, void *out, int sign) {
  FourierPlan *plan = planOf(handle);
  if (!plan || !plan->isMade)
    return broken(invalidPlan,
                  "a transform by a plan that is not made, or destroyed");
  if (plan->type != type)
    return broken(invalidPlan, "a transform of another type than the plan's");
  if (!plan->hasStream || (!plan->ownRoom && !plan->room))
    return broken(invalidPlan, "a plan without a stream, or without room");
  bool isDouble = type == fft::Z2Z || type == fft::D2Z || type == fft::Z2D;
  Number part = isDouble ? Number::F64 : Number::F32;
  if (!isAligned(in, 2 * bytesOf(part)) || !isAligned(out, 2 * bytesOf(part)))
    return broken(invalidFftValue, "lines are not aligned to a complex number");
  std::memset(toHost(plan->room), 0x5a, transformRoom);
  if (isSet("FAKE_LIBRARY_FAIL"))
    return fftFailed;
  bool realIn = type == fft::R2C || type == fft::D2Z,
       realOut = type == fft::C2R || type == fft::Z2D;
  int64_t lines = plan->batch, last = plan->sizes.back(), total = plan->batch,
          half = last / 2 + 1;
  for (size_t dim = 0; dim + 1 < plan->sizes.size(); ++dim)
    lines *= plan->sizes[dim];
  total = lines * last;
  std::vector<std::complex<double>> data(total);
  const void *from = toHost(in);
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t i = 0; i < last; ++i) {
      std::complex<double> &element = data[line * last + i];
      if (realIn) {
        element = load(part, from, line * last + i);
      } else if (!realOut) {
        element = {load(part, from, 2 * (line * last + i)),
                   load(part, from, 2 * (line * last + i) + 1)};
      } else {
        // Of one dim: the other half is the conjugate.
        int64_t given = i < half ? i : last - i;
        double im = load(part, from, 2 * (line * half + given) + 1);
        bool alone = given == 0 || 2 * given == last;
        element = {load(part, from, 2 * (line * half + given)), alone ? 0
                                                                : i < half
                                                                    ? im
                                                                    : -im};
      }
    }
  transformAll(data, plan->sizes, sign);
  void *to = toHost(out);
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t i = 0; i < last; ++i) {
      const std::complex<double> &element = data[line * last + i];
      int64_t at = realIn ? line * half + i : line * last + i;
      if (realIn && i >= half)
        continue;
      if (realOut) {
        store(part, to, at, element.real());
        continue;
      }
      store(part, to, 2 * at, element.real());
      store(part, to, 2 * at + 1, element.imag());
    }
  if (realOut)
    std::memset(const_cast<void *>(from), 0x5a,
                lines * half * 2 * bytesOf(part));
  std::string shape;
  for (int64_t size : plan->sizes)
    shape += (shape.empty() ? "" : "x") + std::to_string(size);
  logCall(std::string("transform ") +
          (realIn     ? "r2c"
           : realOut  ? "c2r"
           : sign < 0 ? "forward"
                      : "inverse") +
          " of " + shape + " batch " + std::to_string(plan->batch) + " " +
          nameOf(part));
  return 0;
}
} // namespace

FAKE_EXPORT Status cufftGetVersion(int *version) {
  *version = static_cast<int>(versionOf("FAKE_CUFFT_VERSION", 12000));
  return 0;
}
FAKE_EXPORT Status cufftCreate(int *handle) {
  std::lock_guard lock(plansMutex);
  *handle = ++lastPlan;
  fourierPlans[*handle];
  live.add(&fourierPlans[*handle]);
  return 0;
}
FAKE_EXPORT Status cufftDestroy(int handle) {
  FourierPlan *plan = planOf(handle);
  if (!plan)
    return broken(invalidPlan, "destroys no plan");
  live.remove(plan);
  std::lock_guard lock(plansMutex);
  fourierPlans.erase(handle);
  return 0;
}
FAKE_EXPORT Status cufftSetAutoAllocation(int handle, int own) {
  FourierPlan *plan = planOf(handle);
  if (!plan || plan->isMade)
    return broken(invalidPlan, "says who gives room to no plan, or too late");
  plan->ownRoom = own != 0;
  return 0;
}
FAKE_EXPORT Status cufftSetWorkArea(int handle, void *room) {
  FourierPlan *plan = planOf(handle);
  if (!plan || !plan->isMade || !isAligned(room, 256))
    return broken(invalidPlan,
                  "gives room to no plan, or room that is not aligned");
  plan->room = room;
  return 0;
}
FAKE_EXPORT Status cufftSetStream(int handle, Stream) {
  FourierPlan *plan = planOf(handle);
  if (!plan)
    return broken(invalidPlan, "gives a stream to no plan");
  plan->hasStream = true;
  return 0;
}
FAKE_EXPORT Status cufftMakePlanMany64(int handle, int rank, long long *sizes,
                                       long long *inEmbed, long long, long long,
                                       long long *outEmbed, long long,
                                       long long, int type, long long batch,
                                       size_t *bytes) {
  FourierPlan *plan = planOf(handle);
  if (!plan || plan->isMade)
    return broken(invalidPlan, "makes no plan, or one twice");
  if (isSet("FAKE_LIBRARY_REFUSE"))
    return invalidSize;
  if (rank < 1 || rank > 3 || batch < 1 || inEmbed || outEmbed)
    return broken(invalidSize, "a plan of " + std::to_string(rank) +
                                   " dims, batch " + std::to_string(batch));
  plan->sizes.assign(sizes, sizes + rank);
  plan->batch = batch;
  plan->type = type;
  plan->isMade = true;
  *bytes = transformRoom;
  return 0;
}
FAKE_EXPORT Status cufftExecC2C(int plan, void *in, void *out, int sign) {
  return runTransform(plan, fft::C2C, in, out, sign);
}
FAKE_EXPORT Status cufftExecZ2Z(int plan, void *in, void *out, int sign) {
  return runTransform(plan, fft::Z2Z, in, out, sign);
}
FAKE_EXPORT Status cufftExecR2C(int plan, void *in, void *out) {
  return runTransform(plan, fft::R2C, in, out, fft::Forward);
}
FAKE_EXPORT Status cufftExecD2Z(int plan, void *in, void *out) {
  return runTransform(plan, fft::D2Z, in, out, fft::Forward);
}
FAKE_EXPORT Status cufftExecC2R(int plan, void *in, void *out) {
  return runTransform(plan, fft::C2R, in, out, fft::Inverse);
}
FAKE_EXPORT Status cufftExecZ2D(int plan, void *in, void *out) {
  return runTransform(plan, fft::Z2D, in, out, fft::Inverse);
}
