//===- CublasLt.cpp - Matrix products by cuBLASLt -------------------------===//
//
// Its matrices are column-major. A row-major result is the transpose of
// one that does: then the factors change places. f32 stays f32 unless the call
// lets it be rounded to tf32 (Compute32F lets nothing be), and parts of a depth
// are added in the type that is computed in, so that 16-bit results are rounded
// once.
//
//===----------------------------------------------------------------------===//

#include "Device/Cuda/LibraryCalls.h"
#include <algorithm>
#include <map>
#include <optional>

using namespace shardrt;
using namespace shardrt::libraries;
using namespace shardrt::libraries::lt;

namespace {
/// A matrix as cuBLASLt takes it: `rows` x `columns`, column by column, perhaps
/// to be read as its transpose.
struct Matrix {
  int64_t rows = 0, columns = 0, leading = 0, batchStride = 0;
  bool transposed = false;
  int type = R32F;
};

class Products final : public Provider {
public:
  Products(const CublasLt &library, Device &device, Workspace &workspace)
      : library(library), device(device), workspace(workspace) {}
  ~Products() override;
  Outcome run(const Call &call, std::string &why) override;

private:
  struct Plan {
    void *desc = nullptr;
    std::array<void *, 3> layouts{}; ///< of the left, the right and the result
    Heuristic best{};
    bool swapped = false; ///< the transpose is computed: right times left
    bool offered = false;
    std::string why;
  };
  bool check(Status status, const char *what, std::string &why);
  /// Fills `plan`; false with an error.
  bool prepare(const Call &call, Plan &plan, std::string &why);
  void destroy(Plan &plan);

  const CublasLt &library;
  Device &device;
  Workspace &workspace;
  void *handle = nullptr;
  std::map<std::vector<int64_t>, Plan> plans;
};
} // namespace

static std::optional<int> typeOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return R16F;
  case ElementType::BF16:
    return R16BF;
  case ElementType::F32:
    return R32F;
  case ElementType::F64:
    return R64F;
  default:
    return std::nullopt;
  }
}

/// Dims `row` and `column` of `operand` as a matrix, or its transpose where
/// rows are side by side; none where neither do.
static std::optional<Matrix> matrixOf(const Operand &operand, int row,
                                      int column, bool mayTranspose) {
  std::optional<int> type = typeOf(operand.type);
  if (!type)
    return std::nullopt;
  auto runs = [&](int dim) {
    return operand.sizes[dim] == 1 || operand.strides[dim] == 1;
  };
  Matrix matrix;
  matrix.type = *type;
  matrix.transposed = !runs(row);
  if (matrix.transposed && (!mayTranspose || !runs(column)))
    return std::nullopt;
  if (matrix.transposed)
    std::swap(row, column);
  matrix.rows = operand.sizes[row];
  matrix.columns = operand.sizes[column];
  matrix.leading = matrix.columns == 1 ? matrix.rows : operand.strides[column];
  matrix.batchStride = operand.sizes[0] == 1 ? 0 : operand.strides[0];
  // What is read for several columns is no matrix to it.
  if (matrix.leading < matrix.rows)
    return std::nullopt;
  return matrix;
}

Products::~Products() {
  for (auto &[key, plan] : plans)
    destroy(plan);
  if (handle)
    library.destroy(handle);
}

void Products::destroy(Plan &plan) {
  if (plan.desc)
    library.descDestroy(plan.desc);
  for (void *layout : plan.layouts)
    if (layout)
      library.layoutDestroy(layout);
  plan.desc = nullptr;
  plan.layouts = {};
}

bool Products::check(Status status, const char *what, std::string &why) {
  if (status == 0)
    return true;
  why = std::string("cuBLASLt: ") + what +
        " failed: " + library.getStatusString(status);
  return false;
}

