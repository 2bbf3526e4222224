import { TallyError, utf8 } from '@tallystick/core';
import { isSession } from './documents.ts';
import { byId, on, setContents } from './dom.ts';
import { evaluate } from './evaluate.ts';
import { createInput, onDrop, onFile } from './inputs.ts';
import { later } from './later/run.ts';
import { enableSaving } from './save.ts';
import type { SessionDesk } from './sessions/desk.ts';
import { remember, trustAt } from './trust.ts';
import { refusal, showTrust } from './trust-panel.ts';
import { hideOutcome, showFault, showOutcome } from './verdict.ts';
import { formatText, prose } from './words.ts';

enableSaving();
globalThis.tallystickPage = {
  evaluate,
  trustAt,
  refuse(...fault) {
    runs++;
    showFault(...fault);
  },
};

/** Called after the contents of a box have changed: whole if `pasted`. */
function edited(pasted: boolean): unknown {
  const judges = pasted && isReady();
  if (!judges) hideOutcome();
  const policy = beside.policy.bytes();
  // Shown at once, though there may be nothing to judge yet.
  if (policy !== null) later().readPolicy(policy);
  return judges ? verifyNow() : undefined;
}

const receipt = createInput('receipt', edited);
/** Inputs that may come with a receipt. */
const beside = {
  evidence: createInput('evidence', edited),
  anchor: createInput('anchor', edited),
  request: createInput('request', edited),
  response: createInput('response', edited),
  policy: createInput('policy', edited),
};
type Beside = keyof typeof beside;
const kinds = Object.keys(beside) as Beside[];
const asOf = byId('as-of', HTMLInputElement);
const trustBox = byId('trust', HTMLTextAreaElement);
let runs = 0;
/** What is judged instead of the boxes, from the first session on until everything is cleared. */
let sessions: SessionDesk | null = null;

/** Whether there is something to judge: an answer contains its own receipt. */
const isReady = (): boolean => (sessions ?? receipt.bytes() ?? beside.response.bytes()) !== null;

/** Judges the contents of the boxes; of two judgements that overlap, the later one is shown. */
async function verifyNow(): Promise<void> {
  const run = ++runs;
  const times = readTimes();
  if (times === null) return;
  const pasted = receipt.bytes();
  if (pasted !== null && (sessions !== null || isSession(pasted))) {
    receipt.clear();
    return take(pasted, prose.text.pasted);
  }
  const bytes = kinds.map((kind) => [kind, beside[kind].bytes()]);
  const inputs: Record<Beside, Uint8Array | null> = Object.fromEntries(bytes);
  try {
    const trust = await trustAt(times.now);
    if (run !== runs) return;
    showTrust(trust, refresh);
    if (sessions !== null) {
      await sessions.judge({ ...times, trust: trust.issuers }, () => run === runs);
      return;
    }
    const question = { ...times, ...inputs, receipt: pasted, trust };
    const outcome = await evaluate(question);
    if (run !== runs) return;
    if (pasted !== null && (outcome.fault !== null || outcome.verdict.family === null)) {
      const basis = { ...times, trust: trust.issuers, entry: inputs.evidence, isWanted: () => run === runs };
      const found = await later().judgeForeign(pasted, basis);
      if (found === true || run !== runs) return;
      if (found !== false) return showFault(found, 'key');
    }
    showOutcome(outcome, question);
  } catch (error) {
    // An older verdict must not remain on the page.
    showFault({ code: 'internal', message: String(error) }, 'receipt');
    throw error;
  }
}

/** Reads the times to judge by; null after showing what is wrong with one. */
function readTimes(): { now: number; asOf: boolean } | null {
  const text = asOf.value.trim();
  const isChosen = text !== '';
  const now = isChosen ? later().chosenTime(text) : Date.now();
  if (now === null) return null;
  setContents(byId('time-hint'), isChosen ? formatText(prose.text.asOfHint, text) : prose.text.now);
  return { now, asOf: isChosen };
}

/** Draws the trust in use, and the verdict if there is one, again after the trust or the time has changed. */
async function refresh(): Promise<void> {
  if (isReady()) return verifyNow();
  const run = ++runs;
  const times = readTimes();
  if (times === null) return;
  const trust = await trustAt(times.now);
  if (run === runs) showTrust(trust, refresh);
}

async function addTrust(bytes: Uint8Array): Promise<void> {
  const notice = byId('trust-error');
  setContents(notice);
  try {
    await remember(bytes, readTimes()?.now ?? Date.now());
    trustBox.value = '';
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    setContents(notice, refusal(prose.text.bundleRefused, error));
  }
  await refresh();
}

/** Puts a file into the input that it belongs to. */
async function take(bytes: Uint8Array, name: string): Promise<void> {
  const kind = later().kindOf(bytes);
  if (kind === 'trust') return addTrust(bytes);
  if (kind === 'session' || sessions !== null) return takeForSessions(bytes, name, kind === 'session');
  return kind === 'receipt' ? takeReceipt(bytes, name) : takeBeside(kind, bytes, name);
}

/** Judges sessions from now on. A judgement that the next file makes superfluous gives up, so no file waits for one. */
function takeForSessions(bytes: Uint8Array, name: string, isOne: boolean): void {
  sessions ??= later().createSessionDesk();
  if (sessions.take(bytes, name, isOne)) void verifyNow();
}

function takeReceipt(bytes: Uint8Array, name: string): Promise<void> {
  receipt.set(bytes, name);
  return verifyNow();
}

async function takeBeside(kind: Beside, bytes: Uint8Array, name: string): Promise<void> {
  byId(`${kind}-panel`, HTMLDetailsElement).open = true;
  beside[kind].set(bytes, name);
  await edited(true);
}

const desk = byId('desk', HTMLFormElement);
on(desk, 'submit', (event) => {
  event.preventDefault();
  return verifyNow();
});
on(desk, 'reset', () => {
  runs++;
  receipt.clear();
  sessions?.clear();
  sessions = null;
  for (const kind of kinds) beside[kind].clear();
  hideOutcome();
  byId('receipt').focus();
  // The fields are emptied only after this event.
  setTimeout(() => void refresh());
});
desk.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) desk.requestSubmit();
});
for (const input of [asOf, byId('pinned-key')]) on(input, 'change', refresh);
on(byId('trust-add'), 'click', () => addTrust(utf8(trustBox.value)));
onFile('receipt', (bytes, name) => (isSession(bytes) ? take : takeReceipt)(bytes, name));
onFile('session', take);
for (const kind of kinds) onFile(kind, (bytes, name) => takeBeside(kind, bytes, name));
onFile('trust', addTrust);
onDrop(take);
on(byId('run-five'), 'click', () =>
  later().fiveChecks((sample) => takeReceipt(utf8(JSON.stringify(sample, null, 2)), prose.text.sample)),
);
void refresh();
