//===- Tile.cpp - How the nest of a product is cut ------------------------===//

#include "shardc/Support/Tile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace shardc;

std::string shardc::printTile(const Tile &tile) {
  return formatv("row={0},rows={1},columns={2},vectors={3},panel={4},hoisted="
                 "{5},block={6}",
                 tile.row, tile.rows, tile.columns, tile.vectors,
                 int(tile.panel), tile.hoisted, tile.block)
      .str();
}

std::optional<Tile> shardc::parseTile(StringRef text) {
  Tile tile;
  int64_t panel = 0;
  struct Field {
    StringLiteral name;
    int64_t &value;
    int64_t least, most;
  };
  Field fields[] = {{"row", tile.row, -1, INT32_MAX},
                    {"rows", tile.rows, 1, kMostInTile},
                    {"columns", tile.columns, 1, kMostInTile},
                    {"vectors", tile.vectors, 1, kMostInTile},
                    {"panel", panel, 0, 1},
                    {"hoisted", tile.hoisted, 0, INT32_MAX},
                    {"block", tile.block, 0, INT32_MAX}};
  SmallVector<StringRef> entries;
  text.split(entries, ',');
  if (entries.size() != std::size(fields))
    return std::nullopt;
  for (auto [field, entry] : zip_equal(fields, entries)) {
    auto [name, value] = entry.split('=');
    if (name != field.name || value.getAsInteger(10, field.value) ||
        field.value < field.least || field.value > field.most)
      return std::nullopt;
  }
  tile.panel = panel != 0;
  return tile;
}

std::string shardc::printTiles(const TileTable &tiles) {
  return join(map_range(tiles,
                        [](const auto &entry) {
                          return entry.first + ":" + printTile(entry.second);
                        }),
              ";");
}

std::optional<TileTable> shardc::parseTiles(StringRef text) {
  TileTable tiles;
  if (text.empty())
    return tiles;
  for (StringRef entry : split(text, ';')) {
    auto [digest, words] = entry.split(':');
    std::optional<Tile> tile = parseTile(words);
    if (!tile || digest.size() != 32 || !all_of(digest, isHexDigit))
      return std::nullopt;
    tiles[digest.str()] = *tile;
  }
  return tiles;
}
