// What is precompiled for all tests belongs to some target: this file is all of its code.
