import { array, assert, asyncProperty, boolean, constantFrom, nat, record } from 'fast-check';
import { expect, test } from 'vitest';
import {
  createSigner,
  ownKeySigner,
  readSessionReceipt,
  type SessionFaultName,
  SessionRecorder,
  type SessionVerification,
  type Signer,
  verifySession,
} from '../src/index.ts';

/** Sessions that are made, each with one change. */
/** How many random sessions the test judges: 2,000, or as many as TALLY_TEST_SESSIONS says. */
const RUNS = Number(process.env['TALLY_TEST_SESSIONS'] ?? 2_000);
const NOW = 1_790_000_000_000;
const [own, other] = (await Promise.all(
  [1, 2].map((byte) => createSigner(new Uint8Array(32).fill(byte))),
)) as [Signer, Signer];

const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));
const optionsOf = (signer: Signer) => ({
  sign: ownKeySigner({ signer, now: () => NOW, random }),
  salt: new Uint8Array(32).fill(7),
  random,
});

/** A step of a session: a call of a tool, or a reference. */
const step = record({
  isReference: nat(9).map((drawn) => drawn === 0),
  tool: constantFrom('read', 'write', 'run', 'a name in ünïcode', 'x'.repeat(200)),
  outcome: constantFrom('completed', 'error', 'denied', 'cancelled', 'unknown'),
  argument: nat(),
});
type Step = typeof step extends { generate(...given: never[]): { readonly value: infer T } } ? T : never;

function recorded(
  recorder: SessionRecorder,
  { isReference, tool, outcome, argument }: Step,
): Promise<string> {
  if (isReference)
    return recorder.reference({
      receipt_id: 'r_env_1790000000_000000000000',
      receipt_sha256: `sha256:${'a'.repeat(64)}`,
    });
  return recorder.tool({
    tool,
    server: { name: 'files', version: null, transport: 'stdio', identity_sha256: null },
    outcome,
    arguments: { json: { argument } },
    result: outcome === 'denied' ? null : { json: [argument] },
  });
}

async function sessionOf(steps: readonly Step[], isClosed: boolean): Promise<string[]> {
  const { recorder, receipt } = await SessionRecorder.open(optionsOf(own));
  const lines = [receipt];
  for (const one of steps) lines.push(await recorded(recorder, one));
  if (isClosed) lines.push(await recorder.close());
  return lines;
}

interface Changed {
  readonly lines: readonly string[];
  /** The faults of which one must be found, and the line that it must name; null where the fault is of no line. */
  readonly found: readonly SessionFaultName[];
  readonly line: number | null;
}

type Change = 'removed' | 'doubled' | 'moved' | 'edited' | 'signed by another key';

/** Changes of one line that must be found. @param at the line, from 0 @param drawn decides what the change leaves open */
const changes: Readonly<
  Record<Change, (lines: readonly string[], at: number, drawn: number) => Promise<Changed>>
> = {
  // That the last one is missing shows in the verdict: the session is open.
  removed: async (lines, at) => ({
    lines: lines.toSpliced(at, 1),
    found: at === lines.length - 1 ? [] : ['gap'],
    line: null,
  }),
  doubled: async (lines, at, drawn) => {
    const to = drawn % (lines.length + 1);
    const second = to <= at ? at + 1 : to;
    return { lines: lines.toSpliced(to, 0, lines[at] ?? ''), found: ['duplicate'], line: second + 1 };
  },
  moved: async (lines, at, drawn) => {
    const rest = lines.toSpliced(at, 1);
    const to = (at + 1 + (drawn % (lines.length - 1))) % lines.length;
    // Moved forward, the line itself comes after a higher number; moved back, those that it passed do.
    return {
      lines: rest.toSpliced(to, 0, lines[at] ?? ''),
      found: ['reordered'],
      line: to > at ? to + 1 : to + 2,
    };
  },
  edited: async (lines, at, drawn) => {
    const line = lines[at] ?? '';
    const place = drawn % line.length;
    const put = line[place] === '7' ? '8' : '7';
    const edited = `${line.slice(0, place)}${put}${line.slice(place + 1)}`;
    return { lines: lines.with(at, edited), found: ['edited', 'torn'], line: at + 1 };
  },
  'signed by another key': async (lines, at, drawn) => {
    const { id, seq, prev } = readSessionReceipt(lines[at] ?? '').call.session;
    const recorder = SessionRecorder.resume(optionsOf(other), { id, seq: Number(seq) - 1, hash: prev });
    const theirs = await recorded(recorder, {
      isReference: drawn % 2 === 0,
      tool: 'read',
      outcome: 'completed',
      argument: drawn,
    });
    return { lines: lines.with(at, theirs), found: ['foreign_key'], line: at + 1 };
  },
};

const judge = (lines: readonly string[]): Promise<SessionVerification> =>
  verifySession(lines.map((line) => `${line}\n`).join(''), { now: NOW, key: own.keyId });

test(`any one line of a session that is changed is found and named, in ${RUNS} sessions`, async () => {
  const found = new Map<string, number>();
  await assert(
    asyncProperty(
      record({
        steps: array(step, { maxLength: 5 }),
        isClosed: boolean(),
        change: constantFrom(...(Object.keys(changes) as Change[]), 'cut' as const, 'none' as const),
        place: nat(),
        drawn: nat(),
      }),
      async ({ steps, isClosed, change, place, drawn }) => {
        const lines = await sessionOf(steps, isClosed || steps.length === 0);
        found.set(change, (found.get(change) ?? 0) + 1);
        if (change === 'none') return expectWhole(await judge(lines), lines);
        if (change === 'cut') {
          const left = lines.slice(0, 1 + (place % (lines.length - 1)));
          return expectWhole(await judge(left), left);
        }
        const changed = await changes[change](lines, place % lines.length, drawn);
        if (changed.found.length === 0) return expectWhole(await judge(changed.lines), changed.lines);
        const { valid, trusted, faults } = await judge(changed.lines);
        expect({ valid, trusted }).toEqual({ valid: false, trusted: false });
        const named = faults.filter(
          ({ name, line }) => changed.found.includes(name) && line === changed.line,
        );
        expect({ faults, named: named.length > 0 }).toEqual({ faults, named: true });
      },
    ),
    { numRuns: RUNS },
  );
  expect([...found.values()].every((count) => count > RUNS / 20)).toBe(true);
});

/** Nothing is wrong with these lines. If the closing is not among them, the verdict says what nobody can see. */
function expectWhole(verdict: SessionVerification, lines: readonly string[]): void {
  const isClosed = lines.at(-1)?.includes('"event":"close"') ?? false;
  const { valid, state, count, faults, notes } = verdict;
  expect({ valid, state, count, faults }).toEqual({
    valid: true,
    state: isClosed ? 'closed' : 'open',
    count: lines.length,
    faults: [],
  });
  expect(notes).toEqual(
    isClosed
      ? []
      : [
          `The session is open: nobody can see whether receipts after number ${lines.length - 1} were cut off.`,
        ],
  );
}