bool Products::prepare(const Call &call, Plan &plan, std::string &why) {
  const Operand &left = call.operands[0], &right = call.operands[1],
                &result = call.result();
  bool hasBias = call.epilogue & SHARDRT_CALL_BIAS;
  // A bias runs along what is side by side in the result.
  bool byColumns = result.sizes[2] == 1 || result.strides[2] == 1;
  bool byRows = result.sizes[1] == 1 || result.strides[1] == 1;
  plan.swapped = hasBias ? call.numbers[1] == 2
                         : byColumns && !(byRows && result.sizes[2] == 1);
  const Operand &first = plan.swapped ? right : left,
                &second = plan.swapped ? left : right;
  // Dims of (first's lines, depth), (depth, second's lines), and the result.
  std::optional<Matrix> a =
      plan.swapped ? matrixOf(first, 2, 1, true) : matrixOf(first, 1, 2, true);
  std::optional<Matrix> b = plan.swapped ? matrixOf(second, 2, 1, true)
                                         : matrixOf(second, 1, 2, true);
  std::optional<Matrix> d = plan.swapped ? matrixOf(result, 2, 1, false)
                                         : matrixOf(result, 1, 2, false);
  if (!a || !b || !d) {
    plan.why = "matrices lie otherwise than it takes them";
    return true;
  }
  if (hasBias) {
    const Operand &bias = call.operands[2];
    if ((bias.sizes[0] != 1 && bias.strides[0] != 1) ||
        bias.sizes[0] != d->rows || result.sizes[0] != 1 ||
        bias.type != result.type) {
      plan.why = "the bias lies otherwise than it takes one";
      return true;
    }
  }
  if (!handle && !check(library.create(&handle), "starting", why))
    return false;
  bool isDouble = d->type == R64F;
  int compute = isDouble                                      ? Compute64F
                : call.tf32 && first.type == ElementType::F32 ? Compute32FTF32
                                                              : Compute32F;
  if (!check(library.descCreate(&plan.desc, compute, isDouble ? R64F : R32F),
             "describing a product", why))
    return false;
  auto set = [&](int attribute, auto value) {
    return check(library.descSet(plan.desc, attribute, &value, sizeof(value)),
                 "describing a product", why);
  };
  int epilogue = EpilogueDefault;
  if (call.epilogue != 0)
    epilogue = (hasBias ? EpilogueBias : 0) |
               (call.epilogue & SHARDRT_CALL_RELU ? EpilogueRelu : 0) |
               (call.epilogue & SHARDRT_CALL_GELU ? EpilogueGelu : 0);
  if (!set(DescTransA, int32_t(a->transposed ? OpT : OpN)) ||
      !set(DescTransB, int32_t(b->transposed ? OpT : OpN)) ||
      !set(DescEpilogue, uint32_t(epilogue)))
    return false;
  if (hasBias && (!set(DescBiasType, int32_t(d->type)) ||
                  !set(DescBiasPointer,
                       static_cast<const void *>(call.operands[2].address))))
    return false;
  const Matrix *matrices[] = {&*a, &*b, &*d};
  for (int i = 0; i < 3; ++i) {
    const Matrix &matrix = *matrices[i];
    if (!check(library.layoutCreate(&plan.layouts[i], matrix.type, matrix.rows,
                                    matrix.columns, matrix.leading),
               "describing a matrix", why))
      return false;
    auto batches = static_cast<int32_t>(result.sizes[0]);
    if (batches != result.sizes[0] || batches == 1)
      continue;
    if (!check(library.layoutSet(plan.layouts[i], LayoutBatchCount, &batches,
                                 sizeof(batches)),
               "describing a batch", why) ||
        !check(library.layoutSet(plan.layouts[i], LayoutBatchStride,
                                 &matrix.batchStride, sizeof(int64_t)),
               "describing a batch", why))
      return false;
  }
  if (result.sizes[0] > INT32_MAX) {
    plan.why = "there are too many products";
    return true;
  }
  void *preference = nullptr;
  if (!check(library.preferenceCreate(&preference), "saying what is preferred",
             why))
    return false;
  auto prefer = [&](int attribute, auto value) {
    return check(
        library.preferenceSet(preference, attribute, &value, sizeof(value)),
        "saying what is preferred", why);
  };
  const void *addresses[] = {first.address, second.address, result.address,
                             result.address};
  bool fine = prefer(PrefMaxWorkspace, uint64_t(Workspace::most)) &&
              prefer(PrefReductions, uint32_t(ReductionComputeType));
  for (int i = 0; i < 4; ++i)
    fine = fine && prefer(PrefAlignmentA + i,
                          static_cast<uint32_t>(alignmentOf(addresses[i])));
  int found = 0;
  Heuristic candidates[8] = {};
  Status status = 0;
  if (fine)
    status = library.heuristic(
        handle, plan.desc, plan.layouts[0], plan.layouts[1], plan.layouts[2],
        plan.layouts[2], preference, 8, candidates, &found);
  library.preferenceDestroy(preference);
  if (!fine)
    return false;
  for (int i = 0; i < found && !plan.offered; ++i)
    if (candidates[i].state == 0 &&
        candidates[i].workspaceBytes <= size_t(Workspace::most)) {
      plan.best = candidates[i];
      plan.offered = true;
    }
  if (!plan.offered)
    plan.why = status ? library.getStatusString(status) : "it has no algorithm";
  return true;
}

