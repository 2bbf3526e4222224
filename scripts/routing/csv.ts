/** The records of a CSV file with a header (RFC 4180), by column name. */
export function parseCsv(text: string): Record<string, string>[] {
  const [header = [], ...records] = split(text);
  return records.map((record) =>
    Object.fromEntries(header.map((name, index) => [name, record[index] ?? ''])),
  );
}

function split(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  while (field.lastIndex < text.length) {
    const [, quoted, bare = '', end] = field.exec(text) ?? raise(`character ${field.lastIndex}`);
    record.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  return records;
}

function raise(where: string): never {
  throw new Error(`This is not CSV at ${where}.`);
}
