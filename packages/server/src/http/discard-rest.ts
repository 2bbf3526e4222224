import type { IncomingMessage } from 'node:http';

/** Milliseconds for which a client may send no byte of the rest. */
const IDLE_MS = 5_000;
/** Milliseconds that a client may take for the whole rest. */
const WHOLE_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads and discards what is left of a request that has been answered, for at most 30 s. A connection that is closed with bytes unread is reset,
 * and a client that still sends then may never read its answer (RFC 9112, section 9.6).
 */
export function discardRest(incoming: IncomingMessage): void {
  if (incoming.readableEnded || incoming.destroyed) return;
  if (incoming.complete) return void incoming.resume();
  let bytes = 0;
  const end = (): void => {
    clearTimeout(idle);
    clearTimeout(whole);
    incoming.off('data', onData);
  };
  const cut = (): void => {
    end();
    incoming.socket.destroySoon();
  };
  const idle = setTimeout(cut, IDLE_MS).unref();
  const whole = setTimeout(cut, WHOLE_MS).unref();
  const onData = (chunk: Uint8Array): void => {
    idle.refresh();
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) cut();
  };
  incoming.on('data', onData).once('end', end).once('close', end).resume();
}
