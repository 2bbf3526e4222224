/**
 * The fields of one line of CSV (RFC 4180), or null for a misplaced quotation mark. Fields of several lines are
 * not supported: their first line has an open quotation mark.
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
