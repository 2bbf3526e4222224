import { type StatusReport, secondsOf } from '@tallystick/core';
import { paint } from '../output.ts';
import { printable } from '../printable.ts';
import type { Standing, StatusReading, Verified } from './fetch-status.ts';

type Colour = 'green' | 'yellow' | 'red' | 'dim';

const COLOURS = { up: 'green', degraded: 'yellow', down: 'red', unknown: 'dim' } as const;
const MARKS = { up: '✓', degraded: '○', down: '✗', unknown: '?' } as const;

/** A status in lines for a terminal. @param now Unix milliseconds */
export function statusLines(url: string, { report, verified }: StatusReading, now: number): string[] {
  return [
    headline(url, report, verified),
    `  ${belief(report, verified, now)}`,
    '',
    ...report.endpoints.map(endpointLine),
    '',
    ...modelLines(report),
    '',
    ...logLines(report),
  ];
}

/** The first line. It presents what a document says as the service's word if it can't be relied on. */
function headline(url: string, { endpoints }: StatusReport, verified: Verified | null): string {
  const count = (state: string) => endpoints.filter((one) => one.state === state).length;
  const [down, degraded, unknown] = [count('down'), count('degraded'), count('unknown')];
  const worst = down > 0 ? 'down' : degraded > 0 ? 'degraded' : unknown > 0 ? 'unknown' : 'up';
  const parts = [`${count('up')} of ${endpoints.length} endpoints are up`];
  if (degraded > 0) parts.push(`${degraded} degraded`);
  if (down > 0) parts.push(`${down} down`);
  if (unknown > 0) parts.push(`${unknown} unknown`);
  const doubtful = verified !== null && verified.standing !== 'current';
  const shown = doubtful ? 'down' : worst;
  const summary = `${doubtful ? 'says that ' : ''}${parts.join(', ')}`;
  return paint('bold', paint(COLOURS[shown], `${MARKS[shown]} ${printable(url)}: ${summary}`));
}

/** One line that says how far the report can be relied on. */
function belief(report: StatusReport, verified: Verified | null, now: number): string {
  const { sequence, issuer_did, issued_at } = report;
  const age = Math.max(0, Math.round(now / 1000 - secondsOf(issued_at)));
  const which = printable(`status ${sequence} of ${issuer_did}, ${age} s old`);
  if (verified === null) return paint('dim', `${which}. Not verified: add --verify.`);
  const [colour, text] = verdictOn(verified);
  return `${paint(colour, text)} ${paint('dim', `${which}.`)}`;
}

const STANDINGS: Readonly<Record<Exclude<Standing, 'current' | 'invalid'>, string>> = {
  stale: 'Stale: signed, but no longer valid. The current state of the service is not known.',
  rolled_back: 'Rolled back: an older status than one that was seen before.',
  forked: 'Forked: the service signed two statuses that contradict each other.',
  other_issuer: 'This was signed by another issuer than the earlier ones.',
};

function verdictOn({ verdict, standing }: Verified): readonly [Colour, string] {
  if (standing === 'invalid') {
    const fault = verdict.checks.find(({ ok }) => ok === false);
    return ['red', printable(`Not valid: ${fault?.detail ?? 'not checked.'}`)];
  }
  if (standing !== 'current') return ['red', STANDINGS[standing]];
  return verdict.issuer.trusted
    ? ['green', 'Signed by an issuer that you trust, and new.']
    : ['yellow', 'Signed and new, but no saved trust says whose key this is.'];
}

function endpointLine({
  name,
  method,
  path,
  availability,
  probe,
  state,
  code,
  latency_ms,
  since,
}: StatusReport['endpoints'][number]): string {
  const took = latency_ms === null ? '–' : `${latency_ms.toFixed(1)} ms`;
  const notes = [
    state === 'up' ? null : code,
    availability === 'pilot' ? 'pilot' : null,
    probe === 'refusal' ? 'gate' : null,
  ].filter((note) => note !== null);
  const place = printable(`${method.padEnd(4)} ${path}`).padEnd(36);
  return `${paint(COLOURS[state], `${MARKS[state]} ${state.padEnd(8)}`)} ${printable(name).padEnd(16)} ${place} ${took.padStart(9)}  ${paint('dim', `since ${since}  ${notes.join(', ')}`.trimEnd())}`;
}

/** Lines for each provider, and for those of its models that were called lately or are warned of. */
function modelLines({ providers, models }: StatusReport): string[] {
  const shown = models.filter(({ state, warning }) => state !== 'unknown' || warning !== undefined);
  const idle = models.filter(({ state }) => state === 'unknown').length;
  return [
    ...providers.map((one) => modelLine('provider', one)),
    ...shown.map((one) => modelLine('model', one)),
    ...(idle > 0 ? [paint('dim', `  ${idle} of ${models.length} models were not called lately`)] : []),
  ];
}

function modelLine(
  kind: 'provider' | 'model',
  { id, state, code, since, warning }: StatusReport['models'][number],
): string {
  const notes = [...(state === 'up' ? [] : [code]), ...(warning === undefined ? [] : [warning])];
  const note = notes.length === 0 ? '' : `  ${printable(notes.join(', '))}`;
  return `${paint(COLOURS[state], `${MARKS[state]} ${state.padEnd(8)}`)} ${kind.padEnd(8)} ${printable(id).padEnd(36)} ${paint('dim', `since ${since}${note}`)}`;
}

function logLines({ log }: StatusReport): string[] {
  const { checkpoint, accepted, anchored, oldest_unanchored_seconds: oldest } = log;
  const head =
    checkpoint === null
      ? 'log: no checkpoint yet'
      : printable(`log ${checkpoint.origin}: ${checkpoint.size} leaves, root ${checkpoint.root}`);
  const waiting = accepted - anchored;
  const wait =
    oldest === null
      ? 'no hash is waiting for its anchor'
      : `${waiting} of ${accepted} hashes are waiting for their anchor, the oldest for at most ${oldest} s`;
  return [head, `  ${wait}`];
}
