import { isObject, type JsonValue, parseTimestamp } from '@tallystick/core';
import { paint } from '../output.ts';
import { printable } from '../printable.ts';

/** Lines that show a person the answer of `GET /v1/log`. @param now Unix milliseconds */
export function* statusLines(status: JsonValue, now: number): Generator<string> {
  const document = isObject(status) ? status : {};
  yield paint('bold', shown(document.origin));
  yield* [
    line('key', shown(document.verifier_key)),
    line('hashes', sizes(document)),
    line('next posting', nextPosting(document.next_posting_at, document.period_seconds, now)),
    line('overdue', overdue(document.overdue_seconds)),
    line('posts to', postsTo(document.chain ?? null)),
  ];
  for (const name of ['accepting', 'posting']) {
    if (document[name] !== 'ok') yield line(name, paint('yellow', shown(document[name])));
  }
}

const line = (name: string, value: string): string => `  ${paint('dim', name.padEnd(12))}  ${value}`;

function shown(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? printable(`${value}`) : '–';
}

function count(value: JsonValue | undefined): string {
  return typeof value === 'number' ? value.toLocaleString('en') : shown(value);
}

function sizes({ accepted, tree_size, anchored_size }: Readonly<Record<string, JsonValue>>): string {
  return `${count(accepted)} accepted, ${count(tree_size)} in the newest checkpoint, ${count(anchored_size)} anchored`;
}

function nextPosting(at: JsonValue | undefined, period: JsonValue | undefined, now: number): string {
  const instant = typeof at === 'string' ? parseTimestamp(at) : null;
  const seconds = instant === null ? null : Math.max(0, Math.ceil(instant.seconds - now / 1000));
  return `${shown(at)}${seconds === null ? '' : `, in ${seconds} s`} (every ${shown(period)} s)`;
}

function overdue(seconds: JsonValue | undefined): string {
  return seconds === 0 ? 'nothing' : paint('yellow', `for ${shown(seconds)} s`);
}

function postsTo(chain: JsonValue): string {
  if (!isObject(chain)) return 'no chain: hashes stay pending';
  const { network, chain_id, address } = chain;
  return `${shown(network)} (chain ${shown(chain_id)}) from ${shown(address)}`;
}
