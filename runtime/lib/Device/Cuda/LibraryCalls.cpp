//===- LibraryCalls.cpp - Operators done by the vendor's libraries --------===//

#include "Device/Cuda/LibraryCalls.h"
#include <algorithm>
#include <utility>

using namespace shardrt;
using namespace shardrt::libraries;

bool Operand::isDense() const {
  int64_t stride = 1;
  for (int64_t dim = rank; dim-- > 0; stride *= sizes[dim])
    if (sizes[dim] != 1 && strides[dim] != stride)
      return false;
  return true;
}

int64_t Operand::count() const {
  int64_t count = 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    count *= sizes[dim];
  return count;
}

int64_t libraries::alignmentOf(const void *address) {
  auto bits = reinterpret_cast<uintptr_t>(address);
  return bits == 0 ? 256
                   : std::min<int64_t>(256, static_cast<int64_t>(bits & -bits));
}

Workspace::~Workspace() {
  for (void *memory : all)
    device.release(memory);
}

void *Workspace::get(int64_t asked) {
  if (asked <= bytes && !all.empty())
    return all.back();
  void *memory = device.allocate(std::max<int64_t>(asked, 256));
  if (!memory)
    return nullptr;
  all.push_back(memory);
  bytes = std::max<int64_t>(asked, 256);
  return memory;
}

/// Reads `words`; false if no compiler of this version wrote them.
static bool read(const int64_t *words, Call &call) {
  call.kind = words[SHARDRT_CALL_KIND];
  call.epilogue = words[SHARDRT_CALL_EPILOGUE] & ~SHARDRT_CALL_TF32;
  call.tf32 = words[SHARDRT_CALL_EPILOGUE] & SHARDRT_CALL_TF32;
  call.numOperands = words[SHARDRT_CALL_OPERANDS];
  if (call.kind < SHARDRT_CALL_PRODUCT || call.kind > SHARDRT_CALL_ATTENTION ||
      call.numOperands < 2 || call.numOperands > SHARDRT_CALL_MOST_OPERANDS)
    return false;
  std::copy_n(words + SHARDRT_CALL_NUMBERS, call.numbers.size(),
              call.numbers.begin());
  call.key.assign(words + SHARDRT_CALL_KIND, words + SHARDRT_CALL_HEAD);
  words += SHARDRT_CALL_HEAD;
  for (int64_t i = 0; i < call.numOperands;
       ++i, words += SHARDRT_CALL_PER_OPERAND) {
    Operand &operand = call.operands[i];
    operand.address =
        reinterpret_cast<char *>(static_cast<uintptr_t>(words[0]));
    operand.type = static_cast<ElementType>(words[1]);
    operand.rank = words[2];
    if (operand.rank < 0 || operand.rank > SHARDRT_CALL_DIMS)
      return false;
    std::copy_n(words + 3, SHARDRT_CALL_DIMS, operand.sizes.begin());
    std::copy_n(words + 3 + SHARDRT_CALL_DIMS, SHARDRT_CALL_DIMS,
                operand.strides.begin());
    call.key.push_back(alignmentOf(operand.address));
    call.key.insert(call.key.end(), words + 1,
                    words + 3 + 2 * SHARDRT_CALL_DIMS);
  }
  return true;
}

/// `product of 1x64x32 f32 and 1x32x48 f32`.
static std::string describe(const Call &call) {
  const char *const names[] = {"", "product", "convolution",
                               "fourier transform", "attention"};
  std::string text = names[call.kind];
  text += " of ";
  int64_t results = call.kind == SHARDRT_CALL_ATTENTION ? 3 : 1;
  for (int64_t i = 0; i + results < call.numOperands; ++i) {
    const Operand &operand = call.operands[i];
    if (i > 0)
      text += " and ";
    for (int64_t dim = 0; dim < operand.rank; ++dim)
      text += (dim ? "x" : "") + std::to_string(operand.sizes[dim]);
    text += " " + std::string(elementTypeName(operand.type));
  }
  return text;
}

void LibraryCalls::note(const Call &call, const char *location, bool done) {
  if (!location || !places.insert(location).second)
    return;
  const char *const names[] = {"", "cuBLASLt", "cuDNN", "cuFFT", "cuDNN"};
  lines += std::string(done ? names[call.kind] : "generated") + ": " +
           describe(call) +
           (*location ? " (" + std::string(location) + ")" : "") + "\n";
}

LibraryCalls::Use &LibraryCalls::use(int64_t kind) {
  Use &use = uses[kind - SHARDRT_CALL_PRODUCT];
  if (use.tried)
    return use;
  use.tried = true;
  bool emulated = device.isEmulated();
  if (kind == SHARDRT_CALL_PRODUCT) {
    if (const CublasLt *library = openCublasLt(emulated, use.absent))
      use.provider = makeProducts(*library, device, workspace);
  } else if (kind == SHARDRT_CALL_CONVOLUTION) {
    if (const Cudnn *library = openCudnn(emulated, use.absent))
      use.provider = makeConvolutions(*library, device, workspace);
  } else if (kind == SHARDRT_CALL_ATTENTION) {
    if (const Cudnn *library = openCudnn(emulated, use.absent))
      use.provider = makeAttention(*library, device, workspace);
  } else if (const Cufft *library = openCufft(emulated, use.absent)) {
    use.provider = makeTransforms(*library, device, workspace);
  }
  return use;
}

/// Those of capability 10 and 11 do. An emulated device is of the kind that the
/// program is made for, which asks nobody else.
static bool hasTcgen05(const Device &device) {
  return device.isEmulated() ||
         (device.capability() >= 100 && device.capability() < 120);
}

int LibraryCalls::run(int64_t *words, const char *location,
                      std::string &error) {
  int64_t wish = words[SHARDRT_CALL_DONE];
  bool required = wish == SHARDRT_CALL_REQUIRED;
  words[SHARDRT_CALL_DONE] = 0;
  if (wish == SHARDRT_CALL_ON_TCGEN05 && !hasTcgen05(device))
    return SHARDRT_OK;
  std::string at =
      location && *location ? " (" + std::string(location) + ")" : "";
  Call call;
  if (!read(words, call)) {
    error = "asks libraries for something that this version does not know" + at;
    return SHARDRT_USAGE;
  }
  Use &found = use(call.kind);
  if (!found.provider) {
    if (!required) {
      note(call, location, /*done=*/false);
      if (wish == SHARDRT_CALL_ON_TCGEN05 && !std::exchange(found.isSaid, true))
        lacks += found.absent +
                 ": generated kernels do its work, which may be slower\n";
      return SHARDRT_OK;
    }
    error = describe(call) + at + ": " + found.absent;
    return SHARDRT_UNSUPPORTED;
  }
  // What is empty is no work, and no library takes it.
  if (call.result().count() == 0) {
    words[SHARDRT_CALL_DONE] = 1;
    return SHARDRT_OK;
  }
  if (std::any_of(call.operands.begin(),
                  call.operands.begin() + call.numOperands,
                  [](const Operand &operand) { return operand.count() == 0; }))
    return SHARDRT_OK;
  if (!device.enter()) {
    error = device.error;
    return device.status;
  }
  std::string why;
  switch (found.provider->run(call, why)) {
  case Outcome::Done:
    words[SHARDRT_CALL_DONE] = 1;
    note(call, location, /*done=*/true);
    return SHARDRT_OK;
  case Outcome::NotOffered:
    note(call, location, /*done=*/false);
    return SHARDRT_OK;
  case Outcome::Failed:
    break;
  }
  error = describe(call) + at + ": " + why;
  return SHARDRT_REFUSED;
}
