# Debian's cross compiler: apt-get install g++-mingw-w64-x86-64-posix. Everything it needs is in the module itself.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_STRIP x86_64-w64-mingw32-strip)
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-static")
