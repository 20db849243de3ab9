// The kernels: numbers and arrays in and out of WebAssembly.

const failed = () => { throw new Error("the kernels failed: there may be too little memory"); };

export async function loadKernels(module) {
  const imports = {}; // of the C library: the kernels read no files and no clock
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = /exit|abort/.test(name) ? failed : () => 0;
  }
  const { exports } = await WebAssembly.instantiate(module, imports);
  exports._initialize?.();
  return new Kernels(exports);
}

class Kernels {
  constructor(exports) {
    this.c = exports; // the functions of kernels.cpp
    this.held = [];
  }

  // The address of so many bytes; they are held until `release`.
  room(bytes) {
    const address = this.c.malloc(bytes) || failed();
    this.held.push(address);
    return address;
  }

  put(array) {
    const address = this.room(array.byteLength);
    new array.constructor(this.c.memory.buffer, address, array.length).set(array);
    return address;
  }

  read(Type, address, length) { return new Type(this.c.memory.buffer, address, length).slice(); }

  // What `fill(address)` writes: so many numbers of this type.
  filled(Type, length, fill) {
    const address = this.room(length * Type.BYTES_PER_ELEMENT);
    fill(address);
    return this.read(Type, address, length);
  }

  release() { this.held.splice(0).forEach((address) => this.c.free(address)); }
}
