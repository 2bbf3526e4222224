import { isObject, type JsonValue, parseJson, TallyError, type Trust, verifySession } from '@tallystick/core';
import { announce, byId, element, setContents } from '../dom.ts';
import { createYielder } from '../evidence/yield-to-page.ts';
import { partOf, read } from '../later/calls.ts';
import { leavesOf } from '../leaves.ts';
import { formatText } from '../words.ts';
import type { JudgedSession } from './judged.ts';
import { sessionProse as prose } from './prose.ts';
import { showProgress, showSessions, summaryOf } from './verdict.ts';

/** What sessions are judged by. */
interface SessionBasis {
  /** Unix milliseconds. */
  readonly now: number;
  /** Whether the reader chose `now`; otherwise it is the clock's time. */
  readonly asOf: boolean;
  readonly trust: Trust;
}

interface SessionFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The sessions that the reader gave, and the receipts that they may refer to. */
export interface SessionDesk {
  /** Adds a session, or whatever holds receipts that it may refer to. Returns false after showing why the file can't be read. */
  take(bytes: Uint8Array, name: string, isSession: boolean): boolean;
  /** Judges all sessions and shows the verdicts, or why it could not, unless `isWanted` no longer holds. */
  judge(basis: SessionBasis, isWanted: () => boolean): Promise<void>;
  clear(): void;
}

export function createSessionDesk(): SessionDesk {
  const key = byId('pinned-key', HTMLTextAreaElement);
  const sessions: SessionFile[] = [];
  const referenced: JsonValue[] = [];

  const note = (name: string, what: string): void => {
    byId('session-files').append(element('li', '', `${name}: ${what}`));
  };

  return {
    take(bytes, name, isSession) {
      byId('session-panel', HTMLDetailsElement).open = true;
      try {
        const found = isSession ? [] : receiptsIn(bytes);
        referenced.push(...found);
        if (isSession) sessions.push({ name, bytes });
        note(name, isSession ? prose.session : formatText(prose.receipts, found.length));
        return true;
      } catch (error) {
        refuse(error, prose.file);
        return false;
      }
    },
    async judge({ now, asOf, trust }, isWanted) {
      const breathe = createYielder();
      const judged: JudgedSession[] = [];
      const pinned = key.value.trim();
      const given = [...referenced, ...sessions.flatMap(({ bytes }) => openingIn(bytes))];
      try {
        for (const { name, bytes } of sessions) {
          const verdict = await verifySession(bytes, {
            now,
            trust,
            referenced: given,
            key: pinned === '' ? undefined : pinned,
            async progress(done, of) {
              if (!(await breathe())) return;
              if (!isWanted()) throw new Superseded();
              showProgress(name, done, of);
            },
          });
          judged.push({ name, verdict });
          await breathe();
        }
      } catch (error) {
        if (!(error instanceof Superseded)) refuse(error, prose.key);
        return;
      }
      if (!isWanted()) return;
      showSessions(judged, asOf ? now : null);
      const holds = judged.every(({ verdict }) => verdict.valid);
      announce(judged.map(summaryOf).join(' '), holds ? 'pass' : 'fail');
    },
    clear() {
      sessions.length = 0;
      referenced.length = 0;
      setContents(byId('session-files'));
    },
  };
}

/** Ends a judgement whose result nobody waits for any more. */
class Superseded extends Error {}

function refuse(error: unknown, input: string): void {
  if (!(error instanceof TallyError)) throw error;
  tallystickPage.refuse(error, input);
}

/** The receipts in a file: an answer of an inference call, one receipt, an array of them, or one a line. @throws json_* */
function receiptsIn(bytes: Uint8Array): JsonValue[] {
  if (partOf(bytes) === 'response') {
    const { receipt } = read({ receipt: null, request: null, response: bytes });
    return receipt instanceof TallyError ? [] : [receipt];
  }
  try {
    const document = parseJson(bytes);
    return (Array.isArray(document) ? document : [document]).filter(isObject);
  } catch (error) {
    if (!bytes.includes(0x0a)) throw error;
    return leavesOf(bytes).filter(isObject);
  }
}

/** The first receipt of a session, which its parent refers to; none if it can't be read. */
function openingIn(bytes: Uint8Array): JsonValue[] {
  const end = bytes.indexOf(0x0a);
  try {
    return [parseJson(bytes.subarray(0, end < 0 ? bytes.length : end))];
  } catch (error) {
    if (error instanceof TallyError) return [];
    throw error;
  }
}
