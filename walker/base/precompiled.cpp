// What is precompiled for the program belongs to some target: this file is all of its code.
