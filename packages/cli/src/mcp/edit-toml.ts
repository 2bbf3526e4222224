import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';
import { parse } from 'smol-toml';

/** The value of TOML, without the times that it may have; undefined if it is none. */
export function parseToml(text: string): JsonValue | undefined {
  try {
    return JSON.parse(JSON.stringify(parse(text))) as JsonValue;
  } catch {
    return undefined;
  }
}

/**
 * The text with another value for the table of a server. It is edited as text, so that comments and order stay, and read
 * again.
 * @returns null if the table is written in a way that could not be edited so
 */
export function withTable(
  text: string,
  [member, name]: readonly [string, string],
  before: JsonObject | null,
  after: JsonObject,
): string | null {
  const key = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
  const edited =
    before === null
      ? `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${text === '' ? '' : '\n'}[${member}.${key}]\n${linesOf(after)}`
      : inTable(text, { [member]: { [name]: {} } }, before, after);
  const document = parseToml(text);
  const servers = isObject(document) ? document[member] : undefined;
  const expected = {
    ...(isObject(document) && document),
    [member]: { ...(isObject(servers) && servers), [name]: after },
  };
  return edited !== null && isDeepStrictEqual(parseToml(edited), expected) ? edited : null;
}

/** @param header what the line that begins the table says by itself */
function inTable(text: string, header: JsonObject, before: JsonObject, after: JsonObject): string | null {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => isDeepStrictEqual(parseToml(line), header));
  if (start === -1) return null;
  const next = lines.findIndex((line, index) => index > start && /^\s*\[/.test(line));
  const end = next === -1 ? lines.length : next;
  let table = lines.slice(start + 1, end).join('\n');
  for (const member of Object.keys(before)) {
    if (isDeepStrictEqual(before[member], after[member])) continue;
    // A value goes on over lines only if it is an array.
    const assignment = new RegExp(
      `^[ \\t]*${member}[ \\t]*=[ \\t]*(?:\\[[^]*?\\][ \\t]*(?:#.*)?$|.*$)\\n?`,
      'm',
    );
    table = table.replace(assignment, '');
  }
  const written = Object.entries(after).filter(
    ([member, value]) => !isDeepStrictEqual(before[member], value),
  );
  const head = lines.slice(0, start + 1).join('\n');
  const tail = lines.slice(end).join('\n');
  return `${head}\n${linesOf(Object.fromEntries(written))}${table}${end === lines.length ? '' : `\n${tail}`}`;
}

function linesOf(members: JsonObject): string {
  return Object.entries(members)
    .map(([member, value]) => `${member} = ${valueText(value)}\n`)
    .join('');
}

function valueText(value: JsonValue): string {
  if (!isObject(value)) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)} = ${valueText(inner)}`)
    .join(', ')} }`;
}
