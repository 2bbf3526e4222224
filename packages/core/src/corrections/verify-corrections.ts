import type { JsonValue } from '../json/types.ts';
import { orNull } from '../or-null.ts';
import { type Verification, type VerifyOptions, verify } from '../verify.ts';
import { isForCorrection, nameOf, readCorrection } from './correction.ts';
import type { Correction, NamedReceipt } from './correction-shape.ts';

/**
 * What was found of a receipt that a correction names. `other_signer`: it is valid, but nothing shows that the issuer of the
 * correction issued it.
 */
export type CorrectedState = 'valid' | 'not_given' | 'contradicts' | 'other_signer';

/** A receipt that a correction names, and what was found of it. */
export interface CorrectedReceipt extends NamedReceipt {
  readonly state: CorrectedState;
}

/** The verdict on one envelope that says that a receipt corrects another. Neither receipt's own verdict changes by it. */
export interface CorrectionVerdict {
  /** Id of that envelope. */
  readonly receipt_id: string;
  /** Whether it is valid, is about the receipts that are given, and nothing given contradicts it. */
  readonly valid: boolean;
  /** Whether it is valid, and its issuer trusted. */
  readonly trusted: boolean;
  /** The receipt that is superseded. */
  readonly corrects: CorrectedReceipt;
  /** The receipt that supersedes it. */
  readonly correction: CorrectedReceipt;
  readonly reason: string | null;
  /** What is wrong, in sentences. */
  readonly faults: readonly string[];
}

type Options = Pick<VerifyOptions, 'now' | 'trust' | 'engine'>;

/** A receipt and the verdict on it. */
export interface JudgedReceipt {
  readonly name: NamedReceipt;
  readonly verdict: Pick<Verification, 'valid' | 'integrity' | 'issuer' | 'checks'>;
}

/** An envelope that links two receipts, the verdict on it, and what it says. */
export interface JudgedLink extends JudgedReceipt {
  readonly says: Correction;
  /** Whether the envelope is for that alone, as `isForCorrection` has it. */
  readonly isForCorrection: boolean;
}

/**
 * Finds which of the given receipts correct which (spec/corrections.md), in the order in which the corrections are given. Never
 * throws for a document that is plain JSON.
 * @param documents receipts, and the envelopes that link them, in any order
 */
export async function verifyCorrections(
  documents: Iterable<JsonValue>,
  options: Options,
): Promise<CorrectionVerdict[]> {
  const given: JudgedReceipt[] = [];
  const links: JudgedLink[] = [];
  for (const document of documents) {
    const name = orNull(() => nameOf(document));
    if (name === null) continue;
    const verdict = await verify(document, options);
    const says = readCorrection(document);
    if (says === null) given.push({ name, verdict });
    else links.push({ name, verdict, says, isForCorrection: isForCorrection(document) });
  }
  return judgeCorrections(links, given);
}

/** As `verifyCorrections`, of documents that were judged already. */
export function judgeCorrections(
  links: readonly JudgedLink[],
  given: Iterable<JudgedReceipt>,
): CorrectionVerdict[] {
  if (links.length === 0) return [];
  const receipts = new ReceiptsByName(given, links);
  const conflicts = new Conflicts(links);
  return links.map((link) => {
    const { name, verdict, says } = link;
    const [corrects, correction] = [receipts.find(says.corrects, link), receipts.find(says.correction, link)];
    const faults = [
      ...(verdict.valid ? [] : [verdict.checks.find(({ ok }) => ok === false)?.detail ?? 'It is not valid.']),
      ...(link.isForCorrection ? [] : ['Its purpose is not correction, or it has hashes of its own.']),
      ...(isEnvelope(corrects) === isEnvelope(correction)
        ? []
        : ['An envelope and a metering receipt do not correct each other.']),
      ...[corrects, correction].flatMap(faultOf),
      ...conflicts.of(link),
    ];
    const valid = faults.length === 0;
    return {
      receipt_id: name.receipt_id,
      valid,
      trusted: valid && verdict.issuer.trusted,
      corrects,
      correction,
      reason: says.reason,
      faults,
    };
  });
}

/** Whether a receipt is an envelope, and no metering receipt, as its id says. */
const isEnvelope = ({ receipt_id }: NamedReceipt): boolean => receipt_id.startsWith('r_env_');

/** The receipts that are given, by what a link calls them. */
class ReceiptsByName {
  readonly #byHash = new Map<string, JudgedReceipt>();
  readonly #intactIds = new Set<string>();
  /** Hashes of the links, which are no receipts that can be corrected. */
  readonly #links: ReadonlySet<string>;

