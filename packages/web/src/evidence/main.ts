import { type BundleProgress, type ByteSource, EvidenceFault, verifyBundle } from '@tallystick/core';
import { byId, on, setContents } from '../dom.ts';
import { unlinkFromDisk } from '../from-disk.ts';
import { evidenceProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import { counted } from './digit-groups.ts';
import { showFault, showUnreadable, showVerdict } from './verdict.ts';
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

/** Shows the result for the fingerprint that is in the field now: the contents of a bundle do not depend on it. */
function show(): void {
  const known = root.value.trim();
  const isFingerprint = known === '' || FINGERPRINT.test(known);
  root.setCustomValidity(isFingerprint ? '' : prose.text.badRoot);
  root.reportValidity();
  setContents(byId('result'));
  if (isFingerprint) outcome?.(known);
}

/** Verifies a bundle; stops if another bundle is chosen meanwhile. */
async function verify(bundle: File): Promise<void> {
  const run = ++runs;
  outcome = null;
  show();
  showProgress({ bytes: 0, of: bundle.size, receipts: 0 });
  working.hidden = false;
  const found = await outcomeOf(bundle, () => run === runs);
  if (run !== runs) return;
  working.hidden = true;
  outcome = found;
  show();
}

async function outcomeOf(bundle: File, isWanted: () => boolean): Promise<(known: string) => void> {
  const breathe = createYielder();
  try {
    const verdict = await verifyBundle(sourceOf(bundle), {
      now: Date.now(),
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
  progress.value = bytes / of;
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
  return verify(file);
}

on(chooser, 'change', async () => {
  await take(chooser.files?.[0]);
  // Without this, the same file could not be chosen again.
  chooser.value = '';
});
on(root, 'change', show);
on(byId('desk'), 'submit', (event) => event.preventDefault());

unlinkFromDisk();

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
  const file = event.dataTransfer?.files[0];
  if (file === undefined) return;
  event.preventDefault();
  void take(file);
});
