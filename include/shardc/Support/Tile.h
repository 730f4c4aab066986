//===- Tile.h - How the nest of a product is cut ----------------*- C++ -*-===//
//
// What a measurement says of a kernel in the place of the compiler's estimate:
// the part of a schedule (KernelGen) that changes no sum, so that every element
// has the same bits however its kernel is cut.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_TILE_H
#define SHARDC_SUPPORT_TILE_H

#include "llvm/ADT/StringRef.h"
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace shardc {

struct Tile {
  int64_t row = -1; ///< the nest's dim of which a tile has `rows`; -1: none
  int64_t rows = 1, columns = 1, vectors = 1;
  bool panel = false;  ///< an operand is copied into a panel
  int64_t hoisted = 0; ///< dims of the sum that are looped over outermost, ...
  int64_t block = 0;   ///< ... the last of them in steps of this; 0: none are

  auto operator<=>(const Tile &) const = default;
};

/// Numbers in a tile are at most this.
inline constexpr int64_t kMostInTile = 16;

/// "row=0,rows=6,columns=1,vectors=4,panel=1,hoisted=0,block=0".
std::string printTile(const Tile &tile);
/// The same the other way round, of all fields in this order; nullopt for other
/// text and for numbers that no tile has.
std::optional<Tile> parseTile(llvm::StringRef text);

/// The digest of a kernel (KernelGen), 32 hexadecimal digits, and its tile.
using TileTable = std::map<std::string, Tile>;

/// "DIGEST:TILE;DIGEST:TILE".
std::string printTiles(const TileTable &tiles);
std::optional<TileTable> parseTiles(llvm::StringRef text);

} // namespace shardc

#endif // SHARDC_SUPPORT_TILE_H
