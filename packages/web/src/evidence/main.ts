import {
  type BundleProgress,
  type ByteSource,
  EvidenceFault,
  verifyBundle,
  type WitnessPolicy,
} from '@tallystick/core';
import { byId, on, setContents } from '../dom.ts';
import { unlinkFromDisk } from '../from-disk.ts';
import { evidenceProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import { counted } from './digit-groups.ts';
import type { PolicyDesk } from './policy-desk.ts';
import { rare, showCard, showFault, showUnreadable, showVerdict } from './verdict.ts';
import { createYielder } from './yield-to-page.ts';

const root = byId('root', HTMLInputElement);
const chooser = byId('bundle-file', HTMLInputElement);
const working = byId('working');
const progress = byId('progress', HTMLProgressElement);
const progressText = byId('done');
const FINGERPRINT = /^sha256:[0-9a-f]{64}$/;
let runs = 0;
/** Shows the result of the newest verification for a known root, or an empty text; null until it has ended. */
let outcome: ((known: string) => void) | null = null;
/** The bundle that is verified, again whenever the policy changes. */
let bundle: File | null = null;
/** The witness policy; null until the reader opens its panel or drops one. */
let policyDesk: PolicyDesk | null = null;

/** Shows the result for the fingerprint that is in the field now: the contents of a bundle do not depend on it. */
function show(): void {
  const known = root.value.trim();
  const isFingerprint = known === '' || FINGERPRINT.test(known);
  root.setCustomValidity(isFingerprint ? '' : prose.text.badRoot);
  root.reportValidity();
  setContents(byId('result'));
  if (isFingerprint) outcome?.(known);
}

/** Verifies the bundle, unless the policy can't be read; stops if another bundle or policy is chosen meanwhile. */
async function verify(): Promise<void> {
  const run = ++runs;
  outcome = null;
  show();
  const policy = policyDesk?.read();
  working.hidden = true;
  if (bundle === null || (policy !== undefined && 'reason' in policy)) return;
  showProgress({ bytes: 0, of: bundle.size, receipts: 0 });
  working.hidden = false;
  const found = await outcomeOf(bundle, policy, () => run === runs);
  if (run !== runs) return;
  working.hidden = true;
  outcome = found;
  show();
}

async function outcomeOf(
  bundle: File,
  witnessPolicy: WitnessPolicy | undefined,
  isWanted: () => boolean,
): Promise<(known: string) => void> {
  const breathe = createYielder();
  try {
    const verdict = await verifyBundle(sourceOf(bundle), {
      now: Date.now(),
      witnessPolicy,
      async progress(done) {
        if (!isWanted()) throw new Error('Another run has begun.');
        if (await breathe()) showProgress(done);
      },
    });
    return (known) => showVerdict(verdict, known);
  } catch (error) {
    return () => (error instanceof EvidenceFault ? showFault(error) : showUnreadable(error));
  }
}

function showProgress({ bytes, of, receipts }: BundleProgress): void {
  // An empty file has no share to show.
  progress.value = bytes / (of || 1);
  setContents(progressText, formatText(prose.text.done, Math.floor((100 * bytes) / of), counted(receipts)));
}

/** Reads a file's bytes where they are needed: it may be larger than the memory. */
function sourceOf(file: File): ByteSource {
  return {
    size: file.size,
    read: async (from, to) => new Uint8Array(await file.slice(from, to).arrayBuffer()),
  };
}

function take(file: File | undefined): Promise<void> | undefined {
  if (file === undefined) return undefined;
  setContents(byId('bundle-source'), formatText(prose.text.source, file.name, counted(file.size)));
  bundle = file;
  return verify();
}

/** Shows why none of the files that were given is verified. */
function refuse(title: string, why: string): void {
  bundle = null;
  setContents(byId('bundle-source'));
  void verify();
  outcome = () => showCard('unknown', title, why, new Text());
  show();
}

const openDesk = (): PolicyDesk => (policyDesk ??= rare().createPolicyDesk(verify));
on(byId('policy-panel'), 'toggle', openDesk);
on(chooser, 'change', async () => {
  await take(chooser.files?.[0]);
  // Without this, the same file could not be chosen again.
  chooser.value = '';
});
on(root, 'change', show);
on(byId('desk'), 'submit', (event) => event.preventDefault());

// The page that built a bundle hands it over, so that nobody has to find it among the downloads.
if (!unlinkFromDisk() && opener !== null) {
  addEventListener('message', ({ origin, data }) => {
    if (origin === location.origin && data instanceof File) void take(data);
  });
  (opener as Window).postMessage('verifier', location.origin);
}

const veil = byId('dropping');
addEventListener('dragover', (event) => {
  if (!event.dataTransfer?.types.includes('Files')) return;
  event.preventDefault();
  veil.hidden = false;
});
addEventListener('dragleave', ({ relatedTarget }) => {
  veil.hidden = relatedTarget === null || veil.hidden;
});
addEventListener('drop', (event) => {
  veil.hidden = true;
  const files = event.dataTransfer?.files;
  if (!files?.length) return;
  event.preventDefault();
  void rare().takeDropped([...files], { take, openDesk, refuse });
});
