//===- EmulatorProductsTest.cpp - Products of emulated warps and warpgroups
//===//
#include "EmulatorTest.h"
#include <cstring>

using namespace shardrt;
using namespace shardrt::test;

namespace {
/// A product of 64 rows and 8 columns, of which thread `Skips` does not write
/// its last byte.
template <int32_t Skips> void multiplies(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0];
  constexpr int64_t rows = 64 * 128, bytes = rows + 8 * 128;
  for (int64_t at = t * 8; at < bytes; at += 128 * 8) {
    int64_t count = t == Skips && at + 128 * 8 >= bytes ? 7 : 8;
    shardrt_emulated_shared(thread, thread->shared + at, count, 1,
                            "kernel.py:50");
    for (int64_t i = 0; i < count; ++i)
      thread->shared[at + i] = 0;
  }
  shardrt_emulated_async_fence(thread);
  shardrt_emulated_barrier(thread, 1, "kernel.py:51");
  auto describes = [&](int64_t offset) {
    auto address = reinterpret_cast<uintptr_t>(thread->shared) + offset;
    return static_cast<int64_t>((address & 0x3ffff) >> 4) | int64_t(64) << 32 |
           int64_t(1) << 62;
  };
  shardrt_emulated_product_fence(thread);
  shardrt_emulated_product(thread, describes(0), describes(rows), 0,
                           8 | SHARDRT_PRODUCT_BF16 | SHARDRT_PRODUCT_CHECK, 2,
                           "kernel.py:52");
  shardrt_emulated_product_commit(thread);
  shardrt_emulated_product_wait(thread, 0);
}

TEST(Emulator, FindsAProductOfWhatNobodyWrote) {
  auto errorOf = [](shardrt_emulated_kernel kernel, Schedule schedule) {
    std::string error;
    run(kernel, schedule, error, 64, 128, 1, 64 * 128 + 8 * 128, 7,
        /*ordered=*/true);
    return error;
  };
  for (Schedule schedule : schedules) {
    EXPECT_EQ(errorOf(multiplies<-1>, schedule), "");
    // Pieces are swapped by the row: 32 bytes of a row begin at 32 of the
    // third.
    std::string error = errorOf(multiplies<37>, schedule);
    EXPECT_NE(error.find("that nobody has written: byte 8495 is read by a "
                         "product of warpgroup 0 of block 0 at kernel.py:52"),
              std::string::npos)
        << error;
  }
}

/// Elements of two matrices, the first with digits that f32 has no room for.
double leftAt(int32_t row, int32_t depth) {
  return row * 4 + depth + 1 + std::ldexp(1.0, -36);
}
double rightAt(int32_t depth, int32_t column) {
  return (depth + 1) * (column + 2);
}

/// A product of f64 that is added to 1000 row + column; lane `Elsewhere` comes
/// to it in another place.
template <int32_t Elsewhere>
void multipliesDoubles(Thread *thread, const int64_t *args) {
  int32_t lane = thread->thread[0], row = lane / 4, column = lane % 4;
  int32_t words[10], out[4];
  auto put = [&](int32_t word, double value) {
    std::memcpy(words + word, &value, sizeof(value));
  };
  put(0, leftAt(row, column));
  put(4, rightAt(column, row));
  for (int32_t i = 0; i < 2; ++i)
    put(6 + 2 * i, 1000 * row + 2 * column + i);
  shardrt_emulated_mma(thread, SHARDRT_MMA_F64, words, out,
                       lane == Elsewhere ? 6 : 5, "kernel.py:60");
  for (int32_t i = 0; i < 2; ++i)
    std::memcpy(global<double>(thread, args[0], row * 8 + 2 * column + i, true),
                out + 2 * i, sizeof(double));
}

TEST(Emulator, MultipliesDoubles) {
  for (Schedule schedule : schedules) {
    std::string error;
    std::vector<int32_t> words =
        run(multipliesDoubles<-1>, schedule, error, 128, 32);
    EXPECT_EQ(error, "");
    for (int32_t row = 0; row < 8; ++row)
      for (int32_t column = 0; column < 8; ++column) {
        double expected = 1000 * row + column, found;
        for (int32_t k = 0; k < 4; ++k)
          expected += leftAt(row, k) * rightAt(k, column);
        std::memcpy(&found, &words[2 * (row * 8 + column)], sizeof(found));
        EXPECT_EQ(found, expected) << row << " " << column;
      }
    run(multipliesDoubles<9>, schedule, error, 128, 32);
    EXPECT_NE(error.find("lanes of a warp meet in different places"),
              std::string::npos)
        << error;
  }
}

enum class Wrong {
  Matrices,
  Lines,
  NarrowLines,
  Descriptor,
  Sums,
  Fence,
  Overwritten,
  ReadNobodys,
  ReadOverwritten,
  ReadEarly,
};

