//===- Cufft.cpp - Fourier transforms by cuFFT ----------------------------===//
//
// Lines are one behind the other. Transforms to real lines may use their input
// as room, so they are given a copy of it.
//
//===----------------------------------------------------------------------===//

#include "Device/Cpu/Copy.h"
#include "Device/Cuda/LibraryCalls.h"
#include <map>

using namespace shardrt;
using namespace shardrt::libraries;
using namespace shardrt::libraries::fft;

namespace {
class Transforms final : public Provider {
public:
  Transforms(const Cufft &library, Device &device, Workspace &workspace)
      : library(library), device(device), workspace(workspace) {}
  ~Transforms() override {
    for (auto &[key, plan] : plans)
      if (plan.offered)
        library.destroy(plan.handle);
  }
  Outcome run(const Call &call, std::string &why) override;

private:
  struct Plan {
    int handle = 0;
    bool offered = false;
    size_t bytes = 0;
  };
  bool check(Status status, const char *what, std::string &why) {
    if (status == 0)
      return true;
    why = std::string("cuFFT: ") + what + " failed: error " +
          std::to_string(status);
    return false;
  }
  bool prepare(const Call &call, int type, Plan &plan, std::string &why);

  const Cufft &library;
  Device &device;
  Workspace &workspace;
  std::map<std::vector<int64_t>, Plan> plans;
};
} // namespace

static bool isComplex(ElementType type) {
  return type == ElementType::Complex64 || type == ElementType::Complex128;
}

/// Whether `call` is a transform of dense lines, of the same numbers on both
/// sides.
static bool isTransform(const Call &call) {
  const Operand &in = call.operands[0], &out = call.operands[1];
  int64_t what = call.numbers[0], dims = call.numbers[1];
  if (call.numOperands != 2 || dims < 1 || dims > 3 || in.rank != dims + 1 ||
      out.rank != dims + 1 || !in.isDense() || !out.isDense() ||
      in.sizes[0] != out.sizes[0])
    return false;
  bool realIn = what == SHARDRT_CALL_RFFT, realOut = what == SHARDRT_CALL_IRFFT;
  if (isComplex(in.type) == realIn || isComplex(out.type) == realOut)
    return false;
  auto isWide = [](ElementType type) {
    return type == ElementType::F64 || type == ElementType::Complex128;
  };
  auto isNarrow = [](ElementType type) {
    return type == ElementType::F32 || type == ElementType::Complex64;
  };
  if (!(isWide(in.type) && isWide(out.type)) &&
      !(isNarrow(in.type) && isNarrow(out.type)))
    return false;
  const Operand &lines = realOut ? out : in, &other = realOut ? in : out;
  for (int64_t dim = 1; dim <= dims; ++dim) {
    bool halved = (realIn || realOut) && dim == dims;
    if (other.sizes[dim] !=
        (halved ? lines.sizes[dim] / 2 + 1 : lines.sizes[dim]))
      return false;
  }
  return true;
}

bool Transforms::prepare(const Call &call, int type, Plan &plan,
                         std::string &why) {
  if (!check(library.create(&plan.handle), "making a plan", why))
    return false;
  const Operand &lines = call.numbers[0] == SHARDRT_CALL_IRFFT
                             ? call.operands[1]
                             : call.operands[0];
  long long sizes[3];
  auto dims = static_cast<int>(call.numbers[1]);
  for (int dim = 0; dim < dims; ++dim)
    sizes[dim] = lines.sizes[dim + 1];
  if (!check(library.setAutoAllocation(plan.handle, 0), "making a plan", why)) {
    library.destroy(plan.handle);
    return false;
  }
  Status status =
      library.makePlan(plan.handle, dims, sizes, nullptr, 1, 0, nullptr, 1, 0,
                       type, lines.sizes[0], &plan.bytes);
  // A length that it does not take, or more room than there is.
  plan.offered = status == 0 && plan.bytes <= size_t(Workspace::most) * 8;
  if (!plan.offered)
    library.destroy(plan.handle);
  return true;
}

Outcome Transforms::run(const Call &call, std::string &why) {
  if (!isTransform(call))
    return Outcome::NotOffered;
  bool isDouble = call.result().type == ElementType::F64 ||
                  call.result().type == ElementType::Complex128;
  int64_t what = call.numbers[0];
  int type = what == SHARDRT_CALL_RFFT    ? (isDouble ? D2Z : R2C)
             : what == SHARDRT_CALL_IRFFT ? (isDouble ? Z2D : C2R)
                                          : (isDouble ? Z2Z : C2C);
  auto known = plans.find(call.key);
  if (known == plans.end()) {
    if (plans.size() >= mostPlans)
      return Outcome::NotOffered;
    Plan plan;
    if (!prepare(call, type, plan, why))
      return Outcome::Failed;
    known = plans.emplace(call.key, plan).first;
  }
  const Plan &plan = known->second;
  if (!plan.offered)
    return Outcome::NotOffered;
  const Operand &in = call.operands[0];
  int64_t inBytes =
      what == SHARDRT_CALL_IRFFT ? in.count() * elementBytes(in.type) : 0;
  int64_t room = (static_cast<int64_t>(plan.bytes) + 255) / 256 * 256;
  auto *memory = static_cast<char *>(
      room + inBytes > 0 ? workspace.get(room + inBytes) : nullptr);
  if (room + inBytes > 0 && !memory) {
    why = "no memory for " + std::to_string(room + inBytes) +
          " bytes of cuFFT's: " + device.error;
    return Outcome::Failed;
  }
  char *from = in.address;
  if (inBytes > 0) {
    BoxCopy box;
    box.run = inBytes;
    from = memory + room;
    if (!device.copy(box, in.address, from)) {
      why = device.error;
      return Outcome::Failed;
    }
  }
  auto held = device.hold();
  if ((plan.bytes && !check(library.setWorkArea(plan.handle, memory),
                            "giving it room", why)) ||
      !check(library.setStream(plan.handle, device.stream()),
             "giving it a stream", why))
    return Outcome::Failed;
  char *to = call.result().address;
  int direction = what == SHARDRT_CALL_IFFT ? Inverse : Forward;
  Status status = 0;
  switch (type) {
  case C2C:
    status = library.execC2C(plan.handle, from, to, direction);
    break;
  case Z2Z:
    status = library.execZ2Z(plan.handle, from, to, direction);
    break;
  case R2C:
    status = library.execR2C(plan.handle, from, to);
    break;
  case D2Z:
    status = library.execD2Z(plan.handle, from, to);
    break;
  case C2R:
    status = library.execC2R(plan.handle, from, to);
    break;
  default:
    status = library.execZ2D(plan.handle, from, to);
    break;
  }
  return check(status, "a transform", why) ? Outcome::Done : Outcome::Failed;
}

std::unique_ptr<Provider> libraries::makeTransforms(const Cufft &library,
                                                    Device &device,
                                                    Workspace &workspace) {
  return std::make_unique<Transforms>(library, device, workspace);
}
