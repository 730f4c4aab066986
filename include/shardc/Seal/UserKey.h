//===- UserKey.h - Whose machine code is loaded -----------------*- C++ -*-===//
//
// Machine code runs with all that its user may do, so it is loaded only if that
// user's key signed it. The key is a file of mode 0600, made when something is
// signed for the first time:
//
//   --key=FILE, else SHARDC_KEY, else $XDG_CONFIG_HOME/shardc/key,
//   else $HOME/.config/shardc/key
//
// It holds 64 hexadecimal digits, the secret. A file that begins with
// `shardc-public-key` holds public keys, one a line: code that one of them
// signed is loaded, nothing can be signed.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SEAL_USERKEY_H
#define SHARDC_SEAL_USERKEY_H

#include "shardc/Crypto/Crypto.h"
#include <optional>
#include <string>
#include <vector>

namespace shardc {

struct UserKey {
  std::string path;     ///< of its file; empty where no place is known
  bool isGiven = false; ///< by --key or SHARDC_KEY
  std::optional<crypto::SigningKey> secret;
  std::vector<crypto::PublicKey> trusted;

  bool trusts(const std::optional<crypto::PublicKey> &signer) const;
};

/// Reads the user's key; `given` is what --key says, or empty. If there is none
/// it is made if `make`, else nobody is trusted. Only a place by default is
/// made: a key that was given must be there. Returns an empty string, or what
/// is wrong and what to do; `key` then has the path alone.
std::string readUserKey(const std::string &given, bool make, UserKey &key);

} // namespace shardc

#endif // SHARDC_SEAL_USERKEY_H
