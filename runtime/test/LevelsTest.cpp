//===- LevelsTest.cpp - The same bits on processors of other levels -------===//
//
// Kernels of both levels that have wider registers, side by side on a processor
// that has both.
//
//===----------------------------------------------------------------------===//

#include "Device/Cpu/EigenKernels.h"
#include "Device/Cpu/TransformKernels.h"
#include "MatrixWords.h"
#include "TestWorld.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace shardrt;
using namespace shardrt::test;

#if defined(__x86_64__)
template <typename T>
static bool isSame(const std::vector<T> &x, const std::vector<T> &y) {
  return x.size() == y.size() &&
         (x.empty() ||
          std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

/// Scratch memory from an address that 64 divides on.
static char *aligned(std::vector<char> &room, int64_t bytes) {
  room.resize(bytes + 64);
  auto address = reinterpret_cast<uintptr_t>(room.data());
  return room.data() + (64 - address % 64);
}

namespace {
/// The results of a decomposition of one matrix, values first.
template <typename T> struct Parts {
  std::vector<T> values, first, second;
  bool operator==(const Parts &other) const {
    return isSame(values, other.values) && isSame(first, other.first) &&
           isSame(second, other.second);
  }
};

template <typename T> struct Matrix {
  int64_t rows, columns;
  std::vector<T> elements;
  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), elements(rows * columns) {
    std::mt19937 random(static_cast<unsigned>(rows * columns));
    std::uniform_real_distribution<T> numbers(-1, 1);
    for (T &x : elements)
      x = numbers(random);
  }
};
} // namespace

template <typename T>
static Parts<T> eigh(const EigenKernels &kernels, const Matrix<T> &a) {
  int64_t n = a.rows;
  Parts<T> parts{std::vector<T>(n), std::vector<T>(n * n), {}};
  EighCall call;
  call.partBytes = sizeof(T);
  call.n = n;
  call.matrix = reinterpret_cast<const char *>(a.elements.data());
  call.rowStride = call.vectorRowStride = n;
  call.columnStride = call.vectorColumnStride = call.valueStride = 1;
  call.values = reinterpret_cast<char *>(parts.values.data());
  call.vectors = reinterpret_cast<char *>(parts.first.data());
  std::vector<char> room;
  kernels.eigh(call, aligned(room, kernels.eighScratch(call)));
  return parts;
}

template <typename T>
static Parts<T> svd(const EigenKernels &kernels, const Matrix<T> &a) {
  int64_t m = a.rows, n = a.columns;
  Parts<T> parts{std::vector<T>(n), std::vector<T>(m * n),
                 std::vector<T>(n * n)};
  SvdCall call;
  call.partBytes = sizeof(T);
  call.rows = m;
  call.columns = n;
  call.matrix = reinterpret_cast<const char *>(a.elements.data());
  call.rowStride = call.leftRowStride = call.rightRowStride = n;
  call.columnStride = call.leftColumnStride = call.rightColumnStride = 1;
  call.valueStride = 1;
  call.values = reinterpret_cast<char *>(parts.values.data());
  call.left = reinterpret_cast<char *>(parts.first.data());
  call.right = reinterpret_cast<char *>(parts.second.data());
  std::vector<char> room;
  kernels.svd(call, aligned(room, kernels.svdScratch(call)));
  return parts;
}

/// Packed matrices of Q R, and taus.
template <typename T>
static Parts<T> qr(const EigenKernels &kernels, const Matrix<T> &a) {
  int64_t m = a.rows, n = a.columns;
  Parts<T> parts{std::vector<T>(n), std::vector<T>(m * n), {}};
  HouseholderCall call;
  call.partBytes = sizeof(T);
  call.kind = HouseholderCall::Qr;
  call.rows = m;
  call.columns = call.count = n;
  call.matrix = reinterpret_cast<const char *>(a.elements.data());
  call.rowStride = call.resultRowStride = n;
  call.columnStride = call.resultColumnStride = call.tauStride = 1;
  call.result = reinterpret_cast<char *>(parts.first.data());
  call.taus = reinterpret_cast<char *>(parts.values.data());
  std::vector<char> room;
  kernels.householder(call, aligned(room, kernels.householderScratch(call)));
  return parts;
}

/// The same by the runtime's entry, with the word for fixed bits.
template <typename T>
static Parts<T> eighFixed(shardrt_context *ctx, const Matrix<T> &a) {
  int64_t n = a.rows;
  Parts<T> parts{std::vector<T>(n), std::vector<T>(n * n), {}};
  MatrixWords words({{SHARDRT_MATRIX_PART, sizeof(T)},
                     {SHARDRT_MATRIX_THREADS, 1},
                     {SHARDRT_MATRIX_RANK, 2},
                     {SHARDRT_MATRIX_COUNT, 2},
                     {SHARDRT_MATRIX_FIXED_LEVEL, 1}},
                    {n, n});
  words.add(a.elements.data(), {n, 1});
  words.add(parts.values.data(), {1});
  words.add(parts.first.data(), {n, 1});
  EXPECT_EQ(shardrt_eigh(ctx, words.data()), SHARDRT_OK);
  return parts;
}

template <typename T>
static Parts<T> svdFixed(shardrt_context *ctx, const Matrix<T> &a) {
  int64_t m = a.rows, n = a.columns;
  Parts<T> parts{std::vector<T>(n), std::vector<T>(m * n),
                 std::vector<T>(n * n)};
  MatrixWords words({{SHARDRT_MATRIX_PART, sizeof(T)},
                     {SHARDRT_MATRIX_THREADS, 1},
                     {SHARDRT_MATRIX_RANK, 2},
                     {SHARDRT_MATRIX_COUNT, 3},
                     {SHARDRT_MATRIX_FIXED_LEVEL, 1}},
                    {m, n});
  words.add(a.elements.data(), {n, 1});
  words.add(parts.values.data(), {1});
  words.add(parts.first.data(), {n, 1});
  words.add(parts.second.data(), {n, 1});
  EXPECT_EQ(shardrt_svd(ctx, words.data()), SHARDRT_OK);
  return parts;
}

template <typename T>
static Parts<T> qrFixed(shardrt_context *ctx, const Matrix<T> &a) {
  int64_t m = a.rows, n = a.columns;
  Parts<T> parts{std::vector<T>(n), std::vector<T>(m * n), {}};
  MatrixWords words({{SHARDRT_MATRIX_PART, sizeof(T)},
                     {SHARDRT_MATRIX_KIND, SHARDRT_HOUSEHOLDER_QR},
                     {SHARDRT_MATRIX_THREADS, 1},
                     {SHARDRT_MATRIX_RANK, 2},
                     {SHARDRT_MATRIX_COUNT, n},
                     {SHARDRT_MATRIX_FIXED_LEVEL, 1}},
                    {m, n});
  words.add(a.elements.data(), {n, 1});
  words.add(parts.first.data(), {n, 1});
  words.add(parts.values.data(), {1});
  EXPECT_EQ(shardrt_householder(ctx, words.data()), SHARDRT_OK);
  return parts;
}

template <typename T>
static void checkMatrices(shardrt_context *ctx, int64_t &differing) {
  bool hasV4 = __builtin_cpu_supports("x86-64-v4");
  for (int64_t n : {5, 16, 33, 70}) {
    Matrix<T> square(n, n), tall(n + 11, n);
    Parts<T> values = eigh(eigenKernelsV3, square),
             singular = svd(eigenKernelsV3, tall),
             packed = qr(eigenKernelsV3, tall);
    EXPECT_TRUE(eighFixed(ctx, square) == values) << n;
    EXPECT_TRUE(svdFixed(ctx, tall) == singular) << n;
    EXPECT_TRUE(qrFixed(ctx, tall) == packed) << n;
    if (hasV4)
      differing += !(eigh(eigenKernelsV4, square) == values) +
                   !(svd(eigenKernelsV4, tall) == singular) +
                   !(qr(eigenKernelsV4, tall) == packed);
  }
}

TEST(Levels, MatricesHaveTheBitsOfOneLevelWhereTheyAreFixed) {
  if (!__builtin_cpu_supports("x86-64-v3"))
    GTEST_SKIP() << "a processor without AVX2";
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer sees the kernels without a level alone";
#endif
  TestWorld world(makeTable({1}, {}));
  int64_t differing = 0;
  EXPECT_EQ(world.run([&](shardrt_context *ctx) {
    checkMatrices<float>(ctx, differing);
    checkMatrices<double>(ctx, differing);
    return 0;
  }),
            SHARDRT_OK);
  // Else nothing would have to be fixed.
  if (__builtin_cpu_supports("x86-64-v4")) {
    EXPECT_GT(differing, 0);
  }
}

/// `lines` lines of `n` random complex numbers, transformed.
template <typename T>
static std::vector<T> transformed(const TransformKernels &kernels, int64_t n,
                                  int64_t lines, bool isForward) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::uniform_real_distribution<T> numbers(-1, 1);
  std::vector<T> x(2 * n * lines), y(x.size()), cosines(n), sines(n);
  for (T &number : x)
    number = numbers(random);
  for (int64_t k = 0; k < n; ++k) {
    cosines[k] = T(std::cos(2 * M_PI * double(k) / double(n)));
    sines[k] = T(-std::sin(2 * M_PI * double(k) / double(n)));
  }
  int64_t sizes[] = {lines, n}, strides[] = {n, 1};
  TransformCall call;
  call.partBytes = sizeof(T);
  call.isForward = isForward;
  call.factor = isForward ? 1 : 1 / double(n);
  call.rank = 2;
  call.dim = 1;
  call.length = n;
  call.lines = lines;
  call.sizes = sizes;
  call.src = reinterpret_cast<const char *>(x.data());
  call.dst = reinterpret_cast<char *>(y.data());
  call.srcStrides = call.dstStrides = strides;
  call.cosines = reinterpret_cast<const char *>(cosines.data());
  call.sines = reinterpret_cast<const char *>(sines.data());
  std::vector<char> room;
  kernels.transform(call, 0, lines, aligned(room, kernels.scratch(call)));
  return y;
}

TEST(Levels, TransformsHaveTheSameBits) {
  if (!__builtin_cpu_supports("x86-64-v4"))
    GTEST_SKIP() << "a processor without AVX-512";
  for (int64_t n : {1, 2, 7, 8, 15, 27, 60, 128, 1000, 4096, 6561})
    for (int64_t lines : {3, 70})
      for (bool isForward : {false, true}) {
        EXPECT_TRUE(
            isSame(transformed<float>(transformKernelsV3, n, lines, isForward),
                   transformed<float>(transformKernelsV4, n, lines, isForward)))
            << n;
        EXPECT_TRUE(isSame(
            transformed<double>(transformKernelsV3, n, lines, isForward),
            transformed<double>(transformKernelsV4, n, lines, isForward)))
            << n;
      }
}
#endif
