#pragma once

namespace mixwalk {

// The path of the last file for which remove_at_end() (output_path.h) was asked; null if there is none. For the handler
// of a signal that ends the process. Not on Windows, where the system removes the file.
const char* unfinished_output() noexcept;

}  // namespace mixwalk
