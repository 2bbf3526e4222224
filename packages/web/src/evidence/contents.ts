import {
  type BundleVerdict,
  CLOCK_SKEW,
  correctionText,
  type EvidenceFault,
  secondsOf,
  type Witnessed,
  witnessedText,
} from '@tallystick/core';
import { element, fromTemplate, icon } from '../dom.ts';
import { evidenceProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import { counted } from './digit-groups.ts';

/** Most receipts that are named one by one. */
const LISTED = 100;

/** Draws the reason for which a bundle is refused, and the file that it lies in. */
export function placeOf({ reason, path }: EvidenceFault): Node {
  const fine = element('p', 'fine', `${prose.text.reason} `, element('code', '', reason));
  if (path !== null) fine.append(` · ${prose.text.file} `, element('code', '', path));
  return fine;
}

/** Draws the contents of a bundle. */
export function contentsOf(verdict: BundleVerdict): Node {
  const { manifest, receipts, anchored, untrusted, unlogged, completeness } = verdict;
  const { text } = prose;
  const contents = fromTemplate('t-contents', {
    root: verdict.root,
    issuer: manifest.issuer_did,
    tenant: manifest.tenant,
    period: formatText(text.period, manifest.period.from, manifest.period.to),
    exported: manifest.issued_at,
    receipts:
      untrusted === 0 ? counted(receipts) : formatText(text.untrusted, counted(receipts), counted(untrusted)),
    anchored:
      unlogged === 0
        ? formatText(text.anchored, counted(anchored), counted(receipts - anchored))
        : formatText(text.unlogged, counted(anchored), counted(unlogged)),
    metering: counted(verdict.metering),
    purged: formatText(text.purged, counted(verdict.purged), counted(manifest.purged.length)),
    complete: completeness === null ? text.notShown : completenessOf(completeness, manifest.period.to),
    files: counted(verdict.files),
    manifest: verdict.manifestSha256,
  });
  const rows = contents.firstElementChild;
  if (verdict.witnessed !== null) rows?.append(witnessRow(verdict, verdict.witnessed));
  if (verdict.corrections.length > 0) rows?.append(correctionRow(verdict));
  return contents;
}

/** Draws the verdict on the witnesses of all anchored receipts. */
function witnessRow({ unwitnessed, anchored }: BundleVerdict, witnessed: Witnessed): HTMLElement {
  const { text } = prose;
  const most =
    unwitnessed === 0
      ? text.eachWitnessed
      : formatText(text.unwitnessed, counted(unwitnessed), counted(anchored));
  const found = `${most} ${witnessedText(witnessed)}`;
  return element('div', '', element('dt', '', text.witnessed), element('dd', '', found));
}

/** Draws how many receipts are superseded, and each correction: those that are at fault come first. */
function correctionRow({ corrections, superseded }: BundleVerdict): HTMLElement {
  const { text } = prose;
  const faulty = corrections.filter(({ valid }) => !valid);
  const most = formatText(text.superseded, counted(superseded));
  const found =
    faulty.length === 0
      ? most
      : `${most}. ${formatText(text.faulty, counted(faulty.length), counted(corrections.length))}`;
  const lines = [...faulty, ...corrections.filter(({ valid }) => valid)]
    .slice(0, LISTED)
    .map((one) => element('p', 'fine', ...(one.valid ? [] : [icon('fail')]), correctionText(one)));
  return element(
    'div',
    '',
    element('dt', '', text.corrected),
    element('dd', '', element('div', '', found, ...lines)),
  );
}

/** What the heads of the tenant's stream show; every receipt at fault, and every one that is gone, with its hash. */
function completenessOf(completeness: NonNullable<BundleVerdict['completeness']>, to: string): Node {
  const { text } = prose;
  const { complete, first, last, at, absent, faults, uncounted } = completeness;
  const counts = formatText(text.complete, counted(first), counted(last), at, counted(absent.length));
  const isEarly = secondsOf(at) + CLOCK_SKEW < secondsOf(to);
  const list = [
    ...(uncounted > 0 ? [formatText(text.uncounted, counted(uncounted))] : []),
    ...(uncounted === 0 && isEarly ? [formatText(text.uncountedEnd, at, to)] : []),
    ...faults.map(({ detail }) => detail),
    ...absent.map(({ index, sha256, reason }) => formatText(text.absent, counted(index), sha256, reason)),
  ];
  const lines = list.slice(0, LISTED).map((line) => element('p', 'fine', line));
  return element('div', '', complete ? counts : text.incomplete, ...lines);
}