/// A product of 64 rows and 8 columns of zeros, with a mistake.
template <Wrong wrong> void misusesProducts(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0];
  constexpr int64_t rows = 64 * 128, bytes = rows + 8 * 128;
  for (int64_t at = t * 8; at < bytes; at += thread->block_dim[0] * 8) {
    shardrt_emulated_shared(thread, thread->shared + at, 8, 1, "kernel.py:70");
    for (int64_t i = 0; i < 8; ++i)
      thread->shared[at + i] = 0;
  }
  shardrt_emulated_async_fence(thread);
  shardrt_emulated_barrier(thread, 1, "kernel.py:71");
  auto describes = [&](int64_t offset) {
    auto address = reinterpret_cast<uintptr_t>(thread->shared) + offset;
    return static_cast<int64_t>((address & 0x3ffff) >> 4) | int64_t(64) << 32 |
           int64_t(wrong != Wrong::Descriptor) << 62;
  };
  int32_t config =
      8 | SHARDRT_PRODUCT_CHECK |
      (wrong == Wrong::Lines ? SHARDRT_PRODUCT_TF32 | SHARDRT_PRODUCT_LEFT_LINES
       : wrong == Wrong::NarrowLines
           ? SHARDRT_PRODUCT_F8 | SHARDRT_PRODUCT_RIGHT_LINES
           : SHARDRT_PRODUCT_BF16);
  int64_t left = describes(wrong == Wrong::Matrices && t == 5 ? 1024 : 0);
  auto multiply = [&](int64_t sums) {
    return shardrt_emulated_product(thread, left, describes(rows), sums, config,
                                    2, "kernel.py:72");
  };
  if (wrong != Wrong::Fence)
    shardrt_emulated_product_fence(thread);
  int64_t first = multiply(wrong == Wrong::Sums ? 7 : 0), read = first;
  if (wrong == Wrong::Overwritten || wrong == Wrong::ReadOverwritten)
    multiply(first);
  if (wrong == Wrong::Overwritten)
    multiply(first);
  if (wrong == Wrong::ReadNobodys)
    read = 9;
  shardrt_emulated_product_commit(thread);
  if (wrong != Wrong::ReadEarly)
    shardrt_emulated_product_wait(thread, 0);
  shardrt_emulated_sum(thread, read, 0, "kernel.py:73");
}

/// Half a warp that loads a matrix.
void matrixOfAShortWarp(Thread *thread, const int64_t *) {
  int32_t t = thread->thread[0], out = 0;
  for (int32_t word = 0; word < 4; ++word)
    *shared(thread, t * 4 + word, true) = 0;
  shardrt_emulated_barrier(thread, 1, "kernel.py:74");
  shardrt_emulated_ldmatrix(thread, thread->shared + t * 16, 1, 0, &out, 2,
                            "kernel.py:75");
}

TEST(Emulator, FindsMisusedProducts) {
  constexpr int64_t bytes = 64 * 128 + 8 * 128;
  auto expect = [](shardrt_emulated_kernel kernel, const char *text,
                   int32_t threads = 128) {
    std::string error = errorAhead(kernel, threads, bytes);
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  expect(misusesProducts<Wrong::Matrices>, "give it different matrices");
  expect(misusesProducts<Wrong::Lines>,
         "matrices of tf32 stand along the depth");
  expect(misusesProducts<Wrong::NarrowLines>,
         "matrices of 8-bit floats stand along the depth");
  expect(misusesProducts<Wrong::Descriptor>,
         "a descriptor is not of rows of 128 swizzled bytes");
  expect(misusesProducts<Wrong::Sums>, "its sums are none of the thread's");
  expect(misusesProducts<Wrong::Fence>,
         "begins sums without wgmma.fence before");
  expect(misusesProducts<Wrong::Overwritten>,
         "adds to sums that another product has overwritten");
  expect(misusesProducts<Wrong::ReadNobodys>,
         "looks at sums that nobody made at kernel.py:73");
  expect(misusesProducts<Wrong::ReadOverwritten>,
         "looks at sums that a product has overwritten at kernel.py:73");
  expect(misusesProducts<Wrong::ReadEarly>,
         "looks at sums of a product that it has not waited for");
  expect(misusesProducts<Wrong::ReadEarly>,
         "is in a block of 96 threads, but products take groups of 128", 96);
  expect(matrixOfAShortWarp, "is in a warp of 16 lanes, but matrices take all",
         16);
}

// cvt.rna.tf32: ten bits of the fraction, ties away from zero.
TEST(Emulator, RoundsToTF32) {
  EXPECT_EQ(shardrt_emulated_tf32(1.0f), 0x3f800000);
  EXPECT_EQ(shardrt_emulated_tf32(1.0f + 0x1p-11f), 0x3f802000);
  EXPECT_EQ(shardrt_emulated_tf32(-1.0f - 0x1p-11f),
            static_cast<int32_t>(0xbf802000));
  EXPECT_EQ(shardrt_emulated_tf32(1.0f + 0x1p-11f - 0x1p-23f), 0x3f800000);
  EXPECT_EQ(shardrt_emulated_tf32(3.4028235e38f), 0x7f800000);
  EXPECT_EQ(shardrt_emulated_tf32(__builtin_inff()), 0x7f800000);
  EXPECT_EQ(shardrt_emulated_tf32(__builtin_nanf("")), 0x7fffffff);
}
} // namespace
