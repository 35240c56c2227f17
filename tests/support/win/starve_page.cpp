#include "tests/support/win/starve_page.h"

#include <cstdio>

namespace mixwalk {

StarvePage::StarvePage(DWORD process_id) {
  wchar_t name[64];
  std::swprintf(name, std::size(name), L"Local\\mixwalk-starve-%lu", process_id);
  section_ = UniqueHandle(CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, 0,
                                             sizeof(StarveRecord), name));
  if (!section_) return;
  record_ = static_cast<StarveRecord*>(
      MapViewOfFile(section_.get(), FILE_MAP_ALL_ACCESS, 0, 0, sizeof(StarveRecord)));
}

StarvePage::~StarvePage() {
  if (record_ != nullptr) UnmapViewOfFile(record_);
}

}  // namespace mixwalk
