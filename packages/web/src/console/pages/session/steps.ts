import type { SessionEntry, SessionFault, SessionVerification } from '@tallystick/core';
import type { Call } from '../activity/documents.ts';

/** A step of a session: what its signed record says, the call that it is about, or what is missing between two steps. */
export interface Step {
  readonly key: string;
  /** Unix milliseconds; null for what is missing. */
  readonly at: number | null;
  readonly entry: SessionEntry | null;
  readonly call: Call | null;
  readonly faults: readonly SessionFault[];
  /** Milliseconds without a step before this one, if they are worth telling. */
  readonly pause: number | null;
}

/** A pause that is told: longer than most calls last. */
const LONG_MS = 60_000;

type Found = Omit<Step, 'pause'>;

/**
 * The steps of a session in order: that of the signed record, where there is one; calls that it does not refer to stand
 * where their time puts them.
 * @param calls in any order
 */
export function stepsOf(calls: readonly Call[], record: SessionVerification | null): Step[] {
  const recorded = record === null ? [] : recordedSteps(record, calls);
  const named = new Set(recorded.flatMap(({ call }) => call?.id ?? []));
  const others = calls
    .filter(({ id }) => !named.has(id))
    .map((call): Found => ({ key: call.id, at: Date.parse(call.at), entry: null, call, faults: [] }))
    .toSorted((one, other) => (one.at ?? 0) - (other.at ?? 0));
  return withPauses(merged(recorded, others));
}

function recordedSteps({ entries, faults }: SessionVerification, calls: readonly Call[]): Found[] {
  const byReceipt = new Map(calls.map((call) => [call.receipt_id, call]));
  const steps = entries.map((entry): Found => {
    const { call, line, seq } = entry;
    return {
      key: `line ${line}`,
      at: Date.parse(entry.issued_at),
      entry,
      call: call.kind === 'reference' ? (byReceipt.get(call.receipt_id) ?? null) : null,
      faults: faults.filter((fault) => fault.line === line || (fault.line === null && fault.seq === seq)),
    };
  });
  const told = new Set(steps.flatMap((step) => step.faults));
  for (const [index, fault] of faults.entries()) {
    if (told.has(fault)) continue;
    const missing: Found = { key: `fault ${index}`, at: null, entry: null, call: null, faults: [fault] };
    const place = steps.findIndex(({ entry }) => entry !== null && entry.seq > (fault.seq ?? Infinity));
    steps.splice(place === -1 ? steps.length : place, 0, missing);
  }
  return steps;
}

/** Two lists that are in order each, by time. */
function merged(recorded: readonly Found[], others: readonly Found[]): Found[] {
  const steps: Found[] = [];
  let next = 0;
  for (const step of recorded) {
    while (next < others.length && step.at !== null && (others[next]?.at ?? 0) < step.at) {
      steps.push(...others.slice(next, ++next));
    }
    steps.push(step);
  }
  return [...steps, ...others.slice(next)];
}

function withPauses(steps: readonly Found[]): Step[] {
  let before: number | null = null;
  return steps.map((step) => {
    const began = step.at === null ? null : step.at - (step.call?.total_ms ?? 0);
    const pause = began === null || before === null ? 0 : began - before;
    before = step.at ?? before;
    return { ...step, pause: pause >= LONG_MS ? pause : null };
  });
}
