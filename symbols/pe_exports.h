#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "symbols/image_file.h"
#include "symbols/symbol_source.h"

namespace mixwalk {

// The exports of an image as symbols, bounded by .pdata. This is the last source to ask, because it has only the public
// functions of an image. Not frozen-safe.
//
// The rule. An address in a RUNTIME_FUNCTION belongs to the function of the primary entry, and has the name of an
// export at that entry's start. If a second export lies inside the function, before the address, it is not known to
// which of the two the address belongs, so the address gets no name. (Assembly code has such entries for two
// functions.) A part that lies before the primary entry has no name either, because an address cannot precede its
// symbol's start.
//
// An address in no RUNTIME_FUNCTION belongs to a leaf function. It has the name of the nearest export before it only if
// both lie in the same section, no RUNTIME_FUNCTION begins or ends between them (a function with unwind data is another
// function, and so is the code behind it), and leaf_extent() is certain of the address: being in the same gap is not
// enough, since leaf functions that are not exported lie there too.
//
// If there are several exports at one address, a name is preferred to an ordinal ("#12"), then a name without a leading
// '_', '?' or '@' (a compiler's decoration) to one with it, then the shortest name, then the first in the alphabet,
// which prefers "NtClose" to its twin "ZwClose".
//
// Data and forwarders are never names of code.
class PeExports final : public SymbolSource {
 public:
  explicit PeExports(std::shared_ptr<const ImageFile> file);

  std::optional<Symbol> find(std::uint32_t rva) const override;

 private:
  // Returns the last export at or before the RVA, or null if there is none.
  const PeExport* nearest(std::uint32_t rva) const;
  const PeExport* of_function(const PeImage::Function& function, std::uint32_t rva) const;
  const PeExport* of_leaf(std::uint32_t rva) const;

  std::shared_ptr<const ImageFile> file_;
  std::vector<PeExport> starts_;  // the best export of each RVA, by RVA
  // Function's start → the first export that lies inside it.
  std::unordered_map<std::uint32_t, std::uint32_t> inner_;
};

}  // namespace mixwalk
