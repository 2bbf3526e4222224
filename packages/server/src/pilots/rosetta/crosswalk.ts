import { canonicalBytes, copyJson, type JsonValue, sha256Hex } from '@tallystick/core';
import { CONCEPT_NAMES, CONCEPTS, type Concept, holds, type Term, termsOf } from './concepts.ts';
import br from './crosswalk/br.json' with { type: 'json' };
import ca from './crosswalk/ca.json' with { type: 'json' };
import eu from './crosswalk/eu.json' with { type: 'json' };
import indian from './crosswalk/in.json' with { type: 'json' };
import instruments from './crosswalk/instruments.json' with { type: 'json' };
import jp from './crosswalk/jp.json' with { type: 'json' };
import sg from './crosswalk/sg.json' with { type: 'json' };
import uk from './crosswalk/uk.json' with { type: 'json' };
import us from './crosswalk/us.json' with { type: 'json' };
import usCa from './crosswalk/us-ca.json' with { type: 'json' };
import usCo from './crosswalk/us-co.json' with { type: 'json' };
import {
  type Entry,
  type Instrument,
  instrumentsSchema,
  type JurisdictionFile,
  jurisdictionSchema,
  type Rule,
} from './crosswalk-schema.ts';
import { OPERATORS } from './requirement.ts';

/** What the data say of themselves. A change of any file is a change of the version. */
const VERSION = '1.0.0';

const FILES = [eu, uk, us, usCa, usCo, ca, br, indian, jp, sg];

export interface Jurisdiction {
  readonly id: string;
  readonly name: string;
  readonly entries: ReadonlyMap<Concept, Entry>;
}

export interface Crosswalk {
  readonly version: string;
  /** `sha256:` and hex over the JCS of `document`. */
  readonly digest: string;
  /** The oldest `as_of` of its entries. */
  readonly asOf: string;
  readonly entries: number;
  /** Number of entries that a person has checked. */
  readonly checkedByPerson: number;
  readonly instruments: ReadonlyMap<string, Instrument>;
  /** In the order in which answers list them. */
  readonly jurisdictions: ReadonlyMap<string, Jurisdiction>;
  /** The whole crosswalk as it is published. */
  readonly document: JsonValue;
}

let loaded: Crosswalk | undefined;

/** The crosswalk of this release, which is checked when it is first used. */
export function crosswalk(): Crosswalk {
  loaded ??= openCrosswalk(FILES, instruments);
  return loaded;
}

/** @throws Error where a file breaks the schema, or names a term, an instrument or a value that does not exist */
export function openCrosswalk(files: readonly unknown[], instrumentFile: unknown): Crosswalk {
  const known = instrumentsSchema.parse(instrumentFile);
  const jurisdictions = files.map((file) => jurisdictionSchema.parse(file));
  const entries = jurisdictions.flatMap((file) => file.entries);
  for (const file of jurisdictions) checkFile(file, known);
  const document = copyJson({ version: VERSION, concepts: CONCEPTS, instruments: known, jurisdictions });
  return {
    version: VERSION,
    digest: `sha256:${sha256Hex(canonicalBytes(document))}`,
    asOf: entries.map((entry) => entry.as_of).sort()[0] ?? '',
    entries: entries.length,
    checkedByPerson: entries.filter((entry) => entry.checked.by_person).length,
    instruments: new Map(Object.entries(known)),
    jurisdictions: new Map(jurisdictions.map((file) => [file.jurisdiction, toJurisdiction(file)])),
    document,
  };
}

function toJurisdiction({ jurisdiction, name, entries }: JurisdictionFile): Jurisdiction {
  return { id: jurisdiction, name, entries: new Map(entries.map((entry) => [entry.concept, entry])) };
}

function checkFile(file: JurisdictionFile, known: Readonly<Record<string, Instrument>>): void {
  const concepts = file.entries.map((entry) => entry.concept);
  if (concepts.join() !== CONCEPT_NAMES.join())
    throw new Error(`The crosswalk of ${file.jurisdiction} does not have each concept once, in order.`);
  for (const entry of file.entries) {
    const fault = faultOf(entry, file.jurisdiction, known);
    if (fault !== null) throw new Error(`The crosswalk, ${file.jurisdiction} ${entry.concept}: ${fault}`);
  }
}

function faultOf(
  { concept, equivalent, citations, rules, confidence, note }: Entry,
  jurisdiction: string,
  known: Readonly<Record<string, Instrument>>,
): string | null {
  for (const citation of citations) {
    const instrument = known[citation.instrument];
    if (instrument === undefined) return `there is no instrument ${citation.instrument}.`;
    if (instrument.jurisdiction !== jurisdiction) return `${citation.instrument} is of another jurisdiction.`;
    if (instrument.year !== citation.year) return `${citation.instrument} is of ${instrument.year}.`;
  }
  if ((equivalent === 'none') !== (rules.length === 0))
    return 'rules are there if and only if there is an equivalent.';
  if ((confidence === 'settled') !== (note === null))
    return 'a note is there if and only if it is not settled.';
  for (const rule of rules) {
    const term = termsOf(concept).get(rule.term);
    if (term === undefined) return `there is no term ${rule.term}.`;
    if (citations[rule.citation] === undefined) return `there is no citation ${rule.citation}.`;
    if (!fits(term, rule)) return `the requirement does not fit the term ${rule.term}.`;
  }
  return null;
}

function fits(term: Term, { require }: Rule): boolean {
  if (require === null) return true;
  if (!OPERATORS[term.kind].some((op) => op === require.op)) return false;
  return [require.value].flat().every((value) => holds(term, value));
}
