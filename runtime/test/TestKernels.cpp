//===- TestKernels.cpp - What communication launches, by hand -------------===//

#include "TestKernels.h"
#include "Device/Cpu/Combine.h"
#include "FakeCuda.h"
#include "shardrt/CommunicationKernels.h"
#include "shardrt/Emulated.h"
#include <array>
#include <cstring>
#include <deque>
#include <utility>

using namespace shardrt;

namespace {
/// The arguments of a kernel, as the host sees them.
struct Arguments {
  const int64_t *words;
  int64_t tag; ///< of device addresses
  std::byte *address(int i) const {
    return reinterpret_cast<std::byte *>(words[i] ^ tag);
  }
  int64_t operator[](int i) const { return words[i]; }
};

/// What one thread does.
using Body = void (*)(int64_t thread, const Arguments &);

template <Body body>
void onFake(unsigned block, unsigned thread, const int64_t *words) {
  body(int64_t(block) * communicationThreads + thread, {words, 0});
}

template <Body body>
void onEmulated(shardrt_emulated_thread *thread, const int64_t *words) {
  body(thread->block[0] * communicationThreads + thread->thread[0],
       {words, SHARDRT_EMULATED_TAG});
}

template <ElementType type, Reduction reduction>
void combine(int64_t thread, const Arguments &a) {
  int64_t count = a[1], each = a[2], bytes = elementBytes(type);
  int64_t begin = thread * each, end = std::min(begin + each, count);
  if (begin >= end)
    return;
  std::vector<const std::byte *> parts;
  for (int64_t i = 0; i < a[3]; ++i) {
    int64_t last = combineAddresses - 1;
    const std::byte *part =
        i < last ? a.address(5 + static_cast<int>(i))
                 : a.address(5 + static_cast<int>(last)) + (i - last) * a[4];
    parts.push_back(part + begin * bytes);
  }
  findCombiner(type, reduction)
      .function(parts, a.address(0) + begin * bytes, end - begin);
}

template <int bytes> void moveRows(int64_t thread, const Arguments &a) {
  if (thread >= a[3])
    return;
  int64_t words = a[4], pairs = a[5], rest = thread / words;
  int64_t block = rest / pairs, word = thread % words;
  auto *pair =
      reinterpret_cast<const int64_t *>(a.address(2)) + rest % pairs * 2;
  std::memcpy(a.address(0) + (block * a[6] + pair[1] * words + word) * bytes,
              a.address(1) + (block * a[7] + pair[0] * words + word) * bytes,
              bytes);
}

template <ElementType type, Reduction reduction>
void update(int64_t thread, const Arguments &a) {
  if (thread >= a[3])
    return;
  int64_t inner = a[4], rest = thread / inner, block = rest / a[5];
  int64_t bytes = elementBytes(type), element = thread % inner;
  auto *segment =
      reinterpret_cast<const int64_t *>(a.address(2)) + rest % a[5] * 3;
  std::byte *row =
      a.address(0) + (block * a[6] + segment[0] * inner + element) * bytes;
  for (int64_t i = segment[1]; i < segment[2]; ++i) {
    const std::byte *parts[] = {
        row, a.address(1) + (block * a[7] + i * inner + element) * bytes};
    findCombiner(type, reduction).function(parts, row, 1);
  }
}

struct Made {
  std::string name;
  void (*fake)(unsigned, unsigned, const int64_t *);
  shardrt_emulated_kernel emulated;
};

template <Body body> void add(std::deque<Made> &all, std::string name) {
  all.push_back({std::move(name), onFake<body>, onEmulated<body>});
}

template <ElementType type, size_t... reductions>
void addOf(std::deque<Made> &all, std::index_sequence<reductions...>) {
  (..., [&] {
    constexpr auto reduction = static_cast<Reduction>(reductions + 1);
    if (!findCombiner(type, reduction))
      return;
    add<combine<type, reduction>>(all, combineKernelName(type, reduction));
    add<update<type, reduction>>(all, updateKernelName(type, reduction));
  }());
}

const std::deque<Made> &allKernels() {
  static const std::deque<Made> kernels = [] {
    std::deque<Made> all;
    add<moveRows<1>>(all, rowsKernelName(1));
    add<moveRows<2>>(all, rowsKernelName(2));
    add<moveRows<4>>(all, rowsKernelName(4));
    add<moveRows<8>>(all, rowsKernelName(8));
    add<moveRows<16>>(all, rowsKernelName(16));
#define SHARDRT_ADD(NAME, ...)                                                 \
  addOf<ElementType::NAME>(all, std::make_index_sequence<7>());
    SHARDRT_FOR_EACH_ELEMENT_TYPE(SHARDRT_ADD)
#undef SHARDRT_ADD
    return all;
  }();
  return kernels;
}
} // namespace

void test::addCommunicationKernels(DeviceCode &code, bool isEmulated) {
  static const std::vector<fake_kernel> image = [] {
    std::vector<fake_kernel> list;
    for (const Made &kernel : allKernels())
      list.push_back({kernel.name.c_str(), kernel.fake});
    list.push_back({nullptr, nullptr});
    return list;
  }();
  static const std::vector<shardrt_emulated_kernel> functions = [] {
    std::vector<shardrt_emulated_kernel> list;
    for (const Made &kernel : allKernels())
      list.push_back(kernel.emulated);
    return list;
  }();
  static const std::vector<int64_t> traits(2 * functions.size(), 0);
  for (const Made &kernel : allKernels()) {
    DeviceCode::Kernel &entry = code.kernels.emplace_back();
    entry.threads = communicationThreads;
    entry.name = kernel.name.c_str();
  }
  if (isEmulated) {
    code.functions = functions.data();
    code.traits = traits.data();
  } else {
    code.image = image.data();
    code.imageBytes = static_cast<int64_t>(image.size() * sizeof(image[0]));
  }
}
