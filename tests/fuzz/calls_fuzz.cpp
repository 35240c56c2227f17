#include <cstdlib>
#include <span>
#include <vector>

#include "symbols/calls/call_checker.h"
#include "tests/builders/fake_symboliser.h"
#include "unmanaged/image/imports.h"

namespace {

using namespace mixwalk;

void check(bool holds) {
  if (!holds) std::abort();
}

class OneFile final : public ImageFiles {
 public:
  explicit OneFile(std::vector<std::byte> file) : file_(std::move(file)) {}
  std::optional<std::vector<std::byte>> read(const std::string&) override { return file_; }

 private:
  std::vector<std::byte> file_;
};

}  // namespace

// Any bytes must give an image or an error. Whatever the image's imports, exports and code say, each question about a
// call must end with an answer. The same image also serves as the images that it imports from, so that chains of
// forwarders and thunks lead back into it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  const PeImage image = PeImage::parse(file);
  if (image.error() != PeError::none) return 0;
  const Imports imports(image);
  check(imports.all().size() <= 1'000'000);
  std::vector<LoadedImage> images = {{"C:\\own.dll", 0x180000000, image.size_of_image(), image.timestamp()}};
  constexpr std::size_t kMaxImages = 4;
  for (const Import& import : imports.all()) {
    check(imports.at(import.slot) == &import);
    if (images.size() == kMaxImages) break;
    images.push_back({"C:\\" + std::string(import.image), 0x180000000 + images.size() * 0x100000000,
                      image.size_of_image(), image.timestamp()});
  }

  OneFile files(file);
  test::FakeSymboliser symboliser(files);
  CallChecker checker(symboliser, images);
  std::vector<std::uint32_t> places;
  constexpr std::size_t kMaxPlaces = 12;
  for (const PeImage::Function& function : image.functions()) {
    if (places.size() >= kMaxPlaces) break;
    places.push_back(function.begin + (function.end - function.begin) / 2);
    places.push_back(function.end);
  }
  for (const PeExport& found : image.exports()) {
    if (places.size() >= kMaxPlaces + 4) break;
    places.push_back(found.rva);
  }
  for (const PeSection& section : image.sections()) {
    if (places.size() >= kMaxPlaces + 8) break;
    for (const std::uint32_t at : {5u, 6u, 16u}) places.push_back(section.rva + at);
  }
  for (const std::uint32_t return_rva : places) {
    check(checker.call_text(0, images[0].base + return_rva).size() <= 1 << 16);
    checker.check(0, images[0].base + return_rva, nullptr);
    for (std::size_t above = 0; above < places.size(); above += 3) {
      const std::size_t of = above % images.size();
      const CallChecker::Callee callee{of,
                                       {images[of].base + places[above], AddressKind::instruction_pointer}};
      const CallChecker::Answer answer = checker.check(0, images[0].base + return_rva, &callee);
      check(answer.import.empty() || answer.check == CallCheck::verified ||
            answer.check == CallCheck::possible);
      // This also holds for an address behind the end of its image, to which the tables of a hostile image can lead.
      check(!answer.import_displacement || *answer.import_displacement <= places[above]);
    }
  }
  return 0;
}
