// What answers the page's requests: here the server. The static page has the kernels in a worker instead: web/engine.js.

export const ask = (path, options) => fetch(path, options);

// A request that may outlive the page, and whose answer nobody waits for.
export const tell = (path) => navigator.sendBeacon(path);

// Where this page is, with its token: the server leads addresses without it, or with that of an earlier server, here.
try { localStorage.setItem("imtorque", location.pathname); } catch { /* a frame, or a browser that keeps nothing */ }
