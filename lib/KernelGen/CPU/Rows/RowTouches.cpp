//===- RowTouches.cpp - Which rows ops touch ------------------------------===//
#include "RowFinder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

Value cpu::partBehind(Value memref) {
  Value part = wholeBehind(memref);
  auto view = part.getDefiningOp<memref::SubViewOp>();
  if (view && cast<MemRefType>(part.getType()).hasStaticShape() &&
      view.getOffsets().empty() &&
      view.getSource().getDefiningOp<memref::AllocOp>())
    return part;
  return rootOf(memref);
}

Touches cpu::touchesOf(Operation *op) {
  Touches touches;
  if (isMemoryEffectFree(op) || isa<memref::AllocOp>(op))
    return touches;
  auto add = [&](Value memref, bool writes) {
    Touch &touch = touches[partBehind(memref)];
    touch.writes |= writes;
    touch.isMixed = true;
    touch.count = 1;
  };
  op->walk([&](Operation *inner) {
    auto to = dyn_cast<DestinationStyleOpInterface>(inner);
    for (OpOperand &operand : inner->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      // Sites, too, only read what they do not give.
      bool reads = isa<memref::LoadOp>(inner) || isMemoryEffectFree(inner) ||
                   (to && to.isDpsInput(&operand));
      add(operand.get(), !reads);
    }
  });
  return touches;
}

bool cpu::conflict(const Touches &some, const Touches &others) {
  for (const auto &[root, touch] : some)
    for (const auto &[other, its] : others)
      if ((touch.writes || its.writes) && mayAlias(root, other))
        return true;
  return false;
}

/// What `member` touches, and how; nothing if it does so in several ways of
/// which one is to write.
std::optional<Touches> RowFinder::touchesOfMember(Member &member) {
  Touches touches;
  linalg::GenericOp op = member.op;
  bool ok = true;
  auto add = [&](Value memref, const Place &place, bool isOwn, bool writes) {
    auto [entry, isNew] = touches.insert({partBehind(memref), Touch()});
    Touch &touch = entry->second;
    if (isNew) {
      touch.key = wholeBehind(memref);
      touch.units = place.units;
      touch.outside = place.outside;
      touch.isOwn = isOwn;
      touch.count = 1;
    } else if (touch.key != wholeBehind(memref) || touch.units != place.units ||
               touch.outside != place.outside) {
      touch.isMixed = true;
      touch.isOwn &= isOwn;
    }
    touch.writes |= writes;
    ok &= !(touch.writes && touch.isMixed);
  };
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    const Place &place = member.places[operand.getOperandNumber()];
    add(operand.get(), place, place.isOwn(), op.isDpsInit(&operand));
  }
  for (auto load : op.getBody()->getOps<memref::LoadOp>()) {
    auto placed = llvm::find_if(
        member.loads, [&](const auto &entry) { return entry.first == load; });
    Place anywhere;
    anywhere.units.assign(counts.size(), 0);
    anywhere.outside.resize(counts.size());
    bool isPlaced = placed != member.loads.end();
    add(load.getMemRef(), isPlaced ? placed->second : anywhere, isPlaced,
        false);
  }
  // The same memory as a part of a buffer and as the buffer.
  for (const auto &[root, touch] : touches)
    for (const auto &[other, its] : touches)
      ok &= root == other || !(touch.writes || its.writes) ||
            rootOf(root) != rootOf(other) || areDisjoint(root, other);
  if (!ok)
    return std::nullopt;
  return touches;
}

bool RowFinder::mayJoin(const Touches &group, const Touches &own) {
  for (const auto &[root, mine] : own)
    for (const auto &[other, theirs] : group) {
      if (!mine.writes && !theirs.writes)
        continue;
      if (!mayAlias(root, other))
        continue;
      if (root != other &&
          !(areOneInPlace(root, other) && mine.key == root &&
            theirs.key == other && root.getType() == other.getType()))
        return false;
      if (root == other && mine.key != theirs.key)
        return false;
      if (!mine.isOwn || !theirs.isOwn || mine.isMixed || theirs.isMixed ||
          mine.units != theirs.units || mine.outside != theirs.outside)
        return false;
    }
  return true;
}
