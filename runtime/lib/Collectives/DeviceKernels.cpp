//===- DeviceKernels.cpp - Kernels that communication calls ---------------===//

#include "Collectives/DeviceKernels.h"
#include "Collectives/Collectives.h"
#include "shardrt/CommunicationKernels.h"

using namespace shardrt;

const size_t shardrt::mostParts = combineAddresses;

std::vector<SiteKernels> shardrt::findKernels(const DeviceCode &code,
                                              Device &device,
                                              std::span<const Site> sites) {
  std::map<std::string_view, int64_t> numbers;
  for (size_t i = 0; i < code.kernels.size(); ++i)
    if (std::string_view name = code.kernels[i].name;
        name.starts_with("shardrt_") &&
        code.kernels[i].threads == communicationThreads)
      numbers.emplace(name, static_cast<int64_t>(i));
  auto find = [&](const std::string &name) -> int64_t {
    auto found = numbers.find(name);
    return found != numbers.end() && device.has(found->second) ? found->second
                                                               : -1;
  };
  std::vector<SiteKernels> result(sites.size());
  for (size_t i = 0; i < sites.size() && !numbers.empty(); ++i) {
    const Site &site = sites[i];
    SiteKernels &kernels = result[i];
    if (site.kind == SiteKind::AllReduce ||
        site.kind == SiteKind::ReduceScatter)
      kernels.combine = find(combineKernelName(site.type, site.reduction));
    if (site.kind != SiteKind::GatherRows && site.kind != SiteKind::ScatterRows)
      continue;
    kernels.rows = find(rowsKernelName(elementBytes(site.type)));
    kernels.wideRows = find(rowsKernelName(16));
    if (site.kind == SiteKind::ScatterRows && site.reduction != Reduction::None)
      kernels.update = find(updateKernelName(site.type, site.reduction));
  }
  return result;
}

bool shardrt::canCombine(const shardrt_context &ctx, int64_t site) {
  return ctx.kernels[site].combine >= 0;
}

static int64_t number(const void *address) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(address));
}

/// Launches `kernel` with a thread for each of `total`.
static bool launchOf(shardrt_context &ctx, int64_t site, int64_t kernel,
                     int64_t total, std::span<const int64_t> arguments) {
  if (total == 0)
    return true;
  int64_t blocks = (total + communicationThreads - 1) / communicationThreads;
  return ctx.device->launch(kernel, {blocks, 1, 1}, arguments.data(),
                            static_cast<int64_t>(arguments.size())) ||
         failOfDevice(ctx, site);
}

bool shardrt::combineOnDevice(shardrt_context &ctx, int64_t site,
                              std::span<const std::byte *const> parts,
                              void *dst, int64_t count) {
  const Site &info = ctx.program->table.sites[site];
  int64_t arguments[5 + combineAddresses] = {};
  int64_t width = combineWidth(info.type);
  if (number(dst) % 16 != 0)
    width = 1;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (number(parts[i]) % 16 != 0)
      width = 1;
    if (i < mostParts)
      arguments[5 + i] = number(parts[i]);
  }
  arguments[0] = number(dst);
  arguments[1] = count;
  arguments[2] = width;
  arguments[3] = static_cast<int64_t>(parts.size());
  if (parts.size() > mostParts)
    arguments[4] = parts[mostParts] - parts[mostParts - 1];
  return launchOf(ctx, site, ctx.kernels[site].combine,
                  (count + width - 1) / width, arguments);
}

bool shardrt::moveRows(shardrt_context &ctx, int64_t site, const int64_t *pairs,
                       int64_t count, const RowBlocks &blocks, const void *src,
                       void *dst) {
  const SiteKernels &kernels = ctx.kernels[site];
  bool isWide = kernels.wideRows >= 0 && blocks.bytes % 16 == 0 &&
                number(src) % 16 == 0 && number(dst) % 16 == 0;
  int64_t word =
      isWide ? 16 : elementBytes(ctx.program->table.sites[site].type);
  int64_t words = blocks.bytes / word;
  int64_t total = blocks.outer * count * words;
  const int64_t arguments[] = {
      number(dst), number(src), number(pairs),          total,
      words,       count,       blocks.dstRows * words, blocks.srcRows * words};
  return launchOf(ctx, site, isWide ? kernels.wideRows : kernels.rows, total,
                  arguments);
}

bool shardrt::updateRows(shardrt_context &ctx, int64_t site,
                         const int64_t *segments, int64_t count,
                         const RowBlocks &blocks, const void *updates,
                         void *dst) {
  int64_t perRow =
      blocks.bytes / elementBytes(ctx.program->table.sites[site].type);
  int64_t total = blocks.outer * count * perRow;
  const int64_t arguments[] = {number(dst),
                               number(updates),
                               number(segments),
                               total,
                               perRow,
                               count,
                               blocks.dstRows * perRow,
                               blocks.srcRows * perRow};
  return launchOf(ctx, site, ctx.kernels[site].update, total, arguments);
}
