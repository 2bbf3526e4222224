import type { SessionFileOptions } from '@tallystick/sdk/session-file';
import { requireKey } from '../api-key.ts';
import { describe } from '../output.ts';

/** Milliseconds between two anchors of a session. */
const EVERY_MS = 600_000;

/**
 * Has a service anchor a session's newest receipt at intervals, and its closing. A failure is told, and stops nothing.
 * @throws UsageError without an API key
 */
export async function anchoringAt(
  url: string,
  apiKey: string | undefined,
  tell: (text: string) => void,
): Promise<NonNullable<SessionFileOptions['anchor']>> {
  const { createClient } = await import('@tallystick/sdk');
  return {
    client: createClient({ baseUrl: url, apiKey: requireKey(apiKey) }),
    everyMs: EVERY_MS,
    onError: (error) => tell(`Not anchored yet: ${describe(error).message}`),
  };
}
