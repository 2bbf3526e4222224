import {
  formatTimestamp,
  isObject,
  type JsonValue,
  parseLine,
  parseTimestamp,
  TallyError,
  type Verification,
} from '@tallystick/core';
import type { Command } from 'commander';
import { rpcOption } from './anchor/rpc-option.ts';
import { readAnchor } from './anchor/verify-anchor.ts';
import { type Asked, askNode } from './asking.ts';
import { nameOf, readJson } from './input.ts';
import { readIssuer } from './issuer-record.ts';
import { judge } from './judge.ts';
import { lineOfItem } from './meter/evidence.ts';
import { watchedEvidence } from './meter/progress.ts';
import { asUsage, describe, EXIT, type Exit, print, printJson, remark, UsageError } from './output.ts';
import { trustAdvice } from './trust-advice.ts';
import { rootFingerprintOption, type TrustSources, trustSources } from './trust-sources.ts';
import { invalidInput, verdictLines } from './verdict.ts';

export interface VerifyOptions {
  readonly trust?: string;
  readonly root?: string;
  readonly issuer?: string;
  readonly evidence?: string;
  readonly anchor?: string;
  readonly rpc?: string;
  readonly asOf?: string;
  readonly json?: boolean;
}

/** What a command says of a receipt beside the verdict. */
export interface Addition {
  /** A check of its own, which the verdict then rests on too. */
  readonly check?: Verification['checks'][number];
  /** Lines for a person, below the verdict. */
  readonly lines?: Iterable<string>;
}

/** What the commands that judge a receipt have in common. */
export function verifyOptions(command: Command): Command {
  return trustOptions(command.argument('<file>', 'the receipt: a file, or - for standard input'))
    .option('--anchor <file>', 'its anchored result, as tally anchor writes it')
    .addOption(rpcOption())
    .option(
      '--issuer <file>',
      'the record of an issuer that the bundle does not list, as the service returned it',
    )
    .option('--as-of <time>', 'verify as of this UTC time (YYYY-MM-DDThh:mm:ssZ) instead of now')
    .option('--json', 'the verdict as JSON');
}

/** What the commands that judge by saved bundles have in common. */
export function trustOptions(command: Command): Command {
  return command
    .option(
      '--trust <bundle>',
      'trust only this bundle: a file, or the URL of a service whose bundle is saved',
    )
    .option('--root <fingerprint>', 'accept bundles of this root only (sha256:…)', rootFingerprintOption);
}

/**
 * Judges the receipt in a file and says the verdict.
 * @param add sees a receipt whose verdict is reached
 */
export async function verifyFile(
  file: string,
  options: VerifyOptions,
  add: (receipt: JsonValue, verdict: Verification) => Addition = () => ({}),
): Promise<Exit> {
  const now = timeOf(options.asOf);
  const trust = await trustSources(options.trust, { now, root: options.root });
  const record = await readIssuer(options.issuer);
  const anchor = await readAnchor(options.anchor);
  const receipt = await readReceipt(file, options.json === true);
  if (receipt === undefined) return EXIT.failed;
  const { rpc } = options;
  const { sources } = trust;
  const asked = rpc === undefined ? null : await askNode(receipt, anchor, { rpc, sources });
  const { anchor: chain = null, settlement = null } = asked ?? {};
  const evidence = evidenceFrom(options.evidence);
  const found = await judge(receipt, sources, {
    now,
    record,
    evidence,
    anchor,
    transaction: chain?.transaction,
    settlement: settlement?.transaction,
  });
  const judged = { ...found, verdict: withLine(found.verdict, options.evidence) };
  const { check, lines = [] } = add(receipt, judged.verdict);
  const verdict = check === undefined ? judged.verdict : withCheck(judged.verdict, check);
  const vouchedBy = verdict.issuer.trusted ? judged.vouchedBy : null;
  if (options.json) {
    printJson({ ...verdict, trust: account(trust, vouchedBy), ...nodeAccount(chain, settlement) });
  } else {
    const existedAt = chain?.transaction ? formatTimestamp(chain.transaction.blockTime * 1000) : null;
    for (const line of verdictLines(verdict, { name: nameOf(file), vouchedBy, existedAt })) print(line);
    for (const line of lines) print(line);
  }
  advise(verdict, trust);
  if (anchor !== undefined) adviseOnAnchor(anchor, verdict);
  for (const one of [chain, settlement]) {
    if (!one?.transaction || one.final) continue;
    remark(`The node does not report block ${one.transaction.blockHeight} as final yet: ask again later.`);
  }
  if (!verdict.valid) return EXIT.failed;
  return verdict.issuer.trusted ? EXIT.ok : EXIT.untrusted;
}

function withCheck(verdict: Verification, check: Verification['checks'][number]): Verification {
  const valid = verdict.valid && check.ok !== false;
  const trusted = verdict.issuer.trusted && valid;
  return { ...verdict, valid, issuer: { ...verdict.issuer, trusted }, checks: [...verdict.checks, check] };
}

function advise(verdict: Verification, trust: TrustSources): void {
  for (const { from, reason } of trust.refused) remark(`The saved bundle of ${from} was not used. ${reason}`);
  const { integrity, issuer } = verdict;
  const advice = integrity && !issuer.trusted ? trustAdvice(issuer, trust) : null;
  if (advice !== null) remark(advice);
}

/** An anchor that was given but could not be judged makes no verdict worse, so that it is easily overlooked. */
function adviseOnAnchor(anchor: JsonValue, { valid, checks }: Verification): void {
  const named = (name: string) => checks.find((check) => check.name === name);
  const open = [named('anchor'), named('anchor_checkpoint')].find((check) => check?.ok === null);
  if (!valid || open === undefined || named('anchor_transaction')?.ok === true) return;
  const fetch =
    open.name === 'anchor_checkpoint' && isObject(anchor) && anchor.checkpoint !== undefined
      ? ' Fetch the trust of the service that anchored it: tally trust fetch <url>'
      : '';
  remark(`The anchor proves nothing so far. ${open.detail}${fetch}`);
}

/** The receipt, or undefined after having said why there is none. What is not JSON is no receipt, so not valid. */
async function readReceipt(file: string, json: boolean): Promise<JsonValue | undefined> {
  try {
    return await readJson(file);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    if (json) printJson({ valid: false, error: describe(error) });
    else print(invalidInput(error.message));
    return undefined;
  }
}

/** Trouble with the evidence file is not the receipt's fault. */
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

/** The verdict whose check of the evidence names the line of the file in place of the item's index. */
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

/** By what was asked about: the anchor as `chain`, the settlement under its name. */
function nodeAccount(chain: Asked['anchor'], settlement: Asked['settlement']) {
  return {
    ...(chain && { chain: chainAccount(chain) }),
    ...(settlement && { settlement: chainAccount(settlement) }),
  };
}

function chainAccount({ chainId, transaction, final }: NonNullable<Asked['anchor' | 'settlement']>) {
  return {
    chain_id: chainId,
    block_height: transaction?.blockHeight ?? null,
    block_final: transaction === null ? null : final,
  };
}

function timeOf(asOf: string | undefined): number {
  if (asOf === undefined) return Date.now();
  const instant = parseTimestamp(asOf);
  if (instant === null) throw new UsageError('--as-of takes a UTC time such as 2027-01-31T12:00:00Z.');
  return instant.seconds * 1000;
}
