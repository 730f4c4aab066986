//===- Pack.cpp - The layout of boxes in a message ------------------------===//

#include "Collectives/Pack.h"
#include <algorithm>

using namespace shardrt;

BoxCopy shardrt::packed(BoxCopy copy, int64_t offset) {
  int64_t stride = copy.run;
  copy.dstOffset = offset;
  for (size_t d = copy.dims.size(); d-- > 0;) {
    copy.dims[d].dstStride = stride;
    stride *= copy.dims[d].count;
  }
  return copy;
}

BoxCopy shardrt::unpacked(BoxCopy copy, int64_t offset) {
  int64_t stride = copy.run;
  copy.srcOffset = offset;
  for (size_t d = copy.dims.size(); d-- > 0;) {
    copy.dims[d].srcStride = stride;
    stride *= copy.dims[d].count;
  }
  return copy;
}

/// The run of bytes that holds the sources of all copies of `list`.
static Piece rangeOf(const std::vector<const BoxCopy *> &list) {
  int64_t begin = -1, end = 0;
  for (const BoxCopy *copy : list) {
    if (copy->bytes() == 0)
      continue;
    int64_t first = copy->srcOffset, last = copy->srcOffset + copy->run;
    for (const BoxCopy::Dim &dim : copy->dims) {
      int64_t reach = (dim.count - 1) * dim.srcStride;
      (reach < 0 ? first : last) += reach;
    }
    begin = begin < 0 ? first : std::min(begin, first);
    end = std::max(end, last);
  }
  return begin < 0 ? Piece() : Piece{begin, end - begin, nullptr};
}

void shardrt::packPlan(const Site &site, int64_t rank, SitePlan &plan) {
  if (site.kind == SiteKind::ReduceScatter) {
    for (int64_t reader : plan.readers) {
      SitePlan theirs = planSite(site, reader);
      std::vector<const BoxCopy *> copies;
      for (const SitePlan::Part &part : theirs.parts)
        if (std::find(part.ranks.begin(), part.ranks.end(), rank) !=
            part.ranks.end())
          copies.push_back(&part.copy);
      plan.pieces.push_back(rangeOf(copies));
    }
    return;
  }
  if (site.kind != SiteKind::Exchange)
    return;
  plan.packs.resize(plan.readers.size());
  for (size_t i = 0; i < plan.readers.size(); ++i) {
    int64_t at = 0;
    for (const SitePlan::Source &source :
         planSite(site, plan.readers[i]).sources)
      for (const BoxCopy &copy : source.copies)
        if (source.peer == rank) {
          plan.packs[i].push_back(packed(copy, at));
          at += copy.bytes();
        }
    plan.pieces.push_back({0, at, &plan.packs[i]});
  }
  for (SitePlan::Source &source : plan.sources) {
    int64_t at = 0;
    for (BoxCopy &copy : source.copies) {
      copy = unpacked(std::move(copy), at);
      at += copy.bytes();
    }
  }
}

void shardrt::packRows(const std::vector<std::span<const int64_t>> &lists,
                       int64_t outer, int64_t blockRows, int64_t rowBytes,
                       std::vector<std::vector<BoxCopy>> &boxes,
                       std::vector<Piece> &pieces) {
  boxes.assign(lists.size(), {});
  pieces.clear();
  for (size_t i = 0; i < lists.size(); ++i) {
    auto count = static_cast<int64_t>(lists[i].size());
    for (int64_t at = 0; at < count;) {
      int64_t next = at + 1;
      while (next < count && lists[i][next] == lists[i][next - 1] + 1)
        ++next;
      BoxCopy copy;
      copy.srcOffset = lists[i][at] * rowBytes;
      copy.dstOffset = at * rowBytes;
      copy.run = (next - at) * rowBytes;
      copy.dims.push_back({outer, blockRows * rowBytes, count * rowBytes});
      boxes[i].push_back(std::move(copy));
      at = next;
    }
    pieces.push_back({0, outer * count * rowBytes, &boxes[i]});
  }
}
