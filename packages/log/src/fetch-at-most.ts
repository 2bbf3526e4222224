import { TallyError } from '@tallystick/core';
import { readAtMost } from './read-at-most.ts';

const TIMEOUT_MS = 10_000;

/** The body of a GET that is answered with 200 within ten seconds, of at most `limit` bytes. @throws unavailable */
export async function fetchAtMost(
  fetch: typeof globalThis.fetch,
  url: string,
  limit: number,
): Promise<Uint8Array> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.status === 200) return await readAtMost(answer, limit);
    await answer.body?.cancel();
    throw new RangeError(`The status is ${answer.status}.`);
  } catch (cause) {
    throw new TallyError('unavailable', `${url} can’t be fetched.`, { cause });
  }
}
