import type { StatusEndpoint, StatusReport } from '@tallystick/core';
import { cardsOf } from '../card.ts';
import { copyButton, element, fromTemplate, icon } from '../dom.ts';
import { statusProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import { formatText } from '../words.ts';
import { ageOf, lengthOf, minuteOf } from './times.ts';

const count = (number: number): string => number.toLocaleString('en');

/** Draws the state of the service in four numbers. @param now Unix milliseconds */
export function glanceOf({ endpoints, log, issued_at, valid_until }: StatusReport, now: number): HTMLElement {
  const { text } = prose;
  const up = endpoints.filter(({ state }) => state === 'up').length;
  const pilots = endpoints.filter(({ availability }) => availability === 'pilot').length;
  const waits = log.oldest_unanchored_seconds;
  const held = (Date.parse(valid_until) - Date.parse(issued_at)) / 1000;
  return cardsOf([
    {
      name: text.up,
      number: formatText(text.upOf, up, endpoints.length),
      note: formatText(text.upNote, endpoints.length - pilots, pilots),
    },
    { name: text.age, number: ageOf(issued_at, now), note: formatText(text.ageNote, lengthOf(held)) },
    {
      name: text.leaves,
      number: count(log.accepted),
      note: formatText(text.leavesNote, count(log.anchored)),
    },
    {
      name: text.waiting,
      number: waits === null ? text.waitingNone : lengthOf(waits),
      note:
        waits === null
          ? text.waitingNoneNote
          : formatText(text.waitingNote, count(log.accepted - log.anchored)),
    },
  ]);
}

export function endpointsOf({ endpoints }: StatusReport): HTMLElement {
  const { columns, text } = prose;
  return tableOf(
    text.table,
    [columns.endpoint, columns.state, columns.path, columns.latency, columns.since],
    endpoints.map((endpoint) => [
      nameOf(endpoint),
      stateOf(endpoint),
      element('code', '', `${endpoint.method} ${endpoint.path}`),
      endpoint.latency_ms === null ? '–' : formatText(text.ms, endpoint.latency_ms.toFixed(1)),
      minuteOf(endpoint.since),
    ]),
  );
}

function nameOf({ name, availability, probe }: StatusEndpoint): HTMLElement {
  const { text } = prose;
  const tags = [availability === 'pilot' ? text.pilot : null, probe === 'refusal' ? text.gate : null];
  return element(
    'span',
    'named',
    name.replaceAll('_', ' '),
    ...tags.flatMap((tag) => (tag === null ? [] : [element('span', 'tag', tag)])),
  );
}

const TONES = { up: 'pass', degraded: 'unsure', down: 'fail', unknown: 'unknown' } as const;

/** Draws a state in words, with its cause unless it is up. */
export function stateOf({ state, code }: Pick<StatusEndpoint, 'state' | 'code'>): HTMLElement {
  const causes: Readonly<Record<string, string>> = prose.codes;
  const cause = Object.hasOwn(causes, code) ? causes[code] : code.replaceAll('_', ' ');
  const words = state === 'up' ? prose.states.up : `${prose.states[state]}: ${cause}`;
  const made = element('span', 'is', icon(TONES[state]), words);
  made.dataset['state'] = TONES[state];
  return made;
}

export function logOf({ log: { checkpoint } }: StatusReport): Node {
  if (checkpoint === null) return element('p', '', prose.text.noCheckpoint);
  const { origin, size, root } = checkpoint;
  return fromTemplate('t-log', {
    origin,
    size: count(size),
    root: element('span', 'hash', element('span', '', root), copyButton(root, prose.text.root)),
  });
}
