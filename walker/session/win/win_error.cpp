#include "walker/session/win/win_error.h"

#include "unmanaged/win/utf8.h"

namespace mixwalk {

std::string error_text(DWORD error) {
  WCHAR text[512];
  DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS |
                                    FORMAT_MESSAGE_MAX_WIDTH_MASK,
                                nullptr, error, 0, text, static_cast<DWORD>(std::size(text)),
                                nullptr);
  while (length != 0 && (text[length - 1] == L' ' || text[length - 1] == L'.')) --length;
  if (length == 0) return "error " + std::to_string(error);
  return to_utf8({text, length});
}

}  // namespace mixwalk
