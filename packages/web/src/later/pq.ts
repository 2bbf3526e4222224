import {
  addedFault,
  assessPq,
  CorrectionsCheck,
  changeFault,
  excusesOf,
  findRenamed,
  leftOut,
  withinPurges,
} from '@tallystick/core';
import { contentsOf, placeOf } from '../evidence/contents.ts';
import { takeDropped } from '../evidence/dropped.ts';
import { refusesLarge } from '../evidence/large.ts';
import { createPolicyDesk } from '../evidence/policy-desk.ts';
import type { Later } from './main.ts';

/**
 * The second script of the page of evidence: the judge of ML-DSA signatures, what looks for a receipt or a file that is not in its place,
 * witness policies, corrections, dropped files, why a receipt may be missing, and what draws the contents of a bundle that was verified.
 */
const made = {
  addedFault,
  assessPq,
  CorrectionsCheck,
  contentsOf,
  createPolicyDesk,
  changeFault,
  findRenamed,
  leftOut,
  placeOf,
  refusesLarge,
  takeDropped,
  excusesOf,
  withinPurges,
};
export type EvidenceLater = typeof made;
globalThis.tallystickLater = made as unknown as Later;
