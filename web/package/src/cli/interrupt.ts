/** Ctrl-C: the first ends what runs cleanly, the second at once. Internal. */
const controller = new AbortController();

export function interruptSignal(): AbortSignal {
  if (process.listenerCount('SIGINT') === 0) {
    process.on('SIGINT', () => {
      if (controller.signal.aborted) process.exit(130);
      controller.abort();
    });
  }
  return controller.signal;
}

export function interrupted(): boolean {
  return controller.signal.aborted;
}
