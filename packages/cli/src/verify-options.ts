import {
  familyOf,
  formatTimestamp,
  type IssuerRecord,
  isObject,
  type JsonValue,
  parseLine,
  parseTimestamp,
  TallyError,
  type Verification,
  type WitnessPolicy,
} from '@tallystick/core';
import type { Command } from 'commander';
import { rpcOption } from './anchor/rpc-option.ts';
import { readAnchor } from './anchor/verify-anchor.ts';
import { askNode, type NodeAnswers } from './ask-node.ts';
import { printCorrections } from './corrections.ts';
import { evaluate } from './evaluate.ts';
import { judgeForeign, readEntry, readKeys, withPins } from './foreign.ts';
import { foreignHeadline, foreignLines } from './foreign-verdict.ts';
import { nameOf, parseNamed, readBytes } from './input.ts';
import { readIssuer } from './issuer-record.ts';
import { keepHeads } from './log/seen-heads.ts';
import { lineOfItem } from './meter/evidence.ts';
import { watchedEvidence } from './meter/progress.ts';
import {
  asUsage,
  describe,
  EXIT,
  type Exit,
  explain,
  print,
  printJson,
  remark,
  UsageError,
} from './output.ts';
import { printable } from './printable.ts';
import { trustAdvice } from './trust-advice.ts';
import { rootFingerprintOption, type TrustSources, trustSources } from './trust-sources.ts';
import { headlineOf, invalidInput, verdictLines } from './verdict.ts';
import { readWitnessPolicy, witnessPolicyOption } from './witness-policy.ts';

