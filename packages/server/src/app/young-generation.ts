import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds from the start. By then the first status is written, and the parts that it asks are loaded. */
const SETTLED_MS = 15_000;

/**
 * Gives memory back that only the start needed: V8 made the room for young objects as large as it gets, and would make it smaller at its next
 * collection, which in an idle service is minutes away.
 */
export function shrinkOnceStarted(): void {
  setTimeout(collectYoung, SETTLED_MS).unref();
}

/** Collects young objects, in some milliseconds. Node hands V8's function out to contexts that are made while the flag is set. */
export function collectYoung(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'minor' });
}
