// Reads arbitrary bytes as messages of the worker with the runtime's debugging library, and as names that the library
// writes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "walker/clr/dac_name.h"
#include "walker/clr/question_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto message = mixwalk::decode_question(bytes)) {
    // A message that was decoded is encoded and decoded again.
    const std::string again = mixwalk::encode_question(*message);
    if (mixwalk::decode_question(std::string_view(again).substr(4)) != message) std::abort();
  }
  mixwalk::method_of_dac_name(bytes, size % 2 == 0);
  mixwalk::dac_arguments(bytes, "A.B`1", "M");
  return 0;
}
