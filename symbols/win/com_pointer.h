#pragma once

#include <unknwn.h>

#include <utility>

namespace mixwalk {

// Owns one reference to a COM object.
template <class T>
class ComPointer {
 public:
  ComPointer() = default;
  ~ComPointer() { reset(); }
  ComPointer(ComPointer&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ComPointer& operator=(ComPointer&& other) noexcept {
    if (this != &other) {
      reset();
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }

  // For a call that returns a reference through a pointer; the reference held before is released.
  T** put() noexcept {
    reset();
    return &object_;
  }
  bool query(IUnknown* from, REFIID iid) noexcept {
    return SUCCEEDED(from->QueryInterface(iid, reinterpret_cast<void**>(put())));
  }
  void reset() noexcept {
    if (T* object = std::exchange(object_, nullptr)) object->Release();
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

}  // namespace mixwalk