export interface VerifyOptions {
  readonly trust?: string;
  readonly root?: string;
  readonly issuer?: string;
  readonly evidence?: string;
  readonly anchor?: string;
  readonly rpc?: string;
  readonly key?: readonly string[];
  readonly entry?: string;
  readonly witnessPolicy?: string;
  readonly asOf?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

/** What a command adds about a receipt to the verdict. */
export interface Addition {
  /** Further checks, on which the verdict then depends too. */
  readonly checks?: Verification['checks'];
  /** Lines for a person, printed below the verdict. */
  readonly lines?: Iterable<string>;
}

/** Adds the options that all commands which judge a receipt have. */
export function verifyOptions(command: Command): Command {
  return witnessPolicyOption(trustOptions(command))
    .option('--anchor <file>', 'its anchored result, as tally anchor writes it')
    .addOption(rpcOption())
    .option(
      '--issuer <file>',
      'the record of an issuer that the bundle does not list, as the service returned it',
    )
    .option('--as-of <time>', 'verify as of this UTC time (YYYY-MM-DDThh:mm:ssZ) instead of now')
    .option('--json', 'the verdict as JSON');
}

/** Adds the options that all commands which judge by saved bundles have. */
export function trustOptions(command: Command): Command {
  return command
    .option(
      '--trust <bundle>',
      'trust only this bundle: a file, or the URL of a service whose bundle is saved',
    )
    .option('--root <fingerprint>', 'accept bundles of this root only (sha256:…)', rootFingerprintOption);
}

/** Called with a receipt and its verdict. */
export type Add = (receipt: JsonValue, verdict: Verification) => Addition;

const NOTHING: Add = () => ({});

/** A receipt that was read already, and the name of its input. */
export interface ParsedReceipt {
  readonly name: string;
  readonly json: JsonValue;
}

function inputName(file: string | ParsedReceipt): string {
  return typeof file === 'string' ? nameOf(file) : file.name;
}

/** Judges a receipt, in a file or parsed, and prints the verdict. */
export async function verifyFile(
  file: string | ParsedReceipt,
  options: VerifyOptions,
  add: Add = NOTHING,
): Promise<Exit> {
  const judged = await verifyOneFile(file, await basisOf(options), add);
  if (options.json) printJson(judged.document);
  else for (const line of judged.lines()) print(line);
  for (const text of judged.remarks) remark(text);
  return judged.exit;
}

/** Exit codes from the best to the worst. */
const SEVERITY: readonly Exit[] = [EXIT.ok, EXIT.untrusted, EXIT.usage, EXIT.failed];

/**
 * Judges the receipts in files and prints one line for each, and for each correction among them: its verdict, or with `json` what `verifyFile` prints, and with
 * `quiet` nothing for those that are valid and trusted. A file that can't be read does not stop the others.
 * @returns the worst exit code of the files, where not valid is worse than not readable
 */
export async function verifyFiles(
  files: readonly (string | ParsedReceipt)[],
  options: VerifyOptions,
  add: Add = NOTHING,
): Promise<Exit> {
  const basis = await basisOf(options);
  const printed = new Set<string>();
  let worst: Exit = EXIT.ok;
  const receipts: JsonValue[] = [];
  const noting: Add = (receipt, verdict) => {
    receipts.push(receipt);
    return add(receipt, verdict);
  };
  for (const file of files) {
    const exit = await verifyBriefly(file, basis, noting, printed);
    if (SEVERITY.indexOf(exit) > SEVERITY.indexOf(worst)) worst = exit;
  }
  return (await printCorrections(receipts, basis)) ? worst : EXIT.failed;
}

async function verifyBriefly(
  file: string | ParsedReceipt,
  basis: Basis,
  add: Add,
  printed: Set<string>,
): Promise<Exit> {
  const { json = false, quiet = false } = basis.options;
  const name = typeof file === 'string' ? file : file.name;
  try {
    const { exit, document, headline, remarks } = await verifyOneFile(file, basis, add);
    if (quiet && exit === EXIT.ok) return exit;
    print(json ? JSON.stringify({ file: name, ...document }) : `${printable(inputName(file))}: ${headline}`);
    for (const text of remarks.filter((one) => !printed.has(one))) {
      printed.add(text);
      remark(text);
    }
    return exit;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    if (!json) return explain(error, false);
    print(JSON.stringify({ file: name, error: describe(error) }));
    return EXIT.usage;
  }
}

/** What all receipts of a command are judged by. */
interface Basis {
  readonly options: VerifyOptions;
  readonly now: number;
  readonly trust: TrustSources;
  readonly record: IssuerRecord | undefined;
  readonly anchor: JsonValue | undefined;
  /** Keys that are trusted, as texts. */
  readonly keys: readonly string[];
  readonly entry: Uint8Array | undefined;
  readonly witnessPolicy: WitnessPolicy | undefined;
}

async function basisOf(options: VerifyOptions): Promise<Basis> {
  const now = timeOf(options.asOf);
  const trust = await trustSources(options.trust, { now, root: options.root });
  const record = await readIssuer(options.issuer);
  const [keys, entry] = [await readKeys(options.key ?? []), await readEntry(options.entry)];
  const witnessPolicy = await readWitnessPolicy(options.witnessPolicy);
  const anchor = await readAnchor(options.anchor);
  return { options, now, trust, record, anchor, keys, entry, witnessPolicy };
}

/** Result for a file, to be printed at length or in one line. */
interface FileVerdict {
  readonly exit: Exit;
  /** The result as `--json` prints it. */
  readonly document: object;
  readonly headline: string;
  readonly lines: () => Iterable<string>;
  readonly remarks: readonly string[];
}

/** Judges the receipt in a file. @throws UsageError if it, or another input, can't be read */
async function verifyOneFile(file: string | ParsedReceipt, basis: Basis, add: Add): Promise<FileVerdict> {
  const receipt = typeof file === 'string' ? await readReceipt(file) : file;
  const foreign = await foreignVerdict(receipt, basis);
  if (foreign !== null) return foreign;
  if ('error' in receipt) return noReceipt(receipt.error);
  const { options, now, trust, record, anchor, witnessPolicy } = basis;
  const { rpc } = options;
  const requests =
    rpc === undefined ? null : await askNode(receipt.json, anchor, { rpc, sources: trust.sources });
  const { anchor: chain = null, settlement = null } = requests ?? {};
  const found = await evaluate(receipt.json, trust.sources, {
    now,
    record,
    evidence: evidenceFrom(options.evidence),
    anchor,
    transaction: chain?.transaction,
    settlement: settlement?.transaction,
    witnessPolicy,
  });
  if (found.verdict.checks.some(({ name, ok }) => name === 'anchor_checkpoint' && ok === true))
    await keepHeads([anchor, receipt.json], trust.sources);
  const pinned = await withPins(found.verdict, basis.keys);
  const judged = { ...found, verdict: withLine(pinned, options.evidence) };
  const { checks = [], lines = [] } = add(receipt.json, judged.verdict);
  const verdict = withChecks(judged.verdict, checks);
  const vouchedBy = verdict.issuer.trusted ? judged.vouchedBy : null;
  const existedAt = chain?.transaction ? formatTimestamp(chain.transaction.blockTime * 1000) : null;
  return {
    exit: exitOf(verdict),
    document: { ...verdict, trust: account(trust, vouchedBy), ...nodeAccount(chain, settlement) },
    headline: headlineOf(verdict, 'This'),
    lines: function* () {
      yield* verdictLines(verdict, { name: inputName(file), vouchedBy, existedAt });
      yield* lines;
    },
    remarks: [
      ...trustRemarks(verdict, trust),
      ...(anchor === undefined ? [] : anchorRemarks(anchor, verdict)),
      ...[chain, settlement].flatMap(finalityRemarks),
    ],
  };
}

/** Trusted, and witnessed if the user gave a policy, or else intact; or not valid. */
function exitOf({ valid, issuer, witnessed }: Verification): Exit {
  if (!valid) return EXIT.failed;
  return issuer.trusted && witnessed?.satisfied !== false ? EXIT.ok : EXIT.untrusted;
}

/** The result for a file that is not JSON: it is no receipt, so it is not valid. */
function noReceipt(error: TallyError): FileVerdict {
  const headline = invalidInput(error.message);
  return {
    exit: EXIT.failed,
    document: { valid: false, error: describe(error) },
    headline,
    lines: () => [headline],
    remarks: [],
  };
}

function finalityRemarks(answer: NodeAnswers['anchor' | 'settlement']): string[] {
  if (!answer?.transaction || answer.final) return [];
  return [`The node does not call block ${answer.transaction.blockHeight} final yet: ask again later.`];
}

function withChecks(verdict: Verification, checks: Verification['checks']): Verification {
  const valid = verdict.valid && checks.every(({ ok }) => ok !== false);
  const trusted = verdict.issuer.trusted && valid;
  return {
    ...verdict,
    valid,
    issuer: { ...verdict.issuer, trusted },
    checks: [...verdict.checks, ...checks],
  };
}

function trustRemarks({ integrity, issuer }: Verification, trust: TrustSources): string[] {
  const advice = integrity && !issuer.trusted ? trustAdvice(issuer, trust) : null;
  return [
    ...trust.refused.map(({ from, reason }) => `The saved bundle of ${from} was not used. ${reason}`),
    ...(advice === null ? [] : [advice]),
  ];
}

/** Remarks on an anchor that was given but could not be judged: the verdict alone would not show that. */
function anchorRemarks(anchor: JsonValue, { valid, checks }: Verification): string[] {
  const named = (name: string) => checks.find((check) => check.name === name);
  const open = [named('anchor'), named('anchor_checkpoint')].find((check) => check?.ok === null);
  if (!valid || open === undefined || named('anchor_transaction')?.ok === true) return [];
  const fetch =
    open.name === 'anchor_checkpoint' && isObject(anchor) && anchor.checkpoint !== undefined
      ? ' Fetch the trust of the service that anchored it: tally trust fetch <url>'
      : '';
  return [`The anchor proves nothing so far. ${open.detail}${fetch}`];
}

/** An input as it was read: the JSON in it, or why it has none, and its bytes if they were read here. */
type ReadInput =
  | { readonly json: JsonValue; readonly bytes?: Uint8Array }
  | { readonly error: TallyError; readonly bytes?: Uint8Array };

async function readReceipt(file: string): Promise<ReadInput> {
  let bytes: Uint8Array | undefined;
  try {
    bytes = await readBytes(file);
    return { json: parseNamed(bytes, nameOf(file)), bytes };
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    return bytes === undefined ? { error } : { error, bytes };
  }
}

/** The result for a file of foreign receipts; null for any other. @throws UsageError for options that can't apply to them */
async function foreignVerdict(input: ReadInput, basis: Basis): Promise<FileVerdict | null> {
  const isOurs = 'json' in input && isObject(input.json) && familyOf(input.json) !== null;
  if (isOurs || input.bytes === undefined) return null;
  const judged = await judgeForeign(input.bytes, { ...basis, sources: basis.trust.sources });
  if (judged === null) return null;
  const { verdict, vouchedBy } = judged;
  const unfit = (['anchor', 'evidence', 'rpc', 'issuer', 'witnessPolicy'] as const).find(
    (name) => basis.options[name] !== undefined,
  );
  if (unfit !== undefined)
    throw new UsageError(
      `--${unfit === 'witnessPolicy' ? 'witness-policy' : unfit} does not apply to receipts of other makers (${verdict.family}).`,
    );
  return {
    exit: verdict.valid ? (verdict.issuer.trusted ? EXIT.ok : EXIT.untrusted) : EXIT.failed,
    document: { ...verdict, trust: account(basis.trust, vouchedBy) },
    headline: foreignHeadline(verdict),
    lines: () => foreignLines(verdict),
    remarks: basis.trust.refused.map(
      ({ from, reason }) => `The saved bundle of ${from} was not used. ${reason}`,
    ),
  };
}

/** Reads the evidence file. An error in it is no fault of the receipt. */
function evidenceFrom(path: string | undefined): (() => Iterable<JsonValue>) | undefined {
  if (path === undefined) return undefined;
  return function* leaves() {
    try {
      for (const { number, json } of watchedEvidence(path)) yield parseLine(json, `${path}, line ${number}`);
    } catch (error) {
      throw asUsage(error);
    }
  };
}

/** The verdict with the line of the file, in place of the item's index, in the check of the evidence. */
function withLine(verdict: Verification, path: string | undefined): Verification {
  if (path === undefined) return verdict;
  const checks = verdict.checks.map((check) => {
    const [item, index] = (check.name === 'evidence' && /^evidence\[(\d+)\]/.exec(check.detail)) || [];
    const number = index === undefined ? null : lineOfItem(path, Number(index));
    if (item === undefined || number === null) return check;
    return { ...check, detail: `${path}, line ${number}${check.detail.slice(item.length)}` };
  });
  return { ...verdict, checks };
}

function account({ sources, refused }: TrustSources, vouchedBy: string | null) {
  const bundles = sources.map(({ from, root, bundle }) => ({
    from,
    root,
    version: bundle.version,
    issued_at: bundle.issued_at,
    expires_at: bundle.expires_at,
  }));
  return { vouched_by: vouchedBy, bundles, refused };
}

/** Members of the JSON about the node's answers: the anchor as `chain`, the settlement under its name. */
function nodeAccount(chain: NodeAnswers['anchor'], settlement: NodeAnswers['settlement']) {
  return {
    ...(chain && { chain: chainAccount(chain) }),
    ...(settlement && { settlement: chainAccount(settlement) }),
  };
}

function chainAccount({ chainId, transaction, final }: NonNullable<NodeAnswers['anchor' | 'settlement']>) {
  return {
    chain_id: chainId,
    block_height: transaction?.blockHeight ?? null,
    block_final: transaction === null ? null : final,
  };
}

export function timeOf(asOf: string | undefined): number {
  if (asOf === undefined) return Date.now();
  const instant = parseTimestamp(asOf);
  if (instant === null) throw new UsageError('--as-of takes a UTC time such as 2027-01-31T12:00:00Z.');
  return instant.seconds * 1000;
}
