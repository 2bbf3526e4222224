import { isBareScalar } from '../json/cell.ts';
import { stringEnd } from '../json/minify.ts';
import { hasTables, tableHead } from './tables-decode.ts';

/** First line of JSON without tables. */
const HEAD = 'JSON with few quotes:';

/**
 * Writes JSON, or JSON with tables, without the quotation marks that nothing needs, and with spaces for the commas before words. The
 * rows of tables stay as they are.
 *
 * ```
 * JSON with few quotes:
 * {name:web ports:[80,443] note:"up since May"}
 * ```
 */
export function encodeUnquoted(text: string): string {
  if (!hasTables(text)) return `${HEAD}\n${unquoted(text)}`;
  return mapped(text, unquoted).replace(/: (.*?), strings unquoted\./, ' and few quotes: $1.');
}

/** Returns the text that `encodeUnquoted` was given; a text of another form as it is. */
export function decodeUnquoted(text: string): string {
  if (text.startsWith(`${HEAD}\n`)) return quoted(text.slice(HEAD.length + 1));
  const rule = /^(JSON with tables) and few quotes: (.*?)\./;
  return rule.test(text) ? mapped(text, quoted).replace(rule, '$1: $2, strings unquoted.') : text;
}

/** Maps the JSON and the patterns of JSON with tables. */
function mapped(text: string, map: (json: string) => string): string {
  let rows = 0;
  return text
    .split('\n')
    .map((line, i) => {
      if (i === 0 || (i > 1 && rows-- > 0)) return line;
      const [head = '', , count, , pattern = ''] = tableHead.exec(line) ?? [];
      rows = Number(count ?? 0);
      return head === '' ? map(line) : head.slice(0, head.length - pattern.length) + map(pattern);
    })
    .join('\n');
}

/** Matches strings that stand without quotation marks: they hold nothing that separates values, and are no place of a pattern. */
const plain = /^(?![<«⟨:])[!#-+\--Z^-z|~\p{L}\p{N}\p{M}]+$/u;
const COLON = 58;
const COMMA = 44;

/** A colon is in values of members alone, since what stands before one is a name. */
function unquoted(json: string): string {
  let text = '';
  let from = 0;
  for (let at = json.indexOf('"'); at >= 0; ) {
    const end = stringEnd(json, at);
    const string = json.slice(at + 1, end - 1);
    const before = json.charCodeAt(at - 1);
    const isName = json.charCodeAt(end) === COLON;
    const taken =
      before === COLON ? isBareScalar(string) : string.includes(':') || (!isName && isBareScalar(string));
    if (!taken && plain.test(string)) {
      const spaced = before === COMMA && isLetter(string.charCodeAt(0));
      text += (spaced ? `${json.slice(from, at - 1)} ` : json.slice(from, at)) + string;
      from = end;
    }
    at = json.indexOf('"', end);
  }
  return text + json.slice(from);
}

function quoted(text: string): string {
  let json = '';
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === 34) at = stringEnd(text, at);
    else if (code === 32) {
      json += `${text.slice(from, at)},`;
      from = ++at;
    } else if (isSeparator(code)) at++;
    else {
      const end = wordEnd(text, at);
      const word = text.slice(at, end);
      const isName = text.charCodeAt(end) === COLON;
      if (!isPlace(word) && (isName || !isBareScalar(word))) {
        json += `${text.slice(from, at)}"${word}"`;
        from = end;
      }
      at = end;
    }
  }
  return json + text.slice(from);
}

const isPlace = (text: string): boolean => /^[<«⟨]/.test(text);
const isLetter = (code: number): boolean =>
  (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
const separators = new Set(Array.from('\n\t ,:{}[]"', (separator) => separator.charCodeAt(0)));
/** Returns whether a character separates values that stand without quotation marks. */
export const isSeparator = (code: number): boolean => separators.has(code);

/** Offset behind what stands at `start` without quotation marks: a value of a member, or a name or an item of a list. */
export function wordEnd(text: string, start: number): number {
  const isValue = text.charCodeAt(start - 1) === COLON;
  let end = start + 1;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (isSeparator(code) && !(isValue && code === COLON)) break;
    end++;
  }
  return end;
}
