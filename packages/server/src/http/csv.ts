import type { JsonValue } from '@tallystick/core';

/**
 * A line of a CSV file (RFC 4180). Objects and lists are written as JSON, null as nothing. A text that a spreadsheet would
 * run as a formula gets an apostrophe in front.
 */
export function csvLine(values: readonly JsonValue[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

function cell(value: JsonValue): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? harmless(value) : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function harmless(text: string): string {
  return /^[=+\-@\t\r]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text;
}
