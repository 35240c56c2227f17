#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "unmanaged/image/pe_image.h"

namespace mixwalk {

// Finds images by module name, for exports that stand for another module's. Not frozen-safe.
class ImageLookup {
 public:
  // `module`: a file name as a forwarder has it, ".dll" added where it had no extension; its case
  // means nothing. Null: not known.
  virtual const PeImage* image(std::string_view module) const = 0;

 protected:
  ~ImageLookup() = default;
};

struct ForwarderTarget {
  std::string module;  // file name, as the last forwarder had it
  std::string name;    // empty: exported by ordinal only
  std::uint32_t ordinal = 0;
  std::uint32_t rva = 0;
};

// Where a forwarder ("NTDLL.RtlAllocateHeap", "OTHER.#7") leads in the end; forwarders to
// forwarders are followed. Nothing where a module or its export is not known, the text is no
// forwarder, or they go round in circles.
std::optional<ForwarderTarget> forwarder_target(std::string_view forwarder,
                                                const ImageLookup& images);

}  // namespace mixwalk
