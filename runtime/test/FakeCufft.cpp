//===- FakeCufft.cpp - A stand-in for cuFFT -------------------------------===//

#include "FakeLibraries.h"
#include <cmath>
#include <complex>
#include <map>
#include <vector>

using namespace fake;

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
    std::vector<std::complex<double>> line(n), roots(n);
    for (int64_t i = 0; i < n; ++i)
      roots[i] = std::polar(1.0, sign * 2 * M_PI * static_cast<double>(i) /
                                     static_cast<double>(n));
    for (int64_t start = 0; start < static_cast<int64_t>(data.size());
         ++start) {
      if (start / inner % n != 0)
        continue;
      for (int64_t k = 0; k < n; ++k) {
        line[k] = 0;
        for (int64_t j = 0; j < n; ++j)
          line[k] += data[start + j * inner] * roots[j * k % n];
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
