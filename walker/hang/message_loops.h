#pragma once

#include <string_view>

namespace mixwalk {

// Whether a method, as a managed frame has it, is the loop of a user interface: of Windows Forms, WPF, WinUI or
// Avalonia. Pure.
bool runs_message_loop(std::string_view method) noexcept;

}  // namespace mixwalk