  constructor(given: Iterable<JudgedReceipt>, links: readonly JudgedLink[]) {
    this.#links = new Set(links.map(({ name }) => name.receipt_sha256));
    for (const one of given) {
      const { receipt_id, receipt_sha256 } = one.name;
      if (!this.#byHash.has(receipt_sha256)) this.#byHash.set(receipt_sha256, one);
      if (one.verdict.integrity) this.#intactIds.add(receipt_id);
    }
  }

  find(named: NamedReceipt, link: JudgedLink): CorrectedReceipt {
    // A link may hold members that nobody knows; the verdict repeats none of them.
    const { receipt_id, receipt_sha256 } = named;
    return { receipt_id, receipt_sha256, state: this.#stateOf(named, link) };
  }

  #stateOf({ receipt_id, receipt_sha256 }: NamedReceipt, link: JudgedLink): CorrectedState {
    if (this.#links.has(receipt_sha256)) return 'contradicts';
    const found = this.#byHash.get(receipt_sha256);
    if (found === undefined) return this.#intactIds.has(receipt_id) ? 'contradicts' : 'not_given';
    if (found.name.receipt_id !== receipt_id || !found.verdict.valid) return 'contradicts';
    return isSameIssuer(found, link) ? 'valid' : 'other_signer';
  }
}

/** One key signed both, or the trust given says that both keys are of one issuer. */
function isSameIssuer({ verdict: { issuer: a } }: JudgedReceipt, { verdict: { issuer: b } }: JudgedReceipt) {
  if (a.key_id !== null && a.key_id === b.key_id) return true;
  const isKnown = [a, b].every(({ status }) => status === 'verified' || status === 'registered');
  return isKnown && a.did !== null && a.did === b.did;
}

function faultOf({ receipt_id, state }: CorrectedReceipt): string[] {
  if (state === 'contradicts') return [`The receipt given as ${receipt_id} is another one, or is not valid.`];
  if (state !== 'other_signer') return [];
  return [`Nothing shows that the issuer of ${receipt_id} signed this.`];
}

/** The links of one issuer about one receipt: the first, and the first one that names another correction than that. */
interface Said {
  readonly first: JudgedLink;
  other?: JudgedLink;
}

/** What an issuer says otherwise than in a link: that another receipt corrects the same one, or the one the other in a circle. */
class Conflicts {
  readonly #said = new Map<string, Said>();
  readonly #circles: ReadonlyMap<string, string>;
  readonly #signers: Signers;

  /** Takes the valid ones of these links. */
  constructor(links: readonly JudgedLink[]) {
    this.#signers = new Signers(links);
    const edges = new Map<string, string[]>();
    for (const link of links) {
      if (!link.verdict.valid) continue;
      const [from, to] = this.#endsOf(link);
      const said = this.#said.get(from);
      if (said === undefined) this.#said.set(from, { first: link });
      else if (this.#endsOf(said.first)[1] !== to) said.other ??= link;
      const next = edges.get(from);
      if (next === undefined) edges.set(from, [to]);
      else next.push(to);
    }
    this.#circles = circlesOf(edges);
  }

  of(link: JudgedLink): string[] {
    const [from, to] = this.#endsOf(link);
    const { corrects } = link.says;
    const { first, other } = this.#said.get(from) ?? {};
    const another = first !== undefined && this.#endsOf(first)[1] !== to ? first : other;
    const circle = this.#circles.get(from);
    return [
      ...(another === undefined
        ? []
        : [`${another.name.receipt_id} names another correction of ${corrects.receipt_id}.`]),
      ...(from === to || (circle !== undefined && circle === this.#circles.get(to))
        ? [`In a circle, ${corrects.receipt_id} corrects what corrects it.`]
        : []),
    ];
  }

  /** The receipt that is superseded and the one that supersedes it, each with the issuer who says so. */
  #endsOf(link: JudgedLink): [from: string, to: string] {
    const who = this.#signers.nameOf(link);
    return [`${who} ${link.says.corrects.receipt_sha256}`, `${who} ${link.says.correction.receipt_sha256}`];
  }
}

/** Who signed links: one issuer has several names, by its keys and by the DIDs that the trust given knows as theirs. */
class Signers {
  /** Another name of the same issuer, by name; none for the one that stands for all. */
  readonly #others = new Map<string, string>();

  constructor(links: readonly JudgedLink[]) {
    for (const link of links) {
      const [name, ...more] = namesOf(link).map((one) => this.#standing(one));
      for (const other of more) if (name !== undefined && name !== other) this.#others.set(other, name);
    }
  }

  /** The name that stands for all of whoever signed a link. */
  nameOf(link: JudgedLink): string {
    return this.#standing(namesOf(link)[0] ?? '');
  }

  #standing(name: string): string {
    let last = name;
    for (let next = this.#others.get(last); next !== undefined; next = this.#others.get(last)) last = next;
    // Each name on the way leads straight to the last from now on: long ways are gone once.
    for (let one = name; one !== last; ) {
      const next = this.#others.get(one) ?? last;
      this.#others.set(one, last);
      one = next;
    }
    return last;
  }
}

function namesOf({ verdict: { issuer } }: JudgedLink): string[] {
  const { status, did, key_id } = issuer;
  const isKnown = status === 'verified' || status === 'registered';
  return [...(key_id === null ? [] : [`key ${key_id}`]), ...(isKnown && did !== null ? [`DID ${did}`] : [])];
}

/** Gives nodes one name if each can be reached from the other: Kosaraju's algorithm, in linear time. */
function circlesOf(edges: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, string> {
  const seen = new Set<string>();
  const left: string[] = [];
  const back = new Map<string, string[]>();
  for (const start of edges.keys()) {
    const stack: [node: string, isLeft: boolean][] = [[start, false]];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      const [node, isLeft] = top;
      if (isLeft) left.push(node);
      if (isLeft || seen.has(node)) continue;
      seen.add(node);
      stack.push([node, true]);
      for (const next of edges.get(node) ?? []) {
        const before = back.get(next);
        if (before === undefined) back.set(next, [node]);
        else before.push(node);
        stack.push([next, false]);
      }
    }
  }
  const names = new Map<string, string>();
  for (const name of left.toReversed()) {
    const stack = [name];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (names.has(node)) continue;
      names.set(node, name);
      for (const before of back.get(node) ?? []) stack.push(before);
    }
  }
  return names;
}
