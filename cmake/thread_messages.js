/* global addToLibrary */
// How a thread is told that it has messages: by postMessage, not by Atomics.waitAsync.
// Emscripten 6.0.5 leaves the waiter of a thread that has ended at the address where its
// structure was. A mutex or condition variable that comes to lie there wakes that
// waiter in place of a thread, which then sleeps for ever (emscripten issue 27492).
addToLibrary({
  $waitAsyncPolyfilled: true,
});
