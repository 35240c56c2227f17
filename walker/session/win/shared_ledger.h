#pragma once

#include <windows.h>

#include <memory>
#include <optional>

#include "unmanaged/win/unique_handle.h"
#include "walker/suspended/freeze_ledger.h"

namespace mixwalk {

// The memory of a ledger. mixwalk.exe creates this memory and shares it with mixwalk.dll. The memory has no name. The
// target gets its own handle, so no other process of any session can open the memory by name.
class SharedLedger {
 public:
  // To be called in mixwalk.exe. Returns nothing if there is no memory; GetLastError() says why.
  static std::optional<SharedLedger> create();
  // To be called in the target. Returns nothing if the handle is not that of such memory; the handle then stays open.
  // Otherwise the object owns the handle from now on.
  static std::optional<SharedLedger> open(HANDLE section);

  LedgerPage& page() const noexcept { return *page_; }
  // Makes a handle for the target, and returns the value that is valid in the target. `target` needs
  // PROCESS_DUP_HANDLE.
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
