//===- EmulatorTensorMemoryTest.cpp - Memory of tensor cores, emulated ----===//
#include "EmulatorTest.h"

using namespace shardrt;
using namespace shardrt::test;

namespace {
enum class Tensor {
  Right,
  NoWaitForStores,
  NoWaitForLoads,
  AfterRelease,
  NoRelease,
  ReleasesHalf,
  AfterRelinquish,
  OddColumns,
  OtherLanes,
  PastTheEnd,
  NobodyWrote,
  OtherAddresses,
  AllocatesTooMuch,
  StoresTwice,
  ReleasesAtOnce
};

/// Each lane of a warp stores 100 + its number and 200 + its number to tensor
/// memory, loads both, and writes their sum.
template <Tensor Fault>
void throughTensorMemory(Thread *thread, const int64_t *args) {
  constexpr const char *line = "kernel.py:9";
  int32_t t = thread->thread[0];
  if (Fault == Tensor::AfterRelinquish)
    shardrt_emulated_tensor_relinquish(thread, 1, line);
  shardrt_emulated_tensor_alloc(thread, thread->shared,
                                Fault == Tensor::OddColumns ? 48 : 32, 0, 2,
                                line);
  shardrt_emulated_tensor_fence(thread, 0);
  shardrt_emulated_barrier(thread, 3, line);
  shardrt_emulated_tensor_fence(thread, 1);
  int64_t address = *shared(thread, 0, false);
  if (Fault == Tensor::OtherAddresses)
    address += t == 5;
  if (Fault == Tensor::AllocatesTooMuch)
    shardrt_emulated_tensor_alloc(thread, thread->shared + 8, 512, 0, 11, line);
  if (Fault == Tensor::OtherLanes)
    address += int64_t(32) << 16;
  if (Fault == Tensor::PastTheEnd)
    address += 31;
  auto *at = reinterpret_cast<void *>(address);
  auto release = [&](int32_t place) {
    if (Fault != Tensor::ReleasesAtOnce) {
      shardrt_emulated_tensor_fence(thread, 0);
      shardrt_emulated_barrier(thread, place, line);
      shardrt_emulated_tensor_fence(thread, 1);
    }
    shardrt_emulated_tensor_dealloc(thread, at,
                                    Fault == Tensor::ReleasesHalf ? 16 : 32, 0,
                                    place + 1, line);
  };
  if (Fault == Tensor::AfterRelease)
    release(20);
  int32_t words[] = {100 + t, 200 + t};
  if (Fault != Tensor::NobodyWrote)
    shardrt_emulated_tensor_store(thread, at, words, 2, 4, line);
  if (Fault == Tensor::StoresTwice)
    shardrt_emulated_tensor_store(thread, at, words, 2, 12, line);
  if (Fault != Tensor::NoWaitForStores)
    shardrt_emulated_tensor_wait(thread, 1, 5, line);
  int64_t loaded = shardrt_emulated_tensor_load(thread, at, 2, 6, line);
  if (Fault != Tensor::NoWaitForLoads)
    shardrt_emulated_tensor_wait(thread, 0, 7, line);
  *global<int32_t>(thread, args[0], t, true) =
      shardrt_emulated_tensor_word(thread, loaded, 0, line) +
      shardrt_emulated_tensor_word(thread, loaded, 1, line);
  if (Fault != Tensor::NoRelease)
    release(8);
}

template <Tensor Fault> std::string throughTensorMemory() {
  std::string errors;
  for (Schedule schedule : schedules) {
    std::string error;
    std::vector<int32_t> result = run(throughTensorMemory<Fault>, schedule,
                                      error, 64, 32, 1, 256, 7, true);
    for (int32_t i = 0; i < 32 && error.empty(); ++i)
      EXPECT_EQ(result[i], 300 + 2 * i);
    errors += error.empty() ? "none\n" : error + "\n";
  }
  return errors;
}

TEST(Emulator, KeepsWhatIsStoredInTensorMemory) {
  EXPECT_EQ(throughTensorMemory<Tensor::Right>(), "none\nnone\nnone\n");
}

TEST(Emulator, FindsMisusedTensorMemory) {
  expectAllSay(throughTensorMemory<Tensor::NoWaitForStores>(),
               "writes it, without tcgen05.wait between");
  expectAllSay(throughTensorMemory<Tensor::NoWaitForLoads>(),
               "without tcgen05.wait::ld between");
  expectAllSay(throughTensorMemory<Tensor::AfterRelease>(),
               "which is not allocated");
  expectAllSay(throughTensorMemory<Tensor::NoRelease>(),
               "tensor memory is still allocated where its block ends");
  expectAllSay(throughTensorMemory<Tensor::ReleasesHalf>(),
               " gives back 16 columns of tensor memory from 480 on, which "
               "nobody allocated");
  expectAllSay(throughTensorMemory<Tensor::AfterRelinquish>(),
               " allocates tensor memory behind "
               "tcgen05.relinquish_alloc_permit");
  expectAllSay(throughTensorMemory<Tensor::OddColumns>(),
               "expected a power of two");
  expectAllSay(throughTensorMemory<Tensor::OtherLanes>(),
               "expected its warp's first: 0");
  expectAllSay(throughTensorMemory<Tensor::PastTheEnd>(),
               "which is not allocated");
  expectAllSay(throughTensorMemory<Tensor::NobodyWrote>(),
               "nobody has written it");
  expectAllSay(throughTensorMemory<Tensor::OtherAddresses>(),
               " do not mean the same tensor memory");
  expectAllSay(throughTensorMemory<Tensor::AllocatesTooMuch>(),
               " waits for ever for 512 columns of tensor memory");
  expectAllSay(throughTensorMemory<Tensor::StoresTwice>(),
               " column 480 of tensor memory at kernel.py:9: thread ");
  expectAllSay(throughTensorMemory<Tensor::ReleasesAtOnce>(),
               " gives back tensor memory at kernel.py:9, lane ");
}

struct WrongProduct {
  int32_t instruction;
  int64_t descriptor;
  int32_t config = 0, lane = 0;
};

constexpr WrongProduct kWrongProducts[] = {
    {0, kDescriptor},
    {1 << 4 | 4 << 17 | 4 << 24, kDescriptor},
    {kInstruction | 2 << 7 | 2 << 10 | 1 << 15, kDescriptor,
     SHARDRT_TENSOR_TF32},
    {kInstruction, 0},
    {kInstruction, kDescriptor, 0, 1}};

/// One thread begins a product that no tensor core takes.
template <int Which> void beginWrongProduct(Thread *thread, const int64_t *) {
  constexpr const char *line = "kernel.py:9";
  constexpr WrongProduct wrong = kWrongProducts[Which];
  shardrt_emulated_tensor_alloc(thread, thread->shared, 32, 0, 2, line);
  shardrt_emulated_tensor_fence(thread, 0);
  shardrt_emulated_barrier(thread, 3, line);
  shardrt_emulated_tensor_fence(thread, 1);
  int64_t sums = *shared(thread, 0, false) + (int64_t(wrong.lane) << 16);
  if (thread->thread[0] == 0)
    shardrt_emulated_tensor_product(thread, reinterpret_cast<void *>(sums),
                                    wrong.descriptor, wrong.descriptor,
                                    wrong.instruction, 0, wrong.config, line);
}

template <int Which> std::string beginWrongProduct() {
  std::string errors;
  for (Schedule schedule : schedules) {
    std::string error;
    (void)run(beginWrongProduct<Which>, schedule, error, 64, 32, 1, 256, 7,
              true);
    errors += error + "\n";
  }
  return errors;
}

TEST(Emulator, RefusesWrongProductsIntoTensorMemory) {
  expectAllSay(beginWrongProduct<0>(), "product into tensor memory of ");
  expectAllSay(beginWrongProduct<0>(),
               "its instruction descriptor is not of f16, bf16 or tf32");
  expectAllSay(beginWrongProduct<1>(),
               "it is of 64 rows and 32 columns, expected 128");
  expectAllSay(beginWrongProduct<2>(), "matrices of tf32 ");
  expectAllSay(beginWrongProduct<3>(),
               "a descriptor is not of rows of 128 swizzled bytes");
  expectAllSay(beginWrongProduct<4>(),
               "its sums begin in lane 1 of tensor memory");
}
} // namespace
