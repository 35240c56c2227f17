#include "walker/session/win/shared_ledger.h"

namespace mixwalk {
namespace {

constexpr DWORD kAccess = FILE_MAP_READ | FILE_MAP_WRITE;

}  // namespace

std::optional<SharedLedger> SharedLedger::map(HANDLE section) {
  void* const page = MapViewOfFile(section, kAccess, 0, 0, sizeof(LedgerPage));
  if (page == nullptr) return std::nullopt;
  SharedLedger ledger;
  ledger.section_ = UniqueHandle(section);
  ledger.page_.reset(static_cast<LedgerPage*>(page));
  return ledger;
}

std::optional<SharedLedger> SharedLedger::create() {
  const HANDLE section = CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, 0,
                                            sizeof(LedgerPage), nullptr);
  if (section == nullptr) return std::nullopt;
  auto ledger = map(section);
  if (!ledger) CloseHandle(section);
  return ledger;
}

// If the number is not such a handle, it may be another handle of the program, so it is not closed.
std::optional<SharedLedger> SharedLedger::open(HANDLE section) { return map(section); }

std::optional<HANDLE> SharedLedger::give_to(HANDLE target) const {
  HANDLE target_handle = nullptr;
  if (!DuplicateHandle(GetCurrentProcess(), section_.get(), target, &target_handle, kAccess, FALSE, 0)) {
    return std::nullopt;
  }
  return target_handle;
}

}  // namespace mixwalk
