#pragma once

#include <windows.h>

#include <memory>
#include <optional>

#include "unmanaged/win/unique_handle.h"
#include "walker/suspended/freeze_ledger.h"

namespace mixwalk {

// The memory of a ledger, which mixwalk.exe creates and shares with mixwalk.dll. The memory has no name: the target
// gets a handle of its own, so no other process of any session can open the memory by name.
class SharedLedger {
 public:
  // In mixwalk.exe. Returns nothing if no memory, GetLastError() says why.
  static std::optional<SharedLedger> create();
  // In the target: owns the handle from now on. Returns nothing if the handle is not that of such memory, and stays
  // open.
  static std::optional<SharedLedger> open(HANDLE section);

  LedgerPage& page() const noexcept { return *page_; }
  // A handle for the target, with the value that is valid in the target. `target` needs PROCESS_DUP_HANDLE.
  std::optional<HANDLE> give_to(HANDLE target) const;

 private:
  struct Unmap {
    void operator()(LedgerPage* page) const noexcept { UnmapViewOfFile(page); }
  };
  static std::optional<SharedLedger> map(HANDLE section);

  UniqueHandle section_;
  std::unique_ptr<LedgerPage, Unmap> page_;
};

}  // namespace mixwalk
