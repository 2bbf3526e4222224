/**
 * The fields of one line of CSV (RFC 4180), or null for a quote that is out of place. A field of several lines is
 * not read: its first line has an open quote.
 */
export function csvFields(line: string): string[] | null {
  if (!line.includes('"')) return line.split(',');
  const fields: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = field.exec(line);
    if (match === null) return null;
    const [, quoted, plain = '', separator] = match;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (separator === '') return fields;
  }
}
