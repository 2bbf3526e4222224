import { repeatedTexts, savedBy } from './repeated.ts';

/** Marks before the number of an alias; the first is taken that the text never has before a digit. */
const marks = ['$', '~', '@', '&'];
const MAX_ALIASES = 60;

/**
 * Writes what a text of JSON repeats once, with an alias in its places: values, and what strings begin with. A definition may have
 * aliases of later ones. Undefined if nothing is worth an alias.
 *
 * ```
 * Let $1={login:ana url:https://example.com/users/ana}
 * $2=https://example.com/repos/a/b
 * JSON with few quotes:
 * {url:$2/pulls/2 owner:$1 author:$1}
 * ```
 */
export function encodeAliases(text: string): string | undefined {
  const mark = marks.find((mark) => !new RegExp(`\\${mark}\\d`).test(text));
  if (mark === undefined) return undefined;
  let body = text;
  const definitions: string[] = [];
  for (const repeated of repeatedTexts(text)) {
    const uses = [body, ...definitions].reduce((sum, own) => sum + placesOf(repeated, own).length, 0);
    if (uses < 2 || savedBy(repeated, uses) <= 0) continue;
    const alias = `${mark}${definitions.length + 1}`;
    body = replaced(body, repeated, alias);
    for (const [i, own] of definitions.entries()) definitions[i] = replaced(own, repeated, alias);
    definitions.push(repeated);
    if (definitions.length === MAX_ALIASES) break;
  }
  if (definitions.length === 0) return undefined;
  const lines = definitions.map((own, i) => `${mark}${i + 1}=${own}`);
  return `Let ${[...lines, body].join('\n')}`;
}

const head = /^Let (.)1=/;

/** Returns the text that `encodeAliases` was given; a text without aliases as it is. */
export function decodeAliases(text: string): string {
  const [, mark] = head.exec(text) ?? [];
  if (mark === undefined) return text;
  const lines = text.slice('Let '.length).split('\n');
  const count = lines.findIndex((line, i) => !line.startsWith(`${mark}${i + 1}=`));
  const alias = new RegExp(`\\${mark}(\\d+)`, 'g');
  const definitions: string[] = [];
  const expanded = (own: string): string =>
    own.replaceAll(alias, (_, n: string) => definitions[Number(n)] ?? '');
  // Definitions have aliases of later ones only.
  for (let n = count; n >= 1; n--)
    definitions[n] = expanded((lines[n - 1] ?? '').slice(`${mark}${n}=`.length));
  return expanded(lines.slice(count).join('\n'));
}

/** Offsets at which a text stands between characters that are no letters or digits. */
function placesOf(repeated: string, text: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(repeated); at >= 0; ) {
    const end = at + repeated.length;
    if (!isWord(text.charCodeAt(at - 1)) && !isWord(text.charCodeAt(end))) places.push(at);
    at = text.indexOf(repeated, end);
  }
  return places;
}

function isWord(code: number): boolean {
  return (
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code > 127
  );
}

function replaced(text: string, repeated: string, alias: string): string {
  const parts: string[] = [];
  let from = 0;
  for (const at of placesOf(repeated, text)) {
    parts.push(text.slice(from, at), alias);
    from = at + repeated.length;
  }
  parts.push(text.slice(from));
  return parts.join('');
}
