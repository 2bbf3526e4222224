import type { Kind } from '../blocks/kind.ts';
import { decodeAliases } from '../lossless/aliases.ts';
import { decodeLossless, type LosslessMethod, tableForm } from '../lossless/lossless.ts';
import { hasTables, tableHead } from '../lossless/tables-decode.ts';
import { decodeUnquoted } from '../lossless/unquoted.ts';
import { jsonUnits } from './json-units.ts';
import { lineSpans, plain, type Unit } from './spans.ts';

interface Written {
  readonly form: Kind | LosslessMethod;
  readonly text: string;
}

/**
 * The forms in which packed JSON may be cut: with tables if it has any, but without aliases, which would hide words from the ranking, and with quotation marks;
 * and as a single table or without whitespace, which have less that is never cut.
 */
export function cuttableForms(kind: Kind, method: 'json-packed' | 'jsonl-packed', text: string): Written[] {
  const whole = decodeUnquoted(decodeAliases(text));
  if (!hasTables(whole)) return [{ form: kind === 'jsonl' ? 'json' : kind, text: whole }];
  const json = decodeLossless({ method, text: whole }) ?? '';
  const table = tableForm(method === 'jsonl-packed' ? 'jsonl' : 'json', json);
  return [
    { form: method, text: whole },
    table === undefined ? { form: kind, text: json } : { form: table.method, text: table.text },
  ];
}

/** Units of JSON with tables: the rows, and those of the JSON that the tables belong to. */
export function packedUnits(text: string): Unit[] {
  let rows = 0;
  return lineSpans(text).flatMap((line, i): Unit[] => {
    const content = text.slice(line.start, line.end);
    if (i === 1) return bodyUnits(content, line.start);
    if (rows-- > 0) return [plain(line)];
    rows = Number(tableHead.exec(content)?.[2] ?? 0);
    return [{ ...line, heading: false, fixed: true }];
  });
}

/** Units of JSON in which tables stand, which are read as numbers. */
function bodyUnits(body: string, offset: number): Unit[] {
  const json = body.replaceAll(/.table\d+./g, (place) => '0'.repeat(place.length));
  return jsonUnits(json).map((unit) => ({ ...unit, start: unit.start + offset, end: unit.end + offset }));
}
