import { type ByteSource, EvidenceFault, verifyBundle } from '@tallystick/core';
import { byId, on, put } from '../dom.ts';
import { say } from '../words.ts';
import { prose } from './prose.ts';
import { showFault, showUnreadable, showVerdict } from './verdict.ts';

const root = byId('root', HTMLInputElement);
const chooser = byId('bundle-file', HTMLInputElement);
const working = byId('working');
const progress = byId('progress', HTMLProgressElement);
const FINGERPRINT = /^sha256:[0-9a-f]{64}$/;
let bundle: File | null = null;
let runs = 0;

/** Verifies the chosen bundle; of two runs that overlap the later one is shown. */
async function verify(): Promise<void> {
  const known = root.value.trim();
  const isFingerprint = known === '' || FINGERPRINT.test(known);
  root.setCustomValidity(isFingerprint ? '' : prose.text.badRoot);
  root.reportValidity();
  put(byId('result'));
  const run = ++runs;
  if (bundle === null || !isFingerprint) return;
  working.hidden = false;
  try {
    const verdict = await verifyBundle(sourceOf(bundle), {
      now: Date.now(),
      roots: known === '' ? [] : [known],
      progress(bytes, of) {
        if (run === runs) progress.value = bytes / of;
      },
    });
    if (run === runs) showVerdict(verdict, known);
  } catch (error) {
    if (run !== runs) return;
    if (error instanceof EvidenceFault) showFault(error);
    else showUnreadable(error);
  } finally {
    if (run === runs) working.hidden = true;
  }
}

/** A file's bytes, read where they are asked for: it may be larger than the memory. */
function sourceOf(file: File): ByteSource {
  return {
    size: file.size,
    read: async (from, to) => new Uint8Array(await file.slice(from, to).arrayBuffer()),
  };
}

function take(file: File | undefined): Promise<void> | undefined {
  if (file === undefined) return undefined;
  bundle = file;
  put(byId('bundle-source'), say(prose.text.source, file.name, file.size));
  return verify();
}

on(chooser, 'change', async () => {
  await take(chooser.files?.[0]);
  // The same file may be chosen again.
  chooser.value = '';
});
on(root, 'change', verify);
on(byId('desk'), 'submit', (event) => event.preventDefault());

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
