// The headers that are precompiled for the program must belong to some target, and this file is all of its code.
