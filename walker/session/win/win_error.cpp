#include "walker/session/win/win_error.h"

#include <utility>

#include "unmanaged/win/utf8.h"
#include "walker/session/image_refusal.h"

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

std::string image_error_text(DWORD error, const std::string& files) {
  auto refusal = image_refusal(error, files);
  return refusal ? std::move(*refusal) : error_text(error);
}

}  // namespace mixwalk
