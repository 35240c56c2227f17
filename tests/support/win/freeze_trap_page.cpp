#include "tests/support/win/freeze_trap_page.h"

#include <string>

namespace mixwalk {

FreezeTrapPage::FreezeTrapPage(DWORD process_id) {
  const std::wstring name = L"Local\\mixwalk-trap-" + std::to_wstring(process_id);
  section_ = UniqueHandle(CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, 0,
                                             sizeof(FreezeTrapRecord), name.c_str()));
  if (!section_) return;
  record_ = static_cast<FreezeTrapRecord*>(
      MapViewOfFile(section_.get(), FILE_MAP_ALL_ACCESS, 0, 0, sizeof(FreezeTrapRecord)));
}

FreezeTrapPage::~FreezeTrapPage() {
  if (record_ != nullptr) UnmapViewOfFile(record_);
}

}  // namespace mixwalk
