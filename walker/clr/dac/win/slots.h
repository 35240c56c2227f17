#pragma once

#include <unknwn.h>

// The slot of a method that mixwalk does not call. Its parameters are left out, so calling it would be wrong.
#define MIXWALK_DAC_SLOT(name) virtual HRESULT STDMETHODCALLTYPE name() = 0
