//===- Block.h - The threads of one emulated block --------------*- C++ -*-===//
//
// Threads that synchronise are fibers of one host thread. A schedule says who
// runs next where several can: round robin (each runs to its next
// synchronisation), run ahead (a warp runs on until it waits for the block), or
// random. Blocks run one after another: in their order, from the last to the
// first, or in any. Blocks of a cluster run side by side, as if they were one
// of as many threads: shared memory is that of the first, then that of the
// next, and so is tensor memory.
//
// What happened before what is known by epochs (barriers of the block
// and of a warp), and in kernels with mbarriers by clocks: a number a lane of
// how far others were when it last synchronised with them. Copies and products
// that nobody waits for have clocks too, of their mbarrier and of their
// warpgroup.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_EMULATED_BLOCK_H
#define SHARDRT_DEVICE_EMULATED_BLOCK_H

#include "Device/Emulated/Fiber.h"
#include "shardrt/Emulated.h"
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace shardrt {

/// Device memory that is allocated, by (host) address. It is changed by the
/// thread of its device alone.
class Allocations {
public:
  void add(uintptr_t begin, int64_t bytes) {
    std::lock_guard guard(lock);
    ranges[begin] = bytes;
  }
  /// Removes the allocation at `begin`; false if there is none.
  bool remove(uintptr_t begin) {
    std::lock_guard guard(lock);
    return ranges.erase(begin) != 0;
  }
  /// Whether they are this device's. For its own thread.
  bool contains(uintptr_t begin, int64_t bytes) const;
  /// The same, for other threads.
  bool containsForOthers(uintptr_t begin, int64_t bytes) const {
    std::lock_guard guard(lock);
    return contains(begin, bytes);
  }
  /// Whether they are this device's, or one's whose memory it reaches.
  bool reaches(uintptr_t begin, int64_t bytes) const;

  std::map<uintptr_t, int64_t> ranges;
  std::vector<const Allocations *> peers;

private:
  mutable std::mutex lock; ///< for threads of other devices
};

/// Threads of a warp.
inline constexpr int32_t warpSize = 32;
/// Threads that carry out a product of matrices together.
inline constexpr int32_t groupSize = 128;
/// What TMA copies and products take of shared memory at once.
inline constexpr int32_t pieceBytes = 16;
/// Blocks of a cluster, at most.
inline constexpr int32_t mostOfCluster = 2;
/// A block's tensor memory.
inline constexpr int32_t tensorLanes = 128, tensorColumns = 512;
/// A bit beside those of shardrt_emulated_tensor_config.
inline constexpr int32_t tensorAdds = 32;
/// mbarriers that a block, or all of a cluster, may have.
inline constexpr int32_t mostTransfers = 64;

enum class Schedule { RoundRobin, RunAhead, Random };

class BlockRunner;

/// A copy from device to shared memory that is on its way: cp.async.
struct Copy {
  char *to = nullptr;
  const char *from = nullptr; ///< the host's address
  int32_t bytes = 0, fromBytes = 0;
  int64_t group = 0; ///< of its thread
  bool checked = false;
};

/// A TMA copy from device to shared memory that is under way: pieces of a
/// box, at most 16 bytes each, of which `bytes` at `from` come from device
/// memory and go `skip` behind `to`; the others are zeros.
struct TmaCopy {
  struct Piece {
    int32_t to = 0; ///< offset in shared memory
    int32_t skip = 0, bytes = 0;
    const char *from = nullptr;
  };
  std::vector<Piece> pieces;
  int64_t bytes = 0;
  bool checked = false;
};

/// How far others were, by lane, mbarrier, warpgroup, and, at the end, products
/// into tensor memory.
using Clock = std::vector<uint32_t>;

/// A lane's part of what a product of warpgroups adds up.
struct Sums {
  std::vector<float> values;
  int64_t product = 0; ///< that makes it: its number in the warpgroup; or none
  bool overwritten = false;
};

/// What a lane has asked for of tensor memory, a word of each of some columns.
struct TensorLoad {
  int32_t row = 0, column = 0;
  std::vector<uint32_t> words; ///< there once it has been waited for
  int32_t count = 0;
  const char *where = nullptr;
};

/// A flag that a thread of another block has set: what it wrote before, and
/// others of its block before their last barrier, may be read by who knows.
struct Publication {
  int32_t block = 0, lane = 0; ///< the block by its number in the grid
  uint32_t epoch = 0;          ///< of that block
  uint64_t time = 0;
};

/// One CUDA thread.
struct Lane {
  enum class State { Ready, AtBarrier, AtWarp, AtTransfer, Done };
  /// What lanes of a warp meet for; products are for four warps.
  enum class Sync {
    Barrier,
    Shuffle,
    Vote,
    LoadMatrix,
    Multiply,
    Product,
    TensorMemory
  };

  shardrt_emulated_thread thread = {};
  BlockRunner *runner = nullptr;
  Fiber fiber;
  State state = State::Done;
  int32_t number = 0; ///< in its block, or in all of its cluster
  // What it waits in.
  const char *where = nullptr;
  int32_t place = 0;      ///< which op
  bool ofCluster = false; ///< a barrier of all blocks of the cluster
  uint32_t mask = 0;
  Sync sync = Sync::Barrier;
  int32_t value = 0, from = 0, clamp = 0, kind = 0;
  int64_t result = 0;
  const char *row = nullptr;      ///< of a matrix
  const int32_t *words = nullptr; ///< of fragments
  int32_t *out = nullptr;
  std::vector<Copy> copies; ///< not waited for yet, in their order
  int64_t groups = 0;       ///< of copies, closed

  // Of kernels whose blocks wait for flags of others (Flags.cpp).
  uintptr_t looked = 0;  ///< the flag that it last looked at
  int32_t found = 0;     ///< what it found
  int32_t repeats = 0;   ///< looks before that found the same there
  uintptr_t awaited = 0; ///< the flag that it last found zero, or stuck
  int32_t polls = 0;     ///< that found it so, one after another
  std::vector<Publication>
      noticed; ///< behind flags found set, not yet acquired

  // Of kernels with mbarriers and products of warpgroups.
  Clock clock;
  uint32_t asyncFence = 0; ///< its own time at its last fence.proxy.async
  int64_t transfer = 0;    ///< offset of the mbarrier that it waits at
  int32_t parity = 0;
  int64_t left = 0, right = 0, sums = 0; ///< what a product is given
  std::vector<Sums> accumulators;        ///< by handle - 1
  int64_t productGroups = 0;             ///< closed
  bool fenced = false; ///< wgmma.fence since it last waited for products

  // Of kernels with tensor memory.
  Clock tensorClock;          ///< at its last tcgen05.fence::after_thread_sync
  uint32_t tensorFence = 0;   ///< its own time at the last before_thread_sync
  uint32_t tensorProduct = 0; ///< its last
  std::vector<TensorLoad> tensorLoads; ///< by handle - 1
  /// Not waited for: lane, column, and how many from there on.
  std::vector<std::array<int32_t, 3>> tensorStores;
};

class BlockRunner {
public:
  ~BlockRunner();

  struct Launch {
    shardrt_emulated_kernel kernel = nullptr;
    const int64_t *arguments = nullptr;
    int32_t grid[3] = {1, 1, 1};
    int32_t threads = 0;
    int64_t sharedBytes = 0;
    bool hasBarriers = false;
    bool ordered = false;  ///< has mbarriers
    bool hasFlags = false; ///< its blocks wait for one another's flags
    int32_t cluster = 1;   ///< blocks that run side by side
    bool checked = false;  ///< reports all that it writes
    int64_t argumentBytes = 0;
  };
  /// Runs all blocks of a launch. False with `error`.
  bool run(const Launch &launch, const Allocations &allocations);

  std::string error;
  Schedule schedule = Schedule::RoundRobin;
  uint64_t seed = 1;

  // What kernels call, through their lane.
  void barrier(Lane &lane, bool ofCluster, int32_t place, const char *where);
  /// What is at `address`, of the lane's block, in block `rank` of its cluster.
  char *inBlock(Lane &lane, char *address, int32_t rank);
  int64_t syncWarp(Lane &lane);
  void *global(Lane &lane, void *address, int64_t bytes, bool writes,
               const char *where);
  /// Looks at an access to shared memory: of the lane's block, or of the one
  /// whose memory begins at `begin`.
  void shared(Lane &lane, char *address, int64_t bytes, bool writes,
              const char *where, char *begin = nullptr);
  // Flags in device memory (Flags.cpp).
  void poll(Lane &lane, void *flag, bool check, const char *where);
  void publish(Lane &lane, void *flag);
  void acquire(Lane &lane);
  /// Notes what is not atomic: whoever touches what another block writes must
  /// have acquired it.
  void note(Lane &lane, const void *address, int64_t bytes, bool writes,
            const char *where);
  void copy(Lane &lane, const Copy &copy, void *from, const char *where);
  /// Lets the copies of all but the last `groups` groups arrive.
  void waitForCopies(Lane &lane, int32_t groups);
  // mbarriers and TMA copies (Transfers.cpp).
  void initTransfer(Lane &lane, char *at, int32_t count, const char *where);
  /// Expects `bytes` more, then arrives.
  void arrive(Lane &lane, char *at, int64_t bytes, const char *where);
  void waitForTransfer(Lane &lane, char *at, int32_t parity, const char *where);
  void tmaCopy(Lane &lane, char *to, const int64_t *map, char *barrier,
               const int32_t *at, int32_t rank, int32_t config,
               const char *where);
  void asyncFence(Lane &lane);
  // Products of warpgroups (Products.cpp).
  void waitForProducts(Lane &lane, int64_t groups);
  float sumOf(Lane &lane, int64_t handle, int32_t index, const char *where);
  int64_t setSum(Lane &lane, int64_t handle, int32_t index, int32_t count,
                 float value, const char *where);

  // Tensor memory (TensorMemory.cpp).
  void allocateTensor(Lane &lane, char *to, int32_t columns, bool ofPair);
  void releaseTensor(Lane &lane, int64_t address, int32_t columns, bool ofPair);
  void relinquishTensor(Lane &lane);
  void beginTensorProduct(Lane &lane, int64_t sums, int64_t left, int64_t right,
                          int32_t instruction, int32_t config,
                          const char *where);
  /// Commits to the mbarriers at `at` of blocks `mask`, of a pair; of 0: to
  /// that of the thread's own block alone.
  void commitTensor(Lane &lane, char *at, uint32_t mask, const char *where);
  int64_t loadTensor(Lane &lane, int64_t address, int32_t count);
  int32_t tensorWord(Lane &lane, int64_t handle, int32_t index,
                     const char *where);
  void waitForTensorLoads(Lane &lane);
  void storeTensor(Lane &lane, int64_t address, const int32_t *words,
                   int32_t count);
  void waitForTensorStores(Lane &lane);
  void tensorFence(Lane &lane, bool after);

  void runKernel(Lane &lane);
  /// Records the first error and ends the lane; does not return to the kernel.
  void fail(Lane &lane, const std::string &text);

private:
  /// Who touched a byte of shared memory since the block's last barrier.
  struct Cell {
    uint32_t writeEpoch = 0, readEpoch = 0; ///< 0: never
    uint32_t writeWarpEpoch = 0, readWarpEpoch = 0;
    int32_t writer = 0, reader = 0;
    bool manyWarps = false; ///< read by several warps since the barrier
    bool manyLanes =
        false; ///< by several lanes of `reader`'s warp since they synchronised
    const char *writeWhere = nullptr, *readWhere = nullptr;
    int32_t copies = 0; ///< on their way to it, begun by `writer`
    uint32_t writeTime = 0, readTime = 0; ///< by the clock of writer, reader
    int32_t products = 0;                 ///< that still read it
    bool isTransfer = false;              ///< of an mbarrier
    bool isWritten = false;               ///< or begun to be, by a copy
  };
  /// An mbarrier.
  struct Transfer {
    int32_t slot = 0; ///< in clocks, behind the lanes
    int32_t count = 0, pending = 0;
    int64_t bytes = 0; ///< expected, and not yet come
    uint32_t phase = 0;
    Clock soFar,
        done; ///< what waiters are ordered after: this phase, and the last
    std::vector<TmaCopy> copies;
    int32_t maker = 0;
    uint32_t made = 0;
  };
  /// A product of a warpgroup that has not been carried out yet.
  struct Product {
    int64_t number = 0, group = 0;
    int64_t left = 0, right = 0; ///< descriptors
    int32_t config = 0;
    const char *where = nullptr;
    std::vector<int64_t> from, to; ///< handles, by lane
    std::vector<int32_t> reads;    ///< offsets of 16 bytes each
    std::vector<int32_t> words;    ///< of lanes, four each, instead of `left`
    bool checked = false;
  };
  struct Warpgroup {
    int64_t begun = 0;
    std::vector<int64_t> ends;    ///< the last product of each group
    std::deque<Product> products; ///< not done
  };
  /// A word of tensor memory.
  struct TensorCell {
    uint32_t product = 0; ///< the last that writes it; 0: none
    int32_t issuer = 0;   ///< the lane that began it
    int32_t writer = 0, reader = 0;
    uint32_t writeTime = 0, readTime = 0; ///< by their clocks; 0: never
    int32_t reads = 0, writes = 0;        ///< on their way
    /// The last product that reads it as its left matrix, and who began that.
    uint32_t factorOf = 0;
    int32_t multiplier = 0;
    bool isWritten = false; ///< or begun to be
  };
  /// A product into tensor memory that has not been carried out yet.
  struct TensorProduct {
    uint32_t number = 0;
    int32_t column = 0;
    int64_t left = 0, right = 0; ///< descriptors
    int32_t instruction = 0, config = 0;
    int32_t block = 0;          ///< of the cluster, whose thread began it
    std::vector<int32_t> reads; ///< offsets of 16 bytes each
  };
  /// An arrival at an mbarrier when products up to `product` are done.
  struct TensorCommit {
    int64_t transfer = 0;
    uint32_t product = 0;
    Clock clock;
  };
  void prepare(int32_t threads, int64_t sharedBytes);
  /// Byte `offset` of shared memory is read, which nobody has written so far.
  void readUnwritten(int64_t offset, const std::string &reader,
                     const char *where);
  bool runBlocks();
  bool runPlain();
  bool runFibers();
  void forgetBlock();
  bool beginLanes();
  bool runRound(std::vector<int32_t> &order);
  bool advance(int32_t lane);
  bool hasEndedWell();
  void resume(Lane &lane);
  void suspend(Lane &lane);
  bool tryWarp(Lane &lane);
  bool carryOut(Lane &lane, int32_t first, int32_t size);
  bool tryBarrier();
  bool tryBarrier(int32_t first, int32_t count, bool ofCluster);
  Transfer &transferAt(Lane &lane, char *at, const char *verb,
                       const char *where);
  void completePhase(Transfer &transfer);
  /// Lets copies arrive whose phase waits for nothing else; true if any did.
  bool land();
  bool landProducts();
  /// Notes that product number `product` of `lane` reads its left matrix, of
  /// `rows` rows, at `address` of tensor memory; and what it reads there.
  void noteFactor(Lane &lane, int64_t address, int32_t rows, uint32_t product,
                  const char *where,
                  const std::function<void(const std::string &)> &refuse);
  std::vector<float> readFactor(int32_t column, int32_t rows, int64_t bytes,
                                bool isBF16) const;
  void carryOut(const TensorProduct &product);
  /// Of the lanes of all blocks of a cluster, one block's behind the other's.
  TensorCell &tensorCell(int32_t row, int32_t column) {
    return tensorCells[row * tensorColumns + column];
  }
  /// Whether `lane` knows, by fences of both, that all is done that was begun
  /// with `cell`; else says what is not.
  std::string tensorRace(const Lane &lane, const TensorCell &cell,
                         bool writes) const;
  /// Refuses, by an error of `lane`, columns of `rank`'s that are not
  /// allocated.
  void checkTensorColumns(Lane &lane, int32_t rank, int64_t address,
                          int32_t count, const std::string &what,
                          const char *where);
  /// Refuses what is of a pair in a kernel whose blocks are alone, and what is
  /// of one block where others are of a pair.
  void checkTensorGroup(Lane &lane, bool ofPair, const char *where);
  /// The lane of tensor memory that `lane` has at `address`, `count` columns of
  /// which it is to have allocated; `what` it does there: " loads from ".
  int32_t reachTensor(Lane &lane, int64_t address, int32_t count,
                      const std::string &what);
  /// Notes that lanes [first, first + count) let a product read 16 bytes each
  /// of `reads`; and that it has read them.
  void noteReads(const std::vector<int32_t> &reads, int32_t first,
                 int32_t count, const std::string &reader, const char *where,
                 const std::function<void(const std::string &)> &refuse);
  void forgetReads(const std::vector<int32_t> &reads, int32_t unit,
                   uint32_t time);
  void beginProduct(int32_t first);
  void carryOut(int32_t number, const Product &product);
  /// Whether what lanes [first, first + count) know covers `time` of `who`.
  bool haveObserved(int32_t first, int32_t count, int32_t who,
                    uint32_t time) const;
  void join(Clock &clock, const Clock &other) const;
  int32_t slotOfGroup(int32_t group) const;
  /// Products into tensor memory, as if of one more warpgroup.
  int32_t tensorUnit() const { return static_cast<int32_t>(warpgroups.size()); }
  size_t clockSize() const { return slotOfGroup(tensorUnit()) + 1; }
  /// What a race is called whose other side is `who` of clocks.
  std::string describeOther(int32_t who) const;
  std::string describe(const Lane &lane) const;
  std::string describeStuck() const;
  /// Bytes from the first block's shared memory to `address`.
  int64_t offsetOf(const char *address) const { return address - base; }
  char *sharedOf(int32_t rank) const { return base + rank * sharedStride; }
  int32_t rankOf(const Lane &lane) const { return lane.thread.rank; }
  /// The block of the cluster that has the byte at `offset`.
  int32_t blockAt(int64_t offset) const {
    return sharedStride > 0 ? static_cast<int32_t>(offset / sharedStride) : 0;
  }
  /// Whether no thread of block `rank` will do anything any more.
  bool hasEnded(int32_t rank) const;
  uint64_t next();

  const Launch *now = nullptr;
  const Allocations *memory = nullptr;
  std::vector<std::unique_ptr<Lane>> lanes;
  int32_t live = 0; ///< lanes in use
  std::vector<char> sharedMemory;
  char *base = nullptr;     ///< of the first block's
  int64_t sharedStride = 0; ///< from a block's to the next one's
  std::vector<Cell> cells;
  uint32_t epoch = 1;
  std::vector<uint32_t> warpEpochs;
  std::map<int64_t, Transfer> transfers; ///< by offset in shared memory
  std::vector<Warpgroup> warpgroups;
  /// When a product last read 16 bytes, by the clock of each warpgroup.
  std::vector<std::vector<uint32_t>> productReads;
  // Tensor memory: what is there, once somebody has allocated any.
  std::vector<TensorCell> tensorCells; ///< by lane, then column
  std::vector<float> tensorWords;
  std::vector<bool> tensorAllocated;            ///< by block, column
  std::map<int32_t, int32_t> tensorAllocations; ///< columns by the first
  std::array<bool, mostOfCluster> tensorRelinquished = {};
  bool tensorUsed = false, tensorOfPairs = false; ///< by tcgen05; of which kind
  uint32_t tensorBegun = 0;
  std::deque<TensorProduct> tensorProducts; ///< not done
  std::deque<TensorCommit> tensorCommits;
  // Of kernels whose blocks wait for flags of others.
  struct Written {
    int32_t block = 0, lane = 0;
    uint32_t epoch = 0;
    uint64_t time = 0;
    const char *where = nullptr;
  };
  struct Acquired {
    Publication flag;
    int32_t lane = 0; ///< who acquired it, and when
    uint32_t epoch = 0;
  };
  int32_t block = 0; ///< its number in the grid
  uint64_t time = 0; ///< of what was written and published in this launch
  std::unordered_map<uintptr_t, Written> written;       ///< by first byte
  std::unordered_map<uintptr_t, Publication> published; ///< by flag
  std::unordered_map<int32_t, std::vector<Acquired>>
      acquired;                           ///< by publisher's block
  Context scheduler;                      ///< where lanes return to
  uintptr_t knownBegin = 0, knownEnd = 0; ///< the allocation met last
  /// The first read of what nobody had written. It is an error of its own
  /// unless somebody writes there before the next barrier: that is a race.
  std::string unwritten;
  bool failed = false;
};

inline Lane &laneOf(shardrt_emulated_thread *thread) {
  return *static_cast<Lane *>(thread->owner);
}
/// " at model.py:3", or nothing.
inline std::string lineOf(const char *where) {
  return where ? std::string(" at ") + where : std::string();
}
/// A 16-bit float, bf16 or f16, as a wider one.
float widened(uint16_t bits, bool isBF16);
/// An f32 as tensor cores take it: without its last 13 bits.
float asTF32(uint32_t bits);

} // namespace shardrt

#endif // SHARDRT_DEVICE_EMULATED_BLOCK_H
