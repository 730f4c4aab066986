//===- Transfers.cpp - mbarriers and TMA copies ---------------------------===//
//
// A TMA copy arrives at any time until the phase of its mbarrier is complete,
// here at the last: when nobody can go on otherwise (or, in a random schedule,
// by chance). Where it goes is poison from its begin on, and held as being
// written; whoever reads there must have waited for the phase, or have heard
// from one who has.
//
//===----------------------------------------------------------------------===//

#include "Device/Emulated/Block.h"
#include "Device/TensorMap.h"
#include <algorithm>
#include <cstring>

using namespace shardrt;

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

void BlockRunner::initTransfer(Lane &lane, char *at, int32_t count,
                               const char *where) {
  int64_t offset = offsetOf(at);
  if (offset % 8 != 0)
    fail(lane, describe(lane) + " makes an mbarrier at " +
                   std::to_string(at - lane.thread.shared) +
                   ", expected a multiple of 8" + lineOf(where));
  if (count < 1)
    fail(lane, describe(lane) + " makes an mbarrier for " +
                   std::to_string(count) + " arrivals" + lineOf(where));
  if (transfers.size() == mostTransfers)
    fail(lane, describe(lane) + " makes more than " +
                   std::to_string(mostTransfers) + " mbarriers" +
                   lineOf(where));
  shared(lane, at, 8, true, where);
  Transfer transfer;
  transfer.slot = live + static_cast<int32_t>(transfers.size());
  transfer.count = transfer.pending = count;
  transfer.maker = lane.number;
  transfer.made = lane.clock[lane.number];
  transfers[offset] = std::move(transfer);
  for (int64_t i = 0; i < 8; ++i)
    cells[offset + i].isTransfer = true;
}

BlockRunner::Transfer &BlockRunner::transferAt(Lane &lane, char *at,
                                               const char *verb,
                                               const char *where) {
  auto found = transfers.find(offsetOf(at));
  if (int32_t rank = blockAt(offsetOf(at)); hasEnded(rank))
    fail(lane, describe(lane) + verb + "an mbarrier of block " +
                   std::to_string(rank) + " of its cluster, which has ended" +
                   lineOf(where));
  if (found == transfers.end())
    fail(lane,
         describe(lane) + verb + "what is no mbarrier (yet)" + lineOf(where));
  Transfer &transfer = found->second;
  if (!haveObserved(lane.number, 1, transfer.maker, transfer.made))
    fail(lane, describe(lane) + verb + "an mbarrier that " +
                   describeOther(transfer.maker) +
                   " makes without a barrier between" + lineOf(where));
  return transfer;
}

void BlockRunner::completePhase(Transfer &transfer) {
  ++transfer.phase;
  transfer.pending = transfer.count;
  transfer.done = transfer.soFar;
  if (transfer.done.empty())
    transfer.done.resize(clockSize());
  transfer.done[transfer.slot] = transfer.phase;
  transfer.soFar = transfer.done;
  for (int32_t i = 0; i < live; ++i)
    if (lanes[i]->state == Lane::State::AtTransfer &&
        &transfers[lanes[i]->transfer] == &transfer)
      lanes[i]->state = Lane::State::Ready;
}

void BlockRunner::arrive(Lane &lane, char *at, int64_t bytes,
                         const char *where) {
  Transfer &transfer = transferAt(lane, at, " arrives at ", where);
  if (transfer.pending == 0)
    fail(lane, describe(lane) + " arrives at an mbarrier at which all " +
                   std::to_string(transfer.count) + " have arrived" +
                   lineOf(where));
  transfer.bytes += bytes;
  join(transfer.soFar, lane.clock);
  ++lane.clock[lane.number];
  if (--transfer.pending == 0 && transfer.bytes == 0)
    completePhase(transfer);
}

void BlockRunner::waitForTransfer(Lane &lane, char *at, int32_t parity,
                                  const char *where) {
  Transfer &transfer = transferAt(lane, at, " waits for ", where);
  if (blockAt(offsetOf(at)) != rankOf(lane))
    fail(lane, describe(lane) + " waits for an mbarrier of another block" +
                   lineOf(where));
  // The phase before the first has parity 1, and is complete.
  while (static_cast<int32_t>(transfer.phase & 1) == (parity & 1)) {
    lane.state = Lane::State::AtTransfer;
    lane.transfer = offsetOf(at);
    lane.where = where;
    suspend(lane);
  }
  join(lane.clock, transfer.done);
}

