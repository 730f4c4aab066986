//===- FakeCublasLt.cpp - A stand-in for cuBLASLt -------------------------===//

#include "FakeLibraries.h"
#include <algorithm>
#include <cmath>

using namespace fake;

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

FAKE_EXPORT Status cublasLtMatmulDescCreate(void **desc, int compute,
                                            int scale) {
  bool fits = ((compute == lt::Compute32F || compute == lt::Compute32FTF32) &&
               scale == lt::R32F) ||
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
               (in == Number::F32 || desc.compute != lt::Compute32FTF32) &&
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
          std::to_string(matmul.epilogue) +
          (matmul.compute == lt::Compute32FTF32 ? " tf32" : "") +
          (keep != 0 ? " added" : ""));
  return 0;
}
