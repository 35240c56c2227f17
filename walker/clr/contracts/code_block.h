#pragma once

#include <cstdint>

#include "walker/clr/clr_questions.h"

namespace mixwalk {

// The code of a method around an address, and where the runtime keeps its data about that code.
struct CodeBlock {
  ClrCode code;
  // How far the address is from the beginning of the method's code, in bytes. If the code has two parts, the cold part
  // counts as if it followed the hot part.
  std::uint32_t offset = 0;
  // Of code that was compiled while the program ran: the address of its RealCodeHeader. 0 for other code.
  std::uint64_t header = 0;
  // Of code in a ReadyToRun image: the address of the ReadyToRunInfo that has the function table (of a composite image,
  // that of the whole image), and the index of the method's first entry in the table.
  std::uint64_t ready_to_run = 0;
  std::uint32_t function = 0;
};

}  // namespace mixwalk
