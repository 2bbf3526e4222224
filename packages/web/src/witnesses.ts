import {
  PolicyFault,
  parseWitnessPolicy,
  type Witnessed,
  type WitnessPolicy,
  witnessedText,
} from '@tallystick/core';
import { announce, byId, element, icon } from './dom.ts';
import { prose } from './words.ts';

/**
 * Reads the reader's witness policy. What is wrong with it, with the number of the line, and keys in it that never count are shown
 * beside its box.
 */
export function readPolicy(bytes: Uint8Array): WitnessPolicy | PolicyFault {
  const note = byId('policy-source');
  for (const old of note.querySelectorAll('p')) old.remove();
  try {
    const policy = parseWitnessPolicy(bytes);
    note.append(...policy.findings.map((finding) => element('p', '', finding)));
    return policy;
  } catch (error) {
    if (!(error instanceof PolicyFault)) throw error;
    note.append(element('p', 'refusal', error.message));
    announce(error.message, 'fail');
    return error;
  }
}

/** Adds to a verdict the line that says who witnessed, in the words of the command line. */
export function addWitnesses(card: DocumentFragment, witnessed: Witnessed): void {
  const state = witnessed.satisfied ? 'pass' : 'unknown';
  const claim = element('span', '', icon(state), witnessedText(witnessed));
  claim.dataset['state'] = state;
  const line = element('div', '', element('dt', '', prose.text.witnessed), element('dd', '', claim));
  card.querySelector('.pair')?.append(line);
}
