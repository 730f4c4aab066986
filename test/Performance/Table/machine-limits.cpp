//===- machine-limits.cpp - What a machine can do at most -----------------===//
//
// Prints peak rates of this machine as JSON: fused multiply-adds in f32 and f64
// from registers, and bytes per second of memory for reading, for copying (read
// and written bytes count, whichever of plain and streaming stores is faster)
// and for updating in place. All threads work at once; the best of some rounds
// counts. Vectors are as wide as the compiler is told the machine's are.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

using Clock = std::chrono::steady_clock;

template <typename T> struct Vector {
  typedef T Type __attribute__((vector_size(kVectorBytes)));
};
using Floats = Vector<float>::Type;

/// Calls `work(thread)` on all threads at once; the least seconds of `rounds`,
/// from the first thread's beginning to the last one's end.
static double secondsOf(int threads, int rounds,
                        const std::function<void(int)> &work) {
  std::barrier phase(threads);
  std::vector<Clock::time_point> began(size_t(threads) * rounds),
      ended(size_t(threads) * rounds);
  std::vector<std::thread> crew;
  for (int thread = 0; thread < threads; ++thread)
    crew.emplace_back([&, thread] {
      for (int round = 0; round < rounds; ++round) {
        phase.arrive_and_wait();
        began[size_t(round) * threads + thread] = Clock::now();
        work(thread);
        ended[size_t(round) * threads + thread] = Clock::now();
      }
    });
  for (std::thread &member : crew)
    member.join();
  double best = 1e30;
  for (int round = 0; round < rounds; ++round) {
    auto first = began.begin() + long(round) * threads;
    auto last = ended.begin() + long(round) * threads;
    std::chrono::duration<double> took =
        *std::max_element(last, last + threads) -
        *std::min_element(first, first + threads);
    best = std::min(best, took.count());
  }
  return best;
}

/// Keeps a value that nobody reads from being optimised away.
template <typename T> static void keep(const T &value) {
  asm volatile("" : : "m"(value) : "memory");
}

/// Multiply-adds per second of all threads, a multiplication and an addition
/// being two.
template <typename T> static double flops(int threads) {
  using V = typename Vector<T>::Type;
  constexpr int kChains = 12;
  constexpr long kSteps = 4'000'000;
  double seconds = secondsOf(threads, 5, [](int) {
    V sums[kChains], factor = V{} + T(0.999999), addend = V{} + T(1e-6);
    for (int chain = 0; chain < kChains; ++chain)
      sums[chain] = V{} + T(chain);
    for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
      for (int chain = 0; chain < kChains; ++chain)
        sums[chain] = sums[chain] * factor + addend;
      asm volatile("" : "+v"(factor));
    }
    for (V &sum : sums)
      keep(sum);
  });
  return 2.0 * kChains * kSteps * (kVectorBytes / sizeof(T)) * threads /
         seconds;
}

int main() {
  int threads = int(std::thread::hardware_concurrency());
  if (const char *given = std::getenv("SHARDC_THREADS"))
    threads = std::atoi(given);
  threads = threads < 1 ? 1 : threads;
  const long bytes = 128L << 20, count = bytes / kVectorBytes;
  std::vector<Floats *> from(threads), to(threads);
  secondsOf(threads, 1, [&](int thread) {
    from[thread] = static_cast<Floats *>(std::aligned_alloc(4096, bytes));
    to[thread] = static_cast<Floats *>(std::aligned_alloc(4096, bytes));
    for (long i = 0; i < count; ++i)
      from[thread][i] = to[thread][i] = Floats{} + float(i & 7);
  });
  auto rate = [&](double passes, const std::function<void(int)> &work) {
    return passes * bytes * threads / secondsOf(threads, 7, work);
  };
  double read = rate(1, [&](int thread) {
    const Floats *in = from[thread];
    Floats sums[8] = {};
    for (long i = 0; i < count; i += 8)
      for (int part = 0; part < 8; ++part)
        sums[part] += in[i + part];
    for (Floats &sum : sums)
      keep(sum);
  });
  double plain = rate(2, [&](int thread) {
    const Floats *in = from[thread];
    Floats *out = to[thread];
    for (long i = 0; i < count; ++i)
      out[i] = in[i];
  });
  double streamed = rate(2, [&](int thread) {
    const Floats *in = from[thread];
    Floats *out = to[thread];
    for (long i = 0; i < count; ++i)
      __builtin_nontemporal_store(in[i], &out[i]);
  });
  double update = rate(2, [&](int thread) {
    Floats *both = to[thread];
    for (long i = 0; i < count; ++i)
      both[i] = both[i] * 0.5f + 1.0f;
  });
  std::printf("{\"threads\": %d, \"vector_bytes\": %d, \"flops_f32\": %.4g, "
              "\"flops_f64\": %.4g, \"read\": %.4g, \"copy\": %.4g, "
              "\"copy_plain\": %.4g, \"copy_streamed\": %.4g, \"update\": "
              "%.4g}\n",
              threads, kVectorBytes, flops<float>(threads),
              flops<double>(threads), read, plain > streamed ? plain : streamed,
              plain, streamed, update);
  return 0;
}
