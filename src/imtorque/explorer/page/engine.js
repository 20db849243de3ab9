// What answers the page's requests: here the server. The static page has the kernels in a worker instead: web/engine.js.

export const ask = (path, options) => fetch(path, options);

// A request that may outlive the page, and whose answer nobody waits for.
export const tell = (path) => navigator.sendBeacon(path);