void BlockRunner::asyncFence(Lane &lane) {
  // What it writes from now on is later.
  lane.asyncFence = lane.clock[lane.number]++;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void BlockRunner::tmaCopy(Lane &lane, char *to, const int64_t *words,
                          char *barrier, const int32_t *at, int32_t rank,
                          int32_t config, const char *where) {
  bool check = config & SHARDRT_TMA_CHECK;
  Transfer &mine = transferAt(lane, barrier, " copies with ", where);
  auto refuse = [&](const std::string &why) {
    fail(lane, describe(lane) + "'s bulk copy" + lineOf(where) + ": " + why);
  };
  if (!(config & SHARDRT_TMA_PAIR) &&
      blockAt(offsetOf(barrier)) != rankOf(lane))
    refuse("its mbarrier is another block's, and it is not of cta_group::2");
  // Where it goes, and the mbarrier that counts it there.
  std::vector<std::pair<char *, Transfer *>> targets;
  int32_t blocks = config >> 8;
  if (blocks >> now->cluster)
    refuse("it goes to blocks that its cluster lacks");
  for (int32_t block = 0; block < now->cluster; ++block)
    if (blocks >> block & 1)
      targets.push_back({inBlock(lane, to, block),
                         &transferAt(lane, inBlock(lane, barrier, block),
                                     " copies with ", where)});
  if (!blocks)
    targets.push_back({to, &mine});
  for (auto [place, transfer] : targets)
    if (lanes[transfer->maker]->asyncFence < transfer->made)
      refuse("its mbarrier was made without a fence behind");
  // Kernels get their arguments, and these begin with the maps.
  auto *begin = reinterpret_cast<const char *>(now->arguments);
  auto *map = reinterpret_cast<const char *>(words);
  int64_t mapBytes = SHARDRT_MAP_WORDS * 8;
  if (map < begin || map + mapBytes > begin + now->argumentBytes ||
      (map - begin) % mapBytes != 0)
    refuse("its map is none of the kernel's arguments");
  TensorMap tensor(words);
  if (std::string problem = tensor.check(); !problem.empty())
    refuse(problem);
  if (rank != tensor.dims)
    refuse("it is of " + std::to_string(rank) + " dims, its tensor has " +
           std::to_string(tensor.dims));
  bool isOfWindows = config & SHARDRT_TMA_WINDOWS;
  if (isOfWindows != tensor.isOfWindows)
    refuse(isOfWindows ? "it is of windows, its map is of a box"
                       : "it is of a box, its map is of windows");
  int64_t own = to - lane.thread.shared;
  int64_t row = tensor.rowBytes(), rows = tensor.rows();
  if (row != 128)
    refuse("its rows have " + std::to_string(row) + " bytes, expected 128");
  if (own % 1024 != 0)
    refuse("it goes to " + std::to_string(own) +
           ", expected a multiple of 1024");
  if (own < 0 || own + row * rows > now->sharedBytes)
    refuse(std::to_string(row * rows) + " bytes go to " + std::to_string(own) +
           " of " + std::to_string(now->sharedBytes) + " of shared memory");

  TmaCopy copy;
  copy.bytes = row * rows;
  copy.checked = check;
  int64_t perPiece = pieceBytes / tensor.elementBytes;
  std::array<int64_t, SHARDRT_MAP_DIMS> pixel = {};
  std::copy(at, at + rank, pixel.begin());
  for (int32_t i = 0; isOfWindows && i < tensor.spatialDims(); ++i)
    if (int64_t behind = pixel[i + 1] - tensor.low[i];
        behind < 0 || behind % tensor.steps[i] != 0 ||
        pixel[i + 1] >= tensor.sizes[i + 1] + tensor.high[i])
      refuse("it begins at " + std::to_string(pixel[i + 1]) + " of dim " +
             std::to_string(i + 1) + ", where no window does");
  // Of an offset there are 16, 8 or 5 bits.
  int64_t mostOffset = rank == 3 ? 65535 : rank == 4 ? 255 : 31;
  for (int32_t i = 0; isOfWindows && i < tensor.spatialDims(); ++i)
    if (int64_t by = at[rank + i]; by < 0 || by > mostOffset)
      refuse("an offset is " + std::to_string(by) + ", expected 0 to " +
             std::to_string(mostOffset));
  for (int64_t r = 0; r < rows; ++r) {
    bool inside = true;
    int64_t from = 0;
    for (int64_t d = 1, rest = r; d < rank; ++d) {
      int64_t index = pixel[d];
      if (isOfWindows) {
        index += d + 1 < rank ? at[rank + d - 1] : 0;
      } else {
        index += rest % tensor.box[d];
        rest /= tensor.box[d];
      }
      inside &= index >= 0 && index < tensor.sizes[d];
      from += index * tensor.strides[d];
    }
    // The next pixel: along the fastest dim, and from its begin with the next.
    for (int32_t i = 0; isOfWindows && i <= tensor.spatialDims(); ++i) {
      bool isImage = i == tensor.spatialDims();
      pixel[i + 1] += isImage ? 1 : tensor.steps[i];
      if (isImage || pixel[i + 1] < tensor.sizes[i + 1] + tensor.high[i])
        break;
      pixel[i + 1] = tensor.low[i];
    }
    for (int64_t p = 0; p < row / pieceBytes; ++p) {
      TmaCopy::Piece piece;
      // Bits 4 to 6 of the place are swapped by bits 7 to 9.
      piece.to = static_cast<int32_t>(r * row + (p ^ (r % 8)) * pieceBytes);
      int64_t first = at[0] + p * perPiece;
      int64_t low = std::max<int64_t>(first, 0);
      int64_t high = std::min(first + perPiece, tensor.sizes[0]);
      if (inside && low < high) {
        piece.skip = static_cast<int32_t>((low - first) * tensor.elementBytes);
        piece.bytes = static_cast<int32_t>((high - low) * tensor.elementBytes);
        auto *address = reinterpret_cast<void *>(tensor.address + from +
                                                 low * tensor.elementBytes);
        piece.from = static_cast<const char *>(
            check ? global(lane, address, piece.bytes, false, where)
                  : reinterpret_cast<void *>(
                        reinterpret_cast<uintptr_t>(address) ^
                        static_cast<uintptr_t>(SHARDRT_EMULATED_TAG)));
      }
      copy.pieces.push_back(piece);
    }
  }
  for (auto [place, transfer] : targets) {
    TmaCopy arriving = copy;
    int64_t offset = offsetOf(place);
    for (TmaCopy::Piece &piece : arriving.pieces)
      piece.to += static_cast<int32_t>(offset);
    if (check) {
      // As a write of the lane's, then as one that the mbarrier's phase ends.
      shared(lane, place, copy.bytes, true, where, sharedOf(blockAt(offset)));
      for (int64_t i = offset; i < offset + copy.bytes; ++i) {
        Cell &cell = cells[i];
        ++cell.copies;
        cell.writer = transfer->slot;
        cell.writeTime = transfer->phase + 1;
      }
    }
    std::memset(place, 0xff, copy.bytes);
    transfer->copies.push_back(std::move(arriving));
  }
}

bool BlockRunner::land() {
  bool any = false;
  for (auto &[offset, transfer] : transfers) {
    if (transfer.pending != 0 || transfer.copies.empty())
      continue;
    any = true;
    for (const TmaCopy &copy : transfer.copies) {
      for (const TmaCopy::Piece &piece : copy.pieces) {
        char *to = base + piece.to;
        std::memset(to, 0, pieceBytes);
        if (piece.bytes > 0)
          std::memcpy(to + piece.skip, piece.from, piece.bytes);
        for (int64_t i = 0; copy.checked && i < pieceBytes; ++i)
          --cells[piece.to + i].copies;
      }
      transfer.bytes -= copy.bytes;
    }
    transfer.copies.clear();
    if (transfer.bytes < 0) {
      error = "bulk copies bring " + std::to_string(-transfer.bytes) +
              " bytes more than their mbarrier expects";
      failed = true;
    } else if (transfer.bytes == 0) {
      completePhase(transfer);
    }
  }
  return landProducts() || any;
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

extern "C" {

void shardrt_emulated_mbarrier_init(shardrt_emulated_thread *thread,
                                    void *barrier, int32_t count,
                                    const char *where) {
  Lane &lane = laneOf(thread);
  lane.runner->initTransfer(lane, static_cast<char *>(barrier), count, where);
}

void shardrt_emulated_mbarrier_arrive(shardrt_emulated_thread *thread,
                                      void *barrier, int32_t bytes,
                                      const char *where) {
  Lane &lane = laneOf(thread);
  lane.runner->arrive(lane, static_cast<char *>(barrier), bytes, where);
}

int32_t shardrt_emulated_mbarrier_wait(shardrt_emulated_thread *thread,
                                       void *barrier, int32_t parity,
                                       const char *where) {
  Lane &lane = laneOf(thread);
  lane.runner->waitForTransfer(lane, static_cast<char *>(barrier), parity,
                               where);
  return 1;
}

void shardrt_emulated_async_fence(shardrt_emulated_thread *thread) {
  Lane &lane = laneOf(thread);
  lane.runner->asyncFence(lane);
}

void shardrt_emulated_tma_copy(shardrt_emulated_thread *thread, void *to,
                               const int64_t *map, void *barrier,
                               const int32_t *at, int32_t rank, int32_t config,
                               const char *where) {
  Lane &lane = laneOf(thread);
  lane.runner->tmaCopy(lane, static_cast<char *>(to), map,
                       static_cast<char *>(barrier), at, rank, config, where);
}

} // extern "C"
