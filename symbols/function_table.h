#pragma once

#include <memory>
#include <optional>

#include "symbols/image_file.h"
#include "symbols/symbol_source.h"

namespace mixwalk {

// The functions of an image's .pdata, each named after the RVA at which it begins ("sub_1a2b0"): the last
// source to ask. Two samples of one function have one name, in every format and every recording of the same
// build. A part that the compiler moved behind the function has the function's name; one that was moved in
// front of it, or has no primary entry, is named after its own begin. Code without unwind data has no name.
// Not frozen-safe.
class FunctionTable final : public SymbolSource {
 public:
  explicit FunctionTable(std::shared_ptr<const ImageFile> file) : file_(std::move(file)) {}

  std::optional<Symbol> find(std::uint32_t rva) const override;

 private:
  std::shared_ptr<const ImageFile> file_;
};

}  // namespace mixwalk