Outcome Products::run(const Call &call, std::string &why) {
  if (call.numOperands != (call.epilogue & SHARDRT_CALL_BIAS ? 4 : 3))
    return Outcome::NotOffered;
  for (int64_t i : {int64_t(0), int64_t(1), call.numOperands - 1})
    if (call.operands[i].rank != 3)
      return Outcome::NotOffered;
  auto known = plans.find(call.key);
  if (known == plans.end()) {
    if (plans.size() >= mostPlans)
      return Outcome::NotOffered;
    Plan plan;
    if (!prepare(call, plan, why)) {
      destroy(plan);
      return Outcome::Failed;
    }
    known = plans.emplace(call.key, plan).first;
  }
  Plan &plan = known->second;
  if (!plan.offered) {
    why = plan.why;
    return Outcome::NotOffered;
  }
  void *scratch = nullptr;
  if (plan.best.workspaceBytes &&
      !(scratch =
            workspace.get(static_cast<int64_t>(plan.best.workspaceBytes)))) {
    why = "no memory for " + std::to_string(plan.best.workspaceBytes) +
          " bytes of cuBLASLt's: " + device.error;
    return Outcome::Failed;
  }
  const void *bias = call.operands[2].address;
  if ((call.epilogue & SHARDRT_CALL_BIAS) &&
      !check(library.descSet(plan.desc, DescBiasPointer, &bias, sizeof(bias)),
             "describing a product", why))
    return Outcome::Failed;
  double one64 = 1, beta64 = call.numbers[0] ? 1 : 0;
  float one32 = 1, beta32 = call.numbers[0] ? 1 : 0;
  bool isDouble = call.result().type == ElementType::F64;
  char *result = call.result().address;
  const Operand &first = call.operands[plan.swapped ? 1 : 0],
                &second = call.operands[plan.swapped ? 0 : 1];
  auto held = device.hold();
  Status status = library.matmul(
      handle, plan.desc, isDouble ? static_cast<const void *>(&one64) : &one32,
      first.address, plan.layouts[0], second.address, plan.layouts[1],
      isDouble ? static_cast<const void *>(&beta64) : &beta32, result,
      plan.layouts[2], result, plan.layouts[2], plan.best.algorithm, scratch,
      plan.best.workspaceBytes, device.stream());
  return check(status, "a product", why) ? Outcome::Done : Outcome::Failed;
}

std::unique_ptr<Provider> libraries::makeProducts(const CublasLt &library,
                                                  Device &device,
                                                  Workspace &workspace) {
  return std::make_unique<Products>(library, device, workspace);
}
