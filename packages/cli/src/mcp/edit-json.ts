import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';

/** The value of JSON with comments and trailing commas; undefined if it is none. */
export function parseJsonc(text: string): JsonValue | undefined {
  const errors: ParseError[] = [];
  const value = parse(text, errors, { allowTrailingComma: true }) as JsonValue | undefined;
  return errors.length === 0 ? value : undefined;
}

/** The text with another value for an entry. Comments, order and indentation of all else stay. */
export function withEntry(
  text: string,
  path: readonly [string, string],
  before: JsonObject | null,
  after: JsonObject,
): string {
  if (before === null) return changed(text, [...path], after);
  const members = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return members
    .filter((member) => JSON.stringify(before[member]) !== JSON.stringify(after[member]))
    .reduce((edited, member) => changed(edited, [...path, member], after[member]), text);
}

function changed(text: string, path: string[], value: JsonValue | undefined): string {
  const indentation = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  const formattingOptions = {
    insertSpaces: !indentation.startsWith('\t'),
    tabSize: indentation.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  return applyEdits(text, modify(text, path, value, { formattingOptions }));
}

export function entriesOf(document: JsonValue | undefined, member: string): JsonObject {
  const entries = isObject(document) ? document[member] : undefined;
  return isObject(entries) ? entries : {};
}
